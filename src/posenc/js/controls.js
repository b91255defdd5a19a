// The controls of an explorable: sliders, switches, choices, text and buttons, each with a name, keys and limits in words.
//
// A control is { row, show, read, accept, scale }: its element; a function that shows the present value; one that reads
// text, as typed or from a link, into { value, notice }; one that brings a number within limits, for handles on a canvas;
// and, where it is a slider, how its track maps to values.

import { grouped, parseNumber, formatInteger } from "./numbers.js";
import { say } from "./sentences.js";
import shell from "./shell.json";

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// A JupyterLab page takes keys from inputs unless the input itself asks it not to.
export const KEEP_KEYS = { "data-lm-suppress-shortcuts": "true" };
export const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
export const TRACK = 1000;

const UNITS = { integer: 1, action: 1, even: 2, tenths: 0.1, hundredths: 0.01, thousandths: 0.001 };
const INTEGER = ["tokens", "integer", "action", "even", "powers"]; // scales of integers

// How a slider's track maps to values. Python's `Control` names the scale and its limits.
function scaleOf({ scale, least, greatest }) {
  const clamp = (value) => Math.min(Math.max(value, least), greatest);
  if (scale === "log") {
    const span = Math.log10(greatest / least);
    const rounded = (value) => clamp(Number(value.toPrecision(3)));
    return {
      clamp,
      toTrack: (value) => (Math.log10(value / least) / span) * TRACK,
      fromTrack: (track) => rounded(least * 10 ** ((track / TRACK) * span)),
      step: (value, count) => rounded(value * 10 ** (0.02 * count)),
    };
  }
  if (scale === "tokens") {
    const span = Math.log2((greatest + 1) / (least + 1));
    const nearest = (value) => clamp(Math.round(value));
    return {
      clamp: nearest,
      toTrack: (value) => (Math.log2((value + 1) / (least + 1)) / span) * TRACK,
      fromTrack: (track) => nearest((least + 1) * 2 ** ((track / TRACK) * span) - 1),
      step: (value, count) => nearest(value + (Math.abs(count) === 1 ? count : Math.sign(count) * Math.max(10, value / 10))),
    };
  }
  if (scale === "powers") {
    const span = Math.log2(greatest / least);
    const power = (value) => clamp(2 ** Math.round(Math.log2(Math.max(value, least))));
    return {
      clamp: power,
      toTrack: (value) => (Math.log2(value / least) / span) * TRACK,
      fromTrack: (track) => power(least * 2 ** ((track / TRACK) * span)),
      step: (value, count) => power(value * 2 ** Math.sign(count)),
    };
  }
  const unit = UNITS[scale];
  const snapped = (value) => clamp(Number((Math.round(value / unit) * unit).toFixed(3)));
  return {
    clamp: snapped,
    toTrack: (value) => ((value - least) / (greatest - least || 1)) * TRACK,
    fromTrack: (track) => snapped(least + (track / TRACK) * (greatest - least)),
    step: (value, count) => snapped(value + count * unit),
  };
}

const inWords = ({ scale }) => (INTEGER.includes(scale) ? formatInteger : grouped);
const told = (text, facts) => say(shell[text], facts, shell.names);

const limit = (value) => (Number.isInteger(value) ? formatInteger(value) : grouped(value));

function readNumber(control, scale, text, present) {
  const words = inWords(control), number = parseNumber(text);
  const facts = { ...control, least: limit(control.least), greatest: limit(control.greatest), text };
  if (Number.isNaN(number)) return { notice: told("no_number", { ...facts, present: words(present) }) };
  const value = scale.clamp(number);
  return value === number ? { value } : { value, notice: told("clamped", { ...facts, value: words(value) }) };
}

// What was typed or asked for is taken, or the notice says what is accepted. Returns whether somebody is typing: what
// shows the present value leaves the field alone until then.
function typedInto(field, control, set, notify, show) {
  let waits = false;
  const take = () => {
    if (!waits) return; // a change that follows Enter would read what is shown by now, and take the notice away
    waits = false;
    const { value, notice = "" } = control.read(field.value);
    if (value !== undefined) set(value);
    notify(notice);
    show();
  };
  field.addEventListener("input", () => (waits = true));
  field.addEventListener("change", take);
  field.addEventListener("blur", () => {
    waits = false; // what was typed back to what it was brings no change
    show();
  });
  // JupyterLab takes Enter from the browser, so that no change follows it; an input method asks for its own Enter.
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) take();
  });
  return () => waits;
}

// Each explorable brings its own copy of this file to the page, so a counter alone would give the same names twice.
const nextId = () => `posenc-control-${Math.random().toString(36).slice(2)}`;

// One with `most` ends earlier, where the other controls have it; a value beyond is shown as the last.
function slider(control, get, set, notify, state) {
  const full = scaleOf(control), { most, greatest } = control, id = nextId(), words = inWords(control);
  const end = () => (most ? Math.min(most(state()), greatest) : greatest), scale = () => (most ? scaleOf({ ...control, greatest: end() }) : full);
  const range = element("input", { type: "range", id, min: 0, max: TRACK, step: "any", ...KEEP_KEYS });
  const typed = element("input", {
    type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": told("typed", control), ...KEEP_KEYS,
  });
  const change = (value) => {
    notify("");
    set(value);
  };
  range.addEventListener("input", () => change(scale().fromTrack(Number(range.value))));
  range.addEventListener("keydown", (event) => {
    const ends = { Home: control.least, End: end() };
    const next = event.key in ends ? ends[event.key] : event.key in STEPS && scale().step(get(), STEPS[event.key]);
    if (next === false || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    change(next);
  });
  let shown = null;
  const show = () => {
    const value = Math.min(get(), end()), track = scale().toTrack(value), text = String(Number.isInteger(value) ? value : Number(value.toPrecision(4)));
    // to write what already stands there costs as much as anything new
    if (range.valueAsNumber !== track) range.value = track;
    if (typed.value !== text && !typing()) typed.value = text;
    if (shown === value) return;
    shown = value;
    range.setAttribute("aria-valuetext", `${words(shown)}${control.unit ? ` ${control.unit}` : ""}`);
  };
  const label = element("label", { for: id }, control.label);
  const row = element(
    "div", { class: `posenc-slider${control.compact ? " posenc-compact" : ""}`, "data-control": control.name },
    label, range, typed, element("span", { class: "posenc-unit" }, control.unit),
  );
  const accept = (value) => full.fromTrack(full.toTrack(full.clamp(value))); // as the slider would have it
  const made = { row, show, scale: full, accept, read: (text) => readNumber(control, full, text, get()) };
  const typing = typedInto(typed, made, set, notify, show);
  return made;
}

function action(control, get, set, notify) {
  const scale = scaleOf(control), count = element("span", { class: "posenc-unit" });
  const button = element("button", { type: "button", ...KEEP_KEYS }, control.label);
  button.addEventListener("click", () => {
    notify("");
    set(get() === control.greatest ? 0 : get() + 1);
  });
  const row = element("div", { class: "posenc-switch", "data-control": control.name }, button, count);
  const show = () => (count.textContent = told("count", { count: get() }));
  return { row, show, accept: scale.clamp, read: (text) => readNumber(control, scale, text, get()) };
}

function toggle(control, get, set, notify) {
  const box = element("input", { type: "checkbox", ...KEEP_KEYS });
  box.addEventListener("change", () => {
    notify("");
    set(box.checked);
  });
  const read = (text) => {
    if (text === "true" || text === "false") return { value: text === "true" };
    return { notice: told("no_switch", { ...control, text, present: get() }) };
  };
  const row = element("label", { class: "posenc-switch", "data-control": control.name }, box, control.label);
  return { row, show: () => (box.checked = get()), read };
}

// A few options in sight, as chips of which one is pressed.
function chips({ name, label, options }, get, set) {
  const group = nextId();
  const boxes = options.map(({ value }) => element("input", { type: "radio", name: group, value, ...KEEP_KEYS }));
  boxes.forEach((box) => box.addEventListener("change", () => set(box.value)));
  const row = element(
    "div", { class: "posenc-choice", role: "radiogroup", "aria-label": label, "data-control": name },
    element("span", { "aria-hidden": "true" }, label),
    ...options.map((option, k) => element("label", { class: "posenc-option" }, boxes[k], option.label)),
  );
  return { row, show: () => boxes.forEach((box) => (box.checked = box.value === get())) };
}

function list({ name, label, options }, get, set) {
  const id = nextId();
  const box = element("select", { id, ...KEEP_KEYS }, ...options.map((option) => element("option", { value: option.value }, option.label)));
  box.addEventListener("change", () => set(box.value));
  const row = element("div", { class: "posenc-choice", "data-control": name }, element("label", { for: id }, label), box);
  return { row, show: () => (box.value = get()) };
}

function choice(control, get, set, notify) {
  const { label, options } = control;
  const chosen = (value) => {
    notify("");
    set(value);
  };
  const read = (text) => {
    if (options.some(({ value }) => value === text)) return { value: text };
    const accepted = options.map(({ value }) => value).join(", ");
    return { notice: told("no_option", { label, accepted, text, present: get() }) };
  };
  return { ...(control.chips ? chips : list)(control, get, chosen), read };
}

// The row of a control whose chips are in `box`, with the text "how" they are used.
export const chipRow = ({ name, label, how }, box) => element(
  "div", { class: "posenc-order", role: "group", "aria-label": label, "data-control": name },
  element("span", {}, label), box, element("span", { class: "posenc-unit" }, how),
);

// What a text control reads, for an explorable that brings a control of its own too.
export function readText({ label, pattern, accepted }, text, present) {
  if (new RegExp(`^(?:${pattern})$`, "u").test(text)) return { value: text };
  return { notice: told("no_match", { label, accepted, text, present }) };
}

function sentence(control, get, set, notify) {
  const id = nextId();
  const typed = element("input", { type: "text", id, autocomplete: "off", ...KEEP_KEYS });
  const show = () => typing() || (typed.value = get());
  const row = element("div", { class: "posenc-text", "data-control": control.name }, element("label", { for: id }, control.label), typed);
  const made = { row, show, read: (text) => readText(control, text, get()) };
  const typing = typedInto(typed, made, set, notify, show);
  return made;
}

const KINDS = { switch: toggle, choice, text: sentence, action };

// `own` holds the controls that an explorable brings itself, by name; `state` tells them how all others stand.
// Of one that `holds` only with some values of others, no option is pressed with other values, and a slider stands at its least.
export function makeControl(control, own, get, set, notify, state) {
  const make = control.own_control ? own[control.name] : (KINDS[control.scale] ?? slider);
  const shown = control.holds ? () => (isNeeded({ needs: control.holds }, state()) ? get() : control.least ?? "") : get;
  return make(control, shown, set, notify, state);
}

// Whether a control has something to move, with the other controls as they are.
export function isNeeded({ needs }, state) {
  return Object.entries(needs).every(([name, values]) => values.includes(state[name]));
}

// Drawing and controls, shared by every explorable: sliders, switches, axes, bands, read-out, themes, finding.

import palette from "./palette.json";

// ---- numbers as text; posenc.widgets writes them the same way -------------------------------------------------

const minus = (text) => text.replace("-", "−");

export function fixed(value, digits) {
  return minus(value.toFixed(digits));
}

// Four significant figures, thousands set apart by a narrow space.
export function grouped(value) {
  const [whole, fraction] = String(Number(value.toPrecision(4))).split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return minus(fraction ? `${spaced}.${fraction}` : spaced);
}

// Whole numbers keep every digit.
export function wholeNumber(value) {
  return minus(String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f"));
}

// ---- colours ---------------------------------------------------------------------------------------------------

export const colours = palette;

// The colour of a pair on the one scale from the fastest (warm) to the slowest (cold).
export function pairColour(index, pairs) {
  const at = (pairs === 1 ? 0 : index / (pairs - 1)) * (palette.pairs.length - 1);
  const low = Math.min(Math.floor(at), palette.pairs.length - 2);
  const channel = (colour, k) => parseInt(colour.slice(1 + 2 * k, 3 + 2 * k), 16);
  const mixed = [0, 1, 2].map((k) => {
    const from = channel(palette.pairs[low], k), to = channel(palette.pairs[low + 1], k);
    return Math.round(from + (to - from) * (at - low));
  });
  return `rgb(${mixed.join(" ")})`;
}

// ---- axes and plots --------------------------------------------------------------------------------------------

export class Axis {
  constructor({ from, to, start, end, log = false }) {
    Object.assign(this, { from, to, start, end, log });
    this.low = log ? Math.log(from) : from;
    this.span = (log ? Math.log(to) : to) - this.low;
  }

  at(value) {
    return this.start + ((this.log ? Math.log(value) : value) - this.low) * ((this.end - this.start) / this.span);
  }

  invert(pixel) {
    const value = this.low + (pixel - this.start) * (this.span / (this.end - this.start));
    return this.log ? Math.exp(value) : value;
  }

  ticks(about) {
    if (this.log) {
      const ticks = [];
      for (let tick = 10 ** Math.ceil(Math.log10(this.from)); tick <= this.to; tick *= 10) ticks.push(tick);
      return ticks;
    }
    const rough = (this.to - this.from) / about;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const ticks = [];
    for (let k = Math.ceil(this.from / step); k * step <= this.to; k++) ticks.push(k * step);
    return ticks;
  }

  // Whole values per pixel column: [pixel, first, one past the last], for the columns that hold any.
  columns() {
    const columns = [];
    let first = Math.ceil(this.from);
    for (let pixel = Math.floor(this.start); pixel <= this.end && first <= this.to; pixel++) {
      const stop = Math.min(Math.floor(this.invert(pixel + 0.5)), this.to) + 1;
      if (stop > first) {
        columns.push([this.log || stop - first > 1 ? pixel : this.at(first), first, stop]);
        first = stop;
      }
    }
    return columns;
  }
}

export class Plot {
  constructor(context, theme, x, y) {
    Object.assign(this, { context, theme, x, y });
  }

  axes({ xTitle, yTitle, xTicks = 6, yTicks = 5, xText = grouped, yText = (value) => fixed(value, 1) }) {
    const { context, theme, x, y } = this;
    context.lineWidth = 1;
    context.font = theme.font;
    context.fillStyle = theme.muted;
    context.strokeStyle = theme.grid;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of y.ticks(yTicks)) {
      this.path([[x.start, y.at(tick)], [x.end, y.at(tick)]]);
      context.stroke();
      context.fillText(yText(tick), x.start - 6, y.at(tick));
    }
    context.textBaseline = "top";
    for (const tick of x.ticks(xTicks)) {
      const label = xText(tick), half = context.measureText(label).width / 2;
      context.textAlign = "center";
      context.fillText(label, Math.min(x.at(tick), x.end - half + 6), y.start + 6);
    }
    context.textAlign = "right";
    context.fillText(xTitle, x.end, y.start + 22);
    context.textAlign = "left";
    context.textBaseline = "bottom";
    context.fillText(yTitle, x.start, y.end - 4);
  }

  path(points) {
    const { context } = this;
    context.beginPath();
    for (const [px, py] of points) context.lineTo(px, py);
  }

  // Least and greatest of one series in every column, restricted to what is filled so far.
  static extremes(columns, filled, least, greatest = least) {
    return columns.map(([pixel, start], k) => {
      let low = Infinity, high = -Infinity;
      for (let m = start; m < filled[k]; m++) {
        if (least[m] < low) low = least[m];
        if (greatest[m] > high) high = greatest[m];
      }
      return [pixel, low, high];
    });
  }

  // A line where a column holds one value, the band between least and greatest where it holds several.
  curve(extremes, colour, { width = 1.6, dash = [] } = {}) {
    const { context, y } = this;
    this.clip();
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    const bands = [];
    let before = null;
    for (const [pixel, low, high] of extremes) {
      if (!(low <= high)) {
        before = null;
        continue;
      }
      const band = low < high && !dash.length;
      const to = y.at(band ? Math.min(Math.max(before?.at ?? low, low), high) : (low + high) / 2);
      before === null ? context.moveTo(pixel, to) : context.lineTo(pixel, to);
      if (band) bands.push([pixel, y.at(high), y.at(low)]);
      before = { at: band ? (low + high) / 2 : low };
    }
    context.stroke();
    for (const [pixel, top, bottom] of bands) context.fillRect(Math.floor(pixel), top - width / 2, 1, bottom - top + width);
    context.restore();
  }

  area(extremes, colour) {
    const { context, y } = this;
    this.clip();
    context.globalAlpha = 0.22;
    context.fillStyle = colour;
    const above = extremes.map(([pixel, , high]) => [pixel, y.at(high)]);
    const below = extremes.map(([pixel, low]) => [pixel, y.at(low)]).reverse();
    this.path([...above, ...below]);
    context.fill();
    context.restore();
  }

  clip() {
    const { context, x, y } = this;
    context.save();
    context.beginPath();
    context.rect(x.start - 1, y.end - 1, x.end - x.start + 2, y.start - y.end + 2);
    context.clip();
  }

  bar(pixel, width, value, colour) {
    const zero = this.y.at(0), top = this.y.at(value);
    this.context.fillStyle = colour;
    this.context.fillRect(pixel - width / 2, Math.min(zero, top), width, Math.max(Math.abs(zero - top), 1));
  }

  vertical(value) {
    const { context, theme, x, y } = this;
    context.strokeStyle = theme.text;
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    this.path([[x.at(value), y.start], [x.at(value), y.end]]);
    context.stroke();
    context.setLineDash([]);
  }
}

// Names of the curves, set side by side above the plot, each in its own stroke.
export function legend(context, theme, entries, left, top, right) {
  context.font = theme.font;
  context.textAlign = "left";
  context.textBaseline = "middle";
  let x = left, y = top;
  for (const { label, colour, dash = [], area = false } of entries) {
    const width = context.measureText(label).width + 34;
    if (x + width > right && x > left) {
      x = left;
      y += 17;
    }
    context.strokeStyle = context.fillStyle = colour;
    context.globalAlpha = area ? 0.3 : 1;
    context.lineWidth = area ? 10 : 2;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + 20, y);
    context.stroke();
    context.globalAlpha = 1;
    context.setLineDash([]);
    context.fillStyle = theme.text;
    context.fillText(label, x + 25, y);
    x += width + 6;
  }
  return y + 12;
}

// ---- controls --------------------------------------------------------------------------------------------------

// How a slider's track maps to values. Python's `control` names the scale and its limits.
const TRACK = 1000;
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
    const whole = (value) => clamp(Math.round(value));
    return {
      clamp: whole,
      toTrack: (value) => (Math.log2((value + 1) / (least + 1)) / span) * TRACK,
      fromTrack: (track) => whole((least + 1) * 2 ** ((track / TRACK) * span) - 1),
      step: (value, count) => whole(value + (Math.abs(count) === 1 ? count : Math.sign(count) * Math.max(10, value / 10))),
    };
  }
  const unit = { even: 2, hundredths: 0.01 }[scale];
  const snapped = (value) => clamp(Number((Math.round(value / unit) * unit).toFixed(2)));
  return {
    clamp: snapped,
    toTrack: (value) => ((value - least) / (greatest - least)) * TRACK,
    fromTrack: (track) => snapped(least + (track / TRACK) * (greatest - least)),
    step: (value, count) => snapped(value + count * unit),
  };
}

const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// A JupyterLab page takes arrow keys from range inputs unless the input itself asks it not to.
const KEEP_KEYS = { "data-lm-suppress-shortcuts": "true" };
let unique = 0;

function slider(control, get, set, notify) {
  const scale = scaleOf(control), id = `posenc-control-${++unique}`;
  const range = element("input", { type: "range", id, min: 0, max: TRACK, step: "any", ...KEEP_KEYS });
  const typed = element("input", {
    type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": `${control.label}, typed`, ...KEEP_KEYS,
  });
  const accepted = { log: "numbers", tokens: "whole numbers", even: "even numbers", hundredths: "numbers" }[control.scale]
    + ` from ${grouped(control.least)} to ${wholeNumber(control.greatest)}`;
  const change = (value) => {
    notify("");
    set(value);
  };
  range.addEventListener("input", () => change(scale.fromTrack(Number(range.value))));
  range.addEventListener("keydown", (event) => {
    const ends = { Home: control.least, End: control.greatest };
    const next = event.key in ends ? ends[event.key] : event.key in STEPS && scale.step(get(), STEPS[event.key]);
    if (next === false || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    change(next);
  });
  typed.addEventListener("change", () => {
    const value = parse(typed.value);
    if (Number.isNaN(value)) notify(`${control.label} takes ${accepted}; “${typed.value}” is not one, so it stays ${inWords(get())}.`);
    else {
      const clamped = scale.clamp(value);
      change(clamped);
      if (clamped !== value) notify(`${control.label} takes ${accepted}; ${typed.value} became ${inWords(clamped)}.`);
    }
    show();
  });
  const inWords = control.scale === "tokens" ? wholeNumber : grouped;
  const show = () => {
    range.value = scale.toTrack(get());
    const text = inWords(get());
    range.setAttribute("aria-valuetext", `${text}${control.unit ? ` ${control.unit}` : ""}`);
    typed.value = String(get());
  };
  const label = element("label", { for: id }, control.label);
  const row = element("div", { class: "posenc-slider", "data-control": control.name }, label, range, typed, element("span", { class: "posenc-unit" }, control.unit));
  return { row, show, restore: (text) => !Number.isNaN(parse(text)) && set(scale.clamp(parse(text))) };
}

// “10 000”, “10,000”, “1e4” and “−3” are numbers to a reader.
function parse(text) {
  const plain = text.replace(/[\s\u202f,_]/g, "").replace("−", "-");
  const value = plain === "" ? NaN : Number(plain);
  return Number.isFinite(value) ? value : NaN;
}

function toggle(control, get, set, notify) {
  const box = element("input", { type: "checkbox", ...KEEP_KEYS });
  box.addEventListener("change", () => {
    notify("");
    set(box.checked);
  });
  const row = element("label", { class: "posenc-switch", "data-control": control.name }, box, control.label);
  return { row, show: () => (box.checked = get()), restore: (text) => set(text === "true") };
}

// ---- an explorable -----------------------------------------------------------------------------------------------

const SLICE = 12; // milliseconds of work between two chances for the page to answer
const PAUSE = 60; // milliseconds without input before a coarse picture is completed

// definition: { title, hint, height(width, state), compute(state, width, previous result), draw(canvas, result, state, theme, cursor),
//   finding(result, state), readout(result, state, value), axis(result) }.
// compute may return `complete(deadline)`, which goes on with a heavy picture until the deadline and says when done.
export function explorable(definition) {
  return ({ model, el }) => {
    const controls = model.get("_controls");
    const state = () => Object.fromEntries(controls.map(({ name }) => [name, model.get(name)]));
    const opening = state();

    const notice = element("p", { class: "posenc-notice", role: "status" });
    const notify = (text) => (notice.textContent = text);
    let saving = 0;
    const put = (name, value) => {
      model.set(name, value);
      saving ||= requestAnimationFrame(() => {
        saving = 0;
        model.save_changes();
      });
    };
    const inputs = controls.map((control) => {
      const make = control.scale === "switch" ? toggle : slider;
      return make(control, () => model.get(control.name), (value) => put(control.name, value), notify);
    });

    const canvas = element("canvas", { role: "img" });
    const finding = element("p", { class: "posenc-finding" });
    const spoken = element("p", { class: "posenc-spoken", "aria-live": "polite" });
    const reader = element("input", { type: "range", class: "posenc-reader", min: 0, max: TRACK, step: "any", value: 0, "aria-label": definition.readoutLabel, ...KEEP_KEYS });
    const readout = element("p", { class: "posenc-readout" });
    const reset = element("button", { type: "button" }, "Reset");
    const actions = element("div", { class: "posenc-actions" }, reset);
    const root = element(
      "div", { class: "posenc-explorable-view", role: "group", "aria-label": definition.title },
      element("p", { class: "posenc-hint" }, definition.hint),
      element("div", { class: "posenc-controls" }, ...inputs.map(({ row }) => row)),
      canvas, reader, readout, finding, notice, actions, spoken,
    );
    reset.addEventListener("click", () => {
      notify("");
      for (const [name, value] of Object.entries(opening)) put(name, value);
    });
    if (model.settingLink) {
      const copy = element("button", { type: "button" }, "Copy link to this setting");
      copy.addEventListener("click", async () => {
        const link = model.settingLink();
        try {
          await navigator.clipboard.writeText(link);
          notify("Link copied.");
        } catch (error) {
          notify(`The browser did not allow copying (${error.name}); the link is ${link}`);
        }
      });
      actions.append(copy);
    }

    let result = null, cursor = null, frame = 0, pause = 0, speak = 0, done = false, milliseconds = 0;

    const theme = () => {
      const style = getComputedStyle(root);
      const read = (name) => style.getPropertyValue(name).trim();
      return { text: read("--posenc-text"), muted: read("--posenc-muted"), grid: read("--posenc-grid"), font: `12px ${style.fontFamily}` };
    };
    const paint = () => {
      const width = canvas.clientWidth, height = definition.height(width, state());
      const ratio = window.devicePixelRatio || 1;
      canvas.style.height = `${height}px`;
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      const context = canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      definition.draw({ context, width, height }, result, state(), theme(), cursor);
    };
    const tell = () => {
      finding.textContent = definition.finding(result, state(), done);
      canvas.setAttribute("aria-label", `${definition.title}. ${finding.textContent}`);
      readout.textContent = cursor === null ? definition.readoutHint : definition.readout(result, state(), cursor);
      clearTimeout(speak);
      speak = setTimeout(() => (spoken.textContent = finding.textContent), 500);
    };
    const complete = () => {
      if (!result.complete(performance.now() + SLICE)) return void (pause = setTimeout(complete, 0));
      done = true;
      paint();
      tell();
    };
    const update = () => {
      frame = 0;
      if (!canvas.clientWidth) return;
      const start = performance.now();
      clearTimeout(pause);
      result = definition.compute(state(), canvas.clientWidth, result);
      if (cursor !== null) cursor = definition.clampCursor(result, cursor);
      done = !result.complete;
      inputs.forEach((input, k) => {
        input.show();
        input.row.hidden = Boolean(controls[k].needs) && !model.get(controls[k].needs);
      });
      paint();
      tell();
      if (!done) pause = setTimeout(complete, PAUSE);
      milliseconds = performance.now() - start;
    };
    const later = () => (frame ||= requestAnimationFrame(update));

    const point = (value) => {
      cursor = definition.clampCursor(result, value);
      const axis = definition.axis(result);
      reader.value = ((axis.at(cursor) - axis.start) / (axis.end - axis.start)) * TRACK;
      reader.setAttribute("aria-valuetext", definition.readout(result, state(), cursor));
      paint();
      tell();
    };
    canvas.addEventListener("pointermove", (event) => result && point(definition.axis(result).invert(event.offsetX)));
    canvas.addEventListener("pointerdown", (event) => result && point(definition.axis(result).invert(event.offsetX)));
    reader.addEventListener("input", () => {
      const axis = definition.axis(result);
      point(axis.invert(axis.start + (Number(reader.value) / TRACK) * (axis.end - axis.start)));
    });
    reader.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      point((cursor ?? 0) + STEPS[event.key]);
    });

    const restore = () => {
      const wanted = model.get("_restore") ?? {};
      controls.forEach(({ name }, k) => name in wanted && inputs[k].restore(wanted[name]));
    };
    const events = controls.map(({ name }) => `change:${name}`);
    for (const event of events) model.on(event, later);
    model.on("change:_restore", restore);
    const themes = new MutationObserver(later);
    for (const node of [document.documentElement, document.body]) {
      themes.observe(node, { attributes: true, attributeFilter: ["data-theme", "class", "data-jp-theme-name", "data-jp-theme-light"] });
    }
    const sizes = new ResizeObserver(later);
    el.append(root);
    sizes.observe(canvas);
    root.explorable = {
      get values() { return result?.values; },
      get finding() { return finding.textContent; },
      get done() { return done && !frame; },
      get updateMilliseconds() { return milliseconds; },
      pixel: (x, y) => definition.pixel(result, x, y),
    };
    restore();
    update();
    return () => {
      for (const event of events) model.off(event, later);
      model.off("change:_restore", restore);
      themes.disconnect();
      sizes.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(pause);
      clearTimeout(speak);
    };
  };
}

// What makes a definition an explorable: controls, canvas, reading, handles, finding, link, reset and themes.
//
// definition: {
//   catalogue                               the explorable's JSON: title, hint (of the facts shows_… for each control that
//                                           is shown), labels, and the texts of finding and readout (sentences.js)
//   height(width, state)                    height of the canvas in pixels
//   compute(state, width, previous, data)   → result; result.values is what is drawn, in data coordinates. The result may have
//                                           complete(deadline), which goes on with a heavy picture and says when done
//   draw({ context, width, height }, result, state, theme, cursor)
//   facts(result, state, done)              → what the words' finding, the sentences below the picture, is made of
//   readers                                 [{ name, axis(result, state), vertical, within(result, state), accept(value, result) }]:
//                                           each reads one thing off along an axis; `within` limits the pointer to panels,
//                                           and pick(x, y, result) says what it reads where several panels share a reader
//   reading(result, state, cursor)          → what the words' readout is made of; the cursor holds a value for each reader, and
//                                           `last`, the one moved last
//   pixel(result, …)                        → [x, y] on the canvas of a point in data coordinates, for tests
// and, where there is use for them,
//   handles(result, state)                  → [{ name, x, y, drag(x, y) → { control: value, … } }], dragged on the canvas
//   linked(changes, state)                  → further changes that go with these, as { control: value, … }
//   blocks(result, state, cursor)           → tables and equations below the finding (blocks.js)
//   controls                                { name: make(control, get, set, notify, state) }, controls of its own (controls.js)
// }

import { showBlocks } from "./blocks.js";
import { KEEP_KEYS, STEPS, TRACK, element, isNeeded, makeControl } from "./controls.js";
import { onceLettersCome } from "./drawing.js";
import { say, sayAll } from "./sentences.js";
import shell from "./shell.json";

const SLICE = 12; // milliseconds of work between two chances for the page to answer
const PAUSE = 60; // milliseconds without input before a coarse picture is completed
const REACH = 22; // pixels around a handle within which a pointer takes hold of it

export function explorable(definition) {
  const { title, hint, names, readers: labels, finding: sentences, readout: read, readout_hint: readoutHint } = definition.catalogue;
  return ({ model, el }) => {
    const controls = model.get("_controls"), data = model.get("_data");
    const state = () => Object.fromEntries(controls.map(({ name }) => [name, model.get(name)]));
    const opening = state(), shown = controls.filter(({ hidden }) => !hidden).map(({ name }) => name);
    const presets = controls.filter(({ own }) => own);

    const notice = element("p", { class: "posenc-notice", role: "status" });
    const notify = (text) => (notice.textContent = text);
    let saving = 0;
    const store = (changes) => {
      for (const [name, value] of Object.entries(changes)) model.set(name, value);
      saving ||= requestAnimationFrame(() => {
        saving = 0;
        model.save_changes();
      });
    };
    // A preset brings values of other controls along, and stops being chosen when one of them moves away.
    const withPresets = (changes) => {
      const after = { ...state(), ...changes };
      const ofPreset = ({ name, options }) => options.find(({ value }) => value === after[name]).sets;
      for (const control of presets) {
        if (control.name in changes) Object.assign(after, ofPreset(control), changes);
        if (Object.entries(ofPreset(control)).some(([name, value]) => after[name] !== value)) after[control.name] = control.own;
      }
      return Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== model.get(name)));
    };
    const change = (changes) => store(withPresets({ ...changes, ...definition.linked?.(changes, state()) }));
    const inputs = controls.map((control) => makeControl(
      control, definition.controls, () => model.get(control.name), (value) => change({ [control.name]: value }), notify, state,
    ));
    const accepted = (changes) => Object.fromEntries(Object.entries(changes).map(([name, value]) => (
      [name, inputs[controls.findIndex((control) => control.name === name)].accept(value)]
    )));

    const canvas = element("canvas", { role: "img" });
    const finding = element("p", { class: "posenc-finding" });
    const spoken = element("p", { class: "posenc-spoken", "aria-live": "polite" });
    const blocks = element("div", { class: "posenc-blocks" });
    const readout = element("p", { class: "posenc-readout" });
    const readers = definition.readers.map((reader) => ({
      ...reader,
      input: element("input", {
        type: "range", class: "posenc-reader", "data-reader": reader.name, min: 0, max: TRACK, step: "any", value: 0, "aria-label": labels[reader.name], ...KEEP_KEYS,
      }),
    }));
    const readerRows = readers.length === 1 ? [readers[0].input] : readers.map(({ name, input }) => (
      element("div", { class: "posenc-read" }, element("span", { "aria-hidden": "true" }, labels[name]), input)
    ));
    const rowsOf = (below) => (
      element("div", { class: "posenc-controls" }, ...inputs.filter((_, k) => Boolean(controls[k].below) === below).map(({ row }) => row))
    );
    const reset = element("button", { type: "button" }, shell.reset);
    const actions = element("div", { class: "posenc-actions" }, reset);
    const root = element(
      "div", { class: "posenc-explorable-view", role: "group", "aria-label": title },
      element("p", { class: "posenc-hint" }, say(hint, Object.fromEntries(controls.map(({ name, hidden }) => [`shows_${name}`, !hidden])))),
      rowsOf(false), canvas, ...readerRows, readout, finding, rowsOf(true), blocks, notice, actions, spoken,
    );
    reset.addEventListener("click", () => {
      notify("");
      store(opening);
    });
    if (model.settingLink) {
      const copy = element("button", { type: "button" }, shell.copy);
      copy.addEventListener("click", async () => {
        const link = model.settingLink();
        try {
          await navigator.clipboard.writeText(link);
          notify(shell.copied);
        } catch (error) {
          notify(say(shell.not_copied, { error: error.name, link }));
        }
      });
      actions.append(copy);
    }

    let result = null, cursor = null, frame = 0, pause = 0, speak = 0, done = false, milliseconds = 0;

    const theme = () => {
      const style = getComputedStyle(root);
      const read = (name) => style.getPropertyValue(name).trim();
      return {
        text: read("--posenc-text"), muted: read("--posenc-muted"), grid: read("--posenc-grid"), ground: read("--posenc-ground"),
        font: `${Math.round(0.8 * parseFloat(style.fontSize))}px ${style.fontFamily}`,
      };
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
    const readOff = () => (
      definition.readout?.(result, state(), cursor) ?? say(read, { ...state(), ...cursor, ...definition.reading(result, state(), cursor) }, names)
    );
    const tell = () => {
      finding.textContent = definition.finding?.(result, state(), done) ?? sayAll(sentences, { ...state(), done, ...definition.facts(result, state(), done) }, names);
      canvas.setAttribute("aria-label", `${title}. ${finding.textContent}`);
      readout.textContent = cursor === null ? readoutHint : readOff();
      if (definition.blocks) showBlocks(blocks, definition.blocks(result, state(), cursor));
      clearTimeout(speak);
      speak = setTimeout(() => (spoken.textContent = finding.textContent), 500);
    };
    const complete = () => {
      if (frame) return; // what has changed since is computed in the next frame, and this result no longer fits it
      if (!result.complete(performance.now() + SLICE)) return void (pause = setTimeout(complete, 0));
      done = true;
      paint();
      tell();
    };
    const update = () => {
      frame = 0;
      if (!canvas.clientWidth) return;
      const start = performance.now(), present = state();
      clearTimeout(pause);
      result = definition.compute(present, canvas.clientWidth, result, data);
      if (cursor !== null) for (const reader of readers) cursor[reader.name] = within(reader, cursor[reader.name]);
      done = !result.complete;
      paint(); // first, since it reads the page, and a page that was just written to must be laid out again for that
      inputs.forEach((input, k) => {
        input.show();
        input.row.hidden = controls[k].hidden || !isNeeded(controls[k], present);
      });
      tell();
      if (!done) pause = setTimeout(complete, PAUSE);
      milliseconds = performance.now() - start;
    };
    const later = () => (frame ||= requestAnimationFrame(update));

    // ---- reading off

    const axisOf = (reader) => reader.axis(result, state());
    const within = (reader, value) => (reader.accept ? reader.accept(value, result) : axisOf(reader).whole(value));
    const point = (reader, value) => {
      cursor ??= Object.fromEntries(readers.map((other) => [other.name, within(other, axisOf(other).from)]));
      cursor[reader.name] = within(reader, value);
      cursor.last = reader.name;
      const words = readOff();
      for (const other of readers) {
        const axis = axisOf(other);
        other.input.value = ((axis.at(cursor[other.name]) - axis.start) / (axis.end - axis.start)) * TRACK;
        other.input.setAttribute("aria-valuetext", words);
      }
    };
    const show = () => {
      if (frame) return; // as above: the next frame paints and tells
      paint();
      tell();
    };
    const readAt = (x, y) => {
      const under = readers.filter((reader) => !reader.within || reader.within(result, state()).some(
        ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom,
      ));
      for (const reader of under) point(reader, reader.pick ? reader.pick(x, y, result) : axisOf(reader).invert(reader.vertical ? y : x));
      if (under.length > 0) show();
    };
    for (const reader of readers) {
      reader.input.addEventListener("input", () => {
        const axis = axisOf(reader);
        point(reader, axis.invert(axis.start + (Number(reader.input.value) / TRACK) * (axis.end - axis.start)));
        show();
      });
      reader.input.addEventListener("keydown", (event) => {
        const { from, to } = axisOf(reader);
        const ends = { Home: from, End: to };
        if (!(event.key in STEPS || event.key in ends) || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        point(reader, event.key in ends ? ends[event.key] : (cursor?.[reader.name] ?? within(reader, from)) + STEPS[event.key]);
        show();
      });
    }

    // ---- handles on the canvas; the sliders are their equal for the keyboard

    const handles = () => (result && definition.handles ? definition.handles(result, state()) : []);
    const handleAt = (x, y) => {
      const near = handles().map((handle) => [Math.hypot(handle.x - x, handle.y - y), handle]).filter(([away]) => away <= REACH);
      return near.sort(([first], [second]) => first - second)[0]?.[1];
    };
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (!result) return;
      held = handleAt(event.offsetX, event.offsetY)?.name ?? null;
      if (held === null) return readAt(event.offsetX, event.offsetY);
      canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!result) return;
      const { offsetX: x, offsetY: y } = event;
      const handle = handles().find(({ name }) => name === held);
      if (handle) {
        notify("");
        return change(accepted(handle.drag(x, y)));
      }
      canvas.style.cursor = handleAt(x, y) ? "grab" : "";
      readAt(x, y);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (held = null));
    // A finger on a handle drags it; anywhere else it scrolls the page.
    canvas.addEventListener("touchstart", (event) => {
      const { left, top } = canvas.getBoundingClientRect(), { clientX, clientY } = event.touches[0];
      if (handleAt(clientX - left, clientY - top)) event.preventDefault();
    }, { passive: false });

    const restore = () => {
      const wanted = model.get("_restore") ?? {}, refused = [], changes = {};
      controls.forEach(({ name }, k) => {
        if (!(name in wanted && shown.includes(name))) return;
        const { value, notice: words } = inputs[k].read(wanted[name]);
        if (words) refused.push(words);
        if (value !== undefined) changes[name] = value;
      });
      if (Object.keys(changes).length) store(withPresets(changes));
      notify(refused.join(" "));
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
      get readers() {
        return readers.map((reader) => {
          const whole = { left: 0, right: canvas.clientWidth, top: 0, bottom: canvas.clientHeight };
          const { left, right, top, bottom } = reader.within?.(result, state())[0] ?? whole;
          return { name: reader.name, x: (left + right) / 2, y: (top + bottom) / 2 };
        });
      },
      get handles() { return handles().map(({ name, x, y }) => ({ name, x, y })); },
      pixel: (...point) => definition.pixel(result, ...point),
    };
    restore();
    update();
    onceLettersCome(later);
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

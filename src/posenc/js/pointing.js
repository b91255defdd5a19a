// What a pointer does on the picture: it reads off, drags handles, or presses what stands there. Sliders that appear when
// the keyboard comes to them read off alike.

import { KEEP_KEYS, STEPS, TRACK, element } from "./controls.js";
import { whole } from "./sentences.js";

const REACH = 22; // pixels around a handle within which a pointer takes hold of it
const NEAR = 10; // pixels to either side of a handle that is a line
const APART = 16; // pixels between a pointer and the words beside it
const FINGER = 22; // pixels around a touch that a finger hides
const SLOP = 3; // pixels within which a press does not drag yet

// `view` gives what is drawn and takes what changes:
// { definition, canvas, result(), state(), zoom(), waits(), words(cursor), change(changes), accepted(changes), notify(text),
//   hold(held), shown() }, where shown() paints and tells anew.
export function pointing(view, labels) {
  const { definition, canvas } = view, { result, state } = view;
  let cursor = null, held = null, atPointer = null;

  // ---- reading off

  const axisOf = (reader) => reader.axis(result(), state());
  const within = (reader, value) => (reader.accept ? reader.accept(value, result()) : axisOf(reader).nearest(value));
  const readers = definition.readers.map((reader) => ({
    ...reader,
    input: element("input", {
      type: "range", class: "posenc-reader", "data-reader": reader.name, min: 0, max: TRACK, step: "any", value: 0, "aria-label": labels[reader.name], ...KEEP_KEYS,
    }),
  }));
  const readout = element("p", { class: "posenc-readout" });
  readout.hidden = true;
  const rows = element("div", { class: "posenc-readers" }, ...readers.map(({ name, input }) => (
    element("label", { class: "posenc-read" }, element("span", { "aria-hidden": "true" }, labels[name]), input)
  )));

  const panelsOf = (reader) => {
    const whole = { left: 0, right: canvas.clientWidth / view.zoom(), top: 0, bottom: canvas.clientHeight / view.zoom() };
    return [...(reader.within?.(result(), state()) ?? []), whole];
  };
  const middleOf = (reader) => {
    const [{ left, right, top, bottom }] = panelsOf(reader);
    return { name: reader.name, x: (left + right) / 2, y: (top + bottom) / 2 };
  };
  // The words stand beside the pointer, and within the picture; for the keyboard, where the reader reads; for a finger, above
  // the panel that it touches, or below that if they would be under the finger.
  const place = () => {
    readout.hidden = cursor === null;
    if (cursor === null) return;
    readout.textContent = whole(view.words(cursor));
    const reader = readers.find(({ name }) => name === cursor.last), at = axisOf(reader).at(cursor[cursor.last]), zoom = view.zoom();
    const middle = middleOf(reader), { x, y, panel } = atPointer ?? (reader.vertical ? { x: middle.x, y: at } : { x: at, y: middle.y });
    const room = canvas.clientWidth, wide = readout.offsetWidth, high = readout.offsetHeight;
    const left = Math.min(Math.max(x * zoom - wide / 2, 0), room - wide), [over, under] = panel ? [panel.top * zoom, panel.bottom * zoom] : [y * zoom - APART, y * zoom + APART];
    const fits = over >= high || (panel && y * zoom > high + FINGER), down = fits ? Math.max(over - high, 0) : Math.min(under, canvas.clientHeight - high);
    readout.style.transform = `translate(${Math.round(left)}px, ${Math.round(down)}px)`;
  };
  const point = (reader, value) => {
    cursor ??= Object.fromEntries(readers.map((other) => [other.name, within(other, axisOf(other).from)]));
    cursor[reader.name] = within(reader, value);
    cursor.last = reader.name;
    const words = view.words(cursor);
    for (const other of readers) {
      const axis = axisOf(other);
      other.input.value = ((axis.at(cursor[other.name]) - axis.start) / (axis.end - axis.start)) * TRACK;
      other.input.setAttribute("aria-valuetext", words);
    }
  };
  const leave = () => {
    if (cursor === null || rows.contains(document.activeElement)) return;
    cursor = atPointer = null;
    view.shown();
  };
  const readAt = (x, y, touches) => {
    const holds = ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom;
    const under = readers.filter((reader) => !reader.within || reader.within(result(), state()).some(holds));
    if (under.length === 0) return leave();
    atPointer = { x, y, panel: touches && under.flatMap(panelsOf).find(holds) };
    for (const reader of under) point(reader, reader.pick ? reader.pick(x, y, result()) : axisOf(reader).invert(reader.vertical ? y : x));
    view.shown();
  };
  for (const reader of readers) {
    const byKeys = (value) => {
      atPointer = null;
      point(reader, value);
      view.shown();
    };
    reader.input.addEventListener("input", () => {
      const axis = axisOf(reader);
      byKeys(axis.invert(axis.start + (Number(reader.input.value) / TRACK) * (axis.end - axis.start)));
    });
    reader.input.addEventListener("keydown", (event) => {
      const { from, to } = axisOf(reader);
      const ends = { Home: from, End: to };
      if (!(event.key in STEPS || event.key in ends) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      byKeys(event.key in ends ? ends[event.key] : (cursor?.[reader.name] ?? within(reader, from)) + STEPS[event.key]);
    });
    reader.input.addEventListener("blur", () => setTimeout(leave)); // once the focus is where it goes
  }

  // ---- handles and what can be pressed; the controls are their equal for the keyboard

  const handles = (px, py) => (result() && definition.handles ? definition.handles(result(), state(), px, py) : []);
  const alongOf = ({ line, along = "both" }) => (line ? (line.vertical ? "x" : "y") : along);
  const away = ({ x, y, line, box, disc }, px, py) => {
    if (disc) return Math.hypot(disc.x - px, disc.y - py) <= disc.radius ? 0.5 : Infinity;
    if (box) return px >= box.left && px <= box.right && py >= box.top && py <= box.bottom ? 0.5 : Infinity;
    if (!line) return Math.hypot(x - px, y - py) / REACH;
    const [along, across] = line.vertical ? [py, px - x] : [px, py - y];
    return along >= line.from && along <= line.to ? 0.5 + Math.abs(across) / NEAR / 2 : Infinity; // a point goes first
  };
  const handleAt = (x, y) => {
    const near = handles(x, y).map((handle) => [away(handle, x, y), handle]).filter(([share]) => share <= 1);
    return near.sort(([first], [second]) => first - second)[0]?.[1];
  };
  const spot = (event) => [event.offsetX / view.zoom(), event.offsetY / view.zoom()];
  const pressedAt = (x, y) => definition.press?.(x, y, result(), state()) ?? null;
  const around = ({ disc }, x, y) => Math.atan2(y - disc.y, x - disc.x);
  let settled = null; // what a handle that glides comes to when it is let go
  let dragged = false, moved = false, turns = false, from = [0, 0]; // where it was pressed
  let before = {}; // the setting then
  let beside = [0, 0], ahead = 0; // of a handle, where its box or disc was taken hold of, so that it does not jump
  canvas.addEventListener("pointerdown", (event) => {
    if (!result()) return;
    const [x, y] = spot(event);
    const handle = handleAt(x, y);
    held = handle?.name ?? null;
    beside = handle?.box ? [x - handle.x, y - handle.y] : [0, 0];
    ahead = handle?.disc ? around(handle, x, y) - around(handle, handle.x, handle.y) : 0;
    dragged = held !== null;
    moved = false;
    turns = Boolean(handle?.disc);
    from = [x, y];
    before = state();
    if (held === null) return readAt(x, y, event.pointerType === "touch");
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!result()) return;
    const [x, y] = spot(event), handle = held !== null && handles(...from).find(({ name }) => name === held);
    if (handle) {
      moved ||= Math.hypot(x - from[0], y - from[1]) > SLOP;
      if (!moved) return;
      leave(); // where the pointer came from
      view.notify("");
      const { disc } = handle, far = disc && Math.hypot(x - disc.x, y - disc.y), angle = disc && around(handle, x, y) - ahead;
      const to = disc ? [disc.x + far * Math.cos(angle), disc.y + far * Math.sin(angle)] : [x - beside[0], y - beside[1]];
      const { held: at = null, settles, ...changes } = handle.drag(...to, before), accepted = view.accepted(changes);
      settled = handle.glides ? { ...accepted, ...settles } : null;
      view.hold(at);
      return view.change(settled ? changes : accepted);
    }
    const over = handleAt(x, y);
    canvas.style.cursor = over ? { x: "ew-resize", y: "ns-resize" }[alongOf(over)] ?? "grab" : pressedAt(x, y) ? "pointer" : "";
    readAt(x, y, event.pointerType === "touch");
  });
  const press = (x, y) => {
    const changes = pressedAt(x, y);
    if (!changes) return;
    view.notify("");
    view.change(view.accepted(changes));
  };
  canvas.addEventListener("pointerup", (event) => { // unmoved, it presses what a disc covers and reads off
    view.hold(null);
    if (held !== null && moved && settled) view.change(settled);
    if (held === null || moved) return;
    if (turns) press(...from);
    readAt(...from, event.pointerType === "touch");
  });
  canvas.addEventListener("pointercancel", () => { // it was a swipe that scrolls the page
    view.hold(null);
    if (held !== null && moved) view.change(Object.fromEntries(Object.entries(before).filter(([name, value]) => state()[name] !== value)));
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (held = null));
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && held === null && leave());
  canvas.addEventListener("click", (event) => result() && !dragged && press(...spot(event)));
  // A finger on a handle drags it; anywhere else it scrolls the page, and so it does up and down a word of a column and a
  // handle that scrolls.
  canvas.addEventListener("touchstart", (event) => {
    const { left, top } = canvas.getBoundingClientRect(), { clientX, clientY } = event.touches[0];
    const handle = handleAt((clientX - left) / view.zoom(), (clientY - top) / view.zoom());
    if (handle && !handle.scrolls && !(handle.swaps && alongOf(handle) === "x")) event.preventDefault();
  }, { passive: false });

  return {
    rows, readout, place, leave,
    takes: (event) => handleAt(...spot(event)) !== undefined,
    get cursor() { return cursor; },
    get readers() { return readers.map(middleOf); },
    get handles() {
      return handles().map((handle) => ({
        name: handle.name, x: handle.x, y: handle.y, along: alongOf(handle), swaps: handle.swaps === true, step: handle.step ?? null,
        around: handle.disc ? [handle.disc.x, handle.disc.y] : null,
      }));
    },
    clamp() {
      if (cursor !== null) for (const reader of readers) cursor[reader.name] = within(reader, cursor[reader.name]);
    },
  };
}

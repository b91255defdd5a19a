// What makes a definition an explorable: title, story, canvas, controls, reading, handles, finding, drawer, bar and themes.
//
// definition: {
//   catalogue                               the explorable's JSON: title, hint (also of the facts shows_… for each control that
//                                           is shown), labels, the story's steps, the texts of finding and readout (sentences.js)
//   height(width, state)                    height of the canvas in pixels
//   compute(state, width, previous, data, bring) → result; result.values is what is drawn, in data coordinates. The result may
//                                           have complete(deadline), which goes on with a heavy picture and says when done;
//                                           one that streams is drawn meanwhile, one that is known has all that facts need. bring(name) is a checkpoint that ships, as
//                                           an ArrayBuffer; null until it has come, and then all is computed anew:
//                                           until then a result says that it waits
//   draw({ context, width, height }, result, state, theme, cursor)
//   facts(result, state, done)              → what the words' finding, the sentences below the picture, is made of
//   readers                                 [{ name, axis(result, state), vertical, within(result, state), accept(value, result) }]:
//                                           each reads one thing off along an axis; `within` limits the pointer to panels,
//                                           and pick(x, y, result) says what it reads where several panels share a reader
//   reading(result, state, cursor)          → what the words' readout is made of; the cursor holds a value for each reader, and
//                                           `last`, the one moved last
//   pixel(result, …)                        → [x, y] on the canvas of a point in data coordinates, for tests
// and, where there is use for them,
//   handles(result, state, x, y)            → [{ name, x, y, along, line, box, disc, swaps, scrolls, step, drag(x, y, before) → { control: value, … } }], dragged on
//                                           the canvas, `along` "x", "y", or "around" a circle where not in both directions; a line { vertical, from,
//                                           to }, a box { left, right, top, bottom } and a disc { x, y, radius } are taken hold of
//                                           anywhere on them, a disc also to press what it covers; x and y, where the pointer is, are for
//                                           those that are only there; one that scrolls leaves a swipe up or down to the page; one
//                                           that swaps goes to the places of its like and nowhere between; one with a `step` moves
//                                           by so many pixels at a time, both ways; `before` is the setting when it was taken
//                                           hold of; one that glides takes any value, and when let go what its control accepts, or
//                                           what drag() gives as `settles`; what it gives as `held` is in the state until then.
//                                           grip() in drawing.js marks a handle
//   press(x, y, result, state)              → what a press there changes, as { control: value, … }, or null
//   opening(share, state)                   → { control: value, … } that is drawn instead at a share of the way in: it moves by itself
//                                           when it first comes into view, until the reader or the page changes anything
//   linked(changes, state)                  → further changes that go with these, as { control: value, … }
//   blocks(result, state, cursor)           → tables and equations, folded (blocks.js); the words' blocks_title names them
//   most                                    { name: (state) => number }, sliders that end there with the other controls as they are
//   controls                                { name: make(control, get, set, notify, state) }, controls of its own (controls.js)
// }

import { bringFile } from "./bring_file.js";
import { copyButton, fullScreen, playButton, resetButton, saveButton } from "./bar.js";
import { showBlocks } from "./blocks.js";
import { KEEP_KEYS, element, isNeeded, makeControl } from "./controls.js";
import { onceLettersCome } from "./drawing.js";
import { animate, eased, reducedMotion } from "./motion.js";
import { pointing } from "./pointing.js";
import { joined, say, sayAll, whole } from "./sentences.js";
import { Settings } from "./settings.js";
import shell from "./shell.json";
import { Story } from "./story.js";

const SLICE = 12; // milliseconds of work between two chances for the page to answer
const PAUSE = 60; // milliseconds without input before a coarse picture is completed
const STREAM = 300; // milliseconds between two pictures of what streams
const SHORT = "(max-height: 520px) and (min-width: 560px)"; // as in explorable.css: the picture stands beside its controls
const SIZES = [1.3, 0.75]; // times its size, from large to small, where it stands beside its controls and is to be seen whole,
const LETTERS = 11; // pixels that its letters have at least
const NOTICE = 10_000; // milliseconds that a notice stands over the finding
const OPENING = 2000; // milliseconds that it moves by itself
const SILENCE = 500; // milliseconds without change before a screen reader is told

export function explorable(definition) {
  return ({ model, el }) => {
    const figure = new Figure(definition, model);
    el.append(figure.root);
    return figure.start();
  };
}

class Figure {
  constructor(definition, model) {
    this.definition = definition;
    this.words = definition.catalogue;
    this.model = model;
    this.data = model.get("_data");
    this.settings = new Settings(model, this.words.controls, definition.linked);
    this.notice = element("p", { class: "posenc-notice", role: "status" });
    this.notify = (text) => {
      this.notice.textContent = text;
      clearTimeout(this.said);
      this.said = setTimeout(() => (this.notice.textContent = ""), NOTICE);
    };
    this.later = () => (this.frame ||= requestAnimationFrame(() => this.update()));
    this.held = null; // what the handle in hand says that it is held at
    this.passing = {}; // what is drawn at the opening instead of the setting, as its controls show it
    const { settings, notify } = this, state = () => settings.all();
    this.inputs = Object.fromEntries(settings.controls.map((control) => [control.name, makeControl(
      { ...control, most: definition.most?.[control.name] }, definition.controls, () => this.passing[control.name] ?? model.get(control.name), (value) => this.change({ [control.name]: value }), notify, state,
    )]));
    const { inputs, later: changed } = this, { story = [] } = this.words, ahead = (step) => this.writeAhead(step), leave = () => this.pointer.leave();
    this.story = new Story({ settings, inputs, notify, leave, changed, ahead }, story, model.get("_hidden_steps"));
    this.canvas = element("canvas", { role: "img" });
    this.fitted = 1;
    this.zoom = () => this.full.zoom() * this.fitted;
    this.files = {}; // by name, null for those that are on their way
    this.pointer = this.pointing();
    this.layOut();
    this.result = null;
    this.frame = this.pause = this.speak = this.milliseconds = this.high = 0;
    this.done = false;
  }

  bring(name) {
    const { files, model, notify, later } = this;
    if (!(name in files)) {
      files[name] = null;
      bringFile(model, name).then((buffer) => (files[name] = buffer), ({ message }) => {
        delete files[name];
        notify(say(shell.not_brought, { name, message }));
      }).then(() => files[name] && later());
    }
    return files[name];
  }

  // As the controls would have it.
  accepted(changes) {
    return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, this.inputs[name]?.accept?.(value) ?? value]));
  }

  // The setting, as it is drawn at the opening too, and where a handle is held.
  state() {
    return { ...this.settings.all(), ...this.passing, held: this.held };
  }

  hold(held) {
    if (held === this.held) return;
    this.held = held;
    this.story.between = held !== null;
    this.later();
  }

  // The reader changed something: what moves by itself stops.
  change(changes) {
    this.story.stop();
    this.settings.apply(changes);
  }

  // ---- the parts of the page

  pointing() {
    const { definition, canvas, notify } = this, { names, readers, readout } = this.words;
    return pointing({
      definition, canvas, notify,
      zoom: () => this.zoom(),
      state: () => this.state(),
      result: () => this.result,
      hold: (held) => this.hold(held),
      change: (changes) => this.change(changes),
      accepted: (changes) => this.accepted(changes),
      words: (cursor) => {
        const state = this.state();
        return say(readout, { ...state, ...cursor, ...definition.reading(this.result, state, cursor) }, names);
      },
      shown: () => {
        if (this.frame) return; // the next frame paints and tells
        this.paint();
        this.tell();
      },
    }, readers);
  }

  layOut() {
    const { definition, settings, story, inputs, notify, notice, pointer, canvas } = this, { title, blocks_title } = this.words;
    const rowsOf = (main) => settings.controls.filter((control) => Boolean(control.main) === main).map(({ name }) => inputs[name].row);
    this.finding = element("p", { class: "posenc-finding" });
    this.spoken = element("p", { class: "posenc-spoken", "aria-live": "polite" });
    this.told = element("p", { class: "posenc-told" }); // the sentence of the step, or the hint
    this.blocks = element("div", { class: "posenc-blocks" });
    const head = element("div", { class: "posenc-head" }, element("p", { class: "posenc-title", "aria-hidden": "true" }, title));
    const buttons = element("div", { class: "posenc-bar" });
    this.main = element("div", { class: "posenc-controls posenc-main" }, ...rowsOf(true));
    const more = element(
      "details", { class: "posenc-drawer" }, element("summary", KEEP_KEYS, shell.more),
      element("div", { class: "posenc-controls" }, ...rowsOf(false)), buttons,
    );
    if (definition.blocks) more.append(element("p", { class: "posenc-blocks-title" }, blocks_title), this.blocks);
    this.playButton = playButton(story);
    this.root = element(
      "div", { class: "posenc-explorable-view", role: "group", "aria-label": title },
      head,
      element("div", { class: "posenc-story", role: "group", "aria-label": shell.story }, ...[this.playButton].filter(Boolean), ...story.buttons),
      this.told,
      element("div", { class: "posenc-stage" }, canvas, pointer.rows, pointer.readout, notice),
      this.finding,
      this.main,
      more, this.spoken,
    );
    this.full = fullScreen(this.root, notify, this.later);
    if (this.full.button) head.append(this.full.button);
    const save = saveButton(canvas, title, () => this.theme());
    buttons.append(...[resetButton(story, settings, notify), copyButton(story, settings, notify), save].filter(Boolean));
  }

  // ---- drawing and telling

  theme() {
    const style = getComputedStyle(this.root), read = (name) => style.getPropertyValue(name).trim();
    const size = (0.8 * parseFloat(style.fontSize)) / this.full.zoom(), least = Math.ceil(LETTERS / this.fitted);
    return {
      text: read("--posenc-text"), muted: read("--posenc-muted"), grid: read("--posenc-grid"), ground: read("--posenc-ground"),
      least, font: `${Math.max(Math.round(size), least)}px ${style.fontFamily}`,
    };
  }

  // By how much the picture is larger or smaller, so that it fills a short window, and is seen whole.
  fit(setting) {
    if (!matchMedia(SHORT).matches) return 1;
    const { canvas, definition } = this, full = this.full.zoom();
    const room = (innerHeight - parseFloat(getComputedStyle(canvas.parentElement).top) - 8) / full;
    let [scale, least] = SIZES; // another width may make it higher or lower
    while (scale > least && scale * definition.height(canvas.clientWidth / full / scale, setting) > room) scale -= 0.04;
    return scale;
  }

  paint(state = this.state()) {
    this.painted = performance.now();
    const { canvas, definition } = this;
    const scale = this.zoom(), width = canvas.clientWidth / scale, height = definition.height(width, state);
    const ratio = (window.devicePixelRatio || 1) * scale;
    if (this.high !== height * scale) {
      this.high = height * scale;
      canvas.style.height = `${this.high}px`;
      this.root.style.setProperty("--posenc-stage", `${this.high}px`); // what scrolls to a control leaves the picture above it
    }
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    definition.draw({ context, width, height }, this.result, state, this.theme(), this.pointer.cursor);
  }

  tell() {
    const { definition, result, story } = this, setting = this.state();
    if (!story.moving && !this.moves && (this.done || this.written !== story.present)) this.write(setting, result, this.done);
    story.mark();
    this.playButton?.tell();
    if (definition.blocks) showBlocks(this.blocks, definition.blocks(result, setting, this.pointer.cursor));
    this.pointer.place();
  }

  // The words of a setting.
  write(setting, result, done) {
    const { title, hint, finding, names } = this.words, step = this.story.present, shows = this.settings.controls.map(({ name, hidden }) => [`shows_${name}`, !hidden]);
    const facts = { ...Object.fromEntries(shows), ...setting, done, ...this.definition.facts(result, setting, done) };
    const found = sayAll(finding, facts, names);
    this.written = (done && step) || null; // the step whose words are all there
    this.finding.textContent = whole(found);
    this.canvas.setAttribute("aria-label", say(shell.canvas, { title, finding: found }));
    this.told.textContent = whole(say(step ? step.say : hint, facts, names));
    this.told.classList.toggle("posenc-hint", !step);
    clearTimeout(this.speak);
    this.speak = setTimeout(() => {
      this.spoken.textContent = joined([step && this.told.textContent, this.finding.textContent]);
    }, SILENCE);
  }

  // On the way to a step its words stand already, and none of what is passed; those of a heavy picture when it is there.
  writeAhead({ setting }) {
    if (!this.canvas.clientWidth) return;
    const result = this.compute(setting), done = !result.complete || result.known || result.complete(performance.now() + SLICE);
    if (done) this.write(setting, result, done);
  }

  compute(setting, previous = null) {
    const { definition, canvas, data } = this;
    return definition.compute(setting, canvas.clientWidth / this.zoom(), previous, data, (name) => this.bring(name));
  }

  // Goes on with a heavy picture, slice by slice.
  complete() {
    if (this.frame) return; // what has changed since is computed in the next frame, and this result no longer fits it
    if (!this.result.complete(performance.now() + SLICE)) {
      if (this.result.streams && performance.now() > this.painted + STREAM) {
        this.paint();
        this.tell();
      }
      return void (this.pause = setTimeout(() => this.complete(), 0));
    }
    this.done = true;
    this.paint();
    this.tell();
  }

  update() {
    this.frame = 0;
    if (!this.canvas.clientWidth) return;
    const start = performance.now(), setting = this.state(), { canvas, main } = this;
    clearTimeout(this.pause);
    const resized = this.wide !== canvas.clientWidth;
    this.wide = canvas.clientWidth;
    if (resized) main.style.minHeight = "";
    this.fitted = this.fit(setting);
    this.result = this.compute(setting, this.result);
    this.pointer.clamp();
    this.done = !this.result.complete;
    this.paint(); // first, since it reads the page, and a page that was just written to must be laid out again for that
    const high = main.offsetHeight; // before a row is shown instead of one that is hidden after it
    for (const control of this.settings.controls) {
      const { row, show } = this.inputs[control.name], hidden = control.hidden || !isNeeded(control, setting);
      show();
      if (hidden && !row.hidden && control.main && !resized) main.style.minHeight = `${high}px`; // so that nothing moves
      row.hidden = hidden;
    }
    this.tell();
    if (!this.done) this.pause = setTimeout(() => this.complete(), this.result.streams ? 0 : PAUSE);
    this.milliseconds = performance.now() - start;
  }

  // Moves when it first comes into view; `rest` ends that, at what is `taken` of it where a handle is pressed.
  open() {
    const { definition, settings, canvas } = this;
    if (!definition.opening || reducedMotion() || this.story.present !== this.story.steps[0]) return;
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      seen.disconnect();
      const stop = animate(OPENING, (share) => {
        if (!canvas.clientWidth || share === 1) return;
        const setting = settings.all(), drawn = definition.opening(eased(share), setting), state = { ...setting, ...drawn };
        clearTimeout(this.pause); // it would go on with a result that is no longer there
        this.result = this.compute(state, this.result);
        this.paint(state);
        this.passing = this.accepted(drawn);
        for (const { show } of Object.values(this.inputs)) show();
      }, () => this.rest());
      this.moves = true;
      this.rest = (taken = {}) => {
        stop();
        this.moves = false;
        this.passing = {};
        this.rest = () => {};
        settings.store(taken);
        this.update();
      };
    }, { threshold: 0.5 });
    seen.observe(canvas);
    this.rest = () => seen.disconnect();
    window.addEventListener("posenc:print", () => this.rest(), { once: true });
  }

  rest() {}

  // ---- what comes from outside

  // Takes a setting or a step from a link, and says what of it this explorable does not have.
  restore(milliseconds) {
    const { settings, story, inputs } = this, { title } = this.words;
    const { story: name, ...values } = this.model.get("_restore") ?? {}, refused = [], changes = {};
    for (const [control, text] of Object.entries(values)) {
      if (!settings.shown.includes(control)) {
        refused.push(say(shell.no_control, { title, name: control, accepted: settings.shown.join(", ") }));
        continue;
      }
      const { value, notice } = inputs[control].read(text);
      if (notice) refused.push(notice);
      if (value !== undefined) changes[control] = value;
    }
    const step = story.steps.find((one) => one.name === name);
    if (step) story.go(step, milliseconds);
    else if (name !== undefined) {
      refused.push(say(shell.no_step, { title, text: name, accepted: story.steps.map((one) => one.name).join(", ") }));
    }
    if (Object.keys(changes).length) {
      story.stop();
      settings.store(settings.withPresets(changes));
    }
    this.notify(joined(refused));
  }

  // Shows it, and follows the model, the theme and the size; what it returns ends that.
  start() {
    const { model, later } = this, events = this.settings.controls.map(({ name }) => `change:${name}`);
    const follow = () => this.restore();
    const changed = () => {
      this.rest();
      later();
    };
    for (const event of events) model.on(event, changed);
    this.root.addEventListener("keydown", () => this.rest(), true);
    this.root.addEventListener("pointerdown", (event) => { // a handle is taken hold of where it is drawn
      const taken = event.target === this.canvas && this.pointer.takes(event) ? Object.entries(this.passing) : [];
      this.rest(Object.fromEntries(taken.filter(([name]) => name in this.inputs)));
    }, true);
    this.root.addEventListener("pointerdown", ({ target }) => target !== this.canvas && this.pointer.leave()); // a finger goes elsewhere
    model.on("change:_restore", follow);
    const themes = new MutationObserver(later);
    for (const node of [document.documentElement, document.body]) {
      themes.observe(node, { attributes: true, attributeFilter: ["data-theme", "class", "data-jp-theme-name", "data-jp-theme-light"] });
    }
    const sizes = new ResizeObserver(later);
    sizes.observe(this.canvas);
    this.root.explorable = this.forTests();
    this.restore(0);
    this.update();
    this.open();
    onceLettersCome(later);
    return () => {
      for (const event of events) model.off(event, changed);
      this.rest();
      model.off("change:_restore", follow);
      themes.disconnect();
      sizes.disconnect();
      this.story.moving?.stop();
      cancelAnimationFrame(this.frame);
      clearTimeout(this.pause);
      clearTimeout(this.speak);
    };
  }

  // What tests and the benchmark read.
  forTests() {
    const figure = this;
    return {
      get values() { return figure.result?.values; },
      get finding() { return figure.finding.textContent; },
      get done() { return figure.done && !figure.frame && !figure.story.moving && !figure.moves && !figure.result.waits; },
      get updateMilliseconds() { return figure.milliseconds; },
      get readers() { return figure.pointer.readers; },
      get handles() { return figure.pointer.handles; },
      get story() { return figure.story.steps.map(({ name, setting }) => ({ name, setting })); },
      pixel: (...point) => figure.definition.pixel(figure.result, ...point),
      rest: () => figure.rest(),
    };
  }
}

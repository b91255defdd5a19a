// What makes a definition an explorable: title, story, canvas, controls, reading, handles, finding, drawer, bar and themes.
//
// definition: {
//   catalogue                               the explorable's JSON: title, hint (of the facts shows_… for each control that
//                                           is shown), labels, the story's steps, the texts of finding and readout (sentences.js)
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
//   handles(result, state)                  → [{ name, x, y, along, line, box, swaps, step, drag(x, y) → { control: value, … } }], dragged on
//                                           the canvas, `along` "x", "y", or "around" a circle where not in both directions; a line { vertical, from,
//                                           to } and a box { left, right, top, bottom } are taken hold of anywhere on them; one
//                                           that swaps goes to the places of its like and nowhere between; one with a `step` moves
//                                           by so many pixels at a time, both ways. grip() in drawing.js marks a handle
//   press(x, y, result, state)              → what a press there changes, as { control: value, … }, or null
//   linked(changes, state)                  → further changes that go with these, as { control: value, … }
//   play                                    { control, seconds }: what the play button moves from end to end of its track
//   blocks(result, state, cursor)           → tables and equations, folded (blocks.js); the words' blocks_title names them
//   controls                                { name: make(control, get, set, notify, state) }, controls of its own (controls.js)
// }

import { showBlocks } from "./blocks.js";
import { KEEP_KEYS, TRACK, element, isNeeded, makeControl } from "./controls.js";
import { onceLettersCome } from "./drawing.js";
import { animate, between, reducedMotion } from "./motion.js";
import { pointing } from "./pointing.js";
import { say, sayAll } from "./sentences.js";
import shell from "./shell.json";

const SLICE = 12; // milliseconds of work between two chances for the page to answer
const PAUSE = 60; // milliseconds without input before a coarse picture is completed
const STEP = 600; // milliseconds from one step of the story to the next
const STOPS = 8; // of the play button, where the reader wants no motion

export function explorable(definition) {
  const { title, hint, names, readers: labels, finding: sentences, readout: read, story = [], blocks_title } = definition.catalogue;
  return ({ model, el }) => {
    const controls = model.get("_controls"), data = model.get("_data");
    const state = () => Object.fromEntries(controls.map(({ name }) => [name, model.get(name)]));
    const opening = state(), shown = controls.filter(({ hidden }) => !hidden).map(({ name }) => name);
    const presets = controls.filter(({ own }) => own);

    const notice = element("p", { class: "posenc-notice", role: "status" });
    const notify = (text) => (notice.textContent = text);

    // ---- changes

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
    const apply = (changes) => store(withPresets({ ...changes, ...definition.linked?.(changes, state()) }));
    let moving = null; // what moves by itself: { stop, step } on the way to a step of the story, { stop } while it plays
    const stop = () => {
      moving?.stop();
      moving = null;
      later();
    };
    const change = (changes) => {
      if (moving) stop();
      apply(changes);
    };
    const inputs = Object.fromEntries(controls.map((control) => [control.name, makeControl(
      control, definition.controls, () => model.get(control.name), (value) => change({ [control.name]: value }), notify, state,
    )]));
    const accepted = (changes) => Object.fromEntries(Object.entries(changes).map(([name, value]) => (
      [name, inputs[name].accept?.(value) ?? value]
    )));

    // ---- the story: a step is the setting that every explorable of this kind opens with, but for what the step sets

    const settingOf = (set) => {
      const setting = Object.fromEntries(controls.map(({ name, opening: value }) => [name, value]));
      for (const { name, options } of presets) Object.assign(setting, options.find(({ value }) => value === set[name])?.sets);
      return { ...setting, ...set };
    };
    const hiddenSteps = model.get("_hidden_steps");
    const steps = story
      .filter(({ name }) => !hiddenSteps.includes(name))
      .map((step) => ({ ...step, setting: settingOf(step.set) }))
      .filter(({ setting }) => controls.every(({ name, hidden }) => !hidden || setting[name] === model.get(name)));
    const present = () => moving?.step ?? steps.find(({ setting }) => controls.every(({ name }) => setting[name] === model.get(name)));
    const go = (step, milliseconds = STEP) => {
      moving?.stop();
      notify("");
      const from = state(), still = controls.filter(({ name }) => !inputs[name].scale);
      store(Object.fromEntries(still.map(({ name, own }) => [name, own ?? step.setting[name]])));
      const arrive = () => {
        moving = null;
        store(step.setting);
        later();
      };
      moving = { step, stop: () => {} };
      if (milliseconds === 0) return arrive();
      moving.stop = animate(milliseconds, (share) => store(between(inputs, from, step.setting, share)), arrive);
    };
    const stepButtons = steps.map((step, k) => {
      const button = element("button", { type: "button", class: "posenc-step", "data-step": step.name, "aria-pressed": "false" });
      button.append(element("span", { class: "posenc-number", "aria-hidden": "true" }, String(k + 1)), step.label);
      button.addEventListener("click", () => go(step));
      return button;
    });

    // ---- the parts of the page

    const canvas = element("canvas", { role: "img" });
    const finding = element("p", { class: "posenc-finding" });
    const spoken = element("p", { class: "posenc-spoken", "aria-live": "polite" });
    const told = element("p", { class: "posenc-told" });
    const hints = say(hint, Object.fromEntries(controls.map(({ name, hidden }) => [`shows_${name}`, !hidden])));
    const blocks = element("div", { class: "posenc-blocks" });
    const zoom = () => (document.fullscreenElement === root ? zoomed : 1);
    const pointer = pointing({
      definition, canvas, zoom, state, result: () => result, change, accepted, notify,
      words: (cursor) => say(read, { ...state(), ...cursor, ...definition.reading(result, state(), cursor) }, names),
      shown() {
        if (frame) return; // the next frame paints and tells
        paint();
        tell();
      },
    }, labels);
    const rowsOf = (main) => controls.filter((control) => Boolean(control.main) === main).map(({ name }) => inputs[name].row);
    const drawer = (words, ...inside) => element("details", { class: "posenc-drawer" }, element("summary", KEEP_KEYS, words), ...inside);
    const more = drawer(shell.more, element("div", { class: "posenc-controls" }, ...rowsOf(false)));
    more.hidden = controls.every(({ main, hidden }) => main || hidden);
    const button = (words, act) => {
      const made = element("button", { type: "button" }, words);
      made.addEventListener("click", act);
      return made;
    };
    const bar = element("div", { class: "posenc-bar" });
    const root = element(
      "div", { class: "posenc-explorable-view", role: "group", "aria-label": title },
      element("p", { class: "posenc-title", "aria-hidden": "true" }, title),
      element("div", { class: "posenc-story", role: "group", "aria-label": shell.story }, ...stepButtons), told,
      element("div", { class: "posenc-stage" }, canvas, pointer.rows, pointer.readout),
      element("div", { class: "posenc-controls posenc-main" }, ...rowsOf(true)),
      finding, notice, bar, more, ...(definition.blocks ? [drawer(blocks_title, blocks)] : []), spoken,
    );

    const { play } = definition;
    const stepOn = () => { // without motion: the next of a few stops
      const { scale } = inputs[play.control], stops = Array.from({ length: STOPS + 1 }, (_, k) => scale.fromTrack((k / STOPS) * TRACK));
      change({ [play.control]: stops.find((value) => value > model.get(play.control)) ?? stops[0] });
    };
    const playOn = () => {
      if (reducedMotion()) return stepOn();
      if (moving && !moving.step) return stop();
      moving?.stop();
      notify("");
      const { scale } = inputs[play.control], track = scale.toTrack(model.get(play.control)), start = track < 0.99 * TRACK ? track : 0;
      moving = {};
      moving.stop = animate(
        1000 * play.seconds * (1 - start / TRACK),
        (share) => apply({ [play.control]: scale.fromTrack(start + share * (TRACK - start)) }),
        stop,
      );
      later();
    };
    const playButton = play && shown.includes(play.control) ? button("", playOn) : null;
    if (playButton) {
      const { label } = controls.find(({ name }) => name === play.control);
      playButton.setAttribute("aria-label", say(shell.plays, { label }));
      bar.append(playButton);
    }
    bar.append(button(shell.reset, () => {
      notify("");
      if (moving) stop();
      store(opening);
    }));
    let zoomed = 1;
    if (root.requestFullscreen) {
      const full = button(shell.full_screen, () => {
        if (document.fullscreenElement === root) return void document.exitFullscreen();
        zoomed = Math.min(Math.max(Math.min(screen.width / (root.offsetWidth + 60), screen.height / (root.offsetHeight + 40)), 1), 2.5);
        root.style.setProperty("--posenc-zoom", zoomed);
        root.requestFullscreen().catch((error) => notify(say(shell.no_full_screen, { error: error.name })));
      });
      root.addEventListener("fullscreenchange", () => {
        full.textContent = document.fullscreenElement === root ? shell.leave_full_screen : shell.full_screen;
        later();
      });
      bar.append(full);
    }
    if (model.settingLink) {
      bar.append(button(shell.copy, async () => {
        const step = present(), values = step ? { story: step.name } : Object.fromEntries(shown.map((name) => [name, model.get(name)]));
        const link = model.settingLink(values);
        try {
          await navigator.clipboard.writeText(link);
          notify(shell.copied);
        } catch (error) {
          notify(say(shell.not_copied, { error: error.name, link }));
        }
      }));
    }

    // ---- drawing and telling

    let result = null, frame = 0, pause = 0, speak = 0, done = false, milliseconds = 0, high = 0;

    const theme = () => {
      const style = getComputedStyle(root);
      const read = (name) => style.getPropertyValue(name).trim();
      return {
        text: read("--posenc-text"), muted: read("--posenc-muted"), grid: read("--posenc-grid"), ground: read("--posenc-ground"),
        font: `${Math.round((0.8 * parseFloat(style.fontSize)) / zoom())}px ${style.fontFamily}`,
      };
    };
    const paint = () => {
      const scale = zoom(), width = canvas.clientWidth / scale, height = definition.height(width, state());
      const ratio = (window.devicePixelRatio || 1) * scale;
      if (high !== height * scale) {
        high = height * scale;
        canvas.style.height = `${high}px`;
        root.style.setProperty("--posenc-stage", `${high}px`); // what scrolls to a control leaves the picture above it
      }
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      const context = canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      definition.draw({ context, width, height }, result, state(), theme(), pointer.cursor);
    };
    const tell = () => {
      const setting = state(), facts = { ...setting, done, ...definition.facts(result, setting, done) }, step = present();
      finding.textContent = sayAll(sentences, facts, names);
      canvas.setAttribute("aria-label", say(shell.canvas, { title, finding: finding.textContent }));
      told.textContent = step ? say(step.say, facts, names) : hints;
      told.classList.toggle("posenc-hint", !step);
      for (const button of stepButtons) {
        const isPressed = button.dataset.step === step?.name;
        if (isPressed && button.getAttribute("aria-pressed") !== "true") { // on a phone the row scrolls
          const row = button.parentElement;
          row.scrollLeft = button.offsetLeft + button.offsetWidth - row.offsetLeft - row.clientWidth + 8;
        }
        button.setAttribute("aria-pressed", String(isPressed));
      }
      if (playButton) playButton.textContent = reducedMotion() ? shell.step : moving && !moving.step ? shell.pause : shell.play;
      if (definition.blocks) showBlocks(blocks, definition.blocks(result, setting, pointer.cursor));
      pointer.place();
      clearTimeout(speak);
      speak = setTimeout(() => (spoken.textContent = [step && told.textContent, finding.textContent].filter(Boolean).join(" ")), 500);
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
      const start = performance.now(), setting = state();
      clearTimeout(pause);
      result = definition.compute(setting, canvas.clientWidth / zoom(), result, data);
      pointer.clamp();
      done = !result.complete;
      paint(); // first, since it reads the page, and a page that was just written to must be laid out again for that
      for (const control of controls) {
        const { row, show } = inputs[control.name];
        show();
        row.hidden = control.hidden || !isNeeded(control, setting);
        if (playButton && control.name === play.control) playButton.hidden = row.hidden;
      }
      tell();
      if (!done) pause = setTimeout(complete, PAUSE);
      milliseconds = performance.now() - start;
    };
    const later = () => (frame ||= requestAnimationFrame(update));

    // ---- what comes from outside

    const restore = (milliseconds) => {
      const { story: wanted, ...values } = model.get("_restore") ?? {}, refused = [], changes = {};
      for (const [name, text] of Object.entries(values)) {
        if (!shown.includes(name)) {
          refused.push(say(shell.no_control, { title, name, accepted: shown.join(", ") }));
          continue;
        }
        const { value, notice: words } = inputs[name].read(text);
        if (words) refused.push(words);
        if (value !== undefined) changes[name] = value;
      }
      const step = steps.find(({ name }) => name === wanted);
      if (step) go(step, milliseconds);
      else if (wanted !== undefined) refused.push(say(shell.no_step, { title, text: wanted, accepted: steps.map(({ name }) => name).join(", ") }));
      if (Object.keys(changes).length) {
        if (moving) stop();
        store(withPresets(changes));
      }
      notify(refused.join(" "));
    };
    const follow = () => restore(STEP);
    const events = controls.map(({ name }) => `change:${name}`);
    for (const event of events) model.on(event, later);
    model.on("change:_restore", follow);
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
      get done() { return done && !frame && !moving; },
      get updateMilliseconds() { return milliseconds; },
      get readers() { return pointer.readers; },
      get handles() { return pointer.handles; },
      get story() { return steps.map(({ name, setting }) => ({ name, setting })); },
      pixel: (...point) => definition.pixel(result, ...point),
    };
    restore(0);
    update();
    onceLettersCome(later);
    return () => {
      for (const event of events) model.off(event, later);
      model.off("change:_restore", follow);
      themes.disconnect();
      sizes.disconnect();
      moving?.stop();
      cancelAnimationFrame(frame);
      clearTimeout(pause);
      clearTimeout(speak);
    };
  };
}

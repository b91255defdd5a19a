// The story of an explorable: its steps as buttons, the way from one to another, and the play button's motion.

import { TRACK, element } from "./controls.js";
import { animate, between, reducedMotion } from "./motion.js";

const STEP = 600; // milliseconds from one step to the next
const STOPS = 8; // of the play button, where the reader wants no motion

export class Story {
  // `notify(text)` shows a notice; `changed()` is called when something starts or ends to move.
  constructor({ settings, inputs, play, notify, changed }, story, hiddenSteps) {
    Object.assign(this, { settings, inputs, play, notify, changed });
    this.moving = null; // { stop, step } on the way to a step, { stop } while it plays
    this.steps = story
      .filter(({ name }) => !hiddenSteps.includes(name))
      .map((step) => ({ ...step, setting: settings.ofStep(step.set) }))
      .filter(({ setting }) => settings.controls.every(({ name, hidden }) => !hidden || setting[name] === settings.get(name)));
    this.buttons = this.steps.map((step, k) => this.buttonOf(step, k));
  }

  buttonOf(step, k) {
    const button = element("button", { type: "button", class: "posenc-step", "data-step": step.name, "aria-pressed": "false" });
    button.append(element("span", { class: "posenc-number", "aria-hidden": "true" }, String(k + 1)), step.label);
    button.addEventListener("click", () => this.go(step));
    return button;
  }

  // The step that is shown, or on the way to be.
  get present() {
    return this.moving?.step ?? this.steps.find(({ setting }) => this.settings.are(setting));
  }

  get plays() {
    return Boolean(this.moving && !this.moving.step);
  }

  stop() {
    if (!this.moving) return;
    this.moving.stop();
    this.moving = null;
    this.changed();
  }

  go(step, milliseconds = STEP) {
    const { settings, inputs } = this;
    this.moving?.stop();
    this.notify("");
    const from = settings.all(), still = settings.controls.filter(({ name }) => !inputs[name].scale);
    settings.store(Object.fromEntries(still.map(({ name, own }) => [name, own ?? step.setting[name]])));
    const arrive = () => {
      this.moving = null;
      settings.store(step.setting);
      this.changed();
    };
    this.moving = { step, stop: () => {} };
    if (milliseconds === 0) return arrive();
    this.moving.stop = animate(milliseconds, (share) => settings.store(between(inputs, from, step.setting, share)), arrive);
  }

  // Marks the button of the step that is shown; on a phone the row scrolls to it.
  mark() {
    const { present } = this;
    for (const button of this.buttons) {
      const isPressed = button.dataset.step === present?.name;
      if (isPressed && button.getAttribute("aria-pressed") !== "true") {
        const row = button.parentElement;
        row.scrollLeft = button.offsetLeft + button.offsetWidth - row.offsetLeft - row.clientWidth + 8;
      }
      button.setAttribute("aria-pressed", String(isPressed));
    }
  }

  // Plays, or stops playing; where the reader wants no motion, moves to the next of a few stops.
  playOn() {
    const { play: { control, seconds }, settings } = this, { scale } = this.inputs[control];
    if (reducedMotion()) {
      const stops = Array.from({ length: STOPS + 1 }, (_, k) => scale.fromTrack((k / STOPS) * TRACK));
      this.stop();
      return settings.apply({ [control]: stops.find((value) => value > settings.get(control)) ?? stops[0] });
    }
    if (this.plays) return this.stop();
    this.moving?.stop();
    this.notify("");
    const track = scale.toTrack(settings.get(control)), start = track < 0.99 * TRACK ? track : 0;
    this.moving = { stop: () => {} };
    this.moving.stop = animate(
      1000 * seconds * (1 - start / TRACK),
      (share) => settings.apply({ [control]: scale.fromTrack(start + share * (TRACK - start)) }),
      () => this.stop(),
    );
    this.changed();
  }
}

// The story of an explorable: its steps as buttons, the way from one to another, and playing it from step to step.

import { element } from "./controls.js";
import { animate, between, reducedMotion } from "./motion.js";

const STEP = 600; // milliseconds to a step that the reader presses
const PLAYED = 1500; // and to the next one while the story plays,
const STAYS = 5000; // of which each has so many in all; what it says is told from the beginning

export class Story {
  // `notify(text)` shows a notice; `leave()` ends what is read off; `changed()` is called when something starts or ends to
  // move, `ahead(step)` on the way to a step.
  constructor({ settings, inputs, notify, leave, changed, ahead }, story, hiddenSteps) {
    Object.assign(this, { settings, inputs, notify, leave, changed, ahead });
    this.moving = null; // { stop, step } on the way to a step
    this.between = false; // a handle is held between two settings
    this.timer = 0; // of the next step, while the story plays
    this.steps = story
      .filter(({ name }) => !hiddenSteps.includes(name))
      .map((step) => ({ ...step, setting: settings.ofStep(step.set) }))
      .filter(({ setting }) => settings.controls.every(({ name, hidden }) => !hidden || setting[name] === settings.get(name)));
    this.buttons = this.steps.map((step, k) => this.buttonOf(step, k));
  }

  buttonOf(step, k) {
    const button = element("button", { type: "button", class: "posenc-step", "data-step": step.name, "aria-pressed": "false" });
    button.append(element("span", { class: "posenc-number", "aria-hidden": "true" }, String(k + 1)), element("span", { class: "posenc-label" }, step.label));
    button.addEventListener("click", () => {
      this.stop();
      this.go(step);
    });
    return button;
  }

  // The step that is shown, or on the way to be.
  get present() {
    return this.moving?.step ?? this.steps.find(({ setting }) => !this.between && this.settings.are(setting));
  }

  get plays() {
    return this.timer !== 0;
  }

  stop() {
    if (!this.moving && !this.plays) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.moving?.stop();
    this.moving = null;
    this.changed();
  }

  go(step, milliseconds = STEP) {
    const { settings, inputs } = this;
    this.moving?.stop();
    this.notify("");
    this.leave();
    const from = settings.all(), still = settings.controls.filter(({ name }) => !inputs[name].scale);
    settings.store(Object.fromEntries(still.map(({ name, own }) => [name, own ?? step.setting[name]])));
    const arrive = () => {
      this.moving = null;
      settings.store(step.setting);
      this.changed();
    };
    this.moving = { step, stop: () => {} };
    if (milliseconds === 0 || reducedMotion()) return arrive();
    this.ahead(step);
    this.moving.stop = animate(milliseconds, (share) => settings.store(between(inputs, from, step.setting, share)), arrive);
  }

  // Marks the button of the step that is shown, which fills while the story plays.
  mark() {
    const { present } = this;
    for (const button of this.buttons) {
      const isPressed = button.dataset.step === present?.name;
      button.style.animation = isPressed && this.plays ? `posenc-plays ${STAYS}ms linear` : "";
      button.setAttribute("aria-pressed", String(isPressed));
    }
  }

  // Plays from the step after the one that is shown, or stops playing; where the reader wants no motion, takes one step.
  playOn() {
    const { steps } = this, next = (steps.indexOf(this.present) + 1) % steps.length;
    if (this.plays) return this.stop();
    if (reducedMotion()) return this.go(steps[next]);
    this.playFrom(next);
  }

  playFrom(k) {
    const { steps } = this;
    this.go(steps[k], PLAYED);
    this.timer = setTimeout(() => (k + 1 < steps.length ? this.playFrom(k + 1) : this.stop()), STAYS);
    this.changed();
  }
}

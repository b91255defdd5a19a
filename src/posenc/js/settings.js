// The values of an explorable's controls, in the model that Python shares, and what changes together.

// A control of Python's with its words: what Python has stored may be shown in another language.
function worded({ options, ...control }, { options: labels, ...words }) {
  return { ...control, ...words, ...(options && { options: options.map((one) => ({ ...one, label: labels[one.value] })) }) };
}

export class Settings {
  // words: of the controls, by name. linked(changes, setting): further changes that go with these, or undefined.
  constructor(model, words, linked) {
    this.model = model;
    this.linked = linked;
    this.controls = model.get("_controls").map((control) => worded(control, words[control.name]));
    this.shown = this.controls.filter(({ hidden }) => !hidden).map(({ name }) => name);
    this.presets = this.controls.filter(({ own }) => own);
    this.opening = this.all();
    this.saving = 0;
  }

  get(name) {
    return this.model.get(name);
  }

  all() {
    return Object.fromEntries(this.controls.map(({ name }) => [name, this.get(name)]));
  }

  are(setting) {
    return this.controls.every(({ name }) => setting[name] === this.get(name));
  }

  // Takes the values as they are; Python hears of them once a frame.
  store(changes) {
    for (const [name, value] of Object.entries(changes)) this.model.set(name, value);
    this.saving ||= requestAnimationFrame(() => {
      this.saving = 0;
      this.model.save_changes();
    });
  }

  // Takes the values, and those that go with them.
  apply(changes) {
    this.store(this.withPresets({ ...changes, ...this.linked?.(changes, this.all()) }));
  }

  // A preset brings values of other controls along, and stops being chosen when one of them moves away.
  withPresets(changes) {
    const after = { ...this.all(), ...changes };
    const ofPreset = ({ name, options }) => options.find(({ value }) => value === after[name]).sets;
    for (const control of this.presets) {
      if (control.name in changes) Object.assign(after, ofPreset(control), changes);
      if (Object.entries(ofPreset(control)).some(([name, value]) => after[name] !== value)) after[control.name] = control.own;
    }
    return Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== this.get(name)));
  }

  // The setting of a step of the story: that with which every explorable of this kind opens, but for what the step sets.
  ofStep(set) {
    const setting = Object.fromEntries(this.controls.map(({ name, opening }) => [name, opening]));
    for (const { name, options } of this.presets) Object.assign(setting, options.find(({ value }) => value === set[name])?.sets);
    return { ...setting, ...set };
  }
}

// A choice of which the first few options are chips in sight, and the others in a list beside them: `first`, how many, and
// `more`. An option that lacks what it needs cannot be chosen, and `unfit` says why behind its name.

import { KEEP_KEYS, element, isNeeded, makeControl } from "./controls.js";

export function chipsAndList(control, get, set, notify, state) {
  const made = makeControl({ ...control, own_control: false }, {}, get, set, notify, state), { row, show } = made, rest = control.options.slice(control.first);
  const chips = [...row.querySelectorAll(".posenc-option")];
  chips.splice(control.first).forEach((chip) => chip.remove());
  const list = element("select", { class: "posenc-more", "aria-label": `${control.label}, ${control.more}`, ...KEEP_KEYS });
  list.append(element("option", { value: "" }, control.more), ...rest.map(({ value, label }) => element("option", { value }, label)));
  list.addEventListener("change", () => {
    notify("");
    set(list.value || control.options[0].value);
  });
  row.append(list);
  // The element of each option, which is disabled, and the text node of its name.
  const parts = [...chips.map((chip) => [chip.firstChild, chip.lastChild]), ...[...list.options].slice(1).map((one) => [one, one.firstChild])];
  return {
    ...made,
    show() {
      show();
      list.value = isNeeded({ needs: control.holds ?? {} }, state()) && rest.some(({ value }) => value === get()) ? get() : "";
      control.options.forEach(({ label, needs = {} }, k) => {
        const [box, name] = parts[k], fits = isNeeded({ needs }, state());
        box.disabled = !fits;
        name.data = fits ? label : `${label}: ${control.unfit}`;
      });
    },
  };
}

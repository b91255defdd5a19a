// A choice of which the first few options are chips in sight, and the others in a list beside them: `first`, how many, and `more`.

import { KEEP_KEYS, element, makeControl } from "./controls.js";

export function chipsAndList(control, get, set, notify, state) {
  const made = makeControl({ ...control, own_control: false }, {}, get, set, notify, state), { row, show } = made, rest = control.options.slice(control.first);
  [...row.querySelectorAll(".posenc-option")].slice(control.first).forEach((chip) => chip.remove());
  const list = element("select", { class: "posenc-more", style: "width: auto; field-sizing: content", "aria-label": `${control.label}, ${control.more}`, ...KEEP_KEYS });
  list.append(element("option", { value: "" }, control.more), ...rest.map(({ value, label }) => element("option", { value }, label)));
  list.addEventListener("change", () => {
    notify("");
    set(list.value || control.options[0].value);
  });
  row.append(list);
  return {
    ...made,
    show() {
      show();
      list.value = rest.some(({ value }) => value === get()) ? get() : "";
    },
  };
}

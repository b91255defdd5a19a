// Chips that stand in groups, the last of them folded away: a choice with `groups`, [{ label, folded, options: [value, …] }].

import { element, makeControl } from "./controls.js";

export function groupedChips(control, get, set, notify, state) {
  const made = makeControl({ ...control, own_control: false }, {}, get, set, notify, state), { row, show } = made;
  const chips = new Map([...row.querySelectorAll(".posenc-option")].map((chip) => [chip.firstElementChild.value, chip]));
  let present = null;
  const folds = control.groups.map(({ label, folded, options }) => {
    const own = options.map((value) => chips.get(value));
    row.append(folded
      ? element("details", { class: "posenc-fold" }, element("summary", {}, label), element("div", { class: "posenc-chips" }, ...own))
      : element("span", { class: "posenc-group" }, element("span", {}, label), ...own));
    return (value) => folded && options.includes(value) && (own[0].closest("details").open = true); // what is chosen is in sight
  });
  return {
    ...made,
    show() {
      show();
      if (present !== get()) folds.forEach((open) => open(get()));
      present = get();
    },
  };
}

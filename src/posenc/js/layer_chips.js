// The layers of a stack as chips, from the bottom up: each press takes a layer on to its next kind.

import { patternOf } from "./arithmetic_layers.js";
import { KEEP_KEYS, chipRow, element, readText } from "./controls.js";
import { say } from "./sentences.js";

const NEXT = { R: "r", r: "N", N: "n", n: "R" };
const LEAST = 4, GREATEST = 12; // layers

// The pattern with the letter of one layer changed; empty where that is the model's own.
export function changed(state, layer, letter) {
  const pattern = patternOf(state);
  return ownOrNone(state, pattern.slice(0, layer) + letter + pattern.slice(layer + 1));
}

function ownOrNone(state, pattern) {
  return pattern === patternOf({ ...state, layers: "" }) ? "" : pattern;
}

// `control` has, besides its label, the texts "how" it is used, of a chip, "short" and as it is spoken, of its "kinds" by
// letter, and "add" and "take" with what their buttons say aloud.
export function layerChips(control, get, set, notify, state) {
  const all = () => patternOf(state()), chips = [];
  const button = (words, spoken, act) => {
    const made = element("button", { type: "button", "aria-label": spoken, ...KEEP_KEYS }, words);
    made.addEventListener("click", () => {
      notify("");
      set(act());
      show();
    });
    return made;
  };
  const add = button("+", control.add, () => {
    const own = patternOf({ ...state(), layers: "" }), pattern = all();
    return ownOrNone(state(), pattern + own[pattern.length % own.length]); // goes on as the model does
  });
  const take = button("−", control.take, () => ownOrNone(state(), all().slice(0, -1)));
  const box = element("div", { class: "posenc-chips" }, add, take);
  const row = chipRow(control, box);
  let shown = "";
  const show = () => {
    const pattern = all();
    if (pattern === shown) return;
    shown = pattern;
    while (chips.length > pattern.length) chips.pop().remove();
    while (chips.length < pattern.length) {
      const k = chips.length;
      chips.push(button("", "", () => changed(state(), k, NEXT[all()[k]])));
      add.before(chips[k]);
    }
    [...pattern].forEach((letter, k) => {
      const facts = { layer: k + 1, kind: letter };
      chips[k].textContent = say(control.short, facts);
      chips[k].setAttribute("aria-label", say(control.chip, facts, control));
    });
    add.disabled = pattern.length >= GREATEST;
    take.disabled = pattern.length <= LEAST;
  };
  return { row, show, read: (text) => readText(control, text, get()) };
}

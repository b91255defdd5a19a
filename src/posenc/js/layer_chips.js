// The layers of a stack as chips, from the bottom up: each press takes a layer on to its next kind.

import { patternOf } from "./arithmetic_layers.js";
import { KEEP_KEYS, element, readText } from "./controls.js";
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

// `control` has, besides its label, the texts "how" it is used, of a "chip" with its number and its kind, of "kinds" by
// letter, and of the buttons "add" and "take".
export function layerChips(control, get, set, notify, state) {
  const box = element("div", { class: "posenc-chips" });
  const put = (pattern) => {
    notify("");
    set(ownOrNone(state(), pattern));
    show();
  };
  const button = (words, act) => {
    const made = element("button", { type: "button", ...KEEP_KEYS }, words);
    made.addEventListener("click", act);
    return made;
  };
  const all = () => patternOf(state());
  const take = button(control.take, () => put(all().slice(0, -1)));
  const add = button(control.add, () => {
    const own = patternOf({ ...state(), layers: "" }), pattern = all(); // goes on as the model does
    put(pattern + own[pattern.length % own.length]);
  });
  const row = element(
    "div", { class: "posenc-order", role: "group", "aria-label": control.label, "data-control": control.name },
    element("span", {}, control.label), box, add, take, element("span", { class: "posenc-unit" }, control.how),
  );
  let shown = "";
  const chip = (k) => {
    const made = button("", () => {
      notify("");
      set(changed(state(), k, NEXT[all()[k]]));
      show();
    });
    made.classList.add("posenc-layer");
    return made;
  };
  const show = () => {
    const pattern = all();
    if (pattern === shown) return;
    shown = pattern;
    while (box.children.length > pattern.length) box.lastElementChild.remove();
    while (box.children.length < pattern.length) box.append(chip(box.children.length));
    [...pattern].forEach((letter, k) => {
      const facts = { layer: k + 1, kind: letter };
      box.children[k].textContent = say(control.short, facts, control);
      box.children[k].setAttribute("aria-label", say(control.chip, facts, control));
    });
    add.disabled = pattern.length >= GREATEST;
    take.disabled = pattern.length <= LEAST;
  };
  return { row, show, read: (text) => readText(control, text, get()) };
}

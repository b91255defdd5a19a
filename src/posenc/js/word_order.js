// The words of a sentence as chips that change places: by dragging with mouse or finger, or by arrow keys.
//
// The chips are the places and stay where they are on the page; words move from one to another. So a chip keeps the
// pointer while it is dragged, and the focus follows the word.

import { colours } from "./colours.js";
import { KEEP_KEYS, chipRow, element, readText } from "./controls.js";
import { say } from "./sentences.js";

const KEYS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity };

// The word at each of `count` places: those that `text` names, then those that it leaves out.
export function placesOf(text, count) {
  const given = [...text].map(Number).filter((word) => word < count);
  return [...given, ...Array.from({ length: count }, (_, word) => word).filter((word) => !given.includes(word))];
}

// The order as text after the word at one place has moved to another.
export function movedTo(order, from, to) {
  const moved = order.filter((_, place) => place !== from);
  moved.splice(to, 0, order[from]);
  return moved.join("");
}

// `control` has, besides its label, the texts "how" it is used and of a "chip" with its word and its place.
export function wordOrder(control, get, set, notify, state) {
  const box = element("div", { class: "posenc-chips" });
  const row = chipRow(control, box);
  let held = null, shown = "";
  const words = () => state().sentence.split(" ");
  const show = () => {
    const all = words(), present = JSON.stringify([all, get(), held]);
    if (present === shown) return;
    shown = present;
    while (box.children.length > all.length) box.lastElementChild.remove();
    while (box.children.length < all.length) box.append(chip(box.children.length));
    placesOf(get(), all.length).forEach((word, place) => {
      const [text, under] = box.children[place].children;
      text.textContent = all[word];
      under.textContent = place;
      box.children[place].setAttribute("aria-label", say(control.chip, { word: all[word], place }));
      box.children[place].classList.toggle("posenc-held", place === held);
    });
  };
  const move = (from, to) => {
    notify("");
    set(movedTo(placesOf(get(), words().length), from, to));
    show();
    box.children[to].focus();
  };

  // How many of the other words are read before a point on the page.
  const placeAt = (x, y) => {
    const { top, bottom } = box.getBoundingClientRect(), level = Math.min(Math.max(y, top + 1), bottom - 1);
    return [...box.children].filter((other, place) => {
      const rect = other.getBoundingClientRect();
      if (place === held || level < rect.top) return false;
      return level > rect.bottom || (rect.left + rect.right) / 2 < x;
    }).length;
  };

  function chip(place) {
    const made = element(
      "button", { type: "button", class: "posenc-chip", ...KEEP_KEYS },
      element("span"), element("span", { class: "posenc-place", style: `--posenc-position: ${colours.position}` }),
    );
    made.addEventListener("keydown", (event) => {
      if (!(event.key in KEYS) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const to = Math.min(Math.max(place + KEYS[event.key], 0), box.children.length - 1);
      if (to !== place) move(place, to);
    });
    made.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      made.setPointerCapture(event.pointerId);
      held = place;
      show();
    });
    made.addEventListener("pointermove", (event) => {
      if (held === null) return;
      const from = held, to = placeAt(event.clientX, event.clientY);
      if (from === to) return;
      held = to;
      move(from, to);
    });
    made.addEventListener("lostpointercapture", () => {
      held = null;
      show();
    });
    return made;
  }

  return { row, show, read: (text) => readText(control, text, get()) };
}

// Dimension pairs as chips: a press switches a pair off or on, arrow keys scale its frequency. The picture does the same.

import { KEEP_KEYS, chipRow, element, readText } from "./controls.js";
import { grouped } from "./numbers.js";
import { say } from "./sentences.js";
import { bentFrequencies, isRotary, withWord, wordsOf } from "./transformer_bent.js";

const STEP = 2 ** 0.25, LEAST = 1 / 32, GREATEST = 4; // factors on a frequency
const KEYS = { ArrowUp: STEP, ArrowRight: STEP, ArrowDown: 1 / STEP, ArrowLeft: 1 / STEP, PageUp: 2, PageDown: 0.5 };

// `control` has, besides its label, the texts "how" it is used, and "chip" as it is spoken.
export function pairChips(control, get, set, notify, state) {
  const scaleOf = (pair) => bentFrequencies(state()).scales[pair];
  const change = (pair, word) => {
    notify("");
    set(withWord(state(), pair, word));
    show();
  };
  const chips = wordsOf({ pairs: "" }).map((_, pair) => {
    const chip = element("button", { type: "button", class: "posenc-pair-switch", ...KEEP_KEYS }, String(pair));
    chip.addEventListener("click", () => change(pair, wordsOf(state())[pair] === "off" ? "-" : "off"));
    chip.addEventListener("keydown", (event) => {
      if (!(event.key in KEYS) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const scale = Math.min(Math.max(Math.max(scaleOf(pair), LEAST) * KEYS[event.key], LEAST), GREATEST);
      change(pair, String(Number(scale.toPrecision(3))));
    });
    return chip;
  });
  const box = element("div", { class: "posenc-chips" }, ...chips);
  const row = chipRow(control, box);
  const show = () => {
    if (!isRotary(state())) return;
    const words = wordsOf(state()), { scales } = bentFrequencies(state());
    chips.forEach((chip, pair) => {
      chip.setAttribute("aria-pressed", String(words[pair] !== "off"));
      chip.setAttribute("aria-label", say(control.chip, { pair, scale: grouped(scales[pair]), off: words[pair] === "off" }));
    });
  };
  return { row, show, read: (text) => readText(control, text, get()) };
}

// A link or a search hit leads to its place: folds open for it, and for print, and the words that were searched for are
// marked. And the switch for code.
(() => {
  "use strict";

  /**
   * Bring an element into view: the fold that it heads and those around it open, and where it waits for a guess, the
   * question is shown instead. Other scripts may call this.
   */
  window.posencReveal = (element, block = "start") => {
    const seen = window.posencPredict?.questionOf(element) ?? element;
    const inside = seen.querySelector(":scope > details.posenc-deeper > summary") ?? seen;
    for (let fold = inside.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    seen.scrollIntoView({ block: seen === element ? block : "center" });
    return seen === element;
  };

  /** What the address names, `#heading` or a figure with its setting, `#figure:base=500`. */
  const addressed = () => document.getElementById(decodeURIComponent(location.hash.slice(1)).replace(/:.*$/s, ""));

  function follow() {
    const element = addressed();
    if (element) window.posencReveal(element);
  }

  // ---- the words of `?highlight=`, which the search page gives, or beginnings of words

  const BLOCK = "p, li, dt, dd, td, th, pre, summary";
  const NOT_TEXT = "script, style, noscript, button, h1, h2, h3, h4, h5, h6, .math, .posenc-explorable, .posenc-gloss-card, [hidden]";

  /** All words that begin with this one. A number is itself only, with gaps or without; Chinese has none between words. */
  function pattern(word) {
    const letters = word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/(?<=\d)(?=\d)/g, "[ ,\u202f]?");
    if (/^\d+$/.test(word)) return `(?<!\\d[ ,\\u202f]?)${letters}(?![ ,\\u202f]?\\d)`;
    return /^\p{Script=Han}/u.test(word) ? letters : `(?<![\\p{L}\\p{N}])${letters}[\\p{L}\\p{N}]*`;
  }

  function textsOf(block) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(NOT_TEXT)) texts.push(walker.currentNode);
    return texts;
  }

  /** Mark what was searched for in the first block that has most of it, and lead there; false where it is not. */
  function highlight() {
    const asked = new URLSearchParams(location.search).get("highlight") ?? "";
    const words = asked.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).map(pattern);
    const has = (block) => {
      const texts = textsOf(block).map((text) => text.data);
      return words.filter((word) => texts.some((text) => new RegExp(word, "iu").test(text))).length;
    };
    let hit = null, most = 0;
    for (const block of words.length ? (addressed() ?? document.querySelector("article")).querySelectorAll(BLOCK) : []) {
      const count = has(block);
      if (count > most) [hit, most] = [block, count];
    }
    if (!hit) return false;
    for (const text of textsOf(hit)) {
      const found = [...text.data.matchAll(new RegExp(words.join("|"), "giu"))];
      for (const { index, 0: { length } } of found.reverse()) { // from the end, so that the places before stay
        const range = document.createRange(), shown = document.createElement("mark");
        range.setStart(text, index);
        range.setEnd(text, index + length);
        shown.className = "posenc-found";
        range.surroundContents(shown);
      }
    }
    const show = () => window.posencReveal(hit, "center");
    show();
    window.addEventListener("load", () => window.MathJax?.startup?.promise?.then(show)); // formulas move it away again
    return true;
  }

  document.addEventListener("DOMContentLoaded", () => highlight() || follow());
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const hash = event.target.closest?.("a[href^='#']")?.getAttribute("href");
    if (hash && hash === location.hash) follow(); // the address does not change
  });

  // ---- what a reader has chosen: on this machine only, and not at all where a browser refuses it

  window.posencKept = {
    recall(key) {
      try {
        return JSON.parse(localStorage.getItem(key));
      } catch {
        return null; // refused, or not ours
      }
    },
    remember(key, value) {
      try {
        localStorage.setItem(key, JSON.stringify(value));
      } catch {
        // refused: then it is not remembered
      }
    },
  };

  const CODE = "posenc-code";

  function showCode(which) {
    for (const fold of document.querySelectorAll(".posenc-code")) fold.open = which === "all";
    for (const choice of document.getElementsByName(CODE)) choice.checked = choice.value === which;
    window.dispatchEvent(new Event("resize")); // the theme then lets keys scroll what came into sight
  }

  for (const choice of document.getElementsByName(CODE)) {
    choice.addEventListener("change", () => {
      window.posencKept.remember(CODE, choice.value);
      showCode(choice.value);
    });
  }
  if (document.getElementsByName(CODE).length) showCode(window.posencKept.recall(CODE) ?? "essential");

  // On paper all is open, but for an explorable's further controls, and code as the switch has it.
  let opened = [];
  const openAll = () => {
    const closed = [...document.querySelectorAll("article details:not([open], .posenc-explorable *, .posenc-code)")];
    for (const fold of closed) fold.open = true;
    opened.push(...closed);
  };
  window.addEventListener("beforeprint", openAll);
  window.addEventListener("posenc:print", openAll); // the page host, before it draws what is to be printed
  window.addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    opened = [];
  });
})();

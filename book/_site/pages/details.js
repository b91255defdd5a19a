// A link or a search hit leads to its place: folds open for it, and for print, and the words that were searched for are
// marked.
(() => {
  "use strict";

  /** The fold that an element is, heads or stands in, and those around it, from within outwards. */
  function* foldsOf(element) {
    const own = element.querySelector(":scope > details.posenc-deeper");
    if (own) yield own;
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) yield fold;
  }

  /**
   * Bring an element into view: what is folded around it opens, and where it waits for a guess, the question is shown
   * instead. Other scripts may call this.
   */
  window.posencReveal = (element, block = "start") => {
    const seen = window.posencPredict?.questionOf(element) ?? element;
    for (const fold of foldsOf(seen)) fold.open = true;
    seen.scrollIntoView({ block: seen === element ? block : "center" });
    return seen === element;
  };

  const folded = (element) => [...foldsOf(element)].some((fold) => !fold.open) || window.posencPredict?.questionOf(element);

  /** What the address names, `#heading` or a figure with its setting, `#figure:base=500`. */
  function addressed() {
    const name = decodeURIComponent(location.hash.slice(1));
    return document.getElementById(name) ?? document.getElementById(name.replace(/:.*$/s, ""));
  }

  function follow() {
    const element = addressed();
    if (element && folded(element)) window.posencReveal(element);
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

  /** The first paragraph, row or the like with the most of the words, its pieces of text that have one; null if none has. */
  function best(root, words) {
    const patterns = words.map((word) => new RegExp(pattern(word), "iu")), blocks = new Map();
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode, block = text.parentElement.closest(BLOCK);
      const found = patterns.filter((one) => one.test(text.data));
      if (!found.length || !block || text.parentElement.closest(NOT_TEXT)) continue;
      if (!blocks.has(block)) blocks.set(block, { block, pieces: [], words: new Set() });
      blocks.get(block).pieces.push(text);
      for (const one of found) blocks.get(block).words.add(one);
    }
    const most = Math.max(...[...blocks.values()].map((each) => each.words.size));
    return [...blocks.values()].find((each) => each.words.size === most) ?? null;
  }

  function mark(text, words) {
    const found = [...text.data.matchAll(new RegExp(words.map(pattern).join("|"), "giu"))];
    for (const { index, 0: { length } } of found.reverse()) { // from the end, so that the places before stay
      const range = document.createRange(), shown = document.createElement("mark");
      range.setStart(text, index);
      range.setEnd(text, index + length);
      shown.className = "posenc-found";
      range.surroundContents(shown);
    }
  }

  /** Mark what was searched for, in what the address names or anywhere, and lead there; false where it is not. */
  function highlight() {
    const words = new URLSearchParams(location.search).get("highlight")?.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)) ?? [];
    const hit = words.length && best(addressed() ?? document.querySelector("article"), words);
    if (!hit) return false;
    for (const text of hit.pieces) mark(text, words);
    const show = () => window.posencReveal(hit.block, "center");
    show();
    window.addEventListener("load", () => Promise.resolve(window.MathJax?.startup?.promise).then(show)); // all is in its place
    return true;
  }

  document.addEventListener("DOMContentLoaded", () => highlight() || (location.hash && follow()));
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const hash = event.target.closest?.("a[href^='#']")?.getAttribute("href");
    if (hash && hash === location.hash) follow(); // the address does not change
  });

  // On paper all is open: by the style sheet where the browser knows how, and by hand where it does not.
  let opened = [];
  const openAll = () => {
    for (const fold of document.querySelectorAll("article details:not([open])")) {
      if (fold.closest(".posenc-explorable")) continue; // its further controls
      fold.open = true;
      opened.push(fold);
    }
  };
  window.addEventListener("beforeprint", openAll);
  window.addEventListener("posenc:print", openAll); // the page host, before it draws what is to be printed
  window.addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    opened = [];
  });
})();

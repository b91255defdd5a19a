// Folds open for a link or a search hit that leads into them, and for print.
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
   * instead. Search and other scripts may call this.
   */
  window.posencReveal = (element) => {
    const seen = window.posencPredict?.questionOf(element) ?? element;
    for (const fold of foldsOf(seen)) fold.open = true;
    seen.scrollIntoView({ block: seen === element ? "start" : "center" });
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

  /** The words of `?highlight=`, as Sphinx's search gives them: the first place that has one is brought into view. */
  function highlight() {
    const words = new URLSearchParams(location.search).get("highlight")?.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words?.length) return;
    const texts = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode.data.toLowerCase(), place = texts.currentNode.parentElement;
      if (!place.closest("script, style, h1") && words.some((word) => text.includes(word))) {
        window.posencReveal(place);
        return;
      }
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (location.hash) follow();
    else highlight();
  });
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

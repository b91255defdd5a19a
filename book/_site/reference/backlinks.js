// The marks at headings and the glossary's cards: what is open closes by Escape and by a click elsewhere.
(() => {
  "use strict";

  // ---- marks: folds that open without this script ------------------------------------------------------------

  const marks = [...document.querySelectorAll(".posenc-aside")];
  const closeMarks = (except) => {
    for (const mark of marks) if (mark !== except) mark.open = false;
  };
  for (const mark of marks) mark.addEventListener("toggle", () => mark.open && closeMarks(mark));

  document.addEventListener("click", (event) => closeMarks(event.target.closest?.(".posenc-aside")));
  document.addEventListener("keydown", (event) => {
    const open = marks.find((mark) => mark.open);
    if (event.key !== "Escape" || !open) return;
    const inside = open.contains(document.activeElement);
    closeMarks();
    if (inside) open.querySelector("summary").focus();
  });

  // ---- the glossary's cards ------------------------------------------------------------------------------------

  const leaving = 250; // milliseconds in which the pointer may go from a word to its card
  let shown = null; // {word, card}
  let timer = 0;

  /** Put a card under its word, or over it where the screen ends; it stays on the screen. */
  function place({ word, card }) {
    const lines = word.getClientRects(), line = lines[lines.length - 1];
    const gap = 6, edge = 8, width = document.documentElement.clientWidth;
    const left = Math.max(edge, Math.min(line.left, width - card.offsetWidth - edge));
    const below = line.bottom + gap, fits = below + card.offsetHeight <= innerHeight;
    card.style.left = `${left}px`;
    card.style.top = `${fits ? below : Math.max(edge, lines[0].top - gap - card.offsetHeight)}px`;
  }

  function hide() {
    clearTimeout(timer);
    if (shown) shown.card.hidden = true;
    shown = null;
  }

  function show(word) {
    clearTimeout(timer);
    if (shown?.word === word) return;
    hide();
    const card = document.getElementById(word.getAttribute("aria-describedby"));
    shown = { word, card };
    card.hidden = false;
    place(shown);
  }

  const hideSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, leaving);
  };

  for (const word of document.querySelectorAll(".posenc-gloss")) {
    const card = document.getElementById(word.getAttribute("aria-describedby"));
    let touched = false; // a finger first sees the card, in which a link leads on
    word.addEventListener("pointerdown", (event) => (touched = event.pointerType === "touch"));
    word.addEventListener("click", (event) => {
      if (!touched) return;
      event.preventDefault();
      show(word);
    });
    word.addEventListener("focus", () => show(word));
    word.addEventListener("blur", hideSoon);
    for (const part of [word, card]) {
      part.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && show(word));
      part.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hideSoon());
    }
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("pointerdown", (event) => {
    if (shown && !shown.card.contains(event.target) && !shown.word.contains(event.target)) hide();
  });
  addEventListener("scroll", () => shown && place(shown), { passive: true });
  addEventListener("resize", () => shown && place(shown));
})();

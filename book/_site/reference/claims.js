// The filter of the claims page: by verdict, kind, note, chapter and words, kept in the address.
//
// Without this script every claim is shown. A card that the address names, #c123, is shown whatever the filter.
(() => {
  "use strict";

  const form = document.getElementById("claim-filter");
  const count = document.getElementById("claim-count");
  const fields = ["verdict", "kind", "note", "chapter"]; // each a class of the card as well
  // MathJax has not yet set the formulas: they are found by their TeX
  const cards = [...document.querySelectorAll(".posenc-claim")].map((card) => ({
    card,
    text: card.textContent.toLowerCase(),
  }));

  /** Whether a claim is what is asked for: one of the ticked boxes of each group, the chapter, and every word. */
  const fits = ({ card, text }, asked) =>
    fields.every((name) => {
      const wanted = asked.getAll(name).filter(Boolean);
      return !wanted.length || wanted.some((value) => card.classList.contains(`posenc-${name}-${value}`));
    }) && asked.get("words").toLowerCase().split(/\s+/).every((word) => text.includes(word));

  const named = () => document.getElementById(location.hash.slice(1))?.closest(".posenc-claim");

  function show() {
    const asked = new FormData(form), fitting = cards.filter((claim) => fits(claim, asked));
    for (const { card } of cards) card.hidden = card !== named() && !fitting.some((claim) => claim.card === card);
    const none = fitting.length ? "" : ": take away a word, a tick or the chapter";
    count.textContent = `${fitting.length} of ${cards.length} claims${none}`;
  }

  /** Show what is asked for, and keep it in the address. */
  function apply() {
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim())).toString();
    history.replaceState(history.state, "", `${location.pathname}${query && "?"}${query}${location.hash}`);
    show();
  }

  /** Set the form as the address asks; a browser puts back what was ticked before the page was left. */
  function restore() {
    const query = new URLSearchParams(location.search);
    for (const control of form.elements) {
      if (control.type === "checkbox") control.checked = query.getAll(control.name).includes(control.value);
      else if (control.name) control.value = query.get(control.name) ?? "";
    }
    form.elements.chapter.value ||= ""; // a chapter that there is not
    show();
  }

  for (const control of form.querySelectorAll("[hidden]")) control.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply)); // the controls are set after the event
  window.addEventListener("pageshow", restore);
  window.addEventListener("hashchange", () => {
    show();
    named()?.scrollIntoView();
  });
  // formulas that are set later move a card that the address names
  window.addEventListener("load", () => {
    Promise.resolve(window.MathJax?.startup?.promise).then(() => named()?.scrollIntoView());
  });
})();

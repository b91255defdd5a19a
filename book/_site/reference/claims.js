// The filter of the claims page: by verdict, kind, chapter and words, kept in the address.
//
// Without this script every claim is shown. A card that the address names, #c123, is shown whatever the filter.
(() => {
  "use strict";

  const form = document.getElementById("claim-filter");
  const count = document.getElementById("claim-count");
  const formulas = JSON.parse(document.getElementById("claim-formulas").textContent);
  const fields = ["verdict", "kind", "chapter", "words"];

  /** What is looked through for words: the text of a card, with its formulas in words instead of as they are set. */
  const textOf = (card) => {
    const copy = card.cloneNode(true);
    for (const formula of copy.querySelectorAll(".math")) formula.replaceWith(" ");
    return `${copy.textContent} ${formulas[card.id] ?? ""}`.toLowerCase();
  };

  const cards = [...document.querySelectorAll(".posenc-claim")].map((card) => ({
    card,
    text: textOf(card),
    ...Object.fromEntries(
      fields.slice(0, 3).map((field) => {
        const name = `posenc-${field}-`;
        return [field, [...card.classList].find((one) => one.startsWith(name))?.slice(name.length)];
      }),
    ),
  }));

  /** The filter as the form has it: only what it asks for. */
  const asked = () => new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim()));

  /** Whether a claim is what is asked for: one of the ticked boxes of each group, the chapter, and every word. */
  const fits = (claim, query) =>
    ["verdict", "kind", "chapter"].every((field) => !query.has(field) || query.getAll(field).includes(claim[field])) &&
    (query.get("words") ?? "")
      .toLowerCase()
      .split(/\s+/)
      .every((word) => claim.text.includes(word));

  const named = () => document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest(".posenc-claim");

  function show() {
    const query = asked();
    const wanted = named();
    let shown = 0;
    let besides = "";
    for (const claim of cards) {
      const fitting = fits(claim, query);
      shown += fitting;
      claim.card.hidden = !fitting && claim.card !== wanted;
      if (!fitting && claim.card === wanted) besides = `, and ${wanted.id.toUpperCase()}, which the address names`;
    }
    const none = shown === 0 ? ": take away a word, a tick or the chapter" : "";
    count.textContent = `${shown} of ${cards.length} claims${none}${besides}`;
    counting(query);
  }

  /** How many claims each box would leave, with all that is asked in the other fields. */
  function counting(query) {
    for (const box of form.querySelectorAll("input[type=checkbox]")) {
      const others = new URLSearchParams(query);
      others.set(box.name, box.value);
      box.parentElement.querySelector("strong").textContent = cards.filter((claim) => fits(claim, others)).length;
    }
  }

  /** Show what is asked for, and keep it in the address; `others` are questions that are not the filter's. */
  function apply() {
    const others = [...new URLSearchParams(location.search)].filter(([name]) => !fields.includes(name));
    const query = new URLSearchParams([...others, ...asked()]).toString();
    history.replaceState(history.state, "", `${location.pathname}${query && "?"}${query}${location.hash}`);
    show();
  }

  /** Set the form as the address asks. */
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
  window.addEventListener("popstate", restore);
  window.addEventListener("hashchange", () => {
    show();
    named()?.scrollIntoView();
  });
  // a browser puts back what was ticked before the page was left; the address decides
  window.addEventListener("pageshow", restore);
  restore();

  const target = named();
  if (target) {
    target.scrollIntoView();
    // formulas that are set later move the card away again
    window.addEventListener("load", () => {
      Promise.resolve(window.MathJax?.startup?.promise).then(() => named()?.scrollIntoView());
    });
  }
})();

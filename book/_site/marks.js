// The marks at headings and the glossary's cards: what is open closes by Escape and by a click elsewhere.
(() => {
  "use strict";

  // ---- marks: folds that open without this script ------------------------------------------------------------

  const marks = [...document.querySelectorAll(".posenc-mark")];
  const closeMarks = (except) => {
    for (const mark of marks) if (mark !== except) mark.open = false;
  };
  for (const mark of marks) mark.addEventListener("toggle", () => mark.open && closeMarks(mark));

  document.addEventListener("click", (event) => closeMarks(event.target.closest?.(".posenc-mark")));
  document.addEventListener("keydown", (event) => {
    const open = marks.find((mark) => mark.open);
    if (event.key !== "Escape" || !open) return;
    const inside = open.contains(document.activeElement);
    closeMarks();
    if (inside) open.querySelector("summary").focus();
  });
})();

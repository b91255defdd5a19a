// A press on a term of the glossary shows its sentence, from which a link leads on to the entry.
//
// Without this script, or in a browser without popovers, a term is an ordinary link.
for (const word of document.querySelectorAll("a.posenc-gloss")) {
  const card = document.getElementById(`gloss-${word.hash.slice(1)}`);
  if (!card.showPopover) break;
  card.popover = "auto";
  word.setAttribute("aria-describedby", card.id);
  word.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a tab or window of its own
    event.preventDefault();
    card.showPopover({ source: word });
  });
}

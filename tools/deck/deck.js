// Starts reveal.js, sets a slide's formulas when it is near, and makes it smaller where it is taller than the picture.
(() => {
  "use strict";
  const least = 0.55; // of the letters' size, below which nobody reads them in the last row

  function fit(slide) {
    slide.style.fontSize = "";
    const figure = slide.querySelector(".posenc-explorable");
    if (figure) figure.style.zoom = "";
    const tooTall = () => slide.scrollHeight > slide.clientHeight;
    for (let size = 0.95; tooTall() && size >= least - 0.001; size -= 0.05) {
      if (figure) figure.style.zoom = size;
      else slide.style.fontSize = `${size}em`;
    }
  }

  /** Set the formulas of a slide and of its notes; all at once they would take as long as all the rest. */
  async function prepare(slide) {
    slide.deckPrepared ??= MathJax.startup.promise.then(() => MathJax.typesetPromise([slide]));
    await slide.deckPrepared;
  }

  async function show() {
    const slide = Reveal.getCurrentSlide(), all = Reveal.getSlides();
    await prepare(slide);
    fit(slide);
    slide.dataset.shown = "true";
    const next = all[all.indexOf(slide) + 1];
    if (next) await prepare(next);
  }

  Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false, hash: true, slideNumber: "c/t", transition: "none",
    navigationMode: "linear", viewDistance: 2, plugins: [RevealNotes],
  }).then(show);
  Reveal.on("slidechanged", show);
  new MutationObserver(() => fit(Reveal.getCurrentSlide())).observe(document.body, { subtree: true, attributeFilter: ["data-ready"] });
})();

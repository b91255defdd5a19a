// Starts reveal.js, and makes a slide smaller where it is taller than the picture.
(() => {
  "use strict";
  const least = 0.55; // of the letters' size, below which nobody reads them in the last row

  function fit(slide) {
    if (!slide) return;
    slide.style.fontSize = "";
    const figure = slide.querySelector(".posenc-explorable");
    if (figure) figure.style.zoom = "";
    const tooTall = () => slide.scrollHeight > slide.clientHeight;
    for (let size = 0.95; tooTall() && size >= least - 0.001; size -= 0.05) {
      if (figure) figure.style.zoom = size;
      else slide.style.fontSize = `${size}em`;
    }
  }

  const shown = () => Reveal.getCurrentSlide();
  Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false, hash: true, slideNumber: "c/t", transition: "none",
    navigationMode: "linear", viewDistance: 2, plugins: [RevealNotes],
  }).then(async () => {
    await window.MathJax?.startup?.promise;
    fit(shown());
    document.documentElement.dataset.ready = "true";
  });
  Reveal.on("slidechanged", ({ currentSlide }) => fit(currentSlide));
  new MutationObserver(() => fit(shown())).observe(document.body, { subtree: true, attributeFilter: ["data-ready"] });
})();

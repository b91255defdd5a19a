// The front page moves by itself: its large figure, and one of its small pictures at a time, as far as they are in view.
// Nothing moves where the reader wants no motion, and the large figure is the reader's from the first touch on.
(() => {
  "use strict";

  const SWEEP = 14_000; // milliseconds from end to end and back
  const TURN = 5_000; // for which a small picture moves before the next one does
  const PAUSE = 33; // milliseconds at least between two pictures: half of what a screen could show, and half the work
  const BEHIND = 3; // tokens from query to key
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  /** Between the ends of a control's track, a share of the way. */
  function along({ least, greatest, scale }, share) {
    const bent = ["log", "tokens", "powers"].includes(scale);
    const [from, to] = bent ? [Math.log(Math.max(least, 1)), Math.log(greatest)] : [least, greatest];
    const value = from + (to - from) * share;
    return bent ? Math.round(Math.exp(value)) : ["integer", "even"].includes(scale) ? Math.round(value) : value;
  }

  /** A figure that moves: `set(share)` takes it part of the way, from 0 at one end to 1 at the other. */
  class Mover {
    inView = false;
    held = false; // the pointer is over it
    elapsed = SWEEP / 6; // not at an end

    constructor(figure, set) {
      this.figure = figure;
      this.set = set;
      new IntersectionObserver(([entry]) => (this.inView = entry.isIntersecting), { threshold: 0.25 }).observe(figure);
    }

    get ready() {
      return this.inView && this.figure.dataset.ready;
    }

    move(milliseconds) {
      this.elapsed += milliseconds;
      this.set((1 - Math.cos((2 * Math.PI * this.elapsed) / SWEEP)) / 2);
    }
  }

  // ---- the large figure

  const large = document.querySelector(".posenc-hero .posenc-explorable");
  const hero = new Mover(large, (share) => {
    const n = 29 * share;
    large.posencModel.set({ n, m: n + BEHIND });
  });
  const button = document.createElement("button");
  button.type = "button";
  button.className = "posenc-hero-button";
  large.after(button);
  let runs = !still.matches && !location.hash.includes(":"); // the setting of a link stays

  /** Where it rests, positions are whole. */
  function rest() {
    const { posencModel: model } = large;
    model?.set({ n: Math.round(model.get("n")), m: Math.round(model.get("m")) });
  }

  function run(on) {
    runs = on;
    button.textContent = on ? words.pause : words.move;
    if (!on) rest();
  }

  run(runs);
  button.addEventListener("click", () => run(!runs));
  window.addEventListener("hashchange", () => {
    if (runs) run(false);
  });
  still.addEventListener("change", () => run(!still.matches));
  large.addEventListener("pointerenter", ({ pointerType }) => {
    hero.held = pointerType === "mouse";
    if (hero.held) rest();
  });
  large.addEventListener("pointerleave", () => (hero.held = false));
  for (const use of ["pointerdown", "focusin"]) large.addEventListener(use, () => runs && run(false), true);

  // ---- the small pictures

  const small = [...document.querySelectorAll(".posenc-small")].map((figure) => {
    const name = figure.dataset.moves;
    const mover = new Mover(figure, (share) => {
      const { posencModel: model } = figure;
      model.set(name, along(model.get("_controls").find((control) => control.name === name), share));
    });
    const box = figure.parentElement;
    for (const [type, held] of [["pointerenter", true], ["pointerleave", false], ["focusin", true], ["focusout", false]]) {
      box.addEventListener(type, () => (mover.held = held));
    }
    return mover;
  });

  /** The one under the pointer or with the focus, or else the one whose turn it is. */
  function chosen(now) {
    const ready = small.filter((mover) => mover.ready);
    return ready.find((mover) => mover.held) ?? ready[Math.floor(now / TURN) % ready.length];
  }

  let last = performance.now();
  function frame(now) {
    requestAnimationFrame(frame);
    const passed = Math.min(now - last, 100);
    if (passed < PAUSE) return;
    last = now;
    if (runs && !hero.held && hero.ready) hero.move(passed);
    if (!still.matches) chosen(now)?.move(passed);
  }
  requestAnimationFrame(frame);

  // on paper, and while its pictures are taken (tools/pictures.py), it rests
  window.addEventListener("posenc:print", () => {
    run(false);
    small.length = 0;
  });
})();

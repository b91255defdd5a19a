// Predictions: the reader commits to a guess before the page shows the answer; then both stand together.
//
// The page has every form with its answer (predict.html). The style sheet closes answers, and what waits for the guess,
// until a class opens them: `posenc-open` and `posenc-answered` by question, `posenc-all` on every page.
(() => {
  "use strict";

  const root = document.documentElement;
  const SHOW_ALL = "posenc-show-all"; // read by predict.py's script in the head, too
  const { recall, remember } = window.posencKept; // of details.js

  // ---- a question

  const significant = (value) =>
    new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(value).replace("-", "−");

  class Question {
    constructor(box) {
      this.box = box;
      this.form = box.querySelector(".posenc-guess");
      this.text = box.querySelector(".posenc-question").textContent;
      this.asked = JSON.parse(this.text);
      this.key = `posenc-predict/${this.asked.page}/${this.asked.cell}`;
      this.closed = [...document.getElementsByClassName(`posenc-awaits-${this.asked.cell}`)];
      this.inputs = [...this.form.querySelectorAll("[name=guess]")];
      this.form.addEventListener("input", () => this.tell());
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.answer(new FormData(this.form).getAll("guess"));
      });
      this.form.querySelector(".posenc-show").addEventListener("click", () => this.answer(null));
      this.form.querySelector(".posenc-again").addEventListener("click", () => this.askAgain());
      if (this.asked.kind === "curve") this.letDraw(this.form.querySelector("svg"));
      const kept = recall(this.key);
      if (kept?.text === this.text) this.show(true, kept.guess); // else it has changed since
      else this.tell();
    }

    /** The value that a slider stands for: a curve's go by the picture's height, in percent. */
    valueOf(position) {
      if (this.asked.kind !== "curve") return Number(position);
      const { least, most, log } = this.asked.y, share = Number(position) / 100;
      return log ? least * (most / least) ** share : least + (most - least) * share;
    }

    /** Say the values of sliders beside them, and draw the curve through them. */
    tell() {
      const { unit = "" } = this.asked;
      for (const slider of this.inputs.filter(({ type }) => type === "range")) {
        const text = `${significant(this.valueOf(slider.value))}${unit === "°" ? unit : ` ${unit}`}`.trim();
        slider.parentElement.querySelector("output").textContent = text;
        slider.setAttribute("aria-valuetext", text);
      }
      const points = this.inputs.map(({ value }, k) => `${(100 * k) / (this.inputs.length - 1)},${100 - value}`);
      this.form.querySelector("polyline")?.setAttribute("points", points.join(" "));
    }

    /** A pointer draws the curve: it sets the slider that is nearest. */
    letDraw(picture) {
      const draw = ({ clientX, clientY }) => {
        const { left, top, width, height } = picture.getBoundingClientRect();
        const slider = this.inputs[Math.round(((clientX - left) / width) * (this.inputs.length - 1))];
        if (slider) slider.value = 100 * (1 - (clientY - top) / height);
      };
      picture.addEventListener("pointerdown", (event) => {
        picture.setPointerCapture(event.pointerId);
        draw(event);
        this.tell();
      });
      picture.addEventListener("pointermove", (event) => {
        if (!picture.hasPointerCapture(event.pointerId)) return;
        for (const each of [...event.getCoalescedEvents(), event]) draw(each); // a quick stroke skips no point
        this.tell();
      });
    }

    /** Lay a guessed curve over the figure's trace, or take it away. */
    drawOver(guess) {
      const figure = this.closed.map((part) => part.querySelector(".posenc-plotly")).find(Boolean);
      const script = figure.querySelector("script[type='application/json']"), content = JSON.parse(script.textContent);
      content.data = content.data.filter(({ uid }) => uid !== "posenc-guess");
      if (guess) {
        const { xaxis = "x", yaxis = "y" } = content.data[this.asked.truth];
        const line = { color: getComputedStyle(root).getPropertyValue("--posenc-guess").trim(), width: 3, dash: "dash" };
        content.data.push({ uid: "posenc-guess", type: "scatter", mode: "lines", name: this.form.dataset.guess,
          showlegend: true, x: this.asked.points, y: guess.map((value) => this.valueOf(value)), xaxis, yaxis, line });
      }
      script.textContent = JSON.stringify(content);
      figure.dispatchEvent(new Event("posenc:changed"));
    }

    /** Show the question, or its answer beside a guess, which is null where nobody guessed. */
    show(answered, guess = null) {
      this.form.reset();
      this.inputs.forEach((input, k) => {
        if (input.type === "radio") input.checked = guess?.includes(input.value);
        else if (guess) input.value = guess[k];
      });
      this.tell();
      this.box.classList.toggle("posenc-answered", answered);
      this.box.classList.toggle("posenc-unguessed", answered && !guess);
      this.form.querySelector("fieldset").disabled = answered;
      for (const part of this.closed) part.classList.toggle("posenc-open", answered);
      this.unfold(answered || root.classList.contains("posenc-all"));
      if (this.asked.kind === "curve") this.drawOver(guess);
      window.dispatchEvent(new Event("resize")); // the theme then lets keys scroll what came into sight
    }

    /** Open or close the words on how one could have known. */
    unfold(on) {
      for (const part of this.closed) for (const fold of part.querySelectorAll(":scope > details")) fold.open = on;
    }

    answer(guess) {
      remember(this.key, { guess, text: this.text });
      this.show(true, guess);
      this.form.querySelector(".posenc-told").focus();
    }

    askAgain() {
      remember(this.key, null);
      this.show(false);
      this.inputs[0].focus();
    }
  }

  const questions = [...document.querySelectorAll(".posenc-predict")].map((box) => new Question(box));

  // ---- everything at once

  const switches = document.querySelectorAll(".posenc-show-all");

  function showAll(on) {
    root.classList.toggle("posenc-all", on);
    for (const each of switches) each.checked = on;
    for (const one of questions) one.unfold(on || one.box.classList.contains("posenc-answered"));
  }

  for (const each of switches) {
    each.addEventListener("change", () => {
      remember(SHOW_ALL, each.checked);
      showAll(each.checked);
    });
  }
  showAll(recall(SHOW_ALL) === true);
  window.addEventListener("posenc:print", () => showAll(true)); // so that closed figures can be drawn
  window.addEventListener("afterprint", () => showAll(recall(SHOW_ALL) === true));

  window.posencPredict = {
    showAll: () => showAll(true),
    /** The question for whose guess an element waits; undefined if it is in sight. */
    questionOf(element) {
      const waits = element.closest("html:not(.posenc-all) .posenc-awaits:not(.posenc-open)");
      return questions.find(({ closed }) => closed.includes(waits))?.box;
    },
  };
})();

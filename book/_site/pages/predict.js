// Predictions: the reader commits to a guess before the page shows the answer; then both stand together.
//
// What waits for the guess is closed by the style sheet (html.posenc-guessing) and opened here, question by question.
(() => {
  "use strict";

  const root = document.documentElement;
  const words = JSON.parse(document.getElementById("posenc-words").textContent);
  const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const significant = (value, digits = 4) =>
    new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value).replace("-", "−");

  /** Degrees stand beside their number. */
  const withUnit = (text, unit) => (unit === "°" ? `${text}${unit}` : `${text} ${unit}`.trim());

  /** A new element with attributes, properties (of a name that begins with a dot) and children. */
  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "path", "circle", "line", "text"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith(".")) element[name.slice(1)] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  // ---- memory: on this machine only, and not at all where a browser refuses it --------------------------------

  const memory = {
    read(key) {
      try {
        return JSON.parse(localStorage.getItem(key));
      } catch {
        return null; // refused, or not ours
      }
    },
    write(key, value) {
      try {
        if (value === null) localStorage.removeItem(key);
        else localStorage.setItem(key, JSON.stringify(value));
      } catch {
        // refused: then it is not remembered
      }
    },
  };

  // ---- the kinds: each makes its inputs, reads the guess, and tells it beside the truth -------------------------

  const isNumber = (value, { least, most }) => Number.isFinite(value) && value >= least && value <= most;

  const number = {
    accepts: (guess, asked) => isNumber(guess, asked),
    ask(asked) {
      const range = fill(words.range, { least: significant(asked.least), most: significant(asked.most) });
      const input = make("input", { type: "number", min: asked.least, max: asked.most, step: "any", inputmode: "decimal" });
      const label = make("label", {}, `${words.number.label} `, input, ` ${asked.unit} (${range})`);
      const problem = fill(words.outside, { least: significant(asked.least), most: significant(asked.most) });
      return { body: [label], read: () => (input.value === "" ? null : Number(input.value)), problem };
    },
    tell(asked, guess) {
      const gap = Math.abs(guess - asked.truth.value), truth = withUnit(asked.truth.text, asked.unit);
      const told = { guess: significant(guess, 6), truth, gap: significant(gap, 3) };
      return [make("p", {}, fill(gap === 0 ? words.same : words.said, told))];
    },
  };

  const choice = {
    accepts: (guess, asked) => Number.isInteger(guess) && guess in asked.choices,
    ask(asked, name) {
      const labels = asked.choices.map((text, place) =>
        make("label", {}, make("input", { type: "radio", name, value: place }), ` ${text}`));
      const body = [make("div", { class: "posenc-choices" }, ...labels)];
      const read = () => {
        const chosen = labels.findIndex((label) => label.firstChild.checked);
        return chosen < 0 ? null : chosen;
      };
      return { body, read };
    },
    tell(asked, guess) {
      const rows = asked.choices.map((text, place) => {
        const right = place === asked.truth;
        const said = [right && words.right, place === guess && words.yours].filter(Boolean).join(", ");
        const mark = right ? words.rightMark : place === guess ? words.wrongMark : "";
        const row = make("li", { class: right ? "posenc-is-right" : "" });
        row.append(make("span", { class: "posenc-mark", "aria-hidden": "true" }, mark), text, said && make("b", {}, ` (${said})`));
        return row;
      });
      const told = guess === null ? [] : [make("p", {}, guess === asked.truth ? words.choiceRight : words.choiceWrong)];
      return [...told, make("ul", { class: "posenc-choices" }, ...rows)];
    },
  };

  /** Where a bar begins and ends, as shares of its room: it begins at zero, or at the end that is nearest to it. */
  function extent(value, { least, most }) {
    const share = (at) => (100 * (at - least)) / (most - least), zero = Math.min(most, Math.max(least, 0));
    return [share(Math.min(zero, value)), share(Math.max(zero, value))];
  }

  /** The numbers along a bar's room: its ends, and zero between them. */
  function scaleRow({ least, most }, css) {
    const numbers = least < 0 && most > 0 ? [least, 0, most] : [least, most];
    const marks = numbers.map((value) =>
      make("span", { style: `left:${(100 * (value - least)) / (most - least)}%` }, significant(value)));
    return make("div", { class: `${css} posenc-scale`, "aria-hidden": "true" }, make("span", {}), make("div", {}, ...marks), make("span", {}));
  }

  /** A slider that is a bar: filled from zero to its value, with the value beside it. */
  function barSlider(label, { least, most, unit, step }, value, name = label) {
    const input = make("input", { type: "range", min: least, max: most, "aria-label": name });
    input.step = step ?? 10 ** Math.floor(Math.log10((most - least) / 50));
    input.value = value;
    const shown = make("span", {});
    const say = (text = withUnit(significant(Number(input.value)), unit)) => {
      shown.textContent = text;
      input.setAttribute("aria-valuetext", text);
      const [from, to] = extent(Number(input.value), { least, most });
      input.style.setProperty("--posenc-from", `${from}%`);
      input.style.setProperty("--posenc-to", `${to}%`);
    };
    input.addEventListener("input", () => say());
    say();
    return { input, say, row: make("label", { class: "posenc-bar" }, make("span", {}, label), input, shown) };
  }

  const bars = {
    accepts: (guess, asked) => Array.isArray(guess) && guess.length === asked.labels.length
      && guess.every((value) => isNumber(value, asked)),
    ask(asked) {
      const counts = asked.truth.every(({ text }) => /^\d+$/.test(text)); // bits, not shares of a bit
      const sliders = asked.labels.map((label) => barSlider(label, counts ? { ...asked, step: 1 } : asked, Math.max(asked.least, 0)));
      const untouched = new Set(sliders.map(({ input }) => input));
      for (const { input } of sliders) input.addEventListener("input", () => untouched.delete(input));
      const body = [make("p", { class: "posenc-hint" }, words.bars.hint), ...sliders.map(({ row }) => row), scaleRow(asked, "posenc-bar")];
      const read = () => (untouched.size ? null : sliders.map(({ input }) => Number(input.value)));
      return { body, read, missing: words.bars.incomplete };
    },
    tell(asked, guess) {
      const place = (value) => {
        const [from, to] = extent(value, asked);
        return `margin-inline-start:${from}%;width:${to - from}%`;
      };
      const line = (kind, value, text) => make("div", { class: `posenc-pair posenc-pair-${kind}` },
        make("span", { class: "posenc-pair-name" }, words.bars[kind]),
        make("span", { class: "posenc-pair-room" }, make("span", { style: place(value) })),
        make("b", {}, withUnit(text, asked.unit)));
      const pairs = asked.labels.map((label, k) => make("div", { class: "posenc-pairs" }, make("p", {}, label),
        ...(guess === null ? [] : [line("guess", guess[k], significant(guess[k]))]),
        line("truth", asked.truth[k].value, asked.truth[k].text)));
      return [...pairs, scaleRow(asked, "posenc-pair")];
    },
  };

  // ---- a curve to sketch ----------------------------------------------------------------------------------------

  const NARROW = matchMedia("(max-width: 599px)").matches; // the same as in predict.css
  const SIZE = { width: NARROW ? 300 : 560, height: 240, left: NARROW ? 40 : 58, right: 14, top: 32, bottom: 44 };
  const ANCHORS = 5; // points that have a slider; those between two follow them

  const scale = ({ least, most, log }, from, to) => {
    const [low, high] = log ? [Math.log(least), Math.log(most)] : [least, most];
    return {
      at: (value) => from + ((to - from) * ((log ? Math.log(value) : value) - low)) / (high - low),
      value(place) {
        const v = low + ((high - low) * (place - from)) / (to - from);
        return Math.min(most, Math.max(least, log ? Math.exp(v) : v));
      },
    };
  };

  const curve = {
    accepts: (guess, asked) => Array.isArray(guess) && guess.length === asked.points.length
      && guess.every((value) => isNumber(value, asked.y)),
    ask(asked) {
      const { width, height, left, right, top, bottom } = SIZE;
      const x = scale(asked.x, left, width - right), y = scale(asked.y, height - bottom, top);
      const guess = asked.points.map(() => y.value((height - bottom + top) / 2));
      let touched = false;

      const path = make("path", { class: "posenc-sketch-line" });
      const dots = asked.points.map((value) => make("circle", { cx: x.at(value), r: 4 }));
      const label = (text, at) => make("text", at, text);
      const ticks = [
        label(significant(asked.x.least, 3), { x: left, y: height - bottom + 18 }),
        label(significant(asked.x.most, 3), { x: width - right, y: height - bottom + 18, "text-anchor": "end" }),
        label(asked.x.label, { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }),
        label(asked.y.label, { x: 4, y: 14 }),
        label(significant(asked.y.most, 3), { x: left - 6, y: top + 6, "text-anchor": "end" }),
        label(significant(asked.y.least, 3), { x: left - 6, y: height - bottom, "text-anchor": "end" }),
      ];
      const frame = make("path", { class: "posenc-sketch-frame", d: `M${left} ${top}V${height - bottom}H${width - right}` });
      const picture = make("svg", { viewBox: `0 0 ${width} ${height}`, class: "posenc-sketch", role: "img",
        "aria-label": fill(words.curve.label, { x: asked.x.label, y: asked.y.label }) }, frame, ...ticks, path, ...dots);

      const step = (asked.points.length - 1) / (ANCHORS - 1);
      const anchors = Array.from({ length: ANCHORS }, (_, k) => k * step);
      const sliders = anchors.map((place) => {
        const at = `${asked.x.label} ${significant(asked.points[place], 3)}`;
        const name = fill(words.curve.slider, { y: asked.y.label, at });
        const slider = barSlider(at, { ...span(), unit: "" }, position(guess[place]), name);
        slider.input.addEventListener("input", () => {
          setAnchor(anchors.indexOf(place), y.value(screen(Number(slider.input.value))));
          show();
        });
        return slider;
      });

      // sliders go by the picture's height, so that a logarithmic axis has even steps
      function span() {
        return { least: 0, most: 100 };
      }
      function screen(share) {
        return height - bottom - (share / 100) * (height - bottom - top);
      }
      function position(value) {
        return (100 * (height - bottom - y.at(value))) / (height - bottom - top);
      }

      function setAnchor(k, value) {
        touched = true;
        guess[anchors[k]] = value;
        for (const side of [k - 1, k + 1]) {
          if (!(side in anchors)) continue;
          const from = anchors[k], to = anchors[side];
          const [start, end] = [y.at(guess[from]), y.at(guess[to])];
          for (let p = 1; p < step; p++) {
            guess[from + Math.sign(to - from) * p] = y.value(start + ((end - start) * p) / step);
          }
        }
      }

      function show() {
        path.setAttribute("d", guess.map((value, k) => `${k ? "L" : "M"}${x.at(asked.points[k])} ${y.at(value)}`).join(""));
        dots.forEach((dot, k) => dot.setAttribute("cy", y.at(guess[k])));
        sliders.forEach(({ input, say }, k) => {
          input.value = position(guess[anchors[k]]);
          say(significant(guess[anchors[k]], 3));
        });
      }

      // the pen: every point between where it was and where it is comes along
      let last = null;
      const pen = (event) => {
        const box = picture.getBoundingClientRect();
        return { x: ((event.clientX - box.left) * width) / box.width, y: ((event.clientY - box.top) * height) / box.height };
      };
      const reach = (width - left - right) / (asked.points.length - 1) / 2;
      function draw(to) {
        const from = last ?? to;
        touched = true;
        asked.points.forEach((value, k) => {
          const at = x.at(value);
          const between = at >= Math.min(from.x, to.x) - reach && at <= Math.max(from.x, to.x) + reach;
          if (!between) return;
          const share = to.x === from.x ? 1 : Math.min(1, Math.max(0, (at - from.x) / (to.x - from.x)));
          guess[k] = y.value(from.y + share * (to.y - from.y));
        });
        last = to;
        show();
      }
      picture.addEventListener("pointerdown", (event) => {
        picture.setPointerCapture(event.pointerId);
        last = null;
        draw(pen(event));
        event.preventDefault();
      });
      picture.addEventListener("pointermove", (event) => {
        if (picture.hasPointerCapture(event.pointerId)) draw(pen(event));
      });
      show();
      const rows = make("div", { class: "posenc-sketch-sliders" }, ...sliders.map(({ row }) => row));
      const body = [make("p", { class: "posenc-hint" }, words.curve.hint), picture, rows];
      return { body, read: () => (touched ? [...guess] : null) };
    },
    tell(asked, guess) {
      if (guess === null) return [make("p", {}, words.curve.shown)];
      const gap = guess.map((value, k) => Math.abs(value - asked.truth[k]));
      const k = gap.indexOf(Math.max(...gap));
      const told = { at: `${asked.x.label} ${significant(asked.points[k], 3)}`, guess: significant(guess[k], 3), truth: significant(asked.truth[k], 3) };
      return [make("p", {}, `${words.curve.drawn} ${fill(words.curve.gap, told)}`)];
    },
    /** Lay the guess over the figure's trace, or take it away. */
    onFigure(asked, guess, closed) {
      const figure = closed.find((box) => box.querySelector(".posenc-plotly"))?.querySelector(".posenc-plotly");
      const script = figure.querySelector("script[type='application/json']"), content = JSON.parse(script.textContent);
      content.data = content.data.filter(({ uid }) => uid !== "posenc-guess");
      if (guess !== null) {
        const { xaxis = "x", yaxis = "y" } = content.data[asked.trace];
        const line = { color: getComputedStyle(root).getPropertyValue("--posenc-guess").trim(), width: 3, dash: "dash" };
        content.data.push({ uid: "posenc-guess", type: "scatter", mode: "lines", name: words.curve.trace, showlegend: true,
          x: asked.points, y: guess, xaxis, yaxis, line });
      }
      script.textContent = JSON.stringify(content);
      figure.dispatchEvent(new Event("posenc:changed"));
    },
  };

  const kinds = { number, choice, bars, curve };

  // ---- a question ------------------------------------------------------------------------------------------------

  class Question {
    #kind;
    #asked;
    #key;
    #closed;
    #panel = make("div", { class: "posenc-guess" });
    #status = make("p", { class: "posenc-guess-status", role: "status" });
    #target = null; // what a link led to, behind the question

    constructor(box) {
      this.box = box;
      this.#asked = JSON.parse(box.querySelector("script.posenc-question").textContent);
      this.#kind = kinds[this.#asked.kind];
      this.#key = `posenc-predict/${this.#asked.page}/${this.#asked.cell}`;
      this.#closed = [...document.getElementsByClassName(`posenc-awaits-${this.#asked.cell}`)];
      const question = box.querySelector("p");
      question.id ||= `${box.id}-question`;
      this.#panel.setAttribute("role", "group");
      this.#panel.setAttribute("aria-labelledby", question.id);
      box.insertBefore(this.#panel, this.#closed.find((part) => box.contains(part)) ?? null);
      const kept = memory.read(this.#key);
      const usable = kept && (kept.guess === null || this.#kind.accepts(kept.guess, this.#asked));
      if (usable) this.#open(kept.guess);
      else this.#close();
    }

    /** Whether an element waits for this question's answer. */
    hides(element) {
      return this.#closed.some((part) => part.contains(element) && !part.classList.contains("posenc-open"));
    }

    /** Say that a link leads behind the question. */
    announce(target) {
      this.#target = target;
      this.#status.textContent = words.below;
    }

    show() {
      this.#answer(null);
    }

    #close() {
      const { body, read, missing = words.incomplete, problem = missing } = this.#kind.ask(this.#asked, this.#key);
      const button = (text, css) => make("button", { type: css ? "button" : "submit", class: css || "posenc-guess-commit" }, text);
      const show = button(words.show, "posenc-guess-show");
      const form = make("form", { ".noValidate": true }, ...body, make("div", { class: "posenc-guess-buttons" }, button(words.commit), show));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        const guess = read();
        if (guess !== null && this.#kind.accepts(guess, this.#asked)) this.#answer(guess);
        else this.#status.textContent = guess === null ? missing : problem;
      });
      show.addEventListener("click", () => this.show());
      this.#status.textContent = "";
      this.#panel.replaceChildren(form, this.#status);
      for (const part of this.#closed) part.classList.remove("posenc-open");
      this.box.classList.remove("posenc-answered");
    }

    #answer(guess) {
      memory.write(this.#key, { guess });
      this.#open(guess);
      this.#panel.querySelector(".posenc-result").focus();
      if (guess === null) this.#target?.scrollIntoView();
      this.#target = null;
    }

    #open(guess) {
      const again = make("button", { type: "button", class: "posenc-guess-again" }, words.again);
      again.addEventListener("click", () => {
        memory.write(this.#key, null);
        this.#kind.onFigure?.(this.#asked, null, this.#closed);
        this.#close();
        this.#panel.querySelector("input").focus();
      });
      const { truth, unit } = this.#asked;
      const shown = guess === null && truth.text
        ? [make("p", {}, fill(words.truth, { truth: withUnit(truth.text, unit) }))]
        : this.#kind.tell(this.#asked, guess);
      this.#panel.replaceChildren(make("div", { class: "posenc-result", tabindex: -1, role: "status" }, ...shown), again);
      if (guess !== null) this.#kind.onFigure?.(this.#asked, guess, this.#closed);
      for (const part of this.#closed) {
        part.classList.add("posenc-open");
        for (const fold of part.querySelectorAll(":scope > details")) fold.open = true;
      }
      this.box.classList.add("posenc-answered");
      window.dispatchEvent(new Event("resize")); // what was drawn at no width
    }
  }

  const questions = [...document.querySelectorAll(".posenc-predict")].map((box) => new Question(box));

  window.posencPredict = {
    /** The question whose answer an element gives away, told that a link leads behind it; undefined if there is none. */
    questionOf(element) {
      const question = questions.find((one) => one.hides(element));
      question?.announce(element);
      return question?.box;
    },
    /** Have everything shown. */
    showAll: () => questions.filter(({ box }) => !box.classList.contains("posenc-answered")).forEach((one) => one.show()),
  };

  // on paper all is open; what is to be drawn first needs its room before
  const close = () => root.classList.add("posenc-guessing");
  const open = () => root.classList.remove("posenc-guessing");
  window.addEventListener("posenc:print", open);
  window.addEventListener("beforeprint", open);
  window.addEventListener("afterprint", close);
})();

// The page host: what a kernel and Jupyter do for the book's figures, on a static page.
//
// 1. Explorables: an anywidget module is given a model that lives in the page and draws itself.
// 2. Plotly figures: drawn from JSON by one local copy of plotly.js, in the colours of the theme.
// A figure waits until it nears the viewport, except the first explorable. Printing draws all of them.
(() => {
  "use strict";

  // slides hold this script and all that it would fetch (tools/slides.py)
  const assets = new URL(".", document.currentScript.src || location.href);
  const nearby = "600px 0px";

  /** Read the JSON that a figure carries. */
  const readData = (element) => JSON.parse(element.querySelector(":scope > script[type='application/json']").textContent);

  // ---- explorables --------------------------------------------------------------------------------------------

  // A figure goes by its explorable's name; the second of a kind on a page has a 2 behind it. A heading may have the same.
  const explorables = document.querySelectorAll(".posenc-explorable");
  const named = new Map(); // name -> figure
  function giveName(figure) {
    const kind = (figure.dataset.module ?? "figure").replaceAll("_", "-");
    let name = kind;
    const isTaken = (other) => other?.isConnected && !other.closest("[hidden]"); // whose cell has run since
    for (let count = 2; isTaken(named.get(name)); count++) name = `${kind}-${count}`;
    named.set(name, figure);
    figure.dataset.name = name;
    if (!document.getElementById(name)) figure.id = name;
  }
  explorables.forEach(giveName);

  /** The part of an anywidget model that the figures' modules use; traits live here instead of in Python. */
  class Model extends EventTarget {
    #traits;
    #figure;
    on = this.addEventListener;
    off = this.removeEventListener;

    constructor(traits, figure) {
      super();
      this.#traits = { ...traits };
      this.#figure = figure;
    }

    get(name) {
      return this.#traits[name];
    }

    /** Set one trait, or several from an object; listeners hear of those that changed. */
    set(nameOrTraits, value) {
      const traits = typeof nameOrTraits === "object" ? nameOrTraits : { [nameOrTraits]: value };
      const changed = Object.keys(traits).filter((name) => !Object.is(this.#traits[name], traits[name]));
      Object.assign(this.#traits, traits);
      for (const name of changed) this.dispatchEvent(new Event(`change:${name}`));
      if (changed.length > 0) this.dispatchEvent(new Event("change"));
    }

    save_changes() {} // nothing to synchronise with

    /** A checkpoint, as an ArrayBuffer. A script brings it, since a page from disk fetches nothing else. */
    async bring(name) {
      const text = await bring(name, () => window.posencFiles?.[name]);
      return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
    }

    /** The address of this page with this figure at a setting, given by name, or at a step of its story. */
    settingLink(setting) {
      const link = new URL(location.href);
      link.hash = `${this.#figure.dataset.name}:${new URLSearchParams(setting)}`;
      return link.href;
    }
  }

  /** The setting that an address asks of a figure, `#decay-explorer:base=500&dim=64` or `#decay-explorer:story=fall`. */
  const requestedSetting = (hash = location.hash) => {
    const match = /^#([^:]+):(.+)$/.exec(hash);
    if (!match) return null;
    return { figure: named.get(decodeURIComponent(match[1])), values: Object.fromEntries(new URLSearchParams(match[2])) };
  };

  function fetchScript(name) {
    const script = document.createElement("script");
    script.src = new URL(name, assets);
    document.head.append(script);
    return script;
  }

  /** The promise that a script has come, or failed. */
  const loaded = (script) =>
    new Promise((done) => {
      script.onload = script.onerror = done;
      window.addEventListener("load", done); // one of the page's own may have failed already
    });

  const asked = new Map(); // name -> promise: two figures may ask for the same

  /** What a script of the explorables brings: one of the page's own, or of a figure that came after it. */
  async function bring(name, brought) {
    const onPage = document.readyState !== "complete" && document.querySelector(`script[src*="/modules/${name}.js"]`);
    if (!brought() && !asked.has(name)) asked.set(name, loaded(onPage || fetchScript(`modules/${name}.js`)));
    await asked.get(name);
    if (!brought()) throw new Error(`the page does not bring the module ${name}`);
    return brought();
  }

  const modules = new Map(); // name -> its promise

  /** The module of an explorable. */
  function loadModule(name) {
    if (!modules.has(name)) modules.set(name, importModule(name));
    return modules.get(name);
  }

  async function importModule(name) {
    const [load] = await Promise.all([
      bring(name, () => window.posencModules?.[name]),
      bring("shared", () => window.posencShared),
    ]);
    return load();
  }

  async function drawExplorable(figure) {
    const model = new Model(readData(figure), figure);
    const setting = requestedSetting();
    if (setting?.figure === figure) model.set("_restore", setting.values);
    figure.posencModel = model;
    const { default: widget } = await loadModule(figure.dataset.module);
    const el = document.createElement("div");
    figure.append(el);
    await widget.render({ model, el });
    figure.querySelector(":scope > .posenc-in-words")?.remove();
    figure.dataset.ready = "true";
  }

  // ---- Plotly figures -----------------------------------------------------------------------------------------

  const narrow = 560; // pixels below which a figure is laid out for a phone
  const paper = 620; // pixels that every sheet has room for: site.css sets its margins
  let printing = false;
  const plots = new Map(); // element -> {figure, wasNarrow}
  let plotly, arrived = () => {};

  /** plotly.js; slides bring it within the page. */
  async function loadPlotly() {
    if (!window.Plotly) {
      plotly ??= Promise.race([loaded(fetchScript("plotly.min.js")), new Promise((there) => { arrived = there; })]);
      await plotly;
    }
    return window.Plotly;
  }

  /** plotly.js for a page that is printed before it was needed: that waits for nothing, so this does not return before. */
  function loadPlotlyNow() {
    if (window.Plotly || location.protocol === "file:") return;
    const request = new XMLHttpRequest();
    request.open("GET", new URL("plotly.min.js", assets), false);
    request.send();
    document.head.append(Object.assign(document.createElement("script"), { text: request.responseText }));
    arrived(); // what was being drawn need not wait for the other request
  }

  const cssValue = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  /** What changes on an axis in a narrow figure: smaller letters, and on a logarithmic axis powers of ten only. */
  const narrowAxis = (axis) => ({
    automargin: true,
    ...(axis.type === "log" && { dtick: 1 }),
    ...(axis.title?.text && { title: { ...axis.title, font: { ...axis.title.font, size: 10 } } }),
  });

  /** A scale of colours below its panels, which keep their shape and so need all the width. */
  const barBelow = ({ coloraxis, margin }) => ({
    coloraxis: { ...coloraxis, colorbar: {
      ...coloraxis.colorbar, orientation: "h", len: 0.8, x: 0.5, xanchor: "center", yref: "container", y: 0, yanchor: "bottom",
    } },
    ...(coloraxis.showscale !== false && { margin: { ...margin, b: 100 } }),
  });

  /** A figure's layout in the colours and letters of the page, and for a phone where it is narrow. */
  function pageLayout(layout, isNarrow) {
    const text = cssValue("--pst-color-text-base");
    const line = cssValue("--pst-color-border");
    const surface = cssValue("--pst-color-surface");
    const page = structuredClone(layout);
    const font = { ...page.font, color: text, family: getComputedStyle(document.body).fontFamily };
    if (isNarrow) font.size = Math.min(font.size ?? 12, 11);
    Object.assign(page, {
      font,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      autosize: true,
      uirevision: "page", // a zoomed figure stays zoomed when the theme changes
      hoverlabel: { ...page.hoverlabel, bgcolor: surface, bordercolor: line, font: { ...font } },
      legend: { bgcolor: "rgba(0,0,0,0)", ...page.legend },
      margin: { l: 64, r: 24, b: 56, ...page.margin, t: Math.min(page.margin?.t ?? 32, 40) },
    });
    delete page.width;
    for (const name of ["xaxis", "yaxis", ...Object.keys(page).filter((key) => /^[xy]axis\d+$/.test(key))]) {
      const axis = { ...page[name], gridcolor: line, zerolinecolor: line, linecolor: line, tickcolor: line };
      if (isNarrow) Object.assign(axis, narrowAxis(axis));
      page[name] = axis;
    }
    if (isNarrow) {
      page.margin = { ...page.margin, l: Math.min(page.margin.l, 48), r: Math.min(page.margin.r, 12) };
      const below = page.legend?.y < 0 ? page.legend.y : -0.22; // in heights of the plot
      page.legend = { ...page.legend, orientation: "h", x: 0, xanchor: "left", y: below, yanchor: "top" };
      const keepShape = Object.keys(page).some((key) => key.startsWith("yaxis") && page[key].scaleanchor);
      if (keepShape && page.coloraxis) Object.assign(page, barBelow(page));
    }
    if (matchMedia("(pointer: coarse)").matches) page.dragmode = false; // a finger scrolls the page instead
    return page;
  }

  async function redraw(canvas, draw) {
    const { figure } = plots.get(canvas);
    const isNarrow = !printing && canvas.clientWidth < narrow;
    plots.set(canvas, { figure, wasNarrow: isNarrow });
    // no mode bar: one of its buttons uploads the figure, and buttons do not belong inside an image
    const config = { responsive: !printing, displayModeBar: false, typesetMath: false };
    const layout = pageLayout(figure.layout, isNarrow);
    if (printing) Object.assign(layout, { width: paper, autosize: false });
    if (isNarrow) layout.height = parseFloat(getComputedStyle(canvas).minHeight) || layout.height; // what is kept for it
    await draw(canvas, structuredClone(figure.data), layout, config);
  }

  async function drawPlotly(figure) {
    const canvas = figure.querySelector(".posenc-canvas");
    const { newPlot, react } = await loadPlotly();
    plots.set(canvas, { figure: readData(figure), wasNarrow: false });
    await redraw(canvas, newPlot);
    new ResizeObserver(() => {
      const plot = plots.get(canvas); // nothing when the figure was taken away
      // drawn afresh: panels that keep their shape would push the other layout's margins on
      if (plot && !printing && canvas.clientWidth < narrow !== plot.wasNarrow) redraw(canvas, newPlot);
    }).observe(canvas);
    figure.dataset.ready = "true";
    figure.addEventListener("posenc:changed", () => { // a reader's guess came, or went
      plots.set(canvas, { figure: readData(figure), wasNarrow: false });
      redraw(canvas, react);
    });
  }

  const redrawAll = () => plots.forEach((_, canvas) => redraw(canvas, window.Plotly.react));
  new MutationObserver(redrawAll).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

  // ---- the page -----------------------------------------------------------------------------------------------

  const figures = document.querySelectorAll(".posenc-explorable, .posenc-plotly");
  const started = new Map(); // figure -> the promise that it is drawn, or has said why not

  function draw(figure) {
    if (started.has(figure)) return started.get(figure);
    const drawing = figure.classList.contains("posenc-plotly") ? drawPlotly(figure) : drawExplorable(figure);
    const said = drawing.catch((error) => {
      console.error(error);
      const apology = document.createElement("p");
      apology.className = "posenc-failure";
      apology.textContent = words.failed;
      figure.append(apology);
    });
    started.set(figure, said);
    return said;
  }

  /** What Python in the page does with figures (python/page.js). */
  window.posencHost = {
    /** Draw a figure that came after the page. */
    adopt(figure) {
      if (figure.classList.contains("posenc-explorable")) giveName(figure);
      return draw(figure);
    },

    /** Have a Plotly figure show another's data under the other's words. */
    async update(figure, other) {
      await started.get(figure);
      const canvas = figure.querySelector(".posenc-canvas");
      for (const part of ["figcaption", "script"]) {
        const [mine, theirs] = [figure, other].map((each) => each.querySelector(`:scope > ${part}`));
        if (mine && theirs) mine.replaceWith(theirs);
      }
      canvas.setAttribute("aria-label", other.querySelector(".posenc-canvas").getAttribute("aria-label"));
      plots.set(canvas, { ...plots.get(canvas), figure: readData(figure) });
      await redraw(canvas, window.Plotly.react);
    },

    /** Let go of the figures in a part of the page that is taken away. */
    release(place) {
      for (const canvas of place.querySelectorAll(".posenc-canvas")) {
        if (plots.delete(canvas)) window.Plotly.purge(canvas);
      }
    },
  };

  const root = document.documentElement;
  let themeOnScreen = null;

  /** On paper the ground is white. */
  function turnLight() {
    if (root.dataset.theme === "light") return;
    themeOnScreen = root.dataset.theme;
    root.dataset.theme = "light";
  }

  /** Where a figure is not drawn, paper has its words: printing by the browser's own menu waits for nothing. */
  function tellInWords() {
    for (const figure of explorables) {
      const words = figure.querySelector(":scope > noscript");
      if (figure.dataset.ready || !words) continue;
      const told = document.createElement("div");
      told.className = "posenc-in-words";
      told.innerHTML = words.textContent;
      figure.append(told);
    }
  }

  window.addEventListener("beforeprint", () => {
    window.dispatchEvent(new Event("posenc:print")); // what is closed opens, so that it can be drawn
    turnLight();
    printing = true;
    redrawAll();
    if (document.querySelector(".posenc-plotly")) loadPlotlyNow();
    // without a wait for what is loaded, and so done before the browser goes on to print
    for (const figure of figures) if (window.Plotly || figure.matches(".posenc-explorable")) draw(figure);
    tellInWords();
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    redrawAll();
    for (const told of document.querySelectorAll(".posenc-in-words")) told.remove();
    if (themeOnScreen) root.dataset.theme = themeOnScreen;
    themeOnScreen = null;
  });

  /** Print the page, by its button or by keys, when every figure on it is drawn, in the colours for paper. */
  const printNow = window.print.bind(window);
  window.print = async () => {
    window.dispatchEvent(new Event("posenc:print"));
    await Promise.all([...figures].map(draw));
    turnLight();
    await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
    printNow();
  };
  window.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    window.print();
  });

  /** Bring the figure that an address names to its setting, and into view. */
  function restore(setting = requestedSetting()) {
    if (!setting?.figure) return;
    const { figure } = setting;
    const waits = window.posencReveal?.(figure) === false; // for a guess, and is drawn at its setting then
    if (started.has(figure)) figure.posencModel.set("_restore", setting.values);
    if (waits) return;
    draw(figure);
    figure.scrollIntoView();
    // formulas that are set later move the figure away again
    window.MathJax?.startup?.promise?.then(() => figure.scrollIntoView());
  }

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        draw(target);
      }
    },
    { rootMargin: nearby },
  );
  for (const figure of figures) observer.observe(figure);

  const first = [...explorables].find((figure) => figure.checkVisibility());
  if (first) draw(first);

  // what printing cannot wait for comes when nothing else is to come
  window.addEventListener("load", () => {
    for (const { dataset } of explorables) loadModule(dataset.module).catch(() => {}); // said where it is drawn
    if (location.protocol === "file:" && document.querySelector(".posenc-plotly")) loadPlotly(); // nothing is transferred
  });

  restore();
  window.addEventListener("hashchange", () => restore());
  // a link to where the address points already changes no address, and still moves the figure
  document.addEventListener("click", (event) => {
    const hash = event.target.closest?.("a[href^='#']")?.getAttribute("href");
    if (hash && hash === location.hash) restore(requestedSetting(hash));
  });
})();

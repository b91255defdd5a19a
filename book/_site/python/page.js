// The page's half of Python: editors, buttons and outputs. worker.js, which has the other half, runs the cells;
// work.js, which stands above, keeps a student's work.
// `words`, `worker`, `info` and `packs` stand above: the build writes them.

const carried = new Map(); // name -> a pack's text, kept for another start
const cells = new Map(); // id -> the cell, in the notebook's order
const texts = new Map(); // id -> an answer in words, which is like a cell but does not run
const sliders = new Map(); // number -> a set of sliders that the worker knows
let notebook, fileName, bar, assets; // the page
let python; // the worker, or nothing when Python is not there
let arrived; // what waits until Python is ready
let running = null; // {id, done} of the cell that runs

const say = (text, facts = {}) => text.replace(/\{(\w+)\}/g, (_, name) => facts[name]);

function make(tag, properties = {}, ...children) {
  const { label, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  if (label) element.setAttribute("aria-label", label);
  element.append(...children);
  return element;
}

const press = (text, label, pressed) => {
  const button = make("button", { type: "button", textContent: text, label });
  button.addEventListener("click", pressed);
  return button;
};

// ---- the bar --------------------------------------------------------------------------------------------------------

function tell(state, text) {
  bar.dataset.state = state;
  bar.status.textContent = text;
  bar.progress.hidden = state !== "loading";
  const stops = canStop();
  bar.first.textContent = stops ? `■ ${words.stop}` : words.run_all;
  if (stops) bar.first.setAttribute("aria-label", words.stop_label);
  else bar.first.removeAttribute("aria-label");
}

const canStop = () => ["running", "loading"].includes(bar.dataset.state);

/** Say what nobody may miss, who is anywhere on the page: on a phone the bar has room for a few words. */
function tellWhole(text) {
  bar.status.textContent = text;
  unfold(true);
}

function unfold(isOpen) {
  bar.rest.hidden = !isOpen;
  bar.more.setAttribute("aria-expanded", isOpen);
}

function fillBar() {
  const hadFocus = bar.contains(document.activeElement);
  bar.status = make("span", { tabIndex: -1 });
  bar.status.setAttribute("role", "status");
  bar.progress = make("progress", { label: words.region });
  bar.first = press(words.run_all, "", () => (canStop() ? end(words.stopped) : runAll()));
  bar.more = press(words.more, "", () => unfold(bar.rest.hidden));
  bar.rest = make("div", { className: "posenc-rest" });
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", words.region);
  bar.rest.append(
    press(words.restart, "", () => end(words.stopped) ?? start()),
    ...(assignment() ? [press(words.work.load, "", askForNotebook), press(words.work.clear, "", clearWork)] : [press(words.copy, "", copyVersion)]),
  );
  bar.replaceChildren(bar.status, bar.first, press(words.download, words.download_label, download), bar.more, bar.rest, bar.progress);
  unfold(false);
  bar.kept = make("p", { className: "posenc-note", hidden: !assignment(), textContent: words.work.kept });
  bar.after(bar.kept, make("p", { className: "posenc-note posenc-keys", textContent: words.keys }));
  new ResizeObserver(() => document.documentElement.style.setProperty("--posenc-bar", `${bar.offsetHeight}px`)).observe(bar);
  if (hadFocus) bar.status.focus({ preventScroll: true });
}

// ---- Python's life --------------------------------------------------------------------------------------------------

const whole = packs.reduce((sum, { bytes, later }) => sum + (later ? 0 : bytes), 0);

/** Have a pack's script bring it to `bring`, below, and pass it on to the worker. */
async function carry(name) {
  if (!carried.has(name)) {
    await new Promise((done, fail) => {
      const script = make("script", { src: new URL(`${name}.js`, assets) });
      script.onload = done;
      script.onerror = () => fail(new Error(say(words.could_not, { error: `${name}.js` })));
      document.head.append(script);
      script.addEventListener("load", () => script.remove());
    });
  }
  python?.postMessage({ do: "bring", name, text: carried.get(name) });
}

async function carryAll() {
  const started = python;
  let done = 0;
  for (const { name, bytes, later } of packs) {
    if (later) continue; // comes with the first cell that wants it
    showProgress(words.loading[name], done);
    await carry(name);
    if (python !== started) return; // it has ended meanwhile
    done += bytes;
  }
}

function showProgress(what, done) {
  const inMegabytes = (bytes) => (bytes / 1e6).toFixed(1);
  bar.progress.max = whole;
  bar.progress.value = done;
  tell("loading", say(words.progress, { what, done: inMegabytes(done), whole: inMegabytes(whole) }));
}

/** Start Python, unless it is there or coming; the promise that it is ready. */
function start() {
  if (arrived) return arrived.promise;
  arrived = Promise.withResolvers?.() ?? withResolvers();
  arrived.promise.catch(() => {}); // whoever waits hears of it too
  python = new Worker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })));
  python.onmessage = ({ data }) => heard[data.is](data);
  python.onerror = (event) => end(say(words.broken, { error: event.message ?? "" }));
  python.postMessage({ do: "start", info });
  carryAll().catch((error) => end(error.message));
  return arrived.promise;
}

function withResolvers() {
  const all = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
  return all;
}

/** End Python, whatever it does: nothing else can stop a loop on a page that is opened from disk. */
function end(text) {
  python?.terminate();
  python = undefined;
  arrived?.reject(new Error(text));
  arrived = undefined;
  const waits = running;
  running = null;
  for (const cell of cells.values()) {
    cell.ran = false;
    show(cell, "");
  }
  for (const set of sliders.values()) set.disable();
  sliders.clear();
  waits?.done({ status: "stopped" });
  tell("stopped", text);
  if (text !== words.stopped) unfold(true);
}

const heard = {
  loading: ({ what }) => showProgress(words.loading[what], whole),
  ready({ numpy }) {
    tell("ready", say(words.ready, { numpy }));
    arrived.resolve();
  },
  wants({ pack }) {
    const before = bar.status.textContent;
    bar.status.textContent = words.loading[pack];
    carry(pack).then(() => {
      bar.status.textContent = before;
    }, (error) => end(error.message));
  },
  told({ cell, output }) {
    add(cells.get(cell), output);
  },
  ran(ended) {
    const { done } = running;
    running = null;
    done(ended);
  },
  moved({ number, outputs }) {
    sliders.get(number)?.moved(outputs);
  },
  broken({ error }) {
    end(say(words.broken, { error }));
  },
};

// ---- cells ----------------------------------------------------------------------------------------------------------

function openCell({ id, source, metadata }) {
  const element = document.getElementById(`cell-${id}`);
  const stored = [source].flat().join("");
  const cell = { id, stored, element, ran: false, mayFail: metadata.tags?.includes("raises-exception") };
  cells.set(id, cell);
  if (!element) return; // a cell that the page does not show: it runs all the same
  const input = element.querySelector(".cell_input");
  const place = make("div", { className: "highlight posenc-editor" }); // Pygments' colours are for what is inside a highlight
  const text = input?.querySelector(".highlight")?.parentElement;
  if (text) text.replaceWith(place);
  else input?.prepend(place);
  cell.editor = window.posencEditor({
    parent: place,
    text: stored,
    label: say(words.editor, { cell: id }),
    run: () => run(id),
    runAndGoOn: () => {
      run(id);
      goOn(cell);
    },
    changed: () => changed(cell),
  });
  cell.note = make("span", { className: "posenc-note" });
  cell.note.setAttribute("role", "status");
  cell.button = press("", "", () => (running?.id === id ? end(words.stopped) : run(id)));
  const tools = input.querySelector(".posenc-tools") ?? input.appendChild(make("div", { className: "posenc-tools" }));
  const question = assignment() && /^(q\d+)-check$/.exec(id)?.[1];
  const hint = question ? [press(words.work.hint, say(words.work.hint_label, { question }), () => takeHint(cell, question))] : [];
  const hadFocus = tools.contains(document.activeElement);
  tools.replaceChildren(cell.button, press(words.reset, say(words.reset_label, { cell: id }), () => reset(cell)), ...hint, cell.note);
  show(cell, "");
  if (hadFocus) cell.button.focus();
  cell.book = element.querySelector(".cell_output"); // what the book itself printed and drew
  cell.place = cell.book?.parentElement ?? element; // it may stay closed until a question is answered
}

/** Go to the next cell that can be seen. */
function goOn(cell) {
  const list = [...cells.values()].filter(({ editor, element }) => editor && !element.closest("details:not([open])"));
  list[list.indexOf(cell) + 1]?.editor.focus();
}

/** An answer in words: a field in place of the paragraph that stands for it. */
function openText({ id, source }) {
  const paragraph = document.getElementById(`cell-${id}`);
  if (!paragraph) return;
  const stored = [source].flat().join("");
  const field = make("textarea", { id: paragraph.id, className: "posenc-words", rows: 12, value: stored, label: say(words.work.words, { cell: id }) });
  const cell = {
    id,
    stored,
    element: field,
    editor: {
      get text() {
        return field.value;
      },
      set text(value) {
        field.value = value;
        changed(cell);
      },
    },
  };
  field.addEventListener("input", () => changed(cell));
  texts.set(id, cell);
  paragraph.replaceWith(field);
}

function changed(cell) {
  cell.element.classList.toggle("posenc-edited", isEdited(cell));
  keepSoon();
}

/** Every cell that can be written in. */
const written = () => [...cells.values(), ...texts.values()].filter((cell) => cell.editor);
const textOf = (cell) => cell.editor?.text ?? cell.stored;
/** Whether a cell ran as it stands; and whether, as it stands, it failed or was stopped, so that it waits to be mended. */
const hasRun = (cell) => cell.ran && cell.last === textOf(cell);
const hasFailed = (cell) => cell.failed === textOf(cell);
const isEdited = (cell) => textOf(cell) !== cell.stored;

/** How a cell stands: its button, and a sentence below it. */
function show(cell, text, isRunning = false) {
  if (!cell.element) return;
  cell.note.textContent = text;
  cell.button.textContent = isRunning ? `■ ${words.stop}` : `▸ ${words.start.run}`;
  cell.button.setAttribute("aria-label", isRunning ? words.stop_label : say(words.start.run_label, { cell: cell.id }));
}

/** Take away what a run has shown. */
function clear(cell) {
  if (!cell.fresh) return;
  window.posencHost.release(cell.fresh);
  cell.fresh.remove();
  cell.fresh = undefined;
}

/** Put the book's own output back. */
function restoreOutput(cell) {
  clear(cell);
  if (cell.book && !cell.book.isConnected) {
    cell.place.append(cell.book);
    window.posencHost.rename(cell.book);
  }
}

function reset(cell) {
  cell.editor.text = cell.stored;
  restoreOutput(cell);
  show(cell, "");
}

/** Show one more output of a cell's run; the first takes the place of what was there. */
function add(cell, output) {
  if (!cell?.element) return;
  if (!cell.fresh) {
    if (cell.book?.contains(document.activeElement)) cell.button.focus({ preventScroll: true });
    cell.book?.remove();
    cell.fresh = make("div", { className: "cell_output docutils container" });
    cell.place.append(cell.fresh);
  }
  cell.fresh.append(...shown(output, cell.fresh.lastElementChild));
}

/** Send one cell to Python; how it ended. */
async function send(cell) {
  clear(cell);
  show(cell, "", true);
  const source = textOf(cell), isMended = cell.last !== undefined && cell.last !== source;
  const ended = await new Promise((done) => {
    running = { id: cell.id, done };
    python.postMessage({ do: "run", cell: cell.id, source });
  });
  cell.last = source;
  cell.failed = ["failed", "stopped"].includes(ended.status) && !cell.mayFail ? source : undefined;
  if (ended.status === "stopped") return ended;
  cell.ran = true;
  if (isMended && !cell.failed) for (const one of cells.values()) one.failed = undefined; // they may do now
  if (cell.element) conclude(cell, ended);
  return ended;
}

function conclude(cell, { status, error, ...facts }) {
  if (status === "needs" && !isEdited(cell)) {
    restoreOutput(cell);
    show(cell, `${say(facts.through ? words.needs_through : words.needs, facts)}${cell.book ? ` ${words.stored}` : ""}`);
    cell.element.dataset.ended = "needs";
    return;
  }
  if (error) add(cell, { error });
  if (!cell.fresh) cell.book?.remove(); // it shows nothing now
  show(cell, status === "needs" ? say(words.needs_edited, facts) : "");
  cell.element.dataset.ended = status;
}

let turn = Promise.resolve(); // of those who press while a cell runs

/** Run cells in order, one run after the other. It stops where one fails, but for an assignment, whose questions stand alone. */
function runCells(wanted) {
  turn = turn.then(async () => {
    try {
      await start();
    } catch {
      return; // said already
    }
    const list = wanted(), failed = [];
    for (const [done, cell] of list.entries()) {
      tell("running", say(words.running, { done: done + 1, whole: list.length }));
      const { status } = await send(cell);
      if (status === "stopped") return;
      if (status !== "failed" || cell.mayFail) continue;
      failed.push(cell.id);
      if (done === list.length - 1 || assignment()) continue;
      tell("ready", say(words.failed_at, { cell: cell.id }));
      show(list.at(-1), say(words.waits, { cell: cell.id }));
      return;
    }
    const last = list.at(-1).id;
    tell("ready", failed.length === 0 ? words.finished : failed.length === 1 && failed[0] === last ? words.failed : say(words.failed_above, { cells: failed.join(", ") }));
  });
  return turn;
}

/** Run a cell, and before it those above that have not run as they stand; what failed as it stands is not tried again. */
function run(id) {
  return runCells(() => {
    const list = [...cells.values()], place = list.findIndex((cell) => cell.id === id);
    return list.filter((cell, k) => k === place || (k < place && !hasRun(cell) && !hasFailed(cell)));
  });
}

const runAll = () => runCells(() => [...cells.values()]);

// ---- outputs --------------------------------------------------------------------------------------------------------

// What HTML may hold that comes out of Python: a link can bring code of a stranger's.
const allowed = new Set("FIGURE FIGCAPTION SCRIPT DIV NOSCRIPT P SUB SUP B I EM STRONG BR".split(" "));
const attributes = new Set(["class", "role", "aria-label", "data-module", "type"]);

/** HTML as elements, without anything that could act. */
function harmless(html) {
  const inert = new DOMParser().parseFromString(html, "text/html");
  for (const element of inert.body.querySelectorAll("*")) {
    const acts = element.tagName === "SCRIPT" && element.type !== "application/json";
    if (!allowed.has(element.tagName) || acts) {
      element.replaceWith(inert.createTextNode(element.textContent));
      continue;
    }
    const room = ["--posenc-room", "--posenc-phone-room"]
      .map((name) => [name, element.style.getPropertyValue(name)]);
    for (const { name } of [...element.attributes]) if (!attributes.has(name)) element.removeAttribute(name);
    for (const [name, value] of room) element.style.setProperty(name, value);
  }
  return [...inert.body.children].map((element) => document.adoptNode(element));
}

function printed(text, kind) {
  return make("pre", { className: `posenc-printed ${kind}`, textContent: text, tabIndex: 0 });
}

/** One output as elements; printed text goes on where the element before ends. */
function shown(output, before) {
  if (output.stream !== undefined) {
    const kind = `posenc-${output.stream}`;
    if (before?.classList.contains(kind)) {
      before.append(output.text);
      return [];
    }
    return [printed(output.text, kind)];
  }
  if (output.error !== undefined) return [printed(output.error, "posenc-error")];
  if (output.cut) {
    const said = Object.entries(output.cut).filter(([, count]) => count > 0);
    return said.map(([what, count]) => make("p", { className: "posenc-note", textContent: say(words[what], { count: count.toLocaleString("en") }) }));
  }
  if (output.interact !== undefined) return [setOfSliders(output)];
  const { "text/plain": text, ...html } = output.data;
  if (text !== undefined) return [printed(text, "posenc-value")];
  const figures = Object.values(html).flatMap(harmless);
  for (const figure of figures) queueMicrotask(() => window.posencHost.adopt(figure));
  return figures;
}

// ---- sliders --------------------------------------------------------------------------------------------------------

const significant = (value) => Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });

/** A control: its element, what it says beside itself, and the value that Python gets. */
function control(given, moved) {
  const { kind, value, base, least, greatest, step, labels } = given;
  const label = `${given.label}`;
  if (kind === "switch") {
    const input = make("input", { type: "checkbox", checked: value, label });
    input.addEventListener("input", () => moved(input.checked));
    return [input, make("output")];
  }
  if (kind === "choice") {
    const input = make("select", { label }, ...labels.map((text, k) => make("option", { value: k, textContent: text })));
    input.value = value;
    input.addEventListener("input", () => moved(Number(input.value)));
    return [input, make("output")];
  }
  const isLog = kind === "log";
  const input = make("input", { type: "range", min: least, max: greatest, step, label });
  input.value = isLog ? Math.log(value) / Math.log(base) : value;
  const output = make("output", { textContent: significant(value) });
  input.setAttribute("aria-valuetext", output.textContent);
  input.addEventListener("input", () => {
    const next = isLog ? base ** Number(input.value) : Number(input.value);
    output.textContent = significant(next);
    input.setAttribute("aria-valuetext", output.textContent);
    moved(next);
  });
  return [input, output];
}

/** Controls, and below them what they move: Python gets what was moved last, as soon as it is done with the one before. */
function setOfSliders({ interact: number, controls, outputs }) {
  const place = make("div", { className: "posenc-moved" });
  place.append(...outputs.flatMap((output) => shown(output, place.lastElementChild)));
  let waiting = {}, isBusy = false;
  const next = () => {
    if (isBusy || Object.keys(waiting).length === 0 || !python) return;
    isBusy = true;
    python.postMessage({ do: "move", number, values: waiting });
    waiting = {};
  };
  const grid = make("div", { className: "posenc-sliders" });
  for (const given of controls) {
    const parts = control(given, (value) => {
      waiting[given.name] = value;
      next();
    });
    grid.append(make("span", { textContent: given.label, ariaHidden: "true" }), ...parts);
  }
  sliders.set(number, {
    moved(outputs) {
      replaceOutputs(place, outputs);
      isBusy = false;
      next();
    },
    disable() {
      for (const input of grid.querySelectorAll("input, select")) input.disabled = true;
    },
  });
  return make("div", { className: "posenc-interact posenc-live" }, grid, place);
}

/** Put new outputs where others are; a figure alone takes the other's data, so that it does not flicker. */
function replaceOutputs(place, outputs) {
  const [figure, ...more] = place.children;
  const drawn = outputs.length === 1 && outputs[0].data?.["application/vnd.plotly.v1+json"];
  if (drawn && more.length === 0 && figure?.matches(".posenc-plotly")) {
    window.posencHost.update(figure, harmless(drawn)[0]);
    return;
  }
  window.posencHost.release(place);
  place.replaceChildren();
  for (const output of outputs) place.append(...shown(output, place.lastElementChild));
}

// ---- a reader's own version -----------------------------------------------------------------------------------------

const through = async (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();

/** The changed cells: id -> text. */
const mine = () => Object.fromEntries(written().filter(isEdited).map((cell) => [cell.id, textOf(cell)]));

/** The changed cells as the end of an address. */
async function versionHash() {
  const edited = mine();
  if (Object.keys(edited).length === 0) return "";
  const short = new Uint8Array(await through(JSON.stringify(edited), new CompressionStream("deflate-raw")));
  const text = btoa(Array.from(short, (byte) => String.fromCharCode(byte)).join(""));
  return `#code=${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

async function copyVersion() {
  const hash = await versionHash();
  history.replaceState(null, "", hash || location.pathname + location.search);
  if (!hash) {
    bar.status.textContent = words.nothing_changed;
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    bar.status.textContent = words.copied;
  } catch {
    bar.status.textContent = words.copy_by_hand; // the clipboard is for pages that came over a safe connection
  }
}

/** Put the version that the address brings into the editors. It runs when its reader says so. */
async function openVersion() {
  const found = /^#code=([\w-]+)$/.exec(location.hash);
  if (!found) return;
  try {
    const text = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
    const long = await through(Uint8Array.from(text, (sign) => sign.charCodeAt(0)), new DecompressionStream("deflate-raw"));
    for (const [id, source] of Object.entries(JSON.parse(new TextDecoder().decode(long)))) {
      const cell = cells.get(id);
      if (cell?.editor && typeof source === "string") cell.editor.text = source;
    }
  } catch {
    bar.status.textContent = words.bad_version;
  }
}

function download() {
  const taken = structuredClone(notebook), edited = mine();
  for (const one of taken.cells) if (one.id in edited) one.source = edited[one.id].split(/(?<=\n)/);
  const file = new Blob([`${JSON.stringify(taken, null, 1)}\n`], { type: "application/x-ipynb+json" });
  const link = make("a", { href: URL.createObjectURL(file), download: fileName });
  link.click();
  bar.status.textContent = say(words.downloaded, { name: fileName });
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// ---- the page -------------------------------------------------------------------------------------------------------

window.posencPython = {
  bring(name, text) {
    carried.set(name, text);
  },
  take(name, content) {
    [fileName, notebook] = [name, content];
  },
  open(place, from, page) {
    [bar, assets] = [place, from];
    fillBar();
    for (const cell of notebook.cells) {
      if (cell.cell_type === "code") openCell(cell);
      else if (cell.metadata.nbgrader?.solution) openText(cell);
    }
    const hasVersion = assignment() ? openWork(page) : openVersion();
    start().then(() => hasVersion, () => {});
  },
  run,
  download,
};

// From the keyboard the bar is far away.
window.addEventListener("keydown", (event) => {
  if (!bar || event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
  event.preventDefault();
  download();
});

window.addEventListener("pagehide", () => {
  if (python) end(words.stopped); // its memory goes with the page
});

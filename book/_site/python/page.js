// The page's half of Python: the bar, editors and outputs. worker.js, which has the other half, runs the cells;
// work.js, which stands above, keeps what a reader writes.
// `words`, `worker`, `packs` and `models` stand above: the build writes them.

const { bar, button, load, make, workKey } = window.posencPython; // of start.js
const cells = new Map(); // id -> the cell, in the notebook's order
const texts = []; // answers in words, which are kept like cells and do not run
let notebook, fileName;
let python; // the worker, or nothing when Python is not there
let ready; // the promise that it is, or has ended
let running; // the cell that runs
const asked = new Map(); // number -> what takes the worker's answer
let count = 0; // of what it was asked

const say = (text, facts = {}) => text.replace(/\{(\w+)\}/g, (_, name) => facts[name]);
const assignment = () => notebook.metadata.posenc?.assignment; // its number; none on a chapter

// ---- the bar --------------------------------------------------------------------------------------------------------

const canStop = () => ["running", "loading"].includes(bar.dataset.state);

function tell(state, text) {
  bar.dataset.state = state;
  bar.status.textContent = text;
  bar.progress.hidden = state !== "loading";
  bar.first.textContent = canStop() ? `■ ${words.stop}` : words.run_all;
  bar.first.ariaLabel = canStop() ? words.stop_label : null;
}

function fillBar() {
  const hadFocus = bar.contains(document.activeElement);
  bar.role = "group";
  bar.ariaLabel = words.region;
  bar.status = make("span", { tabIndex: -1, role: "status" });
  bar.progress = make("progress", { label: words.region });
  bar.first = button(words.run_all, "", () => (canStop() ? end(words.stopped) : runAll()));
  const more = make(
    "details",
    { className: "posenc-more" },
    make("summary", { textContent: words.more }),
    button(words.restart, "", () => {
      end(words.stopped);
      start();
    }),
    button(words.work.load, "", askForNotebook),
    button(words.work.clear, "", clearWork),
  );
  bar.replaceChildren(bar.status, bar.first, button(words.download, words.download_label, download), more, bar.progress);
  bar.kept = make("p", { className: "posenc-note", textContent: words.work.kept });
  bar.after(bar.kept, make("p", { className: "posenc-note posenc-keys", textContent: words.keys }));
  new ResizeObserver(() => document.documentElement.style.setProperty("--posenc-bar", `${bar.offsetHeight}px`)).observe(bar);
  if (hadFocus) bar.status.focus({ preventScroll: true });
}

// ---- Python's life --------------------------------------------------------------------------------------------------

/** Ask Python to do something; its answer, or nothing if it ends before. */
function ask(task, facts) {
  const number = count++;
  python.postMessage({ number, task, ...facts });
  return new Promise((answer) => asked.set(number, answer));
}

/** Start Python, unless it is there or coming. */
function start() {
  if (python) return;
  python = new Worker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })));
  python.onerror = (event) => end(say(words.broken, { error: event.message ?? "" }));
  python.onmessage = ({ data }) => {
    if (data.broken !== undefined) end(say(words.broken, { error: data.broken }));
    else if (data.output) add(cells.get(data.cell), data.output);
    else asked.get(data.number)(data);
  };
  ready = carry(python).catch((error) => end(error.message));
}

/** Bring what Python consists of; each script calls `bring`, below. */
async function carry(mine) {
  const left = ["recorded", ...models]; // what checks compare with, and what cells evaluate
  const own = [...(assignment() ? ["recorded"] : []), ...(notebook.metadata.models ?? [])];
  const wanted = packs.filter(({ name }) => !left.includes(name) || own.includes(name));
  const whole = wanted.reduce((sum, { bytes }) => sum + bytes, 0), megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  bar.progress.max = whole;
  bar.progress.value = 0;
  for (const { name, bytes } of wanted) {
    tell("loading", say(words.loading, { done: megabytes(bar.progress.value), whole: megabytes(whole) }));
    await load(`${name}.js`);
    if (python !== mine) return; // it has ended meanwhile
    bar.progress.value += bytes;
  }
  tell("loading", words.starting);
  const answer = await ask("open");
  if (answer) tell("ready", say(words.ready, answer));
}

/** End Python, whatever it does: nothing else can stop a loop on a page that is opened from disk. */
function end(text) {
  python?.terminate();
  python = undefined;
  for (const cell of cells.values()) {
    cell.ran = false;
    show(cell, "");
  }
  for (const input of document.querySelectorAll(".posenc-sliders :is(input, select)")) input.disabled = true;
  for (const answer of asked.values()) answer();
  asked.clear();
  tell("stopped", text);
}

// ---- cells ----------------------------------------------------------------------------------------------------------

function openCell({ id, source, metadata }) {
  const input = document.getElementById(`cell-${id}`)?.querySelector(".cell_input");
  const element = input?.closest(".cell");
  const stored = [source].flat().join("");
  const hasTag = (tag) => metadata.tags?.includes(tag);
  const cell = { id, stored, element, ran: false, mayFail: hasTag("raises-exception"), slow: hasTag("slow") };
  cells.set(id, cell);
  if (!element) return; // a cell whose code the page does not have: it runs all the same
  const place = make("div", { className: "highlight posenc-editor" }); // Pygments' colours are for what is inside a highlight
  const text = input.querySelector(".highlight")?.parentElement;
  if (text) text.replaceWith(place);
  else input.prepend(place);
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
  cell.note = make("span", { className: "posenc-note", role: "status" });
  cell.button = button("", "", () => (running === cell ? end(words.stopped) : run(id)));
  const question = assignment() && /^(q\d+)-check$/.exec(id)?.[1];
  const hint = question ? [button(words.work.hint, say(words.work.hint_label, { question }), () => takeHint(cell, question))] : [];
  const bringBack = button(words.reset, say(words.reset_label, { cell: id }), () => reset(cell));
  input.append(make("div", { className: "posenc-tools" }, cell.button, bringBack, ...hint, cell.note));
  input.closest(".posenc-code")?.after(cell.note); // it is told where the code is closed too
  cell.book = element.querySelector(".cell_output"); // what the book itself printed and drew
  show(cell, "");
}

/** Go to the next cell that can be seen. */
function goOn(cell) {
  const list = [...cells.values()].filter(({ button }) => button?.checkVisibility());
  list[list.indexOf(cell) + 1]?.editor.focus();
}

/** Every cell that can be written in. */
const written = () => [...cells.values(), ...texts].filter((cell) => cell.editor);
const textOf = (cell) => cell.editor?.text ?? cell.stored;
const isEdited = (cell) => textOf(cell) !== cell.stored;

/** How a cell stands: its button, and a sentence below it. */
function show(cell, text) {
  if (!cell.element) return;
  cell.note.textContent = text || (cell.slow && !cell.ran && running !== cell ? words.slow : "");
  cell.button.textContent = running === cell ? `■ ${words.stop}` : `▸ ${words.start.run}`;
  cell.button.ariaLabel = running === cell ? words.stop_label : say(words.start.run_label, { cell: cell.id });
}

/** Take away what a run has shown, and show the book's own output, unless the next run's is to come. */
function clear(cell, isBook = true) {
  if (cell.fresh) window.posencHost.release(cell.fresh);
  cell.fresh?.remove();
  cell.fresh = undefined;
  if (cell.book && isBook) cell.book.hidden = false;
}

function reset(cell) {
  cell.editor.text = cell.stored;
  clear(cell);
  show(cell, "");
}

/** Show one more output of a cell's run; the first takes the place of what was there. */
function add(cell, output) {
  if (!cell.element) return;
  if (!cell.fresh) {
    if (cell.book?.contains(document.activeElement)) cell.button.focus({ preventScroll: true });
    cell.fresh = make("div", { className: "cell_output docutils container" });
    if (cell.book) cell.book.after(cell.fresh); // which may stay closed until a question is answered
    else cell.element.append(cell.fresh);
    if (cell.book) cell.book.hidden = true;
  }
  cell.fresh.append(...shown(output, cell.fresh.lastElementChild));
}

/** Have Python run one cell; how it ended. */
async function send(cell) {
  clear(cell, false);
  running = cell;
  show(cell, "");
  const source = textOf(cell), isMended = cell.last !== undefined && cell.last !== source;
  const { status, error, ...facts } = (await ask("run", { cell: cell.id, source })) ?? { status: "stopped" };
  running = undefined;
  show(cell, "");
  cell.last = source;
  cell.failed = ["failed", "stopped"].includes(status) && !cell.mayFail;
  if (status === "stopped") return status;
  cell.ran = true;
  if (isMended && !cell.failed) for (const one of cells.values()) one.failed = false; // they may do now
  if (!cell.element) return status;
  if (status === "needs" && !isEdited(cell)) {
    clear(cell);
    show(cell, `${say(facts.through ? words.needs_through : words.needs, facts)}${cell.book ? ` ${words.stored}` : ""}`);
  } else {
    if (error) add(cell, { error });
    if (cell.book) cell.book.hidden = true; // it may show nothing now
    if (status === "needs") show(cell, say(words.needs_edited, facts));
  }
  cell.element.dataset.ended = status;
  return status;
}

let turn = Promise.resolve(); // of those who press while a cell runs

/** Run cells in order, one run after the other, those after one that fails too: an assignment's questions stand alone. */
function runCells(wanted) {
  start();
  const mine = python;
  turn = turn.then(async () => {
    await ready;
    if (python !== mine) return;
    const list = await wanted(), failed = [];
    if (python !== mine) return;
    for (const [done, cell] of list.entries()) {
      tell("running", say(words.running, { done: done + 1, whole: list.length }));
      const status = await send(cell);
      if (python !== mine) return;
      if (status === "failed" && !cell.mayFail) failed.push(cell.id);
    }
    tell("ready", failed.length ? say(words.failed, { cells: failed.join(", ") }) : words.finished);
  });
}

/** Run a cell, and before it those that it depends on and that have not run as they stand; what failed is not tried again. */
function run(id) {
  runCells(async () => {
    const list = [...cells.values()], cell = cells.get(id), above = list.slice(0, list.indexOf(cell));
    const answer = await ask("needed", { sources: [...above, cell].map(textOf) });
    const isDue = (one) => one.last !== textOf(one) || !(one.ran || one.failed);
    return [...(answer?.cells ?? []).map((k) => above[k]).filter(isDue), cell];
  });
}

const runAll = () => runCells(() => [...cells.values()].filter(({ slow }) => !slow));

// ---- outputs --------------------------------------------------------------------------------------------------------

const printed = (textContent, kind) => make("pre", { className: `posenc-printed ${kind}`, textContent, tabIndex: 0 });

/** One output as elements; printed text goes on where the element before ends. */
function shown(output, before) {
  if (output.stream && output.html) return elements(output.html); // a table
  if (output.stream) {
    const kind = `posenc-${output.stream}`;
    if (!before?.classList.contains(kind)) return [printed(output.text, kind)];
    before.append(output.text);
    return [];
  }
  if (output.error !== undefined) return [printed(output.error, "posenc-error")];
  if (output.interact !== undefined) return [setOfSliders(output)];
  if (output.text !== undefined) return [printed(output.text, "posenc-value")];
  const figures = elements(output.html);
  for (const figure of figures) queueMicrotask(() => window.posencHost.adopt(figure));
  return figures;
}

const elements = (html) => [...make("template", { innerHTML: html }).content.children].map((one) => document.adoptNode(one));

const significant = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });

/** A control: its element, and what it says beside itself; `moved` gets the value for Python. */
function control({ kind, label, value, min, max, step, base, labels }, moved) {
  const output = make("output");
  if (kind === "switch") {
    return [make("input", { type: "checkbox", checked: value, label, oninput: (event) => moved(event.target.checked) }), output];
  }
  if (kind === "choice") {
    const options = labels.map((text, k) => make("option", { value: k, textContent: text, selected: k === value }));
    return [make("select", { label, oninput: (event) => moved(Number(event.target.value)) }, ...options), output];
  }
  const input = make("input", { type: "range", min, max, step, label });
  input.value = base ? Math.log(value) / Math.log(base) : value;
  const tell = (value) => {
    output.textContent = significant(value);
    input.ariaValueText = output.textContent;
  };
  tell(value);
  input.oninput = () => {
    const next = base ? base ** Number(input.value) : Number(input.value);
    tell(next);
    moved(next);
  };
  return [input, output];
}

/** Controls, and below them what they move: Python gets what was moved last, as soon as it is done with the one before. */
function setOfSliders({ interact: number, controls, outputs }) {
  const place = make("div", { className: "posenc-moved" });
  place.append(...outputs.flatMap((output) => shown(output, place.lastElementChild)));
  let waiting = {}, isBusy = false;
  const move = async (name, value) => {
    waiting[name] = value;
    if (isBusy) return;
    isBusy = true;
    while (python && Object.keys(waiting).length > 0) {
      const values = waiting;
      waiting = {};
      const answer = await ask("move", { of: number, values });
      if (answer) replaceOutputs(place, answer.outputs);
    }
    isBusy = false;
  };
  const grid = make("div", { className: "posenc-sliders" });
  for (const given of controls) {
    const parts = control(given, (value) => move(given.name, value));
    grid.append(make("span", { textContent: given.label, ariaHidden: "true" }), ...parts);
  }
  return make("div", { className: "posenc-interact posenc-live" }, grid, place);
}

/** Put new outputs where others are; a figure alone takes the other's data, so that it does not flicker. */
function replaceOutputs(place, outputs) {
  const [figure, ...more] = place.children;
  if (outputs.length === 1 && outputs[0].html && more.length === 0 && figure?.matches(".posenc-plotly")) {
    window.posencHost.update(figure, elements(outputs[0].html)[0]);
    return;
  }
  window.posencHost.release(place);
  place.replaceChildren();
  for (const output of outputs) place.append(...shown(output, place.lastElementChild));
}

// ---- the page -------------------------------------------------------------------------------------------------------

Object.assign(window.posencPython, {
  run,
  download,
  bring: (name, text) => python && ask("bring", { name, text }),
  take(name, content) {
    [fileName, notebook] = [name, content];
  },
  open() {
    fillBar();
    for (const cell of notebook.cells) {
      if (cell.cell_type === "code") openCell(cell);
      else if (cell.metadata.nbgrader?.solution) openText(cell);
    }
    openWork();
    start();
  },
});

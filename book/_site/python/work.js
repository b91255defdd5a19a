// What a reader writes on a page: this browser keeps it, and a notebook takes it away and brings it back. Hints.
// The build puts it before page.js, with which it shares everything.

/** An answer in words: a field in place of the paragraph that stands for it. */
function openText({ id, source }) {
  const paragraph = document.getElementById(`cell-${id}`);
  const stored = [source].flat().join("");
  const label = say(words.work.words, { cell: id });
  const field = make("textarea", { id: paragraph.id, className: "posenc-words", rows: 12, value: stored, label });
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
  field.oninput = () => changed(cell);
  texts.push(cell);
  paragraph.replaceWith(field);
}

function changed(cell) {
  cell.element.classList.toggle("posenc-edited", isEdited(cell));
  keepSoon();
}

/** The changed cells: id -> text. */
const edited = () => Object.fromEntries(written().filter(isEdited).map((cell) => [cell.id, textOf(cell)]));

// ---- kept by the browser --------------------------------------------------------------------------------------------

let isOpen = false, waits; // whether what was kept has been shown; what waits to keep it

/** Put texts into the cells of those names, and leave the others. */
function write(byId) {
  for (const cell of written()) if (typeof byId[cell.id] === "string") cell.editor.text = byId[cell.id];
}

function keepSoon() {
  clearTimeout(waits);
  if (isOpen) waits = setTimeout(keep, 300);
}

function keep() {
  const texts = edited();
  try {
    if (Object.keys(texts).length === 0) localStorage.removeItem(workKey);
    else localStorage.setItem(workKey, JSON.stringify(texts));
    bar.kept.textContent = words.work.kept;
  } catch {
    bar.status.textContent = bar.kept.textContent = words.work.not_kept; // it refuses, or is full
  }
}

/** Show the work that is kept here, and keep what is written from now on. */
function openWork() {
  try {
    write(JSON.parse(localStorage.getItem(workKey) ?? "{}"));
  } catch {
    bar.kept.textContent = words.work.not_kept;
  }
  isOpen = true;
  addEventListener("storage", ({ key }) => {
    if (key === workKey) bar.status.textContent = words.work.elsewhere;
  });
  addEventListener("pagehide", keep);
}

/** Take away what came of answers that are not there any more. */
function forgetRuns() {
  for (const cell of cells.values()) {
    clear(cell);
    show(cell, "");
  }
  keep();
}

function clearWork() {
  if (!confirm(words.work.sure)) return;
  for (const cell of written()) if (isEdited(cell)) cell.editor.text = cell.stored;
  forgetRuns();
  bar.status.textContent = words.work.cleared;
}

// ---- a notebook -----------------------------------------------------------------------------------------------------

function download() {
  const taken = structuredClone(notebook), texts = edited();
  for (const one of taken.cells) if (one.id in texts) one.source = texts[one.id].split(/(?<=\n)/);
  const file = new Blob([`${JSON.stringify(taken, null, 1)}\n`], { type: "application/x-ipynb+json" });
  const link = make("a", { href: URL.createObjectURL(file), download: fileName });
  link.click();
  bar.status.textContent = say(words.downloaded, { name: fileName });
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function askForNotebook() {
  const onchange = async () => {
    bar.status.textContent = await readNotebook(input.files[0]);
  };
  const input = make("input", { type: "file", accept: ".ipynb,application/json", onchange });
  input.click();
}

const HINT = /\n*check\.\w+\.hint\((\d*)\)/; // as a line below a check

/** The texts of a notebook's cells by name, but for those that are not to be changed. */
function textsOf(given) {
  const found = {};
  for (const cell of given.cells) {
    const id = cell.metadata?.nbgrader?.grade_id ?? cell.id ?? cell.metadata?.id; // Colab keeps the id in the metadata
    const text = [cell.source].flat().join("");
    if (cell.metadata?.nbgrader?.locked) { // of these only a hint that was taken is the student's
      const taken = HINT.exec(text);
      if (taken && cells.has(id)) found[id] = `${cells.get(id).stored}\n${taken[0].trim()}`;
    } else {
      found[id] = id in found ? `${found[id]}\n\n${text}` : text; // as the grader reads a cell that stands twice
    }
  }
  return found;
}

/** Read a notebook into the page; what is wrong with it, or what was done. */
async function readNotebook(file) {
  const { name } = file;
  let found;
  try {
    const given = JSON.parse(await file.text());
    if ((given.metadata.posenc?.assignment ?? assignment()) !== assignment()) return say(words.work.other, { name });
    found = textsOf(given);
  } catch {
    return say(words.work.no_notebook, { name });
  }
  const known = new Set(notebook.cells.map(({ id }) => id));
  const left = Object.keys(found).filter((id) => !known.has(id));
  if (left.length === Object.keys(found).length) return say(words.work.other, { name });
  if (Object.keys(edited()).length > 0 && !confirm(say(words.work.over, { name }))) return "";
  write(found);
  forgetRuns();
  return say(left.length ? words.work.left_out : words.work.loaded, { name, names: left.join(", ") });
}

// ---- hints ----------------------------------------------------------------------------------------------------------

/** Ask for one hint more, by a call below the check, which stays in the notebook. */
function takeHint(cell, question) {
  const text = textOf(cell), taken = HINT.exec(text);
  const step = taken ? Math.min(Number(taken[1] || 1) + 1, 3) : 1;
  cell.editor.text = `${text.replace(HINT, "").trimEnd()}\ncheck.${question}.hint(${step})`;
  run(cell.id);
}

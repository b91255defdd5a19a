// A student's work on an assignment's page: hints, what this browser keeps, a notebook that is brought back.
// The build puts it before page.js, with which it shares everything.

const HINT = /\n*check\.\w+\.hint\((\d*)\)/; // as a line below a check

/** Ask for one hint more, by a call below the check, which stays in the notebook. */
function takeHint(cell, question) {
  const text = textOf(cell), taken = HINT.exec(text);
  const step = taken ? Math.min(Number(taken[1] || 1) + 1, 3) : 1;
  cell.editor.text = `${text.replace(HINT, "").trimEnd()}\ncheck.${question}.hint(${step})`;
  run(cell.id);
}

const MOST = 64; // megabytes of a notebook, as for the grader
const assignment = () => notebook.metadata.posenc?.assignment; // its number; none on a chapter
let workKey, waits; // where the work is kept; what waits to keep it

/** Put texts into the cells of those names, and leave the others. */
function write(byId) {
  for (const cell of written()) if (typeof byId[cell.id] === "string") cell.editor.text = byId[cell.id];
}

function keepSoon() {
  if (!workKey) return;
  clearTimeout(waits);
  waits = setTimeout(keep, 300);
}

function keep() {
  if (!workKey) return;
  clearTimeout(waits);
  const edited = mine();
  try {
    if (Object.keys(edited).length === 0) localStorage.removeItem(workKey);
    else localStorage.setItem(workKey, JSON.stringify(edited));
    bar.kept.textContent = words.work.kept;
  } catch {
    saysNotKept(); // it refuses, or is full
  }
}

/** Say once that nothing is kept. */
function saysNotKept() {
  if (bar.kept.textContent === words.work.not_kept) return;
  bar.kept.textContent = words.work.not_kept;
  tellWhole(words.work.not_kept);
}

/** Open the work that is kept here, and keep what is written from now on. */
function openWork(page) {
  try {
    write(JSON.parse(localStorage.getItem(`posenc-work-${page}`) ?? "{}"));
  } catch {
    saysNotKept();
  }
  workKey = `posenc-work-${page}`;
  addEventListener("storage", ({ key }) => {
    if (key === workKey) tellWhole(words.work.elsewhere);
  });
  addEventListener("pagehide", keep);
}

/** Take away what came of answers that are not there any more. */
function forgetRuns() {
  for (const cell of cells.values()) {
    if (!cell.element) continue;
    restoreOutput(cell);
    show(cell, "");
  }
}

function clearWork() {
  if (!confirm(words.work.sure)) return;
  for (const cell of written()) if (isEdited(cell)) cell.editor.text = cell.stored;
  forgetRuns();
  keep();
  bar.status.textContent = words.work.cleared;
}

function askForNotebook() {
  const input = make("input", { type: "file", accept: ".ipynb,application/json" });
  input.addEventListener("change", () => loadWork(input.files[0]));
  input.click();
}

/** A cell's name: nbgrader's, else the id, which Colab keeps in the metadata. */
const nameOf = (cell) => cell?.metadata?.nbgrader?.grade_id ?? cell?.id ?? cell?.metadata?.id;

/** The texts of a notebook's cells by name, but for those that are not to be changed. */
function textsOf(given) {
  const found = {};
  for (const cell of given.cells) {
    const id = nameOf(cell);
    if (typeof id !== "string") continue;
    const text = [cell.source].flat().join("");
    if (cell.metadata?.nbgrader?.locked) { // of these only a hint that was taken is the student's
      const taken = HINT.exec(text);
      if (taken && cells.has(id)) found[id] = `${cells.get(id).stored}\n${taken[0].trim()}`;
      continue;
    }
    found[id] = id in found ? `${found[id]}\n\n${text}` : text; // as the grader reads a cell that stands twice
  }
  return found;
}

/** Read a notebook into the page; what is wrong with it, or what was done. */
async function readNotebook(file) {
  const { name } = file;
  if (file.size > MOST * 2 ** 20) return say(words.work.too_large, { name, most: MOST });
  let given;
  try {
    given = JSON.parse(await file.text());
  } catch {
    given = undefined;
  }
  if (!Array.isArray(given?.cells)) return say(words.work.no_notebook, { name });
  const number = given.metadata?.posenc?.assignment ?? assignment();
  if (number !== assignment()) return say(words.work.other, { name, number, ours: assignment() });
  const found = textsOf(given), answers = notebook.cells.filter((cell) => cell.metadata.nbgrader?.solution);
  if (!answers.some(({ id }) => id in found)) return say(words.work.no_cells, { name });
  if (Object.keys(mine()).length > 0 && !confirm(say(words.work.over, { name }))) return "";
  write(found);
  forgetRuns();
  keep();
  const known = new Set(notebook.cells.map(({ id }) => id));
  const left = Object.keys(found).filter((id) => !known.has(id));
  return `${say(words.work.loaded, { name })}${left.length ? ` ${say(words.work.left_out, { names: left.join(", ") })}` : ""}`;
}

async function loadWork(file) {
  if (file) bar.status.textContent = await readNotebook(file);
}

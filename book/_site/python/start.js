// The buttons of a page whose cells can run. Nothing more is loaded until one is pressed.

const assets = new URL(".", document.currentScript.src);
const page = document.currentScript.dataset.page;
let loaded; // the promise that everything for the buttons is there

const load = (name) =>
  new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = new URL(name, assets);
    script.onload = done;
    script.onerror = () => fail(new Error(words.failed.replace("{name}", name)));
    document.head.append(script);
  });

async function loadAll() {
  if (!window.posencHost) await load("../host.js"); // only pages with figures have it from the start
  await load("python.js");
  await Promise.all([load("editor.js"), load(`pages/${page}.js`)]);
  window.posencPython.open(bar, assets, page);
}

/** Load what runs cells; then run one, if it is named. */
async function press(cell) {
  const first = bar.querySelector("button");
  first.setAttribute("aria-disabled", "true"); // and not disabled, which would take the focus from it
  loaded ??= loadAll();
  try {
    await loaded;
  } catch (error) {
    loaded = undefined;
    first.removeAttribute("aria-disabled");
    bar.querySelector("[role=status]").textContent = error.message;
    return;
  }
  if (cell) window.posencPython.run(cell);
}

function button(text, label, pressed) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("click", pressed);
  return element;
}

/** Whether this browser keeps a student's work on the page: work.js writes it. */
function hasWork() {
  try {
    return localStorage.getItem(`posenc-work-${page}`) !== null;
  } catch {
    return false; // a browser may refuse
  }
}

// The theme's own download is of the page as it was handed out: whoever has written on it wants what is written.
document.querySelector(".btn-download-source-button")?.addEventListener("click", async (event) => {
  if (!hasWork()) return;
  event.preventDefault();
  await press();
  window.posencPython?.download();
});

const bar = document.createElement("div");
bar.className = "posenc-python";
const told = document.createElement("span");
told.setAttribute("role", "status");
const what = words.what.replace("{megabytes}", words.megabytes);
told.textContent = location.hash.startsWith("#code=") ? words.with_version : `${hasWork() ? `${words.has_work} ` : ""}${what}`;
if (hasWork()) bar.dataset.state = "waiting"; // in view, wherever on the page a student comes back to
bar.append(button(words.run_page, "", () => press()), told);
(document.querySelector(".posenc-reading") ?? document.querySelector("article h1"))?.after(bar);

for (const cell of document.querySelectorAll(".cell[id^='cell-']")) {
  const tools = document.createElement("div"), id = cell.id.slice("cell-".length);
  tools.className = "posenc-tools";
  tools.append(button(`▸ ${words.run}`, words.run_label.replace("{cell}", id), () => press(id)));
  cell.querySelector(".cell_input")?.append(tools);
  const slider = cell.querySelector(".posenc-run");
  slider?.replaceChildren(button(slider.textContent, "", () => press(id)));
}

// The buttons of a page whose cells can run. Nothing more is loaded until one is pressed.

const assets = new URL(".", document.currentScript.src);
const page = document.currentScript.dataset.page;
const workKey = `posenc-work-${page}`; // what a reader has written on this page, in localStorage: work.js
let loaded; // the promise that everything for the buttons is there

const load = (name) =>
  new Promise((done, fail) => {
    const script = make("script", { src: new URL(name, assets) });
    script.onload = () => {
      script.remove();
      done();
    };
    script.onerror = () => fail(new Error(words.failed.replace("{name}", name)));
    document.head.append(script);
  });

function make(tag, properties = {}, ...children) {
  const { label, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  if (label) element.setAttribute("aria-label", label);
  element.append(...children);
  return element;
}

const button = (textContent, label, onclick) => make("button", { type: "button", textContent, label, onclick });

async function loadAll() {
  if (!window.posencHost) await load("../host.js"); // only pages with figures have it from the start
  await load("python.js");
  await Promise.all([load("editor.js"), load(`pages/${page}.js`)]);
  window.posencPython.open();
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

function hasWork() {
  try {
    return localStorage.getItem(workKey) !== null;
  } catch {
    return false; // a browser may refuse
  }
}

// The theme's own download is of the page as the book has it: whoever has written on it wants what is written.
document.querySelector(".btn-download-source-button")?.addEventListener("click", async (event) => {
  if (!hasWork()) return;
  event.preventDefault();
  await press();
  window.posencPython.download?.();
});

const told = make("span", { role: "status", textContent: hasWork() ? `${words.has_work} ${words.what}` : words.what });
const bar = make("div", { className: "posenc-python" }, button(words.run_page, "", () => press()), told);
if (hasWork()) bar.dataset.state = "waiting"; // in view, wherever on the page a reader comes back to
(document.querySelector(".posenc-reading") ?? document.querySelector("article h1"))?.after(bar);

for (const slider of document.querySelectorAll(".cell .posenc-run")) {
  const id = slider.closest(".cell").id.slice("cell-".length);
  slider.replaceChildren(button(slider.textContent, "", () => press(id)));
}

window.posencPython = { bar, button, load, make, workKey };

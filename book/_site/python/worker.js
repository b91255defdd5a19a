// Python in a worker: takes the packs that the page brings, runs cells, and tells the page what came of them.
// The page and the worker speak in messages; see page.js, which has the other half.

// A page from disk may have no module worker, and Pyodide refuses what still has this; it imports its modules all the same.
self.importScripts = undefined;

const fetchData = fetch.bind(self);
const packs = new Map(); // name -> {bytes, bring}: the promise of a pack, and what keeps it
let python, pageCells, notebook, sitePackages;

/** The promise of a pack's bytes, whether the page has brought it yet or not. */
function pack(name) {
  if (!packs.has(name)) {
    let bring;
    const bytes = new Promise((resolve) => {
      bring = resolve;
    });
    packs.set(name, { bytes, bring });
  }
  return packs.get(name);
}

/** What a pack holds: gzip in base64, which a script can carry on pages that are opened from disk. */
async function unpacked(text) {
  const carried = await fetchData(`data:application/octet-stream;base64,${text}`);
  return new Response(carried.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const tell = (message) => postMessage(message);

/** A module of Pyodide's out of a pack. On a page from disk WebKit takes one from no other address than its own text. */
async function module(name) {
  const text = encodeURIComponent(new TextDecoder().decode(await pack(name).bytes));
  return import(`data:text/javascript;charset=utf-8,${text}`);
}

/** Pyodide asks for its parts by address; they come out of the packs, and nothing comes from anywhere else. */
function answerFromPacks() {
  self.fetch = async (address) => {
    const name = String(address.url ?? address).split("/").pop();
    if (!packs.has(name)) throw new TypeError(`Python in the page has no network, so ${name} is not here`);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(await pack(name).bytes, { headers: { "content-type": type } });
  };
  for (const name of ["XMLHttpRequest", "WebSocket", "EventSource", "WebTransport"]) self[name] = undefined;
}

async function unpack(name) {
  python.unpackArchive(await pack(name).bytes, "zip", { extractDir: sitePackages });
}

async function start({ info }) {
  for (const name of ["pyodide.asm.wasm", "python_stdlib.zip"]) pack(name);
  sitePackages = `/lib/python${/^\d+\.\d+/.exec(info.python)}/site-packages`;
  answerFromPacks();
  const [{ loadPyodide }, { default: createPyodideModule }] = [await module("pyodide.mjs"), await module("pyodide.asm.mjs")];
  python = await loadPyodide({
    indexURL: "http://page.invalid/", // asked of answerFromPacks only
    packageBaseUrl: "http://page.invalid/",
    createPyodideModule,
    lockFileContents: { info, packages: {} },
  });
  await unpack("numpy");
  await unpack("book");
  tell({ is: "loading", what: "import" });
  pageCells = python.pyimport("page_cells");
  const numpy = pageCells.load_numpy();
  notebook = pageCells.open_notebook((told) => tell({ is: "told", ...JSON.parse(told) }));
  tell({ is: "ready", numpy });
}

async function run({ cell, source }) {
  for (const name of pageCells.wants(source).toJs()) {
    if (packs.get(name)?.done) continue;
    tell({ is: "wants", pack: name });
    await unpack(name);
    packs.get(name).done = true;
  }
  tell({ is: "ran", cell, ...JSON.parse(notebook.run(cell, source)) });
}

function move({ number, values }) {
  tell({ is: "moved", number, outputs: JSON.parse(notebook.move(number, JSON.stringify(values))) });
}

let work = Promise.resolve(); // one thing after the other

self.addEventListener("message", ({ data }) => {
  const fails = (error) => tell({ is: "broken", error: String(error?.message ?? error) });
  if (data.do === "bring") unpacked(data.text).then(pack(data.name).bring, fails);
  else work = work.then(() => ({ start, run, move })[data.do](data)).catch(fails);
});

// Python in a worker: takes what the page brings, runs cells, and tells the page what came of them.
// The page and the worker speak in messages; see page.js, which has the other half. `info` stands above: the build writes it.

// A page from disk may have no module worker, and Pyodide refuses what still has this; it imports its modules all the same.
self.importScripts = undefined;

const fetchData = fetch.bind(self);
const parts = new Map(); // name -> the bytes of Pyodide's own files
let python, notebook;

/** What a script brings: gzip in base64, which pages that are opened from disk can load too. */
async function unpacked(text) {
  const carried = await fetchData(`data:application/octet-stream;base64,${text}`);
  return new Response(carried.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** A module of Pyodide's. On a page from disk WebKit takes one from no other address than its own text. */
async function module(name) {
  const text = encodeURIComponent(new TextDecoder().decode(parts.get(name)));
  return import(`data:text/javascript;charset=utf-8,${text}`);
}

/** Start Pyodide, which asks for its parts by address; nothing comes from anywhere else. */
async function boot() {
  self.fetch = async (address) => {
    const name = String(address.url ?? address).split("/").pop();
    if (!parts.has(name)) throw new TypeError(`Python in the page has no network, so ${name} is not here`);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(parts.get(name), { headers: { "content-type": type } });
  };
  for (const name of ["XMLHttpRequest", "WebSocket", "EventSource", "WebTransport"]) self[name] = undefined;
  const [{ loadPyodide }, { default: createPyodideModule }] = [await module("pyodide.mjs"), await module("pyodide.asm.mjs")];
  return loadPyodide({
    indexURL: "http://page.invalid/", // asked of the function above only
    packageBaseUrl: "http://page.invalid/",
    createPyodideModule,
    lockFileContents: { info, packages: {} },
  });
}

const tasks = {
  /** Keep a part of Pyodide; what comes after these are archives of packages. */
  async bring({ name, text }) {
    const bytes = await unpacked(text);
    if (name.includes(".")) return void parts.set(name, bytes);
    python ??= await boot();
    const extractDir = `/lib/python${/^\d+\.\d+/.exec(info.python)}/site-packages`;
    python.unpackArchive(bytes, "zip", { extractDir });
  },
  open() {
    const tell = (cell, output) => postMessage({ cell, output: JSON.parse(output) });
    notebook = python.pyimport("page_cells").open_notebook(tell);
    return { numpy: python.pyimport("numpy").__version__ };
  },
  run: ({ cell, source }) => JSON.parse(notebook.run(cell, source)),
  needed: ({ sources }) => ({ cells: JSON.parse(notebook.needed(JSON.stringify(sources))) }),
  move: ({ of, values }) => ({ outputs: JSON.parse(notebook.move(of, JSON.stringify(values))) }),
};

let work = Promise.resolve(); // one thing after the other

self.addEventListener("message", ({ data: { number, task, ...facts } }) => {
  work = work
    .then(async () => postMessage({ number, ...(await tasks[task](facts)) }))
    .catch((error) => postMessage({ broken: String(error?.message ?? error) }));
});

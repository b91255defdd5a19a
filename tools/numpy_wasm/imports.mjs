// Names what a built module wants and Pyodide does not have: node imports.mjs PYODIDE_FOLDER BUILT_NUMPY
import fs from "node:fs";

const [pyodide, numpy] = process.argv.slice(2);
const compiled = (path) => new WebAssembly.Module(fs.readFileSync(path));
const exported = (module) => WebAssembly.Module.exports(module).map(({ name }) => name);

const offered = new Set(exported(compiled(`${pyodide}/pyodide.asm.wasm`)));
const glue = fs.readFileSync(`${pyodide}/pyodide.asm.mjs`, "utf8");
for (const name of fs.readdirSync(numpy, { recursive: true })) {
  if (!name.endsWith(".so")) continue;
  const module = compiled(`${numpy}/${name}`), own = new Set(exported(module));
  const missing = WebAssembly.Module.imports(module)
    .filter(({ module: from, kind, name: wanted }) => from === "env" && kind === "function"
      && !offered.has(wanted) && !own.has(wanted) && !glue.includes(wanted));
  if (missing.length > 0) console.log(name, ...missing.map(({ name: wanted }) => wanted));
}

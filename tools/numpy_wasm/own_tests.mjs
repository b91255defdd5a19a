// Runs NumPy's own tests on the wheel, in Pyodide: node own_tests.mjs [FILE …]
// What a FILE is: a path within NumPy; without one, those of FILES. README.md says what was found.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const here = import.meta.dirname, root = path.resolve(here, "../..");
const FILES = ["linalg/tests", "fft/tests", "random/tests",
  ...["ufunc", "umath", "umath_complex", "arrayprint", "numeric"].map((name) => `_core/tests/test_${name}.py`)];
const SITE = "/lib/python3.14/site-packages";
const OUTCOMES = ["passed", "failed", "skipped", "xfailed", "xpassed"];
const expected = JSON.parse(fs.readFileSync(`${here}/own_tests.json`, "utf8"));

const python = process.env.PYTHON ?? `${root}/.venv/bin/python`;
const ask = (options, env = {}) => execFileSync(python, options,
  { cwd: root, encoding: "utf8", env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });

/** The folder with what own_tests.txt names, fetched by its hashes. */
function fetched() {
  const folder = `${root}/_build/numpy_own_tests`;
  ask(["-m", "pip", "download", "--quiet", "--require-hashes", "--no-deps", "--no-build-isolation", "--ignore-requires-python",
    "--requirement", `${here}/own_tests.txt`, "--dest", folder], { PYTHONPATH: `${here}/source_only` });
  return folder;
}

const both = "from tools import numpy_wasm, page_parts\nprint(page_parts.make(), numpy_wasm.wheel(), sep='\\n')";
const [pyodide, wheel] = ask(["-c", both]).trim().split("\n").slice(-2);
const downloads = fetched(), named = fs.readFileSync(`${here}/own_tests.txt`, "utf8").matchAll(/^(\w+)==(\S+)/gm);
const names = [...named].map(([, name, version]) => `${name}-${version}`);
const numpy = names.find((name) => name.startsWith("numpy-"));
if (!path.basename(wheel).startsWith(`${numpy}-`)) throw new Error(`own_tests.txt has ${numpy}, and the wheel is ${wheel}`);
const wheels = fs.readdirSync(downloads)
  .filter((file) => file.endsWith(".whl") && names.some((name) => file.startsWith(`${name}-`)));
const started = Date.now();
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));

const own = await loadPyodide({ indexURL: `${pyodide}/` });
for (const archive of [wheel, ...wheels.map((name) => `${downloads}/${name}`)])
  own.unpackArchive(new Uint8Array(fs.readFileSync(archive)), "wheel", { extractDir: SITE });
own.FS.writeFile(`${SITE}/own_tests.py`, fs.readFileSync(`${here}/own_tests.py`));
own.mountNodeFS("/downloads", downloads);
const tests = own.pyimport("own_tests");
tests.unpack(`/downloads/${numpy}.tar.gz`);
tests.stand_in();
const files = process.argv.length > 2 ? process.argv.slice(2) : FILES;
const { counts, failures, status } = JSON.parse(tests.run(...files));

let unexplained = 0;
for (const failure of failures) {
  const why = expected.find(({ failure: part }) => failure.includes(part))?.why;
  if (!why) unexplained += 1;
  console.log(`${why ? `known (${why})` : "NOT KNOWN"}: ${failure.slice(0, 300)}`);
}
const line = (name, count) =>
  console.log(name.padEnd(60), ...OUTCOMES.map((outcome) => `${count[outcome] ?? 0} ${outcome}`.padEnd(13)));
const sum = {};
for (const [file, count] of Object.entries(counts)) {
  line(file, count);
  for (const [outcome, number] of Object.entries(count)) sum[outcome] = (sum[outcome] ?? 0) + number;
}
line("all", sum);
const seconds = Math.round((Date.now() - started) / 1000);
console.log(`${unexplained} failures that own_tests.json does not know; pytest's exit status ${status}; ${seconds} s`);
// of pytest's, 0 is all passed and 1 some failed; anything else is no run
process.exit(unexplained > 0 || status > 1 || !sum.passed ? 1 : 0);

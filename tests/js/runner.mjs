// Runs the package's JavaScript outside a browser, for node.py: a line of JSON comes in, a line of JSON goes out.
//
// { load: [source, …] }                          → exports of ES modules, under a number
// { evaluate: expression, exports, x }           → what an expression of `A`, these exports, and of `x` gives
//
// A definition of a figure is caught instead of being shown (node.py replaces `explorable`); `picture` computes and draws
// it. What a browser brings is replaced by stand-ins that do nothing, and by a canvas that remembers what is written.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const nothing = () => new Proxy(function () {}, {
  get: (target, name) => (name === Symbol.toPrimitive ? () => 0 : name === Symbol.iterator ? undefined : nothing()),
  apply: () => nothing(),
  construct: () => nothing(),
  set: () => true,
});
for (const name of ["document", "window", "OffscreenCanvas", "Path2D", "ImageData", "getComputedStyle", "requestAnimationFrame"]) {
  globalThis[name] ??= nothing();
}
globalThis.matchMedia ??= () => ({ matches: true, addEventListener() {} });

// ---- a canvas that remembers the texts that are written on it, each with its box

let glyphs = {}; // advance, top and bottom of each character in em, of the face in which the book is set
const THEME = { text: "#111111", muted: "#666666", grid: "#dddddd", ground: "#ffffff", font: "13px sans-serif", least: 0 };

function measure(text, { font, textAlign, textBaseline }) {
  const size = Number(/([\d.]+)px/.exec(font)[1]) / 1000, parts = Array.from(text, (letter) => glyphs[letter] ?? [560, 700, -10]);
  const width = size * parts.reduce((sum, [advance]) => sum + advance, 0);
  const before = { center: 0.5, right: 1, end: 1 }[textAlign] ?? 0;
  const down = { top: 750, hanging: 750, middle: 270, bottom: -250, ideographic: -250 }[textBaseline] ?? 0;
  return {
    width,
    actualBoundingBoxLeft: before * width, actualBoundingBoxRight: (1 - before) * width,
    actualBoundingBoxAscent: size * (Math.max(0, ...parts.map(([, top]) => top)) - down),
    actualBoundingBoxDescent: size * (down - Math.min(0, ...parts.map(([, , bottom]) => bottom))),
  };
}

function fakeContext(texts) {
  let state = { font: "13px sans-serif", textAlign: "start", textBaseline: "alphabetic", matrix: [1, 0, 0, 1, 0, 0] };
  const kept = [];
  const by = ([a, b, c, d, e, f]) => {
    const [p, q, r, s, t, u] = state.matrix;
    state.matrix = [p * a + r * b, q * a + s * b, p * c + r * d, q * c + s * d, p * e + r * f + t, q * e + s * f + u];
  };
  const methods = {
    save: () => void kept.push({ ...state }),
    restore: () => void (state = kept.pop() ?? state),
    translate: (x, y) => by([1, 0, 0, 1, x, y]),
    scale: (x, y) => by([x, 0, 0, y, 0, 0]),
    rotate: (angle) => by([Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0]),
    setTransform: (...matrix) => void (state.matrix = matrix),
    getTransform: () => Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name, k) => [name, state.matrix[k]])),
    measureText: (text) => measure(text, state),
    fillText(text, x, y, widest = Infinity) {
      const [a, b, , d, e, f] = state.matrix, box = measure(text, state), narrower = Math.min(1, widest / box.width);
      if (!text || b !== 0) return; // a slanted text is no box
      texts.push({
        text, left: a * (x - narrower * box.actualBoundingBoxLeft) + e, right: a * (x + narrower * box.actualBoundingBoxRight) + e,
        top: d * (y - box.actualBoundingBoxAscent) + f, bottom: d * (y + box.actualBoundingBoxDescent) + f,
      });
    },
  };
  return new Proxy(methods, {
    get: (target, name) => target[name] ?? state[name] ?? nothing(),
    set: (target, name, value) => ((state[name] = value), true),
  });
}

// ---- a figure at one setting: what it computes, says and writes

const LIMIT = 1e15; // no time is too long for a heavy picture

globalThis.picture = ({ definition, sentences }, { state, data, width, steps, files }) => {
  const bring = (name) => new Uint8Array(readFileSync(`${files}/${name}.safetensors`)).buffer;
  const { catalogue } = definition, result = definition.compute(state, width, null, data, files && bring);
  while (result.complete && !result.complete(LIMIT)) void 0;
  const texts = [], height = definition.height(width, state);
  definition.draw({ context: fakeContext(texts), width, height }, result, state, THEME, null);
  const facts = { ...state, done: true, ...definition.facts(result, state, true) };
  const axisOf = (reader) => reader.axis(result, state);
  const within = (reader, value) => (reader.accept ? reader.accept(value, result) : axisOf(reader).nearest(value));
  const cursor = Object.fromEntries(definition.readers.map((reader) => [reader.name, within(reader, axisOf(reader).from)]));
  const readings = definition.readers.flatMap((reader) => ["from", "to"].map((end) => {
    const at = { ...cursor, [reader.name]: within(reader, axisOf(reader)[end]), last: reader.name };
    return sentences.say(catalogue.readout, { ...state, ...at, ...definition.reading(result, state, at) }, catalogue.names);
  }));
  return {
    values: result.values, facts, height, texts, readings,
    handles: definition.handles?.(result, state).map(({ name }) => name) ?? [],
    finding: sentences.sayAll(catalogue.finding, facts, catalogue.names),
    steps: (steps ?? []).map((step) => sentences.say(step.say, facts, catalogue.names)),
  };
};

// ---- lines in, lines out

const handed = [];

async function answer({ load, evaluate, exports, x, letters }) {
  if (letters) return void (glyphs = letters);
  if (load) {
    const all = {};
    for (const source of load) {
      globalThis.caught = undefined;
      const module = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
      for (const name of Object.keys(module)) if (name in all) throw new Error(`two files export ${name}`);
      Object.assign(all, module, globalThis.caught);
    }
    return handed.push(all) - 1;
  }
  return pack(await (0, eval)(`(A, x) => ${evaluate}`)(handed[exports], unpack(x)));
}

// Arrays of numbers travel as bytes; what JSON does not have, by its name.
function pack(value) {
  if (typeof value === "number") {
    const plain = Number.isFinite(value) && !Object.is(value, -0);
    return plain ? value : { number: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (value === null || typeof value !== "object") return value;
  if (ArrayBuffer.isView(value) || (Array.isArray(value) && value.length > 8 && value.every(Number.isFinite))) {
    return { float64: Buffer.from(Float64Array.from(value).buffer).toString("base64") };
  }
  if (Array.isArray(value)) return value.map(pack);
  const defined = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(defined.map(([name, inner]) => [name, pack(inner)]));
}

function unpack(value) {
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.float64 === "string") return Array.from(new Float64Array(Uint8Array.from(Buffer.from(value.float64, "base64")).buffer));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unpack(inner)]));
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = { value: (await answer(JSON.parse(line))) ?? null };
  } catch (error) {
    reply = { error: error.stack };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

// Below the Playground's picture: the next byte's probabilities, what the model writes, and the same in Python.

import { code, table } from "./blocks.js";
import { fixed } from "./numbers.js";
import catalogue from "./playground.json";
import { say } from "./sentences.js";
import { isRotary } from "./transformer_bent.js";

const { blocks, names } = catalogue;

// A byte as one character.
const letter = (byte) => (byte === 10 ? "¶" : byte < 32 || byte === 127 ? "?" : String.fromCharCode(byte));
export const nameOfByte = (byte) => names.bytes[byte] ?? letter(byte);
export const textOf = (bytes) => (bytes ? Array.from(bytes, letter).join("") : "");

const percent = (value) => (Number.isFinite(value) ? fixed(100 * value, 1) : "–");

function nextBytes({ next }, query) {
  const rows = Array.from(next.bytes, (byte, k) => [nameOfByte(byte), percent(next.trained[k]), percent(next.bent[k])]);
  return table({ caption: say(blocks.next, { query }), columns: [blocks.byte, blocks.trained, blocks.bent], rows });
}

function written(label, bytes, fresh) {
  if (fresh === false) return code(label, catalogue.picture.not_yet);
  return code(label, bytes ? String.fromCharCode(...bytes) : bytes === null ? blocks.nothing : catalogue.picture.not_yet);
}

export function blocksOf({ values, query, fresh }, state) {
  const rotary = isRotary(state), { base, pairs, temperature, clamp, window } = state;
  const more = temperature !== 1 || window !== "all" || (rotary && (base !== 1 || pairs !== "" || clamp));
  const python = blocks.python.map((line) => say(line, { ...state, rotary, more }, names)).filter(Boolean).join("\n");
  return [
    nextBytes(values, query),
    written(say(blocks.writes_trained, { query }), values.trained_written, fresh?.trained), written(say(blocks.writes, { query }), values.written, fresh?.written),
    code(blocks.in_python, python),
  ];
}

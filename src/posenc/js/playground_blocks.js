// Below the Playground's picture: the next token's probabilities, what the model writes, and the same in Python.

import { code, table } from "./blocks.js";
import { fixed } from "./numbers.js";
import catalogue from "./playground.json";
import { isCopy, letterOf, tokensOf } from "./playground_session.js";
import { say } from "./sentences.js";
import { WRITTEN, isRotary } from "./transformer_bent.js";

const { blocks, names } = catalogue;

const nameOf = (token, state) => (isCopy(state) ? null : names.bytes[token]) ?? letterOf(token, state);
export const textOf = (tokens, state) => Array.from(tokens, (token) => letterOf(token, state)).join("");

const percent = (value) => (Number.isFinite(value) ? fixed(100 * value, 1) : "–");

function nextTokens({ next }, query, state) {
  const rows = Array.from(next.bytes, (token, k) => [nameOf(token, state), percent(next.trained[k]), percent(next.bent[k])]);
  return table({ caption: say(blocks.next, { query }), columns: [blocks.token, blocks.trained, blocks.bent], rows });
}

function written(label, tokens, fresh, state) {
  if (fresh === false) return code(label, catalogue.picture.not_yet);
  if (!tokens) return code(label, tokens === null ? blocks.nothing : catalogue.picture.not_yet);
  return code(label, isCopy(state) ? textOf(tokens, state) : String.fromCharCode(...tokens));
}

// The tokens that a text has after a position.
export const afterIn = (text, query, state) => tokensOf(text, query + 1 + WRITTEN, state).slice(query + 1);

export function blocksOf({ values, query, fresh, text, model }, state) {
  if (!model) return [];
  const rotary = isRotary(state), { base, pairs, temperature, clamp, window } = state;
  const more = temperature !== 1 || window !== "all" || (rotary && (base !== 1 || pairs !== "" || clamp));
  const facts = { ...state, model, table: state.length + WRITTEN, query, rotary, more, copies: isCopy(state) };
  const python = blocks.python.map((line) => say(line, facts, names)).filter(Boolean).join("\n");
  return [
    nextTokens(values, query, state),
    written(say(blocks.writes_trained, facts), values.trained_written, fresh?.trained, state), written(say(blocks.writes, facts), values.written, fresh?.written, state),
    ...(isCopy(state) ? [code(blocks.right, textOf(afterIn(text, query, state), state))] : []),
    code(blocks.in_python, python),
  ];
}

// A trained Transformer's positional encoding as the Playground's controls change it (transformer_encodings.js).
//
// setting: { preset, factor, fraction, base, pairs, temperature, clamp, window, past_end, length }. `pairs` has a word for
// each dimension pair: "-" as the preset has it, a number for a factor on its trained frequency, "off"; "" is all "-".

import { inverseFrequencies } from "./arithmetic.js";
import { mostNegativePairs } from "./arithmetic_distance_bias.js";
import { configuredFrequencies, scaledFrequencies } from "./arithmetic_scaling.js";
import { clampedChange, trainedEncoding, withBias } from "./transformer_encodings.js";
import runs from "./transformer_runs.json";

export const TRAINED = 128; // tokens
export const WRITTEN = 64; // tokens, after the text
const HEAD_DIM = 32, PAIRS = HEAD_DIM / 2, SINKS = 4;
const BOUNDS = { betaFast: 4, betaSlow: 1 }; // rotations within the trained length, as posenc.lab.evaluate has them
const ROUNDING = 1e-6;
const METHODS = { none: "none", pi: "linear", ntk_aware: "ntk_aware", yarn: "yarn_code" };

export const baseOf = ({ encoding }) => runs.schemes[encoding].base ?? null;
export const isRotary = ({ encoding }) => runs.schemes[encoding].kind === "rope";
export const wordsOf = ({ pairs }) => (pairs ? pairs.split(" ") : new Array(PAIRS).fill("-"));

// `pairs` with the word of one pair changed.
export function withWord(state, pair, word) {
  const words = wordsOf(state).map((old, i) => (i === pair ? word : old));
  return words.every((one) => one === "-") ? "" : words.join(" ");
}

function presetFrequencies({ preset, factor, fraction, base, ...state }) {
  const setting = { dim: HEAD_DIM, base: base * baseOf(state), factor, trained: TRAINED, used: factor * TRAINED, ...BOUNDS };
  if (preset !== "p_rope") return scaledFrequencies(METHODS[preset], setting);
  const frequencies = configuredFrequencies({ ...setting, kind: "proportional", head: HEAD_DIM, share: fraction, factor: 1 });
  return { frequencies, attentionFactor: 1 };
}

// Of a rotary encoding: the frequency of each pair, its factor on the trained one, its gain (0: off), and the factor on
// cosines and sines.
export function bentFrequencies(state) {
  const trained = inverseFrequencies(HEAD_DIM, baseOf(state)), preset = presetFrequencies(state), words = wordsOf(state);
  const own = words.map((word) => (word === "-" || word === "off" ? null : Number(word)));
  const frequencies = trained.map((theta, i) => (own[i] === null ? preset.frequencies[i] : own[i] * theta));
  return {
    frequencies, scales: frequencies.map((theta, i) => theta / trained[i]),
    gains: words.map((word) => (word === "off" ? 0 : 1)), attentionFactor: preset.attentionFactor,
  };
}

// The first pair that made no full rotation within the trained length.
export const firstUnclosed = (state) => inverseFrequencies(HEAD_DIM, baseOf(state)).findIndex((theta) => TRAINED * theta < 2 * Math.PI);

// The greatest distance between two tokens of which one attends to the other, and a token more.
const reachOf = ({ window, length }) => (window === "window" ? Math.min(TRAINED, length) : length);

// Of each pair, whether it reaches angles that training did not show: it made no full rotation within the trained length.
export function unseenPairs(state) {
  const { frequencies, gains } = bentFrequencies(state), reach = reachOf(state);
  return inverseFrequencies(HEAD_DIM, baseOf(state)).map((theta, i) => (
    gains[i] !== 0 && TRAINED * theta < 2 * Math.PI && reach * frequencies[i] > TRAINED * theta * (1 + ROUNDING)
  ));
}

// The pairs of each layer whose learned distance bias is most negative. products[layer][head][pair]: E[q k̄] as trained.
export function clampedPairs(products, state) {
  const trained = inverseFrequencies(HEAD_DIM, baseOf(state));
  return products.map((heads) => mostNegativePairs(heads, trained, TRAINED, 3));
}

function withClamp(encoding, bent, products, state) {
  const weights = bent.gains.map((gain) => (gain * bent.attentionFactor ** 2) / state.temperature);
  return withBias(encoding, clampedChange({
    products: products.map((heads) => heads.map((pairs) => pairs.map((parts, i) => parts.map((part) => weights[i] * part)))),
    frequencies: bent.frequencies, pairs: clampedPairs(products, state), trained: TRAINED, count: state.length + WRITTEN,
  }));
}

// products: E[q k̄] of this model, of a rotary encoding.
export function bentEncoding(model, state, products) {
  const { temperature, window, past_end, length, clamp } = state;
  const trained = trainedEncoding(model, { pastEnd: past_end, length: Math.max(length + WRITTEN, TRAINED) });
  const encoding = {
    ...trained, scale: trained.scale / temperature,
    window: window === "all" ? Infinity : TRAINED, sinks: window === "sinks" ? SINKS : 0,
  };
  if (!trained.rotation) return encoding;
  const bent = bentFrequencies(state), { frequencies, gains, attentionFactor } = bent;
  const rotated = { ...encoding, rotation: { ...trained.rotation, frequencies, gains, attentionFactor } };
  return clamp ? withClamp(rotated, bent, products, state) : rotated;
}

// Whether nothing is bent.
export function isAsTrained(state) {
  const { temperature, window, encoding, clamp } = state;
  if (temperature !== 1 || window !== "all" || encoding === "learned") return false;
  return !isRotary(state) || (!clamp && bentFrequencies(state).scales.every((scale, i) => scale === 1 && wordsOf(state)[i] !== "off"));
}

// Positional encodings of a Transformer (transformer.js): as it was trained, and changed. An encoding is an object:
//
// embed(t)                       what is added to the embedding of the token at position t; null: nothing
// rotation                       of queries and keys, { frequencies, attentionFactor, layout, gains }, frequencies in radians
//                                per token, one for each pair; gains: a factor on each pair's part of q·k, 0 switches it off
// relative                       TENER's terms, { frequencies, u, v }
// bias(layer, head, distance)    what is added to the logit of a key at a distance; null: nothing
// scale                          of q·k, with the attention temperature
// window, sinks                  a query attends to the last `window` tokens, itself included, and to the first `sinks`

import { inverseFrequencies } from "./arithmetic.js";
import { alibiSlopes, t5Bucket } from "./arithmetic_bias.js";
import { clamped, distanceBias } from "./arithmetic_distance_bias.js";
import { sinusoidal } from "./arithmetic_encodings.js";

const PLAIN = { embed: null, rotation: null, relative: null, bias: null, window: Infinity, sinks: 0 };

// Row t of a learned table. Past its end: "refuse" throws, "clamp" gives the last row, "interpolate" stretches the table
// over `length` positions.
function tableRow(table, dim, { pastEnd = "refuse", length = 0 } = {}) {
  const last = table.length / dim - 1, row = (k) => table.subarray(k * dim, (k + 1) * dim);
  const limit = { refuse: last + 1, clamp: Infinity, interpolate: length }[pastEnd];
  return (t) => {
    if (t >= limit) throw new RangeError(`positions must be below ${limit}, got ${t}`);
    const at = pastEnd === "interpolate" ? (t * last) / Math.max(length - 1, 1) : Math.min(t, last), low = Math.floor(at);
    if (low === at) return row(low);
    return row(low).map((value, d) => value + (at - low) * (row(low + 1)[d] - value));
  };
}

const KINDS = {
  none: () => ({}),
  learned: ({ dim, scheme }, options) => ({ embed: tableRow(scheme.table, dim, options) }),
  sinusoidal: ({ dim, scheme }) => ({ embed: (t) => sinusoidal([t], dim, scheme.base)[0] }),
  rope: ({ headDim, scheme: { base, layout } }) => (
    { rotation: { frequencies: inverseFrequencies(headDim, base), attentionFactor: 1, layout, gains: null } }
  ),
  alibi({ heads, scheme }) {
    const slopes = scheme.slopes ?? alibiSlopes(heads);
    return { bias: (layer, head, distance) => -slopes[head] * distance };
  },
  t5: ({ heads, scheme: { table, gain } }) => (
    { bias: (layer, head, distance) => gain * table[t5Bucket(distance) * heads + head], scale: 1 }
  ),
  tener: ({ headDim, scheme: { base, u, v } }) => ({ relative: { frequencies: inverseFrequencies(headDim, base), u, v }, scale: 1 }),
};

// The encoding that a model was trained with. options: { pastEnd, length }, for a learned table.
export function trainedEncoding(model, options) {
  return { ...PLAIN, scale: model.headDim ** -0.5, ...KINDS[model.scheme.kind](model, options) };
}

// An encoding with one more bias.
export function withBias(encoding, more) {
  const { bias } = encoding;
  return { ...encoding, bias: bias ? (...at) => bias(...at) + more(...at) : more };
}

// What clamping the learned distance bias of some pairs past the trained length adds to the logits at distances below
// `count`. products: E[q·k̄] as [real, imaginary], products[layer][head][pair]; pairs[layer]: those that are clamped.
export function clampedChange({ products, frequencies, pairs, trained, count }) {
  const change = products.map((heads, layer) => heads.map((head) => {
    const bias = new Float64Array(count);
    for (const pair of pairs[layer]) {
      distanceBias(head[pair], frequencies[pair], count - 1).forEach((value, distance) => void (bias[distance] += value));
    }
    return clamped(bias, trained).map((value, distance) => value - bias[distance]);
  }));
  return (layer, head, distance) => change[layer][head][distance];
}

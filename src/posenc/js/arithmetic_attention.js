// Attention over a few words, and what position codes change in it. Tables are arrays of rows.

import { dot, inverseFrequencies } from "./arithmetic.js";
import { sinusoidal } from "./arithmetic_encodings.js";
import { normalDraws } from "./arithmetic_random.js";
import { applied, rotationMatrix } from "./arithmetic_rotation.js";

const BASE = 10_000;
const SLOPE = 0.5; // of ALiBi's first head of eight

// The greatest difference between entries of two vectors.
export function apart(first, second) {
  return Math.max(...first.map((value, d) => Math.abs(value - second[d])));
}

export function meanRow(rows) {
  return rows[0].map((_, d) => rows.reduce((sum, row) => sum + row[d], 0) / rows.length);
}

export function product(rows, matrix) {
  return rows.map((row) => matrix[0].map((_, k) => row.reduce((sum, value, i) => sum + value * matrix[i][k], 0)));
}

// softmax((q·kᵀ / √width + bias))·v; a causal query sees itself and what stands before it. Unscaled scores are not
// divided by √width.
export function attention(q, k, v, { causal = false, scaled = true, bias = () => 0 } = {}) {
  const weights = q.map((query, i) => {
    const logits = k.map((key, j) => {
      if (causal && j > i) return -Infinity;
      return dot(query, key) / (scaled ? Math.sqrt(query.length) : 1) + bias(i, j);
    });
    const peak = Math.max(...logits), powers = logits.map((logit) => Math.exp(logit - peak));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  });
  return { weights, output: product(weights, v) };
}

// Row t turned by t·θ_i in each pair of neighbouring entries.
function turned(rows, base) {
  const frequencies = inverseFrequencies(rows[0].length, base);
  return rows.map((row, t) => applied(rotationMatrix(frequencies.map((frequency) => t * frequency), "interleaved"), row));
}

// ALiBi's penalty for one slope, the same to the left and to the right.
function alibiBias(slope) {
  return (i, j) => -slope * Math.abs(i - j);
}

// The random embeddings of so many words, and of each layer the projections to queries, keys and values.
export function drawnWeights(seed, words, width, layers) {
  const draws = normalDraws(seed, words * width + layers * 3 * width * width);
  const table = (start, rows, factor) => (
    Array.from({ length: rows }, (_, r) => Array.from({ length: width }, (_, k) => factor * draws[start + r * width + k]))
  );
  return {
    embeddings: table(0, words, 1),
    projections: Array.from({ length: layers }, (_, layer) => (
      [0, 1, 2].map((which) => table(words * width + (3 * layer + which) * width * width, width, 1 / Math.sqrt(width)))
    )),
  };
}

// The last layer's attention over rows; a layer reads the rows and what all layers before it have put out.
export function attentionLayers(rows, projections, { scheme, causal }) {
  const bias = scheme === "alibi" ? alibiBias(SLOPE) : undefined;
  const code = scheme === "sinusoidal" ? sinusoidal(rows.keys(), rows[0].length, BASE) : null;
  let x = code ? rows.map((row, t) => row.map((value, d) => value + code[t][d])) : rows;
  let attended = null;
  for (const layer of projections) {
    const [q, k, v] = layer.map((projection) => product(x, projection));
    attended = scheme === "rope" ? attention(turned(q, BASE), turned(k, BASE), v, { causal }) : attention(q, k, v, { causal, bias });
    x = x.map((row, t) => row.map((value, d) => value + attended.output[t][d]));
  }
  return attended;
}

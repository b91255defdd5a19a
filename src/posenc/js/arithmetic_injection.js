// The score of a query at one position and a key at another, with an encoding at one of the three injection points, or at none.

import { dot, inverseFrequencies } from "./arithmetic.js";
import { alibiSlopes } from "./arithmetic_bias.js";
import { sinusoidal } from "./arithmetic_encodings.js";
import { applied, rotationMatrix } from "./arithmetic_rotation.js";

const BASE = 100, HEADS = 4, HEAD = 1; // as in Python

export const SLOPE = alibiSlopes(HEADS)[HEAD];

export const encodingOf = (position, dim) => sinusoidal([position], dim, BASE)[0];

// A vector as it enters the dot product, after the input embeddings or the rotation.
export function injected(point, vector, position) {
  const dim = vector.length;
  if (point === "input") {
    const encoding = encodingOf(position, dim);
    return vector.map((value, k) => value + encoding[k]);
  }
  if (point !== "query_key") return vector;
  return applied(rotationMatrix(Array.from(inverseFrequencies(dim, BASE), (frequency) => position * frequency), "interleaved"), vector);
}

export function scoreOf(point, query, key, m, n) {
  const score = dot(injected(point, query, m), injected(point, key, n)) / Math.sqrt(query.length);
  return point === "logits" ? score - SLOPE * Math.abs(m - n) : score;
}

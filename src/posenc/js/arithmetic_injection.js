// The score of a query at one place and a key at another, with a position code at one of the three doors, or at none.

import { dot, inverseFrequencies } from "./arithmetic.js";
import { alibiSlopes } from "./arithmetic_bias.js";
import { sinusoidal } from "./arithmetic_encodings.js";
import { applied, rotationMatrix } from "./arithmetic_rotation.js";

const BASE = 100, HEADS = 4, HEAD = 1; // as in Python

export const SLOPE = alibiSlopes(HEADS)[HEAD];

export const codeOf = (place, dim) => sinusoidal([place], dim, BASE)[0];

// A vector as it comes into the product: what a door before it does with the place.
export function met(door, vector, place) {
  const dim = vector.length;
  if (door === "input") {
    const code = codeOf(place, dim);
    return vector.map((value, k) => value + code[k]);
  }
  if (door !== "query_key") return vector;
  return applied(rotationMatrix(Array.from(inverseFrequencies(dim, BASE), (frequency) => place * frequency), "interleaved"), vector);
}

export function scoreOf(door, { query, key }, m, n) {
  const score = dot(met(door, query, m), met(door, key, n)) / Math.sqrt(query.length);
  return door === "logits" ? score - SLOPE * Math.abs(m - n) : score;
}

// The sinusoidal encoding, as in posenc.absolute: a list of rows, one for each position.

import { inverseFrequencies } from "./arithmetic.js";

// sin(t·θ_i) and cos(t·θ_i) in turn, for an even width.
export function sinusoidal(positions, dim, base) {
  const frequencies = inverseFrequencies(dim, base);
  return Array.from(positions, (t) => {
    const row = new Float64Array(dim);
    for (let i = 0; i < dim / 2; i++) {
      row[2 * i] = Math.sin(t * frequencies[i]);
      row[2 * i + 1] = Math.cos(t * frequencies[i]);
    }
    return row;
  });
}

// The same at `count` consecutive positions: each pair rotates by θ_i from one to the next, which costs no sine or cosine.
export function sinusoidalRun(from, count, dim, base) {
  const frequencies = inverseFrequencies(dim, base), cos = frequencies.map(Math.cos), sin = frequencies.map(Math.sin);
  const encodings = sinusoidal([from], dim, base);
  while (encodings.length < count) {
    const last = encodings[encodings.length - 1], next = new Float64Array(dim);
    for (let i = 0; i < dim; i += 2) {
      next[i] = last[i] * cos[i / 2] + last[i + 1] * sin[i / 2];
      next[i + 1] = last[i + 1] * cos[i / 2] - last[i] * sin[i / 2];
    }
    encodings.push(next);
  }
  return encodings;
}

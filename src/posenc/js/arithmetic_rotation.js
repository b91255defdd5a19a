// Rotation of pairs, by matrices and as complex numbers, as posenc.rotary has it.

import { dot } from "./arithmetic.js";

// The dimensions that make each pair, counted from 0.
export function pairsOf(dim, layout) {
  const half = dim / 2;
  return Array.from({ length: half }, (_, i) => (layout === "half-split" ? [i, i + half] : [2 * i, 2 * i + 1]));
}

// R as rows: a block [[cos, −sin], [sin, cos]] for each pair.
export function rotationMatrix(angles, layout) {
  const dim = 2 * angles.length;
  const rows = Array.from({ length: dim }, () => new Array(dim).fill(0));
  pairsOf(dim, layout).forEach(([a, b], i) => {
    rows[a][a] = rows[b][b] = Math.cos(angles[i]);
    rows[a][b] = -Math.sin(angles[i]);
    rows[b][a] = Math.sin(angles[i]);
  });
  return rows;
}

export function applied(matrix, vector) {
  return matrix.map((row) => dot(row, vector));
}

// The product of two complex numbers, each [real, imaginary].
export function complexProduct([a, b], [c, d]) {
  return [a * c - b * d, a * d + b * c];
}

// q·k̄ for each pair.
export function conjugateProducts(q, k, layout) {
  return pairsOf(q.length, layout).map(([a, b]) => complexProduct([q[a], q[b]], [k[a], -k[b]]));
}

// Σ Re[q·k̄·e^{iφ}], φ the angle between the two positions in each pair.
export function scoreByComplex(q, k, angles, layout) {
  return conjugateProducts(q, k, layout).reduce((sum, product, i) => (
    sum + complexProduct(product, [Math.cos(angles[i]), Math.sin(angles[i])])[0]
  ), 0);
}

// What a matrix W between two sinusoidal codes makes of their offset, as in posenc.analysis. Matrices are lists of rows.

import { dot } from "./arithmetic.js";
import { normalDraws } from "./arithmetic_random.js";

// The matrix that moves a sinusoidal code by `offset` tokens; the identity for 0.
export function shiftMatrix(offset, frequencies) {
  const dim = 2 * frequencies.length;
  const matrix = Array.from({ length: dim }, () => new Float64Array(dim));
  frequencies.forEach((frequency, i) => {
    const cos = Math.cos(offset * frequency), sin = Math.sin(offset * frequency), k = 2 * i;
    matrix[k].set([cos, sin], k);
    matrix[k + 1].set([-sin, cos], k);
  });
  return matrix;
}

// A random matrix that keeps all lengths: normal draws, row by row made orthonormal to the rows before. Twice, since once
// leaves what rounding let through.
export function randomOrthogonal(seed, dim) {
  const draws = normalDraws(seed, dim * dim);
  const matrix = Array.from({ length: dim }, (_, k) => draws.subarray(k * dim, (k + 1) * dim));
  const along = (row, before) => {
    const share = dot(row, before);
    for (let i = 0; i < dim; i++) row[i] -= share * before[i];
  };
  matrix.forEach((row, k) => {
    for (let j = 0; j < k; j++) along(row, matrix[j]);
    for (let j = 0; j < k; j++) along(row, matrix[j]);
    const norm = Math.sqrt(dot(row, row));
    for (let i = 0; i < dim; i++) row[i] /= norm;
  });
  return matrix;
}

// p_mᵀ·W·p_n ÷ (dim/2) at distances m − n = −reach … reach, as a function of m; the first of the codes is that of −reach.
export function offsetProducts(codes, reach, matrix) {
  const dim = matrix.length;
  const columns = matrix.map(() => new Float64Array(dim));
  matrix.forEach((row, k) => {
    for (let i = 0; i < dim; i++) columns[i][k] = row[i] / (dim / 2);
  });
  const through = new Float64Array(dim);
  return (m) => {
    for (let i = 0; i < dim; i++) through[i] = dot(codes[m + reach], columns[i]);
    const products = new Float64Array(2 * reach + 1);
    for (let k = 0; k < products.length; k++) products[k] = dot(through, codes[m + 2 * reach - k]);
    return products;
  };
}

// Least, greatest and mean of each column of a kernel.
export function kernelBand(kernel) {
  const columns = kernel[0].length;
  const low = new Float64Array(columns).fill(Infinity), high = new Float64Array(columns).fill(-Infinity), mean = new Float64Array(columns);
  for (const row of kernel) {
    for (let k = 0; k < columns; k++) {
      if (row[k] < low[k]) low[k] = row[k];
      if (row[k] > high[k]) high[k] = row[k];
      mean[k] += row[k] / kernel.length;
    }
  }
  return { low, high, mean };
}

// The variance of all entries, and the mean over the columns of the variance within one.
function variances(kernel, mean) {
  const count = kernel.length * mean.length, middle = mean.reduce((sum, value) => sum + value, 0) / mean.length;
  let all = 0, within = 0;
  for (const row of kernel) {
    for (let k = 0; k < mean.length; k++) {
      all += (row[k] - middle) ** 2 / count;
      within += (row[k] - mean[k]) ** 2 / count;
    }
  }
  return { all, within };
}

// How much of what the kernel says depends on the position, from 0 to 1.
export function kernelResidual(kernel, { mean }) {
  const { all, within } = variances(kernel, mean);
  return all === 0 ? 0 : Math.sqrt(within / all);
}

// How differently a distance ahead and the same distance back are treated, in standard deviations of all entries.
export function kernelAsymmetry(kernel, { mean }) {
  const { all } = variances(kernel, mean), last = mean.length - 1;
  if (all === 0) return 0;
  let sum = 0;
  for (const row of kernel) for (let k = 0; k <= last; k++) sum += Math.abs(row[k] - row[last - k]);
  return sum / (kernel.length * mean.length) / Math.sqrt(all);
}

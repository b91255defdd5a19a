// Which axis each pair of a head follows in an image, and its angle between two patches, as posenc.widgets.patch_grid has it.

import { inverseFrequencies } from "./arithmetic.js";

export const ROWS = 8;
export const COLUMNS = 12;
export const PAIRS = 16;
// What a pair follows; the last is the index in raster order.
export const TIME = 0;
export const ROW = 1;
export const COLUMN = 2;
const ORDER = 3;

// So many pairs of each axis: one axis after the other, or interleaved, where axis 0 takes the indices left by the others.
export function sections(sizes, interleaved) {
  if (!interleaved) return sizes.flatMap((size, axis) => new Array(size).fill(axis));
  const axes = new Array(sizes.reduce((sum, size) => sum + size, 0)).fill(0);
  for (let axis = 1; axis < sizes.length; axis++) for (let k = 0; k < sizes[axis]; k++) axes[axis + k * sizes.length] = axis;
  return axes;
}

const FOLLOWED = {
  raster: new Array(PAIRS).fill(ORDER),
  axes: Array.from({ length: PAIRS }, (_, i) => (i < PAIRS / 2 ? ROW : COLUMN)),
  blocks: sections([4, 6, 6], false),
  interleaved: sections([6, 5, 5], true),
};

// The axis of each pair, and its frequency in radians per step along that.
export function pairsBy(rule, base) {
  const half = inverseFrequencies(PAIRS, base);
  return { axes: FOLLOWED[rule], frequencies: rule === "axes" ? [...half, ...half] : Array.from(inverseFrequencies(2 * PAIRS, base)) };
}

// By how much each pair rotates from a key to a query so many frames, rows and columns further on, in radians.
export function patchAngles({ axes, frequencies }, frames, down, across) {
  const apart = [frames, down, across, COLUMNS * down + across];
  return frequencies.map((frequency, i) => apart[axes[i]] * frequency);
}

export const meanCosine = (angles) => angles.reduce((sum, angle) => sum + Math.cos(angle), 0) / angles.length;

// Axes of four dimensions that rotate, as posenc.widgets.rotation_planes has them.

import { normalDraws } from "./arithmetic_random.js";

// From the axes of the numbers, at share 0, to those of the two planes, at 1: six rotations, each in a plane of two axes.
export function rotatedAxes(draw, share) {
  const angles = normalDraws(draw, 6), axes = Array.from({ length: 4 }, (_, k) => Float64Array.from({ length: 4 }, (_, j) => Number(j === k)));
  let next = 0;
  for (let a = 0; a < 4; a++) {
    for (let b = a + 1; b < 4; b++) {
      const cos = Math.cos(share * angles[next]), sin = Math.sin(share * angles[next]), [first, second] = [axes[a], axes[b]];
      axes[a] = first.map((value, k) => cos * value - sin * second[k]);
      axes[b] = first.map((value, k) => sin * value + cos * second[k]);
      next++;
    }
  }
  return axes;
}

// The learned distance bias of trained pairs, as posenc.lab.distance_bias has it. A product E[q·k̄] is [real, imaginary].

// Re(c·e^{imθ}) at m = 0 … greatest.
export function distanceBias([real, imaginary], frequency, greatest) {
  return Float64Array.from({ length: greatest + 1 }, (_, m) => real * Math.cos(m * frequency) - imaginary * Math.sin(m * frequency));
}

// The slow pairs with the most negative b = −Im c over the heads: products[head][pair].
export function mostNegativePairs(products, frequencies, trained, count) {
  const b = Array.from(frequencies, (_, pair) => -products.reduce((sum, head) => sum + head[pair][1], 0) / products.length);
  const slow = [...b.keys()].filter((pair) => frequencies[pair] * trained < 2 * Math.PI);
  return slow.sort((first, second) => b[first] - b[second]).slice(0, count).sort((first, second) => first - second);
}

// Past the trained length a bias stays at its mean over the second half of it.
export function clamped(bias, trained) {
  const half = Math.floor(trained / 2);
  let sum = 0;
  for (let m = half; m < trained; m++) sum += bias[m];
  return bias.map((value, m) => (m < trained ? value : sum / (trained - half)));
}

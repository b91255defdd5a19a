// What a code of positions should do, one number for each wish, as in posenc.analysis. Codes are lists of rows.

function distance(first, second) {
  let sum = 0;
  for (let i = 0; i < first.length; i++) {
    const difference = first[i] - second[i];
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}

// apart[k − 1][t] = |PE_{t+k} − PE_t|.
export function distances(codes) {
  const apart = [];
  for (let offset = 1; offset < codes.length; offset++) {
    const there = new Float64Array(codes.length - offset);
    for (let t = 0; t < there.length; t++) there[t] = distance(codes[t + offset], codes[t]);
    apart.push(there);
  }
  return apart;
}

export function leastDistance(apart) {
  let least = Infinity;
  for (const there of apart) for (let t = 0; t < there.length; t++) if (there[t] < least) least = there[t];
  return least;
}

export function greatestNorm(codes) {
  const zero = new Float64Array(codes[0].length);
  return Math.max(...codes.map((row) => distance(row, zero)));
}

// Mean over the offsets below half the length of deviation/mean of the distances.
export function translationResidual(apart) {
  const offsets = Math.floor(apart.length / 2);
  let ratios = 0;
  for (const there of apart.slice(0, offsets)) {
    let sum = 0, squares = 0;
    for (let t = 0; t < there.length; t++) sum += there[t];
    const mean = sum / there.length;
    for (let t = 0; t < there.length; t++) squares += (there[t] - mean) * (there[t] - mean);
    ratios += Math.sqrt(squares / there.length) / (mean || 1);
  }
  return ratios / offsets;
}

// The share of all t < t + a < t + b in which t + b is nearer to t than t + a is. From each t, the distances so far stand
// sorted, so that those which the next one undercuts are found by halving.
export function monotonicityViolations(apart) {
  const rows = apart.length, sorted = new Float64Array(rows);
  let greatest = 0, falls = 0;
  for (const there of apart) for (let t = 0; t < there.length; t++) if (there[t] > greatest) greatest = there[t];
  for (let t = 0; t < rows; t++) {
    for (let k = 0; k < rows - t; k++) {
      const value = apart[k][t];
      let low = 0, high = k;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle] > value) high = middle;
        else low = middle + 1;
      }
      falls += k - low;
      const limit = value - 1e-9 * greatest;
      let at = k;
      for (; at > 0 && sorted[at - 1] > limit; at--) sorted[at] = sorted[at - 1];
      sorted[at] = limit;
    }
  }
  return falls / (((rows + 1) * rows * (rows - 1)) / 6);
}

// The greatest change of a position's code from one table to a longer one.
export function lengthDependence(shorter, longer) {
  return Math.max(...shorter.map((row, t) => distance(row, longer[t])));
}

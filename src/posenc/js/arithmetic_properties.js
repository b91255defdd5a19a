// Desired properties of positional encodings, one number for each, as in posenc.analysis. Encodings are lists of rows.

function distance(first, second) {
  let sum = 0;
  for (let i = 0; i < first.length; i++) {
    const difference = first[i] - second[i];
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}

// apart[t][s] = |PE_t − PE_s| for s < t.
export function distances(codes) {
  return Array.from(codes, (code, t) => Float64Array.from({ length: t }, (_, s) => distance(code, codes[s])));
}

export function minDistance(apart) {
  let least = Infinity;
  for (const row of apart) for (let s = 0; s < row.length; s++) if (row[s] < least) least = row[s];
  return least;
}

// Mean over the offsets below half the length of deviation/mean of the distances.
export function translationResidual(apart) {
  const offsets = Math.floor((apart.length - 1) / 2);
  let ratios = 0;
  for (let offset = 1; offset <= offsets; offset++) {
    const count = apart.length - offset;
    let sum = 0, squares = 0;
    for (let t = 0; t < count; t++) sum += apart[t + offset][t];
    const mean = sum / count;
    for (let t = 0; t < count; t++) squares += (apart[t + offset][t] - mean) * (apart[t + offset][t] - mean);
    ratios += Math.sqrt(squares / count) / (mean || 1);
  }
  return ratios / offsets;
}

// The share of all t < t + a < t + b in which t + b is nearer to t than t + a is. From each t, the distances so far stand
// sorted, so that those which the next one undercuts are found by halving.
export function monotonicityViolations(apart) {
  const rows = apart.length - 1, sorted = new Float64Array(rows);
  let greatest = 0, falls = 0;
  for (const row of apart) for (let s = 0; s < row.length; s++) if (row[s] > greatest) greatest = row[s];
  for (let t = 0; t < rows; t++) {
    for (let k = 0; k < rows - t; k++) {
      const value = apart[t + k + 1][t];
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

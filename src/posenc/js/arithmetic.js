// The arithmetic of the explorables: numbers in, numbers out, no page. tests/book/site compares it with posenc in Python.

export const EULER_GAMMA = 0.5772156649015329;
const TWO_PI = 2 * Math.PI;

// θ_i = base^(−2i/dim), fastest first, in radians per token.
export function inverseFrequencies(dim, base) {
  return Float64Array.from({ length: dim / 2 }, (_, i) => Math.pow(base, (-2 * i) / dim));
}

// Full turns of each pair over `length` tokens.
export function turns(length, frequencies) {
  return frequencies.map((frequency) => (length * frequency) / TWO_PI);
}

// cos(m·θ_i) for every pair at one distance.
export function cosines(distance, frequencies) {
  return frequencies.map((frequency) => Math.cos(distance * frequency));
}

export function mean(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

// Four sums at once: one sum would wait for itself at every step.
export function dot(first, second) {
  const count = first.length, four = count - (count % 4);
  let a = 0, b = 0, c = 0, d = 0;
  for (let k = 0; k < four; k += 4) {
    a += first[k] * second[k];
    b += first[k + 1] * second[k + 1];
    c += first[k + 2] * second[k + 2];
    d += first[k + 3] * second[k + 3];
  }
  for (let k = four; k < count; k++) a += first[k] * second[k];
  return a + b + (c + d);
}

// S(m) at one distance.
export function decay(distance, frequencies) {
  return mean(cosines(distance, frequencies));
}

// 1 − cos of the angle between each pair's rotations at two distances: half their squared difference.
export function differences(first, second, frequencies) {
  return frequencies.map((frequency) => 2 * Math.sin(((first - second) * frequency) / 2) ** 2);
}

// cos and sin of k·step·θ_i for k = 0 … count − 1: a row for each k, made from the row before by one angle addition.
class Phases {
  constructor(pairs, count) {
    this.cos = Array.from({ length: count }, () => new Float64Array(pairs));
    this.sin = Array.from({ length: count }, () => new Float64Array(pairs));
  }

  table(frequencies, step) {
    const { cos, sin } = this, stepCos = frequencies.map((theta) => Math.cos(step * theta)), stepSin = frequencies.map((theta) => Math.sin(step * theta));
    cos[0].fill(1);
    sin[0].fill(0);
    for (let k = 1; k < cos.length; k++) addPhases(cos[k - 1], sin[k - 1], stepCos, stepSin, cos[k], sin[k]);
  }
}

function addPhases(firstCos, firstSin, secondCos, secondSin, cos, sin) {
  for (let i = 0; i < cos.length; i++) {
    cos[i] = firstCos[i] * secondCos[i] - firstSin[i] * secondSin[i];
    sin[i] = firstSin[i] * secondCos[i] + firstCos[i] * secondSin[i];
  }
}

// With p = a·b and q = c·d at each index: the sum of p² + q², and that of p·q.
function squaresOf(a, b, c, d) {
  let squared = 0, crossed = 0;
  for (let i = 0; i < a.length; i++) {
    const p = a[i] * b[i], q = c[i] * d[i];
    squared += p * p + q * q;
    crossed += p * q;
  }
  return [squared, crossed];
}

// The sum over j of |Σ of the first j phases|, each phase one angle and a second one added to it or (sign −1) taken away.
function partialSums(firstCos, firstSin, secondCos, secondSin, sign) {
  let real = 0, imaginary = 0, total = 0;
  for (let i = 0; i < firstCos.length; i++) {
    const cos = secondCos[i], sin = sign * secondSin[i];
    real += firstCos[i] * cos - firstSin[i] * sin;
    imaginary += firstSin[i] * cos + firstCos[i] * sin;
    total += Math.sqrt(real * real + imaginary * imaginary);
  }
  return total;
}

const BLOCK = 128, GROUP = 32; // distances in a block, blocks in a group

// Sums over all pairs at any run of whole distances. A distance is the middle of a block and b more, or b less; the
// phases of the groups, of the blocks in one group and of b are tabled for every pair. The tables are short, so that
// angle additions build up no error that shows.
export class PairSums {
  constructor(pairs, greatest) {
    const groups = Math.floor(greatest / (BLOCK * GROUP)) + 2; // the last distances may belong to the block after
    const [group, block, fine] = [groups, GROUP, BLOCK / 2 + 1].map((count) => new Phases(pairs, count));
    Object.assign(this, { pairs, greatest, group, block, fine, cos: new Float64Array(pairs), sin: new Float64Array(pairs) });
  }

  // Tables the phases of these frequencies; the tables of a slider that moves are filled again, not made again.
  table(frequencies) {
    this.group.table(frequencies, BLOCK * GROUP);
    this.block.table(frequencies, BLOCK);
    this.fine.table(frequencies, 1);
    return this;
  }

  // Calls each(middle, from, to) for every block in start ≤ m < stop, with the phases of its middle in cos and sin; there
  // m − middle goes from `from` to `to`, both included.
  blocks(start, stop, each) {
    const { group, block, cos, sin } = this;
    for (let m = start; m < stop;) {
      const k = Math.floor((m + BLOCK / 2) / BLOCK), g = Math.floor(k / GROUP), middle = k * BLOCK, end = Math.min(stop, middle + BLOCK / 2);
      addPhases(group.cos[g], group.sin[g], block.cos[k % GROUP], block.sin[k % GROUP], cos, sin);
      each(middle, m - middle, end - 1 - middle);
      m = end;
    }
  }

  // Fills score[m] = S(m) and, if asked for, squares[m] = the mean of cos²(m·θ_i), for start ≤ m < stop.
  scores(start, stop, score, squares) {
    const { pairs, cos, sin, fine } = this;
    this.blocks(start, stop, (middle, from, to) => {
      // cos((middle ± b)·θ_i) = cosines ∓ sines, so that one product serves both sides
      for (let b = Math.max(from, -to, 0); b <= Math.max(-from, to); b++) {
        const cosines = dot(cos, fine.cos[b]), sines = dot(sin, fine.sin[b]);
        if (b <= to) score[middle + b] = (cosines - sines) / pairs;
        if (-b >= from) score[middle - b] = (cosines + sines) / pairs;
        if (!squares) continue;
        const [squared, crossed] = squaresOf(cos, fine.cos[b], sin, fine.sin[b]);
        if (b <= to) squares[middle + b] = (squared - 2 * crossed) / pairs;
        if (-b >= from) squares[middle - b] = (squared + 2 * crossed) / pairs;
      }
    });
  }

  // Fills bound[m] = mean over j of |Σ of the first j phases|, over its value at distance 0, (pairs + 1)/2.
  bounds(start, stop, bound) {
    const { pairs, cos, sin, fine } = this;
    this.blocks(start, stop, (middle, from, to) => {
      for (let b = from; b <= to; b++) {
        const total = partialSums(cos, sin, fine.cos[Math.abs(b)], fine.sin[Math.abs(b)], Math.sign(b));
        bound[middle + b] = total / ((pairs * (pairs + 1)) / 2);
      }
    });
  }
}

// Standard deviation of the score over its aligned value at distance 0, for q and k of correlation rho per coordinate.
export function relativeSpread(correlation, meanSquare, pairs) {
  const variancePerPair = 2 * (1 - correlation ** 2) + 4 * correlation ** 2 * meanSquare;
  return Math.sqrt(variancePerPair / pairs) / 2;
}

// The cosine integral Ci(x) for x > 0: its power series near zero, and beyond it the continued fraction of the
// exponential integral E₁(ix) by Lentz's method.
export function cosineIntegral(x) {
  if (x <= 4) {
    let term = 1, sum = 0;
    for (let k = 1; k <= 30; k++) {
      term *= (-x * x) / ((2 * k - 1) * (2 * k));
      sum += term / (2 * k);
      if (Math.abs(term) < 1e-18) break;
    }
    return EULER_GAMMA + Math.log(x) + sum;
  }
  // h = 1/(b₀ + a₁/(b₁ + …)) with b_k = 1 + 2k + ix and a_k = −k²; every quantity is a (real, imaginary) pair.
  const size = 1 + x * x;
  let dRe = 1 / size, dIm = -x / size;
  let hRe = dRe, hIm = dIm;
  let cRe = 0, cIm = 0;
  for (let k = 1; k < 200; k++) {
    const a = -k * k, b = 1 + 2 * k;
    const lowerRe = a * dRe + b, lowerIm = a * dIm + x;
    const lower = lowerRe * lowerRe + lowerIm * lowerIm;
    dRe = lowerRe / lower;
    dIm = -lowerIm / lower;
    const ratio = k === 1 ? 0 : a / (cRe * cRe + cIm * cIm); // c starts at infinity
    const nextRe = b + ratio * cRe;
    cIm = x - ratio * cIm;
    cRe = nextRe;
    const changeRe = cRe * dRe - cIm * dIm, changeIm = cRe * dIm + cIm * dRe;
    const nextH = hRe * changeRe - hIm * changeIm;
    hIm = hRe * changeIm + hIm * changeRe;
    hRe = nextH;
    if (Math.abs(changeRe - 1) + Math.abs(changeIm) < 1e-15) break;
  }
  return -(Math.cos(x) * hRe + Math.sin(x) * hIm);
}

const wholeCosineIntegrals = []; // Ci(m) at whole m does not depend on any slider

// The limit of S(m) for many pairs at a whole distance, (Ci(m) − Ci(m/base)) / ln base.
export function decayLaw(distance, base) {
  if (base === 1) return Math.cos(distance);
  if (distance === 0) return 1;
  const first = (wholeCosineIntegrals[distance] ??= cosineIntegral(distance));
  return (first - cosineIntegral(distance / base)) / Math.log(base);
}

// 1 − (ln m + γ) / ln base, the straight line in ln m that the law follows for 1 ≪ m ≪ base.
export function decayLogarithm(distance, base) {
  return 1 - (Math.log(distance) + EULER_GAMMA) / Math.log(base);
}

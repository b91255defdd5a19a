// The arithmetic of the explorables: numbers in, numbers out, no page. tests/site compares it with posenc in Python.

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

// Each pair's share in the squared difference of two fingerprints; null where the fingerprints are equal.
export function fingerprintDifference(first, second, frequencies) {
  const squared = frequencies.map((frequency) => 4 * Math.sin(((first - second) * frequency) / 2) ** 2);
  const total = squared.reduce((sum, value) => sum + value, 0);
  return total === 0 ? null : squared.map((value) => value / total);
}

// cos and sin of k·step for k = 0 … count − 1: every sixteenth from the library, the rest by one angle addition.
const fineCos16 = new Float64Array(16), fineSin16 = new Float64Array(16);
function addPhases(step, count, cos, sin, offset, stride) {
  for (let k = 0; k < 16; k++) {
    fineCos16[k] = Math.cos(k * step);
    fineSin16[k] = Math.sin(k * step);
  }
  for (let start = 0; start < count; start += 16) {
    const c = Math.cos(start * step), s = Math.sin(start * step);
    for (let k = 0; k < 16 && start + k < count; k++) {
      const at = offset + (start + k) * stride;
      cos[at] = c * fineCos16[k] - s * fineSin16[k];
      sin[at] = s * fineCos16[k] + c * fineSin16[k];
    }
  }
}

const BLOCK = 256;

// Sums over all pairs at any run of whole distances. A distance is 256·a + b; the phases of 256·a and of b are tabled
// for every pair, and one angle addition gives the phase of their sum, so that no error builds up along the run.
export class PairSums {
  constructor(pairs, greatest) {
    Object.assign(this, { pairs, greatest, blocks: Math.floor(greatest / BLOCK) + 1 });
    this.blockCos = new Float64Array(this.blocks * pairs);
    this.blockSin = new Float64Array(this.blocks * pairs);
    this.fineCos = new Float64Array(BLOCK * pairs);
    this.fineSin = new Float64Array(BLOCK * pairs);
  }

  // Tables the phases of these frequencies; the tables of a slider that moves are filled again, not made again.
  table(frequencies) {
    frequencies.forEach((frequency, i) => {
      addPhases(BLOCK * frequency, this.blocks, this.blockCos, this.blockSin, i, this.pairs);
      addPhases(frequency, BLOCK, this.fineCos, this.fineSin, i, this.pairs);
    });
    return this;
  }

  // Fills score[m] = S(m) and, if asked for, squares[m] = the mean of cos²(m·θ_i), for start ≤ m < stop.
  scores(start, stop, score, squares) {
    const { pairs, blockCos, blockSin, fineCos, fineSin } = this;
    for (let m = start; m < stop; m++) {
      const a = Math.floor(m / BLOCK) * pairs, b = (m % BLOCK) * pairs;
      let sum = 0, sumSquares = 0;
      for (let i = 0; i < pairs; i++) {
        const cosine = blockCos[a + i] * fineCos[b + i] - blockSin[a + i] * fineSin[b + i];
        sum += cosine;
        sumSquares += cosine * cosine;
      }
      score[m] = sum / pairs;
      if (squares) squares[m] = sumSquares / pairs;
    }
  }

  // Fills bound[m] = mean over j of |Σ of the first j phases|, over its value at distance 0, (pairs + 1)/2.
  bounds(start, stop, bound) {
    const { pairs, blockCos, blockSin, fineCos, fineSin } = this;
    for (let m = start; m < stop; m++) {
      const a = Math.floor(m / BLOCK) * pairs, b = (m % BLOCK) * pairs;
      let real = 0, imaginary = 0, total = 0;
      for (let i = 0; i < pairs; i++) {
        real += blockCos[a + i] * fineCos[b + i] - blockSin[a + i] * fineSin[b + i];
        imaginary += blockSin[a + i] * fineCos[b + i] + blockCos[a + i] * fineSin[b + i];
        total += Math.sqrt(real * real + imaginary * imaginary);
      }
      bound[m] = total / ((pairs * (pairs + 1)) / 2);
    }
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

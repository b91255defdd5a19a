// What each scheme adds to a logit. The formulas and their sources are in posenc.bias. T5's table is a trained one; what the
// other schemes learn is drawn at random.

import { decay, inverseFrequencies } from "./arithmetic.js";
import { sinusoidal } from "./arithmetic_encodings.js";
import { normalDraws } from "./arithmetic_random.js";

const BUCKETS = 32, MAX_DISTANCE = 128; // T5's
const CODE = 128, BASE = 10_000; // Sandwich's
const HIDDEN = 32, GROWTH = 0.1; // FIRE's network and c
const WIDTH = 4, POSITIONS = 16, SPAN = 32; // of a head, of Transformer-XL's code of a distance, of DeBERTa's table

export function alibiSlopes(heads) {
  const power = 2 ** Math.floor(Math.log2(heads));
  return Array.from({ length: heads }, (_, h) => 2 ** (-8 * (h < power ? (h + 1) / power : (2 * (h - power) + 1) / (2 * power))));
}

// T5's bucket of a distance to an earlier key.
export function t5Bucket(distance) {
  const exact = BUCKETS / 2;
  if (distance < exact) return distance;
  const further = Math.floor(((BUCKETS - exact) * Math.log(distance / exact)) / Math.log(MAX_DISTANCE / exact));
  return Math.min(exact + further, BUCKETS - 1);
}

// Drawn numbers of one kind for one head, kept until the next draw: they do not depend on any other slider.
const kept = { draw: null, numbers: new Map(), projected: new Map() };
function drawn(draw, head, kind, count) {
  if (kept.draw !== draw) Object.assign(kept, { draw, numbers: new Map(), projected: new Map() });
  const seed = (draw * 64 + head) * 8 + kind;
  const ahead = 2 ** Math.ceil(Math.log2(count)); // so that a distance that grows does not draw all again at each step
  if (!(kept.numbers.get(seed)?.length >= count)) kept.numbers.set(seed, normalDraws(seed, ahead));
  return kept.numbers.get(seed);
}

// The product of row i of one table of vectors and row j of another.
function between(first, i, second, j) {
  let sum = 0;
  for (let k = 0; k < WIDTH; k++) sum += first[i * WIDTH + k] * second[j * WIDTH + k];
  return sum;
}

const products = [], codes = []; // by distance: the product of two sinusoidal codes, and the code of the distance
const frequencies = inverseFrequencies(CODE, BASE);

// The codes of the distances, each times a head's projection; kept as the drawn numbers are.
function projectedCodes(draw, head, greatest) {
  const projection = drawn(draw, head, 2, POSITIONS * WIDTH);
  if (!kept.projected.has(head)) kept.projected.set(head, []);
  const projected = kept.projected.get(head);
  for (let m = projected.length / WIDTH; m <= greatest; m++) {
    codes[m] ??= sinusoidal([m], POSITIONS, BASE)[0];
    for (let k = 0; k < WIDTH; k++) {
      let sum = 0;
      for (let p = 0; p < POSITIONS; p++) sum += codes[m][p] * projection[p * WIDTH + k];
      projected.push(sum / Math.sqrt(POSITIONS));
    }
  }
  return projected;
}

// Each scheme: from a setting and a head (from 0) to the bias between query i and key j ≤ i.
const SCHEMES = {
  alibi({ heads }, head) {
    const slope = alibiSlopes(heads)[head];
    return (i, j) => -slope * (i - j);
  },
  t5({ t5 }, head) {
    return (i, j) => t5[head][t5Bucket(i - j)];
  },
  sandwich({ heads }, head) {
    const factor = heads / (8 * (head + 1));
    return (i, j) => factor * (products[i - j] ??= (CODE / 2) * decay(i - j, frequencies));
  },
  kerple_log({ draw }, head) {
    const [r1, r2] = drawn(draw, head, 0, 2).map(Math.exp);
    return (i, j) => -r1 * Math.log1p(r2 * (i - j));
  },
  kerple_power({ draw }, head) {
    const [first, second] = drawn(draw, head, 0, 2);
    const r1 = Math.exp(first - 2), r2 = 2 / (1 + Math.exp(-second));
    return (i, j) => -r1 * (i - j) ** r2;
  },
  fire({ draw, threshold }, head) {
    const hidden = drawn(draw, 0, 1, 2 * HIDDEN), out = drawn(draw, head, 0, HIDDEN);
    return (i, j) => {
      const share = Math.log1p(GROWTH * (i - j)) / Math.log1p(GROWTH * Math.max(i, threshold));
      let sum = 0;
      for (let n = 0; n < HIDDEN; n++) {
        const slope = hidden[n], offset = hidden[HIDDEN + n];
        sum += out[n] * (Math.max(share * slope + offset, 0) - Math.max(offset, 0));
      }
      return (5 * sum) / Math.sqrt(HIDDEN);
    };
  },
  transformer_xl({ draw, distance }, head) {
    const queries = drawn(draw, head, 0, (distance + 1) * WIDTH), keys = drawn(draw, head, 1, (distance + 1) * WIDTH);
    const u = drawn(draw, head, 3, WIDTH), v = drawn(draw, head, 4, WIDTH), projected = projectedCodes(draw, head, distance);
    return (i, j) => (between(queries, i, projected, i - j) + between(u, 0, keys, j) + between(v, 0, projected, i - j)) / Math.sqrt(WIDTH);
  },
  deberta({ draw, distance }, head) {
    const queries = drawn(draw, head, 0, (distance + 1) * WIDTH), keys = drawn(draw, head, 1, (distance + 1) * WIDTH);
    const ofKeys = drawn(draw, head, 2, 2 * SPAN * WIDTH), ofQueries = drawn(draw, head, 3, 2 * SPAN * WIDTH);
    const place = (away) => Math.min(Math.max(away + SPAN, 0), 2 * SPAN - 1);
    return (i, j) => (2 * (between(queries, i, ofKeys, place(i - j)) + between(keys, j, ofQueries, place(j - i)))) / Math.sqrt(3 * WIDTH);
  },
};

// The bias between query i and key j ≤ i in one head (from 0). setting: { scheme, heads, distance, draw, threshold, t5 }, the last a trained table by head and bucket.
export function biasOf(setting, head) {
  return SCHEMES[setting.scheme](setting, head);
}

// Logits, the key itself first, to the share of the attention that falls on so many keys or fewer.
export function sharesWithin(logits) {
  const shares = softmax(logits);
  for (let k = 1; k < shares.length; k++) shares[k] += shares[k - 1];
  return shares;
}

export function softmax(logits) {
  const powers = new Float64Array(logits.length);
  let peak = -Infinity, total = 0;
  for (let k = 0; k < powers.length; k++) peak = Math.max(peak, logits[k]);
  for (let k = 0; k < powers.length; k++) total += powers[k] = Math.exp(logits[k] - peak);
  for (let k = 0; k < powers.length; k++) powers[k] /= total;
  return powers;
}

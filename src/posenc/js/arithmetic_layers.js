// The share of attention that one matching key gets in a layer, by its distance, as posenc.widgets.layer_stack has it.

import { PairSums, inverseFrequencies } from "./arithmetic.js";
import stacks from "./stacks.json";

export const LONGEST = 2 ** 20;
const FLOOR_SCALE = 8192, ATTN_SCALE = 0.1, TOLERANCE = 0.01, TURN = 2 * Math.PI;
const RUN = 4096; // distances between two looks at the clock

export const rotates = (letter) => letter === "R" || letter === "r";
export const isLocal = (letter) => letter === "r" || letter === "n";

// The letter of each layer, from the bottom up.
export function patternOf({ model, layers }) {
  const { period, count } = stacks[model];
  return layers || period.repeat(count).slice(0, count);
}

// The frequencies of the pairs in which a match lies; 0 for those that do not rotate.
export function frequenciesOf({ pairs, turning, base }, matchPairs) {
  const frequencies = inverseFrequencies(2 * pairs, base).fill(0, turning);
  return matchPairs === "slow" ? frequencies.subarray(pairs / 2) : frequencies;
}

// Of one key with this score, in nats, among keys that score 0.
export const matchShare = (score, keys) => 1 / (1 + (keys - 1) * Math.exp(-score));

// Llama 4's factor on the scores of NoPE layers.
export const queryScale = (keys) => 1 + ATTN_SCALE * Math.log1p(Math.floor(keys / FLOOR_SCALE));

// How many pairs are at an angle that no distance below the trained length has.
export function newPairs(distance, frequencies, trained) {
  let count = 0;
  for (const frequency of frequencies) {
    const last = (trained - 1) * frequency, at = (distance * frequency) % TURN;
    if (last < TURN && at > last + TOLERANCE && at < TURN - TOLERANCE) count += 1;
  }
  return count;
}

// S at every distance from 0 on, as far as it was asked for so far.
export class DecayTable {
  constructor(frequencies) {
    const turning = frequencies.filter((frequency) => frequency > 0);
    this.share = turning.length / frequencies.length;
    this.sums = this.share > 0 ? new PairSums(turning.length, LONGEST).table(turning) : null;
    this.score = new Float64Array(0);
    this.filled = 0;
  }

  // Goes on to `stop` distances; says whether it came there before the deadline.
  fill(stop, deadline) {
    if (stop > this.score.length) {
      const score = new Float64Array(Math.min(2 ** Math.ceil(Math.log2(stop)), LONGEST));
      score.set(this.score);
      this.score = score;
    }
    while (this.filled < stop) {
      if (performance.now() > deadline) return false;
      const end = Math.min(this.filled + RUN, stop);
      if (this.sums) this.sums.scores(this.filled, end, this.score);
      for (let m = this.filled; m < end; m++) this.score[m] = this.share * this.score[m] + 1 - this.share;
      this.filled = end;
    }
    return true;
  }

  // Least and greatest S of each column of an axis, [pixel, first, stop], as far as they are filled: `count` columns.
  extremes(columns) {
    if (this.columns !== columns) Object.assign(this, { columns, count: 0, low: new Float64Array(columns.length), high: new Float64Array(columns.length) });
    for (; this.count < columns.length && columns[this.count][2] <= this.filled; this.count++) {
      [this.low[this.count], this.high[this.count]] = this.between(columns[this.count][1], columns[this.count][2]);
    }
    return this;
  }

  between(first, stop) {
    let low = Infinity, high = -Infinity;
    for (let m = first; m < stop; m++) {
      if (this.score[m] < low) low = this.score[m];
      if (this.score[m] > high) high = this.score[m];
    }
    return [low, high];
  }
}

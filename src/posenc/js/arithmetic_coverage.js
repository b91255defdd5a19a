// Which angles a pair of dimensions has met in training, and which are new past it, as posenc.analysis has them.

const TURN = 2 * Math.PI;
const RUN = 256; // angles reached by adding θ, at most one radian, to the one before, until rounding could tell

// Pairs that reach an angle within a length: those with (length − 1)·θ ≥ angle.
export function pairsReaching(frequencies, length, angle) {
  return frequencies.reduce((count, frequency) => count + ((length - 1) * frequency >= angle ? 1 : 0), 0);
}

// Whole numbers strictly between two numbers and within start … stop − 1.
function wholesBetween(low, high, start, stop) {
  return Math.max(0, Math.min(Math.ceil(high), stop) - Math.max(Math.floor(low) + 1, start));
}

// A slow pair has met everything from 0 to its last angle, but for gaps too small to count. Lap by lap, the new angles
// are those between the last and a full turn.
function newOfSlow(frequency, trained, length, tolerance) {
  const last = (trained - 1) * frequency;
  let fresh = 0;
  for (let lap = 0; lap * TURN <= (length - 1) * frequency && last + tolerance < TURN - tolerance; lap++) {
    const low = (lap * TURN + last + tolerance) / frequency, high = ((lap + 1) * TURN - tolerance) / frequency;
    fresh += wholesBetween(low, high, trained, length);
  }
  return fresh;
}

// The circle in sectors no wider than the tolerance: an angle in a sector that training has met is not new; of the
// others, the nearest angles met before and after decide.
class Sectors {
  constructor(tolerance) {
    this.count = Math.ceil(TURN / tolerance);
    this.least = new Float64Array(this.count);
    this.greatest = new Float64Array(this.count);
    this.before = new Float64Array(this.count);
    this.after = new Float64Array(this.count);
  }

  // Marks the angles of positions 0 … trained − 1; says whether every sector has been met.
  meet(frequency, trained) {
    const { least, greatest, count } = this, each = count / TURN;
    least.fill(Infinity);
    greatest.fill(-Infinity);
    let empty = count;
    for (let start = 0; start < trained && empty > 0; start += RUN) {
      let angle = reduced(start * frequency);
      for (let position = start; position < Math.min(start + RUN, trained); position++) {
        const sector = Math.min((angle * each) | 0, count - 1);
        if (least[sector] === Infinity) empty -= 1;
        if (angle < least[sector]) least[sector] = angle;
        if (angle > greatest[sector]) greatest[sector] = angle;
        angle += frequency;
        if (angle >= TURN) angle -= TURN;
      }
    }
    return empty === 0;
  }

  // For each sector, the last angle met before it and the first after it, around the circle.
  neighbours() {
    const { count, least, greatest, before, after } = this;
    let last = greatest.findLast((angle) => angle >= 0) - TURN, next = least.find((angle) => angle < Infinity) + TURN;
    for (let sector = 0; sector < count; sector++) {
      before[sector] = last;
      if (greatest[sector] >= 0) last = greatest[sector];
    }
    for (let sector = count - 1; sector >= 0; sector--) {
      after[sector] = next;
      if (least[sector] < Infinity) next = least[sector];
    }
  }

  newBetween(frequency, start, stop, tolerance) {
    const { least, before, after, count } = this, each = count / TURN;
    let fresh = 0;
    for (let first = start; first < stop; first += RUN) {
      let angle = reduced(first * frequency);
      for (let position = first; position < Math.min(first + RUN, stop); position++) {
        const sector = Math.min((angle * each) | 0, count - 1);
        if (least[sector] === Infinity && angle - before[sector] > tolerance && after[sector] - angle > tolerance) fresh += 1;
        angle += frequency;
        if (angle >= TURN) angle -= TURN;
      }
    }
    return fresh;
  }
}

const reduced = (angle) => angle - TURN * Math.floor(angle / TURN);

// The share of the angles at positions trained … length − 1 that are farther than the tolerance from every angle of
// positions 0 … trained − 1, for one pair after another. A generator, since fast pairs can take a while.
export function* newShares(frequencies, trained, length, tolerance) {
  const sectors = new Sectors(tolerance), positions = length - trained;
  for (const frequency of frequencies) {
    if (positions <= 0) yield 0;
    else if (frequency <= 2 * tolerance) yield newOfSlow(frequency, trained, length, tolerance) / positions;
    else if (sectors.meet(frequency, trained)) yield 0;
    else {
      sectors.neighbours();
      yield sectors.newBetween(frequency, trained, length, tolerance) / positions;
    }
  }
}

import { PairSums, inverseFrequencies, turns } from "./arithmetic.js";
import { correctionRange, scaledFrequencies, turnsAtPair } from "./arithmetic_scaling.js";
import { inside } from "./beside.js";
import { chipsAndList } from "./chips_and_list.js";
import { PANELS, ROUNDING, count, drawPanels, handles, reachesUnseen, panelsHeight, places, upwards } from "./context_panels.js";
import { Axis, cellAxis } from "./drawing.js";
import catalogue from "./context_extension.json";
import { explorable } from "./explorable.js";
import { fillColumns } from "./filling.js";

const COARSE = 120_000; // cosines that one input may cost

function compute(state, width, previous, lists) {
  const { dim, base, factor, trained, used, shown } = state;
  const setting = { dim, base, factor, trained, used, betaFast: state.beta_fast, betaSlow: state.beta_slow };
  const pairs = dim / 2, original = inverseFrequencies(dim, base), place = places(width, shown);
  const same = previous?.pairs.to === pairs - 0.5 && previous.used === used;
  const sums = {};
  const drawn = (name, method) => {
    const scaled = scaledFrequencies(method, setting, lists);
    if (!scaled) return null;
    const { frequencies, attentionFactor } = scaled;
    sums[name] = ((same && previous.sums[name]) || new PairSums(pairs, used)).table(frequencies);
    return {
      wavelength: frequencies.map((theta) => (2 * Math.PI) / theta),
      divisor: frequencies.map((theta, i) => original[i] / theta),
      rotations: turns(used, frequencies),
      score: (same && previous.values[name]?.score) || new Float64Array(used + 1),
      attention_factor: attentionFactor,
    };
  };
  const values = {
    trained_rotations: turns(trained, original),
    ramp: correctionRange(setting, false),
    original: drawn("original", "none"), method: drawn("method", state.method), other: drawn("other", state.other),
  };
  const series = Object.entries(sums).map(([name, sum]) => [sum, values[name].score]);
  const fill = (start, stop) => series.forEach(([sum, score]) => sum.scores(start, stop, score));
  const small = shown === "scores" ? 0 : 4; // within the frame of a small panel
  const x = new Axis({ from: 1, to: used, start: place.scores.left + small, end: place.scores.right - small, log: true });
  const columns = x.columns();
  fill(0, 1); // distance 0 has no place on a logarithmic axis, but is among the values
  const filling = fillColumns(columns, fill, COARSE / (pairs * series.length)), large = place[shown];
  return {
    values, lists, sums, used, x, columns, fill, place, pairs: cellAxis(pairs, large.left, large.right), up: upwards(state, large),
    turnsAt: (pair) => turnsAtPair(pair, setting), ...filling,
  };
}

function chosen(values, state) {
  const drawn = new Map([[state.method, values.method], [state.other, values.other]]);
  return [...drawn].filter(([name, each]) => name !== "none" && each);
}

function facts({ values, lists }, state) {
  const pairs = state.dim / 2, fresh = (each) => count(reachesUnseen(values, each));
  return {
    pairs, times: state.used / state.trained, unscaled: fresh(values.original),
    drawn: chosen(values, state).map(([method, each]) => ({
      method, fresh: fresh(each), kept: count(Array.from(each.divisor, (times) => times <= 1 + ROUNDING)),
    })),
    any: chosen(values, state).length > 0, no_list: !values.method || !values.other, listed: lists.long.length,
  };
}

function reading({ values, fill }, state, { last, pair: i, distance: m }) {
  const drawn = chosen(values, state), { original } = values;
  if (last === "distance") {
    fill(m, m + 1); // the picture may still be coarse here
    return { score: original.score[m], drawn: drawn.map(([method, { score, attention_factor }]) => ({ method, score: score[m], times: attention_factor ** 2 })) };
  }
  return {
    wavelength: original.wavelength[i], trained_rotations: values.trained_rotations[i], rotations: original.rotations[i],
    drawn: drawn.map(([method, { rotations: reached, divisor }]) => ({ method, rotations: reached[i], divisor: divisor[i] })),
  };
}

// A small panel becomes the large one.
function press(x, y, { place }, { shown }) {
  const pressed = PANELS.find((name) => name !== shown && inside(place[name], x, y));
  return pressed ? { shown: pressed } : null;
}

const render = explorable({
  catalogue,
  readers: [
    { name: "pair", axis: ({ pairs }) => pairs, within: ({ place }, { shown }) => (shown === "scores" ? [] : [place[shown]]) },
    { name: "distance", axis: ({ x }) => x, within: ({ place }, { shown }) => (shown === "scores" ? [place.scores] : []) },
  ],
  height: panelsHeight, draw: drawPanels, compute, facts, reading, handles, press,
  controls: { method: chipsAndList },
  pixel: ({ x, up }, distance, value) => [x.at(distance), up.at(value)],
});

export default { render };

import { PairSums, inverseFrequencies, turns } from "./arithmetic.js";
import { correctionRange, scaledFrequencies } from "./arithmetic_scaling.js";
import { NAMES, ROUNDING, count, drawPanels, meetsNew, panelsHeight, places } from "./context_panels.js";
import { Axis, cellAxis } from "./drawing.js";
import catalogue from "./context_extension.json";
import { explorable } from "./explorable.js";
import { fillColumns } from "./filling.js";
import { fixed, grouped, wholeNumber } from "./numbers.js";
import { SharedAxis } from "./shared_axis.js";

const COARSE = 120_000; // cosines that one input may cost

function compute(state, width, previous, lists) {
  const { dim, base, factor, trained, used } = state;
  const setting = { dim, base, factor, trained, used, betaFast: state.beta_fast, betaSlow: state.beta_slow };
  const pairs = dim / 2, original = inverseFrequencies(dim, base), panel = places(width);
  const same = previous?.pairs.to === pairs - 0.5 && previous.used === used;
  const sums = {};
  const drawn = (name, method) => {
    const scaled = scaledFrequencies(method, setting, lists);
    if (!scaled) return null;
    const { frequencies, attentionFactor } = scaled;
    sums[name] = ((same && previous.sums[name]) || new PairSums(pairs, used)).table(frequencies);
    return {
      wavelength: frequencies.map((theta) => (2 * Math.PI) / theta),
      slowed: frequencies.map((theta, i) => original[i] / theta),
      turns: turns(used, frequencies),
      score: (same && previous.values[name]?.score) || new Float64Array(used + 1),
      attention_factor: attentionFactor,
    };
  };
  const values = {
    trained_turns: turns(trained, original),
    ramp: correctionRange(setting, false),
    original: drawn("original", "none"), method: drawn("method", state.method), other: drawn("other", state.other),
  };
  const series = Object.entries(sums).map(([name, sum]) => [sum, values[name].score]);
  const fill = (start, stop) => series.forEach(([sum, score]) => sum.scores(start, stop, score));
  const x = new Axis({ from: 1, to: used, start: panel[3].left, end: panel[3].right, log: true });
  const columns = x.columns();
  fill(0, 1); // distance 0 has no place on a logarithmic axis, but is among the values
  const filling = fillColumns(columns, fill, COARSE / (pairs * series.length));
  const axis = new SharedAxis(cellAxis(pairs, panel[0].left, panel[0].right), panel.slice(0, 3).map(({ left }) => left));
  return { values, lists, sums, used, x, y: new Axis({ from: -1.05, to: 1.05, start: panel[3].bottom, end: panel[3].top }), columns, fill, pairs: axis, panel, ...filling };
}

function chosen(values, state) {
  const drawn = new Map([[state.method, values.method], [state.other, values.other]]);
  return [...drawn].filter(([name, each]) => name !== "none" && each);
}

function finding({ values, lists }, state) {
  const pairs = state.dim / 2, completed = count(Array.from(values.trained_turns, (turned) => turned >= 1));
  const drawn = chosen(values, state);
  const fresh = (each) => count(meetsNew(values, each));
  const said = [`${fresh(values.original)} unscaled`, ...drawn.map(([name, each]) => `${fresh(each)} by ${NAMES[name]}`)];
  const parts = [
    `In the ${wholeNumber(state.trained)} trained tokens ${completed} of ${pairs} pairs completed a turn.`
    + ` In ${wholeNumber(state.used)} tokens pairs meet angles never seen: ${said.join(", ")}.`,
  ];
  for (const [name, { slowed, attention_factor: attention }] of drawn) {
    const kept = count(Array.from(slowed, (times) => times <= 1 + ROUNDING)), times = attention ** 2;
    const slowest = `the slowest ${fixed(slowed[pairs - 1], 2)} times`;
    const some = kept ? `keeps ${kept} ${kept === 1 ? "pair" : "pairs"} and slows ${slowest}` : `slows every pair, the fastest ${fixed(slowed[0], 2)} and ${slowest}`;
    const what = kept === pairs ? "leaves every pair as it was" : some;
    parts.push(`${NAMES[name][0].toUpperCase()}${NAMES[name].slice(1)} ${what}${times === 1 ? "" : `, scores times ${fixed(times, 3)}`}.`);
  }
  if (!values.method || !values.other) parts.push(
    `LongRoPE's factors are searched for one model; the published lists have ${lists.long.length} pairs, not ${pairs}: choose the model that is published with it.`,
  );
  return parts.join(" ");
}

function readout({ values, fill }, state, { last, pair: i, distance: m }) {
  const drawn = chosen(values, state);
  if (last === "distance") {
    fill(m, m + 1); // the picture may still be coarse here
    return [`m = ${wholeNumber(m)}: as trained S ${fixed(values.original.score[m], 4)}`, ...drawn.map(([name, { score }]) => `${NAMES[name]} ${fixed(score[m], 4)}`)].join(" · ");
  }
  const { wavelength, turns: reached } = values.original;
  return [
    `pair ${i}: one turn in ${grouped(wavelength[i])} tokens; turns: ${fixed(values.trained_turns[i], 2)} in training, ${fixed(reached[i], 2)} unscaled`,
    ...drawn.map(([name, each]) => `${fixed(each.turns[i], 2)} by ${NAMES[name]} (÷ ${fixed(each.slowed[i], 2)})`),
  ].join(", ");
}

const render = explorable({
  catalogue,
  readers: [
    { name: "pair", axis: ({ pairs }) => pairs, within: ({ panel }) => panel.slice(0, 3) },
    { name: "distance", axis: ({ x }) => x, within: ({ panel }) => [panel[3]] },
  ],
  height: panelsHeight, draw: drawPanels, compute, finding, readout,
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

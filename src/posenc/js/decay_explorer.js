import { PairSums, decayLaw, decayLogarithm, inverseFrequencies, relativeSpread } from "./arithmetic.js";
import { colours } from "./colours.js";
import { Axis, Plot, legend } from "./drawing.js";
import { explorable } from "./explorable.js";
import { fillColumns } from "./filling.js";
import { fixed, grouped, wholeNumber } from "./numbers.js";

const HEIGHT = 380;
const LAW = [6, 4], LOGARITHM = [1.5, 3]; // dashes
const THIN = 0.012; // differences of a score that a line's width hides
const COARSE = 500_000; // cosines that one input may cost; more are added once the slider rests

// The curves that are switched on: what each writes for start ≤ m < stop, and its cost beside that of S.
function series(state, sums, values, squares) {
  const { base, correlation } = state;
  const pairs = sums.pairs;
  const curves = [{
    cost: 1,
    fill(start, stop) {
      sums.scores(start, stop, values.score, squares);
      if (!squares) return;
      for (let m = start; m < stop; m++) {
        const mean = correlation * values.score[m], spread = relativeSpread(correlation, squares[m], pairs);
        values.low[m] = mean - spread;
        values.high[m] = mean + spread;
      }
    },
  }];
  if (values.bound) curves.push({ cost: 2, fill: (start, stop) => sums.bounds(start, stop, values.bound) });
  if (values.law) curves.push({
    cost: 100 / pairs,
    fill(start, stop) {
      for (let m = start; m < stop; m++) values.law[m] = decayLaw(m, base);
    },
  });
  if (values.logarithm) curves.push({
    cost: 10 / pairs,
    fill(start, stop) {
      for (let m = start; m < stop; m++) values.logarithm[m] = m >= 10 && m <= base / 10 ? decayLogarithm(m, base) : NaN;
    },
  });
  return curves;
}

function compute(state, width, previous) {
  const { base, dim, distance } = state;
  const x = new Axis({ from: state.log_distance ? 1 : 0, to: distance, start: 46, end: width - 12, log: state.log_distance });
  const columns = x.columns();
  const same = previous?.sums.pairs === dim / 2 && previous.sums.greatest === distance;
  const sums = (same ? previous.sums : new PairSums(dim / 2, distance)).table(inverseFrequencies(dim, base));
  const values = {};
  const array = (wanted, ...names) => names.forEach((name) => {
    if (wanted) values[name] = (same && previous.values[name]) || new Float64Array(distance + 1);
  });
  array(true, "score");
  array(state.show_law, "law");
  array(state.show_logarithm, "logarithm");
  array(state.show_bound, "bound");
  array(state.show_score, "low", "high");
  const squares = state.show_score ? (same && previous.squares) || new Float64Array(distance + 1) : null;
  const curves = series(state, sums, values, squares);
  const cost = curves.reduce((sum, curve) => sum + curve.cost, 0);
  const fill = (start, stop) => curves.forEach((curve) => curve.fill(start, stop));
  if (state.log_distance) fill(0, 1); // distance 0 has no place on a logarithmic axis, but is among the values
  fill(distance, distance + 1); // the finding speaks of the last distance at once
  return { x, columns, fill, sums, values, squares, ...fillColumns(columns, fill, COARSE / (cost * sums.pairs)) };
}

const yAxis = (top) => new Axis({ from: -1.05, to: 1.05, start: HEIGHT - 44, end: top });

function draw({ context, width }, result, state, theme, cursor) {
  const { x, columns, filled, values } = result;
  const extremes = (least, greatest) => Plot.extremes(columns, filled, least, greatest);
  const law = state.show_law && Plot.edges(extremes(values.law), THIN);
  const logarithm = state.show_logarithm && Plot.edges(extremes(values.logarithm), THIN);
  const entries = [{ label: "S(m)", colour: colours.score }];
  if (state.show_score) entries.push({ label: `score at ρ = ${fixed(state.correlation, 2)}: mean ± spread`, colour: colours.score, area: true });
  if (law) entries.push({ label: law.banded ? "law, from least to greatest" : "law", colour: theme.text, dash: LAW });
  if (logarithm) entries.push({ label: "logarithm", colour: theme.text, dash: LOGARITHM });
  if (state.show_bound) entries.push({ label: "RoFormer's bound ÷ its value at 0", colour: colours.bound });
  const top = legend(context, theme, entries, x.start, 10, width) + 20;
  const plot = new Plot(context, theme, x, (result.y = yAxis(top)));
  plot.axes({ xTitle: "distance m (tokens)", yTitle: "score ÷ aligned score at distance 0", xTicks: Math.max(3, width / 110) });
  if (state.show_score) plot.area(extremes(values.low, values.high), colours.score);
  if (state.show_bound) plot.curve(extremes(values.bound), colours.bound);
  plot.curve(extremes(values.score), colours.score);
  if (law) plot.dashed(law, theme.text, { dash: LAW });
  if (logarithm) plot.dashed(logarithm, theme.text, { width: 2, dash: LOGARITHM });
  if (cursor !== null) plot.vertical(cursor.distance);
}

function finding({ values }, state, done) {
  const { base, dim, distance, correlation } = state, score = values.score;
  const parts = [];
  if (base === 1) parts.push("With base 1 every pair turns alike: S(m) is cos m and never decays.");
  parts.push(`At ${wholeNumber(distance)} tokens S is ${fixed(score[distance], 3)}${state.show_law ? `, the law ${fixed(values.law[distance], 3)}` : ""}.`);
  if (done) {
    const rise = score.findIndex((value, m) => m > 0 && value > score[m - 1]);
    const below = score.findIndex((value) => value < 0);
    parts.push(
      `Of ${dim / 2} pairs with base ${grouped(base)}, the sum ${rise < 0 ? "falls all the way" : `first rises after ${wholeNumber(rise - 1)}`}`
      + ` and ${below < 0 ? "stays at or above 0" : `first drops below 0 at ${wholeNumber(below)}`}.`,
    );
  }
  if (state.show_score) {
    const mean = (values.low[distance] + values.high[distance]) / 2, spread = (values.high[distance] - values.low[distance]) / 2;
    parts.push(`Queries and keys of correlation ${fixed(correlation, 2)} score ${fixed(mean, 3)} ± ${fixed(spread, 3)} there.`);
  }
  return parts.join(" ");
}

function readout({ fill, values }, state, { distance: m }) {
  fill(m, m + 1); // the picture may still be coarse here
  const parts = [`m = ${wholeNumber(m)}: S ${fixed(values.score[m], 4)}`];
  if (state.show_score) parts.push(`score from ${fixed(values.low[m], 3)} to ${fixed(values.high[m], 3)}`);
  if (state.show_law) parts.push(`law ${fixed(values.law[m], 4)}`);
  if (state.show_logarithm && !Number.isNaN(values.logarithm[m])) parts.push(`logarithm ${fixed(values.logarithm[m], 4)}`);
  if (state.show_bound) parts.push(`bound ${fixed(values.bound[m], 4)}`);
  return parts.join(" · ");
}

const render = explorable({
  title: "Decay explorer",
  hint: "Drag the base from 1 upwards, then lengthen the range. Where does the curve follow its law, and where does it stop falling?",
  readers: [{ name: "distance", label: "Read the curves at a distance", axis: ({ x }) => x }],
  readoutHint: "Point at the picture, or use the slider above, to read it off at any distance.",
  height: () => HEIGHT,
  compute, draw, finding, readout,
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

import { inverseFrequencies, turns } from "./arithmetic.js";
import { clamped, distanceBias, mostNegativePairs } from "./arithmetic_distance_bias.js";
import { colours, pairColour } from "./colours.js";
import { Axis, Plot, cellAxis, legend, widthOf, words } from "./drawing.js";
import catalogue from "./learned_distance_bias.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, DISTANCES = 512, HEAD_DIM = 32, COUNT = 3; // as in Python
const PAIRS = HEAD_DIM / 2, WORDS = 19; // pixels of a line

const sumOf = (biases) => biases.reduce((sum, bias) => sum.map((value, m) => value + bias[m]), new Float64Array(DISTANCES + 1));

function compute({ base, seed, layer, head, clamp, pair, length }, width, previous, { runs }) {
  const run = runs[`${base} ${seed}`], products = run.products[Number(layer) - 1], frequencies = inverseFrequencies(HEAD_DIM, Number(base));
  const meanOf = (of, part) => products.reduce((sum, each) => sum + each[of][part], 0) / products.length;
  const chosen = head === "mean" ? products[0].map((_, of) => [meanOf(of, 0), meanOf(of, 1)]) : products[Number(head) - 1];
  const biases = chosen.map((product, of) => distanceBias(product, frequencies[of], DISTANCES));
  const slow = [...biases.keys()].filter((of) => frequencies[of] * TRAINED < 2 * Math.PI), mostNegative = mostNegativePairs(products, frequencies, TRAINED, COUNT);
  const clampedPairs = {
    none: [], most_negative: mostNegative, other_slow: slow.filter((of) => !mostNegative.includes(of)), fast: [...biases.keys()].filter((of) => !slow.includes(of)), all: [...biases.keys()],
  }[clamp];
  const values = {
    pair: biases[pair],
    all: sumOf(biases),
    clamped: sumOf(biases.map((bias, of) => (clampedPairs.includes(of) ? clamped(bias, TRAINED) : bias))),
    b: Float64Array.from(chosen, ([, imaginary]) => -imaginary),
    clamped_pairs: clampedPairs,
    most_negative: mostNegative,
    losses: run.losses[length],
    within: run.within,
  };
  return { values, frequencies, limits: limitsOf(values, places(width)), ...places(width) };
}

// Whole numbers around all that is drawn, and below it a line of words.
function limitsOf({ pair, all, clamped: withClamp }, { top, bottom }) {
  const every = [pair, all, withClamp].flatMap((bias) => [...bias]), least = Math.min(...every), greatest = Math.ceil(Math.max(...every, 1));
  return [Math.floor(least - ((greatest - least) * WORDS) / (bottom - top - WORDS)), greatest];
}

function places(width) {
  const wide = width >= 600, right = wide ? width - 176 : width - 8, upper = wide ? 232 : 176, bars = upper + 70, low = bars + (wide ? 70 : 46);
  return {
    wide, height: wide ? low + 38 : low + 120,
    x: new Axis({ from: 0, to: DISTANCES, start: 34, end: right }), top: wide ? 34 : 52, bottom: upper,
    pairs: cellAxis(PAIRS, 34, right), bars: { top: bars, bottom: low },
    losses: wide ? { left: right + 22, top: 44, right: width } : { left: 0, top: low + 62, right: width },
  };
}

const yAxis = ({ limits, top, bottom }) => new Axis({ from: limits[0], to: limits[1], start: bottom, end: top });

function draw({ context, width }, result, state, theme, cursor) {
  const { x, values, frequencies } = result, y = (result.y = yAxis(result)), plot = new Plot(context, theme, x, y), colour = pairColour(state.pair, PAIRS);
  const clamps = values.clamped_pairs.length > 0;
  const entries = [{ label: say(picture.pair, state), colour }, { label: picture.all, colour: theme.text, dash: clamps ? [2, 3] : [] }];
  if (clamps) entries.push({ label: picture.clamped, colour: colours.score });
  legend(context, theme, entries, x.start, 8, x.end);
  plot.ground(TRAINED, DISTANCES, colours.neutral, 0.13);
  plot.axes({ xTitle: picture.x, yTitle: picture.y, yText: (value) => fixed(value, 0) });
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  plot.vertical(TRAINED, { colour: theme.muted, dash: [] });
  plot.series(values.all, theme.text, { width: 1.6, dash: clamps ? [2, 3] : [] });
  if (clamps) plot.series(values.clamped, colours.score, { width: 2.6 });
  plot.series(values.pair, colour, { width: 3 });
  const room = widthOf(context, theme.font, picture.trained) + 5;
  words(context, theme, picture.trained, Math.max(x.at(TRAINED) - 5, x.start + room), y.start - 9, { align: "right", ground: true });
  words(context, theme, picture.unseen, x.at(TRAINED) + 6, y.start - 9, { ground: true });
  if (cursor?.last === "distance") plot.vertical(cursor.distance);
  drawBars(context, theme, result, state, cursor);
  drawLosses(context, theme, result, state);
}

function drawBars(context, theme, { values, pairs, bars, wide }, { pair }, cursor) {
  const most = Math.max(...values.b.map(Math.abs), 1), y = new Axis({ from: -most, to: most, start: bars.bottom, end: bars.top });
  const plot = new Plot(context, theme, pairs, y), step = pairs.at(1) - pairs.at(0);
  words(context, theme, picture.bars, pairs.start, bars.top - 12, { colour: theme.text, bold: true, width: pairs.end - pairs.start });
  if (values.clamped_pairs.length) words(context, theme, picture.clamped_mark, pairs.start, bars.bottom + 30, { colour: colours.score });
  values.b.forEach((b, of) => {
    plot.bar(pairs.at(of), 0.7 * step, b, pairColour(of, PAIRS));
    if (values.clamped_pairs.includes(of)) words(context, theme, "■", pairs.at(of), bars.bottom + 2, { align: "center", colour: colours.score });
    if (values.most_negative.includes(of)) words(context, theme, "−", pairs.at(of), y.at(0) - 8, { align: "center", colour: theme.text, bold: true });
  });
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  for (const chosen of [pair, cursor?.last === "bar" ? cursor.bar : null]) {
    if (chosen === null) continue;
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.strokeRect(pairs.at(chosen - 0.45), bars.top - 4, 0.9 * step, bars.bottom - bars.top + 8);
  }
  for (let of = 0; of < PAIRS; of += 2) words(context, theme, String(of), pairs.at(of), bars.bottom + 15, { align: "center" });
  words(context, theme, picture.pairs, pairs.end, bars.bottom + 30, { align: "right" });
}

// The measured loss within the trained length, as trained, and with what is clamped.
function drawLosses(context, theme, { values, losses: { left, top, right }, wide }, state) {
  const scale = new Axis({ from: 0, to: 4, start: left, end: right - 40 });
  const rows = [[picture.unclamped, values.losses.none, colours.bound], [picture.with_clamp, values.losses[state.clamp], colours.score], [say(picture.within, { trained: TRAINED }), values.within, colours.neutral]];
  words(context, theme, picture.losses.map((text) => say(text, state)), left, top - (wide ? 20 : 12), { colour: theme.text, bold: true, width: right - left });
  rows.filter((_, k) => k !== 1 || state.clamp !== "none").forEach(([label, loss, colour], k) => {
    const at = top + (wide ? 52 * k : 22 * k + 6), bar = wide ? at + 12 : at - 6, from = wide ? scale.start : scale.start + 130;
    words(context, theme, label, left, wide ? at + 2 : at, { width: wide ? right - left : 126 });
    context.fillStyle = colour;
    const long = ((scale.at(loss) - scale.start) * (scale.end - from)) / (scale.end - scale.start);
    context.fillRect(from, bar, long, 14);
    words(context, theme, say(picture.value, { loss }), from + long + 5, bar + 8, { colour: theme.text, bold: true });
  });
}

function facts({ values, frequencies }, { pair, clamp }) {
  return {
    trained: TRAINED, b_pair: values.b[pair], rotations: turns(TRAINED, frequencies)[pair], at_trained: values.pair[TRAINED], at_far: values.pair[2 * TRAINED],
    unclamped: values.losses.none, loss: values.losses[clamp], within: values.within, is_most_negative: values.most_negative.includes(pair),
  };
}

function reading({ values, frequencies }, state, { distance, bar }) {
  return {
    of_pair: values.pair[distance], of_all: values.all[distance], of_clamped: values.clamped[distance],
    b_bar: values.b[bar], wavelength: (2 * Math.PI) / frequencies[bar],
  };
}

const onBars = ({ pairs, bars }) => [{ left: pairs.start, right: pairs.end, top: bars.top - 4, bottom: bars.bottom + 4 }];

const render = explorable({
  catalogue,
  readers: [
    { name: "distance", axis: ({ x }) => x, within: ({ x, top, bottom }) => [{ left: x.start, right: x.end, top, bottom }] },
    { name: "bar", axis: ({ pairs }) => pairs, within: onBars },
  ],
  height: (width) => places(width).height,
  compute, draw, facts, reading,
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = onBars(result);
    return px >= left && px <= right && py >= top && py <= bottom ? { pair: result.pairs.nearest(result.pairs.invert(px)) } : null;
  },
  pixel: (result, distance, value) => [result.x.at(distance), yAxis(result).at(value)],
});

export default { render };

import { inverseFrequencies, turns } from "./arithmetic.js";
import { softmax } from "./arithmetic_bias.js";
import { clamped, distanceBias, mostNegativePairs } from "./arithmetic_distance_bias.js";
import { colours, pairColour } from "./colours.js";
import { Axis, Plot, cellAxis, grip, legend, widthOf, words } from "./drawing.js";
import catalogue from "./learned_distance_bias.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LENGTH = 256, HEAD_DIM = 32, COUNT = 3; // as in Python
const PAIRS = HEAD_DIM / 2, BIN = 16; // distances of one bar

const sumOf = (biases) => biases.reduce((sum, bias) => sum.map((value, m) => value + bias[m]), new Float64Array(LENGTH + 1));

// The attention weights of the last token of a text, if all keys had the same content: a sum for every BIN distances.
function weightsOf(bias) {
  const weights = softmax(bias.subarray(0, LENGTH));
  return Array.from({ length: LENGTH / BIN }, (_, k) => weights.subarray(k * BIN, (k + 1) * BIN).reduce((sum, weight) => sum + weight, 0));
}

function compute({ base, seed, layer, head, clamp, pair }, width, previous, { runs }) {
  const run = runs[`${base} ${seed}`], products = run.products[Number(layer) - 1], frequencies = inverseFrequencies(HEAD_DIM, Number(base));
  const meanOf = (of, part) => products.reduce((sum, each) => sum + each[of][part], 0) / products.length;
  const chosen = head === "mean" ? products[0].map((_, of) => [meanOf(of, 0), meanOf(of, 1)]) : products[Number(head) - 1];
  const biases = chosen.map((product, of) => distanceBias(product, frequencies[of], LENGTH));
  const every = [...biases.keys()], slow = every.filter((of) => frequencies[of] * TRAINED < 2 * Math.PI), mostNegative = mostNegativePairs(products, frequencies, TRAINED, COUNT);
  const clampedPairs = {
    none: [], most_negative: mostNegative, other_slow: slow.filter((of) => !mostNegative.includes(of)), fast: every.filter((of) => !slow.includes(of)), all: every,
  }[clamp];
  const all = sumOf(biases), kept = sumOf(biases.map((bias, of) => (clampedPairs.includes(of) ? clamped(bias, TRAINED) : bias)));
  const values = {
    pair: biases[pair], all, clamped: kept,
    weights: weightsOf(all), clamped_weights: weightsOf(kept),
    b: Float64Array.from(chosen, ([, imaginary]) => -imaginary),
    clamped_pairs: clampedPairs,
    most_negative: mostNegative,
    losses: run.losses,
    within: run.within,
  };
  const place = places(width), drawn = [values.pair, all, kept].flatMap((bias) => [...bias]);
  return { values, frequencies, ...place, y: new Axis({ from: Math.floor(Math.min(...drawn)), to: Math.ceil(Math.max(...drawn, 1)), start: place.curves.bottom, end: place.curves.top }) };
}

function places(width) {
  const wide = width >= 600, start = 34, end = wide ? width - 176 : width - 8, low = wide ? 180 : 132, shares = low + (wide ? 80 : 60), bars = shares + (wide ? 110 : 86);
  return {
    wide, x: new Axis({ from: 0, to: LENGTH, start, end }), curves: { top: 36, bottom: low },
    shares: { top: low + 24, bottom: shares }, pairs: cellAxis(PAIRS, start, end), bars: { top: shares + 58, bottom: bars },
    losses: wide ? { left: end + 22, top: 52, right: width } : { left: 0, top: bars + 44, right: width }, height: bars + (wide ? 26 : 94),
  };
}

function draw(canvas, result, state, theme, cursor) {
  drawCurves(canvas, result, state, theme);
  drawWeights(canvas, result, theme);
  drawBars(canvas, result, state, theme, cursor);
  drawLosses(canvas, result, state, theme);
}

const spotOf = ({ x, y, values }, { distance }) => [x.at(distance), y.at(values.clamped[distance])];

function drawCurves({ context }, result, state, theme) {
  const { x, y, values } = result, plot = new Plot(context, theme, x, y), colour = pairColour(state.pair, PAIRS), clamps = values.clamped_pairs.length > 0;
  const entries = [{ label: say(picture.pair, state), colour }, { label: picture.all, colour: theme.text, dash: clamps ? [2, 3] : [] }];
  if (clamps) entries.push({ label: picture.clamped, colour: colours.score });
  legend(context, theme, entries, result.wide ? x.start : 0, 8, x.end);
  plot.ground(TRAINED, LENGTH, colours.neutral, 0.13);
  plot.axes({ xTitle: "", yTitle: picture.y, yTicks: 4, xText: () => "", yText: (value) => fixed(value, 0) });
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  plot.series(values.pair, colour, { width: 2.6 });
  plot.series(values.all, theme.text, { width: 1.4, dash: clamps ? [2, 3] : [] });
  if (clamps) plot.series(values.clamped, colours.score, { width: 2 });
  const [across, up] = spotOf(result, state), { bias, factor } = factsOfKey(result, state), text = say(picture.key, { bias, factor });
  const half = widthOf(context, `600 ${theme.font}`, text) / 2;
  plot.rule([across, y.at(0)], [across, up], { colour: theme.text, width: 2, dash: [] });
  grip(context, theme, across, up, clamps ? colours.score : theme.text);
  words(context, theme, text, Math.min(Math.max(across, x.start + half + 4), x.end - half - 4), up < (y.start + y.end) / 2 ? Math.max(up, y.end) + 19 : Math.min(up, y.start) - 19, { align: "center", bold: true, colour: theme.text, ground: true });
}

// How much of the attention each distance gets from the bias alone: as trained as a frame, with what is clamped in teal.
function drawWeights({ context }, { x, shares, values }, theme) {
  const { weights, clamped_weights: kept, clamped_pairs: pairs } = values;
  const plot = new Plot(context, theme, x, new Axis({ from: 0, to: 1.6 * Math.max(...weights, ...kept), start: shares.bottom, end: shares.top })), wide = x.at(BIN) - x.at(0);
  plot.ground(TRAINED, LENGTH, colours.neutral, 0.13);
  words(context, theme, picture.weights, x.start, shares.top - 10, { width: x.end - x.start });
  kept.forEach((share, k) => plot.bar(x.at((k + 0.5) * BIN), wide - 2, share, pairs.length ? colours.score : theme.muted));
  context.strokeStyle = theme.text;
  context.lineWidth = 1;
  if (pairs.length) weights.forEach((share, k) => context.strokeRect(x.at(k * BIN) + 1, plot.y.at(share), wide - 2, shares.bottom - plot.y.at(share)));
  for (let tick = 0; tick <= LENGTH; tick += 64) words(context, theme, String(tick), x.at(tick) + (tick === LENGTH ? 8 : 0), shares.bottom + 11, { align: tick === LENGTH ? "right" : "center" });
  words(context, theme, picture.x, x.at(TRAINED), shares.bottom + 27, { align: "center" });
  const far = shareOf(kept);
  for (const [text, share, from] of [[picture.trained, 1 - far, 0], [picture.unseen, far, TRAINED]]) {
    words(context, theme, say(text, { share: 100 * share }), x.at(from + TRAINED / 2), shares.top + 9, { align: "center", bold: true, colour: theme.text });
  }
}

function drawBars({ context }, { values, pairs, bars }, { pair }, theme, cursor) {
  const most = Math.max(...values.b.map(Math.abs), 1), plot = new Plot(context, theme, pairs, new Axis({ from: -most, to: most, start: bars.bottom, end: bars.top })), step = pairs.at(1) - pairs.at(0);
  words(context, theme, picture.bars, pairs.start, bars.top - 12, { width: pairs.end - pairs.start });
  values.b.forEach((b, of) => {
    plot.bar(pairs.at(of), 0.7 * step, b, pairColour(of, PAIRS));
    if (values.clamped_pairs.includes(of)) words(context, theme, "■", pairs.at(of), bars.top + 6, { align: "center", colour: colours.score });
  });
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  for (const chosen of [pair, cursor?.bar ?? pair]) {
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.strokeRect(pairs.at(chosen - 0.45), bars.top - 2, 0.9 * step, bars.bottom - bars.top + 4);
  }
  for (let of = 0; of < PAIRS; of += 2) words(context, theme, String(of), pairs.at(of), bars.bottom + 13, { align: "center" });
}

// The measured loss: as trained, with what is clamped, and within the trained length.
function drawLosses({ context }, { values, losses: { left, top, right }, wide }, { clamp }, theme) {
  const facts = { trained: TRAINED, length: LENGTH }, rows = [[picture.unclamped, values.losses.none, colours.bound], [picture.with_clamp, values.losses[clamp], colours.score], [say(picture.within, facts), values.within, colours.neutral]];
  words(context, theme, picture.losses.map((text) => say(text, facts)), left, top - (wide ? 24 : 14), { colour: theme.text, bold: true, width: right - left });
  const from = left + (wide ? 0 : 84), scale = new Axis({ from: 0, to: 4, start: from, end: right - 38 });
  rows.forEach(([label, loss, colour], k) => {
    if (k === 1 && clamp === "none") return;
    const at = top + (wide ? 56 * k : 18 * k + 4), bar = wide ? at + 12 : at - 7;
    words(context, theme, label, left, at, { width: wide ? right - left : 80 });
    context.fillStyle = colour;
    context.fillRect(from, bar, scale.at(loss) - from, wide ? 18 : 14);
    words(context, theme, say(picture.value, { loss }), scale.at(loss) + 5, bar + (wide ? 10 : 8), { colour: theme.text, bold: true });
  });
}

const shareOf = (weights) => weights.slice(TRAINED / BIN).reduce((sum, weight) => sum + weight, 0);
const factsOfKey = ({ values }, { distance }) => ({ bias: values.clamped[distance], factor: Number(Math.exp(values.clamped[distance]).toPrecision(2)) });

function facts(result, state) {
  const { values, frequencies } = result, { pair, clamp } = state;
  return {
    trained: TRAINED, length: LENGTH, rotations: turns(TRAINED, frequencies)[pair], at_trained: values.pair[TRAINED], at_far: values.pair[LENGTH],
    share: 100 * shareOf(values.clamped_weights), unclamped: values.losses.none, loss: values.losses[clamp], within: values.within,
    is_most_negative: values.most_negative.includes(pair), ...factsOfKey(result, state),
  };
}

const reading = ({ values, frequencies }, state, { bar }) => ({ b_bar: values.b[bar], wavelength: (2 * Math.PI) / frequencies[bar] });

const onBars = ({ pairs, bars }) => [{ left: pairs.start, right: pairs.end, top: bars.top - 4, bottom: bars.bottom + 4 }];

const render = explorable({
  catalogue,
  readers: [{ name: "bar", axis: ({ pairs }) => pairs, within: onBars }],
  height: (width) => places(width).height,
  compute, draw, facts, reading,
  handles(result, state) {
    const [x, y] = spotOf(result, state);
    return [{ name: "distance", x, y, along: "x", drag: (across) => ({ distance: result.x.invert(across) }) }];
  },
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = onBars(result);
    return px >= left && px <= right && py >= top && py <= bottom ? { pair: result.pairs.nearest(result.pairs.invert(px)) } : null;
  },
  pixel: ({ pairs, bars }, pair) => [pairs.at(pair), bars.bottom],
});

export default { render };

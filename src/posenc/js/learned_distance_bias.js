import { inverseFrequencies, turns } from "./arithmetic.js";
import { softmax } from "./arithmetic_bias.js";
import { clamped, distanceBias, mostNegativePairs } from "./arithmetic_distance_bias.js";
import { nameCurves } from "./labels.js";
import { colours, pairColour, shade } from "./colours.js";
import { Axis, Plot, ruler, sized, widthOf, words } from "./drawing.js";
import catalogue from "./learned_distance_bias.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LONGEST = 256, HEAD_DIM = 32, COUNT = 3; // as in Python
const PAIRS = HEAD_DIM / 2, BIN = 16; // distances of one cell of the sequence
const AROUND = 7; // distances to either side over which the bold curve is a mean, twice
const POWER = 2 * Math.log(10), LEAST = -11.5, MOST = 7.5; // a line for each factor of 100; the axis holds this at least
const TOP = 24, LEFT = 62, RIGHT = 12, FOOT = 20, BELOW = 84; // pixels, of them below the axis for its ticks, title and the losses

const sumOf = (biases) => biases.reduce((sum, bias) => sum.map((value, m) => value + bias[m]), new Float64Array(LONGEST + 1));

// The attention weights of the last token of a sequence, if all keys had the same content: a sum for every BIN distances.
function weightsOf(bias, length) {
  const weights = softmax(bias.subarray(0, length));
  return Array.from({ length: LONGEST / BIN }, (_, k) => weights.subarray(k * BIN, (k + 1) * BIN).reduce((sum, weight) => sum + weight, 0));
}

function compute({ base, seed, layer, head, clamp, pair, length, show_pair: showsPair }, width, previous, { runs }) {
  const run = runs[`${base} ${seed}`], products = run.products[Number(layer) - 1], frequencies = inverseFrequencies(HEAD_DIM, Number(base));
  const ofHeads = (of, part) => products.reduce((sum, each) => sum + each[of][part], 0) / products.length;
  const chosen = head === "mean" ? products[0].map((_, of) => [ofHeads(of, 0), ofHeads(of, 1)]) : products[Number(head) - 1];
  const biases = chosen.map((product, of) => distanceBias(product, frequencies[of], LONGEST));
  const every = [...biases.keys()], slow = every.filter((of) => frequencies[of] * TRAINED < 2 * Math.PI), mostNegative = mostNegativePairs(products, frequencies, TRAINED, COUNT);
  const clampedPairs = {
    none: [], most_negative: mostNegative, other_slow: slow.filter((of) => !mostNegative.includes(of)), fast: every.filter((of) => !slow.includes(of)), all: every,
  }[clamp];
  const all = sumOf(biases), kept = sumOf(biases.map((bias, of) => (clampedPairs.includes(of) ? clamped(bias, TRAINED) : bias)));
  const values = {
    pair: biases[pair], all, clamped: kept,
    weights: weightsOf(all, length), clamped_weights: weightsOf(kept, length),
    b: Float64Array.from(chosen, ([, imaginary]) => -imaginary),
    clamped_pairs: clampedPairs,
    most_negative: mostNegative,
    losses: run.losses,
    within: run.within,
  };
  const place = places(width), { top, bottom } = place.curves;
  const course = [...meanOf(all).map(([, value]) => value), ...values.pair], least = Math.min(LEAST, ...course), most = Math.max(MOST, ...course);
  const from = least - ((most - least) / (bottom - top - FOOT)) * FOOT; // names stand below the curves
  return { values, frequencies, clamps: clamp !== "none", ...place, y: new Axis({ from, to: most, start: bottom, end: top }) };
}

// The sequence above, shaded by attention, and below it the bias that this comes from.
function places(width) {
  const wide = width >= 600, height = wide ? 430 : 361, shares = { top: 70, bottom: wide ? 98 : 90 };
  return {
    height, x: new Axis({ from: 0, to: LONGEST, start: LEFT, end: width - RIGHT }),
    shares, ruler: shares.bottom + 16, curves: { top: shares.bottom + 52, bottom: height - BELOW },
  };
}

function draw({ context, height }, result, state, theme, cursor) {
  const { x, y, values, shares, curves } = result, whole = new Plot(context, theme, x, new Axis({ from: 0, to: 1, start: curves.bottom, end: TOP }));
  whole.ground(TRAINED, LONGEST, colours.bound, 0.1);
  drawWeights(context, theme, result, state);
  whole.rule([x.at(state.length), shares.bottom], [x.at(state.length), curves.bottom], { dash: [3, 3] });
  ruler(context, theme, x.start, x.at(state.length), result.ruler, picture.sequence.map((text) => say(text, state)));
  drawCurves(context, theme, result, state);
  for (let tick = 0; tick <= LONGEST; tick += 64) words(context, theme, String(tick), x.at(tick), curves.bottom + 11, { align: "center" });
  words(context, theme, picture.x, x.at(TRAINED), curves.bottom + 27, { align: "center" });
  if (cursor !== null) {
    whole.vertical(cursor.at, { dash: [] });
    new Plot(context, theme, x, y).marks([[cursor.at, values.clamped[cursor.at]]], theme.text, { radius: 4 });
  }
  drawLosses(context, theme, result, state);
}

// The measured loss at the trained length and, once the sequence is longer, at the greatest.
function drawLosses(context, theme, { x, height, values: { losses, within }, clamps }, { clamp, length }) {
  const write = (tokens, number, colour) => {
    const middle = x.at(tokens - TRAINED / 2);
    words(context, theme, picture.loss.map((text) => say(text, { length: tokens })), middle, height - 34, { align: "center", width: x.at(TRAINED) - x.start - 8 });
    words(context, sized(theme, 22), say(picture.number, number), middle, height - 13, { align: "center", bold: true, colour });
  };
  write(TRAINED, { before: null, loss: within }, theme.text);
  if (length > TRAINED) write(LONGEST, { before: clamps ? losses.none : null, loss: losses[clamp] }, shade(0.7, theme, clamps ? colours.score : colours.bound));
}

// How much of the attention each part of the sequence gets from the bias alone: the more, the stronger its colour.
function drawWeights(context, theme, { x, shares: { top, bottom }, values: { weights, clamped_weights: kept }, clamps }, { length }) {
  const before = shareOf(weights), far = shareOf(kept), most = Math.max(...kept), edge = (m) => Math.round(x.at(Math.min(m, length)));
  words(context, theme, picture.weights, 0, 11, { width: x.end });
  const halves = [[picture.trained, 1 - before, 1 - far, 0, colours.neutral], [picture.unseen, before, far, TRAINED, colours.bound]];
  for (const [texts, was, share, from, colour] of halves) {
    const at = x.at(from + TRAINED / 2), style = { align: "center", bold: true };
    words(context, theme, texts.map((each) => say(each, { trained: TRAINED })), at, TOP + 10, { ...style, colour: theme.text, width: x.at(TRAINED) - x.start - 8 });
    const said = picture.share.slice(clamps ? 0 : 1).map((text) => say(text, { before: 100 * was, share: 100 * share }));
    words(context, sized(theme, 22), said, at, TOP + 31, { ...style, width: 0.9 * (x.at(TRAINED) - x.start), colour: share >= 0.5 ? shade(0.7, theme, colour) : theme.muted, rim: true });
  }
  kept.forEach((share, k) => {
    if (k * BIN >= length) return;
    const left = edge(k * BIN), wide = Math.max(edge((k + 1) * BIN) - left - 1, 1);
    Object.assign(context, { fillStyle: theme.ground, globalAlpha: 1 });
    context.fillRect(left, top, wide, bottom - top);
    Object.assign(context, { fillStyle: k * BIN < TRAINED ? colours.neutral : colours.bound, globalAlpha: 0.08 + 0.92 * (share / most) });
    context.fillRect(left, top, wide, bottom - top);
  });
  context.globalAlpha = 1;
}

// By how much the bias of all pairs together, or of one of them, multiplies the weight of a key, as far as the sequence goes.
function drawCurves(context, theme, { x, y, values, clamps }, { pair, length, show_pair: showsPair }) {
  const plot = new Plot(context, theme, x, y), pairs = pairColour(pair, PAIRS), taken = [];
  for (let k = Math.ceil(y.invert(y.start - FOOT) / POWER); k * POWER <= y.to; k++) {
    plot.horizontal(k * POWER, { colour: k ? theme.grid : theme.muted, dash: [] });
    words(context, theme, factor(k * POWER), x.start - 6, y.at(k * POWER), { align: "right" });
  }
  words(context, theme, picture.weight, 0, y.end - 13, { width: x.end, rim: true });
  const reached = (points) => points.filter(([m]) => m <= length), all = meanOf(values.all);
  const curves = [
    { text: clamps ? picture.as_trained : showsPair ? picture.all : null, mean: clamps ? all.slice(TRAINED) : all, colour: theme.text, width: clamps || showsPair ? 1.6 : 2.8, dash: clamps ? [4, 3] : [] },
    ...(clamps ? [{ text: picture.clamped, mean: [...meanOf(values.clamped, 0, TRAINED), ...meanOf(values.clamped, TRAINED)], colour: colours.score, width: 2.8 }] : []),
    ...(showsPair ? [{ text: say(picture.pair, { pair }), mean: pointsOf(values.pair), colour: pairs, width: 2.8 }] : []),
  ].map((curve) => ({ ...curve, mean: reached(curve.mean) }));
  const { mean: filled, colour: own } = curves.at(-1), single = clamps || showsPair;
  const spread = (of) => filled.map(([m, value]) => [x.at(m), ...of(value)]);
  plot.area(spread((value) => [Math.min(value, 0), 0]), single ? own : colours.neutral);
  plot.area(spread((value) => [0, Math.max(value, 0)]), single ? own : colours.bound);
  for (const { mean, colour, ...style } of curves) plot.line(mean, colour, style);
  if (showsPair) { // the factor at both lengths stands below the curve
    const ends = reached([TRAINED, LONGEST].map((m) => [m, values.pair[m]]));
    plot.marks(ends, pairs, { radius: 4.5 });
    for (const [m, value] of ends) {
      const text = factor(value), half = widthOf(context, `600 ${theme.font}`, text) / 2, at = Math.min(x.at(m), x.end - half), py = y.at(value) + 15;
      words(context, theme, text, at, py, { align: "center", bold: true, colour: shade(0.7, theme, pairs), rim: true });
      taken.push({ left: at - half - 4, right: at + half + 4, top: py - 8, bottom: py + 8 });
    }
  }
  const pixels = (points) => points.map(([m, value]) => [x.at(m), y.at(value)]);
  const named = curves.toReversed().map(({ mean, text, colour }) => ({ text, colour: shade(0.7, theme, colour), points: pixels(mean) }));
  nameCurves(context, theme, { left: x.at(clamps ? TRAINED : 0), right: x.end, top: y.end, bottom: y.start }, named, taken);
}

// The moving mean of a bias over the distances `from` … before `to`, as [distance, mean].
function meanOf(bias, from = 0, to = LONGEST + 1) {
  const once = Plot.course(pointsOf(bias).slice(from, to), AROUND);
  return Plot.course(once.map(([m, value]) => [m, value, value]), AROUND);
}

const pointsOf = (bias) => Array.from(bias, (value, m) => [m, value, value]);
const shareOf = (weights) => weights.slice(TRAINED / BIN).reduce((sum, weight) => sum + weight, 0);
const factsOf = (bias) => ({ bias, times: Number(Math.exp(Math.abs(bias)).toPrecision(2)) });
const factor = (bias) => say(picture.factor, { ...factsOf(bias), less: bias < 0 });

function facts({ values, frequencies }, { pair, clamp, length }) {
  return {
    trained: TRAINED, longest: LONGEST, half: TRAINED / 2, last: TRAINED - 1,
    rotations: turns(TRAINED, frequencies)[pair], drop: factsOf(values.pair[TRAINED]).times, at_far: factsOf(values.pair[LONGEST]).times,
    is_longer: length > TRAINED, share: 100 * shareOf(values.clamped_weights), unclamped: values.losses.none, loss: values.losses[clamp], within: values.within,
    is_most_negative: values.most_negative.includes(pair), listed: values.most_negative.join(", "),
  };
}

const reading = ({ values }, { pair, show_pair: showsPair }, { at }) => ({ of_pair: values.pair[at], b_pair: values.b[pair], shows_pair: showsPair, ...factsOf(values.clamped[at]) });

const onCurves = ({ x, curves, shares }) => [{ left: x.start, right: x.end, top: shares.top, bottom: curves.bottom }];
const lengthAt = (px, x) => Math.max(x.nearest(x.invert(px)), 1);

const render = explorable({
  catalogue,
  readers: [{ name: "at", axis: ({ x }) => x, within: onCurves }],
  height: (width) => places(width).height,
  compute, draw, facts, reading,
  handles: ({ x, ruler: y }, { length }) => [{ name: "length", x: x.at(length), y, along: "x", drag: (px) => ({ length: lengthAt(px, x) }) }],
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = onCurves(result);
    return px >= left && px <= right && py >= top && py <= bottom ? { length: lengthAt(px, result.x) } : null;
  },
  opening: (share, { length }) => ({ length: Math.round(TRAINED + share * (length - TRAINED)) }), // its end is dragged past the trained length
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

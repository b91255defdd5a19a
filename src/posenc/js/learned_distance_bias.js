import { inverseFrequencies, turns } from "./arithmetic.js";
import { softmax } from "./arithmetic_bias.js";
import { clamped, distanceBias, mostNegativePairs } from "./arithmetic_distance_bias.js";
import { nameCurves } from "./labels.js";
import { colours, pairColour } from "./colours.js";
import { Axis, Plot, arrow, ruler, sized, widthOf, words } from "./drawing.js";
import catalogue from "./learned_distance_bias.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LONGEST = 256, HEAD_DIM = 32, COUNT = 3; // as in Python
const PAIRS = HEAD_DIM / 2, BIN = 16; // distances of one bar
const POWER = 2 * Math.log(10), MOST = 2; // a line for each factor of 100, and how many up or down
const TOP = 24, HEAD = 24, LOSSES = 72, RIGHT = 64, FOOT = 16; // pixels

const sumOf = (biases) => biases.reduce((sum, bias) => sum.map((value, m) => value + bias[m]), new Float64Array(LONGEST + 1));

// The attention weights of the last token of a sequence, if all keys had the same content: a sum for every BIN distances.
function weightsOf(bias, length) {
  const weights = softmax(bias.subarray(0, length));
  return Array.from({ length: LONGEST / BIN }, (_, k) => weights.subarray(k * BIN, (k + 1) * BIN).reduce((sum, weight) => sum + weight, 0));
}

function compute({ base, seed, layer, head, clamp, pair, length, show_pair: showsPair }, width, previous, { runs }) {
  const run = runs[`${base} ${seed}`], products = run.products[Number(layer) - 1], frequencies = inverseFrequencies(HEAD_DIM, Number(base));
  const meanOf = (of, part) => products.reduce((sum, each) => sum + each[of][part], 0) / products.length;
  const chosen = head === "mean" ? products[0].map((_, of) => [meanOf(of, 0), meanOf(of, 1)]) : products[Number(head) - 1];
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
  const place = places(width, clamp), drawn = [all, kept, ...(showsPair ? [values.pair] : [])].flatMap((bias) => [...bias]), least = Math.min(...drawn), most = Math.max(...drawn, 1);
  const { top, bottom } = place.curves, each = (most - least) / (bottom - top - HEAD - FOOT), from = least - each * FOOT, to = most + each * HEAD; // names stand above and below the curves
  return { values, frequencies, clamps: clamp !== "none", ...place, y: new Axis({ from, to, start: bottom, end: top }) };
}

// The losses take their room from the curves, so that nothing below the picture moves.
function places(width, clamp) {
  const wide = width >= 600, height = wide ? 404 : 366, bottom = height - 38 - (clamp === "none" ? 0 : LOSSES), top = bottom - (wide ? 88 : 72);
  return { wide, height, width, x: new Axis({ from: 0, to: LONGEST, start: 34, end: width - RIGHT }), curves: { top: TOP, bottom: top - 48 }, shares: { top, bottom }, ruler: top - 32 };
}

function draw({ context }, result, state, theme, cursor) {
  const { x, y, values, shares, curves } = result, whole = new Plot(context, theme, x, new Axis({ from: 0, to: 1, start: shares.bottom, end: curves.top }));
  whole.ground(TRAINED, LONGEST, colours.bound, 0.1);
  const named = [[picture.trained, 0], [picture.unseen, TRAINED]].map(([texts, from]) => {
    const text = texts.map((each) => say(each, { trained: TRAINED })), room = x.at(TRAINED) - x.start - 8, at = x.at(from + TRAINED / 2);
    words(context, theme, text, at, y.end + 12, { align: "center", bold: true, colour: theme.text, width: room });
    return { left: at - room / 2, right: at + room / 2, top: y.end + 4, bottom: y.end + 20 };
  });
  drawCurves(context, theme, result, state, named);
  drawWeights(context, theme, result, state, whole);
  ruler(context, theme, x.start, x.at(state.length), result.ruler, picture.sequence.map((text) => say(text, state)));
  if (cursor !== null) {
    whole.vertical(cursor.at, { dash: [] });
    new Plot(context, theme, x, y).marks([[cursor.at, values.clamped[cursor.at]]], theme.text, { radius: 4 });
  }
  if (result.clamps) drawLosses(context, theme, result, state);
}

// What all pairs together, or one of them, add to a logit, and by how much that multiplies the weight; pale past the sequence.
function drawCurves(context, theme, result, { pair, length, show_pair: showsPair }, taken) {
  const { x, y, values, clamps } = result, plot = new Plot(context, theme, x, y), colour = pairColour(pair, PAIRS);
  for (let k = -MOST; k <= MOST; k++) {
    const at = y.at(k * POWER);
    if (at < y.end + HEAD || at > y.start) continue;
    plot.horizontal(k * POWER, { colour: k ? theme.grid : theme.muted, dash: [] });
    words(context, theme, signed(k * POWER), x.start - 6, at, { align: "right" });
    words(context, theme, say(picture.factor, { more: k > 0, less: k < 0, times: 10 ** Math.abs(2 * k) }), x.end + 6, at);
  }
  words(context, theme, picture.logit, 0, 11, { width: 0.6 * (x.end + RIGHT) });
  words(context, theme, picture.weight, x.end + RIGHT, 11, { align: "right", width: 0.4 * (x.end + RIGHT) });
  const curves = [
    { values: values.all, text: clamps ? "" : picture.all, colour: theme.text, width: clamps || showsPair ? 1 : 1.6, dash: clamps ? [2, 3] : [] },
    ...(clamps ? [{ values: values.clamped, text: "", colour: colours.score, width: 2, dash: [] }] : []),
    ...(showsPair ? [{ values: values.pair, text: say(picture.pair, { pair }), colour, width: 2.8, dash: [] }] : []),
  ];
  const { values: filled } = curves.at(-1), above = clamps || showsPair ? curves.at(-1).colour : colours.bound, below = clamps || showsPair ? above : colours.neutral;
  const spread = (of) => Array.from(filled.subarray(0, length), (value, m) => [x.at(m), ...of(value)]);
  plot.area(spread((value) => [Math.min(value, 0), 0]), below);
  plot.area(spread((value) => [0, Math.max(value, 0)]), above);
  for (const { values: curve, colour: own, ...style } of curves) {
    context.globalAlpha = 0.3;
    plot.series(curve, own, style);
    context.globalAlpha = 1;
    plot.series(curve.subarray(0, length), own, style);
  }
  const name = (text, px, wanted, own) => { // centred there or, where others stand, below
    const half = widthOf(context, `600 ${theme.font}`, text) / 2, at = Math.min(px, x.end - half);
    let py = wanted;
    while (taken.some((other) => at + half > other.left && at - half < other.right && Math.abs(py - (other.top + other.bottom) / 2) < 16)) py += 4;
    words(context, theme, text, at, py, { align: "center", bold: true, colour: own, ground: true });
    taken.push({ left: at - half - 4, right: at + half + 4, top: py - 8, bottom: py + 8 });
  };
  if (showsPair) {
    const ends = [TRAINED, LONGEST].map((m) => [m, values.pair[m]]);
    plot.marks(ends, colour, { radius: 4.5 });
    for (const [m, value] of ends) name(signed(value), x.at(m), y.at(value) + 15, colour);
  }
  if (clamps) {
    const third = TRAINED / 3, lowest = Math.min(...values.clamped.subarray(TRAINED + third, LONGEST - third));
    name(picture.clamped, x.at(1.5 * TRAINED), y.at(lowest) + 12, colours.score);
    name(picture.as_trained, x.at(0.75 * TRAINED), y.at(0) - 11, theme.text);
  }
  const pixels = (series) => Array.from(series, (value, m) => [x.at(m), y.at(value)]);
  nameCurves(context, theme, { left: x.start, right: x.end, top: y.end, bottom: y.start }, curves.map(({ values: curve, text, colour: own }) => ({ text, colour: own, points: pixels(curve) })), taken);
}

// How much of the attention each distance gets from the bias alone: as trained as a frame, with what is clamped in teal.
function drawWeights(context, theme, { x, shares, curves, values, clamps }, { length }, whole) {
  const { weights, clamped_weights: kept } = values, far = shareOf(kept), { bottom, top } = shares, y = new Axis({ from: 0, to: Math.max(0.25, ...weights, ...kept), start: bottom, end: top + 27 });
  const plot = new Plot(context, theme, x, y);
  words(context, theme, picture.weights, x.start, top - 12, { width: x.end + RIGHT - x.start });
  whole.rule([x.at(length), curves.top + HEAD], [x.at(length), shares.bottom], { dash: [3, 3] });
  const ends = weights.map((_, k) => [x.at(k * BIN), x.at(Math.min((k + 1) * BIN, length))]); // the last bar ends with the sequence
  kept.forEach((share, k) => share > 0 && plot.bar((ends[k][0] + ends[k][1]) / 2, Math.max(ends[k][1] - ends[k][0] - 2, 1), share, clamps ? colours.score : k * BIN < TRAINED ? colours.neutral : colours.bound));
  context.strokeStyle = theme.text;
  context.lineWidth = 1;
  if (clamps) weights.forEach((share, k) => share > 0 && context.strokeRect(ends[k][0] + 1.5, y.at(share), Math.max(ends[k][1] - ends[k][0] - 3, 1), bottom - y.at(share)));
  plot.rule([x.start, bottom + 0.5], [x.end, bottom + 0.5], { colour: theme.muted, dash: [] });
  for (let tick = 0; tick <= LONGEST; tick += 64) words(context, theme, String(tick), x.at(tick), bottom + 11, { align: "center" });
  words(context, theme, picture.x, x.at(TRAINED), bottom + 27, { align: "center" });
  for (const [share, at] of [[1 - far, 0.5 * TRAINED], [far, 1.5 * TRAINED]]) {
    words(context, sized(theme, 22), say(picture.share, { share: 100 * share }), x.at(at), top + 13, { align: "center", bold: true, colour: theme.text, rim: true });
  }
}

// The measured loss: within the trained length, past it as trained, and with what is clamped.
function drawLosses(context, theme, { values: { losses, within }, width, height, wide }, { clamp }) {
  const line = height - 26, from = wide ? 34 : 10, scale = new Axis({ from: 1, to: 4, start: from, end: width - (wide ? 130 : 60) }), plot = new Plot(context, theme);
  const [kept, past, inside] = [losses[clamp], losses.none, within].map((loss) => scale.at(loss));
  words(context, theme, say(picture.losses, { length: LONGEST }), 0, line - 40, { colour: theme.text, bold: true });
  plot.rule([scale.start, line], [scale.end, line], { colour: theme.grid, dash: [], width: 2 });
  if (Math.abs(past - kept) > 14) arrow(context, [past, line], [kept + 5, line], colours.score, { width: 3 });
  for (const [at, colour] of [[inside, colours.neutral], [past, colours.bound], [kept, colours.score]]) {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(at, line, 6, 0, 2 * Math.PI);
    context.fill();
  }
  const text = say(picture.with_clamp, { loss: losses[clamp] }), long = widthOf(context, `600 ${theme.font}`, text);
  words(context, theme, text, Math.max(kept + 6 - long, 0), line - 17, { colour: colours.score, bold: true });
  words(context, theme, say(picture.past, { loss: losses.none }), Math.max(past, long) - 4 + 14, line - 17, { colour: colours.bound, bold: true });
  words(context, theme, say(picture.inside, { loss: within, trained: TRAINED }), Math.max(inside - 6, 0), line + 15);
}

const signed = (value) => say(picture.value, { value, positive: value > 0, zero: value === 0 });
const shareOf = (weights) => weights.slice(TRAINED / BIN).reduce((sum, weight) => sum + weight, 0);
const rounded = (value) => Number(value.toPrecision(2));
const factsOf = (bias) => ({ bias, times: rounded(Math.exp(Math.abs(bias))) });

function facts({ values, frequencies }, { pair, clamp, length }) {
  return {
    trained: TRAINED, longest: LONGEST, half: TRAINED / 2, last: TRAINED - 1, ten: Math.log(10), bin: BIN,
    rotations: turns(TRAINED, frequencies)[pair], drop: -values.pair[TRAINED], at_far: values.pair[LONGEST],
    is_longer: length > TRAINED, share: 100 * shareOf(values.clamped_weights), near: 100 * values.clamped_weights[0], unclamped: values.losses.none, loss: values.losses[clamp], listed: values.most_negative.join(", "),
  };
}

const reading = ({ values }, { pair, show_pair: showsPair }, { at }) => ({ of_pair: values.pair[at], b_pair: values.b[pair], shows_pair: showsPair, ...factsOf(values.clamped[at]) });

const onCurves = ({ x, curves, shares }) => [{ left: x.start, right: x.end, top: curves.top, bottom: shares.bottom }];
const lengthAt = (px, x) => Math.max(x.nearest(x.invert(px)), 1);

const render = explorable({
  catalogue,
  readers: [{ name: "at", axis: ({ x }) => x, within: onCurves }],
  height: (width) => places(width, "none").height,
  compute, draw, facts, reading,
  handles: ({ x, ruler: y }, { length }) => [{ name: "length", x: x.at(length), y, along: "x", drag: (px) => ({ length: lengthAt(px, x) }) }],
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = onCurves(result);
    return px >= left && px <= right && py >= top && py <= bottom ? { length: lengthAt(px, result.x) } : null;
  },
  opening: (share, { length }) => ({ length: Math.round(TRAINED + share * (length - TRAINED)) }), // the sequence grows past the trained length
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

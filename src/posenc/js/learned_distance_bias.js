import { inverseFrequencies, turns } from "./arithmetic.js";
import { softmax } from "./arithmetic_bias.js";
import { clamped, distanceBias, mostNegativePairs } from "./arithmetic_distance_bias.js";
import { colours, pairColour } from "./colours.js";
import { Axis, Plot, grip, legend, sized, widthOf, words } from "./drawing.js";
import catalogue from "./learned_distance_bias.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LENGTH = 256, HEAD_DIM = 32, COUNT = 3; // as in Python
const PAIRS = HEAD_DIM / 2, BIN = 16; // distances of one bar
const HEAD = 26; // pixels

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
  const place = places(width), drawn = [values.pair, all, kept].flatMap((bias) => [...bias]), from = Math.floor(Math.min(...drawn)), most = Math.ceil(Math.max(...drawn, 1));
  const { top, bottom } = place.curves, to = most + ((most - from) * HEAD) / (bottom - top - HEAD); // the names of both halves stand above the curves
  return { values, frequencies, most, ...place, y: new Axis({ from, to, start: bottom, end: top }) };
}

function places(width) {
  const wide = width >= 600, end = wide ? width - 192 : width - 8, low = wide ? 204 : 154, top = low + 48, bottom = top + (wide ? 72 : 50);
  return {
    wide, x: new Axis({ from: 0, to: LENGTH, start: 34, end }), curves: { top: wide ? 24 : 40, bottom: low }, shares: { top, bottom },
    losses: wide ? { left: end + 24, top: 58, right: width } : { left: 0, top: bottom + 60, right: width }, height: bottom + (wide ? 38 : 114),
  };
}

const spotOf = ({ x, y, values }, { distance }) => [x.at(distance), y.at(values.clamped[distance])];

function draw({ context }, result, state, theme, cursor) {
  const { x, y, values, shares, most } = result, clamps = values.clamped_pairs.length > 0, whole = new Plot(context, theme, x, new Axis({ from: 0, to: 1, start: shares.bottom, end: y.end }));
  whole.ground(TRAINED, LENGTH, colours.bound, 0.1);
  for (const [texts, from] of [[picture.trained, 0], [picture.unseen, TRAINED]]) {
    const named = texts.map((text) => say(text, { trained: TRAINED })), centred = { align: "center", bold: true, colour: theme.text };
    words(context, theme, named, x.at(from + TRAINED / 2), y.end + 12, { ...centred, width: x.at(TRAINED) - x.start - 8 });
  }
  const [across] = spotOf(result, state), text = say(picture.key, { ...state, ...factsOf(result.values.clamped[state.distance]) });
  drawCurves(context, theme, result, state, clamps, most);
  drawWeights(context, theme, result, state, clamps);
  const half = widthOf(context, `600 ${theme.font}`, text) / 2;
  whole.rule(spotOf(result, state), [across, result.curves.bottom + 5], { dash: [3, 3] });
  words(context, theme, text, Math.min(Math.max(across, x.start + half), x.end - half), result.curves.bottom + 13, { align: "center", bold: true, colour: theme.text, ground: true });
  grip(context, theme, ...spotOf(result, state), clamps ? colours.score : theme.text);
  if (cursor !== null) whole.vertical(cursor.at, { dash: [] });
  drawLosses(context, theme, result, state);
}

// What the pair, and all pairs together, add to a logit; as trained dotted where some are clamped.
function drawCurves(context, theme, { x, y, values, wide, losses }, { pair }, clamps, most) {
  const plot = new Plot(context, theme, x, y), ticks = y.ticks(4).filter((tick) => tick <= most), colour = pairColour(pair, PAIRS);
  y.ticks = () => ticks;
  plot.axes({ xTitle: "", yTitle: "", xText: () => "", yText: (value) => fixed(value, 0) });
  words(context, theme, wide ? picture.y[1] : picture.y, wide ? x.start : 0, 11, { width: x.end - x.start });
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  plot.series(values.pair, colour, { width: 2.6 });
  plot.series(values.all, theme.text, { width: 1.4, dash: clamps ? [2, 3] : [] });
  if (clamps) plot.series(values.clamped, colours.score, { width: 2 });
  const entries = [{ label: clamps ? picture.as_trained : picture.all, colour: theme.text, dash: clamps ? [2, 3] : [] }, { label: say(picture.pair, { pair }), colour }];
  if (clamps) entries.push({ label: picture.clamped, colour: colours.score });
  legend(context, theme, entries, wide ? x.start + widthOf(context, theme.font, picture.y[1]) + 18 : 0, wide ? 11 : 27, losses.right);
}

// How much of the attention each distance gets from the bias alone: as trained as a frame, with what is clamped in teal.
function drawWeights(context, theme, { x, shares, values }, { distance }, clamps) {
  const { weights, clamped_weights: kept } = values, wide = x.at(BIN) - x.at(0), far = shareOf(kept), { bottom, top } = shares;
  const plot = new Plot(context, theme, x, new Axis({ from: 0, to: 2.1 * Math.max(...weights, ...kept), start: bottom, end: top }));
  words(context, theme, picture.weights, x.start, top - 14, { width: x.end - x.start });
  kept.forEach((share, k) => plot.bar(x.at((k + 0.5) * BIN), wide - 2, share, clamps ? colours.score : k * BIN < TRAINED ? colours.neutral : colours.bound));
  context.strokeStyle = theme.text;
  context.lineWidth = 1;
  if (clamps) weights.forEach((share, k) => context.strokeRect(x.at(k * BIN) + 1, plot.y.at(share), wide - 2, bottom - plot.y.at(share)));
  plot.marks([[(Math.floor(distance / BIN) + 0.5) * BIN, 0]], theme.text, { radius: 3.5 }); // where the key belongs
  for (let tick = 0; tick <= LENGTH; tick += 64) words(context, theme, String(tick), x.at(tick) + (tick === LENGTH ? 8 : 0), bottom + 11, { align: tick === LENGTH ? "right" : "center" });
  words(context, theme, picture.x, x.at(TRAINED), bottom + 28, { align: "center" });
  for (const [share, at] of [[1 - far, 0.5 * TRAINED], [far, 1.5 * TRAINED]]) {
    words(context, sized(theme, 20), say(picture.share, { share: 100 * share }), x.at(at), top + 13, { align: "center", bold: true, colour: theme.text });
  }
}

// The measured loss: within the trained length, past it as trained, and with what is clamped.
function drawLosses(context, theme, { values, losses: { left, top, right }, wide }, { clamp }) {
  const rows = [[TRAINED, values.within, colours.neutral], [LENGTH, values.losses.none, colours.bound], ...(clamp === "none" ? [] : [[LENGTH, values.losses[clamp], colours.score]])];
  words(context, theme, picture.losses, left, top - (wide ? 24 : 16), { colour: theme.text, bold: true, width: right - left });
  const from = left + (wide ? 0 : 118), scale = new Axis({ from: 0, to: 4, start: from, end: right - 38 });
  rows.forEach(([tokens, loss, colour], k) => {
    const at = top + (wide ? 70 : 18) * k, bar = wide ? at + 11 : at - 7;
    words(context, theme, say(k === 2 ? picture.with_clamp : picture.tokens, { tokens }), left, at, { width: wide ? right - left : 112 });
    context.fillStyle = colour;
    context.fillRect(from, bar, scale.at(loss) - from, wide ? 28 : 14);
    words(context, theme, say(picture.value, { loss }), scale.at(loss) + 5, bar + (wide ? 15 : 8), { colour: theme.text, bold: true });
  });
}

const shareOf = (weights) => weights.slice(TRAINED / BIN).reduce((sum, weight) => sum + weight, 0);
const rounded = (value) => Number(value.toPrecision(2));
const factsOf = (bias) => ({ bias, factor: rounded(Math.exp(bias)), times: rounded(Math.exp(Math.abs(bias))) });

function facts(result, state) {
  const { values, frequencies } = result, { pair, clamp } = state;
  return {
    trained: TRAINED, length: LENGTH, half: TRAINED / 2, last: TRAINED - 1, rotations: turns(TRAINED, frequencies)[pair], at_trained: values.pair[TRAINED], drop: -values.pair[TRAINED], at_far: values.pair[LENGTH],
    share: 100 * shareOf(values.clamped_weights), unclamped: values.losses.none, loss: values.losses[clamp], within: values.within,
    is_most_negative: values.most_negative.includes(pair), listed: values.most_negative.join(", "), ...factsOf(result.values.clamped[state.distance]),
  };
}

const reading = (result, { pair }, { at }) => ({ of_pair: result.values.pair[at], b_pair: result.values.b[pair], ...factsOf(result.values.clamped[at]) });

const onCurves = ({ x, curves, shares }) => [{ left: x.start, right: x.end, top: curves.top, bottom: shares.bottom }];

const render = explorable({
  catalogue,
  readers: [{ name: "at", axis: ({ x }) => x, within: onCurves }],
  height: (width) => places(width).height,
  compute, draw, facts, reading,
  handles(result, state) {
    const [x, y] = spotOf(result, state);
    return [{ name: "distance", x, y, along: "x", drag: (across) => ({ distance: result.x.invert(across) }) }];
  },
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = onCurves(result);
    return px >= left && px <= right && py >= top && py <= bottom ? { distance: Math.min(result.x.nearest(result.x.invert(px)), LENGTH - 1) } : null;
  },
  opening: (share, { distance }) => ({ distance: Math.round(share * distance) }), // the key moves away
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

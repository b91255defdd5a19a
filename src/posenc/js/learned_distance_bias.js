import { inverseFrequencies } from "./arithmetic.js";
import { clamped, distanceBias, mostNegativePairs } from "./arithmetic_distance_bias.js";
import { nameCurves } from "./labels.js";
import { colours, pairColour, shade } from "./colours.js";
import { Axis, Plot, grip, sized, widthOf, words } from "./drawing.js";
import catalogue from "./learned_distance_bias.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LONGEST = 256, HEAD_DIM = 32, COUNT = 3; // as in Python
const AROUND = 7; // distances to either side over which the curve of all pairs is a mean, twice
const POWER = 2 * Math.log(10), LEAST = -10.2, MOST = 7.3, GREATEST = 4; // a line for each factor of 100; ends of the axes of bias and loss
const TOP = 42, LEFT = 72, RIGHT = 14, BELOW = 106, BAR = 20; // pixels, of them below the curves for ticks, title and losses

const LEVELS = ["none", "zero", "most_negative", "mask"]; // what the bias past L is dragged to
const NAMED = 700, GIVES = 6, END = 40; // pixels of width from which these are named; of a pull past the last that move the dot by one; of it in all

const sumOf = (biases) => biases.reduce((sum, bias) => sum.map((value, m) => value + bias[m]), new Float64Array(LONGEST + 1));

function compute({ base, layer, clamp, pair, held = null }, width, previous, { runs }) {
  const { products, losses, within } = runs[base], ofLayer = products[Number(layer) - 1], frequencies = inverseFrequencies(HEAD_DIM, Number(base));
  const biases = ofLayer.map((product, of) => distanceBias(product, frequencies[of], LONGEST)), every = [...biases.keys()];
  const slow = every.filter((of) => frequencies[of] * TRAINED < 2 * Math.PI), mostNegative = mostNegativePairs([ofLayer], frequencies, TRAINED, COUNT);
  const pairsOf = { none: [], zero: mostNegative, most_negative: mostNegative, other_slow: slow.filter((of) => !mostNegative.includes(of)), mask: every };
  const changed = (way) => sumOf(biases.map((bias, of) => { // up to L where all is masked past it
    if (!pairsOf[way].includes(of)) return bias;
    return way === "zero" ? bias.map((value, m) => (m < TRAINED ? value : 0)) : clamped(bias, TRAINED);
  })).slice(0, way === "mask" ? TRAINED : undefined);
  const values = { pair: biases[pair], all: sumOf(biases), clamped: changed(clamp), clamped_pairs: pairsOf[clamp], most_negative: mostNegative, losses, within };
  const ends = { start: LEFT, end: width - RIGHT }, dragged = width >= NAMED ? 224 : 240, all = meanOf(values.all);
  const pastOf = (way) => {
    if (way === "none") return all.slice(TRAINED);
    return way === "mask" ? all.slice(TRAINED).map(([m]) => [m, LEAST]) : meanOf(changed(way), TRAINED);
  };
  const past = Object.fromEntries(Object.keys(picture.changed).concat("none").map((way) => [way, pastOf(way)])), levelOf = (way) => past[way][dragged - TRAINED][1];
  return {
    values, all, past, levelOf, dragged, names: width >= NAMED, slow, held: held === null ? null : mixed(past, levelOf, losses, held), clamps: clamp !== "none" || held !== null, x: new Axis({ from: 0, to: LONGEST, ...ends }), loss: new Axis({ from: 0, to: GREATEST, ...ends }),
    y: new Axis({ from: LEAST, to: MOST, start: height(width) - BELOW, end: TOP }),
  };
}

// What is drawn past L where the dot is held at a level: between the two that were measured next to it. Beyond all of them the
// dot gives a little.
function mixed(past, levelOf, losses, held) {
  const ways = LEVELS.toSorted((one, other) => levelOf(other) - levelOf(one)), below = ways.findIndex((way) => levelOf(way) < held);
  const [upper, lower] = below > 0 ? [ways[below - 1], ways[below]] : Array(2).fill(ways.at(below)), [top, bottom] = [upper, lower].map(levelOf);
  const share = upper === lower ? 0 : (top - held) / (top - bottom), mix = (one, other) => one + share * (other - one);
  return {
    level: upper === lower ? top + (held - top) / GIVES : held, loss: mix(losses[upper], losses[lower]),
    past: past[upper].map(([m, value], k) => [m, mix(value, past[lower][k][1])]),
  };
}

const height = (width) => (width >= 600 ? 396 : 338);

function draw({ context, height }, result, state, theme, cursor) {
  const { x, y, values } = result, plot = new Plot(context, theme, x, y);
  plot.ground(TRAINED, LONGEST, colours.neutral, 0.14);
  for (let k = Math.ceil(y.from / POWER); k * POWER <= y.to; k++) {
    plot.horizontal(k * POWER, { colour: k ? theme.grid : theme.muted, dash: [] });
    words(context, theme, say(picture.factor, factsOf(k * POWER)), x.start - 6, y.at(k * POWER), { align: "right", width: x.start - 6 });
  }
  words(context, theme, picture.weight, 0, 10, { colour: theme.text, width: x.end });
  picture.zones.forEach((texts, k) => words(context, theme, texts, x.at((k + 0.5) * TRAINED), y.end - 10, { align: "center", bold: true, colour: theme.text, width: x.at(TRAINED) - x.start }));
  drawCurves(context, theme, plot, result, state);
  picture.ticks.forEach((text, k, { length }) => {
    const last = k === length - 1;
    if (k === length - 2 && !result.names) return; // the last needs its room
    words(context, theme, text, x.at((LONGEST * k) / (length - 1)) + 8 * last, y.start + 12, { align: last ? "right" : "center" });
  });
  words(context, theme, picture.x, x.at(TRAINED), y.start + 29, { align: "center" });
  if (cursor !== null) {
    plot.vertical(cursor.at, { dash: [] });
    plot.marks([[cursor.at, values.clamped[cursor.at] ?? LEAST]], theme.text, { radius: 4 });
  }
  drawLosses(context, theme, result, state, height);
}

// By how much the bias of all pairs together, as trained and clamped, or of one of them, multiplies the weight of a key.
function drawCurves(context, theme, plot, result, state) {
  const { x, y, values, all, past, held, clamps, dragged, levelOf } = result, { pair, show_pair: showsPair, clamp } = state, alone = showsPair && !clamps;
  const curves = [
    { text: clamps ? picture.as_trained : alone && picture.all, points: clamps ? all.slice(TRAINED) : all, colour: theme.text, width: clamps || alone ? 1.6 : 2.8, dash: clamps ? [4, 3] : [] },
    ...(clamps ? [{ text: !held && picture.changed[clamp], points: [...all.slice(0, TRAINED), ...(held?.past ?? past[clamp])], colour: colours.score, width: 2.8 }] : []),
    ...(alone ? [{ text: say(picture.pair, { pair }), points: Array.from(values.pair, (value, m) => [m, value]), colour: pairColour(pair, HEAD_DIM / 2), width: 2.8 }] : []),
  ];
  const filled = curves.at(-1).points;
  plot.area(filled.map(([m, value]) => [x.at(m), Math.min(value, 0), 0]), colours.neutral, 0.35);
  plot.area(filled.map(([m, value]) => [x.at(m), 0, Math.max(value, 0)]), colours.excess, 0.5);
  for (const { points, colour, ...style } of curves) plot.line(points, colour, style);
  const levels = LEVELS.map(levelOf), taken = [];
  for (const { x: px, y: py } of handles(result, state)) {
    plot.rule([px, y.at(Math.max(...levels))], [px, y.at(LEAST)], { dash: [3, 3] });
    plot.marks(levels.map((level) => [dragged, level]), theme.muted, { radius: 3.5 });
    taken.push({ left: px - 12, right: px + 12, top: py - 12, bottom: py + 12 });
    const named = held || result.names || clamp !== "other_slow"; // its own two names need the room
    for (const way of LEVELS.slice(1).filter((one) => named && (held || one !== clamp))) {
      const text = picture.changed[way], level = y.at(levelOf(way)), long = widthOf(context, `600 ${theme.font}`, text), left = result.names ? px + 10 : px - 10 - long, right = left + long;
      const at = Math.abs(level - y.at(0)) < 10 ? y.at(0) + 11 : Math.min(level, y.start - 6); // not on a line
      if (taken.slice(1).some(({ top }) => Math.abs(top + 8 - at) < 16) || curves.some(({ points }) => points.some(([m, value]) => x.at(m) > left && x.at(m) < right && Math.abs(y.at(value) - at) < 11))) continue;
      words(context, theme, text, left, at, { bold: true, rim: true });
      taken.push({ left, right, top: at - 8, bottom: at + 8 });
    }
    grip(context, theme, px, py, theme.text);
  }
  for (const { at, side, text } of picture.ways) { // where the area on that side of × 1 has room for it
    const value = filled[at][1];
    if (value * side <= 0 || Math.abs(y.at(value) - y.at(0)) < 26) continue;
    const middle = x.at(at), py = y.at(0) - 13 * side, half = widthOf(context, `600 ${theme.font}`, text) / 2;
    words(context, theme, text, middle, py, { align: "center", bold: true, colour: shade(0.7, theme, side > 0 ? colours.excess : colours.neutral), rim: true });
    taken.push({ left: middle - half, right: middle + half, top: py - 8, bottom: py + 8 });
  }
  const named = curves.toReversed().map(({ points, text, colour }) => ({ text, colour: shade(0.7, theme, colour), points: points.map(([m, value]) => [x.at(m), y.at(value)]) }));
  nameCurves(context, theme, { left: x.at(clamps ? TRAINED : 0), right: x.end, top: y.end, bottom: y.start }, named, taken);
}

// The measured losses as bars: what is more than within the trained length is red, and what clamping takes away dashed. Between
// two that were measured, the bar is faint and names no number.
function drawLosses(context, theme, { loss: axis, held, values: { losses, within } }, { clamp }, height) {
  [within, held?.loss ?? losses[clamp]].forEach((loss, k) => {
    const top = height - 54 + 30 * k, middle = top + BAR / 2, before = k ? Math.max(losses.none, loss) : loss, [end, far] = [loss, before].map((value) => axis.at(value));
    words(context, theme, picture.losses[k], axis.start - 6, middle, { align: "right", colour: theme.text, width: axis.start - 6 });
    for (const [from, to, colour] of [[0, within, colours.neutral], [within, loss, colours.excess]]) {
      Object.assign(context, { fillStyle: colour, globalAlpha: held && colour === colours.excess ? 0.5 : 1 });
      context.fillRect(axis.at(from), top, Math.max(axis.at(to) - axis.at(from), 0), BAR);
    }
    Object.assign(context, { strokeStyle: theme.muted, lineWidth: 1, globalAlpha: 1 });
    context.setLineDash([3, 3]);
    if (far > end + 1) context.strokeRect(end, top + 0.5, far - end, BAR - 1);
    context.setLineDash([]);
    if (!held || !k) words(context, sized(theme, 15), say(picture.loss[k], { loss }), (far - end > 50 ? end : far) + 8, middle, { bold: true, colour: theme.text });
  });
}

// What the bias past L comes to rest at: where the other slow pairs are clamped, it is nearly as trained.
const stopsOf = (clamp) => (LEVELS.includes(clamp) ? LEVELS : [clamp, ...LEVELS.slice(1)]);

// The bias past L is dragged up and down, and comes to rest at the nearest that was measured; a pair is seen only as trained.
function handles({ x, y, levelOf, dragged, held }, { clamp }) {
  const stops = stopsOf(clamp), heights = stops.map((way) => y.at(levelOf(way))), at = y.at(held?.level ?? levelOf(clamp)), k = stops.indexOf(clamp);
  const drag = (px, py, before) => {
    const away = (way) => Math.abs(y.at(levelOf(way)) - py) * (way === before.clamp ? 2 : 1); // a third of the way is enough to leave
    return { show_pair: false, clamp: [before.clamp, ...stopsOf(before.clamp)].toSorted((one, other) => away(one) - away(other))[0], held: y.invert(Math.min(Math.max(py, y.end - END), y.start + END)) };
  };
  return [{ name: "bias", x: x.at(dragged), y: at, along: "y", step: (heights[k + 1] ?? heights[k - 1]) - at, drag }];
}

// The moving mean of a bias over the distances from one on, as [distance, mean].
function meanOf(bias, from = 0) {
  const once = Plot.course(Array.from(bias, (value, m) => [m, value, value]).slice(from), AROUND);
  return Plot.course(once.map(([m, value]) => [m, value, value]), AROUND);
}

const factsOf = (bias) => ({ bias, times: Number(Math.exp(Math.abs(bias)).toPrecision(2)) });

function facts({ slow, held, values: { pair: curve, losses, within, most_negative: mostNegative } }, { pair, clamp }) {
  return {
    trained: TRAINED, listed: mostNegative.join(", "), is_most_negative: mostNegative.includes(pair), is_slow: slow.includes(pair),
    moves: held !== null, push: factsOf(Math.min(...curve.slice(0, TRAINED))).times, unclamped: losses.none, loss: losses[clamp], within,
  };
}

const render = explorable({
  catalogue,
  readers: [{ name: "at", axis: ({ x }) => x, within: ({ x, y }) => [{ left: x.start, right: x.end, top: y.end, bottom: y.start }] }],
  height, compute, draw, facts, handles,
  reading: ({ values }, state, { at }) => ({ masked: at >= values.clamped.length, of_pair: values.pair[at], ...factsOf(values.clamped[at] ?? 0) }),
  linked: (changes) => ("pair" in changes || changes.show_pair ? { show_pair: true, clamp: "none" } : {}), // a pair is seen as trained
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

import { inverseFrequencies } from "./arithmetic.js";
import { clamped, distanceBias, mostNegativePairs } from "./arithmetic_distance_bias.js";
import { colours, pairColour, shade } from "./colours.js";
import { Axis, Plot, grip, sized, words } from "./drawing.js";
import catalogue from "./learned_distance_bias.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LONGEST = 256, HEAD_DIM = 32, COUNT = 3; // as in Python
const AROUND = 7; // distances to either side over which the curve of all pairs is a mean, twice
const POWER = 2 * Math.log(10), LEAST = -10.2, MOST = 7.3, GREATEST = 4; // a line for each factor of 100; ends of the axes of bias and loss
const TOP = 42, LEFT = 72, BELOW = 106, BAR = 20; // pixels, of them below the curves for ticks, title and losses
const WIDE = 600, LINE = 16; // pixels of width from which names have room, and between the names of two curves

const LEVELS = ["none", "zero", "most_negative", "mask"]; // what the bias past L is dragged to
const GIVES = 6, END = 40; // pixels of a pull past the last that move the dot by one; of it in all

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
  const ends = { start: LEFT, end: width - (width >= WIDE ? 104 : 68) }, all = meanOf(values.all);
  const pastOf = (way) => {
    if (way === "none") return all.slice(TRAINED);
    return way === "mask" ? all.slice(TRAINED).map(([m]) => [m, LEAST]) : meanOf(changed(way), TRAINED);
  };
  const past = Object.fromEntries(Object.keys(picture.changed).concat("none").map((way) => [way, pastOf(way)])), levelOf = (way) => past[way].at(-1)[1];
  return {
    values, all, past, levelOf, names: width - ends.end - 14, slow, held: held === null ? null : mixed(past, levelOf, losses, held), clamps: clamp !== "none" || held !== null, x: new Axis({ from: 0, to: LONGEST, ...ends }), loss: new Axis({ from: 0, to: GREATEST, start: LEFT, end: width - 14 }),
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

const height = (width) => (width >= WIDE ? 396 : 356);

function draw({ context, height }, result, state, theme, cursor) {
  const { x, y, values } = result, plot = new Plot(context, theme, x, y);
  plot.ground(TRAINED, LONGEST, colours.neutral, 0.14);
  for (const k of [-1, 0, 1]) {
    plot.horizontal(k * POWER, { colour: k ? theme.grid : theme.muted, dash: [] });
    words(context, theme, say(picture.factor, factsOf(k * POWER)), x.start - 6, y.at(k * POWER), { align: "right", width: x.start - 6 });
  }
  words(context, theme, picture.weight, 0, 10, { colour: theme.text, width: x.end });
  picture.zones.forEach((texts, k) => words(context, theme, texts, x.at((k + 0.5) * TRAINED), y.end - 10, { align: "center", bold: true, colour: theme.text, width: x.at(TRAINED) - x.start }));
  drawCurves(context, theme, plot, result, state);
  picture.ticks.forEach((text, k, { length }) => {
    if (k % 2 && x.end - x.start < 400) return; // the others need their room
    words(context, theme, text, x.at((LONGEST * k) / (length - 1)), y.start + 14, { align: "center" });
  });
  words(context, theme, picture.x, x.at(TRAINED), y.start + 30, { align: "center" });
  if (cursor !== null) {
    plot.vertical(cursor.at, { dash: [] });
    plot.marks([[cursor.at, values.clamped[cursor.at] ?? LEAST]], theme.text, { radius: 4 });
  }
  drawLosses(context, theme, result, state, height);
}

// By how much the bias of all pairs together, as trained and changed, or of one of them, multiplies the weight of a key.
// Right of the curves stand their names, or those of the levels to which the dot is dragged.
function drawCurves(context, theme, plot, result, state) {
  const { x, y, values, all, past, held, clamps, levelOf, names } = result, { pair, show_pair: showsPair, clamp } = state, alone = showsPair && !clamps, dots = handles(result, state);
  const curves = [
    { text: alone ? picture.all : picture.changed.none, points: clamps ? all.slice(TRAINED) : all, colour: theme.text, width: clamps || alone ? 1.6 : 2.8, dash: clamps ? [4, 3] : [] },
    ...(clamps ? [{ text: picture.changed[clamp], points: [...all.slice(0, TRAINED), ...(held?.past ?? past[clamp])], colour: colours.score, width: 2.8 }] : []),
    ...(alone ? [{ text: say(picture.pair, { pair }), points: Array.from(values.pair, (value, m) => [m, value]), colour: pairColour(pair, HEAD_DIM / 2), width: 2.8 }] : []),
  ];
  const filled = curves.at(-1).points;
  plot.area(filled.map(([m, value]) => [x.at(m), Math.min(value, 0), 0]), colours.neutral, 0.35);
  plot.area(filled.map(([m, value]) => [x.at(m), 0, Math.max(value, 0)]), colours.excess, 0.5);
  for (const { points, colour, ...style } of curves) plot.line(points, colour, style);
  for (const { at, side, text } of picture.ways) { // where the area on that side has room for it
    const value = filled[at][1];
    if (value * side <= 0 || Math.abs(y.at(value) - y.at(0)) < 26) continue;
    words(context, theme, text, x.at(at), y.at(0) - 13 * side, { align: "center", bold: true, colour: shade(0.7, theme, side > 0 ? colours.excess : colours.neutral), rim: true });
  }
  const levels = LEVELS.map((way) => ({ text: picture.changed[way], level: levelOf(way), colour: way === clamp && !held ? curves.at(-1).colour : theme.muted }));
  if (dots.length) {
    plot.rule([x.end, y.at(Math.max(...levels.map(({ level }) => level)))], [x.end, y.at(LEAST)], { dash: [3, 3] });
    plot.marks(levels.map(({ level }) => [LONGEST, level]), theme.muted, { radius: 3.5 });
  }
  const named = dots.length ? levels : curves.map(({ text, points, colour }) => ({ text, level: points.at(-1)[1], colour }));
  let free = Infinity;
  for (const { text, level, colour } of named.toSorted((one, other) => one.level - other.level)) { // from below
    const at = Math.min(y.at(level), free);
    words(context, theme, text, x.end + 14, at, { bold: true, colour: shade(0.7, theme, colour), width: names });
    free = at - LINE;
  }
  for (const { x: px, y: py } of dots) {
    grip(context, theme, px, py, theme.text);
    if (clamp === "none" && !held && y.at(levelOf("zero")) - py > 30) words(context, theme, picture.drag, px + 14, py + 15, { colour: theme.text, width: result.names });
  }
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

// The bias past L is dragged up and down, and comes to rest at the nearest that was measured. The other slow pairs are nearly
// as trained where they are clamped, and a pair is seen only as trained.
function handles({ x, y, levelOf, held }, { clamp, show_pair: showsPair }) {
  if (showsPair || !LEVELS.includes(clamp)) return [];
  const heights = LEVELS.map((way) => y.at(levelOf(way))), at = y.at(held?.level ?? levelOf(clamp)), k = LEVELS.indexOf(clamp);
  const drag = (px, py, before) => {
    const away = (way) => Math.abs(y.at(levelOf(way)) - py) * (way === before.clamp ? 2 : 1); // a third of the way is enough to leave
    return { clamp: [before.clamp, ...LEVELS].toSorted((one, other) => away(one) - away(other))[0], held: y.invert(Math.min(Math.max(py, y.end - END), y.start + END)) };
  };
  return [{ name: "bias", x: x.end, y: at, along: "y", step: (heights[k + 1] ?? heights[k - 1]) - at, drag }];
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

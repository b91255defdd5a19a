import { cosines, differences, inverseFrequencies, mean, turns } from "./arithmetic.js";
import { pairColour } from "./colours.js";
import { Axis, Plot, cellAxis, grip, widthOf, words } from "./drawing.js";
import catalogue from "./frequency_bank.json";
import { explorable } from "./explorable.js";
import { dialHandle, pairGrid, press, readers, smallHandle } from "./pair_grid.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TURN = 2 * Math.PI;
const WIDE = 560; // pixels from which the chart stands beside the large dials
const HEIGHT = 396, NARROW = 355;
const CANCELLED = 0.1; // of a mean of cosines
const NEARLY = 4; // times as much as the rest
const SAME = 0.9995; // a similarity from which no difference is seen
const NOWHERE = -100; // pixels, where a chart stands that is not shown

function compute(state, width) {
  const { base, dim, distance, other, chart } = state;
  const frequencies = inverseFrequencies(dim, base);
  const cosine = cosines(distance, frequencies);
  let sum = 0;
  const difference = differences(distance, other, frequencies), all = mean(difference) * frequencies.length, fastest = Math.ceil(frequencies.length / 8);
  const values = {
    rotations: turns(distance, frequencies),
    cosine,
    running_mean: cosine.map((value, i) => (sum += value) / (i + 1)),
    difference,
    share: distance === other ? null : difference.slice(0, fastest).reduce((some, value) => some + value, 0) / all, // of the fastest eighth
    similarity: mean(cosines(distance - other, frequencies)),
  };
  return { frequencies, values, ...places(dim / 2, width, chart !== "none") };
}

// The dials of all pairs above; below, the two large ones and the chart beside them, or on a phone under them; without a
// chart they are larger. Their words are below them, or beside them where `words` says how wide.
function places(pairs, width, charted) {
  const wide = width >= WIDE, grid = pairGrid(pairs, { width, height: wide ? 180 : 84, top: 24, least: 38, greatest: 60 }), half = width / 2;
  const beside = (radius, left) => half - left - 2 * radius - 14; // pixels
  if (!charted) {
    const radius = wide ? 84 : 56, large = { radius, words: wide ? beside(radius, 40) : width - 3 * radius - 14, at: wide ? [[40 + radius, 300], [half + 40 + radius, 300]] : [[2 * radius, 168], [2 * radius, 290]] };
    return { grid, large, x: cellAxis(pairs, 0, width), y: [NOWHERE, NOWHERE] };
  }
  if (wide) return { grid, large: { radius: 64, words: 0, at: [[86, 286], [254, 286]] }, x: cellAxis(pairs, 384, width - 12), y: [HEIGHT - 42, 240] };
  const radius = Math.min(35, 0.105 * width), y = 153;
  return { grid, large: { radius, words: beside(radius, 8), at: [[8 + radius, y], [half + 8 + radius, y]] }, x: cellAxis(pairs, 40, width - 8), y: [NARROW - 40, 222] };
}

const chosen = ({ pair }, { frequencies }) => Math.min(pair, frequencies.length - 1);

// A dial with two hands: the way of the first from the top where it is less than a turn, and all the disc where it is more.
function drawDial(context, theme, { x, y, radius, frequency, distance, other, colour, width }) {
  const angle = distance * frequency, whole = angle >= TURN;
  context.fillStyle = colour;
  context.globalAlpha = whole ? 0.2 : 0.45;
  context.beginPath();
  context.moveTo(x, y);
  context.arc(x, y, radius, -TURN / 4, (whole ? TURN : angle) - TURN / 4);
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  context.beginPath();
  context.arc(x, y, radius, 0, TURN);
  context.stroke();
  const hand = (at, stroke, thick, dash) => {
    context.strokeStyle = stroke;
    context.lineWidth = thick;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + radius * Math.sin(at * frequency), y - radius * Math.cos(at * frequency));
    context.stroke();
    context.setLineDash([]);
  };
  hand(distance, colour, width, []);
  if (other !== null) hand(other, theme.text, Math.max(1.2, width / 2), [3, 2]);
}

function drawDials(context, theme, { grid, frequencies }, state, shown) {
  const radius = 0.44 * grid.size, other = state.chart === "difference" ? state.other : null;
  grid.show((i) => i === shown);
  for (const i of grid.shown) {
    const [x, y] = grid.middle(i);
    drawDial(context, theme, {
      x, y, radius, frequency: frequencies[i], distance: state.distance, other, colour: pairColour(i, frequencies.length), width: 2.5,
    });
    if (i !== shown) continue;
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, radius + 2, 0, TURN);
    context.stroke();
  }
}

// Beside whole discs and parts of discs, what they are, and how many.
function drawKey(context, theme, width, { grid, values }) {
  const completed = values.rotations.filter((count) => count >= 1).length, facts = { completed, incomplete: values.rotations.length - completed, every: grid.every };
  const entries = [[TURN, 0.2, picture.completed], [TURN / 6, 0.45, picture.incomplete]], wide = width >= WIDE ? 0 : 1;
  let left = 0;
  for (const [angle, opacity, texts] of entries) {
    const text = say(texts[wide], facts);
    context.fillStyle = theme.text;
    context.globalAlpha = opacity;
    context.beginPath();
    context.moveTo(left + 8, 9);
    context.arc(left + 8, 9, 7, -TURN / 4, angle - TURN / 4);
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = theme.muted;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(left + 8, 9, 7, 0, TURN);
    context.stroke();
    words(context, theme, text, left + 20, 9, { colour: theme.text });
    left += 34 + widthOf(context, theme.font, text);
  }
  words(context, theme, say(picture.shown[wide], facts), width - 3, 9, { align: "right" });
}

// A large dial: the fastest pair, and beside it the pair that was chosen or is pointed at.
function drawLarge(context, theme, { large, frequencies, values }, state, i, k) {
  const { radius, at } = large, [x, y] = at[k], frequency = frequencies[i], wavelength = TURN / frequency;
  drawDial(context, theme, {
    x, y, radius, frequency, distance: state.distance, other: state.chart === "difference" ? state.other : null,
    colour: pairColour(i, frequencies.length), width: 4,
  });
  const facts = { pair: i, rotations: values.rotations[i], wavelength }, bold = { colour: theme.text, bold: true }, texts = (of) => of.map((one) => say(one, facts));
  if (large.words) {
    [texts(picture.pair), texts(picture.rotations), [picture.wave], texts(picture.tokens)].forEach((text, line) => {
      words(context, theme, text, x + radius + 12, y + 17 * (line - 1.5), { width: large.words, ...(line ? {} : bold) });
    });
    return;
  }
  const room = { align: "center", width: Math.min(at[1][0] - at[0][0], 2 * at[0][0]) - 6 };
  words(context, theme, say(picture.dial, facts), x, y + radius + 17, { ...bold, ...room });
  words(context, theme, texts(picture.wavelength), x, y + radius + 34, room);
}

function chart({ context }, theme, result, title, from, to, options) {
  const { x } = result, [start, end] = result.y, plot = new Plot(context, theme, x, new Axis({ from, to, start, end }));
  plot.axes({ xTitle: picture.pairs, yTitle: title, xTicks: Math.min(6, result.frequencies.length), yTicks: 4, ...options });
  return plot;
}

function drawBars(plot, heights, pairs) {
  const step = (plot.x.end - plot.x.start) / pairs;
  heights.forEach((height, i) => plot.bar(plot.x.at(i), Math.max(1, step * 0.7), height, pairColour(i, pairs)));
}

function drawCosines(canvas, theme, result) {
  const { values, x } = result, pairs = result.frequencies.length, plot = chart(canvas, theme, result, picture.waves, -1.05, 1.05);
  drawBars(plot, values.cosine, pairs);
  plot.curve(Array.from(values.running_mean, (value, i) => [x.at(i), value, value]), theme.text, { width: 2.5 });
  return plot;
}

function drawDifference(canvas, theme, result, state) {
  const { values, x, y } = result, pairs = result.frequencies.length;
  const plot = chart(canvas, theme, result, picture.differences.map((text) => say(text, state)), 0, 2.05);
  if (values.similarity < SAME) drawBars(plot, values.difference, pairs);
  else words(canvas.context, theme, picture.same, (x.start + x.end) / 2, (y[0] + y[1]) / 2 - 8, { align: "center" });
  return plot;
}

function draw(canvas, result, state, theme, cursor) {
  const { context, width } = canvas, pair = cursor?.pair ?? chosen(state, result);
  drawKey(context, theme, width, result);
  drawDials(context, theme, result, state, pair);
  drawLarge(context, theme, result, state, 0, 0);
  drawLarge(context, theme, result, state, pair, 1);
  if (cursor === null) handles(result, state).forEach(({ x, y }, k) => grip(context, theme, x, y, pairColour(k * pair, result.frequencies.length)));
  if (state.chart === "none") return;
  const plot = (result.plot = (state.chart === "cosines" ? drawCosines : drawDifference)(canvas, theme, result, state));
  if (cursor !== null) plot.vertical(cursor.pair);
}

function facts({ values, frequencies }) {
  const pairs = frequencies.length, { similarity, share } = values;
  const completed = values.rotations.filter((count) => count >= 1).length, fast = (completed * (values.running_mean[completed - 1] ?? 0)) / pairs;
  const all = values.running_mean[pairs - 1], slow = all - fast;
  return {
    pairs, completed, last: completed - 1, incomplete: pairs - completed, fast, slow, cancel: Math.abs(fast) < CANCELLED, mostly: slow > NEARLY * Math.abs(fast), little: Math.abs(all) < CANCELLED,
    same: similarity >= SAME, fastest: Math.ceil(pairs / 8), share: share === null ? null : 100 * share,
  };
}

function reading({ values }, _, { pair: i }) {
  return { rotations: values.rotations[i], cosine: values.cosine[i], difference: values.difference[i] };
}

// Both large dials, and of the small ones that which the pointer is on.
function handles({ frequencies, grid, large: { radius, at } }, { pair, distance }, px, py) {
  const dragged = { frequencies, tokens: distance, changes: (tokens, i) => ({ distance: tokens, pair: i }) };
  const alone = { ...dragged, changes: (tokens) => ({ distance: tokens }) };
  return [
    dialHandle("fastest", 0, at[0], radius, alone),
    dialHandle("pair", chosen({ pair }, { frequencies }), at[1], radius, alone),
    ...smallHandle(grid, 0.44, px, py, dragged),
  ];
}

const render = explorable({
  catalogue,
  readers, press,
  height: (width) => (width >= WIDE ? HEIGHT : NARROW),
  compute, draw, facts, reading, handles,
  most: { pair: ({ dim }) => dim / 2 - 1 },
  pixel: ({ plot }, pair, value) => [plot.x.at(pair), plot.y.at(value)],
});

export default { render };

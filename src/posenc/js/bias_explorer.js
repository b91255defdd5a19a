import { biasOf, sharesWithin, softmax } from "./arithmetic_bias.js";
import { chipsAndList } from "./chips_and_list.js";
import { colours, diverging, sequential } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, grip, widthOf, words } from "./drawing.js";
import catalogue from "./bias_explorer.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
const TOKENS = 48; // in the matrices, at most
const EQUAL = 1e-9; // rounding errors stay below
const NEAR = 14; // pixels between a press and the line that it chooses
const MARGIN = 46; // to the left of a matrix
const LEARNS = ["t5", "kerple_log", "kerple_power", "fire", "transformer_xl", "deberta"]; // drawn at random here
const LIMITS = { t5: 8, fire: 12, transformer_xl: 8, deberta: 9 }; // of biases on either side of 0

// Two charts on one axis of distances, and the matrices of both: beside them, or on a phone below.
function places(width) {
  const narrow = width < 600, left = 44, right = narrow ? width - 30 : width - 272, split = narrow ? 114 : 166, end = narrow ? 222 : 318;
  const side = narrow ? 76 : 128, square = (x, top) => ({ left: x + MARGIN, right: x + MARGIN + side, top, bottom: top + side });
  const matrices = narrow ? { bias: square(0, 284), attention: square(width / 2 + 4, 284) } : { bias: square(width - 182, 22), attention: square(width - 182, 200) };
  return {
    narrow, matrices, height: narrow ? 378 : 358,
    bias: { left, right, top: 22, bottom: split }, attention: { left, right, top: split + (narrow ? 20 : 30), bottom: end },
  };
}

// The biases that the chart shows, from least to greatest: they do not depend on what is drawn at random.
function range({ scheme, heads }) {
  if (scheme === "sandwich") return [0, 8 * heads];
  return scheme in LIMITS ? [-LIMITS[scheme], LIMITS[scheme]] : [-16, 0];
}

// The rows of a square table, which stand one after another in one array.
function rowsOf(count, filler) {
  const all = new Float64Array(count * count).fill(filler);
  return Array.from({ length: count }, (_, i) => all.subarray(i * count, (i + 1) * count));
}

function compute(state, width) {
  const { heads, distance } = state, head = Math.min(state.head, heads) - 1, tokens = Math.min(distance + 1, TOKENS);
  const functions = Array.from({ length: heads }, (_, h) => biasOf(state, h)), back = Math.min(state.back, distance);
  const bias = functions.map((between) => {
    const row = new Float64Array(distance + 1);
    for (let m = 0; m <= distance; m++) row[m] = between(distance, distance - m);
    return row;
  });
  const matrix = rowsOf(tokens, NaN), weights = rowsOf(tokens, 0);
  matrix.forEach((row, i) => {
    for (let j = 0; j <= i; j++) row[j] = functions[head](i, j);
    weights[i].set(softmax(row.subarray(0, i + 1)));
  });
  const diagonal = Float64Array.from({ length: distance + 1 - back }, (_, j) => functions[head](j + back, j));
  const values = { bias, within: bias.map(sharesWithin), matrix, weights, diagonal };
  const place = places(width), [least, greatest] = range(state), upwards = (shown, from, to) => new Axis({ from, to, start: place[shown].bottom, end: place[shown].top });
  const axesOf = ({ left, right, top, bottom }) => ({ keys: cellAxis(tokens, left, right), queries: cellAxis(tokens, top, bottom) });
  return {
    values, head, back, place,
    x: new Axis({ from: 0, to: distance, start: place.bias.left, end: place.bias.right }), y: { bias: upwards("bias", least, greatest), attention: upwards("attention", 0, 1) },
    axes: { bias: axesOf(place.matrices.bias), attention: axesOf(place.matrices.attention) },
  };
}

const seriesOf = (values, shown) => (shown === "bias" ? values.bias : values.within);
const keysForHalf = (within) => within.findIndex((share) => share >= 0.5 - EQUAL) + 1;

// Small numbers stay visible: half the opacity stands for a quarter of the limit.
function soft(scale) {
  return { ...scale, opacity: (value) => Math.sqrt(scale.opacity(value)) };
}

const APART = 12; // pixels between two numbers of heads

// The number of each head where its line leaves the chart: below, or at the right, where they make room for each other.
function numberHeads({ context, theme, x, y }, series, head, short) {
  const ends = series.map((values, h) => {
    const last = values.findLastIndex((value) => value >= y.from && value <= y.to), px = x.at(last);
    return { h, last, px: px + 4, py: Math.min(y.at(values[last]), y.start - 7), text: short ? String(h + 1) : say(picture.number, { number: h + 1 }) };
  }).filter(({ last }) => last >= 0);
  const [right, below] = [true, false].map((isRight) => ends.filter(({ last }) => (last === x.to) === isRight).sort((one, other) => one.py - other.py));
  const room = Math.floor((y.start - y.end) / APART), every = Math.ceil(right.length / room), kept = right.filter(({ h }, k) => h === head || k % every === 0).slice(-room);
  let free = y.end + 4;
  kept.forEach((each, k) => {
    each.at = Math.min(Math.max(each.py, free), y.start - 5 - (kept.length - 1 - k) * APART);
    free = each.at + APART;
  });
  const write = ({ h, text }, px, py) => words(context, theme, text, px, py, { rim: true, ...(h === head && { colour: colours.score, bold: true }) });
  for (const each of kept) {
    new Plot(context, theme).rule([x.end, each.py], [x.end + 8, each.at], { colour: theme.muted, dash: [] });
    write(each, x.end + 11, each.at);
  }
  const placed = [];
  for (const each of below.sort(({ h }) => (h === head ? -1 : 0))) {
    if (placed.some((px) => Math.abs(px - each.px) < (short ? 16 : 44))) continue;
    placed.push(each.px);
    write(each, each.px, each.py);
  }
}

function lines(plot, series, head, thick) {
  plot.context.globalAlpha = 0.5;
  series.forEach((values) => plot.series(values, colours.neutral, { width: 1 }));
  plot.context.globalAlpha = 1;
  plot.series(series[head], colours.score, { width: thick });
}

const handleAt = ({ x, back, place: { bias, attention } }) => (
  { x: x.at(back), y: bias.bottom - 30, line: { vertical: true, from: bias.top, to: attention.bottom } }
);

function drawChart(context, theme, result, state, shown, cursor) {
  const { values, x, y, head, back, place } = result, series = seriesOf(values, shown), plot = new Plot(context, theme, x, y[shown]), needed = keysForHalf(values.within[head]);
  const facts = { ...state, learns: LEARNS.includes(state.scheme), shown_head: head + 1, needed }, below = shown === "attention", distance = picture.distance[place.narrow ? 1 : 0];
  plot.ground(0, needed - 1, colours.score, 0.13);
  plot.axes({
    xTitle: below ? distance : "", yTitle: picture[shown].map((text) => say(text, facts)),
    xTicks: Math.max(3, (x.end - x.start) / 90), yTicks: 4, ...(!below && { xText: () => "" }),
    yText: (value) => (below ? fixed(100 * value, 0) : fixed(value, 0)),
  });
  if (below) {
    plot.line([[0, 1 / (x.to + 1)], [x.to, 1]], theme.muted, { dash: [2, 4], width: 1.2 });
    words(context, theme, picture.even, x.end - 6, y.attention.at(0.72), { align: "right", rim: true });
    plot.horizontal(0.5, { colour: theme.muted });
    const end = x.end - widthOf(context, theme.font, distance) - 12, text = say(picture.half, facts);
    words(context, theme, text, widthOf(context, `600 ${theme.font}`, text) <= end - x.start ? x.start : 2, y[shown].start + 22, { baseline: "top", colour: colours.score, bold: true });
  }
  lines(plot, series, head, 3);
  plot.vertical(back, { dash: [5, 4], width: 1.5 });
  const value = series[head][back], { from, to } = y[shown];
  if (value >= from && value <= to) plot.marks([[back, value]], colours.score, { radius: 5 });
  if (!below) numberHeads(plot, series, head, place.narrow);
  if (cursor?.last === "distance") plot.vertical(cursor.distance, { dash: [] });
}

function drawGrip(context, theme, result, state) {
  const { x: px, y: py } = handleAt(result), text = say(picture.back, { back: result.back }), right = result.x.end - px > widthOf(context, theme.font, text) + 24;
  words(context, theme, text, px + (right ? 14 : -14), py, { align: right ? "left" : "right", colour: theme.text, ground: true });
  grip(context, theme, px, py, theme.text);
}

function drawMatrix(context, theme, { axes, values, head, back }, state, shown, cursor) {
  const { keys, queries } = axes[shown], rows = shown === "bias" ? values.matrix : values.weights, tokens = rows.length, [least, greatest] = range(state);
  const scale = shown === "bias" ? diverging(Math.max(-least, greatest)) : sequential(0, 1);
  const map = new HeatMap(context, theme, keys, queries), middle = (tokens - 1) / 2, named = { shown, shown_head: head + 1 };
  stripes(context, theme, keys, queries);
  map.fill(new Float64Array(rows[0].buffer), soft(scale));
  if (back < tokens) { // the cells at the chosen distance
    const end = tokens - 1 - back, [from, to] = [[keys.at(0), queries.at(back)], [keys.at(end), queries.at(tokens - 1)]];
    new Plot(context, theme, keys, queries).rule(from, to, { dash: [5, 4], width: 1.5 });
  }
  const ends = [0, tokens - 1].map((token) => [token, String(token)]), lower = queries.invert(queries.start + 8);
  map.labels({ title: "", xTicks: ends, yTicks: [[Math.max(lower, 0), "0"], ends[1]] }); // not into the title above
  words(context, theme, say(picture.matrix, named, names), keys.start - MARGIN, queries.start - 4, { baseline: "bottom" });
  words(context, theme, picture.query, keys.start - 5, queries.at(middle), { align: "right", colour: colours.query, bold: true });
  const below = { align: "center", baseline: "top", colour: colours.key, bold: true };
  words(context, theme, picture.key, keys.at(middle), queries.end + 6, below);
  if (cursor !== null && cursor.last !== "distance" && cursor.key <= cursor.query) map.outline(cursor.query, cursor.key);
}

// The keys that the causal mask takes away, striped.
function stripes(context, theme, x, y) {
  context.save();
  context.beginPath();
  for (let i = 0; i < y.to - 0.5; i++) context.rect(x.at(i + 0.5), y.at(i - 0.5), x.end - x.at(i + 0.5), y.at(1) - y.at(0));
  context.clip();
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  context.beginPath();
  const side = x.end - x.start;
  for (let shift = 0; shift < 2 * side; shift += 7) {
    context.moveTo(x.start + shift, y.start);
    context.lineTo(x.start + shift - side, y.end);
  }
  context.stroke();
  context.restore();
  if (side < 100) return; // no room for a word
  const wide = widthOf(context, theme.font, picture.masked), right = x.end - 4, top = y.start + 12;
  context.fillStyle = theme.ground;
  context.fillRect(right - wide - 3, top - 8, wide + 6, 16);
  words(context, theme, picture.masked, right, top, { align: "right" });
}

function draw({ context }, result, state, theme, cursor) {
  for (const shown of ["bias", "attention"]) {
    drawChart(context, theme, result, state, shown, cursor);
    drawMatrix(context, theme, result, state, shown, cursor);
  }
  drawGrip(context, theme, result, state);
}

const inside = ({ left, right, top, bottom }, px, py) => px >= left && px <= right && py >= top && py <= bottom;

// A press on a head's line chooses the head.
function press(px, py, { values, x, y, head, place }) {
  const shown = ["bias", "attention"].find((name) => inside({ ...place[name], right: place[name].right + 20 }, px, py));
  if (!shown) return null;
  const away = seriesOf(values, shown).map((row) => awayFrom(row, x, y[shown], px, py)), nearest = away.indexOf(Math.min(...away));
  return away[nearest] <= NEAR && nearest !== head ? { head: nearest + 1 } : null;
}

// How far a line is from a point, in pixels.
function awayFrom(row, x, y, px, py) {
  const at = x.invert(Math.min(px, x.end)), from = Math.max(Math.floor(at) - 8, 0), to = Math.min(Math.ceil(at) + 8, row.length - 1);
  const point = (m) => [x.at(m), y.at(row[m])];
  let least = Infinity;
  for (let m = from; m < to; m++) least = Math.min(least, awayFromPart(point(m), point(m + 1), px, py));
  return least;
}

function awayFromPart([fromX, fromY], [toX, toY], px, py) {
  const [along, up] = [toX - fromX, toY - fromY], square = along ** 2 + up ** 2;
  const share = square === 0 ? 0 : Math.min(Math.max(((px - fromX) * along + (py - fromY) * up) / square, 0), 1);
  return Math.hypot(px - fromX - share * along, py - fromY - share * up);
}

function facts({ values, head, back }, { distance }) {
  const least = values.diagonal.reduce((a, b) => Math.min(a, b)), greatest = values.diagonal.reduce((a, b) => Math.max(a, b));
  return {
    keys: distance + 1, shown_head: head + 1, shown_back: back, min: least, max: greatest, varies: greatest - least > EQUAL,
    needed: keysForHalf(values.within[head]),
  };
}

function reading({ values, head }, state, { last, distance: m, query: i, key: j }) {
  if (last === "distance") return { shown_head: head + 1, away: m, bias: values.bias[head][m], within: 100 * values.within[head][m] };
  return { away: i - j, bias: values.matrix[i][j], weight: 100 * values.weights[i][j] };
}

const matricesOf = ({ place: { matrices } }) => [matrices.bias, matrices.attention];
const axesAt = (result, px, py) => result.axes[inside(result.place.matrices.attention, px, py) ? "attention" : "bias"];

const render = explorable({
  catalogue,
  readers: [
    { name: "distance", axis: ({ x }) => x, within: ({ place }) => [place.bias, place.attention] },
    { name: "query", axis: ({ axes }) => axes.bias.queries, vertical: true, within: matricesOf, pick: (px, py, result) => axesAt(result, px, py).queries.invert(py) },
    { name: "key", axis: ({ axes }) => axes.bias.keys, within: matricesOf, pick: (px, py, result) => axesAt(result, px, py).keys.invert(px) },
  ],
  linked(changes, state) {
    const { heads, head, back, distance } = { ...state, ...changes };
    return {
      ...(head > heads && ("heads" in changes ? { head: heads } : { heads: head })),
      ...(back > distance && ("distance" in changes ? { back: distance } : { distance: back })),
    };
  },
  handles: (result) => [{ name: "back", ...handleAt(result), drag: (px) => ({ back: Math.min(result.x.invert(px), result.x.to) }) }],
  height: (width) => places(width).height,
  controls: { scheme: chipsAndList },
  compute, draw, press, facts, reading,
  pixel: ({ x, y }, distance, value, shown = "bias") => [x.at(distance), y[shown].at(value)],
});

export default { render };

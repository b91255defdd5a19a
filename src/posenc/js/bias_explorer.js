import { biasOf, sharesWithin, softmax } from "./arithmetic_bias.js";
import { frame, inside, largeAndSmall, nameCurves } from "./beside.js";
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
const MARGIN = 46; // to the left of the matrix
const LIMITS = { t5: 8, fire: 12, transformer_xl: 8, deberta: 9 }; // of biases on either side of 0

const arranged = (width) => largeAndSmall(width, 2, width < 600 ? 252 : 344, { column: 196, first: 1.7 });
const height = (width) => Math.max(arranged(width).height, squareIn(arranged(width).small[0], width).bottom + 20);

// The matrix stands in the first of the two small places.
function squareIn({ left, right, top, bottom }, width) {
  const side = width < 600 ? bottom - top + 24 : Math.min(right - left - MARGIN - 8, bottom - top - 18);
  return { left: left + MARGIN, right: left + MARGIN + side, top, bottom: top + side };
}

function places(width) {
  const { large, small: [first, second] } = arranged(width);
  const chart = { left: 44, right: large.right - (width < 600 ? 22 : 48), top: 22, bottom: large.bottom - 40 };
  const other = width < 600 ? { ...second, left: width / 2 + 10 } : second;
  return { chart, matrix: squareIn(first, width), other, narrow: width < 600 };
}

const otherView = { bias: "attention", attention: "bias" };

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
  const { heads, distance, shown } = state, head = Math.min(state.head, heads) - 1, tokens = Math.min(distance + 1, TOKENS);
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
  const place = places(width), { chart, matrix: square } = place, [least, greatest] = range(state);
  return {
    values, head, back, place,
    x: new Axis({ from: 0, to: distance, start: chart.left, end: chart.right }),
    y: new Axis({ from: shown === "bias" ? least : 0, to: shown === "bias" ? greatest : 1, start: chart.bottom, end: chart.top }),
    keys: cellAxis(tokens, square.left, square.right), queries: cellAxis(tokens, square.top, square.bottom),
  };
}

const seriesOf = (values, shown) => (shown === "bias" ? values.bias : values.within);
const keysForHalf = (within) => within.findIndex((share) => share >= 0.5 - EQUAL) + 1;

// Small numbers stay visible: half the opacity stands for a quarter of the limit.
function soft(scale) {
  return { ...scale, opacity: (value) => Math.sqrt(scale.opacity(value)) };
}

// The number of each head where its line leaves the chart, as far as there is room, the chosen one first; where they stand.
function numberHeads({ context, theme, x, y }, series, head, back, short) {
  const placed = [];
  for (const h of new Set([head, 0, series.length - 1, ...series.keys()])) {
    const last = series[h].findLastIndex((value) => value >= y.from && value <= y.to);
    const beside = h === head && last === back ? 9 : 4; // a mark stands there
    const [px, py] = [x.at(last) + beside, Math.min(y.at(series[h][last]), y.start - 7)];
    if (last < 0 || placed.some(([left, top]) => Math.abs(left - px) < (short ? 16 : 44) && Math.abs(top - py) < 12)) continue;
    placed.push([px, py]);
    const text = short ? String(h + 1) : say(picture.number, { number: h + 1 });
    words(context, theme, text, px, py, { rim: true, ...(h === head && { colour: colours.score, bold: true }) });
  }
  return placed.map(([left, top]) => ({ left, right: left + (short ? 14 : 44), top: top - 8, bottom: top + 8 }));
}

function lines(plot, series, head, thick) {
  plot.context.globalAlpha = 0.75;
  series.forEach((values) => plot.series(values, colours.neutral, { width: 1 }));
  plot.context.globalAlpha = 1;
  plot.series(series[head], colours.score, { width: thick });
}

const handleAt = ({ x, back, place: { chart } }) => (
  { x: x.at(back), y: chart.bottom - 42, line: { vertical: true, from: chart.top, to: chart.bottom } }
);

function drawChart(context, theme, result, state, cursor) {
  const { values, x, y, head, back, place } = result, { chart } = place, { shown } = state, series = seriesOf(values, shown);
  const plot = new Plot(context, theme, x, y), needed = keysForHalf(values.within[head]);
  const named = { ...state, shown_head: head + 1, needed, back };
  plot.ground(0, needed - 1, colours.score, 0.13);
  plot.axes({
    xTitle: picture.distance, yTitle: picture[shown].map((text) => say(text, named)),
    xTicks: Math.max(3, (chart.right - chart.left) / 90),
    yText: (value) => (shown === "bias" ? fixed(value, 0) : fixed(100 * value, 0)),
  });
  if (shown === "attention") {
    plot.line([[0, 1 / (x.to + 1)], [x.to, 1]], theme.muted, { dash: [2, 4], width: 1.2 });
    plot.horizontal(0.5, { colour: theme.muted });
  }
  lines(plot, series, head, 3);
  if ((x.end - x.start) / x.to > 9) {
    const points = Array.from(series[head], (value, m) => [m, value]).filter(([, value]) => value >= y.from && value <= y.to);
    plot.marks(points, colours.score, { radius: 3.5 });
  }
  const { x: px, y: py } = handleAt(result), value = series[head][back];
  plot.vertical(back, { dash: [5, 4], width: 1.5 });
  const taken = shown === "bias" ? numberHeads(plot, series, head, back, place.narrow) : [];
  if (value >= y.from && value <= y.to) plot.marks([[back, value]], colours.score, { radius: 5 });
  const right = x.end - px > widthOf(context, theme.font, say(picture.back, named)) + 24;
  words(context, theme, say(picture.back, named), px + (right ? 14 : -14), py, { align: right ? "left" : "right", colour: theme.text, ground: true });
  grip(context, theme, px, py, theme.text);
  taken.push({ left: right ? px : px - 80, right: right ? px + 80 : px, top: py - 10, bottom: py + 10 });
  if (shown === "bias") nameGround(context, theme, chart, named);
  const step = Math.ceil(x.to / 64), beside = { left: chart.left, right: chart.right, top: chart.top, bottom: chart.bottom };
  const points = (row) => Array.from({ length: Math.ceil(row.length / step) }, (_, k) => [x.at(k * step), y.at(row[k * step])]);
  nameCurves(context, theme, beside, series.map((row, h) => ({
    text: h === head && shown === "attention" && say(chart.right < 400 ? picture.head_short : picture.head[shown], named), colour: colours.score,
    points: points(row).filter(([, up]) => up <= chart.bottom),
  })), taken);
  if (cursor?.last === "distance") plot.vertical(cursor.distance, { dash: [] });
}

// How many keys hold half of the attention, below the ground that marks them: there no line runs.
function nameGround(context, theme, { left, right, bottom }, named) {
  const texts = [picture.head.bias, picture.half].map((text) => say(text, named)), end = right - widthOf(context, theme.font, picture.distance) - 12;
  const from = widthOf(context, `600 ${theme.font}`, texts[1]) <= end - left ? left : 2; // on a phone under the numbers of the axis
  words(context, theme, texts, from, bottom + 22, { baseline: "top", colour: colours.score, bold: true, width: end - from });
}

function drawMatrix(context, theme, { keys, queries, values, head, back }, state, cursor) {
  const rows = state.shown === "bias" ? values.matrix : values.weights, tokens = rows.length, [least, greatest] = range(state);
  const scale = state.shown === "bias" ? diverging(Math.max(-least, greatest)) : sequential(0, 1);
  const map = new HeatMap(context, theme, keys, queries), middle = (tokens - 1) / 2, named = { ...state, shown_head: head + 1 };
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
  const wide = widthOf(context, theme.font, picture.masked), right = x.end - 4, top = y.start + 12;
  context.fillStyle = theme.ground;
  context.fillRect(right - wide - 3, top - 8, wide + 6, 16);
  words(context, theme, picture.masked, right, top, { align: "right" });
}

// The other view, small.
function drawOther(context, theme, { values, head, place: { other }, x: { to } }, state) {
  const shown = otherView[state.shown], [least, greatest] = shown === "bias" ? range(state) : [0, 1];
  frame(context, theme, other, say(picture.other, { shown }, names));
  const x = new Axis({ from: 0, to, start: other.left + 4, end: other.right - 4 });
  const y = new Axis({ from: least, to: greatest, start: other.bottom - 4, end: other.top + 4 });
  lines(new Plot(context, theme, x, y), seriesOf(values, shown), head, 2);
}

function draw({ context }, result, state, theme, cursor) {
  drawChart(context, theme, result, state, cursor);
  drawMatrix(context, theme, result, state, cursor);
  drawOther(context, theme, result, state);
}

// A press on a head's line chooses the head, one on the small chart makes it large.
function press(px, py, { values, x, y, head, place: { chart, other } }, { shown }) {
  if (inside(other, px, py)) return { shown: otherView[shown] };
  if (px < chart.left || px > chart.right + 20 || py < chart.top || py > chart.bottom) return null;
  const away = seriesOf(values, shown).map((row) => awayFrom(row, x, y, px, py)), nearest = away.indexOf(Math.min(...away));
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

function facts({ values, head, back }, { distance, heads }) {
  const least = values.diagonal.reduce((a, b) => Math.min(a, b)), greatest = values.diagonal.reduce((a, b) => Math.max(a, b));
  return {
    keys: distance + 1, shown_head: head + 1, shown_back: back, min: least, max: greatest, varies: greatest - least > EQUAL,
    nearest: [...new Set([0, head, heads - 1])].map((h) => ({ of_head: h + 1, needed: keysForHalf(values.within[h]) })),
  };
}

function reading({ values, head }, state, { last, distance: m, query: i, key: j }) {
  if (last === "distance") return { shown_head: head + 1, away: m, bias: values.bias[head][m], within: 100 * values.within[head][m] };
  return { away: i - j, bias: values.matrix[i][j], weight: 100 * values.weights[i][j] };
}

const render = explorable({
  catalogue,
  readers: [
    { name: "distance", axis: ({ x }) => x, within: ({ place }) => [place.chart] },
    { name: "query", axis: ({ queries }) => queries, vertical: true, within: ({ place }) => [place.matrix] },
    { name: "key", axis: ({ keys }) => keys, within: ({ place }) => [place.matrix] },
  ],
  linked(changes, state) {
    const { heads, head, back, distance } = { ...state, ...changes };
    return {
      ...(head > heads && ("heads" in changes ? { head: heads } : { heads: head })),
      ...(back > distance && ("distance" in changes ? { back: distance } : { distance: back })),
    };
  },
  handles: (result) => [{ name: "back", ...handleAt(result), drag: (px) => ({ back: Math.min(result.x.invert(px), result.x.to) }) }],
  height, compute, draw, press, facts, reading,
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

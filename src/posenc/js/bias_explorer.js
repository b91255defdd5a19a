import { biasOf, sharesWithin, softmax } from "./arithmetic_bias.js";
import { colours, diverging, sequential } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, colourBar, legend, widthOf, words } from "./drawing.js";
import catalogue from "./bias_explorer.json";
import { explorable } from "./explorable.js";
import { fixed, grouped } from "./numbers.js";
import { say } from "./sentences.js";
import { SharedAxis } from "./shared_axis.js";

const { picture } = catalogue;
const TOKENS = 48; // in the matrices, at most
const EQUAL = 1e-9; // rounding errors stay below
const PANEL = 282, SIDE = 190; // pixels
const LIMITS = { t5: 8, fire: 12, transformer_xl: 8, deberta: 9 }; // of biases on either side of 0

const wide = (width) => width >= 640;
const legendHeight = (width) => (width < 400 ? 46 : 30);
const height = (width) => legendHeight(width) + (wide(width) ? 2 : 4) * PANEL;

// Two charts, and beside or below each of them its matrix.
function places(width) {
  const right = wide(width) ? width - 284 : width, left = wide(width) ? right + 46 : 52;
  const chart = (top) => ({ left: 44, right: right - 22, top: top + 20, bottom: top + PANEL - 54 });
  const matrix = (top) => ({ left, right: left + SIDE, top: top + 20, bottom: top + 20 + SIDE });
  const tops = wide(width) ? [0, 0, 1, 1] : [0, 1, 2, 3];
  return tops.map((row, k) => (k % 2 ? matrix : chart)(legendHeight(width) + row * PANEL));
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
  const functions = Array.from({ length: heads }, (_, h) => biasOf(state, h));
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
  const values = { bias, within: bias.map(sharesWithin), matrix, weights };
  const panels = places(width), [chart, first, , second] = panels, [least, greatest] = range(state);
  return {
    values, head, panels,
    x: new Axis({ from: 0, to: distance, start: chart.left, end: chart.right }),
    y: new Axis({ from: least, to: greatest, start: chart.bottom, end: chart.top }),
    keys: cellAxis(tokens, first.left, first.right),
    queries: new SharedAxis(cellAxis(tokens, first.top, first.bottom), [first.top, second.top]),
  };
}

const keysForHalf = (within) => within.findIndex((share) => share >= 0.5 - EQUAL) + 1;

// Small numbers stay visible: half the opacity stands for a quarter of the limit.
function soft(scale) {
  return { ...scale, opacity: (value) => Math.sqrt(scale.opacity(value)) };
}

function drawChart({ context }, { x, head }, theme, y, series, axes) {
  const plot = new Plot(context, theme, x, y);
  plot.axes({ xTicks: 6, ...axes });
  context.globalAlpha = 0.75;
  series.forEach((values) => plot.series(values, colours.neutral, { width: 1 }));
  context.globalAlpha = 1;
  plot.series(series[head], colours.score, { width: 2.6 });
  if ((x.end - x.start) / x.to > 9) {
    const points = Array.from(series[head], (value, m) => [m, value]).filter(([, value]) => value >= y.from && value <= y.to);
    plot.marks(points, colours.score, { radius: 3.5 });
  }
  return plot;
}

// The number of each head where its line leaves the chart, as far as there is room; the chosen one first.
function numberHeads({ context, theme, x, y }, series, head) {
  const placed = [];
  for (const h of [head, ...series.keys()]) {
    const last = series[h].findLastIndex((value) => value >= y.from && value <= y.to);
    const [px, py] = [x.at(last) + 4, Math.min(y.at(series[h][last]), y.start - 7)];
    if (last < 0 || placed.some(([left, top]) => Math.abs(left - px) < 16 && Math.abs(top - py) < 12)) continue;
    placed.push([px, py]);
    words(context, theme, String(h + 1), px, py, h === head ? { colour: colours.score, bold: true } : {});
  }
}

function drawMatrix({ context }, { keys, queries }, theme, top, rows, scale, title, text) {
  const tokens = rows.length, y = queries.beginning(top), map = new HeatMap(context, theme, keys, y);
  const some = [0, Math.floor((tokens - 1) / 2), tokens - 1].map((token) => [token, String(token)]);
  stripes(context, theme, keys, y);
  map.fill(new Float64Array(rows[0].buffer), scale);
  map.labels({ title, xTicks: some, yTicks: some });
  words(context, theme, picture.query, keys.start - 6, y.at((tokens - 1) / 4), { align: "right", colour: colours.query, bold: true });
  words(context, theme, picture.key, keys.at((tokens - 1) / 4), y.end + 6, { align: "center", baseline: "top", colour: colours.key, bold: true });
  colourBar(context, theme, scale, { left: keys.start, top: y.end + 26, width: 120, text });
  return map;
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
  for (let shift = 0; shift < 2 * SIDE; shift += 7) {
    context.moveTo(x.start + shift, y.start);
    context.lineTo(x.start + shift - SIDE, y.end);
  }
  context.stroke();
  context.restore();
  const wide = widthOf(context, theme.font, picture.masked), right = x.end - 12, top = y.start + 18;
  context.fillStyle = theme.ground;
  context.fillRect(right - wide - 3, top - 8, wide + 6, 16);
  words(context, theme, picture.masked, right, top, { align: "right" });
}

function draw(canvas, result, state, theme, cursor) {
  const { context, width } = canvas, { values, x, head, panels } = result, named = { ...state, shown_head: head + 1 };
  const [, first, low, second] = panels;
  const entries = [{ label: say(picture.head, named), colour: colours.score }, { label: picture.others, colour: colours.neutral }, { label: picture.even, colour: theme.text, dash: [4, 4] }];
  legend(context, theme, entries, 0, 10, width);

  const biases = drawChart(canvas, result, theme, result.y, values.bias, {
    xTitle: picture.distance, yTitle: picture.bias, yText: (value) => fixed(value, 0),
  });
  numberHeads(biases, values.bias, head);
  const shares = drawChart(canvas, result, theme, new Axis({ from: 0, to: 1, start: low.bottom, end: low.top }), values.within, {
    xTitle: picture.distance, yTitle: picture.within, yText: (value) => fixed(100 * value, 0),
  });
  shares.line([[0, 1 / (x.to + 1)], [x.to, 1]], theme.text, { dash: [4, 4], width: 1.2 });
  const half = keysForHalf(values.within[head]) - 1;
  shares.rule([x.start, shares.y.at(0.5)], [x.at(half), shares.y.at(0.5)], { colour: colours.score });
  shares.rule([x.at(half), shares.y.at(0.5)], [x.at(half), shares.y.start], { colour: colours.score });

  const [least, greatest] = range(state);
  const maps = [
    drawMatrix(canvas, result, theme, first.top, values.matrix, soft(diverging(Math.max(-least, greatest))), say(picture.biases, named), grouped),
    drawMatrix(canvas, result, theme, second.top, values.weights, soft(sequential(0, 1)), say(picture.weights, named), (value) => say(picture.weight, { weight: 100 * value })),
  ];
  if (cursor === null) return;
  if (cursor.last === "distance") [biases, shares].forEach((plot) => plot.vertical(cursor.distance));
  else if (cursor.key <= cursor.query) maps.forEach((map) => map.outline(cursor.query, cursor.key));
}

function facts({ values, head }, { distance, heads }) {
  const diagonal = values.matrix.slice(2).map((row, k) => row[k]), least = Math.min(...diagonal), greatest = Math.max(...diagonal);
  return {
    keys: distance + 1, shown_head: head + 1, least, greatest, varies: greatest - least > EQUAL,
    nearest: [...new Set([0, head, heads - 1])].map((h) => ({ of_head: h + 1, needed: keysForHalf(values.within[h]) })),
  };
}

function reading({ values, head }, state, { last, distance: m, query: i, key: j }) {
  if (last === "distance") return { shown_head: head + 1, back: m, bias: values.bias[head][m], within: 100 * values.within[head][m] };
  return { back: i - j, bias: values.matrix[i][j], weight: 100 * values.weights[i][j] };
}

const render = explorable({
  catalogue,
  readers: [
    { name: "distance", axis: ({ x }) => x, within: ({ panels }) => [panels[0], panels[2]] },
    { name: "query", axis: ({ queries }) => queries, vertical: true, within: ({ panels }) => [panels[1], panels[3]] },
    { name: "key", axis: ({ keys }) => keys, within: ({ panels }) => [panels[1], panels[3]] },
  ],
  linked(changes, state) {
    const { heads, head } = { ...state, ...changes };
    if (head <= heads) return {};
    return "heads" in changes ? { head: heads } : { heads: head };
  },
  height, compute, draw, facts, reading,
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

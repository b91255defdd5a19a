import { biasOf, sharesWithin, softmax } from "./arithmetic_bias.js";
import { chipsAndList } from "./chips_and_list.js";
import { colours, sequential, shade } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, grip, sized, widthOf, words } from "./drawing.js";
import catalogue from "./bias_explorer.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TOKENS = 129; // in the matrix, at most
const EQUAL = 1e-9; // rounding errors stay below
const TOP = 44, LEFT = 50, RIGHT = 30; // pixels above both panels, to the left of each, and for numbers to the right of the chart
const SQUARE = { wide: 230, phone: 140 }; // pixels of the matrix
const CHIP = 8.5, APART = 20; // the radius of a head's number in pixels, and between two of them
const LEARNS = ["kerple_log", "kerple_power", "fire", "transformer_xl", "deberta"]; // drawn at random here
const JUMPS = ["transformer_xl", "deberta"]; // from one distance to the next: one line alone can be read
const FAINT = 0.5; // of the lines of other heads
const SPAN = 16; // of the biases in the chart: below 0 or, where they are on either side of it, around it
const BOTH_SIDES = ["t5", "fire", "transformer_xl", "deberta"]; // of these, one distance is marked, as in Python

// The chart of all heads, and smaller the matrix of one beside it, or on a phone below.
function places(width) {
  const narrow = width < 600;
  if (narrow) {
    const left = (width - SQUARE.phone) / 2 + 12, top = 236;
    return { narrow, height: top + SQUARE.phone + 24, chart: { left: LEFT, right: width - RIGHT, top: TOP, bottom: 180 }, matrix: { left, right: left + SQUARE.phone, top, bottom: top + SQUARE.phone } };
  }
  const right = width - 12, left = right - SQUARE.wide;
  return { narrow, height: 361, chart: { left: LEFT, right: left - LEFT - RIGHT, top: TOP, bottom: 321 }, matrix: { left, right, top: TOP, bottom: TOP + SQUARE.wide } };
}

// The biases that the chart shows, from least to greatest, of all schemes but one on the same scale.
function range({ scheme, heads }) {
  if (scheme === "sandwich") return [0, 8 * heads];
  return BOTH_SIDES.includes(scheme) ? [-SPAN / 2, SPAN / 2] : [-SPAN, 0];
}

// The rows of a square table, which stand one after another in one array.
function rowsOf(count, filler) {
  const all = new Float64Array(count * count).fill(filler);
  return Array.from({ length: count }, (_, i) => all.subarray(i * count, (i + 1) * count));
}

function compute(setting, width, previous, { t5 }) {
  const state = { ...setting, t5, heads: setting.scheme === "t5" ? t5.length : setting.heads }, { heads, distance } = state;
  const head = Math.min(state.head, heads) - 1, tokens = Math.min(distance + 1, TOKENS), back = Math.min(state.back, distance);
  const functions = Array.from({ length: heads }, (_, h) => biasOf(state, h));
  const bias = functions.map((between) => {
    const row = new Float64Array(distance + 1);
    for (let m = 0; m <= distance; m++) row[m] = between(distance, distance - m);
    return row;
  });
  const matrix = rowsOf(tokens, NaN), weights = rowsOf(tokens, 0), shades = new Float64Array(tokens * tokens); // of its row's greatest weight
  matrix.forEach((row, i) => {
    for (let j = 0; j <= i; j++) row[j] = functions[head](i, j);
    weights[i].set(softmax(row.subarray(0, i + 1)));
    const most = weights[i].reduce((a, b) => Math.max(a, b));
    for (let j = 0; j <= i; j++) shades[i * tokens + j] = weights[i][j] / most;
  });
  const diagonal = Float64Array.from({ length: distance + 1 - back }, (_, j) => functions[head](j + back, j));
  const place = places(width), { chart, matrix: square } = place, [from, to] = range(state);
  return {
    values: { bias, within: bias.map(sharesWithin), matrix, weights, diagonal }, shades, head, back, place,
    x: new Axis({ from: 0, to: distance, start: chart.left, end: chart.right }), y: new Axis({ from, to, start: chart.bottom, end: chart.top }),
    keys: cellAxis(tokens, square.left, square.right), queries: cellAxis(tokens, square.top, square.bottom),
  };
}

const keysForHalf = (within) => within.findIndex((share) => share >= 0.5 - EQUAL) + 1;

// The steeper a head's line, the deeper its colour; those that jump have no slope.
function tints(series, theme, { scheme }) {
  if (JUMPS.includes(scheme)) return series.map(() => colours.neutral);
  const falls = series.map((values) => values[0] - values.at(-1));
  return falls.map((fall) => shade(falls.filter((other) => other < fall).length / Math.max(falls.length - 1, 1), theme));
}

// The number of each head on its line, low in the chart, or at its right edge, where they make room for each other.
// None covers the label beside the grip. Returns the box of each.
function numberHeads({ context, theme, x, y }, series, head, colourOf, label) {
  const boxes = [], seen = (value) => value <= y.to && y.at(value) <= y.start - CHIP - 2, plot = new Plot(context, theme);
  const ends = series.map((values, h) => ({ h, last: values.findLastIndex(seen) })).filter(({ last }) => last >= 0);
  const right = ends.filter(({ last }) => last === x.to).map(({ h }) => ({ h, py: y.at(series[h][x.to]) })).sort((one, other) => one.py - other.py);
  const room = Math.floor((y.start - y.end + APART) / APART), every = Math.ceil(right.length / room), kept = right.filter(({ h }, k) => h === head || k % every === 0).slice(-room);
  const write = (h, px, py) => {
    const chosen = h === head;
    context.beginPath();
    context.arc(px, py, CHIP, 0, 2 * Math.PI);
    Object.assign(context, { fillStyle: chosen ? colourOf(h) : theme.ground, strokeStyle: colourOf(h), lineWidth: 2 });
    context.fill();
    context.stroke();
    words(context, sized(theme, 11), String(h + 1), px, py + 0.5, { align: "center", bold: true, colour: chosen ? theme.ground : theme.text });
    boxes.push({ head: h, x: px, y: py, left: px - APART / 2, right: px + APART / 2, top: py - APART / 2, bottom: py + APART / 2 });
  };
  let free = y.end - 4;
  kept.forEach(({ h, py }, k) => {
    const at = Math.min(Math.max(py, free), y.start - 5 - (kept.length - 1 - k) * APART);
    free = at + APART;
    plot.rule([x.end, py], [x.end + 8, at], { colour: colourOf(h), dash: [], width: h === head ? 3.5 : 1.5 });
    write(h, x.end + 8 + CHIP, at);
  });
  const taken = (px, py) => boxes.some((other) => Math.hypot(other.x - px, other.y - py) < APART)
    || (label && Math.abs(py - label.py) < APART && px > Math.min(label.left, label.px) - APART && px < Math.max(label.right, label.px) + APART);
  for (const { h, last } of ends.filter((end) => end.last < x.to).sort(({ h }) => (h === head ? -1 : 0))) {
    let at = last;
    while (at > 0 && (!seen(series[h][at]) || taken(x.at(at), y.at(series[h][at])))) at -= 1;
    if (at > 0) write(h, x.at(at), y.at(series[h][at]));
  }
  return boxes;
}

// Above the numbers of lines that leave below; T5's stay within.
const handleAt = ({ x, y, back }, { scheme }) => (
  { x: x.at(back), y: y.start - (scheme === "t5" ? 14 : 46), line: { vertical: true, from: y.end, to: y.start } }
);

function drawChart(context, theme, result, state, cursor) {
  const { values: { bias, within }, x, y, head, back, place: { narrow } } = result, plot = new Plot(context, theme, x, y), needed = keysForHalf(within[head]);
  const facts = { ...state, learns: LEARNS.includes(state.scheme), shown_head: head + 1, needed }, distance = picture.distance[x.end - x.start < 400 ? 1 : 0];
  plot.ground(0, needed - 1, colours.score, 0.13);
  words(context, theme, picture.bias.map((text) => say(text, facts)), 2, 11, { width: x.end });
  plot.axes({
    xTitle: distance, yTitle: "", xTicks: Math.max(3, (x.end - x.start) / 90), yTicks: narrow ? 4 : 6,
    yText: (value) => fixed(value, 0),
  });
  const bracket = [[0, y.end - 2], [0, y.end - 7], [needed - 1, y.end - 7], [needed - 1, y.end - 2]].map(([m, py]) => [x.at(m), py]);
  bracket.slice(1).forEach((to, k) => plot.rule(bracket[k], to, { colour: colours.score, width: 2, dash: [] }));
  words(context, theme, picture.half.map((text) => say(text, facts)), narrow ? 2 : x.start, y.end - 16, { colour: shade(0.7, theme), bold: true, width: x.end + RIGHT - x.start });
  const tint = tints(bias, theme, state), colourOf = (h) => (h === head ? colours.score : tint[h]);
  context.globalAlpha = FAINT;
  if (!JUMPS.includes(state.scheme)) bias.forEach((values, h) => plot.series(values, tint[h], { width: 1.4 }));
  context.globalAlpha = 1;
  if (!JUMPS.includes(state.scheme)) plot.series(bias[head], theme.ground, { width: 7 });
  plot.series(bias[head], colours.score, { width: 4 });
  const marks = BOTH_SIDES.includes(state.scheme), value = bias[head][back];
  if (marks) plot.vertical(back, { dash: [5, 4], width: 1.5 });
  if (marks && value >= y.from && value <= y.to) plot.marks([[back, value]], colours.score, { radius: 5 });
  result.numbers = numberHeads(plot, bias, head, colourOf, marks && backLabel(context, theme, result, state));
  if (cursor?.last === "distance") plot.vertical(cursor.distance, { dash: [] });
}

// What is written beside the grip, at its right if there is room.
function backLabel(context, theme, result, state) {
  const { x: px, y: py } = handleAt(result, state), { values: { bias }, head, back, x } = result;
  const text = say(picture.back, { back, bias: bias[head][back] }), wide = widthOf(context, theme.font, text), left = x.end - px > wide + 24 ? px + 14 : px - 14 - wide;
  return { text, px, py, left, right: left + wide };
}

function drawGrip(context, theme, result, state) {
  const { text, px, py, left } = backLabel(context, theme, result, state);
  words(context, theme, text, left, py, { colour: theme.text, ground: true });
  grip(context, theme, px, py, theme.text);
}

function drawMatrix(context, theme, { keys, queries, values: { matrix, bias }, shades, head, back, x, place }, { scheme }, cursor) {
  const tokens = matrix.length, distances = bias[head].length, right = place.narrow ? x.end + RIGHT : keys.end, middle = (tokens - 1) / 2, map = new HeatMap(context, theme, keys, queries), plot = new Plot(context, theme, keys, queries);
  context.fillStyle = theme.grid; // masked
  context.globalAlpha = 0.3;
  plot.path([[keys.start, queries.start], [keys.end, queries.start], [keys.end, queries.end]]);
  context.fill();
  context.globalAlpha = 1;
  map.fill(shades, sequential(0, 1));
  if (BOTH_SIDES.includes(scheme) && back < tokens) { // the cells at the chosen distance
    const end = tokens - 1 - back, [from, to] = [[keys.at(0), queries.at(back)], [keys.at(end), queries.at(tokens - 1)]];
    plot.rule(from, to, { dash: [5, 4], width: 1.5 });
    const text = say(picture.diagonal, { back }), half = widthOf(context, theme.font, text) / 2 + 6;
    words(context, theme, text, Math.max(keys.at(end / 2), keys.start + half), Math.min(queries.at(back + end / 2), queries.end - 12), { align: "center", colour: theme.text, ground: true });
  }
  const ends = [0, tokens - 1].map((token) => [token, String(token)]), wide = keys.end - keys.start;
  map.labels({ xTicks: ends, yTicks: ends });
  words(context, theme, picture.masked, keys.end - wide / 4, queries.at(middle / 2), { align: "center" });
  words(context, theme, picture.matrix.map((text) => say(text, { shown_head: head + 1, tokens, is_part: tokens < distances })), keys.start, queries.start - 4, { baseline: "bottom", width: right - keys.start });
  words(context, theme, picture.query, keys.start - 5, queries.at(middle), { align: "right", colour: colours.query, bold: true });
  words(context, theme, picture.key, keys.at(middle), queries.end + 6, { align: "center", baseline: "top", colour: colours.key, bold: true });
  if (!place.narrow) words(context, theme, picture.shades, keys.end, queries.end + 22, { align: "right", baseline: "top", width: wide + 40 });
  if (cursor !== null && cursor.last !== "distance" && cursor.key <= cursor.query) map.outline(cursor.query, cursor.key);
}

function draw({ context }, result, state, theme, cursor) {
  drawChart(context, theme, result, state, cursor);
  drawMatrix(context, theme, result, state, cursor);
  if (BOTH_SIDES.includes(state.scheme)) drawGrip(context, theme, result, state);
}

const inside = ({ left, right, top, bottom }, px, py) => px >= left && px <= right && py >= top && py <= bottom;

// A press on a head's number chooses the head, and one in the chart that of the nearest line, if they are drawn.
function press(px, py, { values: { bias }, x, y, head, place: { chart }, numbers = [] }, { scheme }) {
  const choose = (nearest) => (nearest === head ? null : { head: nearest + 1 }), number = numbers.find((box) => inside(box, px, py));
  if (number) return choose(number.head);
  if (JUMPS.includes(scheme) || !inside(chart, px, py)) return null;
  const away = bias.map((row) => awayFrom(row, x, y, px, py));
  return choose(away.indexOf(Math.min(...away)));
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
  const least = values.diagonal.reduce((a, b) => Math.min(a, b)), greatest = values.diagonal.reduce((a, b) => Math.max(a, b)), row = values.bias[head], halves = Math.LN2 / (row[0] - row[1]);
  return {
    keys: distance + 1, shown_head: head + 1, shown_back: back, min: least, max: greatest, varies: greatest - least > EQUAL,
    needed: keysForHalf(values.within[head]), halves, gentle: 4 * halves > distance, preferred: row.indexOf(row.reduce((a, b) => Math.max(a, b))),
  };
}

function reading({ values, head }, state, { last, distance: m, query: i, key: j }) {
  if (last === "distance") return { shown_head: head + 1, away: m, bias: values.bias[head][m], within: 100 * values.within[head][m] };
  return { away: i - j, bias: values.matrix[i][j], weight: 100 * values.weights[i][j] };
}

const onMatrix = ({ place: { matrix } }) => [matrix];

const render = explorable({
  catalogue,
  readers: [
    { name: "distance", axis: ({ x }) => x, within: ({ place: { chart } }) => [chart] },
    { name: "query", axis: ({ queries }) => queries, vertical: true, within: onMatrix },
    { name: "key", axis: ({ keys }) => keys, within: onMatrix },
  ],
  linked(changes, state) {
    const { heads, head, back, distance } = { ...state, ...changes };
    return {
      ...(head > heads && ("heads" in changes ? { head: heads } : { heads: head })),
      ...(back > distance && ("distance" in changes ? { back: distance } : { distance: back })),
    };
  },
  handles: (result, state) => (BOTH_SIDES.includes(state.scheme)
    ? [{ name: "back", ...handleAt(result, state), drag: (px) => ({ back: Math.min(result.x.invert(px), result.x.to) }) }] : []),
  height: (width) => places(width).height,
  opening: (share, { head, heads }) => ({ head: heads - Math.round(share * (heads - head)) }), // from the gentlest to the one shown
  controls: { scheme: chipsAndList },
  compute, draw, press, facts, reading,
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

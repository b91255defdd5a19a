import { distances, minDistance, monotonicityViolations, translationResidual } from "./arithmetic_properties.js";
import { chipsAndList } from "./chips_and_list.js";
import { pairColour, sequential } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, colourBar, grip, widthOf, words } from "./drawing.js";
import catalogue from "./build_an_encoding.json";
import { explorable } from "./explorable.js";
import { fixed, grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const HIGH = 240; // pixels of the map on a phone at most
const LENGTH = 64, PAIRS = 6, ROUNDING = 1e-9; // as in Python
const CLOSE = 0.02; // a distance that hardly shows,
const ALMOST = 0.03, ALIKE = 0.1; // and shares of the largest possible that do or still look alike
const PILE = 15, RISE = 15; // pixels within which handles are piled up, and how high at most

const frequenciesOf = (state) => Array.from({ length: state.pairs }, (_, k) => state[`theta_${k}`]);

function compute(state, width, previous) {
  const frequencies = frequenciesOf(state), key = [state.cosines, ...frequencies].join();
  if (previous?.key === key) return { ...previous, ...places(width, state) };
  const codes = Array.from({ length: LENGTH }, (_, m) => Float64Array.from(
    state.cosines ? [...frequencies.map((theta) => Math.sin(m * theta)), ...frequencies.map((theta) => Math.cos(m * theta))] : frequencies.map((theta) => Math.sin(m * theta)),
  ));
  const apart = distances(codes);
  const values = {
    codes,
    min_distance: minDistance(apart),
    translation_residual: translationResidual(apart),
    monotonicity_violations: monotonicityViolations(apart),
  };
  const largest = Math.max(...apart.slice(1).map((row) => Math.max(...row))), close = apart.findIndex((row) => row.includes(values.min_distance));
  return { key, values, apart, largest, close: [apart[close].indexOf(values.min_distance), close], ...places(width, state) };
}

// The map of distances, with what holds of it below. Beside it, on a phone on its left, the pairs; below these, or on a phone
// below all, their frequencies.
function places(width, { pairs } = { pairs: PAIRS }) {
  const wide = width >= 470, below = wide ? 72 : 0, side = wide ? Math.min(0.5 * width, 360) : Math.min(HIGH, width - 84), right = width - side - (wide ? 30 : 10), top = 24;
  const columns = wide ? Math.min(Math.ceil(pairs / 2) + (pairs === 2), 3) : right > 150 ? Math.min(pairs, 2) : 1, rows = Math.ceil(pairs / columns);
  const across = right / columns, down = (side - below) / rows, long = wide && across > 180, beside = long ? 76 : down < across ? 44 : 0; // words beside a pair, or below it
  const size = Math.min(across - beside, beside ? down : down - 18, 170);
  const left = width - side - 2, end = left + side;
  return {
    height: top + side + (wide ? 41 : 108),
    circles: { right, columns, across, down, long, beside, size, top: wide ? 20 : top },
    frequency: new Axis({ from: 0.001, to: 3.14, start: 10, end: (wide ? right : width) - 10, log: true }),
    frequencyTop: top + side + (wide ? -46 : 68),
    map: { x: cellAxis(LENGTH, left, end), y: cellAxis(LENGTH, top, top + side) },
  };
}

// The positions m and n: a full point and an open one.
function drawPoints(context, theme, colour, points, radius) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  points.forEach(([x, y], k) => {
    context.fillStyle = k ? theme.ground : colour;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  });
}

// A pair at both positions, and how far apart it encodes them: by its sine alone, along all positions, or as points of the circle.
function drawPair(context, theme, [x, y], radius, theta, positions, colour, cosines) {
  const plot = new Plot(context, theme), along = new Axis({ from: 0, to: LENGTH - 1, start: x - radius, end: x + radius }), up = (m) => y - radius * Math.sin(m * theta);
  const ends = positions.map((m) => [cosines ? x + radius * Math.cos(m * theta) : along.at(m), up(m)]);
  context.strokeStyle = theme.grid;
  context.lineWidth = cosines ? 1.2 : 1;
  context.beginPath();
  if (cosines) context.arc(x, y, radius, 0, 2 * Math.PI);
  else for (let m = 0; m < LENGTH; m += 0.25) context.lineTo(along.at(m), up(m));
  context.stroke();
  context.globalAlpha = 0.6;
  for (const [across, high] of ends) plot.rule(cosines ? [x, y] : [ends[1][0], high], [across, high], { colour, width: 1.5, dash: [] });
  context.globalAlpha = 1;
  plot.rule(cosines ? ends[0] : [ends[1][0], ends[0][1]], ends[1], { colour, width: 5, dash: [] });
  drawPoints(context, theme, colour, ends, Math.min(radius / 9, 5));
}

function drawPairs({ context }, result, state, theme) {
  const { circles: { columns, across, down, long, beside, size, right, top }, frequency, frequencyTop } = result, { position, other, pairs, cosines } = state;
  words(context, theme, picture.circles.map((text) => say(text, state)), 0, 12, { colour: theme.text, bold: true, width: right });
  frequenciesOf(state).forEach((each, k) => {
    const left = (k % columns) * across + (across - size - beside) / 2, y = top + (Math.floor(k / columns) + 0.5) * down - (beside ? 0 : 9);
    drawPair(context, theme, [left + size / 2, y], 0.44 * size, each, [position, other], pairColour(k, pairs), cosines);
    const [sine, cosine] = [Math.sin, Math.cos].map((of) => of(position * each) - of(other * each));
    const lines = say(picture[long ? "pair" : "pair_short"], { pair: k, apart: Math.hypot(sine, cosines ? cosine : 0) }).split("\n");
    if (beside) lines.forEach((line, row) => words(context, theme, line, left + size + 2, y + 18 * (row - 0.5), { colour: row ? theme.muted : theme.text, bold: row === 0 }));
    else words(context, theme, lines.join(": "), left + size / 2, y + size / 2 + 7, { align: "center", colour: theme.text });
  });
  words(context, theme, picture.frequencies, 0, frequencyTop - 16, { colour: theme.text, bold: true, width: right });
  const axis = new Plot(context, theme, frequency, new Axis({ from: 0, to: 1, start: frequencyTop + 14, end: frequencyTop }));
  axis.horizontal(0, { colour: theme.muted, dash: [] });
  for (const tick of frequency.ticks()) words(context, theme, grouped(tick), Math.max(frequency.at(tick), 18), frequencyTop + 31, { align: "center" });
  for (const { x, y, pair } of handles(result, state).slice(0, pairs)) grip(context, theme, x, y, pairColour(pair, pairs));
}

// Which of three properties hold, side by side below the map.
function drawProperties(context, theme, { values, map: { x, y } }, width) {
  const holds = [values.min_distance > CLOSE, values.translation_residual <= ROUNDING, values.monotonicity_violations <= ROUNDING], font = `600 ${theme.font}`;
  const sets = picture.properties.map((set) => set.map((text, k) => say(text, { mark: holds[k] ? "✓" : "✗" })));
  const wide = (set) => set.reduce((sum, text) => sum + widthOf(context, font, text) + 12, 0), texts = sets.find((set) => wide(set) <= Math.min(width, 1.5 * (x.end - x.start))) ?? sets.at(-1), long = texts.map((text) => widthOf(context, font, text));
  const all = long.reduce((sum, each) => sum + each), gap = Math.max(Math.min((x.end - x.start - all) / 2, 24), 10);
  let at = Math.min(Math.max((x.start + x.end - all - 2 * gap) / 2, 0), width - all - 2 * gap);
  texts.forEach((text, k) => {
    words(context, theme, text, at, y.end + 31, { colour: theme.text, bold: true });
    at += long[k] + gap;
  });
}

// The diagonal of all positions that are as far apart as m and n, named beside the end at which it leaves room.
function drawDiagonal(context, theme, { map: { x, y }, apart }, { position, other, pairs }) {
  const offset = Math.round(Math.abs(other - position)), upper = other >= position;
  context.save();
  context.beginPath();
  context.rect(x.start, y.start, x.end - x.start, y.end - y.start);
  context.clip();
  context.strokeStyle = theme.text;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const [less, more] of [[-0.5, offset - 1], [-0.5, offset + 1], [LENGTH - offset - 1.5, LENGTH - 0.5], [LENGTH - offset + 0.5, LENGTH - 0.5]]) context.lineTo(x.at(upper ? more : less), y.at(upper ? less : more));
  context.closePath();
  context.stroke();
  context.restore();
  const along = offset ? Array.from({ length: LENGTH - offset }, (_, m) => apart[m + offset][m]) : [0], differ = Math.max(...along) - Math.min(...along);
  const said = say(picture.diagonal[differ <= ROUNDING ? "one" : differ <= ALMOST * 2 * Math.sqrt(pairs) ? "almost" : "many"], { offset });
  const down = upper ? Math.min(y.at(LENGTH - 1 - offset) + 25, y.end - 14) : Math.max(y.at(offset) - 25, y.start + 14), row = y.invert(down + (upper ? -9 : 9));
  const at = upper ? Math.min(x.at(row + offset - 1) - 6, x.end - 7) : Math.max(x.at(row - offset + 1) + 6, x.start + 7);
  words(context, theme, said, at, down, { align: upper ? "right" : "left", colour: theme.text, bold: true, ground: true });
}

function draw(canvas, result, state, theme, cursor) {
  const { context, width } = canvas, { map: { x, y }, apart } = result;
  drawPairs(canvas, result, state, theme);
  const scale = sequential(0, 2 * Math.sqrt(state.pairs)), cells = new Float64Array(LENGTH * LENGTH); // up to the largest distance that so many pairs allow
  for (let m = 0; m < LENGTH; m++) for (let n = 0; n < m; n++) cells[m * LENGTH + n] = cells[n * LENGTH + m] = apart[m][n];
  const map = new HeatMap(context, theme, x, y);
  map.fill(cells, scale);
  const bar = width - 82;
  words(context, theme, picture.map, x.start, y.start - 12, { colour: theme.text, bold: true, width: bar - x.start - 22 });
  words(context, theme, "0", bar - 6, y.start - 12, { align: "right" });
  colourBar(context, theme, scale, { left: bar, top: y.start - 17, width: 50 });
  words(context, theme, fixed(scale.to, 1), bar + 56, y.start - 12);
  for (const [axis, at, align] of [["x", 0, "left"], ["x", LENGTH - 1, "right"]]) words(context, theme, String(at), result.map[axis].at(at), y.end + 9, { align });
  words(context, theme, picture.position, x.at(LENGTH / 2), y.end + 9, { align: "center", width: x.end - x.start - 40 });
  drawProperties(context, theme, result, width);
  const { x: across, y: down } = pointOf(result, state), edges = [[x.start, down], [across, y.start]];
  for (const edge of edges) new Plot(context, theme).rule(edge, [across, down], { width: 1.5 });
  drawPoints(context, theme, theme.text, edges, 4);
  drawDiagonal(context, theme, result, state);
  const side = state.other >= state.position ? 1 : -1, room = side > 0 ? x.end - across : across - x.start, off = side > 0 ? down - y.start : y.end - down; // off the diagonal, where there is room
  const [aside, above] = room > 50 ? [16 * side, -8 * side] : off > 40 ? [0, -22 * side] : [-16 * side, 0];
  const align = ["right", "center", "left"][Math.sign(aside) + 1], at = aside ? across + aside : Math.min(Math.max(across, x.start + 20), x.end - 20);
  words(context, theme, fixed(cells[Math.round(state.position) * LENGTH + Math.round(state.other)], 2), at, Math.min(Math.max(down + above, y.start + 9), y.end - 9), { align, colour: theme.text, bold: true, ground: true });
  grip(context, theme, across, down, theme.text);
  if (cursor !== null) map.outline(cursor.first, cursor.second);
}

const pointOf = ({ map: { x, y } }, { position, other }) => ({ x: x.at(other), y: y.at(position) });
const positionsAt = ({ map: { x, y } }, px, py) => ({ position: y.nearest(y.invert(py)), other: x.nearest(x.invert(px)) });

// Near the diagonal from which it comes, the point stays on it.
function along(before, { position, other }) {
  const kept = position + before.other - before.position;
  return { position, other: Math.abs(kept - other) <= 2 && kept >= 0 && kept < LENGTH ? kept : other };
}

// The frequencies in as many rows as they need, above their axis; and the point on the map.
function handles(result, state) {
  const { frequency, frequencyTop } = result, places = frequenciesOf(state).map((each) => frequency.at(each)), rows = [];
  places.forEach((x, pair) => {
    const near = rows.filter((_, other) => Math.abs(places[other] - x) < PILE);
    rows[pair] = [...places.keys()].find((row) => !near.includes(row));
  });
  const rise = Math.min(15, RISE / Math.max(...rows, 1));
  const pairs = places.map((x, pair) => ({ name: `pair ${pair}`, pair, x, y: frequencyTop + 14 - rise * rows[pair], along: "x", drag: (px) => ({ [`theta_${pair}`]: frequency.invert(px) }) }));
  return [...pairs, { name: "position", ...pointOf(result, state), drag: (px, py, before) => along(before, positionsAt(result, px, py)) }];
}

function facts({ values, largest, close: [first, second] }, state) {
  const { theta_0: theta, pairs } = state;
  return {
    min_distance: values.min_distance, period: (2 * Math.PI) / theta, alike: largest < ALIKE * 2 * Math.sqrt(pairs), close: values.min_distance < CLOSE, first, second,
    invariant: values.translation_residual <= ROUNDING, slow: frequenciesOf(state).every((each) => each * (LENGTH - 1) <= Math.PI),
  };
}

function reading({ apart }, state, { first, second }) {
  const [less, more] = [Math.min(first, second), Math.max(first, second)];
  return { offset: more - less, distance: less === more ? 0 : apart[more][less] };
}

const within = ({ map: { x, y } }) => [{ left: x.start, right: x.end, top: y.start, bottom: y.end }];

const render = explorable({
  catalogue,
  readers: [
    { name: "first", vertical: true, axis: ({ map }) => map.y, within },
    { name: "second", axis: ({ map }) => map.x, within },
  ],
  height: (width) => places(width).height,
  opening: (share, { position, other }) => ({ position: share * position, other: other - (1 - share) * position }), // along the diagonal
  compute, draw, facts, reading, handles, controls: { frequencies: chipsAndList },
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = within(result);
    return px >= left && px <= right && py >= top && py <= bottom ? positionsAt(result, px, py) : null;
  },
  pixel: ({ map }, first, second) => [map.x.at(second), map.y.at(first)],
});

export default { render };

import { distances, minDistance, monotonicityViolations, translationResidual } from "./arithmetic_properties.js";
import { colours, pairColour, sequential } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, colourBar, grip, words } from "./drawing.js";
import catalogue from "./build_an_encoding.json";
import { explorable } from "./explorable.js";
import { fixed, grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const LENGTH = 64, PAIRS = 6, ROUNDING = 1e-9; // as in Python

const frequenciesOf = (state) => Array.from({ length: state.pairs }, (_, k) => state[`theta_${k}`]);

function compute(state, width, previous) {
  const frequencies = frequenciesOf(state), key = [state.cosines, ...frequencies].join();
  if (previous?.key === key) return { ...previous, ...places(width, state.pairs) };
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
  return { key, values, apart, most: Math.max(...apart.map((row) => row.reduce((most, value) => Math.max(most, value), 0))), ...places(width, state.pairs) };
}

// Dials of the pairs, frequencies and properties, and beside or below them the map of distances.
function places(width, pairs = PAIRS) {
  const wide = width >= 470, side = wide ? Math.min(0.44 * width, 312) : 172, right = wide ? width - side - 30 : width;
  const columns = wide ? Math.min(Math.ceil(pairs / 2) + (pairs === 2), 3) : Math.max(pairs, 4), rows = Math.ceil(pairs / columns);
  const across = right / columns, beside = wide && across > 140 ? 76 : 0; // numbers beside a dial, where there is room
  const size = Math.min(across - beside, wide ? 212 / rows : 74, 170);
  const left = wide ? width - side - 2 : 26, top = wide ? 20 : 192;
  return {
    wide, side, height: wide ? 368 : top + side + 18,
    dials: { right, columns, across, beside, size, top: wide ? 18 + (216 - rows * size) / 2 : 18 },
    frequency: new Axis({ from: 0.001, to: 3.14, start: 10, end: right - 10, log: true }),
    frequencyTop: wide ? 262 : 122,
    map: { x: cellAxis(LENGTH, left, left + side), y: cellAxis(LENGTH, top, top + side) },
  };
}

// A hand, and its shadows: the sine on the upright bar beside it, and the cosine on the bar above.
function drawDial(context, theme, x, y, size, angle, colour, cosines) {
  const radius = 0.4 * size, [sine, cosine] = [Math.sin(angle), Math.cos(angle)], far = radius + 0.08 * size;
  context.strokeStyle = theme.grid;
  context.lineWidth = 1.2;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.moveTo(x + far, y - radius);
  context.lineTo(x + far, y + radius);
  if (cosines) {
    context.moveTo(x - radius, y - far);
    context.lineTo(x + radius, y - far);
  }
  context.stroke();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x + radius * cosine, y - radius * sine);
  context.lineTo(x + far, y - radius * sine);
  if (cosines) {
    context.moveTo(x + radius * cosine, y - radius * sine);
    context.lineTo(x + radius * cosine, y - far);
  }
  context.stroke();
  context.globalAlpha = cosines ? 1 : 0.6;
  context.lineWidth = 3;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + radius * cosine, y - radius * sine);
  context.stroke();
  context.globalAlpha = 1;
  context.lineWidth = Math.max(4, size / 16);
  context.beginPath();
  context.moveTo(x + far, y);
  context.lineTo(x + far, y - radius * sine);
  if (cosines) {
    context.moveTo(x, y - far);
    context.lineTo(x + radius * cosine, y - far);
  }
  context.stroke();
}

function drawPairs({ context }, result, state, theme) {
  const { dials: { columns, across, beside, size, right, top }, frequency, frequencyTop, wide } = result, { position, pairs, cosines } = state;
  words(context, theme, picture.dials.map((text) => say(text, state)), 0, 8, { colour: theme.text, bold: true, width: right });
  frequenciesOf(state).forEach((each, k) => {
    const left = (k % columns) * across + (across - size - beside) / 2, y = top + (Math.floor(k / columns) + 0.55) * size, angle = position * each;
    drawDial(context, theme, left + 0.46 * size, y, size, angle, pairColour(k, pairs), cosines);
    if (!beside) return;
    const said = say(picture.pair, { pair: k, sine: Math.sin(angle), cosine: Math.cos(angle), cosines }).split("\n");
    said.forEach((line, row) => words(context, theme, line, left + size + 2, y + 18 * (row - (said.length - 1) / 2), { colour: row ? theme.muted : theme.text, bold: row === 0 }));
  });
  words(context, theme, picture.frequencies, 0, frequencyTop - 16, { colour: theme.text, bold: true, width: right });
  const axis = new Plot(context, theme, frequency, new Axis({ from: 0, to: 1, start: frequencyTop + 14, end: frequencyTop }));
  axis.horizontal(0, { colour: theme.muted, dash: [] });
  for (const tick of frequency.ticks()) words(context, theme, grouped(tick), Math.max(frequency.at(tick), 18), frequencyTop + 31, { align: "center" });
  for (const { x, y, pair } of handles(result, state).slice(0, pairs)) grip(context, theme, x, y, pairColour(pair, pairs));
  if (wide) drawProperties(context, theme, result, 0, frequencyTop + 54, right);
}

function drawProperties(context, theme, { values, wide }, left, top, right) {
  const [nearest, variation, violations] = [values.min_distance, values.translation_residual, values.monotonicity_violations];
  [[nearest > ROUNDING, nearest], [variation <= ROUNDING, 100 * variation], [violations <= ROUNDING, 100 * violations]].forEach(([holds, score], k) => {
    const at = top + (wide ? 21 : 50) * k;
    const start = wide ? Math.min(left + 160, right - 105) : left;
    words(context, theme, picture.properties[k], left, at, { colour: theme.text, width: (wide ? start - 6 : right) - left });
    const texts = picture.scores[k].map((text) => say(text, { mark: holds ? "✓" : "✗", score }));
    words(context, theme, texts, start, wide ? at : at + 18, { colour: theme.text, bold: true, width: right - start });
  });
}

function draw(canvas, result, state, theme, cursor) {
  const { context, width } = canvas, { map: { x, y }, apart, most, wide, side } = result;
  drawPairs(canvas, result, state, theme);
  const scale = sequential(0, most || 1), cells = new Float64Array(LENGTH * LENGTH);
  for (let m = 0; m < LENGTH; m++) for (let n = 0; n < m; n++) cells[m * LENGTH + n] = cells[n * LENGTH + m] = apart[m][n];
  const map = new HeatMap(context, theme, x, y);
  map.fill(cells, scale);
  const bar = width - 82, left = wide ? x.start : 0;
  words(context, theme, picture.map, left, y.start - 12, { colour: theme.text, bold: true, width: bar - left - 22 });
  words(context, theme, "0", bar - 6, y.start - 12, { align: "right" });
  colourBar(context, theme, scale, { left: bar, top: y.start - 17, width: 50, ticks: [] });
  words(context, theme, fixed(scale.to, 1), bar + 56, y.start - 12);
  for (const [axis, at, align] of [["x", 0, "left"], ["x", LENGTH - 1, "right"]]) words(context, theme, String(at), result.map[axis].at(at), y.end + 9, { align });
  words(context, theme, picture.position, x.at(LENGTH / 2), y.end + 9, { align: "center", width: side - 40 });
  if (!wide) drawProperties(context, theme, result, x.start + side + 12, y.start + 26, width);
  context.strokeStyle = colours.query;
  context.lineWidth = 1.5;
  const row = y.at(state.position - 0.5), cell = y.at(1) - y.at(0);
  context.strokeRect(x.start - 1, row, side + 2, cell);
  grip(context, theme, x.start - 10, y.at(state.position), colours.query);
  if (cursor !== null) map.outline(cursor.first, cursor.second);
}

const drag = (state, pair, frequency) => ({ [`theta_${pair}`]: frequency });

function handles({ frequency, frequencyTop, map: { x, y } }, state) {
  const pairs = frequenciesOf(state).map((each, pair) => ({
    name: `pair ${pair}`, pair, x: frequency.at(each), y: frequencyTop + 14, along: "x", drag: (px) => drag(state, pair, frequency.invert(px)),
  }));
  return [...pairs, { name: "position", x: x.start - 10, y: y.at(state.position), along: "y", drag: (px, py) => ({ position: y.nearest(y.invert(py)) }) }];
}

function facts({ values }) {
  return {
    min_distance: values.min_distance, variation: 100 * values.translation_residual,
    identical: values.min_distance <= ROUNDING, invariant: values.translation_residual <= ROUNDING,
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
  opening: (share, { position }) => ({ position: share * position }), // all pairs rotate from 0 to m
  compute, draw, facts, reading, handles,
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = within(result);
    return px >= left && px <= right && py >= top && py <= bottom ? { position: result.map.y.nearest(result.map.y.invert(py)) } : null;
  },
  pixel: ({ map }, first, second) => [map.x.at(second), map.y.at(first)],
});

export default { render };

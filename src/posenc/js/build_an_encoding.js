import { distances, minDistance, monotonicityViolations, translationResidual } from "./arithmetic_properties.js";
import { colours, pairColour, sequential } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, colourBar, grip, words } from "./drawing.js";
import catalogue from "./build_an_encoding.json";
import { explorable } from "./explorable.js";
import { grouped } from "./numbers.js";
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

// Clock pairs, frequencies and properties, and beside or below them the map of distances.
function places(width, pairs = PAIRS) {
  const wide = width >= 600, side = wide ? Math.min(0.44 * width, 312) : 160, right = wide ? width - side - 30 : width;
  const columns = wide && pairs > 4 ? 3 : wide ? pairs : PAIRS, size = Math.min(right / columns, wide ? (pairs > 4 ? 104 : 180) : 80);
  const left = wide ? width - side - 2 : 26, top = wide ? 24 : 194;
  return {
    wide, side, height: wide ? 368 : top + side + 14,
    dials: { right, columns, size, top: wide ? 18 + (208 - Math.ceil(pairs / columns) * size) / 2 : 18 },
    frequency: new Axis({ from: 0.001, to: 3.14, start: 10, end: right - 10, log: true }),
    frequencyTop: wide ? 254 : 112,
    map: { x: cellAxis(LENGTH, left, left + side), y: cellAxis(LENGTH, top, top + side) },
  };
}

// A hand, and its shadows: the sine on the upright bar beside it, the cosine on the bar above.
function drawDial(context, theme, x, y, size, angle, colour, cosines) {
  const radius = 0.32 * size, [sine, cosine] = [Math.sin(angle), Math.cos(angle)], far = radius + 0.1 * size;
  context.strokeStyle = theme.grid;
  context.lineWidth = 1.2;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.moveTo(x + far, y - radius);
  context.lineTo(x + far, y + radius);
  context.moveTo(x - radius, y - far);
  context.lineTo(x + radius, y - far);
  context.stroke();
  context.globalAlpha = cosines ? 1 : 0.3;
  context.strokeStyle = colour;
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
  const { dials: { columns, size, right, top }, frequency, frequencyTop, wide } = result, { position, pairs } = state;
  words(context, theme, picture.dials.map((text) => say(text, state)), 0, 8, { colour: theme.text, bold: true, width: right });
  frequenciesOf(state).forEach((each, k) => {
    drawDial(context, theme, ((k % columns) + 0.46) * size, top + (Math.floor(k / columns) + 0.55) * size, size, position * each, pairColour(k, pairs), state.cosines);
  });
  words(context, theme, picture.frequencies, 0, frequencyTop - 16, { colour: theme.text, bold: true, width: right });
  const axis = new Plot(context, theme, frequency, new Axis({ from: 0, to: 1, start: frequencyTop + 14, end: frequencyTop }));
  axis.horizontal(0, { colour: theme.muted, dash: [] });
  for (const tick of frequency.ticks()) words(context, theme, grouped(tick), Math.max(frequency.at(tick), 18), frequencyTop + 31, { align: "center" });
  for (const { x, y, pair } of handles(result, state)) grip(context, theme, x, y, pairColour(pair, pairs));
  if (wide) drawProperties(context, theme, result, 0, frequencyTop + 56, right);
}

function drawProperties(context, theme, { values, wide }, left, top, right) {
  const [nearest, variation, violations] = [values.min_distance, values.translation_residual, values.monotonicity_violations];
  [[nearest > ROUNDING, nearest], [variation <= ROUNDING, 100 * variation], [violations <= ROUNDING, 100 * violations]].forEach(([holds, score], k) => {
    const at = top + (wide ? 21 : 50) * k;
    words(context, theme, picture.properties[k], left, at, { colour: theme.text, width: right - left });
    const texts = picture.scores[k].map((text) => say(text, { mark: holds ? "✓" : "✗", score }));
    const start = wide ? Math.min(left + 160, right - 130) : left;
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
  words(context, theme, picture.map.map((text) => say(text, { length: LENGTH })), wide ? x.start : 0, y.start - 11, { colour: theme.text, bold: true, width: width - (wide ? x.start : 0) });
  for (const [axis, at, align] of [["x", 0, "left"], ["x", LENGTH - 1, "right"]]) words(context, theme, String(at), result.map[axis].at(at), y.end + 9, { align });
  words(context, theme, picture.position, x.at(LENGTH / 2), y.end + 9, { align: "center" });
  if (wide) colourBar(context, theme, scale, { left: x.end - 110, top: y.end + 4, width: 80, ticks: [], title: "" });
  else drawProperties(context, theme, result, x.start + side + 12, y.start + 26, width);
  context.strokeStyle = colours.query;
  context.lineWidth = 1.5;
  const row = y.at(state.position - 0.5), cell = y.at(1) - y.at(0);
  context.strokeRect(x.start - 1, row, side + 2, cell);
  if (cursor !== null) map.outline(cursor.first, cursor.second);
}

const drag = (state, pair, frequency) => ({ [`theta_${pair}`]: frequency });

function handles({ frequency, frequencyTop }, state) {
  return frequenciesOf(state).map((each, pair) => ({
    name: `pair ${pair}`, pair, x: frequency.at(each), y: frequencyTop + 14, along: "x", drag: (px) => drag(state, pair, frequency.invert(px)),
  }));
}

function facts({ values }) {
  return {
    min_distance: values.min_distance, variation: 100 * values.translation_residual, violations: 100 * values.monotonicity_violations,
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
  compute, draw, facts, reading, handles,
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = within(result);
    return px >= left && px <= right && py >= top && py <= bottom ? { position: result.map.y.nearest(result.map.y.invert(py)) } : null;
  },
  pixel: ({ map }, first, second) => [map.x.at(second), map.y.at(first)],
});

export default { render };

import { distances, minDistance, monotonicityViolations, translationResidual } from "./arithmetic_properties.js";
import { chipsAndList } from "./chips_and_list.js";
import { colours, pairColour, sequential } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, colourBar, grip, widthOf, words } from "./drawing.js";
import catalogue from "./build_an_encoding.json";
import { explorable } from "./explorable.js";
import { fixed, grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const LENGTH = 64, PAIRS = 6, ROUNDING = 1e-9; // as in Python
const OFFSET = 24; // of the diagonal that is outlined

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
  return { key, values, apart, ...places(width, state.pairs) };
}

// The map of distances with what holds of it below, and beside or above it dials of the pairs and their frequencies.
function places(width, pairs = PAIRS) {
  const wide = width >= 470, side = wide ? Math.min(0.5 * width, 360) : Math.min(width - 122, 178), right = wide ? width - side - 30 : width;
  const columns = wide ? Math.min(Math.ceil(pairs / 2) + (pairs === 2), 3) : Math.max(pairs, 4), rows = Math.ceil(pairs / columns);
  const across = right / columns, beside = wide && across > 180 ? 76 : 0; // numbers beside a dial, where there is room
  const size = Math.min(across - beside, wide ? (side - 72) / rows : 76, 170);
  const left = wide ? width - side - 2 : 26, top = wide ? 24 : 176;
  return {
    wide, side, height: top + side + (wide ? 42 : 18),
    dials: { right, columns, across, beside, size, top: wide ? 18 + (side - 72 - rows * size) / 2 : 16 },
    frequency: new Axis({ from: 0.001, to: 3.14, start: 10, end: right - 10, log: true }),
    frequencyTop: wide ? top + side - 46 : 114,
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
  const { dials: { columns, across, beside, size, right, top }, frequency, frequencyTop } = result, { position, pairs, cosines } = state;
  words(context, theme, picture.dials.map((text) => say(text, { ...state, numbers: (cosines ? 2 : 1) * pairs })), 0, 8, { colour: theme.text, bold: true, width: right });
  frequenciesOf(state).forEach((each, k) => {
    const left = (k % columns) * across + (across - size - beside) / 2, y = top + (Math.floor(k / columns) + 0.55) * size, angle = position * each;
    drawDial(context, theme, left + 0.46 * size, y, size, angle, pairColour(k, pairs), cosines);
    if (!beside) return void words(context, theme, String(k), left, y + 0.3 * size, { colour: theme.text, bold: true });
    const said = say(picture.pair, { pair: k, sine: Math.sin(angle), cosine: Math.cos(angle), cosines }).split("\n");
    said.forEach((line, row) => words(context, theme, line, left + size + 2, y + 18 * (row - (said.length - 1) / 2), { colour: row ? theme.muted : theme.text, bold: row === 0 }));
  });
  words(context, theme, picture.frequencies, 0, frequencyTop - 16, { colour: theme.text, bold: true, width: right });
  const axis = new Plot(context, theme, frequency, new Axis({ from: 0, to: 1, start: frequencyTop + 14, end: frequencyTop }));
  axis.horizontal(0, { colour: theme.muted, dash: [] });
  for (const tick of frequency.ticks()) words(context, theme, grouped(tick), Math.max(frequency.at(tick), 18), frequencyTop + 31, { align: "center" });
  for (const { x, y, pair } of handles(result, state).slice(0, pairs)) grip(context, theme, x, y, pairColour(pair, pairs));
}

// Which of three properties hold: side by side below the map, or one below the other at its right.
function drawProperties(context, theme, { values, map: { x, y }, wide, side }, width) {
  const holds = [values.min_distance > ROUNDING, values.translation_residual <= ROUNDING, values.monotonicity_violations <= ROUNDING], font = `600 ${theme.font}`;
  const texts = picture.properties.map((text, k) => say(text, { mark: holds[k] ? "✓" : "✗" })), long = texts.map((text) => widthOf(context, font, text));
  if (!wide) return void texts.forEach((text, k) => words(context, theme, text, x.end + 10, y.at(LENGTH / 2) + 28 * (k - 1), { colour: theme.text, bold: true, width: width - x.end - 10 }));
  const all = long.reduce((sum, each) => sum + each), gap = Math.max(Math.min((side - all) / 2, 24), 10);
  let at = Math.min(Math.max((x.start + x.end - all - 2 * gap) / 2, 0), width - all - 2 * gap);
  texts.forEach((text, k) => {
    words(context, theme, text, at, y.end + 31, { colour: theme.text, bold: true });
    at += long[k] + gap;
  });
}

// One diagonal: the distances of all positions that are OFFSET apart.
function drawDiagonal(context, theme, { map: { x, y }, values }) {
  context.strokeStyle = theme.text;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const [down, across] of [[-0.5, OFFSET - 1], [-0.5, OFFSET + 1], [LENGTH - OFFSET - 1.5, LENGTH - 0.5], [LENGTH - OFFSET + 0.5, LENGTH - 0.5]]) context.lineTo(x.at(across), y.at(down));
  context.closePath();
  context.stroke();
  const said = picture.diagonal[values.translation_residual <= ROUNDING ? "one" : "many"];
  words(context, theme, said, x.end - 7, y.start + 14, { align: "right", colour: theme.text, bold: true, ground: true, width: x.end - x.at(OFFSET + 6) });
}

function draw(canvas, result, state, theme, cursor) {
  const { context, width } = canvas, { map: { x, y }, apart, wide, side } = result;
  drawPairs(canvas, result, state, theme);
  const scale = sequential(0, 2 * Math.sqrt(state.pairs)), cells = new Float64Array(LENGTH * LENGTH); // up to the largest distance that so many pairs allow
  for (let m = 0; m < LENGTH; m++) for (let n = 0; n < m; n++) cells[m * LENGTH + n] = cells[n * LENGTH + m] = apart[m][n];
  const map = new HeatMap(context, theme, x, y);
  map.fill(cells, scale);
  const bar = width - 82, left = wide ? x.start : 0;
  words(context, theme, picture.map, left, y.start - 12, { colour: theme.text, bold: true, width: bar - left - 22 });
  words(context, theme, "0", bar - 6, y.start - 12, { align: "right" });
  colourBar(context, theme, scale, { left: bar, top: y.start - 17, width: 50 });
  words(context, theme, fixed(scale.to, 1), bar + 56, y.start - 12);
  for (const [axis, at, align] of [["x", 0, "left"], ["x", LENGTH - 1, "right"]]) words(context, theme, String(at), result.map[axis].at(at), y.end + 9, { align });
  words(context, theme, picture.position, x.at(LENGTH / 2), y.end + 9, { align: "center", width: side - 40 });
  drawDiagonal(context, theme, result);
  drawProperties(context, theme, result, width);
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

function facts({ values }, { theta_0: theta }) {
  return {
    min_distance: values.min_distance, period: (2 * Math.PI) / theta, identical: values.min_distance <= ROUNDING,
    invariant: values.translation_residual <= ROUNDING, monotonic: values.monotonicity_violations <= ROUNDING,
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
  compute, draw, facts, reading, handles, controls: { frequencies: chipsAndList },
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = within(result);
    return px >= left && px <= right && py >= top && py <= bottom ? { position: result.map.y.nearest(result.map.y.invert(py)) } : null;
  },
  pixel: ({ map }, first, second) => [map.x.at(second), map.y.at(first)],
});

export default { render };

import { decay, inverseFrequencies } from "./arithmetic.js";
import { sinusoidalRun } from "./arithmetic_encodings.js";
import { kernelAsymmetry, kernelBand, kernelResidual, offsetProducts, randomOrthogonal, shiftMatrix } from "./arithmetic_kernel.js";
import { colours, diverging, pairColour } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, colourBar, grip, legend, widthOf, words } from "./drawing.js";
import { explorable } from "./explorable.js";
import { formatInteger } from "./numbers.js";
import { say } from "./sentences.js";
import catalogue from "./sinusoid_explorer.json";

const { picture } = catalogue;
const POSITIONS = 128, REACH = 64; // positions 0 … 127 of the text, distances −64 … 64
const COARSE = 4; // while something is dragged, the band is that of every fourth position
const SAME = 1e-9; // below it, a difference is rounding
const FEW = 8; // dials on a phone
const QUERY = [], KEY = [5, 3], MEAN = [1.5, 3], PLAIN = [6, 4]; // dashes

// Dials and table side by side where there is room, else the table above a few dials; below them the curves.
function places(width) {
  if (width >= 600) return { dials: { top: 36, right: 264, bottom: 152 }, table: { left: 322, top: 44, bottom: 134 }, legend: 190, chart: { top: 220, bottom: 366 } };
  return { dials: { top: 152, right: width, bottom: 194, few: true }, table: { left: 30, top: 44, bottom: 98 }, legend: 206, chart: { top: 252, bottom: 348 } };
}

// What is said of the rows of a kernel.
function measures(kernel) {
  const band = kernelBand(kernel), peak = band.mean.indexOf(Math.max(...band.mean)) - REACH;
  return { ...band, residual: kernelResidual(kernel, band), asymmetry: kernelAsymmetry(kernel, band), peak };
}

// The encodings of every position and distance, their kernel and its measures; none of it depends on the chosen position.
// `row` gives a position's row of the kernel, `measured` is of every fourth row until `complete` has made them all.
function throughMatrix({ weight, draw, base, dim, offset }, frequencies, before) {
  const shift = weight === "shift" ? offset : 0, key = [weight === "random" ? draw : `shift ${shift}`, base, dim].join();
  if (before?.key === key) return before;
  const drawn = `${draw} ${dim}`;
  const random = weight !== "random" || before?.drawn === drawn ? before?.random : randomOrthogonal(draw, dim);
  const codes = sinusoidalRun(-REACH, POSITIONS + 2 * REACH, dim, base), kernel = Array(POSITIONS).fill(null);
  const products = offsetProducts(codes, REACH, weight === "random" ? random : shiftMatrix(shift, frequencies));
  const row = (m) => (kernel[m] ??= products(m));
  const measured = measures(Array.from({ length: POSITIONS / COARSE }, (_, k) => row(k * COARSE)));
  const through = { key, drawn: weight === "random" ? drawn : before?.drawn, random, codes, row, measured, complete };
  function complete(deadline) {
    for (let m = 0; m < POSITIONS; m++) {
      if (performance.now() > deadline) return false;
      row(m);
    }
    Object.assign(through, { measured: measures(kernel), complete: undefined });
    return true;
  }
  return through;
}

// The products of encodings without a matrix at distances 0 … 2·REACH, which do not depend on the position.
function withoutMatrix({ base, dim }, frequencies, before) {
  if (before?.base === base && before.dim === dim) return before;
  const plain = Float64Array.from({ length: 2 * REACH + 1 }, (_, distance) => decay(distance, frequencies));
  return { base, dim, least: Math.min(...plain), at: Float64Array.from(plain, (_, k) => plain[Math.abs(k - REACH)]) };
}

function compute(state, width, previous) {
  const { base, dim, position, offset, weight } = state;
  const frequencies = inverseFrequencies(dim, base), place = places(width);
  const through = throughMatrix(state, frequencies, previous?.through), { codes } = through;
  const without = withoutMatrix(state, frequencies, previous?.without);
  const values = {
    code: codes[position + REACH],
    other: codes[position - offset + REACH],
    table: codes.slice(REACH, -REACH),
    kernel: through.row(position),
    plain: without.at,
    ...through.measured,
  };
  const complete = through.complete && ((deadline) => {
    const done = through.complete(deadline);
    Object.assign(values, through.measured);
    return done;
  });
  // As far down as the curves go from wherever one stands.
  const least = weight === "random" ? Math.min(...values.low, without.least) : without.least;
  const axes = {
    position: cellAxis(POSITIONS, place.table.left, width - 10),
    dimension: cellAxis(dim, place.table.top, place.table.bottom),
    offset: new Axis({ from: -REACH, to: REACH, start: 50, end: width - 10 }),
    product: new Axis({ from: Math.max(Math.floor(least * 10) / 10, -1) - 0.05, to: 1.08, start: place.chart.bottom, end: place.chart.top }),
  };
  return { values, axes, place, through, without, frequencies, complete };
}

// The largest dials that fit.
function dialSize(count, { top, right, bottom }) {
  for (let size = 110; ; size -= 1) {
    const columns = Math.floor(right / size);
    if (columns > 0 && Math.ceil(count / columns) * size <= bottom - top) return { size, columns };
  }
}

function drawDials({ context }, { frequencies, values, place }, state, theme, chosen) {
  const { dials: box } = place, pairs = frequencies.length, few = box.few && pairs > FEW;
  const shown = Array.from({ length: few ? FEW : pairs }, (_, k) => (few ? Math.round((k * (pairs - 1)) / (FEW - 1)) : k));
  const { size, columns } = dialSize(shown.length, box), radius = size * 0.44;
  words(context, theme, say(few ? picture.few_dials : picture.dials, { shown: shown.length, pairs }), 0, box.top - (box.few ? 6 : 10), { width: box.right });
  if (!box.few) legend(context, theme, strokes(state), 0, 8, box.right);
  const dials = shown.map((pair, k) => ({ pair, x: ((k % columns) + 0.5) * size, y: box.top + (Math.floor(k / columns) + 0.5) * size }));
  context.globalAlpha = 0.35;
  for (const { pair, x, y } of dials) {
    const start = -state.position * frequencies[pair]; // on a canvas the y axis points down
    const turn = Math.max(-2 * Math.PI, Math.min(2 * Math.PI, state.offset * frequencies[pair]));
    context.fillStyle = pairColour(pair, pairs);
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, radius, start, start + turn, turn < 0);
    context.fill();
  }
  context.globalAlpha = 1;
  const rings = (which, colour, width) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    for (const { x, y } of which) {
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.stroke();
  };
  rings(dials, theme.grid, 1);
  rings(dials.filter(({ pair }) => pair === chosen), theme.text, 2);
  // The tip of a hand is the pair itself: its cosine across, its sine up.
  for (const [code, colour, dash] of [[values.code, colours.query, []], [values.other, colours.key, [size / 10, size / 20]]]) {
    context.strokeStyle = colour;
    context.lineWidth = Math.max(1.6, size / 16);
    context.setLineDash(dash);
    context.beginPath();
    for (const { pair, x, y } of dials) {
      context.moveTo(x, y);
      context.lineTo(x + radius * code[2 * pair + 1], y - radius * code[2 * pair]);
    }
    context.stroke();
  }
  context.setLineDash([]);
}

const strokes = ({ position, offset }) => [
  { label: say(picture.query, { position }), colour: colours.query, dash: QUERY },
  { label: say(picture.key, { key: position - offset }), colour: colours.key, dash: KEY },
];

// Both positions are dragged in the table, m above and n below it, and their distance also along the curve.
function handles({ values, axes }, { position, offset }) {
  const { position: x, dimension, offset: along, product } = axes, key = Math.min(Math.max(position - offset, 0), POSITIONS - 1);
  return [
    { name: "position", along: "x", x: x.at(position), y: dimension.start - 10, drag: (px) => ({ position: x.nearest(x.invert(px)) }) },
    { name: "key", along: "x", x: x.at(key), y: dimension.end + 10, drag: (px) => ({ offset: position - x.nearest(x.invert(px)) }) },
    {
      name: "offset", x: along.at(offset), y: product.at(values.kernel[offset + REACH]), line: { vertical: true, from: product.end, to: product.start },
      drag: (px) => ({ offset: along.nearest(along.invert(px)) }),
    },
  ];
}

// A name beside a grip, on the side where there is room.
function nameOf(context, theme, text, x, y, colour, right) {
  const font = `600 ${theme.font}`, before = x + 13 + widthOf(context, font, text) > right;
  words(context, theme, text, before ? x - 13 : x + 13, y, { colour, align: before ? "right" : "left", bold: true, rim: true });
}

function drawTable({ context, width }, { values, axes, frequencies }, state, theme, cursor, [query, other]) {
  const { position: x, dimension: y } = axes, map = new HeatMap(context, theme, x, y), scale = diverging(1);
  const cells = new Float64Array(POSITIONS * state.dim);
  for (let m = 0; m < POSITIONS; m++) for (let k = 0, row = values.table[m]; k < state.dim; k++) cells[k * POSITIONS + m] = row[k];
  map.fill(cells, scale);
  const step = [1, 2, 4, 8, 16, 32].find((size) => state.dim / size <= 4), bar = width >= 600 ? 110 : 90;
  map.labels({ yTicks: Array.from({ length: Math.ceil(state.dim / step) }, (_, k) => [k * step, String(k * step)]) });
  for (const m of [0, 32, 64, 96, 127]) words(context, theme, String(m), x.at(m), y.end + 20, { align: m === 127 ? "right" : "center", baseline: "top" });
  words(context, theme, [picture.table, picture.table_short], x.start, 8, { width: x.end - x.start - bar - 10 });
  colourBar(context, theme, scale, { left: Math.round(x.end - bar), top: 2, width: bar, ticks: [-1, 0, 1] });
  for (let i = 0; i < frequencies.length; i++) {
    context.fillStyle = pairColour(i, frequencies.length);
    context.fillRect(x.start - 5, y.at(2 * i - 0.5), 4, y.at(2 * i + 1.5) - y.at(2 * i - 0.5));
  }
  if (cursor !== null) map.outline(cursor.dimension, cursor.position);
  const key = state.position - state.offset;
  for (const [at, colour, dash] of [[key, colours.key, KEY], [state.position, colours.query, QUERY]]) {
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.setLineDash(dash);
    if (at >= 0 && at < POSITIONS) context.strokeRect(x.at(at - 0.5) - 1, y.start - 2, x.at(1) - x.at(0) + 2, y.end - y.start + 4);
  }
  context.setLineDash([]);
  grip(context, theme, query.x, query.y, colours.query);
  nameOf(context, theme, say(picture.query, state), query.x, query.y, colours.query, x.end - bar - 6);
  grip(context, theme, other.x, other.y, colours.key);
  nameOf(context, theme, say(picture[key < 0 ? "key_before" : key < POSITIONS ? "key" : "key_after"], { key }), other.x, other.y, colours.key, x.end);
}

function drawKernel({ context, width }, { values, axes, place }, state, theme, cursor, { x: px, y: py }) {
  const { offset: x, product: y } = axes, { weight, offset } = state, facts = { ...state, positions: POSITIONS };
  const points = (line) => Array.from(line, (value, k) => [k - REACH, value]), random = weight === "random";
  const long = width >= 600 ? picture.long : picture.short, entry = (name, colour, stroke) => ({ label: say(long[name], facts), colour, ...stroke });
  const entries = [entry(random ? "from_here" : "from_everywhere", colours.query)];
  if (random) entries.push(entry("band", colours.position, { area: true }), entry("mean", theme.text, { dash: MEAN }));
  if (weight !== "identity") entries.push(entry("plain", theme.muted, { dash: PLAIN }));
  legend(context, theme, entries, 0, place.legend, width);
  const plot = new Plot(context, theme, x, y), room = new Axis({ from: x.invert(x.start - 10), to: REACH, start: x.start - 10, end: x.end });
  new Plot(context, theme, room, y).axes({ xTitle: picture.x, yTitle: [picture.y, picture.y_short], xTicks: width >= 600 ? 8 : 4, yTicks: 4, xText: formatInteger });
  plot.vertical(0, { colour: theme.muted, dash: [] });
  if (random) plot.area(points(values.low).map(([k, low]) => [x.at(k), low, values.high[k + REACH]]), colours.position);
  if (weight !== "identity") plot.line(points(values.plain), theme.muted, { width: 1.6, dash: PLAIN });
  if (random) plot.line(points(values.mean), theme.text, { width: 2, dash: MEAN });
  plot.line(points(values.kernel), colours.query, { width: 2.2 });
  plot.vertical(offset, { colour: colours.key, width: 1.5, dash: KEY });
  grip(context, theme, px, py, colours.key);
  nameOf(context, theme, say(picture.offset, state), px - 6, y.start - 9, colours.key, x.end);
  if (cursor !== null) plot.vertical(cursor.offset);
}

function draw(canvas, result, state, theme, cursor) {
  const table = cursor !== null && cursor.last !== "offset" ? cursor : null, [query, key, offset] = handles(result, state);
  drawDials(canvas, result, state, theme, table && table.dimension >> 1);
  drawTable(canvas, result, state, theme, table, [query, key]);
  drawKernel(canvas, result, state, theme, cursor?.last === "offset" ? cursor : null, offset);
}

function facts({ values, frequencies }, { offset }) {
  const at = offset + REACH, low = values.low[at], high = values.high[at], { peak } = values;
  return {
    product: values.kernel[at], low, high, everywhere: high - low < SAME, positions: POSITIONS, by_position: 100 * values.residual ** 2,
    by_offset: values.residual < SAME, symmetric: values.asymmetry < SAME, peak, steps: Math.abs(peak), slowest: (2 * Math.PI) / frequencies[frequencies.length - 1],
  };
}

function reading({ values, frequencies }, state, { position, dimension, offset, last }) {
  const at = offset + REACH, pair = dimension >> 1;
  return {
    on_curve: last === "offset", read: offset, product: values.kernel[at], mean: values.mean[at], low: values.low[at], high: values.high[at], from: state.position,
    value: values.table[position][dimension], is_cosine: dimension % 2 === 1, pair, wavelength: (2 * Math.PI) / frequencies[pair],
  };
}

const panel = (x, y) => ({ axes }) => [{ left: axes[x].start, right: axes[x].end, top: Math.min(axes[y].start, axes[y].end), bottom: Math.max(axes[y].start, axes[y].end) }];

const render = explorable({
  catalogue,
  readers: [
    { name: "offset", axis: ({ axes }) => axes.offset, within: panel("offset", "product") },
    { name: "position", axis: ({ axes }) => axes.position, within: panel("position", "dimension") },
    { name: "dimension", axis: ({ axes }) => axes.dimension, vertical: true, within: panel("position", "dimension") },
  ],
  height: (width) => places(width).chart.bottom + 40,
  compute, draw, facts, reading, handles,
  pixel: ({ axes }, offset, value) => [axes.offset.at(offset), axes.product.at(value)],
});

export default { render };

import { decay, dot, inverseFrequencies } from "./arithmetic.js";
import { sinusoidalRun } from "./arithmetic_encodings.js";
import { applied } from "./arithmetic_rotation.js";
import { kernelAsymmetry, kernelBand, kernelResidual, offsetProducts, randomOrthogonal, shiftMatrix } from "./arithmetic_kernel.js";
import { colours, pairColour } from "./colours.js";
import { Axis, Plot, cellAxis, disc, grip, legend, widthOf, words } from "./drawing.js";
import { explorable } from "./explorable.js";
import { fixed, formatInteger } from "./numbers.js";
import { dialHandle } from "./pair_grid.js";
import { say } from "./sentences.js";
import catalogue from "./sinusoid_explorer.json";

const { picture } = catalogue;
const POSITIONS = 128, LAST = POSITIONS - 1, REACH = 64, SHIFT = 16; // positions 0 … 127 of the text, distances −64 … 64; tokens that the shift W shifts by
const WIDE = 600; // pixels from which there are longer words
const DIALS = 6; // at most
const FINE = 4; // points of a curve to a token
const NEAR = 4, FAR = 17; // distances up to which, and from which on, positions are near and far
const COARSE = 4; // while something is dragged, the band is that of every fourth position
const SAME = 1e-9; // below it, a difference is rounding
const KEY = [5, 3]; // dashes
const NARROW = 20; // distances −20 … 20 if all pairs are fast, as with base 1
const LINE = 42; // the positions, the query above and the key below

// From above: the positions; a row of dials, but for a random W, which mixes them; the curves, or instead two rows of large dials.
const isCharted = ({ weight }) => weight !== "angles";
function places(width, state) {
  const wide = width >= WIDE, top = 106, bottom = wide ? 424 : 380;
  if (state.weight === "random") return { dials: { top, rows: 0 }, heading: top - 12, chart: { top: top + 52, bottom } };
  if (isCharted(state)) return { dials: { top, rows: 1, high: 0, size: wide ? 80 : Math.min(52, width / DIALS - 6) }, heading: wide ? 228 : 196, chart: { top: (wide ? 258 : 226) + (state.weight === "shift" ? 20 : 0), bottom } };
  const high = (bottom + 40 - top) / 2;
  return { dials: { top, rows: 2, high, size: Math.min(high - 42, width / 3 - 8) }, chart: { top, bottom } };
}

// What is said of the rows of a kernel.
function measures(kernel) {
  const band = kernelBand(kernel), peak = band.mean.indexOf(Math.max(...band.mean)) - REACH;
  return { ...band, residual: kernelResidual(kernel, band), asymmetry: kernelAsymmetry(kernel, band), peak };
}

// The encodings of every position and distance, their kernel and its measures; none of it depends on the chosen position.
// `row` gives a position's row of the kernel, `measured` is of every fourth row until `complete` has made them all.
function throughMatrix({ weight, draw, base, dim }, frequencies, before) {
  const shift = weight === "shift" ? SHIFT : 0, key = [weight === "random" ? draw : `shift ${shift}`, base, dim].join();
  if (before?.key === key) return before;
  const drawn = `${draw} ${dim}`;
  const random = weight !== "random" || before?.drawn === drawn ? before?.random : randomOrthogonal(draw, dim);
  const codes = sinusoidalRun(-REACH, POSITIONS + 2 * REACH, dim, base), kernel = Array(POSITIONS).fill(null);
  const matrix = weight === "random" ? random : shiftMatrix(shift, frequencies), products = offsetProducts(codes, REACH, matrix);
  const row = (m) => (kernel[m] ??= products(m));
  const measured = measures(Array.from({ length: POSITIONS / COARSE }, (_, k) => row(k * COARSE)));
  const through = { key, drawn: weight === "random" ? drawn : before?.drawn, random, matrix, codes, row, measured, complete };
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

// The products of encodings without a matrix, which do not depend on the position: at each distance, and between them, where
// far positions are as similar as near ones or not.
function withoutMatrix({ base, dim }, frequencies, before) {
  if (before?.base === base && before.dim === dim) return before;
  const fine = Float64Array.from({ length: FINE * (REACH + SHIFT) + 1 }, (_, k) => decay(k / FINE, frequencies)), at = (distance) => fine[FINE * Math.abs(distance)];
  const range = (from, to) => Array.from({ length: to - from + 1 }, (_, k) => at(from + k));
  return { base, dim, fine, at: Float64Array.from(range(-REACH, REACH)), nearest: Math.max(...range(FAR, REACH)) < Math.min(...range(0, NEAR)) };
}

function compute(state, width, previous) {
  const { base, dim, position, offset, weight } = state;
  const frequencies = inverseFrequencies(dim, base), place = places(width, state);
  const through = throughMatrix(state, frequencies, previous?.through), { codes } = through;
  const without = withoutMatrix(state, frequencies, previous?.without);
  const values = {
    code: codes[position + REACH],
    other: applied(through.matrix, codes[position - offset + REACH]),
    kernel: through.row(position),
    plain: without.at,
    ...through.measured,
  };
  const complete = through.complete && ((deadline) => {
    const done = through.complete(deadline);
    return Object.assign(values, through.measured) && done;
  });
  const waves = Math.max(NARROW, Math.ceil((6 * Math.PI) / frequencies.at(-1))); // three wavelengths of the slowest pair
  const reach = Math.abs(offset) <= waves ? Math.min(waves, REACH) : REACH;
  const axes = {
    position: new Axis({ from: 0, to: LAST, start: 12, end: width - 14 }),
    pair: cellAxis(frequencies.length, 0, width),
    offset: new Axis({ from: -reach, to: reach, start: 50, end: width - 10 }),
    product: new Axis({ from: weight === "random" ? -1.08 : 1.08 * Math.min(...without.fine, 0) - 0.02, to: 1.08, start: place.chart.bottom, end: place.chart.top }),
  };
  return { values, axes, place, through, without, frequencies, dials: dialsOf(frequencies, place.dials, width), complete };
}

// The dials, each at { pair, x, y }: the fastest pair, some that rotate far enough within the text to differ, and the slowest.
function dialsOf(frequencies, { top, rows, high, size }, width) {
  if (rows === 0) return { all: [] };
  const last = frequencies.length - 1, slow = frequencies.filter((frequency) => frequency * 4 * POSITIONS >= 2 * Math.PI).length - 1;
  const to = Math.max(slow, DIALS - 2), count = to < last ? DIALS - 1 : DIALS, spread = Array.from({ length: count }, (_, k) => Math.round((k * Math.min(to, last)) / (count - 1)));
  const pairs = [...new Set([...spread, last])], columns = Math.ceil(pairs.length / rows), wide = width / columns;
  return { size, large: rows > 1, all: pairs.map((pair, k) => ({ pair, x: ((k % columns) + 0.5) * wide, y: top + size / 2 + high * Math.floor(k / columns) })) };
}

const handOf = (code, pair) => [code[2 * pair + 1], code[2 * pair]]; // its cosine across, its sine up
const cosineOf = ({ code, other }, pair) => dot(handOf(code, pair), handOf(other, pair)); // of the angle between m and n

function drawDials({ context, width }, { frequencies, values, place, dials: { size, large, all } }, state, theme, chosen) {
  const pairs = frequencies.length, radius = size * 0.45;
  words(context, theme, picture.dials.map((text) => say(text, { pairs, shown: all.length, through: state.weight === "shift" })), 0, place.dials.top - 12, { colour: theme.text, bold: true, width });
  context.globalAlpha = 0.4;
  for (const { pair, x, y } of all) {
    const [from, to] = [values.code, values.other].map((code) => -Math.atan2(...handOf(code, pair).toReversed())), turn = Math.atan2(Math.sin(to - from), Math.cos(to - from)); // on a canvas the y axis points down
    context.fillStyle = pairColour(pair, pairs);
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, radius, from, from + turn, turn < 0);
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
  rings(all, theme.grid, 1);
  rings(all.filter(({ pair }) => pair === chosen), theme.text, 2);
  for (const [code, colour, dash] of [[values.code, colours.query, []], [values.other, colours.key, [7, 3.5]]]) {
    context.strokeStyle = colour;
    context.lineWidth = large ? 5 : 4;
    context.setLineDash(dash);
    context.beginPath();
    for (const { pair, x, y } of all) {
      const [across, up] = handOf(code, pair);
      context.moveTo(x, y);
      context.lineTo(x + radius * across, y - radius * up);
    }
    context.stroke();
  }
  context.setLineDash([]);
  for (const { x, y } of all.map((one) => dialOf(one, radius, frequencies, state))) disc(context, theme, x, y, large ? 6 : 4, colours.query);
  for (const { pair, x, y } of all) { // below each, the dot product of its hands, the cosine of their angle
    const facts = { pair, product: fixed(cosineOf(values, pair), 2) }, texts = large ? picture.cosine : picture.cosine.slice(width / all.length > 100 ? 1 : 2);
    words(context, theme, texts.map((text) => say(text, facts)), x, y + size / 2 + (large ? 16 : 12), { align: "center", colour: theme.text, width: (large ? size : width / all.length) - 4 });
  }
}

// A query's position with which the key, at this distance, is in the text too.
const inText = (position, offset) => Math.min(Math.max(position, 0, offset), LAST, LAST + offset);

// A dial that is dragged: m rotates with it, and n.
const dialOf = ({ pair, x, y }, radius, frequencies, { position, offset }) => ({
  ...dialHandle("dial", pair, [x, y], radius, { frequencies, tokens: position, changes: (tokens) => ({ position: inText(tokens, offset) }), plane: true }), scrolls: true,
});

// Both positions are dragged, m above the line and n below it; their distance also along the curve, or m around the dial
// that the pointer is on.
function handles(result, state, px, py) {
  const { values, axes, frequencies, dials } = result, { position, offset } = state;
  const { position: x, offset: along, product } = axes, key = Math.min(Math.max(position - offset, 0), LAST);
  const ends = [
    { name: "position", along: "x", x: x.at(position), y: LINE - 13, drag: (px) => ({ position: inText(x.nearest(x.invert(px)), offset) }) },
    { name: "key", along: "x", x: x.at(key), y: LINE + 13, drag: (px) => ({ offset: position - x.nearest(x.invert(px)) }) },
  ];
  const under = dials.all.filter((dial) => Math.hypot(dial.x - px, dial.y - py) <= dials.size / 2).map((dial) => dialOf(dial, 0.45 * dials.size, frequencies, state));
  if (!isCharted(state)) return [...ends, ...under];
  return [
    ...ends,
    {
      name: "offset", x: along.at(offset), y: product.at(values.kernel[offset + REACH]), line: { vertical: true, from: product.end, to: product.start },
      drag: (px) => ({ offset: Math.min(Math.max(along.nearest(along.invert(px)), position - LAST), position) }),
    },
    ...under,
  ];
}

// A name beside a grip, on the side where there is room.
function nameOf(context, theme, text, x, y, colour, right) {
  const font = `600 ${theme.font}`, before = x + 13 + widthOf(context, font, text) > right;
  words(context, theme, text, before ? x - 13 : x + 13, y, { colour, align: before ? "right" : "left", bold: true, rim: true });
}

// The positions of the text, with query and key.
function drawPositions({ context, width }, { axes: { position: x } }, state, theme, [query, other]) {
  const line = new Plot(context, theme, x, new Axis({ from: 0, to: 1, start: LINE, end: LINE - 1 })), key = state.position - state.offset;
  words(context, theme, picture.positions, 0, 8, { colour: theme.text, bold: true, width });
  line.horizontal(0, { colour: theme.muted, width: 1.5, dash: [] });
  for (const m of [0, 32, 64, 96, 127]) {
    line.rule([x.at(m), LINE - 4], [x.at(m), LINE + 4], { colour: theme.muted, dash: [] });
    words(context, theme, String(m), x.at(m), LINE + 31, { align: m === 127 ? "right" : "center" });
  }
  grip(context, theme, query.x, query.y, colours.query);
  nameOf(context, theme, say(picture.query, state), query.x, query.y, colours.query, width);
  grip(context, theme, other.x, other.y, colours.key);
  nameOf(context, theme, say(picture[key < 0 ? "key_before" : key < POSITIONS ? "key" : "key_after"], { key }), other.x, other.y, colours.key, width);
}

function drawKernel({ context, width }, result, state, theme, cursor, { x: px, y: py }) {
  const { values, axes, place, without, frequencies } = result, { offset: x, product: y } = axes, { weight, offset } = state, facts = { ...state, positions: POSITIONS }, random = weight === "random";
  const points = (line) => Array.from(line, (value, k) => [k - REACH, value]);
  const smooth = (shift) => Array.from({ length: 2 * FINE * REACH + 1 }, (_, k) => [k / FINE - REACH, without.fine[Math.abs(k - FINE * (REACH + shift))]]);
  const long = width >= WIDE ? picture.long : picture.short, entry = (name, colour, stroke) => ({ label: say(long[name], facts), colour, ...stroke });
  words(context, theme, picture.y, 0, place.heading, { colour: theme.text, bold: true, width });
  const entries = random ? [entry("from_here", colours.query), entry("band", colours.query, { area: true })] : [entry("through", colours.query)];
  if (weight !== "identity") legend(context, theme, [...entries, entry("plain", theme.muted, { width: 2 })], 0, place.heading + 18, width);
  const plot = new Plot(context, theme, x, y), room = new Axis({ from: x.invert(x.start - 10), to: x.to, start: x.start - 10, end: x.end });
  const curve = random ? points(values.kernel) : smooth(weight === "shift" ? SHIFT : 0), fill = (line, colour, opacity) => plot.area(line.map(([k, value]) => [x.at(k), Math.min(value, 0), Math.max(value, 0)]), colour, opacity);
  const band = points(values.low).map(([k, low]) => [x.at(k), low, values.high[k + REACH]]);
  if (random) plot.area(band, colours.query, 0.2);
  else fill(curve, colours.query, 0.15);
  new Plot(context, theme, room, y).axes({ xTitle: picture.x, yTitle: "", xTicks: width >= WIDE ? 8 : 4, yTicks: 4, xText: formatInteger });
  plot.vertical(0, { colour: theme.muted, dash: [] });
  if (weight !== "identity") plot.line(smooth(0), theme.muted, { width: 2 });
  plot.line(curve, colours.query, { width: 3 });
  plot.vertical(offset, { colour: colours.key, width: 1.5, dash: KEY });
  grip(context, theme, px, py, colours.key);
  const product = fixed(values.kernel[offset + REACH], 2);
  nameOf(context, theme, say(picture.offset[width >= WIDE ? 0 : 1], { offset, product, pairs: frequencies.length, random }), px - 13, y.end - 9, colours.key, x.end);
  if (cursor !== null) plot.vertical(cursor.offset);
}

function draw(canvas, result, state, theme, cursor) {
  const [query, key, offset] = handles(result, state);
  drawPositions(canvas, result, state, theme, [query, key]);
  if (result.dials.all.length) drawDials(canvas, result, state, theme, cursor?.last === "pair" ? cursor.pair : null);
  if (isCharted(state)) drawKernel(canvas, result, state, theme, cursor?.last === "offset" ? cursor : null, offset);
}

function facts({ values: { residual, asymmetry, peak }, without: { nearest }, frequencies }) {
  return { nearest, alike: frequencies[0] === frequencies.at(-1), pairs: frequencies.length, by_offset: residual < SAME, symmetric: asymmetry < SAME, peak, slowest: (2 * Math.PI) / frequencies.at(-1) };
}

function reading({ values, frequencies }, state, { pair, offset, last }) {
  const at = offset + REACH, angle = state.offset * frequencies[pair];
  return {
    on_curve: last === "offset", read: offset, product: values.kernel[at], mean: values.mean[at], low: values.low[at], high: values.high[at], from: state.position,
    pair, angle, wavelength: (2 * Math.PI) / frequencies[pair],
  };
}

const onChart = ({ axes: { offset: x, product: y } }, state) => (isCharted(state) ? [{ left: x.start, right: x.end, top: y.end, bottom: y.start }] : []);
const onDials = ({ axes: { pair }, place: { dials: { top, rows, high, size } } }) => (rows === 0 ? [] : [{ left: pair.start, right: pair.end, top, bottom: top + high * (rows - 1) + size }]);

// The dial nearest to a point.
const dialAt = (x, y, { dials: { all } }) => all.reduce((best, one) => (Math.hypot(one.x - x, one.y - y) < Math.hypot(best.x - x, best.y - y) ? one : best)).pair;

const render = explorable({
  catalogue,
  readers: [
    { name: "offset", axis: ({ axes }) => axes.offset, within: onChart },
    { name: "pair", axis: ({ axes }) => axes.pair, within: onDials, pick: dialAt },
  ],
  height: (width, state) => places(width, state).chart.bottom + 40,
  opening: (share, { position }) => ({ position: Math.round(LAST + share * (position - LAST)) }), // m moves in, and n with it
  compute, draw, facts, reading, handles,
  pixel: ({ axes }, offset, value) => [axes.offset.at(offset), axes.product.at(value)],
});

export default { render };

import { inverseFrequencies } from "./arithmetic.js";
import { sinusoidalRun } from "./arithmetic_codes.js";
import { kernelAsymmetry, kernelBand, kernelResidual, offsetProducts, randomOrthogonal, shiftMatrix } from "./arithmetic_kernel.js";
import { colours, diverging, pairColour } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, colourBar, legend, words } from "./drawing.js";
import catalogue from "./sinusoid_explorer.json";
import { explorable } from "./explorable.js";
import { fixed, grouped, wholeNumber } from "./numbers.js";

const POSITIONS = 128, REACH = 64; // positions 0 … 127 of the text, offsets −64 … 64
const COARSE = 4; // while something is dragged, the band is that of every fourth position
const SAME = 1e-9; // below it, a difference is rounding
const CHART = 210; // pixels for the curves of the kernel

// Dials and table side by side where there is room, else the table below the dials.
function places(width) {
  const wide = width >= 600, dials = wide ? { right: width * 0.4 - 24, bottom: 250 } : { right: width, bottom: 200 };
  const table = wide ? { left: width * 0.4 + 46, top: 46, bottom: 210 } : { left: 46, top: 256, bottom: 406 };
  const below = table.bottom + 70;
  return { dials, table, legend: below + 10, chart: below + (wide ? 52 : 86) };
}

// What is said of the rows of a kernel.
function measures(kernel) {
  const band = kernelBand(kernel), peak = band.mean.indexOf(Math.max(...band.mean)) - REACH;
  return { ...band, residual: kernelResidual(kernel, band), asymmetry: kernelAsymmetry(kernel, band), peak };
}

// The codes of every position and offset, their kernel and what is said of it; none of it depends on where one stands.
// `row` gives a position's row of the kernel, `measured` is of every fourth row until `complete` has made them all.
function throughMatrix({ weight, draw, base, dim, offset }, frequencies, before) {
  const shift = weight === "shift" ? -offset : 0, key = [weight === "random" ? draw : `shift ${shift}`, base, dim].join();
  if (before?.key === key) return before;
  const drawn = `${draw} ${dim}`;
  const random = weight !== "random" || before?.drawn === drawn ? before?.random : randomOrthogonal(draw, dim);
  const codes = sinusoidalRun(-REACH, POSITIONS + 2 * REACH, dim, base), kernel = Array(POSITIONS).fill(null);
  const products = offsetProducts(codes, REACH, weight === "random" ? random : shiftMatrix(shift, frequencies));
  const row = (t) => (kernel[t] ??= products(t));
  const measured = measures(Array.from({ length: POSITIONS / COARSE }, (_, k) => row(k * COARSE)));
  const through = { key, drawn: weight === "random" ? drawn : before?.drawn, random, codes, row, measured, complete };
  function complete(deadline) {
    for (let t = 0; t < POSITIONS; t++) {
      if (performance.now() > deadline) return false;
      row(t);
    }
    Object.assign(through, { measured: measures(kernel), complete: undefined });
    return true;
  }
  return through;
}

function compute(state, width, previous) {
  const { base, dim, position, offset } = state;
  const frequencies = inverseFrequencies(dim, base), place = places(width);
  const through = throughMatrix(state, frequencies, previous?.through), { codes } = through;
  const values = {
    code: codes[position + REACH],
    other: codes[position + offset + REACH],
    table: codes.slice(REACH, -REACH),
    kernel: through.row(position),
    ...through.measured,
  };
  const complete = through.complete && ((deadline) => {
    const done = through.complete(deadline);
    Object.assign(values, through.measured);
    return done;
  });
  const axes = {
    position: cellAxis(POSITIONS, place.table.left, width - 10),
    dimension: cellAxis(dim, place.table.top, place.table.bottom),
    offset: new Axis({ from: -REACH, to: REACH, start: 46, end: width - 10 }),
    product: new Axis({ from: -1.05, to: 1.05, start: place.chart + CHART, end: place.chart }),
  };
  return { values, axes, place, through, frequencies, complete };
}

// The largest dials that fit.
function dialSize(pairs, { right, bottom }, top) {
  for (let size = 110; ; size -= 1) {
    const columns = Math.floor(right / size);
    if (columns > 0 && Math.ceil(pairs / columns) * size <= bottom - top) return { size, columns };
  }
}

function drawDials({ context }, { frequencies, values, place }, state, theme, chosen) {
  const top = legend(context, theme, [
    { label: `t = ${state.position}`, colour: colours.query },
    { label: `t + Δ = ${wholeNumber(state.position + state.offset)}`, colour: colours.key, dash: [4, 2] },
  ], 0, 8, place.dials.right) + 18;
  words(context, theme, ["one dial a pair, fastest first; 0 is up", "a dial a pair, fast first; 0 is up"], 0, top - 10, { width: place.dials.right });
  const { size, columns } = dialSize(frequencies.length, place.dials, top), radius = size * 0.44;
  const dials = Array.from(frequencies, (_, i) => [((i % columns) + 0.5) * size, top + (Math.floor(i / columns) + 0.5) * size]);
  context.globalAlpha = 0.35;
  dials.forEach(([x, y], i) => {
    const start = state.position * frequencies[i] - Math.PI / 2;
    const turn = Math.max(-2 * Math.PI, Math.min(2 * Math.PI, state.offset * frequencies[i]));
    context.fillStyle = pairColour(i, dials.length);
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, radius, start, start + turn, turn < 0);
    context.fill();
  });
  context.globalAlpha = 1;
  const rings = (which, colour, width) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    for (const [x, y] of which) {
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.stroke();
  };
  rings(dials, theme.grid, 1);
  if (chosen !== null) rings([dials[chosen]], theme.text, 2);
  // The tip of a hand is the pair itself: its sine across, its cosine up.
  for (const [code, colour, dash] of [[values.code, colours.query, []], [values.other, colours.key, [size / 10, size / 20]]]) {
    context.strokeStyle = colour;
    context.lineWidth = Math.max(1.6, size / 20);
    context.setLineDash(dash);
    context.beginPath();
    dials.forEach(([x, y], i) => {
      context.moveTo(x, y);
      context.lineTo(x + radius * code[2 * i], y - radius * code[2 * i + 1]);
    });
    context.stroke();
  }
  context.setLineDash([]);
}

function drawTable({ context }, { values, axes, frequencies }, state, theme, cursor) {
  const { position: x, dimension: y } = axes, map = new HeatMap(context, theme, x, y), scale = diverging(1);
  const cells = new Float64Array(POSITIONS * state.dim);
  for (let t = 0; t < POSITIONS; t++) for (let k = 0, row = values.table[t]; k < state.dim; k++) cells[k * POSITIONS + t] = row[k];
  map.fill(cells, scale);
  const step = [1, 2, 4, 8, 16, 32].find((size) => state.dim / size <= 8);
  const yTicks = Array.from({ length: Math.ceil(state.dim / step) }, (_, k) => [k * step, String(k * step)]);
  map.labels({ xTitle: "position", xTicks: [0, 32, 64, 96, 127].map((t) => [t, String(t)]), yTicks });
  words(context, theme, ["dimension: sine, cosine, sine, …", "dimension"], x.start, y.start - 30, { width: x.end - x.start });
  colourBar(context, theme, scale, { left: x.start, top: y.end + 30, width: 120, ticks: [-1, 0, 1] });
  for (let i = 0; i < frequencies.length; i++) {
    context.fillStyle = pairColour(i, frequencies.length);
    context.fillRect(x.start - 5, y.at(2 * i - 0.5), 4, y.at(2 * i + 1.5) - y.at(2 * i - 0.5));
  }
  if (cursor !== null) map.outline(cursor.dimension, cursor.position);
  const key = state.position + state.offset, own = x.at(state.position);
  for (const [t, colour, dash] of [[key, colours.key, [4, 3]], [state.position, colours.query, []]]) {
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.setLineDash(dash);
    if (t >= 0 && t < POSITIONS) context.strokeRect(x.at(t - 0.5) - 1, y.start - 2, x.at(1) - x.at(0) + 2, y.end - y.start + 4);
  }
  context.setLineDash([]);
  words(context, theme, "t", own, y.start - 10, { colour: colours.query, align: "center", bold: true });
  if (state.offset === 0) return;
  // The other name stands beside this one, and inside the table's width.
  let at = Math.min(Math.max(x.at(key), x.start + 24), x.end - 24);
  if (Math.abs(at - own) < 36) at = own + (state.offset > 0 ? 36 : -36);
  if (at < x.start || at > x.end) at = 2 * own - at;
  const name = key < 0 ? "← t + Δ" : key < POSITIONS ? "t + Δ" : "t + Δ →";
  words(context, theme, name, at, y.start - 10, { colour: colours.key, align: "center", bold: true });
}

function drawKernel({ context, width }, { values, axes, place }, state, theme, cursor) {
  const { offset: x, product: y } = axes;
  const points = (line) => Array.from(line, (value, k) => [k - REACH, value]);
  const entries = [
    { label: `from t = ${state.position}`, colour: colours.query },
    { label: `mean over all ${POSITIONS} positions`, colour: theme.text, dash: [1.5, 3] },
    { label: "least to greatest over them", colour: colours.position, area: true },
  ];
  legend(context, theme, entries, 46, place.legend, width);
  const plot = new Plot(context, theme, x, y);
  const yTitle = ["product p(t)ᵀ·W·p(t + Δ), over that of a code with itself", "p(t)ᵀ·W·p(t + Δ) ÷ (d/2)"];
  plot.axes({ xTitle: "offset Δ (tokens; left of 0 = before t)", yTitle, xTicks: 8, xText: wholeNumber });
  plot.vertical(0, { colour: theme.muted, dash: [] });
  plot.area(points(values.low).map(([k, low]) => [x.at(k), low, values.high[k + REACH]]), colours.position);
  plot.line(points(values.kernel), colours.query, { width: 2 });
  plot.line(points(values.mean), theme.text, { width: 2, dash: [1.5, 3] });
  plot.vertical(state.offset, { colour: colours.key, width: 1.5, dash: [4, 3] });
  plot.marks([[state.offset, values.kernel[state.offset + REACH]]], colours.key, { radius: 5, square: true });
  if (cursor !== null) plot.vertical(cursor.offset);
}

function draw(canvas, result, state, theme, cursor) {
  const table = cursor !== null && cursor.last !== "offset" ? cursor : null;
  drawDials(canvas, result, state, theme, table && table.dimension >> 1);
  drawTable(canvas, result, state, theme, table);
  drawKernel(canvas, result, state, theme, cursor?.last === "offset" ? cursor : null);
}

function finding({ values }, { position, offset }, done) {
  const low = values.low[offset + REACH], high = values.high[offset + REACH], { peak } = values;
  let first = `At Δ = ${wholeNumber(offset)} the product is ${fixed(values.kernel[offset + REACH], 3)} from t = ${position}`;
  if (!done) return `${first}.`;
  first += high - low < SAME ? ` as from all ${POSITIONS} positions.` : `; over all ${POSITIONS} positions it runs from ${fixed(low, 3)} to ${fixed(high, 3)}.`;
  if (values.residual >= SAME) {
    return `${first} ${fixed(100 * values.residual ** 2, 1)} % of its variance comes from where the codes stand, not from how far apart they are.`;
  }
  if (values.asymmetry < SAME) return `${first} Only the offset matters, and left looks like right: greatest at Δ = ${peak}.`;
  const looks = peak === 0 ? "at its own place" : `${peak < 0 ? "back" : "ahead"} by ${Math.abs(peak)}`;
  return `${first} Only the offset matters, and left differs from right: greatest at Δ = ${wholeNumber(peak)}, so a head with this W looks ${looks}.`;
}

function readout({ values, frequencies }, state, { position, dimension, offset, last }) {
  if (last === "offset") {
    const at = offset + REACH, show = (value) => fixed(value, 3);
    return `Δ = ${wholeNumber(offset)}: ${show(values.kernel[at])} from t = ${state.position} · mean ${show(values.mean[at])}, `
      + `least ${show(values.low[at])}, greatest ${show(values.high[at])} over the positions`;
  }
  const pair = dimension >> 1, turn = grouped((2 * Math.PI) / frequencies[pair]);
  return `position ${position}, dimension ${dimension}: ${fixed(values.table[position][dimension], 3)} `
    + `(${dimension % 2 ? "cosine" : "sine"} of pair ${pair}, one turn in ${turn} tokens)`;
}

const panel = (x, y) => ({ axes }) => [{ left: axes[x].start, right: axes[x].end, top: Math.min(axes[y].start, axes[y].end), bottom: Math.max(axes[y].start, axes[y].end) }];

const render = explorable({
  catalogue,
  readers: [
    { name: "offset", axis: ({ axes }) => axes.offset, within: panel("offset", "product") },
    { name: "position", axis: ({ axes }) => axes.position, within: panel("position", "dimension") },
    { name: "dimension", axis: ({ axes }) => axes.dimension, vertical: true, within: panel("position", "dimension") },
  ],
  height: (width) => places(width).chart + CHART + 42,
  compute, draw, finding, readout,
  pixel: ({ axes }, offset, value) => [axes.offset.at(offset), axes.product.at(value)],
});

export default { render };

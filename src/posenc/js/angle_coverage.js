import { inverseFrequencies, turns } from "./arithmetic.js";
import { newShares, pairsReaching } from "./arithmetic_coverage.js";
import { colours, pairColour } from "./colours.js";
import { Axis, Plot, arrow, cellAxis, grip, words } from "./drawing.js";
import catalogue from "./angle_coverage.json";
import { explorable } from "./explorable.js";
import { grouped } from "./numbers.js";
import { dialHandle, pairGrid, press, readers, smallHandle } from "./pair_grid.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TURN = 2 * Math.PI;
const WIDE = 640; // pixels from which the chart stands beside the large ring
const HEIGHT = 396, NARROW = 380;
const TRAINED = 12, USED = 38; // where the two lengths stand
const BINS = 1440; // of a rotation
const DASH = [4, 3]; // of what is new
const FIRST = 6; // milliseconds for the shares before the picture is first drawn; the rest follows once the sliders rest
const A_HAIR_MORE = 1 + 1e-7; // as in Python

function compute(state, width) {
  const { base, dim, trained, used, tolerance } = state;
  const frequencies = inverseFrequencies(dim, base);
  const fresh = new Float64Array(dim / 2).fill(NaN), shares = newShares(frequencies, trained, used, tolerance * A_HAIR_MORE);
  let next = 0;
  const complete = (deadline) => {
    while (next < fresh.length) {
      if (performance.now() > deadline) return false;
      fresh[next++] = shares.next().value;
    }
    return true;
  };
  const done = complete(performance.now() + FIRST);
  const values = {
    trained_rotations: turns(trained, frequencies),
    used_rotations: turns(used, frequencies),
    unseen: fresh,
    completed: pairsReaching(frequencies, trained, 2 * Math.PI),
  };
  return { frequencies, values, ...places(dim / 2, width), complete: done ? undefined : complete };
}

// The lengths above, the rings of all pairs, and below them a large ring with the chart beside it, or on a phone under it.
function places(pairs, width) {
  const wide = width >= WIDE, lengths = new Axis({ from: 16, to: 131_072, start: wide ? 190 : 130, end: width - 10, log: true });
  if (wide) {
    const grid = pairGrid(pairs, { width, height: 184, top: 74, least: 38, greatest: 60 });
    return { wide, lengths, grid, large: { x: 66, y: 330, radius: 54, room: 234 }, x: cellAxis(pairs, 424, width - 12), y: [HEIGHT - 42, 286] };
  }
  const grid = pairGrid(pairs, { width, height: 84, top: 72, least: 38, greatest: 60 });
  return { wide, lengths, grid, large: { x: 52, y: 212, radius: 43, room: width - 116 }, x: cellAxis(pairs, 46, width - 8), y: [NARROW - 40, 284] };
}

const chosen = ({ pair }, { frequencies }) => Math.min(pair, frequencies.length - 1);

// How far training went, and below it how far a text goes: dashed where it is past the training.
function drawLengths(context, theme, { lengths, wide }, { trained, used }) {
  const bar = (from, to, y, colour, thick, dash = []) => {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(from, y);
    context.lineTo(to, y);
    context.stroke();
    context.setLineDash([]);
  };
  const name = (text, tokens, y) => words(context, theme, say(text[wide ? 0 : 1], { tokens }), 0, y, { colour: theme.text, bold: true, width: lengths.start - 14 });
  bar(lengths.start, lengths.end, TRAINED, theme.grid, 1);
  bar(lengths.start, lengths.end, USED, theme.grid, 1);
  bar(lengths.start, lengths.at(trained), TRAINED, colours.neutral, 9);
  bar(lengths.start, lengths.at(Math.min(used, trained)), USED, colours.neutral, 3);
  if (used > trained) bar(lengths.at(trained), lengths.at(used), USED, theme.text, 4, DASH);
  name(picture.trained, trained, TRAINED);
  name(picture.used, used, USED);
}

// Where training went, as [from, to] in rotations: all of a long arc, but of a closed ring only what is within the tolerance
// of a position.
function arcsOf(trained, { frequency, positions, tolerance }) {
  if (trained < 1) return [[0, trained]];
  const seen = new Uint8Array(BINS), reach = Math.floor((tolerance / TURN) * BINS), arcs = [];
  for (let m = 0; m < positions; m++) {
    const bin = Math.round(((m * frequency) / TURN) * BINS);
    for (let near = bin - reach; near <= bin + reach; near++) seen[((near % BINS) + BINS) % BINS] = 1;
  }
  seen.forEach((there, bin) => there && (arcs.at(-1)?.[1] === bin / BINS ? (arcs.at(-1)[1] = (bin + 1) / BINS) : arcs.push([bin / BINS, (bin + 1) / BINS])));
  return arcs;
}

// A ring from the top clockwise: thick where training went, dashed where a longer sequence goes on; inside a closed ring, if it
// goes between the angles of training.
function drawRing(context, theme, { x, y, radius, trained, used, unseen, colour, thick, arcs = [[0, Math.min(trained, 1)]] }) {
  const arc = (from, to, stroke, width, dash = [], around = radius) => {
    if (to <= from) return;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.arc(x, y, around, (from - 0.25) * TURN, (to - 0.25) * TURN);
    context.stroke();
    context.setLineDash([]);
  };
  const met = Math.min(trained, 1);
  if (met < 1) arc(0, 1, theme.grid, 1);
  arc(met, Math.min(used, 1), theme.text, thick / 2.4, DASH);
  for (const [from, to] of arcs) arc(from, to, colour, thick);
  if (met === 1 && unseen > 0) arc(0, 1, theme.text, thick / 4, DASH, radius - 0.8 * thick);
}

const ringOf = ({ values }, i) => ({ trained: values.trained_rotations[i], used: values.used_rotations[i], unseen: values.unseen[i], colour: pairColour(i, values.unseen.length) });

function drawRings(context, theme, result, shown) {
  const { grid } = result, { size, every } = grid;
  words(context, theme, picture.rings.map((text) => say(text, { every })), 0, grid.area.top - 11, { width: grid.area.right });
  for (const i of grid.shown) {
    const [x, y] = grid.middle(i);
    drawRing(context, theme, { x, y, radius: 0.36 * size, thick: 0.15 * size, ...ringOf(result, i) });
    if (i !== shown) continue;
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.strokeRect(x - size / 2 + 1, y - size / 2 + 1, size - 2, size - 2);
  }
}

// The chosen pair, or the one that is pointed at, large and in words.
function drawLarge(context, theme, result, state, i) {
  const { large: { x, y, radius, room } } = result, ring = ringOf(result, i), left = x + radius + 18;
  const arcs = arcsOf(ring.trained, { frequency: result.frequencies[i], positions: state.trained, tolerance: state.tolerance });
  drawRing(context, theme, { x, y, radius, thick: 14, ...ring, arcs });
  words(context, theme, say(picture.pair, { pair: i }), x, y, { align: "center", colour: theme.text, bold: true });
  const facts = { ...state, ...reading(result, state, { pair: i }) };
  const lines = [[picture.wavelength, null], [picture.in_training, [ring.colour, 8, []]], [picture.in_use, [theme.text, 4, DASH]], [picture.unseen, null]];
  lines.forEach(([text, stroke], k) => {
    const row = y + 20 * (k - 1.5);
    words(context, theme, text.map((one) => say(one, facts)), stroke ? left + 28 : left, row, { colour: theme.text, width: stroke ? room - 28 : room });
    if (!stroke || !say(text[0], facts)) return;
    [context.strokeStyle, context.lineWidth] = stroke;
    context.setLineDash(stroke[2]);
    context.beginPath();
    context.moveTo(left, row);
    context.lineTo(left + 22, row);
    context.stroke();
    context.setLineDash([]);
  });
}

// From rotations in training, a dot, to rotations in use, a bar. A pair that rotates less than the axis shows is a mark below it.
function drawRotations({ context }, plot, { values }, longer, step) {
  const pairs = values.unseen.length, { x, y } = plot;
  values.trained_rotations.forEach((trained, i) => {
    const colour = pairColour(i, pairs), at = x.at(i), radius = Math.min(3, Math.max(1.5, step * 0.4));
    const from = Math.min(y.at(trained), y.start), to = Math.min(y.at(values.used_rotations[i]), y.start);
    context.fillStyle = colour;
    if (longer) {
      context.fillRect(at - 0.75, to, 1.5, from - to);
      context.fillRect(at - step * 0.4, to - 1, step * 0.8, 2);
    }
    if (trained >= y.from) plot.marks([[i, trained]], colour, { radius });
    else arrow(context, [at, y.start - 6], [at, y.start + 1], colour, { width: 1.5, head: 4 });
  });
}

function drawChart({ context }, theme, result, { chart, used, trained }) {
  const { x, y: [start, end], values } = result, pairs = values.unseen.length, step = (x.end - x.start) / pairs, longer = used > trained;
  const share = chart === "unseen", y = new Axis(share ? { from: 0, to: 100, start, end } : { from: 1e-3, to: 3e4, start, end, log: true });
  const plot = new Plot(context, theme, x, y), yText = share ? String : (tick) => (Math.round(Math.log10(tick)) % 2 ? "" : grouped(tick));
  const yTitle = share ? picture.shares : longer ? picture.both_rotations : picture.rotations;
  plot.axes({ xTitle: picture.pairs, yTitle, xTicks: Math.min(6, pairs), yTicks: 2, yText });
  if (!share) {
    plot.horizontal(1, { dash: [], width: 1.5 });
    drawRotations({ context }, plot, result, longer, step);
    words(context, theme, picture.one_rotation, x.end, y.at(1) - 3, { align: "right", baseline: "bottom", colour: theme.text, rim: true });
  } else if (longer) values.unseen.forEach((part, i) => part > 0 && plot.bar(x.at(i), Math.max(1, step * 0.7), 100 * part, pairColour(i, pairs)));
  else words(context, theme, picture.no_longer, (x.start + x.end) / 2, (start + end) / 2 - 8, { align: "center" });
  return plot;
}

function draw(canvas, result, state, theme, cursor) {
  const { context } = canvas, { unseen } = result.values, pair = cursor?.pair ?? chosen(state, result);
  result.grid.show((i) => i === pair, (i) => unseen[i] > 0);
  drawLengths(context, theme, result, state);
  drawRings(context, theme, result, pair);
  drawLarge(context, theme, result, state, pair);
  handles(result, state).slice(0, cursor === null ? 3 : 2).forEach(({ x, y }, k) => grip(context, theme, x, y, k === 0 ? colours.neutral : theme.text));
  result.plot = drawChart(canvas, theme, result, state);
  if (cursor !== null) result.plot.vertical(cursor.pair);
}

function facts({ values }) {
  const pairs = values.unseen.length;
  const fresh = [...values.unseen.keys()].filter((i) => values.unseen[i] > 0), slow = fresh.filter((i) => values.trained_rotations[i] < 1).length; // NaN, not yet computed, is not
  return { pairs, open: pairs - values.completed, slow, gaps: fresh.length - slow };
}

function reading({ values, frequencies }, { used, trained }, { pair: i }) {
  const share = 100 * values.unseen[i];
  return {
    wavelength: (2 * Math.PI) / frequencies[i], trained_rotations: values.trained_rotations[i], used_rotations: values.used_rotations[i],
    computed: used > trained && !Number.isNaN(share), share,
  };
}

// Both lengths, dragged along their bars; the sequence's also around the large ring, and the small one that the pointer is on.
function handles({ lengths, frequencies, grid, large: { x: middle, y: centre, radius } }, state, px, py) {
  const dragged = { frequencies, tokens: state.used, changes: (tokens, pair) => ({ used: tokens, pair }) };
  const handle = (name, y) => ({ name, along: "x", x: lengths.at(state[name]), y, drag: (px) => ({ [name]: lengths.invert(px) }) });
  const ring = dialHandle("pair", chosen(state, { frequencies }), [middle, centre], radius, dragged);
  return [handle("trained", TRAINED), handle("used", USED), ring, ...smallHandle(grid, 0.36, px, py, dragged)];
}

const render = explorable({
  catalogue,
  readers, press,
  height: (width) => (width >= WIDE ? HEIGHT : NARROW),
  compute, draw, facts, reading, handles,
  most: { pair: ({ dim }) => dim / 2 - 1 },
  pixel: ({ plot }, pair, value) => [plot.x.at(pair), plot.y.at(value)],
});

export default { render };

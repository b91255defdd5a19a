import { dot, inverseFrequencies } from "./arithmetic.js";
import { applied, conjugateProducts, pairsOf, rotationMatrix, scoreByComplex } from "./arithmetic_rotation.js";
import { equation, matrix } from "./blocks.js";
import { colours, tint } from "./colours.js";
import { Axis, Plot, arrow, grip, legend, widthOf, words } from "./drawing.js";
import catalogue from "./rotation_2d.json";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { fixed, formatInteger } from "./numbers.js";
import { say } from "./sentences.js";

// Positions are whole, except on the front page, where the arrows move by themselves (book/_site/pages/front.js).
const { picture, blocks: written } = catalogue;
const FARTHEST = 32; // as in Python
const ELSEWHERE = 10;
const ROUNDING = 1e-9;
const REACH = { wide: 1.85, phone: 1.6 }; // what a plane shows at least in each direction
const TRAIL = 3; // tokens back to which arrows leave a trail
const HEIGHT = 370, NARROW = 376; // pixels, the second in one column
const WIDE = 640; // pixels from which planes and scores stand side by side
const NAMES = { q: ["q1", "q2", "q3", "q4"], k: ["k1", "k2", "k3", "k4"] };

const dimOf = ({ view }) => (view === "two" ? 2 : 4);
const layoutOf = ({ view }) => (view === "half-split" ? "half-split" : "interleaved");
const vector = (state, name) => NAMES[name].slice(0, dimOf(state)).map((control) => state[control]);

function compute(state, width) {
  const { m, n, theta } = state, dim = dimOf(state), layout = layoutOf(state);
  const q = vector(state, "q"), k = vector(state, "k");
  const frequencies = Array.from(inverseFrequencies(dim, 100), (frequency) => theta * frequency);
  const at = (position) => frequencies.map((frequency) => position * frequency);
  const score = (first, second, by) => dot(applied(rotationMatrix(at(first), by), q), applied(rotationMatrix(at(second), by), k));
  const matrices = { q: rotationMatrix(at(m), layout), k: rotationMatrix(at(n), layout) };
  const values = {
    matrix_q: matrices.q,
    matrix_k: matrices.k,
    rotated_q: applied(matrices.q, q),
    rotated_k: applied(matrices.k, k),
    products: conjugateProducts(q, k, layout),
    rotations: at(m - n).map((angle) => [Math.cos(angle), Math.sin(angle)]),
    by_matrices: score(m, n, layout),
    by_complex: scoreByComplex(q, k, at(m - n), layout),
    elsewhere: score(m + ELSEWHERE, n + ELSEWHERE, layout),
    other_layout: score(m, n, layout === "half-split" ? "interleaved" : "half-split"),
    scores: Float64Array.from({ length: 2 * FARTHEST + 1 }, (_, j) => scoreByComplex(q, k, at(j - FARTHEST), layout)),
  };
  const pairs = pairsOf(dim, layout), longest = Math.max(...[q, k].flatMap((v) => pairs.map(([a, b]) => Math.hypot(v[a], v[b]))));
  return { values, q, k, frequencies, pairs, ...places(dim, width, limitOf(q, k), 1.05 * longest) };
}

// What no score of this query and key exceeds, however they rotate; it grows with them, without a jump.
const limitOf = (q, k) => Math.max(2, 1.05 * Math.hypot(...q) * Math.hypot(...k));

// One plane or two as squares, with the scores beside them, or below on a phone.
function places(dim, width, limit, longest) {
  const wide = width >= WIDE, count = dim / 2, gap = 10, reach = Math.max(REACH[wide || count > 1 ? "wide" : "phone"], longest);
  const size = !wide ? Math.min((width - gap) / count, 212) : count === 1 ? HEIGHT : Math.min(0.3 * width, 250);
  const from = wide ? 0 : (width - count * size - gap * (count - 1)) / 2, top = wide ? (HEIGHT - size) / 2 : 0;
  const planes = Array.from({ length: count }, (_, i) => {
    const left = from + i * (size + gap);
    return {
      x: new Axis({ from: -reach, to: reach, start: left, end: left + size }),
      y: new Axis({ from: -reach, to: reach, start: top + size, end: top }),
    };
  });
  const left = wide ? planes.at(-1).x.end + 46 : 32, upper = wide ? 0 : size + 6;
  const chart = {
    x: new Axis({ from: 0, to: FARTHEST, start: left, end: width - 14 }),
    y: new Axis({ from: -limit, to: limit, start: heightOf(width) - 42, end: upper + (wide ? 44 : 26) }),
    left: wide ? left : 0,
    top: upper,
  };
  return { wide, planes, chart };
}

const heightOf = (width) => (width >= WIDE ? HEIGHT : NARROW);

const rotatedBy = ([across, up], angle) => [
  across * Math.cos(angle) - up * Math.sin(angle), across * Math.sin(angle) + up * Math.cos(angle),
];

// How many tokens back there is a trail. At the opening, what leaves it is still on its way, `behind` by so many.
function trailOf({ m, n, locked, behind = 0 }) {
  const backs = Array.from({ length: Math.min(TRAIL, m, locked ? n : TRAIL) }, (_, j) => j + 1).filter((back) => back > behind);
  return behind > 0 ? [behind, ...backs] : backs;
}

const paleness = (back, { behind }) => (back === behind ? 1 : 0.6 * (1 - (back - 1) / TRAIL));

// Where both arrows of one plane were. With the lock both have come along; without it the key has stayed.
function drawTrail(context, labels, { x, y }, { q, k, frequencies, pairs }, i, state) {
  const [a, b] = pairs[i], centre = [x.at(0), y.at(0)];
  const tip = (v, position) => rotatedBy([v[a], v[b]], position * frequencies[i]).map((value, k) => [x, y][k].at(value));
  for (const back of trailOf(state)) {
    const query = tip(q, state.m - back), key = tip(k, state.n - back);
    labels.beside([centre, query]);
    context.globalAlpha = paleness(back, state);
    arrow(context, centre, query, colours.query, { width: 1.5, head: 6 });
    if (state.locked) arrow(context, centre, key, colours.key, { width: 1.5, head: 6 });
  }
  context.globalAlpha = 1;
}

function drawChord(context, from, to) {
  context.strokeStyle = colours.score;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

// From a second vector to a first, in radians anticlockwise, at most π either way.
function angleBetween([a, b], [c, d]) {
  return Math.atan2(b * c - a * d, a * c + b * d);
}

// The angle between the rotated arrows, as a filled sector.
function drawAngle(context, [x, y], query, key, radius) {
  const from = -Math.atan2(key[1], key[0]), angle = angleBetween(query, key);
  context.fillStyle = colours.score;
  context.globalAlpha = 0.28;
  context.beginPath();
  context.moveTo(x, y);
  context.arc(x, y, radius, from, from - angle, angle > 0);
  context.fill();
  context.globalAlpha = 1;
  return { angle, middle: from - angle / 2 };
}

function drawPlane(context, theme, result, i, state) {
  const plane = result.planes[i], { x, y } = plane, [a, b] = result.pairs[i], { values } = result;
  const plot = new Plot(context, theme, x, y), centre = [x.at(0), y.at(0)], many = result.planes.length > 1, unit = x.at(1) - x.at(0);
  plot.horizontal(0, { colour: theme.grid, dash: [] });
  plot.vertical(0, { colour: theme.grid, dash: [] });
  context.beginPath();
  context.arc(...centre, unit, 0, 2 * Math.PI);
  context.stroke();
  const spare = many || result.wide ? 0 : x.start; // on a phone a single plane stands in the middle
  const labels = new Labels(context, theme, { left: x.start - spare, right: x.end + spare, top: y.end, bottom: y.start });
  const tip = (v) => [x.at(v[a]), y.at(v[b])], of = (v) => [v[a], v[b]], outward = ([px, py]) => Math.atan2(py - centre[1], px - centre[0]);
  const arrows = [
    { name: "q", before: result.q, after: values.rotated_q, position: state.m, colour: colours.query },
    { name: "k", before: result.k, after: values.rotated_k, position: state.n, colour: colours.key },
  ];
  const narrow = many && !result.wide; // only the arrows of now have room
  if (!narrow) drawTrail(context, labels, plane, result, i, state);
  const between = drawAngle(context, centre, of(values.rotated_q), of(values.rotated_k), 0.8 * unit);
  drawChord(context, tip(values.rotated_q), tip(values.rotated_k));
  labels.beside([tip(values.rotated_q), tip(values.rotated_k)]);
  for (const { before, after, colour } of arrows) {
    arrow(context, centre, tip(before), colour, { width: 1.5, dash: [4, 4], head: 7 });
    arrow(context, centre, tip(after), colour, { width: 3.5, head: 12 });
    grip(context, theme, ...tip(before), colour);
    labels.keep(...tip(before), 8);
    for (const v of [before, after]) labels.along(centre, tip(v));
  }
  if (many) drawCaption(context, theme, labels, result, i);
  else if (result.wide) {
    labels.write(say(picture.across, { across: a + 1 }), [x.end, y.at(0) + 10], { towards: Math.PI, away: 0 });
    labels.write(say(picture.up, { up: b + 1 }), [x.at(0) + 4, y.end + 8], { away: 0 });
  }
  for (const { name, after, position, colour } of arrows) labels.write(say(picture.rotated, { name, position: Math.round(position) }), tip(after), { towards: outward(tip(after)), colour: tint(colour, theme), bold: true });
  for (const { name, before, colour } of arrows.filter(({ position }) => position > 0 && !narrow)) labels.write(say(picture.rotated, { name, position: 0 }), tip(before), { towards: outward(tip(before)), away: 9, colour: tint(colour, theme) });
  const degrees = say(picture.angle, { degrees: Math.round((Math.abs(between.angle) * 180) / Math.PI) });
  const middle = [centre[0] + 0.8 * unit * Math.cos(between.middle), centre[1] + 0.8 * unit * Math.sin(between.middle)];
  labels.write(degrees, middle, { towards: between.middle, away: 4, colour: theme.text, bold: true });
}

// Which dimensions make a plane, and its frequency: above it, or in its corners.
function drawCaption(context, theme, labels, { wide, planes, pairs }, i) {
  const { x, y } = planes[i], [a, b] = pairs[i], [first, second] = [say(picture.plane, { first: a + 1, second: b + 1 }), picture.frequencies[i]];
  if (wide) {
    words(context, theme, first, x.start, y.end - 28, { colour: theme.text, bold: true });
    words(context, theme, second, x.start, y.end - 10, { colour: theme.text });
  } else {
    labels.write(first, [x.start, y.end + 8], { away: 0, colour: theme.text, bold: true });
    labels.write(second, [x.start, y.start - 8], { away: 0, colour: theme.text });
  }
}

// The score of the query at each position, the key staying: a wave. With both moving on alike: a level line.
function drawScores(context, theme, result, state, cursor) {
  const { x, y, left, top } = result.chart, { by_matrices } = result.values, { m, n, locked } = state;
  const scoreOf = (offset) => scoreByComplex(result.q, result.k, result.frequencies.map((frequency) => offset * frequency), layoutOf(state));
  const chart = new Plot(context, theme, x, y);
  const wave = { colour: colours.score, dash: [] }, level = { colour: theme.text, dash: [7, 4] };
  const room = x.end + 14 - left, rows = picture.curves.map((names) => names.map((label, k) => ({ label, ...[wave, level][k] })));
  const long = ([first, second]) => widthOf(context, theme.font, first.label) + widthOf(context, theme.font, second.label) + 74;
  if (result.wide) legend(context, theme, rows.find((row) => long(row) <= room) ?? rows.at(-1), left, top + 10, left + room);
  chart.axes({
    xTitle: "", yTitle: "", xTicks: (x.end - x.start) / 60, yTicks: 4,
    // no number where query and key are named
    xText: (tick) => ([m, n].some((position) => Math.abs(x.at(tick) - x.at(position)) < 18) ? "" : formatInteger(tick)),
    yText: (tick) => (Math.hypot(x.at(m) - x.start, y.at(tick) - y.at(by_matrices)) < 12 ? "" : fixed(tick, tick % 1 ? 1 : 0)),
  });
  const points = Array.from({ length: FARTHEST + 1 }, (_, position) => [position, scoreOf(position - n)]);
  chart.line(points, wave.colour, { width: locked ? 1.4 : 2.2 });
  chart.marks(points, wave.colour, { radius: 2 });
  chart.horizontal(by_matrices, { ...level, width: locked ? 2 : 1 });
  for (const back of trailOf(state)) {
    context.globalAlpha = 0.8 * paleness(back, state);
    chart.marks([[m - back, locked ? by_matrices : scoreOf(m - back - n)]], colours.query, { radius: 5 });
  }
  context.globalAlpha = 1;
  chart.rule([x.at(m), y.start], [x.at(m), y.at(by_matrices)], { colour: colours.query, dash: [], width: 1.5 });
  chart.rule([x.at(n), y.start], [x.at(n), y.end], { colour: colours.key, dash: [], width: 1.5 });
  chart.rule([x.at(n), y.start], [x.at(m), y.start], { dash: [], width: 3 });
  grip(context, theme, x.at(n), y.start, colours.key);
  grip(context, theme, x.at(m), y.at(by_matrices), colours.query);
  words(context, theme, say(picture.score, { m: Math.round(m), n: Math.round(n), score: by_matrices }), x.start, y.end - 13, { colour: theme.text, bold: true });
  const middle = x.at((m + n) / 2), aside = Math.max(x.at(Math.abs(m - n) / 2) - x.at(0), 7) * (m < n ? -1 : 1);
  for (const [name, across, colour] of [["q", middle + aside, colours.query], ["k", middle - aside, colours.key]]) words(context, theme, name, across, y.start + 15, { align: "center", colour: tint(colour, theme), bold: true });
  words(context, theme, picture.position, x.end, y.start + 31, { align: "right", width: x.end - x.start - 110 });
  chart.rule([x.start, y.start + 31], [x.start + 16, y.start + 31], { dash: [], width: 3 });
  words(context, theme, say(picture.offset, { offset: Math.round(m - n) }), x.start + 22, y.start + 31, { colour: theme.text });
  if (cursor !== null) chart.vertical(cursor.position);
}

function draw({ context }, result, state, theme, cursor) {
  result.planes.forEach((_, i) => drawPlane(context, theme, result, i, state));
  drawScores(context, theme, result, state, cursor);
}

function facts({ values }, { m, n }) {
  const { by_matrices, other_layout, scores } = values, highest = Math.max(...scores);
  return {
    by_matrices, other_layout, same: fixed(by_matrices, 2) === fixed(other_layout, 2), offset: m - n, peak: scores.indexOf(highest) - FARTHEST,
    flat: highest - Math.min(...scores) < ROUNDING,
  };
}

const column = (numbers) => numbers.map((number) => [fixed(number, 2)]);
const complex = ([real, imaginary]) => `(${fixed(real, 2)} ${fixed(imaginary, 2).startsWith("−") ? "−" : "+"} ${fixed(Math.abs(imaginary), 2)}i)`;

// The present numbers written out: both rotations and their product, then the same as complex numbers.
function blocks({ values, q, k, pairs }, { m, n }) {
  const rotated = (what, letter, position, before, after) => equation(
    say(written.rotated_label, { what }), say(written.at, { letter, position }),
    matrix(say(written.rotation, { what }), values[`matrix_${letter}`].map((row) => row.map((number) => fixed(number, 2)))),
    matrix(what, column(before)), "=", matrix(say(written.rotated, { what }), column(after)),
  );
  const factor = (number) => (number < 0 ? `(${fixed(number, 2)})` : fixed(number, 2));
  const products = values.rotated_q.map((number, i) => `${factor(number)} · ${factor(values.rotated_k[i])}`);
  const conjugates = pairs.map(([a, b]) => `${complex([q[a], q[b]])} · ${complex([k[a], -k[b]])}`);
  const factors = values.products.map((product, i) => `${complex(product)} · ${complex(values.rotations[i])}`);
  return [
    rotated(written.query, "q", m, q, values.rotated_q),
    rotated(written.key, "k", n, k, values.rotated_k),
    equation(written.score_label, written.score, `${products.join(" + ")}\u00a0=\u00a0${fixed(values.by_matrices, 3)}`),
    ...conjugates.map((product, i) => equation(
      say(written.pair_label, { pair: i }), pairs.length > 1 ? say(written.pair, { pair: i }) : written.one_pair, `${product} = ${complex(values.products[i])}`,
    )),
    equation(
      written.complex_label, say(written.complex, { offset: m - n, pairs: pairs.length }),
      `Re[${factors.join(" + ")}]\u00a0=\u00a0${fixed(values.by_complex, 3)}`,
    ),
  ];
}

function handles(result, { m, n }) {
  const { x, y } = result.chart, moves = (name) => (px) => ({ [name]: x.nearest(x.invert(px)) });
  const tips = result.planes.flatMap(({ x, y }, i) => ["q", "k"].map((name) => {
    const [across, up] = result.pairs[i];
    return {
      name: i === 0 ? name : say(catalogue.handles.second_plane, { name }),
      x: x.at(result[name][across]),
      y: y.at(result[name][up]),
      drag: (px, py) => ({ [NAMES[name][across]]: x.invert(px), [NAMES[name][up]]: y.invert(py) }),
    };
  }));
  return [
    ...tips,
    { name: "m", along: "x", x: x.at(m), y: y.at(result.values.by_matrices), drag: moves("m") },
    { name: "n", along: "x", x: x.at(n), y: y.start, drag: moves("n") },
  ];
}

const inChart = ({ chart: { x, y } }) => ({ left: x.start - 6, right: x.end + 6, top: y.end, bottom: y.start + 20 });

// Where the query then stands.
function press(px, py, result) {
  const { left, right, top, bottom } = inChart(result), { x } = result.chart;
  return px >= left && px <= right && py >= top && py <= bottom ? { m: x.nearest(x.invert(px)) } : null;
}

// With the lock, both positions move by as much as both can.
function linked(changes, { locked, m, n }) {
  if (!locked || !("m" in changes || "n" in changes)) return {};
  const wanted = "m" in changes ? changes.m - m : changes.n - n;
  const shift = Math.min(Math.max(wanted, -Math.min(m, n)), FARTHEST - Math.max(m, n));
  return { m: m + shift, n: n + shift };
}

// A second pair of arrows comes from a few tokens back to where both are, and leaves the trail.
const opening = (share, { m, n }) => ({ behind: Math.min(m, n, TRAIL) * (1 - share) });

const render = explorable({
  catalogue,
  readers: [{ name: "position", axis: ({ chart }) => chart.x, within: (result) => [inChart(result)] }],
  height: heightOf,
  compute, draw, facts, handles, press, linked, blocks, opening,
  reading: ({ values }, { n }, { position }) => ({ offset: position - n, score: values.scores[Math.round(position - n) + FARTHEST] }),
  pixel: ({ planes }, plane, across, up) => [planes[plane].x.at(across), planes[plane].y.at(up)],
});

export default { render };

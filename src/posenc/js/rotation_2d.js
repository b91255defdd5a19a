import { dot, inverseFrequencies } from "./arithmetic.js";
import { applied, conjugateProducts, pairsOf, rotationMatrix, scoreByComplex } from "./arithmetic_rotation.js";
import { equation, matrix } from "./blocks.js";
import { colours } from "./colours.js";
import { Axis, Plot, arrow, words } from "./drawing.js";
import catalogue from "./rotation_2d.json";
import { explorable } from "./explorable.js";
import { fixed, wholeNumber } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, blocks: written } = catalogue;
const FARTHEST = 32; // as in Python
const ELSEWHERE = 10;
const REACH = 2.25; // what a plane shows in each direction; an arrow is at most 1.5·√2 long
const CHART = 250; // pixels for the scores, where they stand below the planes
const NAMES = { q: ["q1", "q2", "q3", "q4"], k: ["k1", "k2", "k3", "k4"] };

const dimOf = ({ view }) => (view === "two" ? 2 : 4);
const layoutOf = ({ view }) => (view === "half" ? "half" : "interleaved");
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
    turned_q: applied(matrices.q, q),
    turned_k: applied(matrices.k, k),
    products: conjugateProducts(q, k, layout),
    turns: at(m - n).map((angle) => [Math.cos(angle), Math.sin(angle)]),
    by_matrices: score(m, n, layout),
    by_complex: scoreByComplex(q, k, at(m - n), layout),
    elsewhere: score(m + ELSEWHERE, n + ELSEWHERE, layout),
    other_layout: score(m, n, layout === "half" ? "interleaved" : "half"),
    scores: Float64Array.from({ length: 2 * FARTHEST + 1 }, (_, j) => scoreByComplex(q, k, at(j - FARTHEST), layout)),
  };
  return { values, q, k, frequencies, pairs: pairsOf(dim, layout), ...places(dim, width) };
}

// Planes as squares side by side, the scores beside one plane or below two; everything in one column on a phone.
function places(dim, width) {
  const wide = width >= 560, size = wide ? Math.min((width - 20) / 2, dim === 2 ? 400 : 340) : Math.min(width, 330);
  const planes = Array.from({ length: dim / 2 }, (_, i) => {
    const left = dim === 2 && wide ? 0 : wide ? (i + 0.5) * (width / 2) - size / 2 : (width - size) / 2, top = wide ? 0 : i * (size + 10);
    return {
      x: new Axis({ from: -REACH, to: REACH, start: left, end: left + size }),
      y: new Axis({ from: -REACH, to: REACH, start: top + size, end: top }),
    };
  });
  const beside = wide && dim === 2, upper = beside ? 0 : planes.at(-1).y.start + 14;
  const limit = 4.5 * (dim / 2);
  const chart = {
    x: new Axis({ from: -FARTHEST, to: FARTHEST, start: beside ? size + 66 : 46, end: width - 12 }),
    y: new Axis({ from: -limit, to: limit, start: beside ? size - 44 : upper + CHART - 44, end: upper + 26 }),
  };
  return { planes, chart, height: beside ? size : upper + CHART };
}

// The way from an arrow before it turns to the arrow after, a little farther out with each turn.
function drawTurn(context, { x, y }, [across, up], angle, colour, first) {
  const start = Math.atan2(up, across), steps = Math.ceil(Math.abs(angle) * 12);
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.beginPath();
  for (let k = 0; k <= steps; k++) {
    const turned = (angle * k) / Math.max(steps, 1), radius = first + (turned / (2 * Math.PI)) * 3;
    context.lineTo(x.at(0) + radius * Math.cos(start + turned), y.at(0) - radius * Math.sin(start + turned));
  }
  context.stroke();
}

function drawPlane(context, theme, result, i, state) {
  const { x, y } = result.planes[i], [a, b] = result.pairs[i], { values } = result;
  const plot = new Plot(context, theme, x, y), centre = [x.at(0), y.at(0)];
  plot.horizontal(0, { colour: theme.grid, dash: [] });
  plot.vertical(0, { colour: theme.grid, dash: [] });
  context.beginPath();
  context.arc(...centre, x.at(1) - x.at(0), 0, 2 * Math.PI);
  context.stroke();
  words(context, theme, say(picture.across, { across: a + 1 }), x.end, y.at(0) + 4, { align: "right", baseline: "top" });
  words(context, theme, say(picture.up, { up: b + 1 }), x.at(0) + 5, y.end + 2, { baseline: "top" });
  if (result.planes.length > 1) words(context, theme, i === 0 ? picture.first_plane : picture.second_plane, x.start, y.end + 2, { baseline: "top", colour: theme.text, bold: true });
  for (const [name, before, after, position, radius] of [
    ["q", result.q, values.turned_q, state.m, 34],
    ["k", result.k, values.turned_k, state.n, 22],
  ]) {
    const colour = name === "q" ? colours.query : colours.key;
    const tip = (v) => [x.at(v[a]), y.at(v[b])];
    const label = (v, text, weight) => {
      const [px, py] = tip(v), length = Math.hypot(px - centre[0], py - centre[1]) || 1;
      const [right, down] = [(px - centre[0]) / length, (py - centre[1]) / length];
      words(context, theme, text, px + 14 * right, py + 14 * down, { colour, bold: weight, align: right < -0.3 ? "right" : right > 0.3 ? "left" : "center" });
    };
    drawTurn(context, result.planes[i], [before[a], before[b]], position * result.frequencies[i], colour, radius);
    arrow(context, centre, tip(before), colour, { width: 1.5, dash: [4, 4], head: 7 });
    context.beginPath();
    context.arc(...tip(before), 7, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.stroke();
    label(before, name, false);
    arrow(context, centre, tip(after), colour, { width: 3 });
    if (position > 0) label(after, say(picture.turned, { name, position }), true);
  }
}

function draw({ context }, result, state, theme, cursor) {
  result.planes.forEach((_, i) => drawPlane(context, theme, result, i, state));
  const { x, y } = result.chart, { scores } = result.values, offset = state.m - state.n;
  const chart = new Plot(context, theme, x, y), width = x.end - x.start;
  chart.axes({
    xTitle: picture.offset, yTitle: picture.scores,
    xTicks: width / 60, xText: wholeNumber, yText: (tick) => fixed(tick, 0),
  });
  chart.horizontal(0, { colour: theme.muted, dash: [] });
  const points = Array.from(scores, (score, j) => [j - FARTHEST, score]);
  context.globalAlpha = 0.5;
  chart.line(points, colours.score, { width: 1 });
  context.globalAlpha = 1;
  chart.marks(points, colours.score, { radius: 2 });
  chart.rule([x.at(offset), y.start], [x.at(offset), y.end + 18], { colour: colours.score, dash: [] });
  chart.marks([[offset, scores[offset + FARTHEST]]], colours.score, { radius: 6 });
  const text = say(picture.score, { offset, score: result.values.by_matrices });
  words(context, theme, text, Math.min(Math.max(x.at(offset), x.start + 60), x.end - 60), y.end + 8, { align: "center", colour: theme.text, bold: true });
  if (cursor !== null) chart.vertical(cursor.offset);
}

function facts({ values }, { view, m, n }) {
  const { by_matrices, by_complex, elsewhere, other_layout } = values;
  return {
    by_matrices, by_complex, elsewhere, other_layout, offset: m - n, later_m: m + ELSEWHERE, later_n: n + ELSEWHERE,
    other: view === "half" ? "interleaved" : "half",
  };
}

const column = (numbers) => numbers.map((number) => [fixed(number, 2)]);
const complex = ([real, imaginary]) => `(${fixed(real, 2)} ${fixed(imaginary, 2).startsWith("−") ? "−" : "+"} ${fixed(Math.abs(imaginary), 2)}i)`;

// The present numbers written out: both rotations and their product, then the same as complex numbers.
function blocks({ values, q, k, pairs }, { m, n }) {
  const turned = (what, letter, position, before, after) => equation(
    say(written.turned_label, { what }), say(written.at, { letter, position }),
    matrix(say(written.rotation, { what }), values[`matrix_${letter}`].map((row) => row.map((number) => fixed(number, 2)))),
    matrix(what, column(before)), "=", matrix(say(written.turned, { what }), column(after)),
  );
  const factor = (number) => (number < 0 ? `(${fixed(number, 2)})` : fixed(number, 2));
  const products = values.turned_q.map((number, i) => `${factor(number)} · ${factor(values.turned_k[i])}`);
  const conjugates = pairs.map(([a, b]) => `${complex([q[a], q[b]])} · ${complex([k[a], -k[b]])}`);
  return [
    turned(written.query, "q", m, q, values.turned_q),
    turned(written.key, "k", n, k, values.turned_k),
    equation(written.score_label, written.score, `${products.join(" + ")}\u00a0=\u00a0${fixed(values.by_matrices, 3)}`),
    ...conjugates.map((product, i) => equation(
      say(written.pair_label, { pair: i }), pairs.length > 1 ? say(written.pair, { pair: i }) : written.one_pair, `${product} = ${complex(values.products[i])}`,
    )),
    equation(
      written.complex_label, say(written.complex, { offset: m - n, pairs: pairs.length }),
      `Re[${values.products.map((product, i) => `${complex(product)} · ${complex(values.turns[i])}`).join(" + ")}]\u00a0=\u00a0${fixed(values.by_complex, 3)}`,
    ),
  ];
}

function handles(result) {
  return result.planes.flatMap(({ x, y }, i) => ["q", "k"].map((name) => {
    const [across, up] = result.pairs[i];
    return {
      name: i === 0 ? name : say(catalogue.handles.second_plane, { name }),
      x: x.at(result[name][across]),
      y: y.at(result[name][up]),
      drag: (px, py) => ({ [NAMES[name][across]]: x.invert(px), [NAMES[name][up]]: y.invert(py) }),
    };
  }));
}

// With the lock, both positions move by as much as both can.
function linked(changes, { locked, m, n }) {
  if (!locked || !("m" in changes || "n" in changes)) return {};
  const wanted = "m" in changes ? changes.m - m : changes.n - n;
  const shift = Math.min(Math.max(wanted, -Math.min(m, n)), FARTHEST - Math.max(m, n));
  return { m: m + shift, n: n + shift };
}

const render = explorable({
  catalogue,
  readers: [{
    name: "offset",
    axis: ({ chart }) => chart.x,
    within: ({ chart: { x, y } }) => [{ left: x.start - 6, right: x.end + 6, top: y.end, bottom: y.start + 40 }],
  }],
  height: (width, state) => places(dimOf(state), width).height,
  compute, draw, facts, handles, linked, blocks,
  reading: ({ values }, state, { offset }) => ({ score: values.scores[offset + FARTHEST] }),
  pixel: ({ planes }, plane, across, up) => [planes[plane].x.at(across), planes[plane].y.at(up)],
});

export default { render };

import { SLOPE, encodingOf, injected, scoreOf } from "./arithmetic_injection.js";
import { softmax } from "./arithmetic_bias.js";
import { colours } from "./colours.js";
import { Axis, Plot, arrow, cellAxis, grip, sized, words } from "./drawing.js";
import catalogue from "./injection_points.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const LAST = 32, LATEST = 6, ROUNDING = 1e-9; // as in Python
const QUERY = 2, KEY = 1; // “sat” and “cat” among the tokens
const POINTS = ["input", "query_key", "logits"];
const LANES = { query: 16, key: 44 }, TRACK = 74; // the tokens, and their positions
const FRAME = { top: 124, bottom: 192 }, BARS = { top: 250, bottom: 364 }, MOST = 0.9; // of a weight
const HEIGHT = 366, HALF = { word: 31, high: 13 };

function compute(state, width, previous, data) {
  const { injection_point: point, m, n, start } = state, low = Math.min(m, n), { query, keys, others } = data;
  const score = (at, other) => scoreOf(point, query, keys[KEY], at, other);
  const places = keys.map((_, k) => (k === QUERY ? m : k === KEY ? n : start + others[k]));
  const weightsOf = (point) => Array.from(softmax(keys.map((key, k) => scoreOf(point, query, key, m, places[k]))));
  const values = {
    score: score(m, n),
    weights: weightsOf(point),
    together: Array.from({ length: LAST + 1 - Math.abs(m - n) }, (_, k) => score(m - low + k, n - low + k)),
    apart: Array.from({ length: LAST + 1 }, (_, position) => score(position, n)),
  };
  return { values, blind: weightsOf("none"), places, data, query, key: keys[KEY], ...layout(width) };
}

function layout(width) {
  const gap = width >= 600 ? 28 : 12, across = (width - 2 * gap) / 3;
  return {
    positions: new Axis({ from: 0, to: LAST, start: HALF.word + 1, end: width - HALF.word - 1 }),
    points: POINTS.map((name, k) => ({ name, left: 1 + k * (across + gap), right: k * (across + gap) + across - 1 })),
    bars: { x: new Axis({ from: 0, to: MOST, start: 42, end: width - 48 }), y: cellAxis(6, BARS.top, BARS.bottom) },
  };
}

// ---- the tokens

function drawTokens({ context }, { positions: axis, places, data }, state, theme) {
  const line = new Plot(context, theme, axis, new Axis({ from: 0, to: 1, start: TRACK, end: TRACK - 1 }));
  line.horizontal(0, { colour: theme.muted, dash: [] });
  for (let tick = 0; tick <= LAST; tick += 4) words(context, theme, String(tick), axis.at(tick), TRACK + 16, { align: "center" });
  places.forEach((position, k) => {
    if (k === QUERY || k === KEY) return;
    words(context, sized(theme, 14), data.words[k], axis.at(position), TRACK, { align: "center", colour: theme.text, ground: true });
  });
  for (const [name, position] of [["query", state.m], ["key", state.n]]) {
    const x = axis.at(position), y = LANES[name];
    line.rule([x, y + HALF.high], [x, TRACK], { colour: colours[name], dash: [] });
    context.fillStyle = theme.ground;
    context.fillRect(x - HALF.word, y - HALF.high, 2 * HALF.word, 2 * HALF.high);
    context.fillStyle = context.strokeStyle = colours[name];
    context.globalAlpha = 0.16;
    context.fillRect(x - HALF.word, y - HALF.high, 2 * HALF.word, 2 * HALF.high);
    context.globalAlpha = 1;
    context.lineWidth = 2;
    context.strokeRect(x - HALF.word, y - HALF.high, 2 * HALF.word, 2 * HALF.high);
    grip(context, theme, x - HALF.word + 13, y, colours[name]);
    words(context, sized(theme, 16), picture[name], x + 9, y + 1, { align: "center", colour: theme.text, bold: true });
  }
}

// ---- the injection points: within each is what it does

const WITHIN = {
  // the encodings that are added to both tokens
  input(context, theme, { left, right, top, bottom }, { query }, { m, n }) {
    const high = (bottom - top) / 4, wide = (right - left) / query.length;
    [["query", m], ["key", n]].forEach(([name, position], row) => {
      const zero = top + high * (1 + 2 * row);
      context.fillStyle = colours[name];
      encodingOf(position, query.length).forEach((value, k) => {
        const end = zero - 0.85 * high * value;
        context.fillRect(left + (k + 0.15) * wide, Math.min(zero, end), 0.7 * wide, Math.max(Math.abs(zero - end), 1));
      });
      context.fillStyle = theme.muted;
      context.fillRect(left, zero, right - left, 1);
    });
  },
  // the faster pair of both, rotated
  query_key(context, theme, { left, right, top, bottom }, vectors, { m, n }) {
    const x = (left + right) / 2, y = (top + bottom) / 2, radius = Math.min(right - left, bottom - top) / 2 - 2;
    context.strokeStyle = theme.muted;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
    for (const [name, position] of [["query", m], ["key", n]]) {
      const [across, up] = injected("query_key", vectors[name], position), length = Math.hypot(across, up);
      arrow(context, [x, y], [x + (radius * across) / length, y - (radius * up) / length], colours[name], { width: 3 });
    }
  },
  // the bias at each distance, and at this one
  logits(context, theme, { left, right, top, bottom }, result, { m, n }) {
    const x = new Axis({ from: 0, to: LAST, start: left + 4, end: right - 6 });
    const plot = new Plot(context, theme, x, new Axis({ from: -SLOPE * LAST, to: 0, start: bottom - 6, end: top + 8 }));
    const distance = Math.abs(m - n), here = -SLOPE * distance;
    plot.horizontal(0, { colour: theme.muted, dash: [] });
    plot.line([[0, 0], [LAST, -SLOPE * LAST]], colours.score, { width: 2.5 });
    plot.rule([x.at(distance), plot.y.at(0)], [x.at(distance), plot.y.at(here)]);
    plot.marks([[distance, here]], colours.position, { radius: 5 });
  },
};

function drawPoint(context, theme, { name, left, right }, result, state) {
  const { top, bottom } = FRAME, isOn = state.injection_point === name, wide = right - left, middle = (left + right) / 2;
  words(context, theme, picture.points[name], middle, top - 14, { align: "center", bold: true, colour: theme.text, width: wide });
  words(context, theme, isOn ? picture.on[name] : picture.off, middle, bottom + 15, { align: "center", width: wide, colour: isOn ? theme.text : theme.muted });
  context.fillStyle = colours.score;
  context.globalAlpha = isOn ? 0.12 : 0;
  context.fillRect(left, top, wide, bottom - top);
  context.globalAlpha = isOn ? 1 : 0.55; // what the others would do
  WITHIN[name](context, theme, { left: left + 10, right: right - 10, top: top + 8, bottom: bottom - 4 }, result, state);
  context.globalAlpha = 1;
  context.strokeStyle = isOn ? colours.score : theme.muted;
  context.lineWidth = isOn ? 3 : 1.5;
  context.strokeRect(left, top, wide, bottom - top);
}

// ---- the attention of “sat”

function drawWeights({ context, width }, { values, blind, data, bars: { x, y } }, theme, cursor) {
  words(context, theme, picture.weights, 0, 236, { colour: theme.text, bold: true, width });
  const high = 0.66 * (y.at(1) - y.at(0));
  values.weights.forEach((weight, k) => {
    const top = y.at(k) - high / 2, name = k === KEY ? "key" : k === QUERY ? "query" : null, end = x.at(weight), was = x.at(blind[k]);
    context.fillStyle = colours[name ?? "score"];
    context.globalAlpha = name === "key" || cursor?.token === k ? 1 : 0.55;
    context.fillRect(x.start, top, end - x.start, high);
    context.globalAlpha = 1;
    context.strokeStyle = theme.text;
    context.setLineDash([4, 3]);
    context.strokeRect(x.start, top, was - x.start, high);
    context.setLineDash([]);
    words(context, theme, say(picture.weight, { weight: 100 * weight }), Math.max(end, was) + 7, y.at(k) + 1, { bold: true, colour: theme.text });
    words(context, theme, data.words[k], x.start - 8, y.at(k) + 1, { align: "right", bold: name !== null, colour: name ? colours[name] : theme.text });
  });
  context.fillStyle = theme.muted;
  context.fillRect(x.start - 1, y.start, 1, y.end - y.start);
}

function draw(canvas, result, state, theme, cursor) {
  const { context } = canvas;
  context.lineWidth = 1;
  drawTokens(canvas, result, state, theme);
  for (const point of result.points) drawPoint(context, theme, point, result, state);
  context.lineWidth = 1;
  drawWeights(canvas, result, theme, cursor);
}

// ---- handles

function handles({ positions: axis }, { m, n }) {
  const handle = (name, control, position) => {
    const x = axis.at(position), y = LANES[name];
    const box = { left: x - HALF.word, right: x + HALF.word, top: y - HALF.high, bottom: y + HALF.high };
    return { name, along: "x", x, y, box, drag: (px) => ({ [control]: axis.nearest(axis.invert(px)) }) };
  };
  return [handle("query", "m", m), handle("key", "n", n)];
}

function press(px, py, { points }, { injection_point: present }) {
  const at = py >= FRAME.top - 20 && py <= FRAME.bottom + 20 && points.find(({ left, right }) => px >= left && px <= right);
  return at ? { injection_point: present === at.name ? "none" : at.name } : null;
}

// All tokens together move by as much as all can.
function linked(changes, { together, m, n, start }) {
  if (!together || !("m" in changes || "n" in changes)) return {};
  const wanted = "m" in changes ? changes.m - m : changes.n - n;
  const shift = Math.min(Math.max(wanted, -Math.min(m, n, start)), Math.min(LAST - Math.max(m, n), LATEST - start));
  return { m: m + shift, n: n + shift, start: start + shift };
}

function facts({ values: { weights, together, apart } }) {
  const same = (scores) => Math.max(...scores) - Math.min(...scores) <= ROUNDING;
  return { weight: 100 * weights[KEY], relative: same(together), equivariant: same(apart) };
}

const render = explorable({
  catalogue,
  readers: [{
    name: "token",
    vertical: true,
    axis: ({ bars }) => bars.y,
    within: ({ bars: { x, y } }) => [{ left: 0, right: x.end + 48, top: y.start, bottom: y.end }],
  }],
  height: () => HEIGHT,
  compute, draw, facts, handles, press, linked,
  reading: ({ values, places, data }, state, { token }) => ({ word: data.words[token], place: places[token], read: 100 * values.weights[token] }),
  pixel: ({ bars: { x, y } }, token, weight) => [x.at(weight), y.at(token)],
});

export default { render };

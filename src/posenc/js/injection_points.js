import { SLOPE, encodingOf, injected, scoreOf } from "./arithmetic_injection.js";
import { colours } from "./colours.js";
import { Axis, Plot, arrow, grip, sized, words } from "./drawing.js";
import catalogue from "./injection_points.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const LAST = 32, ROUNDING = 1e-9; // as in Python
const POINTS = ["input", "query_key", "logits"];
const LOW = -3, HIGH = 4; // of the scores that are drawn
const LANES = { query: 18, key: 50 }, TRACK = 72; // the tokens, and their positions
const FRAME = { top: 116, bottom: 194 }, CHART = { top: 266, bottom: 324 };
const HEIGHT = 328, HALF = { word: 35, high: 14 };

function compute(state, width, previous, data) {
  const { injection_point: point, m, n } = state, low = Math.min(m, n), score = (query, key) => scoreOf(point, data, query, key);
  const values = {
    score: score(m, n),
    together: Array.from({ length: LAST + 1 - Math.abs(m - n) }, (_, k) => score(m - low + k, n - low + k)),
    apart: Array.from({ length: LAST + 1 }, (_, position) => score(position, n)),
  };
  return { values, low, data, ...places(width) };
}

function places(width) {
  const gap = width >= 600 ? 28 : 12, across = (width - 2 * gap) / 3, half = (width - gap) / 2;
  const chart = (left) => ({
    x: new Axis({ from: 0, to: LAST, start: left + 24, end: left + half - 8 }),
    y: new Axis({ from: LOW, to: HIGH, start: CHART.bottom, end: CHART.top }),
  });
  return {
    positions: new Axis({ from: 0, to: LAST, start: HALF.word + 1, end: width - HALF.word - 1 }),
    points: POINTS.map((name, k) => ({ name, left: 1 + k * (across + gap), right: k * (across + gap) + across - 1 })),
    charts: { together: chart(0), apart: chart(half + gap) },
  };
}

// ---- the tokens

function drawTokens({ context }, { positions: axis }, state, theme) {
  const line = new Plot(context, theme, axis, new Axis({ from: 0, to: 1, start: TRACK, end: TRACK - 1 }));
  line.horizontal(0, { colour: theme.muted, dash: [] });
  for (let tick = 0; tick <= LAST; tick += 4) words(context, theme, String(tick), axis.at(tick), TRACK + 13, { align: "center" });
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
    grip(context, theme, x - HALF.word + 14, y, colours[name]);
    words(context, sized(theme, 17), picture[name], x + 10, y + 1, { align: "center", colour: theme.text, bold: true });
  }
}

// ---- the injection points: within each is what it does

const WITHIN = {
  // the encodings that are added to both tokens
  input(context, theme, { left, right, top, bottom }, { data }, { m, n }) {
    const high = (bottom - top) / 4, wide = (right - left) / data.query.length;
    [["query", m], ["key", n]].forEach(([name, position], row) => {
      const zero = top + high * (1 + 2 * row);
      context.fillStyle = colours[name];
      encodingOf(position, data.query.length).forEach((value, k) => {
        const end = zero - 0.85 * high * value;
        context.fillRect(left + (k + 0.15) * wide, Math.min(zero, end), 0.7 * wide, Math.max(Math.abs(zero - end), 1));
      });
      context.fillStyle = theme.muted;
      context.fillRect(left, zero, right - left, 1);
    });
  },
  // the faster pair of both, rotated
  query_key(context, theme, { left, right, top, bottom }, { data }, { m, n }) {
    const x = (left + right) / 2, y = (top + bottom) / 2, radius = Math.min(right - left, bottom - top) / 2 - 2;
    context.strokeStyle = theme.muted;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
    for (const [name, position] of [["query", m], ["key", n]]) {
      const [across, up] = injected("query_key", data[name], position), length = Math.hypot(across, up);
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
  words(context, theme, isOn ? picture.on[name] : picture.off, middle, bottom + 18, { align: "center", width: wide, colour: isOn ? theme.text : theme.muted });
  context.fillStyle = isOn ? colours.score : theme.grid;
  context.globalAlpha = isOn ? 0.12 : 0.6;
  context.fillRect(left, top, wide, bottom - top);
  context.globalAlpha = 1;
  if (isOn) WITHIN[name](context, theme, { left: left + 10, right: right - 10, top: top + 8, bottom: bottom - 4 }, result, state);
  context.strokeStyle = isOn ? colours.score : theme.muted;
  context.lineWidth = isOn ? 3 : 1.5;
  context.strokeRect(left, top, wide, bottom - top);
}

// ---- the score

function drawChart(context, theme, { x, y }, title, from, values, at, cursor) {
  const plot = new Plot(context, theme, x, y);
  words(context, theme, title, x.start - 24, y.end - 14, { colour: theme.text, width: x.end - x.start + 30 });
  for (const tick of [-2, 0, 2]) {
    words(context, theme, String(tick).replace("-", "−"), x.start - 8, y.at(tick), { align: "right" });
    plot.horizontal(tick, { colour: theme.grid, dash: [] });
  }
  plot.line(values.map((value, k) => [from + k, value]), colours.score, { width: 2.5 });
  plot.marks(values.map((value, k) => [from + k, value]), colours.score, { radius: 2.2 });
  plot.marks([[at, values[at - from]]], colours.position, { radius: 5.5 });
  if (cursor !== null) plot.vertical(cursor);
}

function draw({ context, width }, result, state, theme, cursor) {
  const { values, points, charts, low } = result;
  drawTokens({ context }, result, state, theme);
  for (const point of points) drawPoint(context, theme, point, result, state);
  words(context, sized(theme, 20), say(picture.score, values), width / 2, 232, { align: "center", bold: true, colour: theme.text });
  drawChart(context, theme, charts.together, picture.together, 0, values.together, low, null);
  drawChart(context, theme, charts.apart, picture.apart, 0, values.apart, state.m, cursor?.position ?? null);
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

// Both together move by as much as both can.
function linked(changes, { together, m, n }) {
  if (!together || !("m" in changes || "n" in changes)) return {};
  const wanted = "m" in changes ? changes.m - m : changes.n - n;
  const shift = Math.min(Math.max(wanted, -Math.min(m, n)), LAST - Math.max(m, n));
  return { m: m + shift, n: n + shift };
}

function facts({ values }, { m, n }) {
  const facts = {
    score: values.score, distance: Math.abs(m - n), together_min: Math.min(...values.together), together_max: Math.max(...values.together),
    apart_min: Math.min(...values.apart), apart_max: Math.max(...values.apart),
  };
  return { ...facts, relative: facts.together_max - facts.together_min <= ROUNDING, equivariant: facts.apart_max - facts.apart_min <= ROUNDING };
}

const render = explorable({
  catalogue,
  readers: [{
    name: "position",
    axis: ({ charts }) => charts.apart.x,
    within: ({ charts: { apart: { x, y } } }) => [{ left: x.start - 6, right: x.end + 6, top: y.end, bottom: y.start }],
  }],
  height: () => HEIGHT,
  compute, draw, facts, handles, press, linked,
  reading: ({ values }, state, { position }) => ({ read: values.apart[position] }),
  pixel: ({ charts: { apart: { x, y } } }, position, score) => [x.at(position), y.at(score)],
});

export default { render };

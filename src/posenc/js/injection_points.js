import { SLOPE, encodingOf, injected, scoreOf } from "./arithmetic_injection.js";
import { softmax } from "./arithmetic_bias.js";
import { colours, tint } from "./colours.js";
import { Axis, Plot, arrow, grip, sized, words } from "./drawing.js";
import catalogue from "./injection_points.json";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const LAST = 32, LATEST = 8, OTHERS = [0, 0, 0, 16, 20, 24], ROUNDING = 1e-9; // as in Python
const QUERY = 2, KEY = 1; // “sat” and “cat” among the tokens
const POINTS = ["input", "query_key", "logits"];
const TOP = 36, MOST = 0.5; // of the columns, and a weight that they have room for at least
const ACTIVE = colours.position; // of the injection point that is on, its arrows, and what it adds to weights
const GREYS = Object.fromEntries(Object.keys(colours).map((name) => [name, colours.neutral])); // of an injection point that is off
const HALF = { word: 31, high: 13 }; // of a token that is dragged

const placesOf = ({ m, n, start }) => OTHERS.map((other, k) => (k === QUERY ? m : k === KEY ? n : start + other));

function compute(state, width, previous, data) {
  const { injection_point: point, m, n } = state, low = Math.min(m, n), { query, keys } = data;
  const score = (at, other) => scoreOf(point, query, keys[KEY], at, other);
  const places = placesOf(state);
  const weightsOf = (point) => Array.from(softmax(keys.map((key, k) => scoreOf(point, query, key, m, places[k]))));
  const values = {
    score: score(m, n),
    weights: weightsOf(point),
    together: Array.from({ length: LAST + 1 - Math.abs(m - n) }, (_, k) => score(m - low + k, n - low + k)),
    apart: Array.from({ length: LAST + 1 }, (_, position) => score(position, n)),
  };
  const frame = layout(width, Math.max(MOST, ...values.weights)), { positions, column } = frame;
  const middles = apart(places.map((place) => positions.at(place)), column + 2, width);
  return { values, blind: weightsOf("none"), places, middles, data, query, key: keys[KEY], ...frame, tokens: new Axis({ from: 0, to: 5, start: 0, end: width }) };
}

// The columns on the track of positions, below it the lanes of the two tokens that are dragged, and the injection points.
function layout(width, most = MOST) {
  const wide = width >= 600, gap = wide ? 52 : 18, tail = wide ? 116 : 70, across = (width - 2 * gap - tail) / 3, foot = wide ? 212 : 184, track = foot + 20, frame = track + 106;
  return {
    positions: new Axis({ from: 0, to: LAST, start: HALF.word + 1, end: width - HALF.word - 1 }),
    weights: new Axis({ from: 0, to: most, start: foot, end: TOP }),
    points: POINTS.map((name, k) => ({ name, left: k * (across + gap), right: k * (across + gap) + across })),
    gap,
    column: wide ? 44 : 26,
    track,
    lanes: { key: track + 40, query: track + 68 },
    frame: { top: frame, bottom: frame + 92 },
    height: frame + 94,
  };
}

// ---- the tokens, and on each its attention weight

const roleOf = (k) => (k === KEY ? "key" : k === QUERY ? "query" : null);

// The middles of bars, side by side where they would cover each other, and within the canvas: those that meet share their mean.
function apart(middles, wide, width) {
  const order = [...middles.keys()].sort((one, other) => middles[one] - middles[other] || one - other), groups = [];
  order.forEach((k, rank) => {
    let group = { sum: middles[k] - rank * wide, count: 1 };
    while (groups.length && groups.at(-1).sum / groups.at(-1).count > group.sum / group.count) {
      const { sum, count } = groups.pop();
      group = { sum: group.sum + sum, count: group.count + count };
    }
    groups.push(group);
  });
  const least = wide / 2, most = width - wide / 2 - (middles.length - 1) * wide;
  const from = groups.flatMap(({ sum, count }) => Array(count).fill(Math.min(Math.max(sum / count, least), most)));
  return middles.map((_, k) => from[order.indexOf(k)] + order.indexOf(k) * wide);
}

function drawWeights({ context, width }, { values, blind, places, middles, weights: y, column }, state, theme, cursor) {
  words(context, theme, picture.weights.map((text) => say(text, state)), 0, 9, { colour: theme.text, bold: true, width });
  const labels = new Labels(context, theme, { left: 0, right: width, top: 20, bottom: y.start });
  if (state.together) { // on one plate
    const [left, right] = [Math.min(...middles), Math.max(...middles)];
    context.fillStyle = theme.text;
    context.fillRect(left - column / 2, y.start, right - left + column, 5);
  }
  [...places.keys()].sort((one, other) => (roleOf(one) ? 1 : 0) - (roleOf(other) ? 1 : 0)).forEach((k) => { // in front, those that are dragged
    const x = middles[k], top = y.at(values.weights[k]), without = y.at(blind[k]), role = roleOf(k);
    context.fillStyle = colours[role ?? "score"];
    context.globalAlpha = role === "key" || cursor?.token === k ? 1 : 0.6;
    context.fillRect(x - column / 2, Math.max(top, without), column, y.start - Math.max(top, without));
    context.globalAlpha = 1;
    if (state.injection_point === "none") return;
    context.fillStyle = ACTIVE;
    context.globalAlpha = top < without ? 0.9 : 0.15; // more than without positions, or less
    context.fillRect(x - column / 2, Math.min(top, without), column, Math.abs(top - without));
    context.globalAlpha = 1;
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    context.strokeRect(x - column / 2, without, column, y.start - without);
    context.setLineDash([]);
  });
  for (const k of new Set([KEY, cursor?.token ?? KEY])) {
    const text = say(picture.weight, { weight: 100 * values.weights[k] });
    labels.write(text, [middles[k], y.at(Math.max(values.weights[k], blind[k]))], { towards: -Math.PI / 2, away: 2, bold: true, colour: theme.text });
  }
}

function drawTokens({ context }, result, state, theme) {
  const { positions: axis, weights, places, middles, data, track, lanes } = result;
  const line = new Plot(context, theme, axis, new Axis({ from: 0, to: 1, start: track, end: track - 1 }));
  line.horizontal(0, { colour: theme.muted, dash: [] });
  for (const [name, position, k] of [["query", state.m, QUERY], ["key", state.n, KEY]]) {
    const x = axis.at(position), style = { colour: colours[name], width: 2, dash: [] };
    line.rule([middles[k], weights.start], [x, track], style);
    line.rule([x, track], [x, lanes[name]], style);
  }
  for (let tick = 0; tick <= LAST; tick += 8) words(context, theme, String(tick), axis.at(tick), track + 18, { align: "center", ground: true });
  places.forEach((position, k) => roleOf(k) || words(context, sized(theme, 14), data.words[k], axis.at(position), track, { align: "center", colour: theme.text, ground: true }));
  for (const [name, position] of [["query", state.m], ["key", state.n]]) {
    const x = axis.at(position), y = lanes[name];
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

// ---- the injection points: within each is what it does, in grey if it is off

const WITHIN = {
  // the encodings that are added to both tokens
  input(context, theme, { left, right, top, bottom }, { query }, { m, n }, ink) {
    const high = (bottom - top) / 4, wide = (right - left) / query.length;
    [["query", m], ["key", n]].forEach(([name, position], row) => {
      const zero = top + high * (1 + 2 * row);
      context.fillStyle = ink[name];
      encodingOf(position, query.length).forEach((value, k) => {
        const end = zero - 0.85 * high * value;
        context.fillRect(left + (k + 0.15) * wide, Math.min(zero, end), 0.7 * wide, Math.max(Math.abs(zero - end), 1));
      });
      context.fillStyle = theme.muted;
      context.fillRect(left, zero, right - left, 1);
    });
  },
  // the faster pair of both, rotated
  query_key(context, theme, { left, right, top, bottom }, vectors, { m, n }, ink) {
    const x = (left + right) / 2, y = (top + bottom) / 2, radius = Math.min(right - left, bottom - top) / 2 - 2;
    context.strokeStyle = theme.muted;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
    for (const [name, position] of [["query", m], ["key", n]]) {
      const [across, up] = injected("query_key", vectors[name], position), length = Math.hypot(across, up);
      arrow(context, [x, y], [x + (radius * across) / length, y - (radius * up) / length], ink[name], { width: 3 });
    }
  },
  // the bias at each distance, and at this one
  logits(context, theme, { left, right, top, bottom }, result, { m, n }, ink) {
    const x = new Axis({ from: 0, to: LAST, start: left + 4, end: right - 6 });
    const plot = new Plot(context, theme, x, new Axis({ from: -SLOPE * LAST, to: 0, start: bottom - 6, end: top + 8 }));
    const distance = Math.abs(m - n), here = -SLOPE * distance;
    plot.horizontal(0, { colour: theme.muted, dash: [] });
    plot.line([[0, 0], [LAST, -SLOPE * LAST]], ink.position, { width: 2.5 });
    plot.rule([x.at(distance), plot.y.at(0)], [x.at(distance), plot.y.at(here)]);
    plot.marks([[distance, here]], ink.position, { radius: 5 });
  },
};

function drawPoint(context, theme, { name, left, right }, result, state) {
  const { frame: { top, bottom } } = result, isOn = state.injection_point === name, wide = right - left, middle = (left + right) / 2;
  words(context, theme, picture.points[name], middle, top - 13, { align: "center", bold: true, colour: theme.text, width: wide });
  context.fillStyle = context.strokeStyle = isOn ? ACTIVE : colours.neutral;
  context.globalAlpha = 0.14;
  context.beginPath();
  context.roundRect(left + 1, top + 1, wide - 2, bottom - top - 2, 12);
  context.fill();
  context.globalAlpha = 1;
  if (isOn) {
    context.lineWidth = 2;
    context.stroke();
  }
  context.globalAlpha = isOn ? 1 : 0.6;
  WITHIN[name](context, theme, { left: left + 10, right: right - 10, top: top + 8, bottom: bottom - 24 }, result, state, isOn ? colours : GREYS);
  context.globalAlpha = 1;
  words(context, theme, picture[isOn ? "on" : "off"][name], middle, bottom - 13, { align: "center", bold: true, width: wide - 8, colour: theme.text });
}

// From each point to the next and to the weights: in colour once a position has entered.
function drawArrows({ context, width }, theme, { points, gap, frame: { top, bottom } }, { injection_point }) {
  const y = (top + bottom) / 2, from = POINTS.indexOf(injection_point);
  points.forEach(({ right }, k) => {
    const isOn = from >= 0 && from <= k;
    arrow(context, [right + 3, y], [right + gap - 3, y], isOn ? ACTIVE : theme.muted, isOn ? { width: 4, head: Math.min(12, gap / 2) } : { width: 2, head: 8 });
  });
  words(context, theme, picture.end, points.at(-1).right + gap, y, { bold: true, colour: from < 0 ? theme.text : tint(ACTIVE, theme), width: width - points.at(-1).right - gap });
}

function draw(canvas, result, state, theme, cursor) {
  const { context } = canvas;
  drawArrows(canvas, theme, result, state);
  drawWeights(canvas, result, state, theme, cursor);
  drawTokens(canvas, result, state, theme);
  for (const point of result.points) drawPoint(context, theme, point, result, state);
}

// ---- handles

// The position nearest to a wanted one at which there is no other token.
function freeNear(name, wanted, state) {
  const away = (position) => Math.abs(position - wanted), occupied = (changes) => new Set(placesOf({ ...state, ...changes })).size;
  const all = Array.from({ length: (name === "start" ? LATEST : LAST) + 1 }, (_, position) => position);
  return all.filter((position) => occupied({ [name]: position }) >= occupied({})).reduce((near, position) => (away(position) < away(near) ? position : near));
}

function handles({ positions: axis, lanes }, state) {
  const { m, n, together } = state;
  const handle = (name, control, position) => {
    const x = axis.at(position), y = lanes[name];
    const box = { left: x - HALF.word, right: x + HALF.word, top: y - HALF.high, bottom: y + HALF.high };
    return { name, along: "x", x, y, box, drag: (px) => ({ [control]: together ? axis.nearest(axis.invert(px)) : freeNear(control, axis.invert(px), state) }) };
  };
  return [handle("query", "m", m), handle("key", "n", n)];
}

function press(px, py, { points, gap, frame }, { injection_point: present }) {
  const at = py >= frame.top - 20 && py <= frame.bottom && points.find(({ right }) => px <= right + gap);
  return at ? { injection_point: present === at.name ? "none" : at.name } : null;
}

// All tokens together move by as much as all can; one alone passes those in its way.
function linked(changes, state) {
  const { together, m, n, start } = state, moved = ["m", "n", "start"].filter((name) => name in changes);
  if (!together && moved.length === 1) {
    const [name] = moved, wanted = changes[name];
    return { [name]: freeNear(name, wanted + 0.1 * Math.sign(wanted - state[name]), state) };
  }
  if (!together || !("m" in changes || "n" in changes)) return {};
  const wanted = "m" in changes ? changes.m - m : changes.n - n;
  const shift = Math.min(Math.max(wanted, -Math.min(m, n, start)), Math.min(LAST - Math.max(m, n), LATEST - start));
  return { m: m + shift, n: n + shift, start: start + shift };
}

function facts({ values: { together, apart } }) {
  const same = (scores) => Math.max(...scores) - Math.min(...scores) <= ROUNDING;
  return { relative: same(together), equivariant: same(apart) };
}

const render = explorable({
  catalogue,
  readers: [{
    name: "token",
    axis: ({ tokens }) => tokens,
    within: ({ positions: { start, end }, track }) => [{ left: start - HALF.word, right: end + HALF.word, top: 20, bottom: track + 10 }],
    pick: (x, y, { positions, places }) => places.reduce((near, place, k) => (Math.abs(positions.at(place) - x) < Math.abs(positions.at(places[near]) - x) ? k : near), 0),
  }],
  height: (width) => layout(width).height,
  opening: (share, { n }) => ({ n: 28 + share * (n - 28) }), // “cat” passes the other tokens
  compute, draw, facts, handles, press, linked,
  reading: ({ values, places, data }, state, { token }) => ({ word: data.words[token], place: places[token], read: 100 * values.weights[token] }),
  pixel: ({ positions, weights }, position, weight) => [positions.at(position), weights.at(weight)],
});

export default { render };

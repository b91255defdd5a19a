import { SLOPE, encodingOf, injected, scoreOf } from "./arithmetic_injection.js";
import { softmax } from "./arithmetic_bias.js";
import { colours, tint } from "./colours.js";
import { Axis, Plot, arrow, grip, sized, words } from "./drawing.js";
import catalogue from "./injection_points.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const LAST = 32, LATEST = 8, OTHERS = [0, 0, 0, 16, 20, 24], ROUNDING = 1e-9; // as in Python
const QUERY = 2, KEY = 1; // “sat” and “cat” among the tokens
const POINTS = ["input", "query_key", "logits"];
const FIRST = 4; // position of the first token before a drag
const ACTIVE = colours.position; // of the injection point that is on, its arrows, and what it adds to weights
const GREYS = Object.fromEntries(Object.keys(colours).map((name) => [name, colours.neutral])); // of an injection point that is off
const HALF = { word: 31, high: 13, column: 13 }; // of a token that is dragged, of a column

const placesOf = ({ m, n, start }) => OTHERS.map((other, k) => (k === QUERY ? m : k === KEY ? n : start + other));

function compute(state, width, previous, data) {
  const { injection_point: point, m, n } = state, low = Math.min(m, n), { query, keys } = data;
  const score = (at, other) => scoreOf(point, query, keys[KEY], at, other);
  const places = placesOf(state);
  const at = (point, shift) => Array.from(softmax(keys.map((key, k) => scoreOf(point, query, key, m + shift, places[k] + shift))));
  const values = {
    score: score(m, n),
    weights: at(point, 0),
    together: Array.from({ length: LAST + 1 - Math.abs(m - n) }, (_, k) => score(m - low + k, n - low + k)),
    apart: Array.from({ length: LAST + 1 }, (_, position) => score(position, n)),
  };
  const frame = layout(width), before = at(point, state.together ? FIRST - state.start : 0), blind = at("none", 0);
  return { values, before, blind, places, data, query, key: keys[KEY], ...frame, tokens: new Axis({ from: 0, to: 5, start: 0, end: width }) };
}

// The columns above the track of positions, below it the lanes of the two tokens that are dragged, and the injection points.
function layout(width) {
  const wide = width >= 600, gap = wide ? 52 : 18, tail = wide ? 116 : 70, across = (width - 2 * gap - tail) / 3, track = wide ? 204 : 188, frame = track + 108;
  return {
    positions: new Axis({ from: 0, to: LAST, start: HALF.word + 2, end: width - HALF.word - 2 }),
    points: POINTS.map((name, k) => ({ name, left: k * (across + gap), right: k * (across + gap) + across })),
    gap,
    foot: track - 16,
    track,
    lanes: { key: track + 38, query: track + 65 },
    frame: { top: frame, bottom: frame + 92 },
    height: frame + 94,
  };
}

// ---- the tokens, and over each a column of its attention weight

// Places along a line, moved as little as they must be to stand at least so far from each other.
function apart(places, least, width) {
  const groups = [];
  for (const k of [...places.keys()].sort((one, other) => places[one] - places[other])) {
    let group = { all: [k], at: places[k] };
    for (let last; (last = groups.at(-1)) && group.at - last.at < (least * (last.all.length + group.all.length)) / 2; groups.pop()) {
      const all = [...last.all, ...group.all], half = (least * all.length) / 2, mean = (last.at * last.all.length + group.at * group.all.length) / all.length;
      group = { all, at: Math.min(Math.max(mean, half), width - half) };
    }
    groups.push(group);
  }
  const moved = [];
  for (const { all, at } of groups) all.forEach((k, i) => (moved[k] = at + (i - (all.length - 1) / 2) * least));
  return moved;
}

// What a position adds to a weight is in another colour, what it takes away is pale.
function drawWeights({ context, width }, { values: { weights }, before, blind, places, positions, foot }, state, theme, cursor) {
  const tall = (foot - 40) / Math.max(0.56, ...weights), small = sized(theme, width < 600 ? 11 : 14);
  words(context, theme, picture.weights.map((text) => say(text, state)), 0, 9, { colour: theme.text, bold: true, width });
  const column = (k, from, to, colour, opacity = 1) => {
    context.fillStyle = colour;
    context.globalAlpha = opacity;
    context.fillRect(ends[k] - HALF.column, foot - tall * to, 2 * HALF.column, tall * (to - from));
    context.globalAlpha = 1;
  };
  const ends = apart(places.map((place) => positions.at(place)), 2 * HALF.column + 6, width);
  for (const k of ends.keys()) {
    const [least, most] = [Math.min(weights[k], blind[k]), Math.max(weights[k], blind[k])];
    column(k, 0, least, cursor?.token === k ? theme.text : colours.score);
    column(k, least, most, ACTIVE, weights[k] > least ? 1 : 0.25);
    const moved = k === KEY && state.together && state.start !== FIRST;
    if (ends[k] !== positions.at(places[k])) new Plot(context, theme).rule([ends[k], foot], [positions.at(places[k]), foot + 14], { dash: [] });
    words(context, small, say(picture[moved ? "moved" : "weight"], { before: 100 * before[k], weight: 100 * weights[k] }), ends[k], foot - tall * most - 10, { align: "center", bold: true, colour: theme.text, rim: true });
  }
  context.fillStyle = theme.text; // all on one plate
  if (state.together) context.fillRect(Math.min(...ends) - HALF.column, foot, Math.max(...ends) - Math.min(...ends) + 2 * HALF.column, 5);
}

function drawTokens({ context }, result, state, theme) {
  const { positions: axis, places, data, foot, track, lanes } = result;
  const line = new Plot(context, theme, axis, new Axis({ from: 0, to: 1, start: track, end: track - 1 }));
  line.horizontal(0, { colour: theme.muted, dash: [] });
  for (const [name, position] of [["query", state.m], ["key", state.n]]) {
    const x = axis.at(position), style = { colour: colours[name], width: 2, dash: [] };
    line.rule([x, foot], [x, lanes[name]], style);
  }
  for (let tick = 0; tick <= LAST; tick += 8) words(context, theme, String(tick), axis.at(tick), track + 18, { align: "center", ground: true });
  places.forEach((position, k) => k === KEY || k === QUERY || words(context, sized(theme, 14), data.words[k], axis.at(position), track, { align: "center", colour: theme.text, ground: true }));
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
  pixel: ({ positions, foot }, position) => [positions.at(position), foot],
});

export default { render };

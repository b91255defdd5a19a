import { dot } from "./arithmetic.js";
import { attention, product } from "./arithmetic_attention.js";
import { softmax } from "./arithmetic_bias.js";
import { colours, sequential, tint } from "./colours.js";
import { Axis, HeatMap, Plot, arrow, cellAxis, grip, widthOf, words } from "./drawing.js";
import catalogue from "./attention_by_hand.json";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const FEATURES = ["creature", "object", "action", "glue"], SIDES = ["creature", "object"];
const HANDED_OVER = 3; // features of a value, as in Python
const WEIGHTS = sequential(0, 1.3); // pale enough for the numbers in the cells
const ACROSS = [-0.32, 1.45], UP = [-0.3, 1.25]; // what the plane shows at least
const DRAWN = 0.25; // of a query's length: only its direction decides which key reaches farthest along it
const ROW = 26; // pixels of a row on a phone
const GRIP = 8; // pixels; half of one may stand out of the plane
const REACHES = Array.from({ length: 41 }, (_, k) => 0.075 * k - 0.5); // along the query, where the colours behind the arrows are computed
const SHORT = 0.5; // of a key, which gets little attention whatever the query, and is drawn pale
const ARROWS = "→↘↓↙←↖↑↗"; // clockwise
const APART = 8; // pixels between words on the plane that are not to be read as one
const HARDLY = 15; // pixels of an arrow that has no direction in which its name could stand
const FAINT = 0.75; // of the weights of other tokens

const matrixOf = (state, letter) => FEATURES.map((feature) => SIDES.map((side) => state[`${letter}_${feature}_${side}`]));

function attentionOf(state, rows) {
  const queries = product(rows, matrixOf(state, "q")), keys = product(rows, matrixOf(state, "k"));
  return { queries, keys, ...attention(queries, keys, rows.map((row) => row.slice(0, HANDED_OVER)), { scaled: state.scaled }) };
}

function compute(state, width, previous, { words: list, rows }) {
  const { queries, keys, weights, output } = attentionOf(state, rows);
  const asks = Number(state.token), query = queries[asks], scale = state.scaled ? Math.SQRT1_2 : 1, scores = keys.map((key) => scale * dot(query, key));
  const field = REACHES.map((reach) => softmax([...scores, scale * Math.hypot(...query) * reach]).at(-1)); // of one more key there
  return { values: { queries, keys, weights, gathered: output, field }, list, rows, asks, scale, ...places(width, list.length, asks) };
}

// The plane, and beside or below it the matrix.
function places(width, count, asks = 0) {
  const wide = width >= 490, share = (UP[1] - UP[0]) / (ACROSS[1] - ACROSS[0]), across = wide ? Math.min(0.55 * width, 480) : width;
  const high = wide ? Math.max(across * share, 288) : Math.min(across * share, 276), unit = wide ? (ACROSS[1] - ACROSS[0]) / across : (UP[1] - UP[0]) / high; // of the plane for a pixel
  const left = wide ? across + 68 : 62, top = wide ? 42 : high + 52, right = width - (wide ? 2 : 4), bottom = top + (wide ? Math.max(160, high - 150) : ROW);
  const first = wide ? 0 : asks; // a phone has the row of the chosen token only
  return {
    wide, height: wide ? Math.max(high, bottom + 86) + 8 : bottom + 62,
    plane: {
      x: new Axis({ from: ACROSS[0], to: ACROSS[0] + across * unit, start: 0, end: across }),
      y: new Axis({ from: UP[0], to: UP[0] + high * unit, start: high, end: 0 }),
    },
    map: { x: cellAxis(count, left, right), y: cellAxis(count, top - first * ROW, wide ? bottom : top + (count - first) * ROW), top, bottom },
  };
}

const isShort = (key) => Math.hypot(...key) < SHORT;
const drawn = ([across, up]) => [DRAWN * across, DRAWN * up];
const hex = (opacity) => Math.round(255 * opacity).toString(16).padStart(2, "0");
const discOf = ({ x }, weight) => 0.28 * Math.sqrt(weight) * (x.at(1) - x.at(0));

// Behind the arrows: how much attention one more key would get there.
function drawField(context, { plane: { x, y }, values, asks }) {
  const query = values.queries[asks], long = Math.hypot(...query), at = (reach) => [x.at((reach * query[0]) / long), y.at((reach * query[1]) / long)];
  const field = context.createLinearGradient(...at(REACHES[0]), ...at(REACHES.at(-1)));
  values.field.forEach((weight, k) => field.addColorStop(k / (REACHES.length - 1), `${colours.score}${hex(0.4 * weight)}`));
  context.fillStyle = field;
  context.fillRect(x.start, y.end, x.end - x.start, y.start - y.end);
}

function drawPlane({ context }, result, theme) {
  const { plane: { x, y }, values, asks, list } = result, plot = new Plot(context, theme, x, y), origin = [x.at(0), y.at(0)];
  const tip = ([across, up]) => [x.at(across), y.at(up)], query = values.queries[asks], long = Math.hypot(...query), end = tip(drawn(query));
  const labels = new Labels(context, theme, { left: 2, right: x.end - 2, top: y.end, bottom: y.start });
  if (long > 0.05) drawField(context, result);
  plot.horizontal(0, { colour: theme.grid, dash: [] });
  plot.vertical(0, { colour: theme.grid, dash: [] });
  for (const [text, left, top] of [[picture.across, x.end - 4 - widthOf(context, theme.font, picture.across), y.start - 16], [picture.up, Math.max(origin[0] - 8 - widthOf(context, theme.font, picture.up), 1), y.end]]) {
    words(context, theme, text, left, top + 8, { rim: true });
    labels.taken.push({ left, right: left + widthOf(context, theme.font, text) + 2 * APART, top, bottom: top + 16 });
  }
  plot.clip(); // an arrow that is longer than the plane would cross the table
  if (long > 0.05) { // how far each key reaches along the query
    const far = 9 / long;
    plot.rule(tip([-far * query[0], -far * query[1]]), tip([far * query[0], far * query[1]]), { colour: colours.query, dash: [] });
    const feet = values.keys.map((key) => dot(query, key) / long ** 2).map((reach) => [reach * query[0], reach * query[1]]);
    feet.forEach((foot, j) => isShort(values.keys[j]) || plot.rule(tip(values.keys[j]), tip(foot), { colour: theme.text }));
    context.globalAlpha = 0.45;
    arrow(context, origin, end, colours.query, { width: 9, head: 24 });
    context.globalAlpha = 1;
    plot.marks(feet.filter((_, j) => !isShort(values.keys[j])), colours.key, { radius: 3, square: true });
  }
  values.keys.forEach((key, j) => {
    const radius = discOf(result.plane, values.weights[asks][j]);
    labels.beside([origin, tip(key)]);
    labels.keep(...tip(key), 0.8 * radius);
    context.globalAlpha = isShort(key) ? 0.1 : 0.25;
    context.fillStyle = colours.key;
    context.beginPath();
    context.arc(...tip(key), radius, 0, 2 * Math.PI);
    context.fill();
    context.globalAlpha = isShort(key) ? 0.35 : 1;
    arrow(context, origin, tip(key), colours.key, { width: 4.5, head: Math.min(14, (x.at(Math.hypot(...key)) - origin[0]) / 2) });
  });
  context.globalAlpha = 1;
  context.restore();
  labels.along(origin, end);
  for (const [px, py] of [end, ...values.keys.map(tip)]) labels.keep(px, py, 11);
  const named = ([px, py], text, colour, radius, bold = true) => { // outwards, or below where the arrow is hardly one
    const [across, down] = [px - origin[0], py - origin[1]], towards = Math.hypot(across, down) < HARDLY ? Math.PI / 2 : Math.atan2(down, across);
    labels.write(text, [px, py], { towards, away: Math.max(13, radius + 3), colour: tint(colour, theme), bold });
  };
  const stubs = [...list.keys()].filter((j) => isShort(values.keys[j]) && !dragged(result).includes(j)); // named together, left of the origin, or where they are pulled along
  const [across, down] = [0, 1].map((side) => stubs.reduce((sum, j) => sum + tip(values.keys[j])[side] / stubs.length, 0) - origin[side]), along = Math.hypot(across, down) > 2 * HARDLY;
  const { place, towards, away } = along ? { place: [origin[0] + across, origin[1] + down], towards: Math.atan2(down, across), away: 26 } : { place: [origin[0] - 8, origin[1] + 18], towards: Math.PI, away: 0 };
  labels.write([...new Set(stubs.map((j) => list[j]))].join(", "), place, { towards, away, colour: tint(colours.key, theme) });
  named(end, say(picture.query, { asks: list[asks] }), colours.query, 0);
  values.keys.forEach((key, j) => {
    if (list.indexOf(list[j]) !== j || (isShort(key) && !dragged(result).includes(j))) return; // an equal token has an equal key
    named(tip(key), say(picture.weight, { name: list[j], weight: 100 * values.weights[asks][j] }), colours.key, discOf(result.plane, values.weights[asks][j]), !isShort(key));
  });
  if (long <= 0.05) return;
  const [dx, dy] = [end[0] - origin[0], end[1] - origin[1]], ahead = Math.atan2(dy, dx); // where the colour is strongest
  const far = Math.min(...[[dx, x.end - origin[0], -origin[0]], [dy, y.start - origin[1], y.end - origin[1]]].map(([part, more, less]) => (Math.abs(part) < 1e-9 ? Infinity : (part > 0 ? more : less) / part)));
  for (const one of labels.taken) Object.assign(one, { left: one.left - APART, right: one.right + APART, top: one.top - 2, bottom: one.bottom + 2 });
  labels.write(say(picture.more, { arrow: ARROWS[Math.round(ahead / (Math.PI / 4) + 8) % 8] }), [origin[0] + far * dx, origin[1] + far * dy], { towards: ahead + Math.PI, away: 6, colour: tint(colours.score, theme), bold: true });
}

function drawWeights({ context, width }, result, theme, cursor) {
  const { map: { x, y, top, bottom }, values, asks, list, wide } = result, map = new HeatMap(context, theme, x, y), shown = list.map((_, i) => wide || i === asks);
  new HeatMap(context, theme, x, cellAxis(wide ? list.length : 1, top, bottom)).fill((wide ? values.weights : [values.weights[asks]]).flat(), WEIGHTS);
  words(context, theme, picture.weights, wide ? x.start : 0, top - (wide ? 34 : 38), { colour: theme.text, bold: true, width: width - x.start });
  words(context, theme, picture.key_axis, x.start - 8, top - 12, { align: "right", colour: tint(colours.key, theme) });
  list.forEach((word, k) => words(context, theme, word, x.at(k), top - 12, { align: "center", colour: tint(colours.key, theme), bold: x.at(1) - x.at(0) > 30 }));
  values.weights.forEach((row, i) => {
    if (!shown[i]) return;
    words(context, theme, list[i], x.start - 8, y.at(i), { align: "right", colour: tint(colours.query, theme), bold: i === asks });
    row.forEach((weight, j) => words(context, theme, fixed(100 * weight, 0), x.at(j), y.at(i) + 1, { align: "center", colour: theme.text, bold: i === asks }));
    if (list[i] === list[asks] || cursor !== null) return; // an equal token has an equal row
    context.globalAlpha = FAINT;
    context.fillStyle = theme.ground;
    context.fillRect(x.start, y.at(i - 0.5), x.end - x.start, y.at(1) - y.at(0));
    context.globalAlpha = 1;
  });
  context.strokeStyle = colours.query;
  context.lineWidth = 2.5;
  context.strokeRect(x.start - 1, y.at(asks - 0.5), x.end - x.start + 2, y.at(1) - y.at(0));
  if (cursor !== null && shown[cursor.query]) map.outline(cursor.query, cursor.key);
  drawGathered(context, theme, result);
}

// The output of the chosen token, as bars below the weights.
function drawGathered(context, theme, { map, wide, values, asks, list }) {
  const { end, start } = map.x, left = wide ? start + 58 : 164, top = map.bottom + (wide ? 42 : 18), scale = new Axis({ from: 0, to: 1, start: left + 6, end: end - 34 });
  words(context, theme, picture.output.map((text) => say(text, { asks: list[asks] })), wide ? start : 0, wide ? top - 20 : top, { colour: theme.text, bold: true, width: wide ? end - start : left - 62 });
  values.gathered[asks].forEach((amount, f) => {
    const at = top + 17 * f;
    words(context, theme, picture.features[f], left, at, { align: "right" });
    context.fillStyle = colours.score;
    context.fillRect(scale.start, at - 5, Math.max(scale.at(amount) - scale.start, 1), 10);
    words(context, theme, fixed(amount, 2), scale.at(amount) + 5, at, { colour: theme.text });
  });
}

function draw(canvas, result, state, theme, cursor) {
  drawPlane(canvas, result, theme);
  drawWeights(canvas, result, theme, cursor);
  for (const { name, x, y } of handles(result, state).toReversed()) grip(canvas.context, theme, x, y, name === "query" ? colours.query : colours.key);
}

// An arrow's tip pulls its matrix along: W + xᵀ·(tip − x·W) / |x|² is the nearest matrix that takes the row x there.
function pull(state, letter, row, point) {
  const matrix = matrixOf(state, letter), [arrow] = product([row], matrix), squared = dot(row, row), changes = {};
  FEATURES.forEach((feature, f) => SIDES.forEach((side, s) => {
    changes[`${letter}_${feature}_${side}`] = matrix[f][s] + (row[f] * (point[s] - arrow[s])) / squared;
  }));
  return changes;
}

// No function word: their keys lie together at the origin.
const dragged = ({ list, rows }) => [...list.keys()].filter((word) => list.indexOf(list[word]) === word && Math.max(...rows[word].slice(0, HANDED_OVER)) > 0.5);

// Only within the plane is an arrow's tip seen and dragged. A pulled key stays there with its
// disc, and the tips of those that it takes along.
function handles({ plane, values, rows, list, asks }, state) {
  const { x, y } = plane, words = dragged({ list, rows });
  const handle = (name, letter, word, tip, moversOf, share = 1) => {
    const to = (px, py, movers) => pull(state, letter, rows[word], [x.invert(px), y.invert(py)].map((at, side) => (tip[side] + within([x, y][side], at - tip[side], side, movers)) / share));
    return { name, x: x.at(tip[0]), y: y.at(tip[1]), drag: (px, py) => to(px, py, moversOf(to(px, py, moversOf()))) }; // with the disc that it has there
  };
  const query = drawn(values.queries[asks]);
  const along = (word) => (changes) => {
    const weights = changes && attentionOf({ ...state, ...changes }, rows).weights[asks];
    return words.map((j) => ({ tip: values.keys[j], share: dot(rows[j], rows[word]) / dot(rows[word], rows[word]), radius: changes && j === word ? discOf(plane, weights[j]) : 0 }));
  };
  const all = [handle("query", "q", asks, query, () => [{ tip: query, share: 1, radius: 0 }], DRAWN), ...words.map((word) => handle(`key ${list[word]}`, "k", word, values.keys[word], along(word)))];
  const outside = (axis, pixel) => Math.abs(pixel - (axis.start + axis.end) / 2) - Math.abs(axis.end - axis.start) / 2;
  return all.filter((tip) => Math.max(outside(x, tip.x), outside(y, tip.y)) <= GRIP);
}

// So much of a move along one side that each tip, which moves by its share, stays within the plane, or is as far outside as it
// was; but a disc goes back inside.
function within({ from, to, start, end }, move, side, movers) {
  const unit = Math.abs((to - from) / (end - start));
  return movers.filter(({ share }) => Math.abs(share) > 1e-9).reduce((left, { tip, share, radius }) => {
    const ends = [from + radius * unit - tip[side], to - radius * unit - tip[side]].map((room) => room / share);
    const stays = radius ? [] : [0];
    return Math.min(Math.max(left, Math.min(...ends, ...stays)), Math.max(...ends, ...stays));
  }, move);
}

function facts({ values, asks, list, rows }) {
  const weights = values.weights[asks], weight = Math.max(...weights), best = list[weights.indexOf(weight)], output = values.gathered[asks], most = output.indexOf(Math.max(...output));
  const fromWord = (word) => list.reduce((sum, each, j) => (each === word ? sum + weights[j] * rows[j][most] : sum), 0) / output[most];
  const sum = (row) => row.reduce((total, amount) => total + amount, 0), mostly = weight >= 0.65 && weight * sum(rows[list.indexOf(best)].slice(0, HANDED_OVER)) >= 0.5 * sum(output);
  const source = list.reduce((one, other) => (fromWord(other) > fromWord(one) ? other : one));
  return { asks: list[asks], repeated: list.indexOf(list[asks]) < list.lastIndexOf(list[asks]), best, weight: 100 * weight, mostly, alike: weight < 0.25 && weight < 2 * Math.min(...weights), feature: picture.features[most], source, from: 100 * fromWord(source) };
}

function reading({ values, list, scale }, state, { query, key }) {
  const score = scale * dot(values.queries[query], values.keys[key]);
  return { query_token: list[query], key_token: list[key], score, weight: 100 * values.weights[query][key] };
}

const onMap = ({ map: { x, top, bottom } }) => [{ left: x.start, right: x.end, top, bottom }];

const render = explorable({
  catalogue,
  readers: [
    { name: "query", vertical: true, axis: ({ map }) => map.y, within: onMap },
    { name: "key", axis: ({ map }) => map.x, within: onMap },
  ],
  height: (width) => places(width, 6).height,
  opening: (share, { q_action_creature: long }) => { // the query of “sat” swings from objects to creatures
    const angle = 1.4 * (1 - share);
    return { q_action_creature: long * Math.cos(angle), q_action_object: long * Math.sin(angle) };
  },
  compute, draw, facts, reading, handles,
  press(px, py, result) {
    const [{ right, top, bottom }] = onMap(result);
    const row = px <= right && py >= top && py <= bottom && px >= result.map.x.start - 60;
    return row ? { token: String(result.map.y.nearest(result.map.y.invert(py))) } : null;
  },
  pixel: ({ map }, query, key) => [map.x.at(key), map.y.at(query)],
});

export default { render };

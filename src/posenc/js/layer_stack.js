import {
  DecayTable, frequenciesOf, isLocal, matchShare, newPairs, patternOf, queryScale, rotates,
} from "./arithmetic_layers.js";
import { decay } from "./arithmetic.js";
import { table } from "./blocks.js";
import { chipsAndList } from "./chips_and_list.js";
import { colours, shade } from "./colours.js";
import { Axis, Plot, arrow, cellAxis, disc, grip, sized, widthOf, words } from "./drawing.js";
import { explorable } from "./explorable.js";
import { changed, layerChips } from "./layer_chips.js";
import catalogue from "./layer_stack.json";
import { fixed, formatInteger } from "./numbers.js";
import { say } from "./sentences.js";
import stacks from "./stacks.json";

const { picture } = catalogue;
const BACK = Array.from({ length: 20 }, (_, k) => 2 ** k); // distances at which JavaScript and Python are compared
const WIDE = 600; // pixels from which a layer's type is written out
const TOP = 46, ROWS = 272, BELOW = 22, GAP = 6; // pixels above, of, and below the strips, and between two
const MATCH = 11, HEAD = 33; // the matching key's grip, the titles of columns
const OVER = 24; // pixels of a layer's switch where it is above its strip
const COURSE = 6; // pixels to either side over which a strip's line is a mean
const FIRST = 3; // milliseconds for the sums before the picture is drawn; the rest follows in slices
const HALF = 0.5; // of attention, with which a key is found
const TALL = 34; // pixels of a strip from which two lines stand beside it
const LEVEL = 0.002; // of attention, less than a tenth of a pixel
const STRIPE = 4; // pixels between the lines over unseen angles

// Sums over pairs cost the most and no slider changes them: one table for each list of frequencies.
const tables = new Map();
function tableOf(numbers, matchPairs) {
  const key = `${numbers.pairs} ${numbers.turning} ${numbers.base} ${matchPairs}`;
  if (!tables.has(key)) {
    const frequencies = frequenciesOf(numbers, matchPairs);
    tables.set(key, { frequencies, sums: new DecayTable(frequencies) });
  }
  return tables.get(key);
}

const STILL = { frequencies: new Float64Array(1), sums: new DecayTable(new Float64Array(1)) };

// A narrow picture has each switch above its strip, if there is room for both.
function placesOf(width, context, count) {
  const wide = width >= WIDE, over = !wide && ROWS / count > 2 * OVER, [start, right] = wide ? [200, 96] : over ? [12, 16] : [112, 57];
  const x = new Axis({ from: 1, to: context, start, end: width - right, log: true });
  return { wide, over, count, x, columns: x.columns() };
}

// Everything about one kind of layer that does not depend on how the picture is drawn.
function kindOf(letter, { margin, context, match_pairs, temperature, model }, at) {
  const { window, full, local, length } = stacks[model], numbers = isLocal(letter) ? local : full, turns = rotates(letter);
  const of = tableOf(numbers, match_pairs), { frequencies, sums } = turns ? of : STILL, pairs = of.frequencies.length;
  const seen = isLocal(letter) ? Math.min(context, window) : context;
  const factor = margin * (!turns && temperature ? queryScale(context) : 1);
  const share = (distance) => (distance < seen ? matchShare(factor * decay(distance, frequencies), seen) : 0);
  return {
    letter, turns, seen, factor, frequencies, sums, pairs, share, length, curve: BACK.map(share), near: share(1), found: share(at),
    fresh: turns && at < seen ? newPairs(at, frequencies, length) : 0,
  };
}

function compute(state, width, previous) {
  const pattern = patternOf(state), at = Math.min(state.distance, state.context - 1);
  const kinds = Object.fromEntries([...new Set(pattern)].map((letter) => [letter, kindOf(letter, state, at)]));
  const every = Object.values(kinds), layers = [...pattern].map((letter) => kinds[letter]), { model, context } = state;
  const kept = previous?.width === width && previous.context === context && previous.count === pattern.length;
  const { columns, x, wide, over, count } = kept ? previous : placesOf(width, context, pattern.length);
  const complete = (deadline) => every.every(({ sums, seen }) => sums.fill(seen, deadline)), done = complete(performance.now() + FIRST);
  const values = {
    pattern,
    curve: layers.map(({ curve }) => curve),
    near: layers.map(({ near }) => near),
    share: layers.map(({ found }) => found),
    seen: layers.map(({ seen }) => at < seen),
    fresh: layers.map(({ fresh }) => fresh),
    pairs: layers.map(({ pairs }) => pairs),
  };
  const rows = cellAxis(pattern.length, TOP + ROWS, TOP); // from the bottom up
  return { values, layers, every, at, columns, x, wide, over, count, rows, width, model, context, known: true, complete: done ? undefined : complete };
}

// From the foot of its strip to its head, and where what can be pressed stands beside it.
function rowOf({ rows, wide, over }, k) {
  const bottom = rows.at(k - 0.5) - GAP, head = rows.at(k + 0.5), top = head + (over ? OVER : 0), middle = (top + bottom) / 2;
  const side = over ? head + OVER / 2 - 1 : middle, high = over ? OVER / 2 - 1 : Math.min(bottom - top, 26) / 2;
  const [left, between, right] = wide ? [20, 100, 180] : over ? [14, 74, 144] : [12, 68, 108];
  const pill = (left, right) => ({ left, right, top: side - high, bottom: side + high });
  return { top, bottom, middle, side, turning: pill(left, between), window: pill(between, right) };
}

// ---- drawing

const colourOf = ({ turns }) => (turns ? colours.position : colours.score);

// A layer's switch: its knob is on the left for RoPE, and on the right for NoPE; and beside it in one frame, how far it sees.
function drawSide(context, theme, result, k, layer) {
  const { side, turning: { left, right, top, bottom }, window } = rowOf(result, k), colour = colourOf(layer), high = bottom - top, half = high / 2, knob = Math.min(half - 3, result.wide ? 10 : 7);
  words(context, theme, String(k + 1), 0, side, { colour: theme.text, bold: true });
  context.lineWidth = 1;
  context.strokeStyle = theme.muted;
  context.beginPath();
  context.roundRect(left + 0.5, top + 0.5, window.right - left - 1, high - 1, half);
  context.stroke();
  context.fillStyle = colour;
  context.globalAlpha = 0.25;
  context.beginPath();
  context.roundRect(left + 1, top + 1, right - left - 1, high - 2, half);
  context.fill();
  context.globalAlpha = 1;
  context.beginPath();
  context.arc(layer.turns ? left + knob + 3 : right - knob - 3, side, knob, 0, 2 * Math.PI);
  context.fill();
  const inside = right - left - 2 * knob - 10, at = (left + right) / 2 + (layer.turns ? knob : -knob);
  words(context, theme, layer.turns ? picture.rope : picture.nope, at, side, { colour: theme.text, align: "center", width: inside });
  const facts = { window: stacks[result.model].window }, seen = isLocal(layer.letter) ? picture.last.map((text) => say(text, facts)) : picture.all;
  words(context, theme, seen, (window.left + window.right) / 2 - 1, side, { colour: isLocal(layer.letter) ? theme.text : theme.muted, align: "center", width: window.right - window.left - 6 });
}

// The upper edges of a strip, as [pixel, least, greatest] share of each column as far as the layer sees and is summed;
// of a stretch that is level to a tenth of a pixel, its two ends.
function edgesOf({ columns }, layer) {
  const { sums, seen, factor } = layer, { low, high, count } = sums.extremes(columns), edges = [];
  let before = null;
  const add = (pixel, least, greatest) => {
    const edge = [pixel, matchShare(factor * least, seen), matchShare(factor * greatest, seen)], kept = edges.at(-1);
    const level = kept && Math.abs(edge[1] - kept[1]) < LEVEL && Math.abs(edge[2] - kept[2]) < LEVEL;
    if (!level && before && before !== kept) edges.push(before);
    if (!level) edges.push(edge);
    before = edge;
  };
  let k = 0;
  for (; k < count && columns[k][2] <= seen; k++) add(columns[k][0], low[k], high[k]);
  const end = Math.min(seen, sums.filled);
  if (k < columns.length && columns[k][1] < end) add(columns[k][0], ...sums.between(columns[k][1], end));
  if (before && before !== edges.at(-1)) edges.push(before);
  return edges;
}

function drawStrip(context, theme, result, k, layer, edges) {
  const { x } = result, { top, bottom } = rowOf(result, k), up = (share) => bottom - share * (bottom - top), colour = colourOf(layer);
  const end = x.at(layer.seen), textEnd = x.at(result.context), plot = new Plot(context, theme, x, new Axis({ from: 0, to: 1, start: bottom, end: top }));
  plot.horizontal(HALF, { dash: [2, 3], colour: theme.muted });
  if (end < textEnd) { // masked by a window
    context.fillStyle = theme.ground; // over the grid: no line crosses the word
    context.fillRect(end, top, textEnd - end, bottom - top);
    context.fillStyle = theme.grid;
    context.globalAlpha = 0.45;
    context.fillRect(end, top, textEnd - end, bottom - top);
    context.globalAlpha = 1;
    const lines = [end, x.at(result.at), x.at(stacks[result.model].length), textEnd].filter((line) => line >= end && line <= textEnd).sort((one, other) => one - other);
    const from = lines.find((line, i) => lines[i + 1] - line > widthOf(context, theme.font, picture.masked) + 8);
    if (from) words(context, theme, picture.masked, from + 4, (top + bottom) / 2);
  }
  const course = Plot.course(edges, COURSE);
  const fading = context.createLinearGradient(0, top, 0, bottom); // the less attention, the paler
  fading.addColorStop(0, colour);
  fading.addColorStop(1, `${colour}00`);
  plot.area(edges.map(([pixel, , high]) => [pixel, 0, high]), fading, 0.15);
  plot.area(course.map(([pixel, mean]) => [pixel, 0, mean]), fading, 0.35);
  plot.curve(course, colour, { width: 2 });
  context.lineWidth = 1;
  context.strokeStyle = theme.muted;
  context.beginPath();
  context.moveTo(x.start, bottom + 0.5);
  context.lineTo(textEnd, bottom + 0.5);
  context.stroke();
}

// Stripes over what lies past the trained length, the darker the more pairs are at an unseen angle.
function stripesOf({ x }, { turns, seen, length, frequencies, pairs }) {
  const stripes = [];
  if (!turns) return stripes;
  for (let pixel = x.at(length) + STRIPE; pixel <= x.at(seen); pixel += STRIPE) {
    stripes.push([pixel, newPairs(Math.round(x.invert(pixel)), frequencies, length) / pairs]);
  }
  return stripes;
}

function drawStripes(context, theme, result, k, stripes) {
  const { top, bottom } = rowOf(result, k);
  context.strokeStyle = theme.text;
  context.lineWidth = 1;
  for (const [pixel, share] of stripes) {
    if (share === 0) continue;
    context.globalAlpha = 0.25 + 0.75 * share;
    context.beginPath();
    context.moveTo(pixel - STRIPE, bottom);
    context.lineTo(pixel, top);
    context.stroke();
  }
  context.globalAlpha = 1;
}

// A line down all strips, but not through the words above each.
function downStrips(context, result, x, colour, style) {
  if (!result.over) return rule(context, x, TOP, TOP + ROWS, colour, style);
  result.layers.forEach((_, k) => rule(context, x, rowOf(result, k).top, rowOf(result, k).bottom, colour, style));
}

function rule(context, x, top, bottom, colour, { width = 1, dash = [] } = {}) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x, top);
  context.lineTo(x, bottom);
  context.stroke();
  context.setLineDash([]);
}

// Words beside a grip, on the side where there is room between `left` and the width. Returns where they begin.
function beside(context, theme, texts, x, y, left, width) {
  const long = (text) => widthOf(context, `600 ${theme.font}`, text), room = Math.max(width - x, x - left) - 14;
  const text = texts.find((one) => long(one) <= room) ?? texts.at(-1), right = x + 14 + long(text) <= width;
  words(context, theme, text, right ? x + 14 : x - 14, y, { align: right ? "left" : "right", colour: theme.text, bold: true, ground: true });
  return right ? x + 14 : x - 14 - long(text);
}

// From the query, the last token, back to the key that matches it, and the weight of that in each layer.
function drawMatch(context, theme, result, width) {
  const { x, at, over, layers, values } = result, spot = x.at(at), bold = `600 ${theme.font}`, name = widthOf(context, bold, picture.query.at(-1)) + 18;
  const after = over && spot - x.start > name + 20, from = x.start + (after ? name : 0); // of the arrow
  if (after) words(context, theme, picture.query.at(-1), x.start + 12, MATCH, { colour: theme.text, bold: true });
  if (!over) words(context, theme, picture.query, x.start - 12, MATCH, { align: "right", colour: theme.text, bold: true, width: x.start - 20 });
  if (!over) rule(context, spot, MATCH, TOP, colours.key, { width: 2 });
  downStrips(context, result, spot, colours.key, { width: 2 });
  layers.forEach((_, k) => {
    const { top, bottom } = rowOf(result, k);
    if (values.seen[k]) disc(context, theme, spot, bottom - values.share[k] * (bottom - top), 4.5, colours.key);
  });
  const text = beside(context, theme, picture.match.map((text) => say(text, { at })), spot, MATCH, from + 30, width), tip = Math.min(spot - 9, text - 5);
  if (tip - from > 14) arrow(context, [from, MATCH], [tip, MATCH], colours.query, { width: 1.5, head: 7 });
  disc(context, theme, x.start, MATCH, 6, colours.query);
  grip(context, theme, spot, MATCH, colours.key);
}

function draw({ context, width }, result, _, theme, cursor) {
  const { x, layers, every, wide, over, values } = result, bottom = TOP + ROWS, trained = stacks[result.model].length;
  const drawn = new Map(every.map((kind) => [kind, { edges: edgesOf(result, kind), stripes: stripesOf(result, kind) }]));
  const ticks = x.ticks().filter((tick) => tick < result.context);
  for (const tick of ticks) rule(context, x.at(tick), bottom - GAP, bottom, theme.muted);
  if (!over) words(context, theme, picture.back, x.start - 18, bottom + 11, { align: "right", width: x.start - 18 });
  layers.forEach((layer, k) => {
    const { edges, stripes } = drawn.get(layer), { top, bottom: foot, middle, side, window } = rowOf(result, k);
    drawStrip(context, theme, result, k, layer, edges);
    drawStripes(context, theme, result, k, stripes);
    drawSide(context, theme, result, k, layer);
    const found = values.share[k] >= HALF, left = x.end + (wide ? 24 : 18), tall = foot - top >= TALL;
    const weight = say(picture.weight, { weight: 100 * values.share[k] }), verdict = picture[found ? "found" : "lost"];
    const style = { bold: found, colour: found ? shade(0.7, theme, colours.key) : theme.muted };
    words(context, theme, picture.half, x.end + 4, middle);
    if (over) {
      const told = `${weight} ${verdict}`, from = window.right + 6, room = x.end - widthOf(context, found ? `600 ${theme.font}` : theme.font, told) - from - 6;
      words(context, theme, told, x.end, side, { ...style, align: "right" });
      if (k === layers.length - 1) words(context, theme, picture.press, from, side, { width: room });
      return;
    }
    style.width = width - left;
    words(context, sized(theme, wide && tall ? 18 : 13), weight, left, tall ? middle - 9 : middle, style);
    if (tall) words(context, theme, verdict, left, middle + 10, style);
  });
  const { turning: { left } } = rowOf(result, 0), end = x.end;
  if (!over) words(context, theme, picture.press, left, HEAD, { width: x.start - left - 4 });
  downStrips(context, result, end, theme.text, { width: 2 });
  const ends = say(picture.end, result), half = widthOf(context, `600 ${theme.font}`, ends) / 2, middle = Math.min(end, width - half);
  words(context, theme, ends, middle, bottom + 12, { align: "center", colour: theme.text, bold: true });
  let free = 0; // to the right of the numbers before
  for (const tick of ticks) {
    const text = formatInteger(tick), spot = x.at(tick), side = widthOf(context, theme.font, text) / 2;
    if (Math.abs(spot - middle) <= side + half + 6 || spot - side < free) continue;
    words(context, theme, text, spot, bottom + 12, { align: "center" });
    free = spot + side + 2;
  }
  let room = width; // of what the strips are
  if (trained < result.context) {
    downStrips(context, result, x.at(trained), theme.text, { dash: [5, 3] });
    const spot = x.at(result.at), side = spot < x.at(trained) ? 1 : -1; // the mark stands beside the key's line
    const marks = picture.trained.map((text) => say(text, { length: trained })).map((mark) => {
      const half = widthOf(context, theme.font, mark) / 2, most = width - half, over = Math.min(x.at(trained), most);
      return [mark, Math.abs(over - spot) > half + 6 ? over : spot + side * (half + 6), most];
    });
    const titled = widthOf(context, theme.font, picture.strip.at(-2)) + 6; // rather a shorter mark than no title
    const [mark, middle, most] = marks.find(([mark, middle, most]) => middle <= most && middle - widthOf(context, theme.font, mark) / 2 >= x.start + titled) ?? marks.at(-1);
    words(context, theme, mark, Math.min(middle, most), HEAD, { align: "center", colour: theme.text, ground: true });
    room = Math.min(middle, most) - widthOf(context, theme.font, mark) / 2;
  }
  drawMatch(context, theme, result, width);
  const line = over ? width : x.at(result.at), after = room - line > line - x.start; // beside the key's line, where there is more room
  const from = after ? Math.max(x.start, line + 5) : x.start, to = after ? room : Math.min(room, line);
  words(context, theme, picture.strip, from, HEAD, { width: to - from - 6 });
  if (cursor !== null) {
    const row = rowOf(result, cursor.layer), spot = Math.min(Math.max(x.at(cursor.back), x.start), x.end);
    rule(context, spot, row.top, row.bottom, theme.text, { dash: [2, 3] });
  }
}

// ---- handles

function handles(result, state, px, py) {
  const { x, at } = result;
  const handle = (name, y, line) => ({ name, along: "x", x: x.at(at), y, line, drag: (px) => ({ distance: x.invert(px) }) });
  const match = handle("match", MATCH), line = handle("line", TOP + ROWS / 2, { vertical: true, from: TOP, to: TOP + ROWS });
  return px !== undefined && press(px, py, result, state) ? [match] : [match, line]; // a switch is pressed also beside the key
}

const SWITCHED = { R: "N", r: "n", N: "R", n: "r" }, NARROWED = { R: "r", r: "R", N: "n", n: "N" };
const between = (x, { left, right }) => x >= left && x <= right;

function press(x, y, result, state) {
  if (y < TOP || y > TOP + ROWS) return null;
  const { values, rows, over } = result, k = rows.nearest(rows.invert(y)), { top, turning, window } = rowOf(result, k), letter = values.pattern[k];
  if (over && y > top) return null;
  if (between(x, turning)) return { layers: changed(state, k, SWITCHED[letter]) };
  if (between(x, window)) return { layers: changed(state, k, NARROWED[letter]) };
  return null;
}

// ---- words

function facts({ values }, { model, context }) {
  const { pattern, seen, share, near } = values, { window } = stacks[model], all = Array.from(pattern, (_, k) => k);
  const rope = all.filter((k) => rotates(pattern[k])), attending = rope.filter((k) => seen[k]), nope = all.filter((k) => !rotates(pattern[k]) && seen[k]);
  const found = (layers, most = share) => layers.some((k) => most[k] >= HALF);
  return {
    rope: rope.length, attending: attending.length, nope: nope.length, strong: found(all, near), rope_finds: found(attending), nope_finds: found(nope),
    window, query_scale: queryScale(context),
  };
}

function reading({ layers }, { context }, { layer, back }) {
  const { turns, seen, share, frequencies, factor, length, pairs } = layers[layer];
  return {
    number: layer + 1, in_text: back < context, in_sight: back < seen, weight: 100 * share(back), score: factor * decay(back, frequencies),
    fresh: turns ? newPairs(back, frequencies, length) : 0, pairs,
  };
}

function blocks({ layers, values, at }, { model }) {
  const { columns, caption, kinds } = catalogue.table, { window } = stacks[model];
  const rows = layers.map(({ letter, factor, frequencies }, k) => [
    String(k + 1), values.seen[k] ? fixed(factor * decay(at, frequencies), 2) : picture.none,
    values.seen[k] ? say(picture.weight, { weight: 100 * values.share[k] }) : picture.none, say(kinds[letter], { window }),
  ]).reverse();
  return [table({ caption: say(caption, { at }), columns, rows })];
}

function onStrips(result) {
  const { x: { start: left, end: right }, over, layers } = result;
  return over ? layers.map((_, k) => ({ ...rowOf(result, k), left, right })) : [{ left, right, top: TOP, bottom: TOP + ROWS }];
}

const render = explorable({
  catalogue,
  readers: [
    { name: "layer", vertical: true, axis: ({ rows }) => rows, within: onStrips },
    { name: "back", axis: ({ x }) => x, within: onStrips },
  ],
  height: () => TOP + ROWS + BELOW,
  compute, draw, facts, handles, press, reading, blocks,
  most: { distance: ({ context }) => context - 1 },
  linked: ({ model }) => (model === undefined ? {} : { layers: "" }),
  controls: { model: chipsAndList, layers: layerChips },
  pixel: ({ rows, x }, layer, back) => [x.at(back), rows.at(layer)],
});

export default { render };

// The panels of the Playground, from the top: loss by position; the frequencies of the pairs, or the attention of a query
// where there are none; and with the details, that attention, the mean logit by distance and what the model writes.

import { colours, shade, tint } from "./colours.js";
import { Axis, Plot, cellAxis, grip, legend, sized, widthOf, words } from "./drawing.js";
import { fixed, grouped } from "./numbers.js";
import { afterIn, textOf } from "./playground_blocks.js";
import catalogue from "./playground.json";
import { LOGIT_BIN, LOSS_BIN, averages, isCopy, tokensOf } from "./playground_session.js";
import { say } from "./sentences.js";
import { TRAINED, WRITTEN, isAsTrained, isRotary, wordsOf } from "./transformer_bent.js";

const { picture } = catalogue;
const PAIRS = wordsOf({ pairs: "" }).length, HEADS = Object.keys(catalogue.controls.head.options);
const LEFT = 40, RIGHT = 38; // pixels beside the charts
const WIDE = 480, BESIDE = 640; // pixels from which letters are larger, and from which attention is beside the pairs
const FAINTEST = 1e-4; // attention weight
const THICK = 6; // pixels of the bar of a weight of 1
const OPAQUE = 0.75; // opacity of the bars of the pairs
const STALE = 0.45; // opacity of what is of the setting before
const HIGH = 14; // pixels between two numbers one below the other
const HEAD = 20; // pixels above all losses, for words
const MOST = 6; // nats, where the axis of losses ends
const AROUND = 2; // bins to either side over which a line is the mean, but not across L
const FINE = LOSS_BIN / 8; // tokens between two points of an area

// Heights of the panels in pixels, but for attention: of its words and its chart.
const SIZES = {
  beside: { loss: 190, strip: 134, logits: 64 },
  middle: { loss: 128, strip: 101 },
  small: { loss: 78, strip: 32, attention: 80, logits: 32 }, // with the details
  narrow: { loss: 142, strip: 101 },
  opened: { loss: 78, strip: 62, logits: 32 }, // narrow, with the details
};

// Where each panel and each row of words begins and ends, down the picture.
function stacked(sizes, { beside, wide }, state) {
  let y = 10;
  const down = (pixels) => (y += pixels), panel = (high) => [y, down(high)];
  const at = { title: y }, rotary = isRotary(state);
  if (!beside) at.legend = down(16);
  down(14);
  at.loss = panel(sizes.loss);
  at.positions = down(13);
  const top = y, above = 14, numbers = wide ? 17 : 24, end = top + 22 + above + sizes.strip + numbers; // of the pairs
  const attention = (bottom) => {
    at.attentionTitle = down(22);
    at.heads = wide && !(beside && rotary) ? [y - 10, down(10)] : [down(10), down(wide ? 20 : 28)];
    at.attention = [down(8), bottom - (beside ? 17 : 11)];
    at.keys = y = bottom;
  };
  if (rotary && (wide || !state.details)) { // on a phone, what is opened stands in their place
    at.stripTitle = down(22);
    down(above);
    at.strip = panel(sizes.strip);
    at.toggles = down(numbers);
  }
  if (!at.strip || (beside && state.details)) {
    y = top;
    attention(end);
  }
  if (state.details) {
    if (!at.attention) attention(y + sizes.attention);
    at.logitsTitle = down(20);
    down(12);
    at.logits = panel(sizes.logits);
    at.distances = down(14);
    if (wide) at.writes = [down(20), down(18), down(16), ...(isCopy(state) ? [down(16)] : [])];
  }
  return { ...at, height: y + 9 };
}

export function places(width, state) {
  const beside = width >= BESIDE, wide = width >= WIDE, rotary = isRotary(state), end = width - RIGHT;
  const size = beside ? "beside" : wide ? (state.details ? "small" : "middle") : state.details ? "opened" : "narrow";
  const at = stacked(SIZES[size], { beside, wide }, state), middle = Math.round(0.53 * width);
  const axis = (from, to, [top, bottom], log = false) => new Axis({ from, to, start: bottom, end: top, log });
  const box = (rows, left = LEFT, right = end) => rows && { left, right, top: rows[0], bottom: rows[1] };
  const along = (start) => new Axis({ from: 0, to: state.length, start, end });
  const split = beside && rotary && state.details, first = split ? middle + 46 : LEFT, start = at.heads && at.heads[0] < at.attentionTitle ? Math.round((LEFT + end) / 2) : first;
  const cell = (end - start) / HEADS.length;
  return {
    wide, beside, at, left: wide ? LEFT : 0, height: at.height, weights: at.attention ? axis(FAINTEST, 1, at.attention, true) : null,
    x: along(LEFT), keys: along(first), // positions and distances; positions of keys
    loss: box(at.loss), attention: box(at.attention, first), logits: box(at.logits),
    heads: at.heads ? HEADS.map((name, k) => ({ name, ...box(at.heads, start + k * cell, start + (k + 1) * cell) })) : [],
    strip: at.strip ? { x: cellAxis(PAIRS, LEFT, split ? middle : wide ? end : width - 8), y: axis(1 / 64, 4, at.strip, true), bottom: at.toggles } : null,
  };
}

// The boxes under the bars that switch pairs off and on.
export function toggles({ strip: { x, y, bottom } }) {
  const half = (x.at(1) - x.at(0)) / 2;
  return Array.from({ length: PAIRS }, (_, pair) => ({ left: x.at(pair) - half, right: x.at(pair) + half, top: y.start + 2, bottom }));
}

export function drawPanels({ context, width }, result, state, theme, cursor) {
  const panel = { context, theme, result, state, cursor, width, bent: !isAsTrained(state) };
  drawLosses(panel);
  if (result.strip) drawStrip(panel);
  if (result.attention) {
    drawHeads(panel);
    drawAttention(panel);
  }
  if (result.logits) drawLogits(panel);
  if (result.at.writes) drawWritten(panel);
}

const finite = (list) => Array.from(list ?? []).filter(Number.isFinite);

// Draws what is of the setting before faintly.
function faintly(context, stale, draw) {
  context.globalAlpha = stale ? STALE : 1;
  draw();
  context.globalAlpha = 1;
}

// A line through the middles of bins.
function throughBins(plot, values, size, colour, style) {
  plot.line(Array.from(values ?? [], (value, k) => [(k + 0.5) * size, value]), colour, style);
}

// A series of bins, at any token between the middles of the first and the last.
const within = (values) => (t) => {
  const k = t / LOSS_BIN - 0.5, bin = Math.floor(k), share = k - bin;
  return share === 0 ? values[bin] : (1 - share) * values[bin] + share * values[bin + 1];
};

// What of one course lies above another, where both are known.
function above(plot, upper, lower, colour, opacity) {
  const columns = [];
  for (let t = LOSS_BIN / 2; t <= plot.x.to - LOSS_BIN / 2; t += FINE) {
    const low = lower(t), high = Math.max(upper(t), low);
    if (Number.isFinite(high)) columns.push([plot.x.at(t), low, high]);
  }
  plot.area(columns, colour, opacity);
}

// The mean around each bin.
function smoothed(values) {
  const side = (k) => k < TRAINED / LOSS_BIN;
  return Array.from(values, (value, k) => {
    if (!Number.isFinite(value)) return NaN;
    let sum = 0, count = 0;
    for (let j = Math.max(k - AROUND, 0); j <= Math.min(k + AROUND, values.length - 1); j++) {
      if (side(j) === side(k) && Number.isFinite(values[j])) sum += values[j], count++;
    }
    return sum / count;
  });
}

// What is changed, in words.
function changeOf({ clamped, wide }, state) {
  const same = new Set(clamped.map(String)).size === 1, facts = { ...state, wide, trained: TRAINED, rotary: isRotary(state), clamped: same ? clamped[0].join(", ") : null, clamps: clamped.length > 0 };
  return picture.changes.map((text) => say(text, facts, { presets: catalogue.controls.preset.options })).filter(Boolean).join(" + ");
}

// The loss of the model as it is; beside it, dashed, as it was trained. What is above the level within L is tinted, and what a
// change has gained, as far as the text is read.
function drawLosses({ context, theme, result, state, cursor, width, bent }) {
  const { values, stale, x, at, left, beside, loss: { top, bottom } } = result, { losses, trained_losses } = values;
  const y = new Axis({ from: 0, to: (MOST * (bottom - top)) / (bottom - top - HEAD), start: bottom, end: top }), plot = new Plot(context, theme, x, y);
  const trained = { label: picture.trained, colour: theme.muted, dash: [4, 3] }, excess = { label: picture.excess, colour: colours.excess, area: true };
  const wideOf = (entries) => entries.reduce((sum, { label }) => sum + widthOf(context, theme.font, label) + 40, 0);
  const room = width - left + 6, changed = (label) => ({ label, colour: colours.score }), named = changed(changeOf(result, state));
  const lines = bent ? [trained, wideOf([trained, named]) <= room ? named : changed(picture.bent)] : [], all = [...lines, excess];
  const shown = wideOf(all) <= room ? all : lines, taken = beside ? wideOf(shown) : 0;
  legend(context, theme, shown, beside ? width - taken : left, beside ? at.title : at.legend, width);
  words(context, theme, picture.loss[state.task], left, at.title, { colour: theme.text, bold: true, width: width - taken - left - 12 });
  plot.ground(TRAINED, state.length, colours.neutral, 0.08);
  const ticks = y.ticks(4).filter((tick) => y.at(tick) > top + HEAD - 4);
  y.ticks = () => ticks;
  plot.axes({ xTitle: "", yTitle: "", xText: () => "", yText: (value) => picture.losses[value] ?? fixed(value, 0) });
  drawTicks(context, theme, x, at.positions);
  const past = picture.past.map((text) => say(text, { trained: TRAINED }));
  const from = Math.min(x.at(TRAINED) + 5, x.end - widthOf(context, theme.font, past.at(-1)));
  const means = say(picture.last, { from: 0.75 * state.length, to: state.length - 1 }), long = widthOf(context, theme.font, means), both = x.end - from - long - 16; // pixels for the first, beside the second
  const ends = bent || !result.strip, fit = ends && both > widthOf(context, theme.font, past.at(-1));
  words(context, theme, past, from, top + HEAD / 2, { colour: theme.text, width: fit ? both : x.end - from });
  if (fit) words(context, theme, means, x.end, top + HEAD / 2, { align: "right" });
  plot.rule([x.at(TRAINED), y.end], [x.at(TRAINED), y.start], { colour: theme.muted, dash: [] });

  const until = Array.from(losses, (loss, k) => (Number.isFinite(loss) ? loss : stale?.[k] ?? NaN)); // new as far as there is
  const [level] = averages(bent ? trained_losses : until, state), [own, old] = [losses, until.map((loss, k) => (Number.isFinite(losses[k]) ? NaN : loss))].map((list) => within(smoothed(list))), before = within(smoothed(trained_losses));
  for (const [series, opacity] of [[old, 0.12], [own, 0.34]]) above(plot, series, (t) => (t >= TRAINED ? level ?? NaN : bent ? before(t) : NaN), colours.excess, opacity);
  if (bent) above(plot, before, own, colours.score, 0.2);
  const curves = [
    ...(bent ? [{ values: losses, shown: until, colour: colours.score, written: shade(0.8, theme), style: { width: 3.4 } }] : []),
    { values: bent ? trained_losses : losses, shown: bent ? trained_losses : until, colour: theme.muted, written: theme.muted, style: bent ? { width: 1.8, dash: [4, 3] } : { width: 3.4 } },
  ];
  const low = (list) => Array.from(list, (loss) => Math.min(loss, MOST));
  for (const { values, shown, colour, style } of curves.toReversed()) {
    const line = low(smoothed(shown)), old = line.map((loss, k) => (Number.isFinite(values[k + 1]) ? NaN : loss));
    if (stale) faintly(context, true, () => throughBins(plot, old, LOSS_BIN, colour, style));
    throughBins(plot, line.map((loss, k) => (Number.isFinite(values[k]) ? loss : NaN)), LOSS_BIN, colour, style);
  }
  const trainedLevel = { mean: level, from: 0, colour: theme.text, written: theme.text, dash: [2, 3] };
  drawMeans(plot, [...(ends ? curves : []).map(({ values, colour, written }) => ({ mean: averages(values, state)[1], from: 0.75 * x.to, colour, written })), trainedLevel]);
  if (level !== null) nameLevel(context, theme, plot, level, low(smoothed(until)), averages(until, state)[1] < level ? -1 : 1);
  if (result.attention) plot.rule([x.at(result.query), y.start], [x.at(result.query), top + HEAD], { colour: colours.query, width: 1.5, dash: [] });
  if (cursor?.last === "position") plot.vertical(cursor.position);
}

// Names the level within L at its right end, above it or below, and clear of the curve.
function nameLevel(context, theme, { x, y }, level, losses, side) {
  const first = Math.floor(x.invert(x.end - widthOf(context, `600 ${theme.font}`, picture.level)) / LOSS_BIN), away = [level, ...losses.slice(first).filter(Number.isFinite)].map((loss) => side * y.at(loss));
  words(context, theme, picture.level, x.end - 4, Math.min(side * (Math.max(...away) + 11), y.start - 9), { align: "right", colour: theme.text, bold: true });
}

// Means, each as a line from somewhere to the end with its number beside the chart: over the last quarter of the text, what a
// curve comes to.
function drawMeans(plot, means) {
  const { context, theme, x, y } = plot, known = means.filter(({ mean }) => mean !== null).sort((one, other) => other.mean - one.mean);
  known.forEach(({ mean, from, colour, written, dash = [] }, k) => {
    const down = Math.min(y.at(Math.min(mean, MOST)), y.start - HIGH * (known.length - 1 - k)), before = k ? known[k - 1].down + HIGH : -Infinity;
    known[k].down = Math.max(down, before);
    plot.line([[from, mean], [x.to, mean]], colour, { width: 1.2, dash });
    words(context, theme, fixed(mean, 2), x.end + 4, known[k].down, { colour: written, bold: true, width: RIGHT - 4 });
  });
}

function drawHeads({ context, theme, result: { heads, at, keys, query, left }, state, width }) {
  const inline = heads[0].top < at.attentionTitle, start = keys.start > LEFT ? keys.start : left, title = picture.attention.map((text) => say(text, { query }));
  words(context, theme, title, start, at.attentionTitle, { colour: theme.text, bold: true, width: (inline ? heads[0].left - 8 : width) - start });
  for (const { name, left, right, top, bottom } of heads) {
    const chosen = name === state.head;
    context.fillStyle = colours.key;
    context.globalAlpha = 0.25;
    if (chosen) context.fillRect(left + 1, top, right - left - 2, bottom - top);
    context.globalAlpha = 1;
    context.strokeStyle = chosen ? colours.key : theme.grid;
    context.lineWidth = 1;
    context.strokeRect(left + 1.5, top + 0.5, right - left - 3, bottom - top - 1);
    words(context, theme, name, (left + right) / 2, (top + bottom) / 2, { align: "center", colour: theme.text, width: right - left - 3 });
  }
}

// A bar for each weight: the larger it is, the thicker, the more opaque, and with a point on top.
function drawAttention({ context, theme, result, state, cursor }) {
  const { values: { attention = [] }, keys: x, weights: y, fresh, query, at, beside } = result, plot = new Plot(context, theme, x, y);
  plot.axes({ xTitle: "", yTitle: "", xText: () => "", yText: (tick) => picture.powers[Math.round(Math.log10(tick))] });
  const columns = x.columns(), filled = columns.map(([, , stop]) => Math.min(stop, attention.length)), opacity = fresh?.attention === false ? STALE : 1;
  context.fillStyle = colours.key;
  for (const [pixel, , weight] of Plot.extremes(columns, filled, attention)) {
    if (!(weight > FAINTEST)) continue;
    const share = Math.sqrt(Math.min(weight, 1)), top = y.at(Math.min(weight, 1)), thick = Math.max(1 + (THICK - 1) * share, (x.end - x.start) / state.length);
    context.globalAlpha = opacity * (0.45 + 0.55 * share);
    context.fillRect(pixel - thick / 2, top, thick, y.start - top);
    if (weight < 0.01) continue;
    context.beginPath();
    context.arc(pixel, top, thick / 2 + 1.5, 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
  plot.vertical(query, { colour: colours.query, width: 1.5, dash: [] });
  if (cursor?.last === "position") plot.vertical(cursor.position);
  grip(context, theme, x.at(query), y.start, colours.query);
  if (beside) drawTicks(context, theme, x, at.keys);
}

function drawLogits({ context, theme, result, state, cursor, bent, width }) {
  const { values, x, at, left, logits: { top, bottom }, fresh } = result, all = [...finite(values.logits), ...finite(values.trained_logits)];
  const low = Math.floor(Math.min(-1, ...all)), high = Math.ceil(Math.max(1, ...all));
  const plot = new Plot(context, theme, x, new Axis({ from: low, to: high, start: bottom, end: top }));
  words(context, theme, picture.logits.map((text) => say(text, state)), left, at.logitsTitle, { colour: theme.text, bold: true, width: width - left });
  plot.ground(TRAINED, state.length, colours.neutral, 0.08);
  plot.axes({ xTitle: "", yTitle: "", xText: () => "", yTicks: 3, yText: (value) => fixed(value, 0) });
  faintly(context, fresh?.logits === false, () => {
    if (bent) throughBins(plot, values.trained_logits, LOGIT_BIN, theme.muted, { width: 1.3, dash: [4, 3] });
    throughBins(plot, values.logits, LOGIT_BIN, colours.score, { width: 2.2 });
  });
  if (cursor?.last === "distance") plot.vertical(cursor.distance);
  drawTicks(context, theme, x, at.distances);
}

// Numbers below a chart where there is room.
function drawTicks(context, theme, x, y) {
  let taken = -Infinity;
  for (const tick of x.ticks(5)) {
    const text = grouped(tick), half = widthOf(context, theme.font, text) / 2, middle = Math.min(Math.max(x.at(tick), x.start - 8 + half), x.end + RIGHT - half);
    if (middle - half - 6 < taken) continue;
    taken = middle + half;
    words(context, theme, text, middle, y, { align: "center" });
  }
}

// A bar for each pair: in the colour of the excess loss if it reaches unseen angles, in that of a change if it is scaled.
function drawStrip({ context, theme, result: { strip, scales, gains, unseen, held, clamped, wide, at, left: titleLeft }, state }) {
  const { x, y, bottom } = strip, plot = new Plot(context, theme, x, y), thick = 0.7 * (x.at(1) - x.at(0));
  words(context, theme, picture.strip, titleLeft, at.stripTitle, { colour: theme.text, bold: true, width: x.end - titleLeft });
  for (const tick of y.start - y.end < 50 ? [1 / 16, 1] : [1 / 16, 1 / 4, 1, 4]) {
    plot.horizontal(tick, { colour: theme.grid, dash: [] });
    words(context, theme, picture.ticks[tick], LEFT - 5, y.at(tick), { align: "right" });
  }
  const tops = scales.map((scale) => y.at(Math.max(scale, 1 / 32)));
  tops.forEach((top, pair) => {
    const left = x.at(pair) - thick / 2;
    context.fillStyle = context.strokeStyle = unseen[pair] && !clamped.flat().includes(pair) ? colours.excess : scales[pair] === 1 && !clamped.flat().includes(pair) ? colours.neutral : colours.score;
    context.lineWidth = 1;
    context.setLineDash([2, 2]);
    context.globalAlpha = gains[pair] ? OPAQUE : 1;
    gains[pair] ? context.fillRect(left, top, thick, y.start - top) : context.strokeRect(left + 0.5, top, thick - 1, y.start - top);
    context.setLineDash([]);
  });
  context.globalAlpha = 1;
  plot.horizontal(1, { colour: theme.muted });
  grip(context, theme, x.at(held), tops[held], theme.text);
  words(context, theme, picture.pair, LEFT - 5, (y.start + bottom + 2) / 2, { align: "right" });
  if (isAsTrained({ ...state, pairs: "" }) && scales[held] <= 1 && unseen[held] && y.at(1) - at.stripTitle > 31) { // above all bars, below the title
    const text = say(picture.drag, { factor: state.length / TRAINED });
    words(context, theme, text, Math.min(x.at(held) - 7, x.end - widthOf(context, `600 ${theme.font}`, text)), y.at(1) - 17, { colour: tint(colours.excess, theme), bold: true, ground: true });
  }
  drawToggles(context, theme, toggles({ strip }), { gains, clamped: clamped.flat() }, bottom);
}

// The numbers of the pairs; tinted, those that are clamped.
function drawToggles(context, theme, boxes, { gains, clamped }, bottom) {
  const small = sized(theme, boxes[0].right - boxes[0].left > 22 ? 12 : 10);
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  boxes.forEach(({ left, right, top }, pair) => {
    context.fillStyle = colours.score;
    context.globalAlpha = 0.35;
    if (clamped.includes(pair)) context.fillRect(left + 1, top, right - left - 2, bottom - top);
    context.globalAlpha = 1;
    context.strokeRect(left + 1.5, top + 0.5, right - left - 3, bottom - top - 1);
    const text = gains[pair] ? String(pair) : picture.off;
    words(context, small, text, (left + right) / 2, (top + bottom) / 2, { align: "center", colour: theme.text, width: right - left - 2 });
  });
}

// The text up to the query where there is room, what each encoding writes after it, and in repeated copy what is right.
function drawWritten({ context, theme, result, state, width, bent }) {
  const { values, text, query, at, wide, fresh, model } = result, equal = { ...theme, font: `${parseFloat(theme.font)}px ui-monospace, monospace` };
  const one = widthOf(context, equal.font, "0"), right = isCopy(state) ? [[picture.right, afterIn(text, query, state), theme.text]] : [];
  const lines = [...right, [picture.trained, values.trained_written, theme.muted, fresh?.trained], [picture.bent, values.written, colours.score, fresh?.written]];
  const label = Math.max(...lines.map(([name]) => widthOf(context, theme.font, name))) + 14, room = Math.floor((width - label) / one);
  const shown = Math.min(WRITTEN, room - (wide ? 12 : 0)), before = Math.max(wide ? room - shown - 2 : 0, 0), start = label + before * one;
  const [title, ...rows] = at.writes;
  words(context, theme, picture.writes.map((text) => say(text, { query })), 0, title, { colour: theme.text, bold: true, width });
  if (!model) return;
  lines.slice(0, bent ? lines.length : -1).forEach(([name, tokens, colour, fresh], k) => {
    const y = rows[k], after = tokens ? textOf(tokens, state).slice(0, shown) : tokens === null ? picture.nothing : picture.not_yet;
    words(context, theme, name, 0, y, { colour });
    if (before) words(context, equal, textOf(tokensOf(text, query + 1, state).slice(-before), state), start - 3, y, { align: "right", width: before * one });
    faintly(context, fresh === false, () => words(context, equal, after, start + 3, y, { colour: tokens ? theme.text : theme.muted, width: width - start - 4 }));
  });
}

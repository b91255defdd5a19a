// The panels of the Playground, from the top: loss by position; attention of a query; the mean logit by distance; and with
// the details, the frequencies of the pairs, and what the model writes.

import { colours, pairColour } from "./colours.js";
import { Axis, Plot, cellAxis, grip, legend, sized, widthOf, words } from "./drawing.js";
import { fixed, grouped } from "./numbers.js";
import { afterIn, textOf } from "./playground_blocks.js";
import catalogue from "./playground.json";
import { LOGIT_BIN, LOSS_BIN, averages, isCopy, tokensOf } from "./playground_session.js";
import { say } from "./sentences.js";
import { TRAINED, WRITTEN, isAsTrained, isRotary, wordsOf } from "./transformer_bent.js";

const { picture, names } = catalogue;
const PAIRS = wordsOf({ pairs: "" }).length, HEADS = Object.keys(catalogue.controls.head.options);
const LEFT = 40, RIGHT = 38; // pixels beside the charts
const FAINTEST = 1e-4; // attention weight
const THICK = 6; // pixels of the bar of a weight of 1
const RADIUS = 4.5; // of the rings that are dragged
const STALE = 0.3; // opacity of what is of the setting before
const HIGH = 14; // pixels between two numbers one below the other

// Heights of the panels in pixels.
const WIDE = { loss: 130, attention: 60, logits: 60, strip: 60 };
const MIDDLE = { loss: 74, attention: 40, logits: 40 }, SMALL = { loss: 58, attention: 32, logits: 32, strip: 36 }; // with the strip
const NARROW = { loss: 70, attention: 42, logits: 42, strip: 56 };

// Where each panel and each row of words begins and ends, down the picture.
function stacked(sizes, wide, state) {
  let y = wide ? 42 : 58;
  const down = (pixels) => (y += pixels), panel = (high) => [y, down(high)];
  const at = { legend: wide ? 10 : 28, past: y - 12, loss: panel(sizes.loss) };
  at.title = down(20);
  at.heads = [down(wide ? -9 : 11), down(20)];
  down(9);
  at.attention = panel(sizes.attention);
  at.positions = down(20);
  at.logitsTitle = down(20);
  down(12);
  at.logits = panel(sizes.logits);
  at.distances = down(15);
  at.details = [down(12), down(22)];
  if (state.details) {
    at.stripTitle = down(18);
    if (isRotary(state)) {
      down(19);
      at.strip = panel(sizes.strip);
      at.toggles = down(17);
    }
    at.writes = [down(isRotary(state) ? 18 : 25), down(18), down(16), ...(isCopy(state) ? [down(16)] : [])];
  }
  return { ...at, height: y + 9 };
}

export function places(width, state) {
  const wide = width >= 480, middle = state.details ? SMALL : MIDDLE, end = width - RIGHT;
  const at = stacked(width >= 640 ? WIDE : wide ? middle : NARROW, wide, state);
  const axis = (from, to, [top, bottom], log = false) => new Axis({ from, to, start: bottom, end: top, log });
  const box = ([top, bottom], right = end) => ({ left: LEFT, right, top, bottom });
  const start = wide ? Math.round((LEFT + end) / 2) : LEFT, cell = (end - start) / HEADS.length, [top, bottom] = at.heads;
  return {
    wide, at, height: at.height, weights: axis(FAINTEST, 1, at.attention, true),
    x: new Axis({ from: 0, to: state.length, start: LEFT, end }), // positions and distances
    loss: box(at.loss), attention: box(at.attention), logits: box(at.logits), details: box(at.details, width - 8),
    heads: HEADS.map((name, k) => ({ name, left: start + k * cell, right: start + (k + 1) * cell, top, bottom })),
    strip: at.strip ? { x: cellAxis(PAIRS, LEFT, width - 8), y: axis(1 / 32, 4, at.strip, true), bottom: at.toggles } : null,
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
  drawHeads(panel);
  drawAttention(panel);
  drawLogits(panel);
  drawDetails(panel);
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

function drawLosses({ context, theme, result, state, cursor, width, bent }) {
  const { values, stale, x, at, loss: { top, bottom } } = result, { losses, trained_losses } = values;
  const most = Math.max(4, ...finite(losses), ...finite(trained_losses), ...finite(stale));
  const y = new Axis({ from: 0, to: Math.min(Math.ceil(most + 0.2), 12), start: bottom, end: top }), plot = new Plot(context, theme, x, y);
  const entries = [{ label: picture.trained, colour: theme.muted }, { label: picture.bent, colour: colours.score }].slice(0, bent ? 2 : 1);
  const long = entries.reduce((sum, { label }) => sum + widthOf(context, theme.font, label) + 40, 0);
  legend(context, theme, entries, result.wide ? width - long : LEFT, at.legend, width);
  words(context, theme, picture.loss[state.task], LEFT, 10, { colour: theme.text, bold: true, width: width - LEFT - (result.wide ? long : 0) });
  plot.ground(TRAINED, state.length, colours.neutral, 0.13);
  plot.axes({ xTitle: "", yTitle: "", xText: () => "", yTicks: 4, yText: (value) => fixed(value, 0) });
  const past = picture.past.map((text) => say(text, { trained: TRAINED }));
  const from = Math.min(x.at(TRAINED) + 5, x.end - widthOf(context, theme.font, past.at(-1)));
  words(context, theme, past, from, at.past, { width: x.end - from });
  plot.rule([x.at(TRAINED), at.past - 6], [x.at(TRAINED), y.start], { colour: theme.muted, dash: [] });
  const until = Array.from(losses, (loss, k) => (Number.isFinite(loss) ? loss : stale?.[k] ?? NaN)); // new as far as there is
  const curves = [[trained_losses, bent ? trained_losses : until, theme.muted, 1.8], [losses, until, colours.score, 2.4]].slice(0, bent ? 2 : 1);
  for (const [values, shown, colour, thick] of curves) {
    const old = Array.from(shown, (loss, k) => (Number.isFinite(values[k + 1]) ? NaN : loss));
    if (stale) faintly(context, true, () => throughBins(plot, old, LOSS_BIN, colour, { width: thick }));
    throughBins(plot, values, LOSS_BIN, colour, { width: thick });
  }
  drawMeans(plot, curves, state);
  markPositions(plot, result, cursor);
}

// The mean over the last quarter of the text, with its number beside the chart: what a curve comes to.
function drawMeans(plot, curves, state) {
  const { context, theme, x, y } = plot;
  const means = curves.map(([values, shown, colour]) => ({ mean: averages(shown, state)[1], stale: averages(values, state)[1] === null, colour }));
  const known = means.filter(({ mean }) => mean !== null).sort((one, other) => other.mean - one.mean);
  known.forEach(({ mean, stale, colour }, k) => {
    const down = Math.min(y.at(mean), y.start - HIGH * (known.length - 1 - k)), before = k ? known[k - 1].down + HIGH : -Infinity;
    known[k].down = Math.max(down, before);
    faintly(context, stale, () => {
      plot.line([[0.75 * x.to, mean], [x.to, mean]], colour, { dash: [5, 4] });
      words(context, theme, fixed(mean, 2), x.end + 4, known[k].down, { colour, bold: true, width: RIGHT - 4 });
    });
  });
}

function markPositions(plot, { query }, cursor) {
  plot.vertical(query, { colour: colours.query, width: 1.5, dash: [] });
  if (cursor?.last === "position") plot.vertical(cursor.position);
}

function drawHeads({ context, theme, result: { heads, at, wide, values: { attention = [] } }, state, width }) {
  const most = attention.length ? attention.indexOf(Math.max(...attention)) : -1, facts = { position: most, weight: attention[most] };
  const title = most < 0 ? picture.attention.slice(-1) : picture.attention.map((text) => say(text, facts));
  words(context, theme, title, LEFT, at.title, { colour: theme.text, bold: true, width: (wide ? heads[0].left : width) - LEFT - 8 });
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
  const { values: { attention = [] }, x, weights: y, fresh, query, at } = result, plot = new Plot(context, theme, x, y);
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
  markPositions(plot, result, cursor);
  grip(context, theme, x.at(query), y.start, colours.query);
  drawTicks(context, theme, x, at.positions, { text: say(picture.query, { query }), value: query });
}

function drawLogits({ context, theme, result, state, cursor, bent, width }) {
  const { values, x, at, logits: { top, bottom }, fresh } = result, all = [...finite(values.logits), ...finite(values.trained_logits)];
  const low = Math.floor(Math.min(-1, ...all)), high = Math.ceil(Math.max(1, ...all));
  const plot = new Plot(context, theme, x, new Axis({ from: low, to: high, start: bottom, end: top }));
  words(context, theme, picture.logits.map((text) => say(text, state)), LEFT, at.logitsTitle, { colour: theme.text, bold: true, width: width - LEFT });
  plot.ground(TRAINED, state.length, colours.neutral, 0.13);
  plot.axes({ xTitle: "", yTitle: "", xText: () => "", yTicks: 3, yText: (value) => fixed(value, 0) });
  faintly(context, fresh?.logits === false, () => {
    throughBins(plot, values.trained_logits, LOGIT_BIN, theme.muted, { width: 1.8 });
    if (bent) throughBins(plot, values.logits, LOGIT_BIN, colours.score, { width: 2.4 });
  });
  if (cursor?.last === "distance") plot.vertical(cursor.distance);
  drawTicks(context, theme, x, at.distances);
}

// Numbers below a chart where there is room, beside what is `marked`.
function drawTicks(context, theme, x, y, marked = null) {
  const taken = [];
  const write = (text, spot, options) => {
    const half = widthOf(context, options.bold ? `600 ${theme.font}` : theme.font, text) / 2, middle = Math.min(Math.max(spot, x.start - 8 + half), x.end + RIGHT - half);
    if (taken.some(([from, to]) => middle + half + 6 > from && middle - half - 6 < to)) return;
    taken.push([middle - half, middle + half]);
    words(context, theme, text, middle, y, { align: "center", ...options });
  };
  if (marked) write(marked.text, x.at(marked.value), { bold: true, colour: theme.text });
  for (const tick of x.ticks(5)) write(grouped(tick), x.at(tick), {});
}

// The box that opens what stands below it.
function drawDetails(panel) {
  const { context, theme, result: { details: { left, right, top, bottom }, at }, state, width } = panel;
  context.fillStyle = theme.muted;
  context.globalAlpha = 0.1;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  context.strokeStyle = theme.muted;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
  words(context, theme, picture.details[state.details ? "hide" : "show"], (left + right) / 2, (top + bottom) / 2, { align: "center", colour: theme.text, width: right - left - 8 });
  if (!state.details) return;
  const title = isRotary(state) ? picture.strip : picture.no_pairs.map((text) => say(text, state, names));
  words(context, theme, title, LEFT, at.stripTitle, { colour: theme.text, bold: isRotary(state), width: width - LEFT });
  if (isRotary(state)) drawStrip(panel);
  drawWritten(panel);
}

function drawStrip({ context, theme, result: { strip, scales, gains, wide } }) {
  const { x, y, bottom } = strip, plot = new Plot(context, theme, x, y), thick = 0.62 * (x.at(1) - x.at(0));
  for (const tick of y.start - y.end < 50 ? [1 / 16, 1] : [1 / 16, 1 / 4, 1, 4]) {
    plot.horizontal(tick, { colour: theme.grid, dash: [] });
    words(context, theme, picture.ticks[tick], LEFT - 5, y.at(tick), { align: "right" });
  }
  plot.horizontal(1, { colour: theme.muted });
  scales.forEach((scale, pair) => {
    const top = y.at(Math.max(scale, 1 / 32)), left = x.at(pair) - thick / 2, colour = pairColour(pair, PAIRS);
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1;
    context.setLineDash([2, 2]);
    gains[pair] ? context.fillRect(left, top, thick, y.start - top) : context.strokeRect(left + 0.5, top, thick - 1, y.start - top);
    context.setLineDash([]);
    ring(context, theme, x.at(pair), top, colour);
  });
  drawToggles(context, wide ? theme : sized(theme, 10), toggles({ strip }), gains, bottom);
}

function ring(context, theme, x, y, colour) {
  context.fillStyle = theme.ground;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

function drawToggles(context, theme, boxes, gains, bottom) {
  const wide = boxes[0].right - boxes[0].left > 24, every = wide ? 1 : 2;
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  boxes.forEach(({ left, right, top }, pair) => {
    if (wide) context.strokeRect(left + 1.5, top + 0.5, right - left - 3, bottom - top - 1);
    const text = gains[pair] ? (pair % every ? "" : String(pair)) : picture.off;
    words(context, theme, text, (left + right) / 2, (top + bottom) / 2, { align: "center", width: right - left - 2 });
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
  words(context, theme, picture.writes, 0, title, { colour: theme.text, bold: true, width });
  if (!model) return;
  lines.slice(0, bent ? lines.length : -1).forEach(([name, tokens, colour, fresh], k) => {
    const y = rows[k], after = tokens ? textOf(tokens, state).slice(0, shown) : tokens === null ? picture.nothing : picture.not_yet;
    words(context, theme, name, 0, y, { colour });
    if (before) words(context, equal, textOf(tokensOf(text, query + 1, state).slice(-before), state), start - 3, y, { align: "right", width: before * one });
    faintly(context, fresh === false, () => words(context, equal, after, start + 3, y, { colour: tokens ? theme.text : theme.muted, width: width - start - 4 }));
  });
}

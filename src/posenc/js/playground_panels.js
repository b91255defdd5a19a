// The panels of the Playground, from the top: loss by position; attention of a query, or the mean logit by distance; the
// frequencies of the pairs; and what the model writes.

import { colours, pairColour } from "./colours.js";
import { Axis, Plot, cellAxis, grip, legend, sized, widthOf, words } from "./drawing.js";
import { fixed, grouped } from "./numbers.js";
import { textOf } from "./playground_blocks.js";
import catalogue from "./playground.json";
import { LOGIT_BIN, LOSS_BIN, averages, tokensOf } from "./playground_session.js";
import { say } from "./sentences.js";
import { TRAINED, WRITTEN, isAsTrained, isRotary, wordsOf } from "./transformer_bent.js";

const { picture } = catalogue;
const PAIRS = wordsOf({ pairs: "" }).length, HEADS = Object.keys(catalogue.controls.head.options);
const LEFT = 40, RIGHT = 38; // pixels beside the charts
const FAINTEST = 1e-4; // attention weight
const RADIUS = 4.5; // of the rings that are dragged
const STALE = 0.3; // opacity of what is of the setting before
const HIGH = 14; // pixels between two numbers one below the other

// Where each panel begins and ends, down the picture.
const WIDE = { legend: 10, past: 30, loss: [42, 192], title: 216, heads: [206, 226], chart: [236, 292], strip: [368, 428, 445], writes: [484, 501], height: 510 };
const MIDDLE = { legend: 10, past: 30, loss: [42, 138], title: 160, heads: [150, 170], chart: [180, 224], strip: [300, 348, 365], writes: [402, 418], height: 427 };
const NARROW = { legend: 28, past: 46, loss: [58, 156], title: 178, heads: [189, 209], chart: [221, 271], strip: [345, 405, 422], writes: [460, 476], height: 484 };

export function places(width, state) {
  const wide = width >= 480, at = width >= 640 ? WIDE : wide ? MIDDLE : NARROW, end = width - RIGHT;
  const axis = (from, to, [top, bottom], log = false) => new Axis({ from, to, start: bottom, end: top, log });
  const box = ([top, bottom]) => ({ left: LEFT, right: end, top, bottom });
  const start = wide ? Math.round((LEFT + end) / 2) : LEFT, cell = (end - start) / HEADS.length, [top, bottom] = at.heads;
  return {
    wide, at, height: at.height, weights: axis(FAINTEST, 1, at.chart, true),
    x: new Axis({ from: 0, to: state.length, start: LEFT, end }), // positions and distances
    loss: box(at.loss), chart: box(at.chart),
    heads: HEADS.map((name, k) => ({ name, left: start + k * cell, right: start + (k + 1) * cell, top, bottom })),
    strip: isRotary(state) ? { x: cellAxis(PAIRS, LEFT, width - 8), y: axis(1 / 32, 4, at.strip, true), bottom: at.strip[2] } : null,
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
  state.chart === "attention" ? drawAttention(panel) : drawLogits(panel);
  drawPositions(panel);
  drawStrip(panel);
  drawWritten(panel);
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
  words(context, theme, picture.loss, LEFT, 10, { colour: theme.text, bold: true, width: width - LEFT - (result.wide ? long : 0) });
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
  drawMeans(plot, curves);
  markPositions(plot, result, cursor);
}

// The mean over the last quarter of the text, with its number beside the chart: what a curve comes to.
function drawMeans(plot, curves) {
  const { context, theme, x, y } = plot;
  const means = curves.map(([values, shown, colour]) => ({ mean: averages(shown)[1], stale: averages(values)[1] === null, colour }));
  const known = means.filter(({ mean }) => mean !== null).sort((one, other) => other.mean - one.mean);
  known.forEach(({ mean, stale, colour }, k) => {
    const down = Math.min(y.at(mean), y.start - HIGH * (known.length - 1 - k)), before = k ? known[k - 1].down + HIGH : -Infinity;
    known[k].down = Math.max(down, before);
    faintly(context, stale, () => {
      plot.line([[0.75 * x.to, mean], [x.to, mean]], colour, { dash: [5, 4] });
      words(context, theme, fixed(mean, 2), x.end + 4, known[k].down, { colour, bold: true });
    });
  });
}

function markPositions(plot, { query }, cursor) {
  plot.vertical(query, { colour: colours.query, width: 1.5, dash: [] });
  if (cursor?.last === "position") plot.vertical(cursor.position);
}

function drawHeads({ context, theme, result: { heads, at, wide }, state, width }) {
  words(context, theme, picture[state.chart], LEFT, at.title, { colour: theme.text, bold: true, width: (wide ? heads[0].left : width) - LEFT - 8 });
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

function drawAttention({ context, theme, result, state, cursor }) {
  const { values: { attention = [] }, x, weights: y, fresh } = result, plot = new Plot(context, theme, x, y);
  plot.axes({ xTitle: "", yTitle: "", xText: () => "", yText: (tick) => picture.powers[Math.round(Math.log10(tick))] });
  const columns = x.columns(), filled = columns.map(([, , stop]) => Math.min(stop, attention.length));
  context.fillStyle = colours.key;
  faintly(context, fresh?.attention === false, () => {
    for (const [pixel, , weight] of Plot.extremes(columns, filled, attention)) {
      if (!(weight > FAINTEST)) continue;
      const top = y.at(Math.min(weight, 1)), wide = Math.max(1, (x.end - x.start) / state.length);
      context.fillRect(pixel - wide / 2, top, wide, y.start - top);
    }
  });
  markPositions(plot, result, cursor);
}

function drawLogits({ context, theme, result, state, cursor, bent }) {
  const { values, x, chart: { top, bottom }, fresh } = result, all = [...finite(values.logits), ...finite(values.trained_logits)];
  const low = Math.floor(Math.min(-1, ...all)), high = Math.ceil(Math.max(1, ...all));
  const plot = new Plot(context, theme, x, new Axis({ from: low, to: high, start: bottom, end: top }));
  plot.ground(TRAINED, state.length, colours.neutral, 0.13);
  plot.axes({ xTitle: "", yTitle: "", xText: () => "", yTicks: 3, yText: (value) => fixed(value, 0) });
  faintly(context, fresh?.logits === false, () => {
    throughBins(plot, values.trained_logits, LOGIT_BIN, theme.muted, { width: 1.8 });
    if (bent) throughBins(plot, values.logits, LOGIT_BIN, colours.score, { width: 2.4 });
  });
  if (cursor?.last === "distance") plot.vertical(cursor.distance);
}

// Below the charts: the query, which is dragged there, and numbers where there is room.
function drawPositions({ context, theme, result: { x, chart, query }, state }) {
  const y = chart.bottom + 20, taken = [], attention = state.chart === "attention";
  const write = (text, spot, options) => {
    const half = widthOf(context, options.bold ? `600 ${theme.font}` : theme.font, text) / 2, middle = Math.min(Math.max(spot, x.start - 8 + half), x.end + RIGHT - half);
    if (taken.some(([from, to]) => middle + half + 6 > from && middle - half - 6 < to)) return;
    taken.push([middle - half, middle + half]);
    words(context, theme, text, middle, y, { align: "center", ...options });
  };
  if (attention) {
    grip(context, theme, x.at(query), chart.bottom, colours.query);
    write(say(picture.query, { query }), x.at(query), { bold: true, colour: theme.text });
  }
  for (const tick of x.ticks(5)) write(grouped(tick), x.at(tick), {});
  words(context, theme, say(attention ? picture.position : picture.distance, state), x.end, y + 16, { align: "right" });
}

function drawStrip({ context, theme, result, width }) {
  const { strip, scales, gains, at, wide } = result, room = width - LEFT;
  if (!strip) return words(context, theme, picture.no_pairs, LEFT, (at.strip[0] + at.strip[1]) / 2, { width: room });
  const { x, y, bottom } = strip, plot = new Plot(context, theme, x, y), thick = 0.62 * (x.at(1) - x.at(0));
  words(context, theme, picture.strip, LEFT, y.end - 19, { colour: theme.text, bold: true, width: room });
  for (const tick of [1 / 16, 1 / 4, 1, 4]) {
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
  drawToggles(context, wide ? theme : sized(theme, 10), toggles(result), gains, bottom);
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

// The text up to the query where there is room, and the bytes that each encoding writes after it.
function drawWritten({ context, theme, result, width, bent }) {
  const { values, text, query, at, wide, fresh } = result, equal = { ...theme, font: `${parseFloat(theme.font)}px ui-monospace, monospace` };
  const one = widthOf(context, equal.font, "0"), lines = [[picture.trained, values.trained_written, theme.muted, fresh?.trained], [picture.bent, values.written, colours.score, fresh?.written]];
  const label = Math.max(...lines.map(([name]) => widthOf(context, theme.font, name))) + 14, room = Math.floor((width - label) / one);
  const shown = Math.min(WRITTEN, room - (wide ? 12 : 0)), before = Math.max(wide ? room - shown - 2 : 0, 0), start = label + before * one;
  words(context, theme, picture.writes, 0, at.writes[0] - 19, { colour: theme.text, bold: true, width });
  lines.slice(0, bent ? 2 : 1).forEach(([name, bytes, colour, fresh], k) => {
    const y = at.writes[k], after = bytes ? textOf(bytes).slice(0, shown) : bytes === null ? picture.nothing : picture.not_yet;
    words(context, theme, name, 0, y, { colour });
    if (before) words(context, equal, textBefore(text, query, before), start - 3, y, { align: "right", width: before * one });
    faintly(context, fresh === false, () => words(context, equal, after, start + 3, y, { colour: bytes ? theme.text : theme.muted, width: width - start - 4 }));
  });
}

// The last bytes up to the query, of a text that repeats.
function textBefore(text, query, count) {
  return textOf(tokensOf(text, query + 1).slice(-count));
}

// The panels of the Playground: dimension pairs; loss and attention by position; heads, mean logit by distance, the next
// byte's probabilities, and what the model writes. On a phone the last two stand only below the picture.

import { colours, pairColour } from "./colours.js";
import { Axis, Plot, cellAxis, legend, widthOf, words } from "./drawing.js";
import { fixed } from "./numbers.js";
import { nameOfByte, textOf } from "./playground_blocks.js";
import catalogue from "./playground.json";
import { LOGIT_BIN, LOSS_BIN, tokensOf } from "./playground_session.js";
import { say } from "./sentences.js";
import { TRAINED, WRITTEN, isAsTrained, isRotary, wordsOf } from "./transformer_bent.js";

const { picture } = catalogue;
const PAIRS = wordsOf({ pairs: "" }).length, HEADS = catalogue.controls.head.options;
const LEFT = 40, GAP = 22, ROWS = 4; // pixels; bytes that are drawn
const FAINTEST = 1e-4; // attention weight
const RADIUS = 4.5; // of the rings that are dragged
const STALE = 0.3; // opacity of what is of the setting before

// Where each panel begins and ends, down the picture.
const WIDE = {
  strip: [24, 78, 98], legend: 118, loss: [150, 268], attention: [296, 352],
  heads: [132, 154], logits: [188, 268], next: 330, writes: [406, 424], height: 436,
};
const NARROW = {
  strip: [24, 62, 78], legend: 94, loss: [122, 196], attention: [220, 256], heads: [316, 334], logits: [366, 422], height: 458,
};

export function places(width, state) {
  const wide = width >= 600, at = wide ? WIDE : NARROW, leftEnd = wide ? Math.round(0.58 * width) : width - 8;
  const right = wide ? leftEnd + GAP + 34 : LEFT;
  const axis = (from, to, [top, bottom], log = false) => new Axis({ from, to, start: bottom, end: top, log });
  const box = ([top, bottom]) => ({ left: LEFT, right: leftEnd, top, bottom });
  const x = new Axis({ from: 0, to: state.length, start: LEFT, end: leftEnd });
  return {
    wide, at, height: at.height, right,
    strip: isRotary(state) ? { x: cellAxis(PAIRS, LEFT, width - 8), y: axis(1 / 32, 4, at.strip, true), bottom: at.strip[2] } : null,
    position: { x, boxes: [box(at.loss), box(at.attention)] },
    head: { cells: cellsOf(right, width - 8, at.heads) },
    logits: { x: new Axis({ from: 0, to: state.length, start: right, end: width - 8 }), y: axis(0, 1, at.logits) },
    attention: axis(FAINTEST, 1, at.attention, true),
  };
}

function cellsOf(from, to, [top, bottom]) {
  const names = Object.keys(HEADS), wide = (to - from) / names.length;
  return names.map((name, k) => ({ name, left: from + k * wide, right: from + (k + 1) * wide, top, bottom }));
}

// The boxes under the bars that switch pairs off and on.
export function toggles({ strip: { x, y, bottom } }) {
  const half = (x.at(1) - x.at(0)) / 2;
  return Array.from({ length: PAIRS }, (_, pair) => ({ left: x.at(pair) - half, right: x.at(pair) + half, top: y.start + 2, bottom }));
}

export function drawPanels({ context, width }, result, state, theme, cursor) {
  const panel = { context, theme, result, state, cursor, width, bent: !isAsTrained(state) };
  drawStrip(panel);
  drawLosses(panel);
  drawAttention(panel);
  drawHeads(panel);
  drawLogits(panel);
  if (!result.wide) return;
  drawNext(panel);
  drawWritten(panel);
}

function drawStrip({ context, theme, result, width }) {
  const { strip, scales, gains } = result, room = width - 8 - LEFT;
  if (!strip) return words(context, theme, picture.no_pairs, LEFT, 50, { width: room });
  const { x, y, bottom } = strip, plot = new Plot(context, theme, x, y), step = x.at(1) - x.at(0);
  words(context, theme, picture.strip, LEFT, 10, { colour: theme.text, bold: true, width: room });
  for (const tick of [0.0625, 0.25, 1, 4]) {
    plot.horizontal(tick, { colour: theme.grid, dash: [] });
    words(context, theme, picture.ticks[tick], LEFT - 5, y.at(tick), { align: "right" });
  }
  plot.horizontal(1, { colour: theme.muted });
  scales.forEach((scale, pair) => {
    const top = y.at(Math.max(scale, 1 / 32)), colour = gains[pair] ? pairColour(pair, PAIRS) : theme.grid, wide = 0.62 * step;
    context.fillStyle = colour;
    context.fillRect(x.at(pair) - wide / 2, top, wide, y.start - top);
    ring(context, theme, x.at(pair), top, colour);
  });
  drawToggles(context, theme, toggles(result), gains, bottom);
}

function ring(context, theme, x, y, colour) {
  context.fillStyle = theme.ground;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.setLineDash([]);
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

function drawToggles(context, theme, boxes, gains, bottom) {
  const every = boxes[0].right - boxes[0].left < 18 ? 2 : 1;
  boxes.forEach(({ left, right, top }, pair) => {
    context.strokeStyle = theme.muted;
    context.lineWidth = 1;
    context.setLineDash(gains[pair] ? [] : [2, 2]);
    context.strokeRect(left + 1.5, top + 0.5, right - left - 3, bottom - top - 1);
    context.setLineDash([]);
    const text = gains[pair] ? (pair % every ? "" : String(pair)) : picture.off;
    words(context, theme, text, (left + right) / 2, (top + bottom) / 2, { align: "center", width: right - left - 2 });
  });
}

const finite = (list) => Array.from(list ?? []).filter(Number.isFinite);

// A line through the middles of bins.
function throughBins(plot, values, size, colour, style) {
  plot.line(Array.from(values ?? [], (value, k) => [(k + 0.5) * size, value]), colour, style);
}

function drawLosses({ context, theme, result, state, cursor, width, bent }) {
  const { values, stale, position: { x, boxes: [{ top, bottom }] } } = result;
  const most = Math.max(4, ...finite(values.losses), ...finite(values.trained_losses));
  const y = new Axis({ from: 0, to: Math.min(Math.ceil(most + 0.2), 12), start: bottom, end: top }), plot = new Plot(context, theme, x, y);
  const entries = [{ label: picture.trained, colour: theme.muted }, { label: picture.bent, colour: colours.score }];
  legend(context, theme, bent ? entries : entries.slice(0, 1), LEFT, result.at.legend, result.wide ? x.end : width);
  plot.ground(TRAINED, state.length, colours.neutral, 0.13);
  plot.axes({ xTitle: "", yTitle: picture.loss, xText: () => "", yTicks: 4, yText: (value) => fixed(value, 0) });
  plot.vertical(TRAINED, { colour: theme.muted, dash: [] });
  throughBins(plot, values.trained_losses, LOSS_BIN, theme.muted, { width: 1.8 });
  if (stale && bent) {
    context.globalAlpha = STALE;
    throughBins(plot, stale, LOSS_BIN, colours.score, { width: 1.5 });
    context.globalAlpha = 1;
  }
  if (bent) throughBins(plot, values.losses, LOSS_BIN, colours.score, { width: 2.4 });
  const label = say(picture.length, { trained: TRAINED });
  words(context, theme, label, Math.min(x.at(TRAINED) + 5, x.end - widthOf(context, theme.font, label)), bottom - 9, { ground: true });
  markPositions(plot, result, cursor);
}

function markPositions(plot, { query }, cursor) {
  plot.vertical(query, { colour: colours.query, width: 1.5, dash: [] });
  if (cursor?.last === "position") plot.vertical(cursor.position);
}

function drawAttention({ context, theme, result, state, cursor }) {
  const { values: { attention = [] }, position: { x }, attention: y, query } = result, plot = new Plot(context, theme, x, y);
  const yTitle = picture.attention.map((text) => say(text, { ...state, query, trained: TRAINED }));
  plot.axes({ xTitle: picture.position, yTitle, yText: (tick) => picture.powers[Math.round(Math.log10(tick))] });
  const columns = x.columns(), filled = columns.map(([, , stop]) => Math.min(stop, attention.length));
  context.fillStyle = colours.key;
  context.globalAlpha = result.fresh === false ? STALE : 1;
  for (const [pixel, , weight] of Plot.extremes(columns, filled, attention)) {
    if (!(weight > FAINTEST)) continue;
    const top = y.at(Math.min(weight, 1)), wide = Math.max(1, (x.end - x.start) / state.length);
    context.fillRect(pixel - wide / 2, top, wide, y.start - top);
  }
  context.globalAlpha = 1;
  markPositions(plot, result, cursor);
}

function drawHeads({ context, theme, result, state, width }) {
  const { values: { heads = [], attention = [] }, head: { cells }, right } = result, most = Math.max(attention.length, 1);
  words(context, theme, picture.heads, right, cells[0].top - 12, { colour: theme.text, width: width - right - 8 });
  cells.forEach(({ name, left, right: end, top, bottom }, k) => {
    context.globalAlpha = 0.08 + 0.6 * Math.min((heads[k] ?? 0) / most, 1);
    context.fillStyle = colours.key;
    context.fillRect(left + 1, top, end - left - 2, bottom - top);
    context.globalAlpha = 1;
    context.strokeStyle = name === state.head ? theme.text : theme.grid;
    context.lineWidth = name === state.head ? 2 : 1;
    context.strokeRect(left + 1.5, top + 0.5, end - left - 3, bottom - top - 1);
    words(context, theme, name, (left + end) / 2, (top + bottom) / 2, { align: "center", colour: theme.text, width: end - left - 3 });
  });
}

function drawLogits({ context, theme, result, state, cursor, bent }) {
  const { values, logits: { x, y: { start, end } } } = result, all = [...finite(values.logits), ...finite(values.trained_logits)];
  const low = Math.floor(Math.min(-1, ...all)), high = Math.ceil(Math.max(1, ...all));
  const y = new Axis({ from: low, to: high, start, end }), plot = new Plot(context, theme, x, y);
  plot.ground(TRAINED, state.length, colours.neutral, 0.13);
  const yTitle = picture.logits.map((text) => say(text, state));
  plot.axes({ xTitle: picture.distance, yTitle, xTicks: 3, yTicks: 3, yText: (value) => fixed(value, 0) });
  throughBins(plot, values.trained_logits, LOGIT_BIN, theme.muted, { width: 1.8 });
  if (bent) throughBins(plot, values.logits, LOGIT_BIN, colours.score, { width: 2.4 });
  if (cursor?.last === "distance") plot.vertical(cursor.distance);
}

function drawNext({ context, theme, result, width, bent }) {
  const { values: { next }, right, at, query } = result, room = width - 8 - right, from = right + 66, long = width - 56 - from;
  words(context, theme, picture.next.map((text) => say(text, { query })), right, at.next - 6, { colour: theme.text, width: room });
  Array.from(next.bytes).slice(0, ROWS).forEach((byte, k) => {
    const y = at.next + 12 + 15 * k;
    words(context, theme, nameOfByte(byte), from - 6, y, { align: "right", colour: theme.text });
    context.globalAlpha = result.fresh === false ? STALE : 1;
    [[next.trained[k], theme.muted, -5, 4], [bent ? next.bent[k] : 0, colours.score, -1, 6]].forEach(([share, colour, up, high]) => {
      context.fillStyle = colour;
      if (share > 0) context.fillRect(from, y + up, Math.max(share * long, 1), high);
    });
    words(context, theme, say(picture.percent, { share: 100 * next.bent[k] }), width - 8, y, { align: "right" });
    context.globalAlpha = 1;
  });
}

// The text up to the query, and the bytes that each encoding writes after it.
function drawWritten({ context, theme, result, width, bent }) {
  const { values, text, query, at } = result, size = parseFloat(theme.font);
  const equal = { ...theme, font: `${size - 1}px ui-monospace, monospace` }, one = widthOf(context, equal.font, "0");
  const lines = [[picture.trained, values.trained_written, theme.muted], [picture.bent, values.written, colours.score]];
  const label = Math.max(...lines.map(([name]) => widthOf(context, theme.font, name))) + 10, room = Math.floor((width - label) / one);
  const shown = Math.min(WRITTEN, room - 12), before = Math.max(room - shown - 2, 0), start = label + before * one;
  lines.slice(0, bent ? 2 : 1).forEach(([name, bytes, colour], k) => {
    const y = at.writes[k];
    words(context, theme, name, 0, y, { colour });
    words(context, equal, textBefore(text, query, before), start - 3, y, { align: "right", width: before * one });
    const after = bytes ? textOf(bytes).slice(0, shown) : bytes === null ? picture.nothing : picture.not_yet;
    words(context, equal, after, start + 3, y, { colour: bytes ? theme.text : theme.muted, width: width - start - 4 });
  });
}

// The last bytes up to the query, of a text that repeats.
function textBefore(text, query, count) {
  return textOf(tokensOf(text, query + 1).slice(-count));
}

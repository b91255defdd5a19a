// A sentence's attention weights and outputs before and after its words have moved, as two panels side by side, or one
// below the other where there is no room. A panel's rows are the queries: the weights of each, and beside them its output.

import { meanRow } from "./arithmetic_attention.js";
import { colours, diverging, sequential } from "./colours.js";
import { HeatMap, cellAxis, words } from "./drawing.js";
import { fixed, grouped } from "./numbers.js";

export const EQUAL = 1e-12; // rounding errors stay below

// Pale enough for the numbers in the cells, whatever a weight is; few outputs reach 4.
const WEIGHTS = sequential(0, 1.4), OUTPUTS = diverging(4);
const BESIDE = 600; // pixels from which the panels stand side by side
const CELL = 44, TITLES = 40, GAP = 12;

// Room for the longest sentence, so that nothing below jumps.
export function panelsHeight(width) {
  return width >= BESIDE ? 280 : 2 * 238;
}

// Where the two panels stand, and the axes of their cells: keys, queries, entries of an output, and the mean.
export function panelsOf(width, list, dim) {
  const beside = width >= BESIDE, count = list.length, marks = beside ? 58 : 18, between = beside ? 40 : 0;
  const height = panelsHeight(width) / (beside ? 1 : 2), wide = beside ? (width - between - marks) / 2 : width - marks;
  const longest = Math.max(...list.map((word) => [...word].reduce((sum, sign) => sum + (sign > "\u2e80" ? 13 : 8.2), 0)));
  const label = Math.max(58, longest + 22), cell = Math.min(CELL, Math.floor((wide - label - GAP) / (count + dim)));
  const slanted = longest > cell - 4, header = TITLES + (slanted ? Math.max(0.64 * longest + 14, 24) : 18);
  const row = Math.min(CELL, Math.floor((height - header - 18) / (count + 1)));
  const panel = (left, top) => {
    const start = left + label, across = start + count * cell + GAP, upper = top + header, lower = upper + count * row;
    return {
      left, top, cell, slanted,
      x: cellAxis(count, start, start + count * cell),
      y: cellAxis(count, upper, lower),
      entry: cellAxis(dim, across, across + dim * cell),
      mean: cellAxis(1, lower + 8, lower + 8 + row),
    };
  };
  return { beside, before: panel(0, 0), after: beside ? panel(wide + between, 0) : panel(0, height) };
}

function numbers(context, theme, x, y, rows, text) {
  const small = { ...theme, font: theme.font.replace(/^\d+px/, x.at(1) - x.at(0) < 30 ? "10px" : "11px") };
  rows.forEach((row, i) => row.forEach((value, j) => (
    words(context, small, text(value), x.at(j), y.at(i) + 1, { align: "center", colour: theme.text })
  )));
}

const widthOf = (context, theme, word) => {
  context.font = `600 ${theme.font}`;
  return context.measureText(word).width;
};

export function drawPanel(context, theme, panel, title, list, weights, outputs, { layers, causal, scheme }) {
  const { left, top, cell, slanted, x, y, entry } = panel, layer = layers === "2" ? " of layer 2" : "";
  const axisName = (text, above, colour) => words(context, theme, text, x.start - 6, y.start - above, { align: "right", colour });
  words(context, theme, title, left, top + 8, { colour: theme.text, bold: true, width: entry.end - left });
  words(context, theme, [`attention weights${layer} (%)`, `weights${layer} (%)`, "weights (%)"], x.start, top + 28, { width: x.end - x.start + GAP - 4 });
  words(context, theme, [`outputs${layer}`, "outputs"], entry.start, top + 28, { width: entry.end - entry.start });
  axisName("key →", 24, colours.key);
  axisName("query ↓", 9, colours.query);
  list.forEach((word, k) => {
    words(context, theme, word, x.start - 6, y.at(k), { align: "right", colour: colours.query, bold: true });
    if (scheme !== "none") {
      words(context, theme, String(k), x.start - 11 - widthOf(context, theme, word), y.at(k), { align: "right", colour: colours.position });
    }
    context.save();
    context.translate(x.at(k), y.start - 9);
    if (slanted) context.rotate(-0.7);
    words(context, theme, word, slanted ? -4 : 0, 0, { align: slanted ? "left" : "center", colour: colours.key, bold: true });
    context.restore();
  });
  const hidden = (i, j) => causal && j > i;
  new HeatMap(context, theme, x, y).fill(weights.flatMap((row, i) => row.map((weight, j) => (hidden(i, j) ? NaN : weight))), WEIGHTS);
  numbers(context, theme, x, y, weights.map((row, i) => row.map((weight, j) => (hidden(i, j) ? "–" : fixed(100 * weight, 0)))), String);
  new HeatMap(context, theme, entry, y).fill(outputs.flat(), OUTPUTS);
  new HeatMap(context, theme, entry, panel.mean).fill(meanRow(outputs), OUTPUTS);
  if (cell >= 25) {
    const text = (value) => fixed(value, cell >= 36 ? 2 : 1);
    numbers(context, theme, entry, y, outputs, text);
    numbers(context, theme, entry, panel.mean, [meanRow(outputs)], text);
  }
  words(context, theme, ["mean of the outputs", "mean"], entry.start - 6, panel.mean.at(0), { align: "right", width: entry.start - left });
}

// From each output to the place to which its word has moved, and whether it is still the same; a corner on each weight
// that is another one for the same two words.
export function drawMoves(context, theme, { before, after, beside }, { order, place, values }, scheme, chosen) {
  const sign = (change, y) => {
    const text = change <= EQUAL ? "=" : beside ? `≠ ${grouped(Number(change.toPrecision(2)))}` : "≠";
    words(context, theme, text, after.entry.end + 7, y, { colour: theme.text, bold: true });
  };
  sign(values.mean_change, after.mean.at(0));
  values.output_change.forEach((change, word) => {
    const from = before.y.at(word), to = after.y.at(place[word]);
    sign(change, to);
    if (!beside) return;
    const end = after.x.start - (scheme === "none" ? 11 : 23) - widthOf(context, theme, values.words[word]);
    const start = before.entry.end + 5, bend = Math.min(start + 56, end), middle = (start + bend) / 2;
    context.strokeStyle = colours.position;
    context.lineWidth = chosen === word ? 3.5 : 1.6;
    context.setLineDash(change <= EQUAL ? [] : [4, 4]);
    context.beginPath();
    context.moveTo(start, from);
    context.bezierCurveTo(middle, from, middle, to, bend, to);
    context.lineTo(end, to);
    context.stroke();
    context.setLineDash([]);
  });
  const size = Math.min(7, after.cell / 5);
  context.fillStyle = theme.text;
  order.forEach((query, i) => order.forEach((key, j) => {
    if (values.weight_change[query][key] <= EQUAL) return;
    const right = after.x.at(j + 0.5), top = after.y.at(i - 0.5);
    context.beginPath();
    context.moveTo(right - size, top);
    context.lineTo(right, top);
    context.lineTo(right, top + size);
    context.fill();
  }));
}

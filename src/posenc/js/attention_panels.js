// A sentence's attention weights and outputs before and after its words have moved: two panels, side by side. A panel's rows
// are the queries: the weights of each as numbers and its output as a row of bars, in the colour of its word. A narrow canvas
// has the weights below the outputs. A ribbon goes from each output to where its word has moved.

import { meanRow } from "./arithmetic_attention.js";
import catalogue from "./order_blindness.json";
import { colours, sequential, tint } from "./colours.js";
import { HeatMap, cellAxis, sized, widthOf, words } from "./drawing.js";
import { fixed, grouped } from "./numbers.js";
import { say } from "./sentences.js";

export const EQUAL = 1e-12; // rounding errors stay below

const { picture } = catalogue;
const WEIGHTS = sequential(0, 1.4); // pale enough for the numbers in the cells, whatever a weight is
const BESIDE = 560; // pixels from which a panel's outputs are beside its weights
const TITLES = 42, VERDICT = 44, LARGEST = 64; // of a cell
const HIGH = { beside: 320, above: 346 }, WEIGHTS_BELOW = 214, SLANTED_BELOW = 196; // of the panels with the longest sentence, so that nothing below jumps
const BAR = 0.55, LONGEST = 88, LEAST = 34; // a bar of an output, of a cell; all bars above weights, in pixels
const NUMBERED = 18; // pixels of a cell from which its number stands in it
const SLANT = 0.7; // radians, of words above narrow columns
const PILL = 12, NUMBER = 17; // around a row's word, and beside it its position
const GREATEST = 2.5; // an entry that fills half a row; no step of the story has a larger one
const HUES = [colours.score, colours.position, colours.bound, colours.excess, colours.pairs[6], colours.neutral]; // of different words

export function panelsHeight(width) {
  return (width >= BESIDE ? HIGH.beside : HIGH.above) + VERDICT;
}

// Where the panels stand, and the axes of their cells: keys, queries, entries of an output, outputs, and the mean.
export function panelsOf(width, list, dim) {
  const beside = width >= BESIDE, count = list.length;
  const longest = Math.max(...list.map((word) => [...word].reduce((sum, sign) => sum + (sign > "\u2e80" ? 13 : sign < "a" ? 11 : 8.6), 0)));
  const own = longest + PILL + (beside ? NUMBER : 0), gap = 12, ribbons = beside ? Math.min(96, width / 8) : 42;
  const spare = (signs) => width - 2 * own - signs - ribbons, cellWith = (signs) => Math.floor((spare(signs) - 2 * gap) / 2 / (count + BAR * dim));
  const signs = (beside ? cellWith(76) >= 26 : spare(72) >= 2 * LEAST) ? (beside ? 76 : 72) : 24;
  const wide = 0.82 * longest, slantedIn = (cell) => wide > cell - 2, below = (more) => Math.floor((width - gap - 2 * (wide + PILL) - more) / 2 / count);
  const cell = Math.min(LARGEST, beside ? cellWith(signs) : slantedIn(below(0)) ? below(0.45 * longest) : below(0)), slanted = slantedIn(cell);
  const bars = beside ? BAR * dim * cell : Math.min(LONGEST, spare(signs) / 2);
  const weights = slanted ? SLANTED_BELOW : WEIGHTS_BELOW, titled = beside ? TITLES - 14 : weights, header = titled + 14 + (slanted ? 0.64 * longest + 16 : 22);
  const row = Math.min(LARGEST, Math.floor(beside ? (HIGH.beside - header - 10) / (count + 1) : (HIGH.above - header) / count));
  const rows = (top, high) => ({ top, high, cells: cellAxis(count, top, top + count * high), mean: beside && cellAxis(1, top + count * high + 6, top + (count + 1) * high + 6) });
  const output = beside ? rows(header, row) : rows(TITLES - 4, Math.min(LARGEST, (weights - TITLES - 12) / count));
  const vocabulary = [...new Set(list)], hueOf = (word) => HUES[vocabulary.indexOf(word)];
  const panel = (left, start, entries) => ({
    left, start, cell, slanted, titled, beside, longest, hueOf, row: output.high, output: output.cells, mean: output.mean,
    words: (beside ? start : entries) - 8, // where those of the rows end
    x: cellAxis(count, start, start + count * cell), y: cellAxis(count, header, header + count * row), entry: cellAxis(dim, entries, entries + bars),
    queries: { left: start - (beside ? own : wide + PILL), right: beside ? entries + bars : start + count * cell },
  });
  const last = width - signs - bars; // where the outputs after start
  const half = wide + PILL + count * cell + gap; // of a narrow canvas, of the weights
  const [start, left] = beside ? [last - gap - count * cell, last - gap - count * cell - own] : [half + wide + PILL, last - own];
  return { beside, signs, before: panel(0, beside ? own : wide + PILL, beside ? own + count * cell + gap : own), after: panel(left, start, last) };
}

// On the way words pass over one another, those that go farthest on top; `shown` says where their rows and columns are.
const stacked = (places) => [...places.keys()].sort((a, b) => Math.abs(places[a] - a) - Math.abs(places[b] - b));

function drawWeights(context, theme, { x, y, cell }, { weights, rows, columns, moving }, causal, digits) {
  const hidden = (i, j) => causal && j > i, small = sized(theme, 11);
  if (moving) {
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.strokeRect(x.start - 0.5, y.start - 0.5, x.end - x.start + 1, y.end - y.start + 1);
    for (const i of stacked(rows)) {
      for (const j of stacked(columns)) {
        const [across, down] = [columns[j], rows[i]], one = (axis, at) => cellAxis(1, axis.at(at - 0.5), axis.at(at + 0.5));
        const [left, top, right, bottom] = [x.at(across - 0.5), y.at(down - 0.5), x.at(across + 0.5), y.at(down + 0.5)];
        context.fillStyle = theme.ground;
        context.fillRect(left, top, right - left, bottom - top);
        new HeatMap(context, theme, one(x, across), one(y, down)).fill([hidden(i, j) ? NaN : weights[i][j]], WEIGHTS);
        if (cell >= NUMBERED) words(context, small, hidden(i, j) ? "–" : fixed(100 * weights[i][j], 0), x.at(across), y.at(down) + 1, { align: "center", colour: theme.text });
      }
    }
    return;
  }
  new HeatMap(context, theme, x, y).fill(weights.flatMap((row, i) => row.map((weight, j) => (hidden(i, j) ? NaN : weight))), WEIGHTS);
  if (!digits || cell < NUMBERED) return;
  weights.forEach((row, i) => row.forEach((weight, j) => (
    words(context, small, hidden(i, j) ? "–" : fixed(100 * weight, 0), x.at(j), y.at(i) + 1, { align: "center", colour: theme.text })
  )));
}

// Outputs as bars up and down from the middle of their rows; `greatest` is the entry that fills half a row.
function drawOutputs(context, theme, entry, y, outputs, greatest, hueOf, rows = [...outputs.keys()]) {
  const wide = entry.at(1) - entry.at(0), high = (y.at(1) - y.at(0)) / 2 - 3;
  for (const i of stacked(rows)) {
    const middle = y.at(rows[i]), output = outputs[i];
    context.fillStyle = theme.ground;
    context.fillRect(entry.start, middle - high - 1, entry.end - entry.start, 2 * high + 2);
    context.fillStyle = theme.grid;
    context.globalAlpha = 0.35;
    context.fillRect(entry.start, middle - high - 1, entry.end - entry.start, 2 * high + 2);
    context.globalAlpha = 1;
    context.fillStyle = hueOf(i);
    output.forEach((value, d) => {
      const up = (value / greatest) * high;
      context.fillRect(entry.at(d) - wide / 2 + 1.5, Math.min(middle, middle - up), wide - 3, Math.max(Math.abs(up), 1));
    });
    context.fillStyle = theme.muted;
    context.fillRect(entry.start, middle - 0.5, entry.end - entry.start, 1);
  }
}

// The words of a panel, beside its rows and above its columns; those that can be dragged stand on a ground of their own.
function drawWords(context, theme, panel, { list, rows, columns }, { scheme }, draggable, numbered) {
  const { x, y, start, cell: across, slanted, beside, output, words: right, hueOf } = panel, bold = `600 ${theme.font}`;
  const widths = (font) => list.map((word) => widthOf(context, `600 ${font}`, word)).sort((one, other) => other - one);
  const above = (slanted ? beside : widths(theme.font)[0] < across - 9) ? theme : sized(theme, 11), [first, second] = widths(above.font);
  const more = slanted ? 4 : Math.min(4, (across - (first + second) / 2 - 3) / 2); // so that the two longest do not touch
  const ground = (hue, wide, left, middle, half = 10, more = 5) => {
    if (!draggable) return;
    context.beginPath();
    context.roundRect(left - more, middle - half, wide + 2 * more, 2 * half, half);
    context.fillStyle = theme.ground;
    context.fill();
    context.globalAlpha = 0.2;
    context.fillStyle = context.strokeStyle = hue;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.stroke();
  };
  for (const k of stacked(rows)) {
    const word = list[k], hue = hueOf(word), style = { colour: tint(hue, theme), bold: true }, wide = widthOf(context, bold, word), middle = output.at(rows[k]);
    ground(hue, wide, right - wide, middle);
    words(context, theme, word, right, middle, { ...style, align: "right" });
    if (scheme !== "none" && numbered) words(context, sized(theme, 11), String(k), right - wide - (draggable ? 10 : 5), y.at(k), { align: "right", colour: colours.position, bold: true });
    if (!beside) words(context, theme, word, start - 8, y.at(rows[k]), { ...style, align: "right" });
    context.save();
    context.translate(x.at(columns[k]), y.start - 12);
    if (slanted) context.rotate(-SLANT);
    const long = widthOf(context, `600 ${above.font}`, word);
    ground(hue, long, slanted ? -2 : -long / 2, 0, slanted ? Math.min(7.5, (across * Math.sin(SLANT)) / 2 - 1) : 9, more);
    words(context, above, word, slanted ? -2 : 0, 0, { ...style, align: slanted ? "left" : "center" });
    context.restore();
  }
}

// From each row of the words before to where its word has moved: a ribbon where the output is the same, else a dashed line.
function drawRibbons(context, theme, { before, after, beside }, { values }, { scheme }, chosen) {
  const numbers = beside && scheme !== "none" ? NUMBER : 0;
  values.output_change.forEach((change, word) => {
    const wide = widthOf(context, `600 ${theme.font}`, values.words[word]);
    const from = before.entry.end + 4, to = after.words - wide - 7 - numbers, middle = (from + to) / 2, half = Math.max(after.row / 2 - 8, 3);
    const edge = (upper, lower) => {
      context.moveTo(from, upper);
      context.bezierCurveTo(middle, upper, middle, lower, to, lower);
    };
    context.strokeStyle = context.fillStyle = before.hueOf(values.words[word]);
    const upper = before.output.at(word), lower = after.output.at(values.rows[word]), same = change <= EQUAL, bold = chosen === word;
    context.lineWidth = (same ? 1.2 : 2) + bold;
    context.setLineDash(same ? [] : [5, 5]);
    context.beginPath();
    for (const side of same ? [-half, half] : [0]) edge(upper + side, lower + side);
    context.stroke();
    context.setLineDash([]);
    if (!same) return;
    context.globalAlpha = bold ? 0.5 : 0.22;
    context.beginPath();
    edge(upper - half, lower - half);
    context.lineTo(to, lower + half);
    context.bezierCurveTo(middle, lower + half, middle, upper + half, from, upper + half);
    context.fill();
    context.globalAlpha = 1;
  });
}

// Whether each output is still the same, and a corner on each weight that is another one for the same two words.
function drawChanges(context, theme, { after, signs }, { order, place, values }) {
  const sign = (change, y) => {
    const same = change <= EQUAL, text = say(picture[same ? "same" : "other"], { change: grouped(Number(change.toPrecision(2))) });
    const [mark, more] = [text.slice(0, 1), text.slice(1)], left = after.entry.end + 5, large = sized(theme, 17);
    words(context, large, mark, left, y, { colour: theme.text, bold: true });
    words(context, theme, [more, ""], left + 13, y, { colour: theme.text, width: signs - 18 });
  };
  if (after.mean) sign(values.mean_change, after.mean.at(0));
  values.output_change.forEach((change, word) => sign(change, after.output.at(place[word])));
  const size = Math.min(8, after.cell / 4);
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

// `shown` has the words with their weights and outputs, and where the rows and columns are that they stand in.
function drawPanel(context, theme, panel, shown, greatest, state, facts, { draggable, numbered, digits }) {
  const { x, entry, output, mean, titled, beside, queries, hueOf } = panel, { list, outputs, rows } = shown, left = beside ? x.start : queries.left;
  drawWords(context, theme, panel, shown, state, draggable, numbered);
  words(context, theme, picture.weights.map((text) => say(text, { ...facts, digits })), left, titled, { width: x.end - left });
  drawWeights(context, theme, panel, shown, state.causal, digits);
  words(context, theme, say(picture.outputs, facts), entry.start, TITLES - 14, { width: entry.end - entry.start });
  drawOutputs(context, theme, entry, output, outputs, greatest, (i) => hueOf(list[i]), rows);
  if (!mean) return;
  drawOutputs(context, theme, entry, mean, [meanRow(outputs)], greatest, () => colours.neutral);
  words(context, theme, picture.mean, entry.start - 6, mean.at(0), { align: "right" });
}

export function drawPanels({ context, width, height }, result, state, theme, facts, cursor) {
  const { values, panels } = result, { before, after, beside } = panels, moving = state.progress < 2;
  const places = [...values.words.keys()], as = { list: values.words, weights: values.weights, outputs: values.outputs };
  const written = { ...as, rows: places, columns: places };
  const moved = { list: values.moved_words, weights: values.moved_weights, outputs: values.moved_outputs, rows: places, columns: places };
  const digits = state.scheme !== "none" || state.causal || moving || cursor !== null; // else the weights are only permuted
  const greatest = Math.max(GREATEST, ...[...values.outputs, ...values.moved_outputs].flat().map(Math.abs));
  const title = (texts, { left }, right) => words(context, sized(theme, 13), say(texts[beside ? 0 : 1], facts), left, 10, { colour: theme.text, bold: true, width: right - left });
  drawRibbons(context, theme, panels, result, state, cursor?.query);
  title(picture.as_written, before, after.left - 12);
  drawPanel(context, theme, before, written, greatest, state, facts, { draggable: false, numbered: beside, digits });
  title(picture.moved, after, width);
  const shown = moving ? { ...as, rows: values.rows, columns: values.columns, moving } : moved;
  drawPanel(context, theme, after, shown, greatest, state, facts, { draggable: true, numbered: beside && !moving, digits });
  if (!moving) drawChanges(context, theme, panels, result);
  if (cursor !== null) {
    new HeatMap(context, theme, before.x, before.y).outline(cursor.query, cursor.key);
    new HeatMap(context, theme, after.x, after.y).outline(values.rows[cursor.query], values.columns[cursor.key]);
  }
  const verdict = sized(theme, beside ? 15 : 13), line = height - VERDICT + 14, style = { colour: theme.text, bold: true, width };
  if (moving && !facts.written) {
    const said = say(picture.under_way, facts), fits = widthOf(context, `600 ${verdict.font}`, said) <= width;
    (fits ? [said] : said.split(/(?<=:) /)).forEach((part, k) => words(context, verdict, part, 0, line + 20 * k, style));
  } else words(context, verdict, [say(picture.verdict, facts), say(picture.verdict_short, facts)], 0, line, style);
  if (!moving) words(context, theme, picture.legend.map((text) => say(text, facts)), 0, line + 20, { width });
}

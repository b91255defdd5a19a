// A sentence's attention weights and outputs before and after its words have moved: two panels, side by side. A panel's rows
// are the queries: the weights of each as numbers and, beside them or above on a narrow canvas, its output as a row of bars.
// A ribbon goes from each output to where its word has moved.

import { meanRow } from "./arithmetic_attention.js";
import catalogue from "./order_blindness.json";
import { colours, sequential } from "./colours.js";
import { HeatMap, cellAxis, grip, sized, widthOf, words } from "./drawing.js";
import { fixed, grouped } from "./numbers.js";
import { say } from "./sentences.js";

export const EQUAL = 1e-12; // rounding errors stay below

const { picture } = catalogue;
const WEIGHTS = sequential(0, 1.4); // pale enough for the numbers in the cells, whatever a weight is
const BESIDE = 560; // pixels from which a panel's outputs are beside its weights
const TITLES = 42, VERDICT = 44, LARGEST = 50; // of a cell
const HIGH = { beside: 280, above: 346 }, WEIGHTS_BELOW = 200; // of the panels with the longest sentence, so that nothing below jumps
const BAR = 0.55, LONGEST = 88, LEAST = 34; // a bar of an output, of a cell; all bars above weights, in pixels
const NUMBERED = 18; // pixels of a cell from which its number stands in it
const GRIP = 30, NUMBER = 14; // beside a row's word, what it is dragged by and its position

export function panelsHeight(width) {
  return (width >= BESIDE ? HIGH.beside : HIGH.above) + VERDICT;
}

// Where the panels stand, and the axes of their cells: keys, queries, entries of an output, outputs, and the mean.
export function panelsOf(width, list, dim) {
  const beside = width >= BESIDE, count = list.length;
  const longest = Math.max(...list.map((word) => [...word].reduce((sum, sign) => sum + (sign > "\u2e80" ? 13 : sign < "a" ? 11 : 8.6), 0)));
  const own = beside ? longest + 8 + NUMBER : Math.max(longest, 31) + 8, gap = 12, half = (width + gap) / 2, ribbons = beside ? Math.min(84, width / 8) : 36;
  const spare = (signs) => width - 2 * own - GRIP - signs - ribbons, cellWith = (signs) => Math.floor((spare(signs) - 2 * gap) / 2 / (count + BAR * dim));
  const signs = (beside ? cellWith(76) >= 26 : spare(72) >= 2 * LEAST) ? (beside ? 76 : 72) : 24;
  const isWide = (cell) => 0.82 * longest > cell - 2, above = (named) => { // with words beside the rows, or only beside the outputs
    const cellIn = (room) => Math.min(LARGEST, Math.floor((half - gap - named - room) / count)), slanted = isWide(cellIn(0));
    return { named, slanted, cell: cellIn(slanted ? 0.45 * longest : 0) };
  };
  const { named, slanted, cell } = beside
    ? { named: own, slanted: isWide(cellWith(signs)), cell: Math.min(LARGEST, cellWith(signs)) } : [own, 0].map(above).find((fits) => fits.cell >= NUMBERED) ?? above(0);
  const bars = beside ? BAR * dim * cell : Math.min(LONGEST, spare(signs) / 2);
  const titled = beside ? TITLES - 14 : WEIGHTS_BELOW, header = titled + 14 + (slanted ? 0.64 * longest + 16 : 22);
  const row = Math.min(LARGEST, Math.floor(beside ? (HIGH.beside - header - 10) / (count + 1) : (HIGH.above - header) / count));
  const rows = (top, high) => ({ top, high, cells: cellAxis(count, top, top + count * high), mean: cellAxis(1, top + count * high + 6, top + (count + 1) * high + 6) });
  const output = beside ? rows(header, row) : rows(TITLES - 4, Math.min(40, (WEIGHTS_BELOW - TITLES - 16) / (count + 1)));
  const panel = (left, start, entries) => ({
    left, start, cell, slanted, titled, beside, named, ring: left + 11, row: output.high, output: output.cells, mean: output.mean,
    x: cellAxis(count, start, start + count * cell), y: cellAxis(count, header, header + count * row), entry: cellAxis(dim, entries, entries + bars),
    queries: { left: start - named, right: beside ? entries + bars : start + count * cell },
  });
  const last = width - signs - bars; // where the outputs after start
  const [start, left] = beside ? [last - gap - count * cell, last - gap - count * cell - own - GRIP] : [half + named, last - own - GRIP];
  return { beside, signs, before: panel(0, named, beside ? own + count * cell + gap : own), after: panel(left, start, last) };
}

// On the way words pass over one another, those that go farthest on top; `shown` says where their rows and columns are.
const stacked = (places) => [...places.keys()].sort((a, b) => Math.abs(places[a] - a) - Math.abs(places[b] - b));

function drawWeights(context, theme, { x, y, cell }, { weights, rows, columns, moving }, causal) {
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
  if (cell < NUMBERED) return;
  weights.forEach((row, i) => row.forEach((weight, j) => (
    words(context, small, hidden(i, j) ? "–" : fixed(100 * weight, 0), x.at(j), y.at(i) + 1, { align: "center", colour: theme.text })
  )));
}

// Outputs as bars up and down from the middle of their rows; `greatest` is the entry that fills half a row.
function drawOutputs(context, theme, entry, y, outputs, greatest, rows = [...outputs.keys()]) {
  const wide = entry.at(1) - entry.at(0), high = (y.at(1) - y.at(0)) / 2 - 3;
  for (const i of stacked(rows)) {
    const middle = y.at(rows[i]), output = outputs[i];
    context.fillStyle = theme.ground;
    context.fillRect(entry.start, middle - high - 1, entry.end - entry.start, 2 * high + 2);
    context.fillStyle = theme.grid;
    context.globalAlpha = 0.35;
    context.fillRect(entry.start, middle - high - 1, entry.end - entry.start, 2 * high + 2);
    context.globalAlpha = 1;
    output.forEach((value, d) => {
      const up = (value / greatest) * high;
      context.fillStyle = value < 0 ? colours.bound : colours.score;
      context.fillRect(entry.at(d) - wide / 2 + 1.5, Math.min(middle, middle - up), wide - 3, Math.max(Math.abs(up), 1));
    });
    context.fillStyle = theme.muted;
    context.fillRect(entry.start, middle - 0.5, entry.end - entry.start, 1);
  }
}

// The words of a panel, beside its rows and above its columns; those that can be dragged stand on a ground of their own.
function drawWords(context, theme, { x, y, start, slanted, beside, named, ring, entry, output }, { list, rows, columns }, { scheme }, draggable, numbered) {
  const bold = `600 ${theme.font}`;
  const ground = (wide, left, middle, half = 9, more = 4) => {
    if (!draggable) return;
    context.beginPath();
    context.roundRect(left - more, middle - half, wide + 2 * more, 2 * half, half);
    for (const [colour, alpha] of [[theme.ground, 1], [theme.grid, 0.6]]) {
      context.fillStyle = colour;
      context.globalAlpha = alpha;
      context.fill();
    }
    context.globalAlpha = 1;
  };
  for (const k of stacked(rows)) {
    const word = list[k], wide = widthOf(context, bold, word), right = start - 8;
    if (beside) ground(wide, right - wide, y.at(rows[k]));
    else words(context, theme, word, entry.start - 8, output.at(rows[k]), { align: "right", colour: colours.query, bold: true, rim: true });
    if (named) words(context, theme, word, right, y.at(rows[k]), { align: "right", colour: colours.query, bold: true, rim: !beside });
    if (draggable) grip(context, theme, ring, output.at(rows[k]), colours.position);
    context.save();
    context.translate(x.at(columns[k]), y.start - 12);
    if (slanted) context.rotate(-0.7);
    ground(wide, slanted ? -2 : -wide / 2, 0, slanted ? 7.5 : 9, slanted ? 4 : Math.min(4, (x.at(1) - x.at(0) - wide) / 2 - 1)); // slanted ones stand closer together
    words(context, theme, word, slanted ? -2 : 0, 0, { align: slanted ? "left" : "center", colour: colours.key, bold: true });
    context.restore();
    const number = right - wide - (draggable ? 7 : 5);
    if (scheme !== "none" && numbered) words(context, sized(theme, 11), String(k), number, y.at(k), { align: "right", colour: colours.position, bold: true });
  }
}

// From each row of the words before to where its word has moved: a ribbon where the output is the same, else a dashed line.
function drawRibbons(context, { before, after }, { values }, chosen) {
  const from = before.entry.end + 4, to = after.ring, middle = (from + to) / 2, half = Math.max(after.row / 2 - 5, 3);
  const edge = (upper, lower) => {
    context.moveTo(from, upper);
    context.bezierCurveTo(middle, upper, middle, lower, to, lower);
  };
  context.strokeStyle = context.fillStyle = colours.position;
  values.output_change.forEach((change, word) => {
    const upper = before.output.at(word), lower = after.output.at(values.rows[word]), same = change <= EQUAL, bold = chosen === word;
    context.lineWidth = (same ? 1.2 : 2) + bold;
    context.setLineDash(same ? [] : [5, 5]);
    context.beginPath();
    for (const side of same ? [-half, half] : [0]) edge(upper + side, lower + side);
    context.stroke();
    context.setLineDash([]);
    if (!same) return;
    context.globalAlpha = bold ? 0.5 : 0.26;
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
  sign(values.mean_change, after.mean.at(0));
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
function drawPanel(context, theme, panel, shown, greatest, state, facts, { draggable, numbered }) {
  const { x, entry, output, titled, beside, queries } = panel, { outputs, rows } = shown, left = beside ? x.start : queries.left;
  words(context, theme, [say(picture.weights, facts), say(picture.weights_short, facts), picture.weights_least], left, titled, { width: Math.max(x.end - left, beside ? 0 : 126) });
  words(context, theme, say(picture.outputs, facts), entry.start, TITLES - 14, { width: entry.end - entry.start });
  drawWords(context, theme, panel, shown, state, draggable, numbered);
  drawWeights(context, theme, panel, shown, state.causal);
  drawOutputs(context, theme, entry, output, outputs, greatest, rows);
  drawOutputs(context, theme, entry, panel.mean, [meanRow(outputs)], greatest);
  words(context, theme, picture.mean, entry.start - 6, panel.mean.at(0), { align: "right" });
}

export function drawPanels({ context, width, height }, result, state, theme, facts, cursor) {
  const { values, panels } = result, { before, after, beside } = panels, moving = state.progress < 2;
  const places = [...values.words.keys()], as = { list: values.words, weights: values.weights, outputs: values.outputs };
  const written = { ...as, rows: places, columns: places };
  const moved = { list: values.moved_words, weights: values.moved_weights, outputs: values.moved_outputs, rows: places, columns: places };
  const greatest = Math.max(...[...values.outputs, ...values.moved_outputs].flat().map(Math.abs));
  const title = (texts, { left }, right) => words(context, sized(theme, 13), say(texts[beside ? 0 : 1], facts), left, 10, { colour: theme.text, bold: true, width: right - left });
  drawRibbons(context, panels, result, cursor?.query);
  title(picture.as_written, before, after.left - 12);
  drawPanel(context, theme, before, written, greatest, state, facts, { draggable: false, numbered: beside });
  title(picture.moved, beside ? after : { left: after.left + GRIP }, width);
  const shown = moving ? { ...as, rows: values.rows, columns: values.columns, moving } : moved;
  drawPanel(context, theme, after, shown, greatest, state, facts, { draggable: true, numbered: beside && !moving });
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
  if (!moving) words(context, theme, say(picture.legend, facts), 0, line + 20, { width });
}

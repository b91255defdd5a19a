import { COLUMNS, PAIRS, ROWS, TIME, meanCosine, pairsBy, patchAngles } from "./arithmetic_patches.js";
import { colours, pairColour } from "./colours.js";
import { Axis, HeatMap, cellAxis, grip, words } from "./drawing.js";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { fixed } from "./numbers.js";
import catalogue from "./patch_grid.json";
import { drawImage } from "./patch_image.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TURN = 2 * Math.PI, TOP = 24, LEFT = 18;
const WIDE = 600, ROW = 400; // pixels from which the dials stand beside the image, and in one row below it
const PHONE = 26.8; // pixels of a patch there, at most
const APART = 10; // pixels to either side of a patch that query and key share
const LOW = 0.5, FADED = 0.84; // the score from which down a patch is faded, and how much

// The image, and a dial for each pair: four by four beside it, or in a row or two below. On a phone its rows and columns have
// no numbers.
function places(width) {
  const wide = width >= WIDE, phone = width < ROW, cell = phone ? Math.min(width / COLUMNS, PHONE) : Math.min((wide ? width * 0.66 - LEFT : width - LEFT - 2) / COLUMNS, wide ? 46 : 31);
  const start = phone ? (width - cell * COLUMNS) / 2 : LEFT, right = start + cell * COLUMNS, bottom = TOP + cell * ROWS, across = wide ? 4 : phone ? 8 : 16;
  const left = wide ? right + 16 : 0, top = wide ? TOP : bottom + (phone ? 24 : 38), wideDial = (width - left) / across;
  const highDial = wide ? (bottom - TOP) / 4 : wideDial + (phone ? 5 : 13), radius = Math.min(wideDial / 2 - 3, (highDial - 18) / 2, 26), rows = PAIRS / across;
  return {
    wide, radius, cell: wideDial, left, size: cell,
    middle: (i) => [left + ((i % across) + 0.5) * wideDial, top + (Math.floor(i / across) + 0.5) * highDial - 7],
    phone, column: cellAxis(COLUMNS, start, right), row: cellAxis(ROWS, TOP, bottom),
    dials: { left, right: width, top, bottom: top + rows * highDial },
    pairs: new Axis({ from: 0, to: PAIRS - 1, start: left, end: width }),
    height: wide ? bottom + 18 : top + rows * highDial + 2,
  };
}

function compute({ rule, frame, base, query_row, query_column, key_row, key_column }, width) {
  const pairs = pairsBy(rule, base), frames = pairs.axes.includes(TIME) ? frame : 0;
  const between = (row, column) => patchAngles(pairs, frames, query_row - row, query_column - column);
  const angles = between(key_row, key_column);
  const scores = Array.from({ length: ROWS }, (_, row) => Array.from({ length: COLUMNS }, (_, column) => meanCosine(between(row, column))));
  const all = scores.flat(), least = Math.min(...all), most = Math.max(...all);
  return { values: { scores, axes: pairs.axes, angles, score: meanCosine(angles) }, frames, least, most, ...places(width) };
}

// The hand of a pair starts at the top and turns against the clock; what it has passed is filled, all of it after a full turn.
function drawDial(context, theme, [x, y], radius, angle, colour, chosen) {
  const whole = Math.abs(angle) >= TURN;
  context.fillStyle = colour;
  context.globalAlpha = whole ? 0.2 : 0.45;
  context.beginPath();
  context.moveTo(x, y);
  context.arc(x, y, radius, -TURN / 4, -TURN / 4 - (whole ? Math.sign(angle) * TURN : angle), angle > 0);
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = chosen ? theme.text : theme.grid;
  context.lineWidth = chosen ? 2 : 1;
  context.beginPath();
  context.arc(x, y, radius, 0, TURN);
  context.stroke();
  context.strokeStyle = colour;
  context.lineWidth = 2.5;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - radius * Math.sin(angle), y - radius * Math.cos(angle));
  context.stroke();
}

// A score, with more digits where those of all patches are close.
function written(score, { least, most }) {
  const text = fixed(score, most - least < 0.3 ? 3 : 2);
  return Number(text) === 1 ? (score === 1 ? "1" : "≈ 1") : text;
}

// The image, each patch the more faded the less it scores.
function drawPatches(context, theme, { values: { scores }, column, row, size }) {
  const left = column.start, top = row.start, wide = column.end - left, high = row.end - top;
  drawImage(context, left, top, size);
  context.fillStyle = theme.ground;
  scores.forEach((line, r) => line.forEach((score, c) => {
    context.globalAlpha = FADED * Math.min((1 - Math.min(score, 1)) / (1 - LOW), 1);
    context.fillRect(left + c * size, top + r * size, size, size);
  }));
  context.globalAlpha = 0.5;
  context.strokeStyle = theme.ground;
  context.lineWidth = 1;
  context.beginPath();
  for (let c = 1; c < COLUMNS; c++) context.rect(left + c * size, top, 0, high);
  for (let r = 1; r < ROWS; r++) context.rect(left, top + r * size, wide, 0);
  context.stroke();
  context.globalAlpha = 1;
  context.strokeStyle = theme.grid;
  context.strokeRect(left - 0.5, top - 0.5, wide + 1, high + 1);
}

function draw({ context, width }, result, state, theme, cursor) {
  const { values, column, row, middle, radius, cell, left, wide, phone, dials } = result, map = new HeatMap(context, theme, column, row);
  drawPatches(context, theme, result);
  words(context, theme, picture.map, column.start, 10, { colour: theme.text, bold: true, width: column.end - column.start });
  for (let c = 0; c < COLUMNS && !phone; c++) words(context, theme, String(c), column.at(c), row.end + 9, { align: "center" });
  for (let r = 0; r < ROWS && !phone; r++) words(context, theme, String(r), LEFT - 6, row.at(r), { align: "right" });
  const ofPair = cursor?.last === "pair";
  if (cursor !== null && !ofPair) map.outline(cursor.row, cursor.column);
  const grips = handles(result, state), labels = new Labels(context, theme, { left: column.start + 4, right: column.end - 4, top: row.start + 2, bottom: row.end - 2 });
  for (const { x, y } of grips) labels.keep(x, y, 9);
  grips.forEach(({ name, x, y }, i) => {
    grip(context, theme, x, y, colours[name]);
    const text = say(picture[name], { wide, frame: result.frames, score: written(values.score, result) });
    labels.write(text, [x, y], { towards: x < grips[1 - i].x ? Math.PI : 0, away: 11, colour: theme.text, bold: true }); // away from the other
  });
  words(context, theme, picture.pairs, left, wide ? 10 : dials.top - 12, { colour: theme.text, bold: true, width: width - left });
  const fast = state.rule === "axes" ? PAIRS / 2 : PAIRS; // frequencies in a list
  values.angles.forEach((angle, i) => {
    const [x, y] = middle(i);
    drawDial(context, theme, [x, y], radius, angle, pairColour(i % fast, fast), ofPair && cursor.pair === i);
    words(context, theme, picture.follows[values.axes[i]], x, y + radius + 9, { align: "center", width: cell - 2 });
  });
}

function handles({ column, row }, { query_row, query_column, key_row, key_column }) {
  const apart = query_row === key_row && query_column === key_column ? APART : 0;
  const handle = (name, atRow, atColumn, aside) => ({
    name, x: column.at(atColumn) + aside, y: row.at(atRow), step: column.at(1) - column.at(0),
    drag: (x, y) => ({ [`${name}_row`]: row.nearest(row.invert(y)), [`${name}_column`]: column.nearest(column.invert(x)) }),
  });
  return [handle("query", query_row, query_column, -apart), handle("key", key_row, key_column, apart)];
}

// What is said of the scores above and below the query, or beside it.
function measures(line, at) {
  const beyond = line.filter((_, k) => Math.abs(k - at) > 1);
  return { changes: Math.max(...line) - Math.min(...line) >= 0.01, next: line[at === 0 ? 1 : at - 1], highest: Math.max(...beyond) };
}

function facts(result, { query_row, query_column, key_row }) {
  const { values: { scores, score }, least } = result, rows = measures(scores.map((line) => line[query_column]), query_row), columns = measures(scores[query_row], query_column);
  return {
    score: written(score, result), lowest: written(least, result), down: key_row - query_row, width: COLUMNS, rows: rows.changes, columns: columns.changes,
    beside: columns.next > rows.next, fades: [rows, columns].every(({ next, highest }) => highest < next),
  };
}

function reading(result, state, { row, column, pair, last }) {
  const { values } = result;
  return {
    of_pair: last === "pair", read: written(values.scores[row][column], result), axis: values.axes[pair],
    degrees: (values.angles[pair] * 360) / TURN, cosine: Math.cos(values.angles[pair]),
  };
}

// The pair whose dial is nearest.
function pick(x, y, { middle }) {
  const away = Array.from({ length: PAIRS }, (_, i) => Math.hypot(middle(i)[0] - x, middle(i)[1] - y));
  return away.indexOf(Math.min(...away));
}

const onMap = ({ column, row }) => [{ left: column.start, right: column.end, top: row.start, bottom: row.end }];

const render = explorable({
  catalogue,
  readers: [
    { name: "row", vertical: true, axis: ({ row }) => row, within: onMap },
    { name: "column", axis: ({ column }) => column, within: onMap },
    { name: "pair", axis: ({ pairs }) => pairs, within: ({ dials }) => [dials], pick },
  ],
  height: (width) => places(width).height,
  opening: (share, { query_column }) => ({ query_column: Math.round(COLUMNS - 1 + share * (query_column - COLUMNS + 1)) }), // comes from the right
  compute, draw, facts, handles, reading,
  pixel: ({ column, row }, atRow, atColumn) => [column.at(atColumn), row.at(atRow)],
});

export default { render };

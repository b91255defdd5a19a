import { COLUMNS, PAIRS, ROWS, TIME, meanCosine, pairsBy, patchAngles } from "./arithmetic_patches.js";
import { colours, diverging, pairColour, sequential } from "./colours.js";
import { Axis, HeatMap, cellAxis, colourBar, grip, words } from "./drawing.js";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { grouped } from "./numbers.js";
import catalogue from "./patch_grid.json";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TURN = 2 * Math.PI, TOP = 24, LEFT = 22;
const WIDE = 420, APART = 10; // pixels from which the dials stand beside the map; to either side of a patch that query and key share
const FLOOR = 0.7; // of the colours of a rule with time, whose scores are all high

// The map of patches, and a dial for each pair: four by four beside it, or two rows of eight below.
function places(width) {
  const wide = width >= WIDE, cell = Math.min((wide ? width * 0.62 - LEFT : width - LEFT - 4) / COLUMNS, 40);
  const right = LEFT + cell * COLUMNS, bottom = TOP + cell * ROWS, below = bottom + 22;
  const across = wide ? 4 : 8, left = wide ? right + 18 : 0, top = wide ? TOP : below + 50;
  const wideDial = (width - left) / across, highDial = wide ? (bottom - TOP) / 4 : Math.min(wideDial + 18, 62);
  const middle = (i) => [left + ((i % across) + 0.5) * wideDial, top + (Math.floor(i / across) + 0.5) * highDial - 7];
  const radius = Math.min(wideDial / 2 - 3, (highDial - 18) / 2, 26), rows = PAIRS / across;
  return {
    wide, below, middle, radius, cell: wideDial, left,
    column: cellAxis(COLUMNS, LEFT, right), row: cellAxis(ROWS, TOP, bottom),
    dials: { left, right: width, top, bottom: top + rows * highDial },
    pairs: new Axis({ from: 0, to: PAIRS - 1, start: left, end: width }),
    height: wide ? below + 34 : top + rows * highDial + 4,
  };
}

function compute({ rule, frame, base, query_row, query_column, key_row, key_column }, width) {
  const pairs = pairsBy(rule, base), frames = pairs.axes.includes(TIME) ? frame : 0;
  const between = (row, column) => patchAngles(pairs, frames, query_row - row, query_column - column);
  const angles = between(key_row, key_column);
  const scores = Array.from({ length: ROWS }, (_, row) => Array.from({ length: COLUMNS }, (_, column) => meanCosine(between(row, column))));
  return { values: { scores, axes: pairs.axes, angles, score: meanCosine(angles) }, frames, ...places(width) };
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

function draw({ context, width }, result, state, theme, cursor) {
  const { values, column, row, below, middle, radius, cell, left, wide, dials } = result, scores = values.scores.flat(), map = new HeatMap(context, theme, column, row);
  const video = values.axes.includes(TIME), scale = video ? sequential(FLOOR, 1) : diverging(1);
  map.fill(scores, scale);
  context.strokeStyle = theme.ground;
  context.lineWidth = 1;
  context.beginPath();
  for (let c = 1; c < COLUMNS; c++) context.rect(column.at(c - 0.5), row.start, 0, row.end - row.start);
  for (let r = 1; r < ROWS; r++) context.rect(column.start, row.at(r - 0.5), column.end - column.start, 0);
  context.globalAlpha = 0.4;
  context.stroke();
  context.globalAlpha = 1;
  words(context, theme, picture.map, LEFT, 10, { colour: theme.text, bold: true, width: column.end - LEFT });
  for (let c = 0; c < COLUMNS; c++) words(context, theme, String(c), column.at(c), row.end + 8, { align: "center" });
  for (let r = 0; r < ROWS; r++) words(context, theme, String(r), LEFT - 6, row.at(r), { align: "right" });
  colourBar(context, theme, scale, { left: LEFT, top: below, width: Math.round(Math.min(160, column.end - LEFT)), ticks: video ? [FLOOR, 1] : [-1, 0, 1], title: picture.score, text: (tick) => (tick === FLOOR ? picture.floor : grouped(tick)) });
  const ofPair = cursor?.last === "pair";
  if (cursor !== null && !ofPair) map.outline(cursor.row, cursor.column);
  const grips = handles(result, state), labels = new Labels(context, theme, { left: LEFT, right: column.end, top: row.start, bottom: row.end });
  for (const { x, y } of grips) labels.keep(x, y, 9);
  for (const { name, x, y } of grips) {
    grip(context, theme, x, y, colours[name]);
    labels.write(say(picture[name], { frame: result.frames, score: values.score }), [x, y], { away: 11, colour: theme.text, bold: true });
  }
  words(context, theme, picture.pairs, left, wide ? 10 : dials.top - 12, { colour: theme.text, bold: true, width: width - left });
  const fast = state.rule === "axes" ? PAIRS / 2 : PAIRS; // frequencies in a list
  values.angles.forEach((angle, i) => {
    const [x, y] = middle(i);
    drawDial(context, theme, [x, y], radius, angle, pairColour(i % fast, fast), ofPair && cursor.pair === i);
    words(context, theme, picture.follows[values.axes[i]], x, y + radius + 9, { align: "center", width: cell - 4 });
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

function facts({ values: { angles, score } }, { query_row, query_column, key_row, key_column }) {
  const down = key_row - query_row, right = key_column - query_column;
  return {
    score, down, up: -down, right, left: -right, tokens: Math.abs(COLUMNS * down + right), width: COLUMNS,
    most: (Math.max(...angles.map(Math.abs)) * 360) / TURN,
  };
}

function reading({ values }, state, { row, column, pair, last }) {
  return {
    of_pair: last === "pair", read: values.scores[row][column], axis: values.axes[pair],
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
  compute, draw, facts, handles, reading,
  pixel: ({ column, row }, atRow, atColumn) => [column.at(atColumn), row.at(atRow)],
});

export default { render };

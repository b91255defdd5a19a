import { colours, sequential } from "./colours.js";
import { Axis, HeatMap, cellAxis, words } from "./drawing.js";
import catalogue from "./copy_distance.json";
import { explorable } from "./explorable.js";
import { fixed, formatInteger } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LENGTHS = [128, 256, 512, 1024], DISTANCES = [16, 32, 64, 96, 192, 384, 768]; // as in Python
const RATE = 1.5e-3, SCALINGS = Object.keys(catalogue.controls.scaling.options);
const RIGHT = sequential(0, 1.25); // pale enough for the numbers in the cells
const SEQUENCE = { top: 40, bottom: 54 }, BAR = 18; // pixels

function compute({ training, base, scaling, fine_tuning: steps }, width, previous, { models }) {
  const { accuracy, tuned } = models[`${training} ${base}`], isTuned = steps !== "0" && scaling in tuned;
  const methods = isTuned ? Object.fromEntries(SCALINGS.map((each) => [each, tuned[each]?.[steps] ?? null])) : accuracy;
  return { values: { methods, before: isTuned ? tuned[scaling]["0"] : null, as_trained: accuracy.default }, ...places(width) };
}

function places(width) {
  const wide = width >= 600, left = wide ? 92 : 40, top = SEQUENCE.bottom + 58, bottom = top + (wide ? 30 : 25) * LENGTHS.length, bars = bottom + 40;
  return {
    wide, columns: cellAxis(DISTANCES.length, left, width - 6), rows: cellAxis(LENGTHS.length, top, bottom),
    scalings: cellAxis(SCALINGS.length, bars, bars + BAR * SCALINGS.length), share: new Axis({ from: 0, to: 1, start: 104, end: width - 46 }), height: bars + BAR * SCALINGS.length + 2,
  };
}

// The cell that is pointed at, or else the one that was chosen.
const cellOf = ({ length, distance }, cursor) => (cursor === null ? { row: LENGTHS.indexOf(length), column: DISTANCES.indexOf(Number(distance)) } : cursor);

// A sequence to scale: the block, its copy at the end, and as thick a line between them as the copy is accurate.
function drawSequence({ context, width }, { values }, state, theme, cursor) {
  const { row, column } = cellOf(state, cursor), length = LENGTHS[row], distance = DISTANCES[column], share = values.methods[state.scaling]?.[row][column] ?? null;
  const x = new Axis({ from: 0, to: length, start: 4, end: width - 14 }), { top, bottom } = SEQUENCE, within = x.at(length - TRAINED);
  context.globalAlpha = 0.25;
  context.fillStyle = colours.neutral;
  context.fillRect(x.start, top, x.end - x.start, bottom - top);
  context.globalAlpha = 1;
  context.fillStyle = colours.bound;
  context.fillRect(within, bottom + 2, x.end - within, 3);
  words(context, theme, picture.within, x.end, bottom + 13, { align: "right" });
  words(context, theme, say(picture.sequence, { length }), x.start, bottom + 13, { width: within - x.start - 60 > 0 ? width - 180 : 100 });
  const known = distance < length, from = x.at(length - distance);
  if (known) {
    context.strokeStyle = colours.score;
    context.globalAlpha = share === null ? 0.2 : 0.25 + 0.75 * share;
    context.lineWidth = 1 + 5 * (share ?? 0);
    context.beginPath();
    context.moveTo(x.end, top);
    context.quadraticCurveTo((x.end + from) / 2, top - 44, from, top);
    context.stroke();
    context.globalAlpha = 1;
    context.fillStyle = colours.key;
    context.fillRect(from - 4, top - 1, 8, bottom - top + 2);
  }
  context.fillStyle = colours.query;
  context.fillRect(x.end - 4, top - 1, 8, bottom - top + 2);
  const text = say(picture[known ? (share === null ? "unknown" : "copy") : "too_short"], { distance, share: 100 * share });
  words(context, theme, text, 4, 9, { colour: theme.text, bold: true });
}

function drawAccuracy({ context, width }, { values, columns, rows, wide }, state, theme, cursor) {
  const map = new HeatMap(context, theme, columns, rows), tuned = values.before !== null, accuracy = values.methods[state.scaling];
  words(context, theme, (tuned ? picture.tuned : picture.accuracy).map((text) => say(text, state)), 0, rows.start - 26, { colour: theme.text, bold: true, width });
  words(context, theme, picture.distance, columns.start - 8, rows.start - 9, { align: "right", width: columns.start - 8 });
  map.fill(accuracy.flat().map((share) => share ?? NaN), RIGHT);
  DISTANCES.forEach((distance, k) => words(context, theme, String(distance), columns.at(k), rows.start - 8, { align: "center", colour: colours.key, bold: true }));
  LENGTHS.forEach((length, r) => {
    const times = length / TRAINED;
    words(context, theme, wide ? `${say(picture.row[0], { times })} = ${formatInteger(length)}` : say(picture.row[1], { times }), columns.start - 8, rows.at(r), { align: "right", colour: colours.query, bold: true });
    accuracy[r].forEach((share, k) => {
      const before = wide && tuned ? values.before[r][k] : null;
      const text = share === null ? picture.none : before === null ? fixed(100 * share, 0) : say(picture.change, { before: 100 * before, after: 100 * share });
      words(context, theme, text, columns.at(k), rows.at(r) + 1, { align: "center", colour: theme.text });
    });
  });
  // what is past the trained length is below a line
  context.strokeStyle = colours.bound;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(0, rows.at(0.5));
  context.lineTo(columns.end, rows.at(0.5));
  context.stroke();
  const { row, column } = cellOf(state, cursor);
  map.outline(row, column);
}

// The accuracy of every scaling at the cell.
function drawScalings({ context, width }, { values, scalings, share }, state, theme, cursor) {
  const { row, column } = cellOf(state, cursor);
  words(context, theme, picture.scalings.map((text) => say(text, { times: LENGTHS[row] / TRAINED, distance: DISTANCES[column] })), 0, scalings.start - 14, { colour: theme.text, bold: true, width });
  SCALINGS.forEach((scaling, k) => {
    const accuracy = values.methods[scaling]?.[row][column] ?? null, chosen = scaling === state.scaling, y = scalings.at(k);
    words(context, theme, catalogue.controls.scaling.options[scaling], share.start - 8, y, { align: "right", bold: chosen, colour: chosen ? theme.text : theme.muted });
    context.globalAlpha = chosen ? 1 : 0.45;
    context.fillStyle = colours.score;
    context.fillRect(share.start, y - 6, share.at(accuracy ?? 0) - share.start, 12);
    context.globalAlpha = 1;
    words(context, theme, accuracy === null ? picture.none : say(picture.percent, { accuracy: 100 * accuracy }), share.at(accuracy ?? 0) + 6, y, { colour: theme.text, bold: chosen });
  });
}

function draw(...all) {
  drawSequence(...all);
  drawAccuracy(...all);
  drawScalings(...all);
}

const percent = (share) => (share === null ? null : 100 * share);

function facts({ values }, state) {
  const { row, column } = cellOf(state, null), { methods, before } = values, accuracy = methods[state.scaling];
  const at = (length, distance, of = accuracy) => percent(of?.[LENGTHS.indexOf(length)][DISTANCES.indexOf(distance)] ?? null);
  const known = SCALINGS.filter((each) => (methods[each]?.[row][column] ?? null) !== null), best = known.toSorted((one, other) => methods[other][row][column] - methods[one][row][column])[0];
  return {
    measured: accuracy[row][column] !== null, fits: DISTANCES[column] < LENGTHS[row], accuracy: percent(accuracy[row][column]), tuned: before !== null, rate: RATE, times: LENGTHS[row] / TRAINED,
    best: best ?? null, best_accuracy: best ? percent(methods[best][row][column]) : null,
    before: before && percent(before[row][column]), near_before: at(512, 32, before), near: at(512, 32), far: at(512, 384), within: at(128, 64),
  };
}

function reading({ values }, state, { row, column }) {
  const share = values.methods[state.scaling][row][column], { before } = values;
  return {
    at_length: LENGTHS[row], at_distance: DISTANCES[column], known: share !== null, fits: DISTANCES[column] < LENGTHS[row], read: percent(share), unscaled: percent(values.as_trained[row][column]),
    tuned: before !== null, before: before && percent(before[row][column]),
  };
}

const within = ({ columns, rows }) => [{ left: columns.start, right: columns.end, top: rows.start, bottom: rows.end }];

const render = explorable({
  catalogue,
  readers: [
    { name: "row", vertical: true, axis: ({ rows }) => rows, within },
    { name: "column", axis: ({ columns }) => columns, within },
  ],
  height: (width) => places(width).height,
  compute, draw, facts, reading,
  press: (px, py, result) => {
    const [{ left, right, top, bottom }] = within(result), { rows, columns, scalings } = result;
    if (py >= scalings.start && py < scalings.end) return { scaling: SCALINGS[scalings.nearest(scalings.invert(py))] };
    if (px < left || px > right || py < top || py > bottom) return null;
    return { length: LENGTHS[rows.nearest(rows.invert(py))], distance: String(DISTANCES[columns.nearest(columns.invert(px))]) };
  },
  pixel: ({ columns, rows }, row, column) => [columns.at(column), rows.at(row)],
});

export default { render };

import { colours, sequential } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, grip, words } from "./drawing.js";
import catalogue from "./copy_distance.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LENGTHS = [128, 256, 512, 1024], DISTANCES = [16, 32, 64, 96, 192, 384, 768]; // as in Python
const SCALINGS = Object.keys(catalogue.controls.scaling.options);
const RIGHT = sequential(0, 1.25); // pale enough for the numbers in the cells
const COLUMNS = DISTANCES.toReversed(); // as in a text, whose end is at the right
const STRIP = { top: 54, bottom: 68 }, ARC = 34; // pixels

const shareOf = (table, length, distance) => table?.[LENGTHS.indexOf(length)][DISTANCES.indexOf(distance)] ?? null;
const percent = (share) => (share === null ? null : 100 * share);
const firstOf = (length) => COLUMNS.findIndex((distance) => distance < length); // the farthest column that a sequence reaches

function compute({ training, base, scaling, fine_tuning: steps }, width, previous, { models }) {
  const { accuracy, tuned } = models[`${training} ${base}`], isTuned = steps !== "0" && scaling in tuned;
  const methods = isTuned ? Object.fromEntries(SCALINGS.map((each) => [each, tuned[each]?.[steps] ?? null])) : accuracy;
  return { values: { methods, before: isTuned ? tuned[scaling]["0"] : null, as_trained: accuracy.default }, untuned: isTuned ? tuned : null, ...places(width) };
}

function places(width) {
  const wide = width >= 600, top = STRIP.bottom + 70, bottom = top + (wide ? 30 : 28) * SCALINGS.length;
  return { wide, columns: cellAxis(COLUMNS.length, wide ? 116 : 98, width - 8), rows: cellAxis(SCALINGS.length, top, bottom), height: bottom + 20 };
}

const blockAt = ({ columns }, { distance }) => [columns.at(COLUMNS.indexOf(Number(distance))), (STRIP.top + STRIP.bottom) / 2];
const endAt = ({ columns }, { length }) => [columns.at(firstOf(length) - 0.5), STRIP.bottom + 22];

// A sequence, its columns as in the table: the block, its copy at the end, and as thick a line between them as the copy is accurate.
function drawSequence({ context, width }, result, state, theme) {
  const { columns, rows } = result, { length, distance } = state, { top, bottom } = STRIP, share = shareOf(result.values.methods[state.scaling], length, Number(distance));
  const [block, middle] = blockAt(result, state), [left, ruler] = endAt(result, state), right = columns.end, known = Number(distance) < length, plot = new Plot(context, theme);
  const text = say(picture[known ? (share === null ? "unknown" : "copy") : "too_short"], { distance, share: 100 * share });
  words(context, theme, text, right, 9, { align: "right", colour: theme.text, bold: true });
  context.globalAlpha = 0.25;
  context.fillStyle = colours.neutral;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  for (const [from, to] of [[top, bottom], [rows.start, rows.end]]) plot.rule([columns.at(2.5), from], [columns.at(2.5), to], { colour: colours.bound, width: 2, dash: [5, 4] });
  words(context, theme, say(picture.trained, { trained: TRAINED }), columns.at(2.5), rows.end + 12, { align: "center", colour: theme.text, bold: true });
  plot.rule([left, ruler], [right, ruler], { colour: theme.muted, dash: [] });
  words(context, theme, picture.sequence.map((each) => say(each, { length, times: length / TRAINED })), (left + right) / 2, ruler, { align: "center", ground: true, width: right - left - 30 });
  grip(context, theme, left, ruler, theme.text);
  context.fillStyle = colours.query;
  context.fillRect(right - 7, top - 2, 14, bottom - top + 4);
  if (!known) return;
  const high = Math.min(ARC, 8 + (right - block) / 4);
  for (const [colour, thick, dash] of [[theme.muted, 1.2, [3, 3]], [colours.score, 6 * (share ?? 0), []]]) {
    if (thick < 0.5) continue;
    Object.assign(context, { strokeStyle: colour, lineWidth: thick });
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(right, top - 2);
    context.quadraticCurveTo((right + block) / 2, top - 2 * high, block, top - 2);
    context.stroke();
  }
  context.setLineDash([]);
  grip(context, theme, block, middle, colours.key);
}

// The accuracy with each scaling, at each distance; after fine-tuning beside that before, where there is room.
function drawAccuracy({ context }, { values, untuned, columns, rows, wide }, { scaling, length, distance, fine_tuning }, theme, cursor) {
  const map = new HeatMap(context, theme, columns, rows), shares = SCALINGS.map((each) => COLUMNS.map((far) => shareOf(values.methods[each], length, far)));
  const title = (untuned ? picture.tuned : picture.accuracy).map((text) => say(text, { fine_tuning })), header = rows.start - 9;
  words(context, theme, title, 0, header - 18, { colour: theme.text, bold: true, width: columns.end });
  words(context, theme, picture.distance, columns.start - 8, header, { align: "right", colour: colours.key });
  map.fill(shares.flat().map((share) => share ?? NaN), RIGHT);
  COLUMNS.forEach((far, k) => words(context, theme, String(far), columns.at(k), header, { align: "center", colour: colours.key, bold: String(far) === distance }));
  SCALINGS.forEach((each, r) => {
    const own = each === scaling;
    words(context, theme, catalogue.controls.scaling.options[each], columns.start - 8, rows.at(r), { align: "right", colour: own ? theme.text : theme.muted, bold: own });
    shares[r].forEach((share, k) => {
      const before = wide && untuned ? shareOf(untuned[each]?.["0"], length, COLUMNS[k]) : null;
      const text = share === null ? picture.none : before === null ? fixed(100 * share, 0) : say(picture.change, { before: 100 * before, after: 100 * share });
      words(context, theme, text, columns.at(k), rows.at(r) + 1, { align: "center", colour: theme.text });
    });
  });
  map.outline(SCALINGS.indexOf(scaling), COLUMNS.indexOf(Number(distance)));
  if (cursor !== null) map.outline(cursor.row, cursor.column);
}

function draw(...all) {
  drawAccuracy(...all);
  drawSequence(...all);
}

function facts({ values }, { length, distance, scaling }) {
  const { methods, before } = values, at = (long, far, of = methods[scaling]) => percent(shareOf(of, long, far)), here = (each) => at(length, Number(distance), methods[each]);
  const [best] = SCALINGS.filter((each) => here(each) !== null).toSorted((one, other) => here(other) - here(one));
  return {
    measured: here(scaling) !== null, fits: Number(distance) < length, accuracy: here(scaling), tuned: before !== null,
    best: best ?? null, best_accuracy: best ? here(best) : null,
    near_before: at(512, 32, before), near: at(512, 32), far: at(512, 384), within: at(128, 64),
  };
}

function reading({ values, untuned }, { length }, { row, column }) {
  const at_scaling = SCALINGS[row], at_distance = COLUMNS[column], read = (table) => percent(shareOf(table, length, at_distance));
  return {
    at_scaling, at_distance, known: read(values.methods[at_scaling]) !== null, fits: at_distance < length, read: read(values.methods[at_scaling]),
    tuned: untuned !== null, unscaled: read(values.as_trained), before: read(untuned?.[at_scaling]?.["0"]),
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
  handles(result, state) {
    const { columns } = result, step = columns.at(1) - columns.at(0), [block, middle] = blockAt(result, state), [left, ruler] = endAt(result, state);
    const farther = (px) => Math.max(columns.nearest(columns.invert(px)), firstOf(state.length));
    return [
      { name: "distance", x: block, y: middle, along: "x", step, drag: (px) => ({ distance: String(COLUMNS[farther(px)]) }) },
      { name: "length", x: left, y: ruler, along: "x", step, drag: (px) => ({ length: 2 ** -Math.min(columns.nearest(columns.invert(px) + 0.5), LENGTHS.length - 1) * LENGTHS.at(-1) }) },
    ];
  },
  // The block stays within the sequence.
  linked(changes, state) {
    const { length, distance } = { ...state, ...changes };
    if (Number(distance) < length) return {};
    return "length" in changes ? { distance: String(COLUMNS[firstOf(length)]) } : { length: LENGTHS.find((long) => long > Number(distance)) };
  },
  press: (px, py, { columns, rows }) => {
    if (py < rows.start || py > rows.end) return null;
    const scaling = SCALINGS[rows.nearest(rows.invert(py))];
    return px < columns.start ? { scaling } : { scaling, distance: String(COLUMNS[columns.nearest(columns.invert(px))]) };
  },
  pixel: ({ columns, rows }, row, column) => [columns.at(column), rows.at(row)],
});

export default { render };

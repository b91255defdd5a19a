import { colours, sequential } from "./colours.js";
import { HeatMap, Plot, cellAxis, grip, ruler, sized, widthOf, words } from "./drawing.js";
import catalogue from "./copy_distance.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LENGTHS = [128, 256, 512, 1024], DISTANCES = [16, 32, 64, 96, 192, 384, 768]; // as in Python
const SCALINGS = Object.keys(catalogue.controls.scaling.options);
const SEEN = ["linear", "ntk_by_parts", "yarn"]; // which keep all pairs at angles seen in training
const RIGHT = sequential(0, 1.6); // pale enough for the numbers in the cells
const FAINT = 0.45; // of the rows that are not compared
const COLUMNS = DISTANCES.toReversed(); // as in a text, whose end is at the right
const LEFT = 9; // pixels, half a grip
const STRIP = { top: 114, bottom: 128 }, RULER = STRIP.bottom + 25, ARC = 46; // pixels
const SHADES = [1, 0.45, 0.75, 0.5, 0.9, 0.35, 0.65, 0.8, 0.4, 1, 0.55, 0.7, 0.3, 0.85]; // of the scored symbols of a block,
const LAST = [3, 9, 6, 0, 12, 5, 10, 1, 8, 13, 4, 11, 2, 7]; // and which is drawn wrong last

const shareOf = (table, length, distance) => table?.[LENGTHS.indexOf(length)][DISTANCES.indexOf(distance)] ?? null;
const percent = (share) => (share === null ? null : 100 * share);
const firstOf = (length) => COLUMNS.findIndex((distance) => distance < length); // the farthest column that a sequence reaches

function compute({ training, base, scaling, fine_tuning: steps }, width, previous, { models }) {
  const { accuracy, tuned } = models[`${training} ${base}`], isTuned = steps !== "0" && scaling in tuned;
  const methods = isTuned ? Object.fromEntries(SCALINGS.map((each) => [each, tuned[each]?.[steps] ?? null])) : accuracy;
  return { values: { methods, before: isTuned ? tuned[scaling]["0"] : null, as_trained: accuracy.default }, untuned: isTuned ? tuned : null, ...places(width) };
}

// The table stands under the sequence, the names of its rows under the copy.
function places(width) {
  const wide = width >= 600, top = RULER + 50, bottom = top + 25 * SCALINGS.length, names = wide ? 140 : 92, columns = cellAxis(COLUMNS.length, LEFT, width - names);
  const across = wide ? 7 : 5, each = Math.floor((0.98 * Math.min((wide ? 1.15 : 1.55) * (columns.at(1) - columns.at(0)), names)) / across), high = wide ? 24 : 14;
  return { wide, columns, rows: cellAxis(SCALINGS.length, top, bottom), names: names - 8, tile: { across, wide: each, high, all: high * Math.ceil(SHADES.length / across) }, copy: (columns.end + width) / 2, width, height: bottom + 20 };
}

const blockAt = ({ columns }, { distance }) => columns.at(COLUMNS.indexOf(Number(distance)));
const endAt = ({ columns }, { length }) => columns.at(firstOf(length) - 0.5);

// The scored symbols of a block on the strip: so many right ones in their colour, the others grey.
function drawBlock(context, { tile: { across, wide, high, all } }, middle, right) {
  const left = middle - (across / 2) * wide, top = STRIP.top - 2 - all;
  SHADES.forEach((shade, k) => {
    const isRight = LAST.indexOf(k) < right;
    Object.assign(context, { fillStyle: isRight ? colours.key : colours.neutral, globalAlpha: isRight ? shade : 0.25 });
    context.fillRect(left + (k % across) * wide + 0.5, top + Math.floor(k / across) * high + 0.5, wide - 1.5, high - 1.5);
  });
  context.globalAlpha = 1;
}

// A sequence, its columns as in the table: the block, its copy at the end, and as thick a line between them as the copy is accurate.
function drawSequence({ context, width }, result, state, theme) {
  const { columns, rows, copy, tile } = result, { length, distance } = state, { top, bottom } = STRIP, share = shareOf(result.values.methods[state.scaling], length, Number(distance));
  const block = blockAt(result, state), left = endAt(result, state), known = Number(distance) < length, plot = new Plot(context, theme);
  const texts = picture[known ? (share === null ? "unknown" : "copy") : "too_short"].map((text) => say(text, { distance, share: 100 * share }));
  words(context, sized(theme, 15), texts, width, 9, { align: "right", colour: theme.text, bold: true, width });
  context.globalAlpha = 0.35;
  context.fillStyle = colours.neutral;
  context.fillRect(left, top, width - left, bottom - top);
  context.globalAlpha = 1;
  for (const [from, to] of [[top - 8, bottom + 8], [rows.start, rows.end]]) plot.rule([columns.at(2.5), from], [columns.at(2.5), to], { colour: colours.bound, width: 2, dash: [5, 4] });
  const trained = say(picture.trained, { trained: TRAINED }), half = widthOf(context, `600 ${theme.font}`, trained) / 2;
  words(context, theme, trained, Math.max(columns.at(2.5), half), rows.end + 12, { align: "center", colour: theme.text, bold: true });
  ruler(context, theme, width - 2, left, RULER, picture.sequence.map((each) => say(each, { length, times: length / TRAINED })));
  if (!known) return;
  const over = top - 6 - tile.all, high = Math.min(ARC, 12 + (copy - block) / 5);
  for (const [colour, thick, dash] of [[theme.muted, 1.2, [3, 3]], [colours.score, 9 * (share ?? 0), []]]) {
    if (thick < 0.5) continue;
    Object.assign(context, { strokeStyle: colour, lineWidth: thick });
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(copy, over);
    context.quadraticCurveTo((copy + block) / 2, over - 1.5 * high, block, over);
    context.stroke();
  }
  context.setLineDash([]);
  drawBlock(context, result, block, SHADES.length);
  drawBlock(context, result, copy, Math.round(SHADES.length * (share ?? 0)));
  grip(context, theme, block, (top + bottom) / 2, colours.key);
}

// The accuracy with each scaling, at each distance in the sequence, faint but for the chosen one and that without scaling; after fine-tuning beside that before, where there is room.
function drawAccuracy({ context }, result, { scaling, length, distance, fine_tuning }, theme, cursor) {
  const { values, untuned, columns, rows, wide, names } = result, first = firstOf(length), reached = COLUMNS.slice(first), left = endAt(result, { length });
  const map = new HeatMap(context, theme, columns, rows), shares = SCALINGS.map((each) => reached.map((far) => shareOf(values.methods[each], length, far)));
  const title = (untuned ? picture.tuned : picture.accuracy).map((text) => say(text, { fine_tuning })), header = rows.start - 9, end = columns.end + 8;
  words(context, theme, title, left, header - 18, { colour: theme.text, bold: true, width: end + names - left });
  words(context, theme, picture.distance, end, header, { colour: colours.key });
  const isStrong = (each) => each === scaling || each === "default"; // these are compared
  new HeatMap(context, theme, cellAxis(reached.length, left, columns.end), rows).fill(SCALINGS.flatMap((each, r) => shares[r].map((share) => (isStrong(each) ? share : null) ?? NaN)), RIGHT);
  reached.forEach((far, k) => words(context, theme, String(far), columns.at(first + k), header, { align: "center", colour: colours.key, bold: String(far) === distance }));
  SCALINGS.forEach((each, r) => {
    const own = each === scaling;
    context.globalAlpha = isStrong(each) ? 1 : FAINT;
    words(context, theme, [catalogue.controls.scaling.options[each], picture.short[each]].filter(Boolean), end, rows.at(r), { width: names, colour: own ? theme.text : theme.muted, bold: own });
    shares[r].forEach((share, k) => {
      const before = wide && untuned ? shareOf(untuned[each]?.["0"], length, reached[k]) : null;
      const text = share === null ? picture.none : before === null ? fixed(100 * share, 0) : say(picture.change, { before: 100 * before, after: 100 * share });
      words(context, theme, text, columns.at(first + k), rows.at(r) + 1, { align: "center", colour: theme.text });
    });
  });
  context.globalAlpha = 1;
  map.outline(SCALINGS.indexOf(scaling), COLUMNS.indexOf(Number(distance)));
  if (cursor !== null) map.outline(cursor.row, cursor.column);
}

function draw(...all) {
  drawAccuracy(...all);
  drawSequence(...all);
}

function facts({ values }, { length, distance, scaling }) {
  const { methods, before } = values, at = (long, far, of = methods[scaling]) => percent(shareOf(of, long, far)), here = (each) => at(length, Number(distance), methods[each]);
  const [best] = SCALINGS.filter((each) => here(each) !== null).toSorted((one, other) => here(other) - here(one) || (other === scaling) - (one === scaling));
  return {
    measured: here(scaling) !== null, fits: Number(distance) < length, accuracy: here(scaling), tuned: before !== null, best: best ?? null, best_accuracy: best ? here(best) : null,
    is_far: Number(distance) > TRAINED, unscaled: here("default"), without_temperature: here("ntk_by_parts"), temperature: here("yarn_temperature"),
    avoids: !SEEN.includes(scaling) && SEEN.includes(best), untouched: at(512, 384, methods.default),
    trained: TRAINED, symbols: SHADES.length, near_before: at(512, 32, before), near: at(512, 32), far: at(512, 384), within: at(512, 96),
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
    const { columns, tile } = result, step = columns.at(1) - columns.at(0), block = blockAt(result, state), left = endAt(result, state), half = Math.max((tile.across / 2) * tile.wide, 20);
    const farther = (px) => Math.max(columns.nearest(columns.invert(px)), firstOf(state.length)), y = (STRIP.top + STRIP.bottom) / 2;
    const box = { left: block - half, right: block + half, top: STRIP.top - tile.all - 6, bottom: STRIP.bottom + 8 };
    return [
      { name: "distance", x: block, y, box, along: "x", step, drag: (px) => ({ distance: String(COLUMNS[farther(px)]) }) },
      { name: "length", x: left, y: RULER, along: "x", step, drag: (px) => ({ length: 2 ** -Math.min(columns.nearest(columns.invert(px) + 0.5), LENGTHS.length - 1) * LENGTHS.at(-1) }) },
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
    return px > columns.end ? { scaling } : { scaling, distance: String(COLUMNS[columns.nearest(columns.invert(px))]) };
  },
  pixel: ({ columns, rows }, row, column) => [columns.at(column), rows.at(row)],
});

export default { render };

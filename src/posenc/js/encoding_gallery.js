import { dyadic, harmonic, integer, normalised, radixShares, sinusoidal } from "./arithmetic_encodings.js";
import { distances, lengthDependence, maxNorm, minDistance, monotonicityViolations, translationResidual } from "./arithmetic_properties.js";
import { table } from "./blocks.js";
import { colours, diverging, sequential } from "./colours.js";
import { HeatMap, cellAxis, colourBar, grip, sized, widthOf, words } from "./drawing.js";
import catalogue from "./encoding_gallery.json";
import { explorable } from "./explorable.js";
import { grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, scores: inWords, properties } = catalogue;
const SHOWN = 32, LONGEST = 96; // positions in the small pictures and in the large one, as in Python
const ROUNDING = 1e-9;
const MAP = 42; // pixels above the large picture

// For each encoding: those of positions, the first position without one, and whether the length of the sequence changes them.
const never = () => Infinity;
const ENCODINGS = {
  integer: { encode: (at, length, dim) => integer(at, dim), end: never },
  normalised: { encode: normalised, end: (length) => length, relative: true },
  binary: { encode: (at, length, dim) => radixShares(at, dim, 2), end: (length, dim) => 2 ** dim },
  radix: { encode: (at, length, dim) => radixShares(at, dim, 10), end: (length, dim) => 10 ** dim },
  harmonic: { encode: (at, length, dim) => harmonic(at, dim), end: never },
  dyadic: { encode: (at, length, dim) => dyadic(at, dim), end: never },
  sinusoidal: { encode: (at, length, dim) => sinusoidal(at, dim, 1e4), end: never },
};
const NAMES = Object.keys(ENCODINGS), PROPERTIES = Object.keys(properties);
const nameOf = (scheme) => catalogue.controls.scheme.options[scheme];

// Whether a score is what the property asks for; where nothing else is said, it asks for 0.
const MET = {
  min_distance: (score) => score > ROUNDING,
  max_norm: (score, dim) => score <= Math.sqrt(dim) + ROUNDING,
  defined_fraction: (score) => score === 1,
};
const isMet = (property, score, dim) => (MET[property] ?? ((value) => value <= ROUNDING))(score, dim);

// The encodings of a sequence, up to the first position that has none, and their scores. `known` keeps encodings and distances
// that a sequence of another length shares with this one.
function encodingAndScores(name, length, dim, steps, known = { encodings: [], apart: [] }) {
  const { encode, end, relative } = ENCODINGS[name], last = end(length, dim), count = Math.min(length, last);
  const encodingsOf = (length) => {
    const from = relative ? 0 : known.encodings.length;
    const added = encode(Array.from({ length: Math.max(0, count - from) }, (_, k) => from + k), length, dim);
    if (relative) return added;
    known.encodings.push(...added);
    return known.encodings.slice(0, count);
  };
  const encodings = encodingsOf(length), apart = distances(encodings, relative ? [] : known.apart);
  const scores = {
    min_distance: minDistance(apart),
    max_norm: maxNorm(encodings),
    length_dependence: lengthDependence(encodings, encodingsOf(2 * length)),
    defined_fraction: Math.min(Math.max((last - length) / length, 0), 1),
    translation_residual: translationResidual(apart),
    monotonicity_violations: monotonicityViolations(apart),
    shift_residual: steps[name][dim / 2 - 1],
  };
  return { known, encodings, scores };
}

// Where the large picture stands, and below it the small ones with their verdicts.
function places(width) {
  const wide = width >= 600, left = wide ? 206 : width < 400 ? 142 : 164, thumb = wide ? 34 : 24, row = 18;
  const bottom = MAP + (wide ? 100 : 76), top = bottom + 36, first = top + thumb + (wide ? 22 : 72), last = first + PROPERTIES.length * row;
  return { wide, left, column: (width - left) / NAMES.length, bottom, top, thumb, first, row, last, height: last + row + 4 };
}

function compute({ scheme, length, dim }, width, previous, { steps }) {
  const known = previous?.dim === dim ? previous.gallery : {};
  const gallery = previous?.length === length && previous.dim === dim
    ? previous.gallery : Object.fromEntries(NAMES.map((name) => [name, encodingAndScores(name, length, dim, steps, known[name]?.known)]));
  const each = (map) => Object.fromEntries(NAMES.map((name) => [name, map(gallery[name].scores)]));
  const { encode, end } = ENCODINGS[scheme], last = Math.min(LONGEST, end(length, dim));
  const values = {
    encodings: encode(Array.from({ length: last }, (_, position) => position), length, dim),
    scores: each((scores) => scores),
    met: each((scores) => PROPERTIES.map((property) => isMet(property, scores[property], dim))),
  };
  const place = places(width);
  const axes = {
    position: cellAxis(LONGEST, 30, width - 10),
    dimension: cellAxis(dim, MAP, place.bottom),
    encoding: cellAxis(NAMES.length, place.left, width),
    property: cellAxis(PROPERTIES.length, place.first, place.last),
  };
  return { values, gallery, length, dim, place, axes };
}

// A picture's cells, positions across and dimensions down, empty where a position has no encoding.
function cellsOf(encodings, positions, dim) {
  const cells = new Float64Array(positions * dim).fill(NaN);
  for (let t = 0; t < Math.min(positions, encodings.length); t++) for (let i = 0, row = encodings[t]; i < dim; i++) cells[i * positions + t] = row[i];
  return cells;
}

const scaleOf = (scheme, positions) => (scheme === "integer" ? sequential(0, positions - 1) : diverging(1));

// All positions that have an encoding, those past the end of the sequence pale.
function drawMap({ context, width }, { values, axes, place }, { scheme, length, dim }, theme, cursor) {
  const { position: x, dimension: y } = axes, map = new HeatMap(context, theme, x, y), scale = scaleOf(scheme, LONGEST);
  map.fill(cellsOf(values.encodings, LONGEST, dim), scale);
  const step = [1, 2, 4, 8].find((size) => dim / size <= 4), stride = width < 400 ? 16 : 8, end = x.at(length - 0.5), defined = values.encodings.length;
  const ticks = (count, by) => Array.from({ length: Math.ceil(count / by) }, (_, k) => [k * by, String(k * by)]);
  map.labels({ xTicks: ticks(LONGEST, stride), yTicks: ticks(dim, step) });
  context.globalAlpha = 0.72;
  context.fillStyle = theme.ground;
  context.fillRect(end, y.start, x.end - end, y.end - y.start);
  context.globalAlpha = 1;
  const middle = (y.start + y.end) / 2, said = (text, from, to) => {
    if (to - from > widthOf(context, theme.font, text) + 8) words(context, theme, text, (from + to) / 2, middle, { align: "center", colour: theme.text, rim: true });
  };
  if (defined < length) said(picture.no_encoding, x.at(defined - 0.5), end);
  said(picture[defined > length ? "past" : "no_encoding"], end + 8, x.end);
  const name = nameOf(scheme), named = widthOf(context, `600 ${theme.font}`, name) + 10, bar = 60, from = x.end - bar - 22;
  words(context, theme, name, 0, 9, { colour: theme.text, bold: true });
  words(context, theme, [picture.map, picture.map_short, ""], named, 9, { width: from - named - 24 });
  colourBar(context, theme, scale, { left: Math.round(from), top: 4, width: bar, ticks: [] });
  words(context, theme, grouped(scale.from), from - 5, 9, { align: "right" });
  words(context, theme, grouped(scale.to), from + bar + 5, 9);
  context.strokeStyle = colours.position;
  context.lineWidth = 2;
  context.strokeRect(x.start - 1, y.start - 1, end - x.start + 2, y.end - y.start + 2);
  grip(context, theme, end, MAP - 10, colours.position);
  const ends = say(picture.end, { length }), before = end - 14 > widthOf(context, `600 ${theme.font}`, ends);
  words(context, theme, ends, before ? end - 14 : end + 14, MAP - 10, { align: before ? "right" : "left", colour: colours.position, bold: true });
  if (cursor !== null) map.outline(cursor.dimension, cursor.position);
}

// The chosen encoding's column, and what leads from it to the large picture.
function drawChoice({ context }, { axes: { position, dimension }, place }, theme, left, right) {
  const upper = place.top - 2, lower = place.last + place.row + 2;
  context.fillStyle = theme.muted;
  context.globalAlpha = 0.2;
  context.beginPath();
  for (const [x, y] of [[position.start, dimension.end + 24], [position.end, dimension.end + 24], [right, upper], [left, upper]]) context.lineTo(x, y);
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = theme.text;
  context.lineWidth = 2;
  context.strokeRect(left, upper, right - left, lower - upper);
}

function drawBoard(canvas, { values, gallery, axes, place }, { scheme, length, dim }, theme, cursor) {
  const { context } = canvas, { wide, left, column, top, thumb, row, last } = place, { property: y } = axes, shown = Math.min(SHOWN, length);
  const columns = NAMES.map((name, k) => ({ name, start: left + k * column + 2, end: left + (k + 1) * column - 2 }));
  const high = row - 3, large = sized(theme, 14);
  // All marks of one look in turn: a change of font costs more than a word.
  for (const fine of [true, false]) {
    const alike = columns.flatMap(({ name, start, end }) => PROPERTIES.map((_, r) => ({ start, end, r })).filter(({ r }) => values.met[name][r] === fine));
    context.globalAlpha = fine ? 0.26 : 0.07;
    context.fillStyle = fine ? colours.score : colours.neutral;
    for (const { start, end, r } of alike) context.fillRect(start, y.at(r) - high / 2, end - start, high);
    context.globalAlpha = 1;
    const mark = picture[fine ? "met" : "failed"];
    for (const { start, end, r } of alike) words(context, large, mark, (start + end) / 2, y.at(r) + 1, { align: "center", colour: fine ? theme.text : colours.bound, bold: true });
  }
  const counts = NAMES.map((name) => values.met[name].filter(Boolean).length), most = Math.max(...counts), small = sized(theme, wide ? 12 : 11);
  columns.forEach(({ name, start, end }, k) => {
    const map = new HeatMap(context, theme, cellAxis(shown, start, end), cellAxis(dim, top, top + thumb)), middle = (start + end) / 2;
    map.fill(cellsOf(gallery[name].encodings, shown, dim), scaleOf(name, LONGEST));
    context.save();
    context.translate(middle, top + thumb + (wide ? 11 : 3));
    if (!wide) context.rotate(-Math.PI / 2); // so that its name fits
    words(context, small, picture.columns[name], 0, 0, { align: wide ? "center" : "right", colour: theme.text });
    context.restore();
    if (counts[k] === most) {
      context.fillStyle = colours.score;
      context.fillRect(start, last + 1, end - start, row - 2);
    }
    words(context, large, String(counts[k]), middle, last + row / 2 + 1, { align: "center", colour: counts[k] === most ? theme.ground : theme.text, bold: true });
  });
  PROPERTIES.forEach((property, r) => words(context, theme, [properties[property].name, properties[property].short], 0, y.at(r) + 1, { colour: theme.text, width: left - 6 }));
  words(context, theme, say(picture[wide ? "count" : "count_short"], { properties: PROPERTIES.length }), 0, last + row / 2 + 1, { colour: theme.text, bold: true });
  words(context, theme, [picture.choose, picture.choose_short], 0, top + thumb / 2, { width: left - 6 });
  const chosen = columns.find(({ name }) => name === scheme);
  drawChoice(canvas, { axes, place }, theme, chosen.start - 1, chosen.end + 1);
  if (cursor !== null) new HeatMap(context, theme, axes.encoding, y).outline(cursor.property, cursor.encoding);
}

const onMap = ({ last }) => last === "position" || last === "dimension";

function draw(canvas, result, state, theme, cursor) {
  drawMap(canvas, result, state, theme, cursor && onMap(cursor) ? cursor : null);
  drawBoard(canvas, result, state, theme, cursor && !onMap(cursor) ? cursor : null);
}

function facts({ values, gallery }, { scheme, length }) {
  const encoded = gallery[scheme].encodings.length;
  const failed = PROPERTIES.filter((_, r) => !values.met[scheme][r]).map((property) => ({ name: properties[property].name }));
  return {
    encoding: nameOf(scheme), properties: PROPERTIES.length, met: PROPERTIES.length - failed.length, ends: encoded < length, last_encoded: encoded - 1, fails: failed.length > 0, failed,
  };
}

const scoreOf = (property, score) => say(inWords[properties[property].score], { score, percent: 100 * score });

function reading({ values }, { dim }, { position, dimension, encoding, property, last }) {
  const scheme = NAMES[encoding], key = PROPERTIES[property], row = values.encodings[position];
  return {
    on_map: onMap({ last }), encoded: row !== undefined, value: row?.[dimension], of_encoding: nameOf(scheme), ...properties[key],
    is_met: values.met[scheme][property], score: scoreOf(key, values.scores[scheme][key]), ideal: say(properties[key].ideal, { root: Math.sqrt(dim) }),
  };
}

function blocks({ values }, { scheme, dim }) {
  const rows = PROPERTIES.map((property, r) => {
    const { name, measured, ideal } = properties[property], mark = picture[values.met[scheme][r] ? "met" : "failed"];
    return [name, `${mark} ${scoreOf(property, values.scores[scheme][property])}`, say(ideal, { root: Math.sqrt(dim) }), measured];
  });
  return [table({ caption: say(catalogue.table.caption, { encoding: nameOf(scheme) }), columns: catalogue.table.columns, rows })];
}

// The end of the sequence is dragged.
const handles = ({ axes: { position: x, dimension: y } }, { length }) => [{
  name: "length", x: x.at(length - 0.5), y: MAP - 10, line: { vertical: true, from: MAP - 20, to: y.end }, drag: (px) => ({ length: x.nearest(x.invert(px) - 0.5) + 1 }),
}];

// A press on a column chooses its encoding.
function press(x, y, { place }) {
  if (x < place.left || y < place.top || y > place.last + place.row) return null;
  return { scheme: NAMES[Math.min(Math.floor((x - place.left) / place.column), NAMES.length - 1)] };
}

const panel = (across, down) => ({ axes }) => [{ left: axes[across].start, right: axes[across].end, top: axes[down].start, bottom: axes[down].end }];
const reader = (name, across, down) => ({ name, axis: ({ axes }) => axes[name], vertical: name === down, within: panel(across, down) });

const render = explorable({
  catalogue,
  readers: [
    reader("position", "position", "dimension"), reader("dimension", "position", "dimension"),
    reader("encoding", "encoding", "property"), reader("property", "encoding", "property"),
  ],
  height: (width) => places(width).height,
  compute, draw, facts, reading, blocks, press, handles,
  pixel: ({ axes }, position, dimension) => [axes.position.at(position), axes.dimension.at(dimension)],
});

export default { render };

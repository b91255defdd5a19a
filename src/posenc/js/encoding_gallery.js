import { dyadic, harmonic, integer, normalised, radixShares, sinusoidal } from "./arithmetic_encodings.js";
import { distances, lengthDependence, maxNorm, minDistance, monotonicityViolations, translationResidual } from "./arithmetic_properties.js";
import { table } from "./blocks.js";
import { colours, diverging, sequential } from "./colours.js";
import { HeatMap, cellAxis, colourBar, sized, widthOf, words } from "./drawing.js";
import catalogue from "./encoding_gallery.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture, scores: inWords, properties } = catalogue;
const SHOWN = 32; // positions in the small pictures
const ROUNDING = 1e-9;
const GAP = 18, BELOW = 40; // pixels above and below the large picture

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

// Where the small pictures, the verdicts below them and the large picture stand.
function places(width) {
  const wide = width >= 600, left = wide ? 206 : 108, thumb = wide ? 42 : 28, row = wide ? 20 : 22;
  const first = thumb + 25, last = first + PROPERTIES.length * row, map = last + row + 2 + GAP;
  return { wide, left, column: (width - left) / NAMES.length, top: 3, thumb, first, row, last, map, bottom: map + (wide ? 78 : 70) };
}

function compute({ scheme, length, dim }, width, previous, { steps }) {
  const known = previous?.dim === dim ? previous.gallery : {};
  const gallery = previous?.length === length && previous.dim === dim
    ? previous.gallery : Object.fromEntries(NAMES.map((name) => [name, encodingAndScores(name, length, dim, steps, known[name]?.known)]));
  const each = (map) => Object.fromEntries(NAMES.map((name) => [name, map(gallery[name].scores)]));
  const values = {
    encodings: gallery[scheme].encodings,
    scores: each((scores) => scores),
    met: each((scores) => PROPERTIES.map((property) => isMet(property, scores[property], dim))),
  };
  const place = places(width);
  const axes = {
    position: cellAxis(length, 30, width - 8),
    dimension: cellAxis(dim, place.map, place.bottom),
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

function drawMap({ context, width }, { values, axes, place }, { scheme, length, dim }, theme, cursor) {
  const { position: x, dimension: y } = axes, map = new HeatMap(context, theme, x, y), scale = scaleOf(scheme, length);
  map.fill(cellsOf(values.encodings, length, dim), scale);
  const step = [1, 2, 4, 8].find((size) => dim / size <= 4), stride = [4, 8, 16, 32].find((size) => length / size <= width / 50);
  const ticks = (count, by) => Array.from({ length: Math.ceil(count / by) }, (_, k) => [k * by, String(k * by)]);
  map.labels({ xTicks: ticks(length, stride), yTicks: ticks(dim, step) });
  const bar = place.wide ? 120 : 70, room = width - bar - 30, line = place.bottom + 28, name = nameOf(scheme), font = `600 ${theme.font}`;
  words(context, theme, name, 0, line, { colour: theme.text, bold: true, width: room });
  const named = widthOf(context, font, name) + 10;
  words(context, theme, [picture.map, picture.map_short, ""], named, line, { width: room - named });
  colourBar(context, theme, scale, { left: Math.round(x.end - bar), top: place.bottom + 19, width: bar });
  if (values.encodings.length < length) words(context, theme, picture.no_encoding, x.at((values.encodings.length + length) / 2), (y.start + y.end) / 2, { align: "center" });
  if (cursor !== null) map.outline(cursor.dimension, cursor.position);
}

// The chosen encoding's column, and lines from it to the large picture.
function drawChoice({ context }, { axes, place }, theme, left, right) {
  const { position, dimension } = axes, upper = place.top - 2, lower = place.last + place.row + 2;
  context.strokeStyle = theme.text;
  context.lineWidth = 1;
  for (const [from, to] of [[left, position.start], [right, position.end]]) {
    context.beginPath();
    context.moveTo(from, lower);
    context.lineTo(to, dimension.start - 1);
    context.stroke();
  }
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
    context.globalAlpha = fine ? 0.4 : 0.1;
    context.fillStyle = fine ? colours.score : colours.neutral;
    for (const { start, end, r } of alike) context.fillRect(start, y.at(r) - high / 2, end - start, high);
    context.globalAlpha = 1;
    const mark = picture[fine ? "met" : "failed"];
    for (const { start, end, r } of alike) words(context, large, mark, (start + end) / 2, y.at(r) + 1, { align: "center", colour: fine ? theme.text : colours.bound, bold: true });
  }
  const counts = NAMES.map((name) => values.met[name].filter(Boolean).length), most = Math.max(...counts), small = sized(theme, wide ? 12 : 11);
  columns.forEach(({ name, start, end }, k) => {
    const map = new HeatMap(context, theme, cellAxis(shown, start, end), cellAxis(dim, top, top + thumb)), middle = (start + end) / 2;
    map.fill(cellsOf(gallery[name].encodings, shown, dim), scaleOf(name, shown));
    words(context, small, picture.columns[name], middle, top + thumb + 11, { align: "center", colour: theme.text, bold: wide && name === scheme, width: end - start + 3 });
    if (counts[k] === most) {
      context.fillStyle = colours.score;
      context.fillRect(start, last + 1, end - start, row - 2);
    }
    words(context, large, String(counts[k]), middle, last + row / 2 + 1, { align: "center", colour: counts[k] === most ? theme.ground : theme.text, bold: true });
  });
  PROPERTIES.forEach((property, r) => words(context, theme, [properties[property].name, properties[property].short], 0, y.at(r) + 1, { colour: theme.text, width: left - 6 }));
  words(context, theme, say(picture[wide ? "count" : "count_short"], { properties: PROPERTIES.length }), 0, last + row / 2 + 1, { colour: theme.text, bold: true });
  if (wide) words(context, theme, say(picture.small, { shown }), 0, top + thumb / 2, { width: left - 6 });
  const chosen = columns.find(({ name }) => name === scheme);
  drawChoice(canvas, { axes, place }, theme, chosen.start - 1, chosen.end + 1);
  if (cursor !== null) new HeatMap(context, theme, axes.encoding, y).outline(cursor.property, cursor.encoding);
}

const onMap = ({ last }) => last === "position" || last === "dimension";

function draw(canvas, result, state, theme, cursor) {
  drawMap(canvas, result, state, theme, cursor && onMap(cursor) ? cursor : null);
  drawBoard(canvas, result, state, theme, cursor && !onMap(cursor) ? cursor : null);
}

function facts({ values }, { scheme, length }) {
  const scores = values.scores[scheme], encoded = values.encodings.length;
  const failed = PROPERTIES.filter((_, r) => !values.met[scheme][r]).map((property) => ({ property, score: scores[property], percent: 100 * scores[property] }));
  return {
    encoding: nameOf(scheme), properties: PROPERTIES.length, met: PROPERTIES.length - failed.length, ends: encoded < length, last_encoded: encoded - 1,
    fails: failed.length > 0, failed, max_norm: scores.max_norm, variation: 100 * scores.translation_residual, violations: 100 * scores.monotonicity_violations,
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

// A press on a column chooses its encoding.
function press(x, y, { place }) {
  if (x < place.left || y > place.last + place.row) return null;
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
  height: (width) => places(width).bottom + BELOW + 4,
  compute, draw, facts, reading, blocks, press,
  pixel: ({ axes }, position, dimension) => [axes.position.at(position), axes.dimension.at(dimension)],
});

export default { render };

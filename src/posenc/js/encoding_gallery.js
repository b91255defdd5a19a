import { dyadic, harmonic, integer, normalised, radixShares, sinusoidal } from "./arithmetic_encodings.js";
import { distances, lengthDependence, maxNorm, minDistance, monotonicityViolations, translationResidual } from "./arithmetic_properties.js";
import { table } from "./blocks.js";
import { colours, diverging, sequential, tint } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, colourBar, grip, widthOf, words } from "./drawing.js";
import catalogue from "./encoding_gallery.json";
import { explorable } from "./explorable.js";
import { fixed, grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, scores: inWords, properties } = catalogue;
const SHOWN = 32, LONGEST = 96; // positions in the small pictures and in the large one, as in Python
const ROUNDING = 1e-9;
const MAP = 24; // pixels above the large picture
const ROW = 16, MISSED = 4; // of the list of the properties that are not met: at most so many at any setting

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
const NAMES = Object.keys(ENCODINGS), BOUNDED = NAMES.filter((name) => name !== "integer"), PROPERTIES = Object.keys(properties);
const nameOf = (scheme) => catalogue.controls.scheme.options[scheme];

// Whether a score is what the property asks for; where nothing else is said, it asks for 0.
const MET = {
  min_distance: (score) => score > ROUNDING,
  max_norm: (score, dim) => score <= Math.sqrt(dim) + ROUNDING,
  defined_fraction: (score) => score === 1,
};
const isMet = (property, score, dim) => (MET[property] ?? ((value) => value <= ROUNDING))(score, dim);

const isOff = (distance, average) => Math.abs(distance - average) > ROUNDING * average;
const upTo = (count) => Array.from({ length: count }, (_, position) => position);

// One encoding: of every position on the page that has one, how far apart they are, and its scores in the sequence, up to the
// first position without one. `known` is the same at another length.
function measured(name, length, dim, steps, known) {
  const { encode, end, relative } = ENCODINGS[name], last = end(length, dim), count = Math.min(length, last);
  const kept = relative ? undefined : known, shown = kept?.shown ?? encode(upTo(Math.min(LONGEST, last)), length, dim), apart = kept?.apart ?? distances(shown);
  const encodings = shown.slice(0, count), within = apart.slice(0, count);
  const scores = {
    min_distance: minDistance(within),
    max_norm: maxNorm(encodings),
    length_dependence: lengthDependence(encodings, relative ? encode(upTo(count), 2 * length, dim) : encodings),
    defined_fraction: Math.min(Math.max((last - length) / length, 0), 1),
    translation_residual: translationResidual(within),
    monotonicity_violations: monotonicityViolations(within),
    shift_residual: steps[name][dim / 2 - 1],
  };
  const most = kept?.most ?? Math.max(...apart.flatMap((row) => Array.from(row)), 0);
  return { shown, apart, most, scores };
}

// The distances of all encodings from that of one position, if it has one.
const distancesFrom = ({ shown, apart }, position) => (
  position < shown.length ? shown.map((_, n) => (n === position ? 0 : apart[Math.max(n, position)][Math.min(n, position)])) : []
);

// The mean distance of all positions so far apart as each is from m.
function averagesFrom({ shown, apart }, position) {
  const means = shown.map((_, k) => apart.slice(k).reduce((sum, row, n) => sum + (k ? row[n] : 0), 0) / (shown.length - k));
  return position < shown.length ? shown.map((_, n) => means[Math.abs(n - position)]) : [];
}

// The large picture and the bars below it, the small pictures, and the list of the properties that are not met.
function places(width) {
  const wide = width >= 600, [each, lists] = width >= 480 ? [NAMES.length, 2] : [4, 1], bottom = MAP + (wide ? 112 : 74), zero = bottom + (wide ? 122 : 98);
  const choose = zero + (wide ? 42 : 30), thumb = wide ? 42 : 28, high = thumb + (wide ? 24 : 18), column = width / each;
  const thumbs = NAMES.map((name, k) => {
    const left = (k % each) * column, top = choose + 12 + Math.floor(k / each) * high;
    return { name, left, right: left + column, top, bottom: top + high };
  });
  const listed = thumbs.at(-1).bottom + 9, first = listed + 9, rows = MISSED / lists;
  const list = upTo(MISSED).map((k) => ({ left: (Math.floor(k / rows) * width) / lists, top: first + (k % rows) * ROW }));
  return { bottom, bars: { top: bottom + 22, bottom: zero }, choose, thumb, thumbs, listed, list, last: first + rows * ROW, across: width / lists };
}

function compute({ scheme, length, dim, m }, width, previous, { steps }) {
  const gallery = previous?.length === length && previous.dim === dim
    ? previous.gallery : Object.fromEntries(NAMES.map((name) => [name, measured(name, length, dim, steps, previous?.dim === dim ? previous.gallery[name] : undefined)]));
  const each = (map) => Object.fromEntries(NAMES.map((name) => [name, map(gallery[name])]));
  const one = gallery[scheme], most = Math.max(...(BOUNDED.includes(scheme) ? BOUNDED : [scheme]).map((name) => gallery[name].most));
  const values = {
    encodings: one.shown,
    distances: distancesFrom(one, m),
    averages: averagesFrom(one, m),
    scores: each(({ scores }) => scores),
    met: each(({ scores }) => PROPERTIES.map((property) => isMet(property, scores[property], dim))),
  };
  const place = places(width);
  const axes = {
    position: cellAxis(LONGEST, 30, width - 10),
    dimension: cellAxis(dim, MAP, place.bottom),
  };
  return { values, gallery, most, length, dim, place, axes };
}

// A picture's cells, positions across and dimensions down, empty where a position has no encoding.
function cellsOf(encodings, positions, dim) {
  const cells = new Float64Array(positions * dim).fill(NaN);
  for (let t = 0; t < Math.min(positions, encodings.length); t++) for (let i = 0, row = encodings[t]; i < dim; i++) cells[i * positions + t] = row[i];
  return cells;
}

const scaleOf = (scheme, positions) => (scheme === "integer" ? sequential(0, positions - 1) : diverging(1));

function drawMap({ context, width }, { values, most, axes, place }, { scheme, length, dim, m }, theme, cursor) {
  const { position: x, dimension: y } = axes, { bars } = place, map = new HeatMap(context, theme, x, y), scale = scaleOf(scheme, LONGEST);
  map.fill(cellsOf(values.encodings, LONGEST, dim), scale);
  const step = [1, 2, 4, 8].find((size) => dim / size <= 4), defined = values.encodings.length;
  map.labels({ yTicks: upTo(Math.ceil(dim / step)).map((k) => [k * step, String(k * step)]) });
  if (defined < LONGEST) {
    const from = x.at(defined - 0.5), texts = picture.no_encoding.map((text) => say(text, { defined }));
    words(context, theme, texts, (from + x.end) / 2, y.start + 14, { align: "center", width: x.end - from - 8 });
  }
  const name = nameOf(scheme), named = widthOf(context, `600 ${theme.font}`, name) + 10, legend = 60, from = x.end - legend - 22;
  words(context, theme, name, 0, 9, { colour: theme.text, bold: true });
  words(context, theme, [picture.map, picture.map_short, ""], named, 9, { width: from - named - 24 });
  colourBar(context, theme, scale, { left: Math.round(from), top: 4, width: legend, ticks: [] });
  words(context, theme, grouped(scale.from), from - 5, 9, { align: "right" });
  words(context, theme, grouped(scale.to), from + legend + 5, 9);
  if (ENCODINGS[scheme].relative) grip(context, theme, x.at(length - 0.5), (y.start + y.end) / 2, theme.text);
  // the distances from m, and what they are on average so far apart
  const cell = x.at(1) - x.at(0), at = x.at(m), up = new Axis({ from: 0, to: most, start: bars.bottom, end: bars.top }), plot = new Plot(context, theme, x, up);
  const bar = (n, from, to, colour) => {
    context.fillStyle = colour;
    context.fillRect(x.at(n - 0.5), up.at(to), cell - (cell > 5 ? 1 : 0), up.at(from) - up.at(to));
  };
  values.distances.forEach((distance, n) => {
    const average = values.averages[n];
    bar(n, 0, Math.min(distance, average), colours.score);
    if (isOff(distance, average)) bar(n, Math.min(distance, average), Math.max(distance, average), colours.bound);
  });
  plot.line(values.averages.flatMap((average, n) => [[n - 0.5, average], [n + 0.5, average]]), theme.text, { width: 1.5 });
  words(context, theme, fixed(most, most < 100 ? 1 : 0), x.start - 6, bars.top + 4, { align: "right" });
  words(context, theme, "0", x.start - 6, bars.bottom - 4, { align: "right" });
  words(context, theme, m < defined ? picture[BOUNDED.includes(scheme) ? "bars" : "grows"] : say(picture.no_bars, { m }), x.start, y.end + 12, { colour: theme.text, width: x.end - x.start });
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  context.strokeRect(x.start - 0.5, bars.bottom + 0.5, x.end - x.start + 1, 0);
  const said = say(picture.position, { m }), wide = widthOf(context, `600 ${theme.font}`, said), right = at + 14 + wide < x.end;
  const [from_m, to_m] = right ? [at - 14, at + 18 + wide] : [at - 18 - wide, at + 14];
  for (let n = 0; n < LONGEST; n += width < 400 ? 16 : 8) {
    const tick = x.at(n), half = widthOf(context, theme.font, String(n)) / 2 + 3;
    if (tick + half < from_m || tick - half > to_m) words(context, theme, String(n), tick, bars.bottom + 12, { align: "center" });
  }
  context.strokeStyle = colours.position;
  context.lineWidth = 2;
  context.strokeRect(at - cell / 2 - 1, y.start - 1, cell + 2, y.end - y.start + 2);
  context.strokeRect(at, y.end + 22, 0, bars.bottom + 4 - y.end - 22);
  grip(context, theme, at, bars.bottom + 12, colours.position);
  words(context, theme, said, right ? at + 13 : at - 13, bars.bottom + 12, { align: right ? "left" : "right", colour: colours.position, bold: true });
  if (cursor) map.outline(cursor.dimension, cursor.position);
}

// The encodings to choose from, and which properties the chosen one lacks.
function drawBoard({ context, width }, { values: { met }, gallery, dim, place }, { scheme }, theme) {
  const { choose, thumb, thumbs, listed, list, across } = place, missed = PROPERTIES.filter((_, k) => !met[scheme][k]), all = PROPERTIES.length, countOf = (name) => met[name].filter(Boolean).length;
  words(context, theme, picture.choose, 0, choose, { colour: theme.text, bold: true });
  for (const { name, left, right, top } of thumbs) {
    const chosen = name === scheme, start = left + 3, end = right - 3;
    new HeatMap(context, theme, cellAxis(SHOWN, start, end), cellAxis(dim, top, top + thumb)).fill(cellsOf(gallery[name].shown, SHOWN, dim), scaleOf(name, LONGEST));
    words(context, theme, picture.thumb.map((text) => say(text, { encoding: nameOf(name), count: countOf(name), all })), (start + end) / 2, top + thumb + 10, { align: "center", colour: theme.text, bold: chosen, width: right - left - 2 });
    if (!chosen) continue;
    context.strokeStyle = theme.text;
    context.lineWidth = 2;
    context.strokeRect(start - 2, top - 2, end - start + 4, thumb + 4);
  }
  words(context, theme, say(picture.listed, { encoding: nameOf(scheme), count: countOf(scheme), all }), 0, listed, { colour: theme.text, bold: true, width });
  const longest = Math.max(...PROPERTIES.map((property) => widthOf(context, `600 ${theme.font}`, properties[property].name)));
  missed.forEach((property, k) => {
    const { name, means } = properties[property], { left, top } = list[k], y = top + ROW / 2, start = left + 18, end = left + across - 4;
    words(context, theme, picture.failed, left + 8, y, { align: "center", colour: tint(colours.bound, theme), bold: true });
    words(context, theme, name, start, y, { colour: theme.text, bold: true, width: end - start });
    words(context, theme, [means, ""], start + longest + 10, y, { width: end - start - longest - 10 });
  });
}

function draw(canvas, result, state, theme, cursor) {
  drawMap(canvas, result, state, theme, cursor);
  drawBoard(canvas, result, state, theme);
}

const facts = ({ values: { encodings } }, { length }) => ({ ends: encodings.length < length, last_encoded: encodings.length - 1 });

const scoreOf = (property, score) => say(inWords[properties[property].score], { score, percent: 100 * score });

function reading({ values }, state, { position, dimension }) {
  const far = values.distances[position];
  return { encoded: position < values.encodings.length, value: values.encodings[position]?.[dimension], has_far: far !== undefined, far };
}

function blocks({ values }, { scheme, dim }) {
  const rows = PROPERTIES.map((property, r) => {
    const { name, measured, ideal } = properties[property], mark = picture[values.met[scheme][r] ? "met" : "failed"];
    return [name, `${mark} ${scoreOf(property, values.scores[scheme][property])}`, say(ideal, { root: Math.sqrt(dim) }), measured];
  });
  return [table({ caption: say(catalogue.table.caption, { encoding: nameOf(scheme) }), columns: catalogue.table.columns, rows })];
}

// Position m is dragged, and the end of the sequence where it changes the encodings.
const handles = ({ axes: { position: x, dimension: y }, place: { bars } }, { scheme, length, m }) => [
  { name: "m", x: x.at(m), y: bars.bottom + 12, line: { vertical: true, from: y.start, to: bars.bottom + 22 }, drag: (px) => ({ m: x.nearest(x.invert(px)) }) },
  ...(ENCODINGS[scheme].relative ? [{ name: "length", x: x.at(length - 0.5), y: (y.start + y.end) / 2, along: "x", drag: (px) => ({ length: x.nearest(x.invert(px) - 0.5) + 1 }) }] : []),
];

const inside = (px, py) => ({ left, right, top, bottom }) => px >= left && px < right && py >= top && py <= bottom;

// A press on a small picture chooses its encoding; one on the large picture, m.
function press(px, py, { place, axes: { position: x, dimension: y } }) {
  if (px >= x.start && px <= x.end && py >= y.start && py <= place.bars.bottom) return { m: x.nearest(x.invert(px)) };
  const thumb = place.thumbs.find(inside(px, py));
  return thumb ? { scheme: thumb.name } : null;
}

const panel = (across, down) => ({ axes }) => [{ left: axes[across].start, right: axes[across].end, top: axes[down].start, bottom: axes[down].end }];
const onBars = ({ axes: { position: x }, place: { bars } }) => [{ left: x.start, right: x.end, top: bars.top, bottom: bars.bottom }];
const reader = (name, across, down) => ({ name, axis: ({ axes }) => axes[name], vertical: name === down, within: panel(across, down) });

const render = explorable({
  catalogue,
  readers: [
    { ...reader("position", "position", "dimension"), within: (result) => [...panel("position", "dimension")(result), ...onBars(result)] },
    reader("dimension", "position", "dimension"),
  ],
  height: (width) => places(width).last + 2,
  opening: (share, { m }) => ({ m: Math.round(LONGEST - 1 + share * (m - LONGEST + 1)) }), // m moves in from the end
  compute, draw, facts, reading, blocks, press, handles,
  pixel: ({ axes }, position, dimension) => [axes.position.at(position), axes.dimension.at(dimension)],
});

export default { render };

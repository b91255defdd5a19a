import { dyadic, harmonic, integer, normalised, radixShares, sinusoidal } from "./arithmetic_codes.js";
import { distances, greatestNorm, leastDistance, lengthDependence, monotonicityViolations, translationResidual } from "./arithmetic_wishes.js";
import { table } from "./blocks.js";
import { colours, diverging, sequential } from "./colours.js";
import { HeatMap, cellAxis, colourBar, words } from "./drawing.js";
import catalogue from "./encoding_gallery.json";
import { explorable } from "./explorable.js";
import { fixed, grouped } from "./numbers.js";

const MAP = 150; // pixels for the table, and for a small picture of each code
const THUMB = 40;
const SHOWN = 32; // positions in the small pictures
const ROUNDING = 1e-9;

// For each code: what the list shows, names for its column, the codes of positions, the first position without one, and whether
// the length of the text changes them.
const never = () => Infinity;
const CODES = {
  integer: { label: "integer", names: ["integer", "int"], code: (at, length, dim) => integer(at, dim), end: never },
  normalised: { label: "normalised", names: ["normalised", "norm"], code: normalised, end: (length) => length, relative: true },
  binary: { label: "binary", names: ["binary", "bin"], code: (at, length, dim) => radixShares(at, dim, 2), end: (length, dim) => 2 ** dim },
  radix: { label: "decimal digits (radix 10)", names: ["radix 10", "dec"], code: (at, length, dim) => radixShares(at, dim, 10), end: (length, dim) => 10 ** dim },
  harmonic: { label: "harmonic sines", names: ["harmonic", "harm"], code: (at, length, dim) => harmonic(at, dim), end: never },
  dyadic: { label: "dyadic sines", names: ["dyadic", "dyad"], code: (at, length, dim) => dyadic(at, dim), end: never },
  sinusoidal: { label: "sinusoidal", names: ["sinusoidal", "sin"], code: (at, length, dim) => sinusoidal(at, dim, 1e4), end: never },
};
const NAMES = Object.keys(CODES);

const percent = (share, digits) => `${fixed(100 * share, share > ROUNDING ? digits : 0)} %`;
const plain = (value) => (value <= ROUNDING ? "0" : value >= 100 ? fixed(value, 0) : fixed(value, value < 0.1 ? 3 : 2));

// For each wish: its name, what is measured, the ideal, the score as text, and what fails where it is not kept.
const WISHES = {
  least_distance: {
    name: "no two codes alike", measured: "least distance of two codes", ideal: () => "above 0", text: plain,
    fails: () => "two positions share a code", kept: (score) => score > ROUNDING,
  },
  greatest_norm: {
    name: "numbers stay small", measured: "length of the longest code", ideal: (dim) => `up to √d = ${plain(Math.sqrt(dim))}`, text: plain,
    fails: (score) => `the longest code measures ${grouped(score)}`, kept: (score, dim) => score <= Math.sqrt(dim) + ROUNDING,
  },
  length_dependence: {
    name: "same in a longer text", measured: "change of a code in a text twice as long", ideal: () => "0", text: plain,
    fails: (score) => `in a text twice as long a code changes by up to ${grouped(score)}`,
  },
  defined_share: {
    name: "goes on past the text", measured: "codes for as many positions more", ideal: () => "100 %", text: (score) => percent(score, 0),
    fails: (score) => `${percent(score, 0)} of the next positions have a code`, kept: (score) => score === 1,
  },
  translation_residual: {
    name: "equal distances look equal", measured: "spread of a distance from place to place", ideal: () => "0 %", text: (score) => percent(score, 1),
    fails: (score) => `one distance differs from place to place, by ${percent(score, 1)}`,
  },
  monotonicity_violations: {
    name: "farther looks farther", measured: "farther of two that looks nearer", ideal: () => "0 %", text: (score) => percent(score, 1),
    fails: (score) => `${percent(score, 1)} of the time the farther of two looks nearer`,
  },
  shift_residual: {
    name: "one matrix makes a step", measured: "left by the best matrix (256 positions)", ideal: () => "0", text: plain,
    fails: (score) => `no matrix makes one step, the best leaves ${fixed(score, 3)}`,
  },
};
const KEYS = Object.keys(WISHES);
const isKept = (wish, score, dim) => (WISHES[wish].kept ?? ((value) => value <= ROUNDING))(score, dim);

// The codes of a text, up to the first position that has none, and their scores. `known` keeps the codes and distances that
// a text of another length shares with this one.
function codeAndScores(name, length, dim, steps, known = { codes: [], apart: [] }) {
  const { code, end, relative } = CODES[name], last = end(length, dim), count = Math.min(length, last);
  const codesOf = (length) => {
    const from = relative ? 0 : known.codes.length;
    const added = code(Array.from({ length: Math.max(0, count - from) }, (_, k) => from + k), length, dim);
    if (relative) return added;
    known.codes.push(...added);
    return known.codes.slice(0, count);
  };
  const codes = codesOf(length), apart = distances(codes, relative ? [] : known.apart);
  const scores = {
    least_distance: leastDistance(apart),
    greatest_norm: greatestNorm(codes),
    length_dependence: lengthDependence(codes, codesOf(2 * length)),
    defined_share: Math.min(Math.max((last - length) / length, 0), 1),
    translation_residual: translationResidual(apart),
    monotonicity_violations: monotonicityViolations(apart),
    shift_residual: steps[name][dim / 2 - 1],
  };
  return { known, codes, scores };
}

function compute({ scheme, length, dim }, width, previous, { steps }) {
  const known = previous?.dim === dim ? previous.gallery : {};
  const gallery = previous?.length === length && previous.dim === dim
    ? previous.gallery : Object.fromEntries(NAMES.map((name) => [name, codeAndScores(name, length, dim, steps, known[name]?.known)]));
  const each = (map) => Object.fromEntries(NAMES.map((name) => [name, map(gallery[name].scores)]));
  const values = {
    codes: gallery[scheme].codes,
    scores: each((scores) => scores),
    kept: each((scores) => KEYS.map((wish) => isKept(wish, scores[wish], dim))),
  };
  const axes = { position: cellAxis(length, 46, width - 10), dimension: cellAxis(dim, 26, 26 + MAP) };
  return { values, gallery, length, dim, axes };
}

// Where the small pictures and the verdicts stand: names of wishes at their left, or above each row on a phone.
function board(width) {
  const wide = width >= 600, left = wide ? 222 : 0, row = wide ? 24 : 38;
  return { wide, left, row, column: (width - left) / NAMES.length, top: MAP + 106, first: MAP + 106 + THUMB + 26 };
}

// A picture's cells, positions across and dimensions down, empty where a position has no code.
function cellsOf(codes, positions, dim) {
  const cells = new Float64Array(positions * dim).fill(NaN);
  for (let t = 0; t < Math.min(positions, codes.length); t++) for (let i = 0, row = codes[t]; i < dim; i++) cells[i * positions + t] = row[i];
  return cells;
}

function drawMap({ context, width }, { values, axes }, { scheme, length, dim }, theme, cursor) {
  const { position: x, dimension: y } = axes, map = new HeatMap(context, theme, x, y);
  const scale = scheme === "integer" ? sequential(0, length - 1) : diverging(1);
  map.fill(cellsOf(values.codes, length, dim), scale);
  const step = [1, 2, 4].find((size) => dim / size <= 8), stride = [4, 8, 16, 32].find((size) => length / size <= width / 50);
  const ticks = (count, by) => Array.from({ length: Math.ceil(count / by) }, (_, k) => [k * by, String(k * by)]);
  map.labels({ xTitle: "position", yTitle: `${CODES[scheme].label}: dimension of the code`, xTicks: ticks(length, stride), yTicks: ticks(dim, step) });
  colourBar(context, theme, scale, { left: x.start, top: y.end + 26, width: 120 });
  if (values.codes.length < length) words(context, theme, "no code", x.at((values.codes.length + length) / 2), (y.start + y.end) / 2, { align: "center" });
  if (cursor !== null) map.outline(cursor.dimension, cursor.position);
}

function frame(context, theme, left, top, right, bottom) {
  context.strokeStyle = theme.text;
  context.lineWidth = 2;
  context.strokeRect(left, top, right - left, bottom - top);
}

function drawBoard({ context, width }, { values, gallery }, { scheme, length, dim }, theme) {
  const { wide, left, row, column, top, first } = board(width), shown = Math.min(SHOWN, length);
  const columns = NAMES.map((name, k) => ({ name, start: left + k * column + 3, end: left + (k + 1) * column - 3 }));
  const upper = (r) => first + r * row + (wide ? 0 : 16);
  // All marks of one look in turn: a change of font costs more than a word.
  for (const fine of [true, false]) {
    const alike = columns.flatMap((place) => KEYS.map((wish, r) => ({ ...place, wish, r })).filter(({ name, r }) => values.kept[name][r] === fine));
    context.globalAlpha = fine ? 0.3 : 0.16;
    context.fillStyle = fine ? colours.score : colours.neutral;
    for (const { start, end, r } of alike) context.fillRect(start, upper(r), end - start, 20);
    context.globalAlpha = 1;
    for (const { name, start, end, wish, r } of alike) {
      const mark = `${fine ? "✓" : "✗"}${wide ? ` ${WISHES[wish].text(values.scores[name][wish])}` : ""}`;
      words(context, theme, mark, (start + end) / 2, upper(r) + 10, { align: "center", colour: theme.text, bold: fine });
    }
  }
  for (const { name, start, end } of columns) {
    const chosen = name === scheme, map = new HeatMap(context, theme, cellAxis(shown, start, end), cellAxis(dim, top, top + THUMB));
    map.fill(cellsOf(gallery[name].codes, shown, dim), name === "integer" ? sequential(0, shown - 1) : diverging(1));
    words(context, theme, CODES[name].names, (start + end) / 2, top + THUMB + 12, { align: "center", colour: theme.text, bold: chosen, width: end - start + 4 });
    if (!chosen) continue;
    frame(context, theme, start - 2, top - 3, end + 2, wide ? first + KEYS.length * row : top + THUMB + 22);
    if (!wide) KEYS.forEach((_, r) => frame(context, theme, start, upper(r), end, upper(r) + 20));
  }
  KEYS.forEach((wish, r) => words(context, theme, WISHES[wish].name, 0, first + r * row + (wide ? 10 : 7), { colour: theme.text }));
  if (wide) words(context, theme, `all codes, first ${shown} positions`, 0, top + THUMB / 2);
}

function draw(canvas, result, state, theme, cursor) {
  drawMap(canvas, result, state, theme, cursor);
  drawBoard(canvas, result, state, theme);
}

function finding({ values }, { scheme, length }) {
  const verdicts = values.kept[scheme], coded = values.codes.length;
  const failed = KEYS.filter((_, r) => !verdicts[r]).map((wish) => WISHES[wish].fails(values.scores[scheme][wish]));
  return `Code: ${CODES[scheme].label}. It keeps ${KEYS.length - failed.length} of ${KEYS.length} wishes.`
    + (coded === length ? "" : ` Its digits end at position ${coded - 1}.`)
    + (failed.length ? ` What fails: ${failed.join("; ")}.` : "");
}

function readout({ values }, state, { position, dimension }) {
  const row = values.codes[position];
  return `position ${position}, dimension ${dimension}: ${row ? grouped(row[dimension]) : "no code"}`;
}

function blocks({ values }, { scheme, dim }) {
  const rows = KEYS.map((wish, r) => {
    const { name, measured, ideal, text } = WISHES[wish];
    return [name, `${values.kept[scheme][r] ? "✓" : "✗"} ${text(values.scores[scheme][wish])}`, ideal(dim), measured];
  });
  return [table({ caption: `Scores: ${CODES[scheme].label}`, columns: ["wish", "score", "wished", "what is measured"], rows })];
}

const within = ({ axes }) => [{ left: axes.position.start, right: axes.position.end, top: axes.dimension.start, bottom: axes.dimension.end }];

const render = explorable({
  catalogue,
  readers: [
    { name: "position", axis: ({ axes }) => axes.position, within },
    { name: "dimension", axis: ({ axes }) => axes.dimension, vertical: true, within },
  ],
  height: (width) => board(width).first + KEYS.length * board(width).row + 8,
  compute, draw, finding, readout, blocks,
  pixel: ({ axes }, position, dimension) => [axes.position.at(position), axes.dimension.at(dimension)],
});

export default { render };

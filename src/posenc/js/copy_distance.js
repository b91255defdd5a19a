import { colours, sequential } from "./colours.js";
import { Axis, HeatMap, Plot, cellAxis, widthOf, words } from "./drawing.js";
import catalogue from "./copy_distance.json";
import { explorable } from "./explorable.js";
import { fixed, formatInteger } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const TRAINED = 128, LENGTHS = [128, 256, 512, 1024], DISTANCES = [16, 32, 64, 96, 192, 384, 768]; // as in Python
const RATE = 1.5e-3, BLOCK = 32, EDGES = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];
const RIGHT = sequential(0, 1.25); // pale enough for the numbers in the cells

function compute({ training, base, scaling, fine_tuning: steps }, width, previous, { models }) {
  const { accuracy, tuned, head, trained, scaled } = models[`${training} ${base}`], stages = steps === "0" ? undefined : tuned[scaling];
  const values = {
    accuracy: stages ? stages[steps] : accuracy[scaling], before: stages ? stages["0"] : null, as_trained: accuracy.default,
    trained_bands: trained.bands, bands: scaled[scaling].bands, trained_at: trained.at, at: scaled[scaling].at, head,
  };
  return { values, ...places(width) };
}

function places(width) {
  const wide = width >= 600, left = wide ? 92 : 40, top = wide ? 44 : 46, row = wide ? 36 : 32, bottom = top + row * LENGTHS.length;
  const bars = bottom + (wide ? 76 : 84), low = bars + (wide ? 84 : 70);
  return {
    wide, height: low + 40,
    columns: cellAxis(DISTANCES.length, left, width - 6), rows: cellAxis(LENGTHS.length, top, bottom),
    bands: cellAxis(EDGES.length - 1, wide ? 46 : 30, width - 6), bars: { top: bars, bottom: low },
  };
}

function drawAccuracy({ context, width }, { values, columns, rows, wide }, state, theme, cursor) {
  const map = new HeatMap(context, theme, columns, rows);
  const tuned = values.before !== null;
  words(context, theme, (tuned ? picture.tuned : picture.accuracy).map((text) => say(text, state)), 0, 9, { colour: theme.text, bold: true, width });
  const second = rows.start - 24 + (wide ? 2 : 4), left = columns.end - widthOf(context, theme.font, picture.distance);
  words(context, theme, picture.distance, columns.end, second, { align: "right" });
  words(context, theme, picture.trained.map((text) => say(text, { trained: TRAINED })), 0, second, { width: left - 12 });
  map.fill(values.accuracy.flat().map((share) => share ?? NaN), RIGHT);
  DISTANCES.forEach((distance, k) => words(context, theme, String(distance), columns.at(k), rows.start - 8, { align: "center", colour: colours.key, bold: true }));
  LENGTHS.forEach((length, r) => {
    const times = length / TRAINED;
    words(context, theme, wide ? `${say(picture.row[0], { times })} = ${formatInteger(length)}` : say(picture.row[1], { times }), columns.start - 8, rows.at(r), { align: "right", colour: colours.query, bold: true });
    values.accuracy[r].forEach((share, k) => {
      const before = wide && tuned ? values.before[r][k] : null;
      const text = share === null ? picture.none : before === null ? fixed(100 * share, 0) : say(picture.change, { before: 100 * before, after: 100 * share });
      words(context, theme, text, columns.at(k), rows.at(r) + 1, { align: "center", colour: theme.text });
    });
  });
  // what lies past the trained length stands below a line, as is said above
  context.strokeStyle = colours.bound;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(0, rows.at(0.5));
  context.lineTo(columns.end, rows.at(0.5));
  context.stroke();
  map.outline(LENGTHS.indexOf(state.length), DISTANCES.indexOf(Number(state.distance)));
  if (cursor !== null) map.outline(cursor.row, cursor.column);
}

// Attention weights by band of distance: in front as scaled, behind it as trained.
function drawAttention({ context, width }, { values, bands, bars }, state, theme) {
  const y = new Axis({ from: 0, to: 1, start: bars.bottom, end: bars.top }), plot = new Plot(context, theme, bands, y), step = bands.at(1) - bands.at(0);
  const repeated = state.training === "repeated_copy";
  words(context, theme, picture.attention.map((text) => say(text, { repeated, tuned: values.before !== null })), 0, bars.top - 36, { colour: theme.text, bold: true, width });
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  const places = Array.from({ length: repeated ? EDGES.at(-1) / BLOCK : 1 }, (_, k) => (k + 1) * BLOCK - 1);
  for (const right of new Set(places.map((place) => EDGES.findIndex((edge) => edge > place) - 1))) plot.ground(right - 0.5, right + 0.5, colours.key, 0.15);
  values.bands.forEach((share, k) => plot.bar(bands.at(k), 0.78 * step, share, colours.score));
  values.trained_bands.forEach((share, k) => {
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    if (share > 0.005) context.strokeRect(bands.at(k) - 0.39 * step, y.at(share), 0.78 * step, bars.bottom - y.at(share));
  });
  const facts = { repeated, trained_at: 100 * values.trained_at, at: 100 * values.at };
  words(context, theme, picture.at_trained.map((text) => say(text, facts)), 0, bars.top - 16, { colour: theme.text, width: width - 110 });
  words(context, theme, say(picture.at, facts), width, bars.top - 16, { align: "right", colour: colours.score, bold: true });
  EDGES.slice(0, -1).forEach((edge, k) => {
    if (k % 2 === 0 || edge === 24) words(context, theme, String(edge), bands.at(k - 0.5), bars.bottom + 10, { align: "center" });
  });
  words(context, theme, picture.back, bands.end, bars.bottom + 27, { align: "right" });
}

function draw(canvas, result, state, theme, cursor) {
  drawAccuracy(canvas, result, state, theme, cursor);
  drawAttention(canvas, result, state, theme);
}

function facts({ values }, { length, distance, training }) {
  const row = LENGTHS.indexOf(length), column = DISTANCES.indexOf(Number(distance)), accuracy = values.accuracy[row][column], unscaled = values.as_trained[row][column];
  const percent = (share) => (share === null ? null : 100 * share), tuned = values.before !== null;
  const untuned = (r, k) => (tuned ? percent(values.before[r][k]) : null), before = untuned(row, column);
  const at = (of, back) => 100 * values.accuracy[LENGTHS.indexOf(of)][DISTANCES.indexOf(back)];
  return {
    measured: accuracy !== null, fits: Number(distance) < length, accuracy: percent(accuracy), unscaled: percent(unscaled), tuned, rate: RATE,
    compared: before !== null, before, near_before: untuned(LENGTHS.indexOf(512), DISTANCES.indexOf(32)), times: length / TRAINED,
    near: at(512, 32), far: at(512, 384), within: at(128, 64), head: values.head, repeated: training === "repeated_copy", at: 100 * values.at, trained_at: 100 * values.trained_at,
  };
}

function reading({ values }, state, { row, column }) {
  const share = values.accuracy[row][column], tuned = values.before !== null, before = tuned ? values.before[row][column] : null;
  return {
    at_length: LENGTHS[row], at_distance: DISTANCES[column], known: share !== null, fits: DISTANCES[column] < LENGTHS[row], read: 100 * share, unscaled: 100 * values.as_trained[row][column],
    tuned, compared: before !== null, before: 100 * before,
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
    const [{ left, right, top, bottom }] = within(result), { rows, columns } = result;
    if (px < left || px > right || py < top || py > bottom) return null;
    return { length: LENGTHS[rows.nearest(rows.invert(py))], distance: String(DISTANCES[columns.nearest(columns.invert(px))]) };
  },
  pixel: ({ columns, rows }, row, column) => [columns.at(column), rows.at(row)],
});

export default { render };

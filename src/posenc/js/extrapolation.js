import { chipsAndList } from "./chips_and_list.js";
import { colours, shade } from "./colours.js";
import { Axis, Plot, cellAxis, grip, widthOf, words } from "./drawing.js";
import catalogue from "./extrapolation.json";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
const TIMES = [1, 2, 4, 8, 16]; // the trained length
const ROLES = {
  first: { mark: "● ", width: 2.6, dash: [], square: false },
  other: { mark: "■ ", width: 2.2, dash: [7, 4], square: true },
};
const COLOURS = { rope: colours.score, alibi: colours.position, t5: colours.query, none: colours.neutral, else: colours.key };
const DOTTED = [1.5, 3];
const TOP = 22, HEAD = 22, FREE = 26; // pixels, of them above all values, and below, where the length is dragged

const REACH = 18; // pixels to either side of the line that is dragged
const MOST = 55, COPIED = 50; // bytes that a row has room for, and symbols of which it tells how many are copied

const bottomOf = (width) => TOP + (width < 600 ? 231 : 264);
const height = (width) => bottomOf(width) + 91;
const mean = (values) => values.reduce((sum, value) => sum + value) / values.length;
const same = (some, others) => some.length === others.length && some.every((value, k) => value === others[k]);
const isKnown = (values) => values.every((value) => value !== null);
const placeOf = ({ length }) => Math.log2(length);
const nearestOf = (state) => Math.round(placeOf(state)); // of the lengths that were measured
const measuredAt = (state) => Number.isInteger(placeOf(state)); // not while it is dragged
const byPosition = ({ view }) => view === "position";

// An option as a scheme and its scaling, which some options are both of.
const pick = (data, option, wanted) => data.both[option] ?? [option, data.scaled.includes(option) ? wanted : "default"];

// One scheme with one scaling, as Python's `values()` has it.
function chosen(data, { measure, ...state }, [scheme, scaling]) {
  const name = say(picture.name, { scheme, scaling }, names);
  const entry = data.measured[measure][scheme], lengths = entry?.by_length[scaling];
  if (!lengths) return { name, trained: null, seeds: [], by_length: null, truncated: null, by_position: null };
  const curves = entry.by_position[scaling][nearestOf(state)];
  return {
    name, trained: entry.trained, seeds: entry.seeds, by_length: lengths, truncated: entry.by_length.default.map(([short]) => short),
    by_position: curves?.map((curve) => curve.map((value) => (value === null ? null : value / 100))) ?? null,
  };
}

const shortOf = ([scheme, scaling]) => [names.short[scheme] ?? names.schemes[scheme], ...(scaling === "default" ? [] : [names.scalings[scaling]])].join(" + ");

// Each scheme has its colour for good, and RoPE with a scaling another one.
function colourOf([scheme, scaling], theme) {
  if (scaling.startsWith("yarn")) return colours.bound;
  if (scaling !== "default") return colours.key;
  const family = scheme.replace("quick_", "").split("_")[0], colour = COLOURS[family] ?? COLOURS.else;
  return ["rope_10000", "alibi_published", "learned_clamp"].includes(scheme) ? shade(0.85, theme, colour) : colour;
}

function compute(state, width, previous, data) {
  const asked = { first: pick(data, state.scheme, state.scaling), other: pick(data, state.other, state.other_scaling) };
  const first = chosen(data, state, asked.first), other = chosen(data, state, asked.other);
  const values = { first, other: other.name === first.name ? null : other };
  const truncates = asked.first[1] !== "default" || (data.scaled.includes(state.other) && asked.other[1] !== "default");
  const [least, most] = data.limits[state.measure], bottom = bottomOf(width), each = (most - least) / (bottom - TOP - HEAD - FREE), times = TIMES[nearestOf(state)];
  const ends = { start: 40, end: width - 14 };
  return {
    values, asked, truncates, symbols: data.symbols, times,
    x: byPosition(state) ? cellAxis(2 * times, ends.start, ends.end) : new Axis({ from: -0.35, to: TIMES.length - 0.9, ...ends }),
    y: new Axis({ from: least - each * FREE, to: most + each * HEAD, start: bottom, end: TOP }),
    shown: Object.keys(ROLES).filter((role) => values[role]),
  };
}

// For each place on the axis the values of all seeds, null where nothing was measured or nothing is asked.
function columns({ by_length, by_position }, state) {
  const rows = byPosition(state) ? by_position : by_length;
  return rows ? rows[0].map((_, place) => rows.map((row) => row[place])) : [];
}

const known = (drawn, state) => columns(drawn, state).map((column, place) => [place, column]).filter(([, column]) => isKnown(column));

function draw({ context, width }, result, state, theme, cursor) {
  const { values, asked, symbols, shown, times, x, y } = result, { measure } = state;
  const half = measure === "copy_half", positions = byPosition(state), chosenPlace = placeOf(state), reached = positions ? width : x.at(chosenPlace) + 1; // the lines are drawn as far as the length is dragged
  const trained = [...new Set(shown.map((role) => values[role].trained).filter(Boolean))];
  const mark = say(picture.trained, { one_length: trained.length === 1, trained: trained[0] });
  const titled = (texts) => texts.map((text) => say(text, { ...state, trained_length: mark }, names));
  const plot = new Plot(context, theme, x, y), past = positions ? 1.5 : 0; // steps of half of L, of which place k begins at k − ½
  if (positions) x.ticks = () => [0, 0.25, 0.5, 0.75, 1].map((share) => share * 2 * times - 0.5);
  const ticks = y.ticks(5).filter((tick) => y.at(tick) > y.end + HEAD - 4);
  y.ticks = () => ticks;
  if (x.to > past) {
    plot.ground(past, x.invert(width), colours.neutral, 0.1);
    words(context, theme, picture.longer, (x.at(past) + x.end) / 2, y.end + 11, { align: "center", bold: true, colour: theme.text, width: x.end - x.at(past) - 8 });
  }
  words(context, theme, titled(picture.y), x.start, y.end - 4, { baseline: "bottom", width: x.end - x.start });
  words(context, theme, titled(picture.x), x.end, y.start + 22, { align: "right", baseline: "top", width: x.end });
  plot.axes({ xTitle: "", yTitle: "", xText: (place) => say(picture.tick, { times: positions ? (place + 0.5) / 2 : TIMES[place] }) });

  const labels = new Labels(context, theme, { left: x.start, right: x.end, top: y.end + HEAD, bottom: y.start - FREE }), named = [];
  const truncations = half || positions || !result.truncates ? [] : shown.map((role) => values[role].truncated).filter(Boolean);
  const dotted = (value, colour) => {
    plot.horizontal(value, { colour, width: 1.8, dash: DOTTED });
    labels.along([x.start, y.at(value)], [x.end, y.at(value)], labels.lines);
  };
  for (const role of shown) {
    const drawn = values[role], { width: thick, dash, square } = ROLES[role], colour = colourOf(asked[role], theme), places = known(drawn, state);
    if (truncations.includes(drawn.truncated)) dotted(mean(drawn.truncated), truncations.every((one) => same(one, truncations[0])) ? theme.text : colour);
    const ends = (place) => (positions ? [place - 0.5, place + 0.5] : [place]);
    const spread = places.flatMap(([place, column]) => ends(place).map((at) => [x.at(at), Math.min(...column), Math.max(...column)]));
    const line = places.flatMap(([place, column]) => ends(place).map((at) => [at, mean(column)]));
    const level = role === "first" ? levelOf(drawn, state) : null; // one gap is filled
    const gap = level === null ? [] : line.filter(([at]) => at >= past).map(([at, value]) => [x.at(at), Math.min(level, value), Math.max(level, value)]);
    context.save();
    context.beginPath();
    context.rect(0, 0, reached, y.start);
    context.clip();
    plot.area(gap, colour, 0.16);
    plot.area(spread, colour, 0.22);
    plot.line(line, colour, { width: thick, dash });
    context.restore();
    const until = positions ? line : line.filter(([place]) => place <= chosenPlace), after = line[until.length];
    if (until.length === 0) continue;
    const [place, value] = until.at(-1), measured = positions || place === chosenPlace; // between two lengths the line has no number
    const tip = measured || !after ? [place, value] : [chosenPlace, value + ((after[1] - value) * (chosenPlace - place)) / (after[0] - place)];
    if (!positions) plot.marks(until, colour, { radius: 3.5, square });
    if (!positions && measured) plot.marks([tip], colour, { radius: 6, square });
    labels.beside([...until, tip].map(([at, height]) => [x.at(at), y.at(height)]));
    labels.keep(x.at(tip[0]), y.at(tip[1]), 6);
    named.push({ role, tip, number: measured && !positions ? `: ${fixed(value, 2)}` : "", colour: shade(0.7, theme, colour) });
  }
  if (half) dotted(1 / symbols, theme.text);
  for (const { x: px, y: py } of handles({ x, y }, state)) {
    plot.rule([px, y.end + HEAD], [px, py], { dash: [3, 3] });
    labels.along([px, y.end + HEAD], [px, py], labels.lines);
    grip(context, theme, px, py, theme.text);
  }
  if (half) labels.write(say(picture.chance, { symbols }), [x.start, y.at(1 / symbols)], { towards: -0.6, away: 6, colour: theme.text, bold: true });
  const room = (text) => widthOf(context, `600 ${theme.font}`, text) < (x.end - x.start) / 2;
  for (const { role, tip: [place, value], number, colour } of named) { // each line's name at its end
    const texts = namesOf(asked[role]).map((name) => name + number), towards = place < x.from + 0.7 * (x.to - x.from) ? -0.6 : Math.PI + 0.6;
    labels.write(texts.find(room) ?? texts.at(-1), [x.at(place), y.at(value)], { towards, away: 9, colour, bold: true });
  }
  if (!positions && measuredAt(state) && chosenPlace < TIMES.length - 1) words(context, theme, picture.drag, x.at(chosenPlace) + 14, y.start - 12, { colour: theme.text, bold: true });
  const row = [width < 600 ? 0 : x.start, x.end]; // counts
  words(context, theme, picture.rows[measure].map((text) => say(text, { copied: COPIED })), row[0], y.start + 51, { width: row[1] - row[0] });
  named.forEach(({ role, tip: [place, value], number }) => {
    if (!positions && (place !== chosenPlace || (measuredAt(state) && !number))) return;
    drawCount(context, theme, row, y.start + (role === "first" ? 67 : 82), { measure, value, level: levelOf(values[role], state), told: positions || number, square: ROLES[role].square, colour: colourOf(asked[role], theme) });
  });
  for (const truncated of new Set(truncations.map(mean))) labels.write(picture.truncated, [x.end, y.at(truncated)], { towards: Math.PI - 0.6, away: 4, colour: theme.text, bold: true });
  if (cursor !== null) plot.vertical(cursor.column, { dash: [] });
}

// In a row, among how many equally likely bytes a loss chooses, which is its exponential: paler, as many as within the trained
// length. Or how many symbols are copied: paler, those that are no longer.
function drawCount(context, theme, [left, right], y, { measure, value, level, told, square, colour }) {
  const isText = measure === "text", countOf = (one) => Math.min(isText ? Math.exp(one) : COPIED * one, MOST);
  const each = Math.min((right - left - 24) / MOST, 14), count = countOf(value), before = level === null ? 0 : countOf(level), all = isText ? count : Math.max(count, before);
  context.fillStyle = colour;
  for (let k = 0; k < all; k++) {
    const radius = 0.43 * each * Math.sqrt(Math.min(all - k, 1)), middle = left + (k + 0.5) * each;
    context.globalAlpha = (isText ? k + 0.5 < before : k + 0.5 > count) ? 0.35 : 1;
    context.beginPath();
    square ? context.rect(middle - radius, y - radius, 2 * radius, 2 * radius) : context.arc(middle, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
  if (told) words(context, theme, fixed(count, 0), left + all * each + 6, y, { colour: shade(0.7, theme, colour), bold: true });
}

// The whole name, and where that is longer than half the picture, the part that tells it from others of its kind.
const namesOf = ([scheme, scaling]) => [shortOf([scheme, scaling]), scaling === "default" ? names.shorter[scheme] : `+ ${names.scalings[scaling]}`].filter(Boolean);

// The chosen length is dragged along its axis, by its line or its grip, and let go at one that was measured: the next on the way beyond a quarter of it.
function handles({ x, y }, state) {
  const drag = (px, _, before) => {
    const place = Math.min(Math.max(x.invert(px), 0), TIMES.length - 1), from = placeOf(before), way = place - from;
    return { length: 2 ** place, settles: { length: 2 ** (from + Math.sign(way) * Math.ceil(Math.max(Math.abs(way) - 0.25, 0))) } };
  };
  const px = x.at(placeOf(state)), box = { left: px - REACH, right: px + REACH, top: y.end, bottom: y.start + 4 };
  return byPosition(state) ? [] : [{ name: "length", x: px, y: y.start - 12, box, along: "x", glides: true, step: x.at(1) - x.at(0), drag }];
}

// A press on the picture chooses the length there.
function press(px, py, { x, y }, state) {
  if (byPosition(state) || px < x.start || px > x.end || py < y.end || py > y.start + 24) return null;
  const length = TIMES[x.nearest(x.invert(px))];
  return length === state.length ? null : { length };
}

const columnOf = ({ by_length }, state) => by_length?.map((row) => row[nearestOf(state)]) ?? [null];

// The mean of one of both within the trained length, null where it is not known; of positions, at its end.
function levelOf(drawn, state) {
  const values = columns(drawn, state)[byPosition(state) ? 1 : 0] ?? [null];
  return isKnown(values) ? mean(values) : null;
}

// How much worse a loss is than within the trained length, or how much is copied; null where that is not known.
function fateOf(value, level, { measure }, symbols) {
  if (value === null || (measure === "text" && level === null)) return null;
  if (measure === "text") return value - level < 0.1 ? "well" : value - level < 0.4 ? "little" : "worse";
  return value <= 2 / symbols ? "guess" : "copies";
}

// What each comes to at the chosen length, or at the last position.
function facts({ values, asked, symbols, shown, times, truncates }, state) {
  const drawn = shown.map((role) => {
    const of = values[role], column = (byPosition(state) ? columns(of, state).at(-1) : columnOf(of, state)) ?? [null];
    const value = isKnown(column) ? mean(column) : null;
    return { name: shortOf(asked[role]), scheme: asked[role][0], seeds: of.seeds.length, trained: of.trained, fate: fateOf(value, levelOf(of, state), state, symbols), share: 100 * value };
  });
  const known = drawn.filter(({ fate }) => fate), [opener] = known, well = known.filter(({ fate }) => fate === "well").length;
  for (const one of drawn) {
    const follows = Boolean(one.fate) && one !== opener;
    Object.assign(one, { opens: one === opener, another: follows && one.trained !== opener.trained, alike: follows && one.fate === opener.fate });
  }
  return { drawn, length: times, truncates, all_well: known.length > 0 && well === known.length, all_worse: known.length > 0 && well === 0 };
}

function reading({ values, shown }, state, { column: place }) {
  const drawn = shown.map((role) => {
    const { name, seeds, by_position } = values[role], column = columns(values[role], state)[place] ?? [null];
    return {
      name, mark: ROLES[role].mark, known: isKnown(column), measured: byPosition(state) && by_position !== null,
      by_seed: column.map((value, k) => ({ value, seed: seeds[k] })),
    };
  });
  return { drawn, from: place / 2, to: (place + 1) / 2, times: TIMES[place] };
}

const render = explorable({
  catalogue,
  readers: [{ name: "column", axis: ({ x }) => x }],
  height, compute, draw, facts, reading, press, handles,
  controls: { scheme: chipsAndList, other: chipsAndList },
  pixel: ({ x, y }, place, value) => [x.at(place), y.at(value)],
});

export default { render };

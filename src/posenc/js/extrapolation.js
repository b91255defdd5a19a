import { chipsAndList } from "./chips_and_list.js";
import { colours, shade } from "./colours.js";
import { Axis, Plot, cellAxis, grip, sized, widthOf, words } from "./drawing.js";
import catalogue from "./extrapolation.json";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
const TIMES = [1, 2, 4, 8, 16]; // the trained length
const ROLES = {
  first: { mark: "● ", width: 3.6, dash: [], square: false },
  other: { mark: "■ ", width: 3.2, dash: [9, 5], square: true },
};
const COLOURS = { rope: colours.score, alibi: colours.position, t5: colours.query, none: colours.neutral, else: colours.key };
const DOTTED = [1.5, 3];
const TOP = 22, HEAD = 22, FREE = 26; // pixels, of them above all values, and below, where the length is dragged

const REACH = 18; // pixels to either side of the line that is dragged
const BYTES = 57, COPIED = 100; // as long as a bar can become: equally likely bytes, and symbols of which so many are copied
const NUMBER = 60; // pixels for the number after a bar that may be pale at its end

const bottomOf = (width) => TOP + (width < 600 ? 214 : 247);
const height = (width) => bottomOf(width) + 108;
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

const meanOf = (column) => (column && isKnown(column) ? mean(column) : null);

// The mean at the chosen length, between two that were measured on the straight line; of positions, at the last.
function valueOf(drawn, state) {
  const all = columns(drawn, state), place = placeOf(state), before = Math.floor(place);
  if (byPosition(state)) return meanOf(all.at(-1));
  const [from, to] = [before, Math.ceil(place)].map((one) => meanOf(all[one]));
  return from === null || to === null ? null : from + (to - from) * (place - before);
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
  const ticks = y.ticks(3).filter((tick) => y.at(tick) > y.end + HEAD - 4);
  y.ticks = () => ticks;
  if (x.to > past) {
    plot.ground(past, x.invert(width), colours.neutral, 0.1);
    words(context, theme, picture.longer, (x.at(past) + x.end) / 2, y.end + 11, { align: "center", bold: true, colour: theme.text, width: x.end - x.at(past) - 8 });
  }
  words(context, theme, titled(picture.y), x.start, y.end - 4, { baseline: "bottom", width: x.end - x.start });
  words(context, theme, titled(picture.x), x.end, y.start + 22, { align: "right", baseline: "top", width: x.end });
  plot.axes({ xTitle: "", yTitle: "", xText: (place) => say(picture.tick, { times: positions ? (place + 0.5) / 2 : TIMES[place] }) });

  const labels = new Labels(context, theme, { left: x.start, right: x.end, top: y.end + HEAD, bottom: y.start - 20 }), named = [];
  const truncations = half || positions || !result.truncates ? [] : shown.map((role) => values[role].truncated).filter(Boolean);
  const dotted = (value, colour) => {
    plot.horizontal(value, { colour, width: 1.8, dash: DOTTED });
    labels.along([x.start, y.at(value)], [x.end, y.at(value)], labels.lines);
  };
  const ends = (place) => (positions ? [place - 0.5, place + 0.5] : [place]);
  const lineOf = (role) => known(values[role], state).flatMap(([place, column]) => ends(place).map((at) => [at, mean(column)]));
  const lines = Object.fromEntries(shown.map((role) => [role, lineOf(role)])), others = new Map(lines.other);
  const clipped = (drawAll) => {
    context.save();
    context.beginPath();
    context.rect(0, 0, reached, y.start);
    context.clip();
    drawAll();
    context.restore();
  };
  const gap = lines.first.filter(([at]) => others.has(at)).map(([at, value]) => [x.at(at), value, others.get(at)]);
  clipped(() => plot.area(gap, colourOf(asked.first, theme), 0.2));
  for (const role of shown) {
    const drawn = values[role], { width: thick, dash, square } = ROLES[role], colour = colourOf(asked[role], theme), line = lines[role];
    if (truncations.includes(drawn.truncated)) dotted(mean(drawn.truncated), truncations.every((one) => same(one, truncations[0])) ? theme.text : colour);
    const spread = known(drawn, state).flatMap(([place, column]) => ends(place).map((at) => [x.at(at), Math.min(...column), Math.max(...column)]));
    clipped(() => {
      plot.area(spread, colour, 0.22);
      plot.line(line, colour, { width: thick, dash });
    });
    const until = positions ? line : line.filter(([place]) => place <= chosenPlace), value = valueOf(drawn, state);
    if (until.length === 0) continue;
    const tip = positions || value === null ? until.at(-1) : [chosenPlace, value];
    if (!positions) {
      plot.marks(until, colour, { radius: 4, square });
      plot.marks([tip], colour, { radius: 8 });
    }
    labels.beside([...until, tip].map(([at, height]) => [x.at(at), y.at(height)]));
    labels.keep(x.at(tip[0]), y.at(tip[1]), 8);
    named.push({ role, tip, value, colour: shade(0.7, theme, colour) });
  }
  if (half) dotted(1 / symbols, theme.text);
  for (const { x: px, y: py } of handles({ x, y }, state)) {
    plot.rule([px, y.end + HEAD], [px, py], { dash: [3, 3] });
    labels.along([px, y.end + HEAD], [px, py], labels.lines);
    grip(context, theme, px, py, theme.text);
  }
  if (half) labels.write(say(picture.chance, { symbols }), [x.start, y.at(1 / symbols)], { towards: -0.6, away: 6, colour: theme.text, bold: true });
  const room = (text) => widthOf(context, `600 ${theme.font}`, text) < (x.end - x.start) / 2;
  for (const { role, tip: [place, value], colour } of named) { // each line's name at its end
    const texts = namesOf(asked[role]), towards = place < x.from + 0.7 * (x.to - x.from) ? -0.6 : Math.PI + 0.6;
    labels.write(texts.find(room) ?? texts.at(-1), [x.at(place), y.at(value)], { towards, away: 11, colour, bold: true });
  }
  const exact = positions || measuredAt(state), left = width < 600 ? 0 : x.start;
  if (!positions && exact && chosenPlace < TIMES.length - 1) words(context, theme, picture.drag, x.at(chosenPlace) + 14, y.start - 12, { colour: theme.text, bold: true });
  words(context, theme, picture.bars[exact ? measure : "between"].map((text) => say(text, { copied: COPIED })), left, y.start + 51, { width: x.end - left });
  for (const { role, value, colour } of named) {
    if (value === null) continue;
    const bar = { measure, value, exact, texts: namesOf(asked[role]), level: levelOf(values[role], state), colour: colourOf(asked[role], theme), dark: colour };
    drawBar(context, theme, [left, x.end], y.start + (role === "first" ? 72 : 95), bar);
  }
  for (const truncated of new Set(truncations.map(mean))) labels.write(picture.truncated, [x.end, y.at(truncated)], { towards: Math.PI - 0.6, away: 4, colour: theme.text, bold: true });
  if (cursor !== null) plot.vertical(cursor.column, { dash: [] });
}

// A bar as long as the number of equally likely bytes among which a loss chooses, which is its exponential: paler, as many
// as within the trained length. Or how many symbols are copied: paler, those that are no longer.
function drawBar(context, theme, [left, right], y, { measure, value, exact, texts, level, colour, dark }) {
  const isText = measure === "text", countOf = (one) => (isText ? Math.exp(one) : COPIED * one), each = isText ? (right - left) / BYTES : (right - left - NUMBER) / COPIED;
  const count = countOf(value), before = level === null ? 0 : countOf(level), pale = isText ? [0, Math.min(before, count)] : [count, Math.max(before, count)];
  const end = left + Math.max(each * Math.max(count, pale[1]), 2);
  context.save();
  context.beginPath();
  context.roundRect(left, y - 9, end - left, 18, Math.min(5, (end - left) / 2));
  context.clip();
  context.fillStyle = theme.ground;
  context.fillRect(left, y - 9, end - left, 18);
  context.fillStyle = colour;
  context.globalAlpha = 0.4;
  context.fillRect(left + each * pale[0], y - 9, each * (pale[1] - pale[0]), 18);
  context.globalAlpha = 1;
  isText ? context.fillRect(left + each * pale[1], y - 9, end - left, 18) : context.fillRect(left, y - 9, Math.max(each * count, 2), 18);
  context.restore();
  const large = sized(theme, 20), number = (exact ? "" : "≈ ") + fixed(count, 0), wide = widthOf(context, `600 ${large.font}`, number) + 7;
  const inside = end + wide > right, middle = left + each * count;
  words(context, large, number, inside ? end - 7 : end + 7, y + 1, { align: inside ? "right" : "left", colour: inside ? theme.ground : dark, bold: true });
  const within = [[left + 8, middle - 8, theme.ground], [middle + 8, end - 8, dark]], after = [end + wide + 8, right, dark];
  const spots = texts.flatMap((text) => (isText ? [after] : [...within, after]).map((spot) => [text, ...spot]));
  const spot = spots.find(([text, from, to]) => widthOf(context, theme.font, text) <= to - from);
  if (spot) words(context, theme, spot[0], spot[1], y + 1, { colour: spot[3] });
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

// The mean of one of both within the trained length, null where it is not known; of positions, at its end.
const levelOf = (drawn, state) => meanOf(columns(drawn, state)[byPosition(state) ? 1 : 0]);

// How much worse a loss is than within the trained length, or how much is copied; null where that is not known.
function fateOf(value, level, { measure }, symbols) {
  if (value === null || (measure === "text" && level === null)) return null;
  if (measure === "text") return value - level < 0.1 ? "well" : value - level < 0.4 ? "little" : "worse";
  return value <= 2 / symbols ? "guess" : value < 0.2 ? "few" : value < 0.5 ? "some" : value < 0.95 ? "most" : "all";
}

// What each comes to at the chosen length, or at the last position; of losses, one that stays as it was is told first.
function facts({ values, asked, symbols, shown, truncates }, state) {
  const all = shown.map((role) => {
    const of = values[role];
    return { name: shortOf(asked[role]), scheme: asked[role][0], trained: of.trained, fate: fateOf(valueOf(of, state), levelOf(of, state), state, symbols) };
  });
  const drawn = [...all.filter(({ fate }) => fate === "well"), ...all.filter(({ fate }) => fate !== "well")];
  const known = drawn.filter(({ fate }) => fate), [opener] = known, each = (test) => known.length > 0 && known.every(test);
  for (const one of drawn) {
    const follows = Boolean(one.fate) && one !== opener;
    Object.assign(one, { opens: one === opener, another: follows && one.trained !== opener.trained, alike: follows && one.fate === opener.fate, but: follows && opener.fate === "well" });
  }
  return {
    drawn, length: state.length, exact: byPosition(state) || measuredAt(state), truncates, fate: opener?.fate ?? null,
    both: known.length === 2 && each(({ fate, trained }) => fate === opener.fate && trained === opener.trained),
    all_well: each(({ fate }) => fate === "well"), all_worse: each(({ fate }) => fate !== "well"),
  };
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

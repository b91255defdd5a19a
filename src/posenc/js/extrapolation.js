import { chipsAndList } from "./chips_and_list.js";
import { colours } from "./colours.js";
import { Axis, Plot, cellAxis, grip, widthOf, words } from "./drawing.js";
import catalogue from "./extrapolation.json";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
const TIMES = [1, 2, 4, 8, 16]; // the trained length
const ROLES = {
  first: { mark: "● ", colour: colours.score, width: 2.6, dash: [], square: false },
  other: { mark: "■ ", colour: colours.bound, width: 2.2, dash: [7, 4], square: true },
};
const DOTTED = [1.5, 3];
const TOP = 22, FREE = 24; // pixels, of them below all values, where the length is dragged

const bottomOf = (width) => TOP + (width < 600 ? 264 : 286);
const height = (width) => bottomOf(width) + 40;
const mean = (values) => values.reduce((sum, value) => sum + value) / values.length;
const same = (some, others) => some.length === others.length && some.every((value, k) => value === others[k]);
const isKnown = (values) => values.every((value) => value !== null);
const timesOf = ({ length }) => TIMES.indexOf(length);
const byPosition = ({ view }) => view === "position";

// One scheme with one scaling, as Python's `values()` has it.
function chosen(data, state, scheme, wanted) {
  const scaling = data.scaled.includes(scheme) ? wanted : "default";
  const name = say(picture.name, { scheme, scaling }, names);
  const entry = data.measured[state.measure][scheme], lengths = entry?.by_length[scaling];
  if (!lengths) return { name, trained: null, seeds: [], by_length: null, truncated: null, by_position: null };
  const curves = entry.by_position[scaling][timesOf(state)];
  return {
    name, trained: entry.trained, seeds: entry.seeds, by_length: lengths, truncated: entry.by_length.default.map(([short]) => short),
    by_position: curves?.map((curve) => curve.map((value) => (value === null ? null : value / 100))) ?? null,
  };
}

function compute(state, width, previous, data) {
  const first = chosen(data, state, state.scheme, state.scaling), other = chosen(data, state, state.other, state.other_scaling);
  const values = { first, other: other.name === first.name ? null : other };
  const [least, to] = data.limits[state.measure], from = least - ((to - least) * FREE) / (bottomOf(width) - TOP - FREE);
  return {
    values, symbols: data.symbols,
    x: cellAxis(byPosition(state) ? 2 * state.length : TIMES.length, 46, width - 12),
    y: new Axis({ from, to, start: bottomOf(width), end: TOP }),
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
  const { values, symbols, shown, x, y } = result, { length, measure } = state;
  const half = measure === "copy_half", positions = byPosition(state);
  const trained = [...new Set(shown.map((role) => values[role].trained).filter(Boolean))];
  const mark = say(picture.trained, { one_length: trained.length === 1, trained: trained[0] });
  const titled = (texts) => texts.map((text) => say(text, { ...state, trained_length: mark }, names));
  const plot = new Plot(context, theme, x, y);
  if (positions) {
    // Steps are half of L wide, and place k begins at k − ½ on an axis of cells.
    x.ticks = () => [0, 0.25, 0.5, 0.75, 1].map((share) => share * 2 * length - 0.5);
    plot.ground(1.5, 2 * length - 0.5, colours.neutral);
  } else {
    plot.ground(timesOf(state) - 0.5, timesOf(state) + 0.5, colours.neutral, 0.2);
  }
  plot.axes({
    xTitle: titled(picture.x),
    yTitle: titled(picture.y),
    xText: (place) => {
      if (place === 0 && !positions && width >= 520) return picture.as_trained;
      return say(picture.tick, { times: positions ? (place + 0.5) / 2 : TIMES[place] });
    },
  });
  if (!positions || length > 1) {
    const [long, short] = titled(picture.y).map((text) => widthOf(context, theme.font, text)), room = x.end - x.start;
    const left = room - (long <= room ? long : short) - 12;
    words(context, theme, picture.longer, x.end, y.end - 4, { align: "right", baseline: "bottom", width: left });
  }

  const truncations = half || positions ? [] : shown.map((role) => values[role].truncated).filter(Boolean), named = [];
  const labels = new Labels(context, theme, { left: x.start, right: x.end, top: y.end, bottom: y.start }), chosen = [];
  const dotted = (value, colour, texts, last = true) => {
    plot.horizontal(value, { colour, width: 1.8, dash: DOTTED });
    labels.along([x.start, y.at(value)], [x.end, y.at(value)], labels.lines);
    if (last) named.push({ texts, colour, at: [x.at(0.5), y.at(value)] });
  };
  for (const role of shown) {
    const drawn = values[role], { mark, colour, width: thick, dash, square } = ROLES[role], places = known(drawn, state);
    if (truncations.includes(drawn.truncated)) {
      const alike = truncations.every((one) => same(one, truncations[0]));
      dotted(mean(drawn.truncated), alike ? theme.text : colour, picture.truncated.map((text) => (alike ? text : mark + text)), !alike || drawn.truncated === truncations.at(-1));
    }
    const ends = (place) => (positions ? [place - 0.5, place + 0.5] : [place]);
    const spread = places.flatMap(([place, column]) => ends(place).map((at) => [x.at(at), Math.min(...column), Math.max(...column)]));
    const line = places.flatMap(([place, column]) => ends(place).map((at) => [at, mean(column)]));
    plot.area(spread, colour);
    plot.line(line, colour, { width: thick, dash });
    if (!positions) plot.marks(places.flatMap(([place, column]) => column.map((value) => [place, value])), colour, { radius: 3.5, square });
    labels.beside(line.map(([at, value]) => [x.at(at), y.at(value)]));
    const found = !positions && places.find(([place]) => place === timesOf(state));
    if (found) chosen.push([mean(found[1]), colour]);
    const parts = drawn.name.split(", "), texts = parts.map((_, k) => say(picture.line, { mark, name: parts.slice(k).join(", ") })); // the first that fits
    const [place, value] = line[positions ? Math.ceil(0.6 * line.length) : timesOf(state) === 3 ? 2 : 3] ?? line.at(-1) ?? []; // not at the chosen length
    if (line.length) named.unshift({ texts, colour, at: [x.at(place), y.at(value)] });
  }
  if (half) dotted(1 / symbols, theme.text, [say(picture.chance, { symbols })]);
  for (const { x: px, y: py } of handles({ x, y }, state)) {
    labels.keep(px, py, 9);
    grip(context, theme, px, py, theme.text);
  }
  const at = x.at(timesOf(state)), towards = timesOf(state) < TIMES.length - 1 ? 0 : Math.PI; // the means at the chosen length
  for (const [value] of chosen) labels.keep(at, y.at(value), 5);
  for (const [value, colour] of chosen) labels.write(fixed(value, 2), [at, y.at(value)], { towards, away: 9, colour, bold: true });
  for (const { texts, colour, at } of named) {
    const text = texts.find((each) => widthOf(context, `600 ${theme.font}`, each) <= x.end - x.start) ?? texts.at(-1);
    labels.write(text, at, { towards: -Math.PI / 2, away: 8, colour, bold: colour !== theme.text });
  }
  if (cursor !== null) plot.vertical(cursor.column, { dash: [] });
}

// The chosen length is dragged along its axis.
function handles({ x, y }, state) {
  const drag = (px) => ({ length: TIMES[x.nearest(x.invert(px))] });
  return byPosition(state) ? [] : [{ name: "length", x: x.at(timesOf(state)), y: y.start - 12, along: "x", step: x.at(1) - x.at(0), drag }];
}

// A press on the picture chooses the length there.
function press(px, py, { x, y }, state) {
  if (byPosition(state) || px < x.at(-0.5) || px > x.at(TIMES.length - 0.5) || py < y.end || py > y.start + 24) return null;
  const length = TIMES[x.nearest(x.invert(px))];
  return length === state.length ? null : { length };
}

const columnOf = ({ by_length }, state) => by_length?.map((row) => row[timesOf(state)]) ?? [null];

// The means of one of both: at the chosen length; or where the trained length and the sequence end.
function found(drawn, state) {
  const both = byPosition(state) ? [1, -1].map((step) => drawn.by_position?.map((curve) => curve.at(step)) ?? [null]) : [columnOf(drawn, state), [null]];
  if (!isKnown(both[0])) both.reverse(); // nothing is asked there
  const [values, compared] = both;
  if (!isKnown(values)) return { known: false };
  const second = state.length > 1 && isKnown(compared);
  return { known: true, mean: mean(values), second, second_mean: second ? mean(compared) : null };
}

function facts({ values, symbols, shown }, state) {
  const drawn = shown.map((role) => ({ name: values[role].name, seeds: values[role].seeds.length, trained: values[role].trained, ...found(values[role], state) }));
  drawn.forEach((one, k) => {
    one.opens = k === 0 && one.known;
    one.tokens = state.length * one.trained;
    one.another = k > 0 && one.known && drawn[0].known && one.trained !== drawn[0].trained;
  });
  return { drawn, symbols };
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

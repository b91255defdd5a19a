import { colours } from "./colours.js";
import { Axis, Plot, cellAxis, legend, words } from "./drawing.js";
import catalogue from "./extrapolation.json";
import { explorable } from "./explorable.js";
import { fixed, grouped, wholeNumber } from "./numbers.js";

const TIMES = [1, 2, 4, 8, 16]; // the trained length
const WORDS = {
  text: { verb: "costs", unit: " nats per byte", better: "less", title: "loss in nats per byte" },
  copy: { verb: "copies", unit: " of the symbols", better: "more", title: "share of the symbols that is copied" },
};
const ROLES = {
  first: { mark: "● ", colour: colours.score, width: 2.2, dash: [], square: false },
  other: { mark: "■ ", colour: colours.bound, width: 2, dash: [7, 4], square: true },
};
const DOTTED = [1.5, 3];

const wordsOf = (measure) => WORDS[measure] ?? WORDS.copy;
const topOf = (width) => (width < 520 ? 92 : 62); // room for the legend, which then does not move the plot
const height = (width) => topOf(width) + 320;
const mean = (values) => values.reduce((sum, value) => sum + value) / values.length;
const same = (some, others) => some.length === others.length && some.every((value, k) => value === others[k]);
const isKnown = (values) => values.every((value) => value !== null);
const timesOf = ({ length }) => TIMES.indexOf(length);
const byPosition = ({ view }) => view === "position";

// One scheme with one scaling, as Python's `values()` has it.
function chosen(data, state, scheme, wanted) {
  const scaling = data.scaled.includes(scheme) ? wanted : "default";
  const name = [data.schemes[scheme], data.scalings[scaling]].filter(Boolean).join(", ");
  const entry = data.measured[state.measure][scheme], lengths = entry?.by_length[scaling];
  if (!lengths) return { name, trained: null, seeds: [], by_length: null, cut: null, by_position: null };
  const curves = entry.by_position[scaling][timesOf(state)];
  return {
    name, trained: entry.trained, seeds: entry.seeds, by_length: lengths, cut: entry.by_length.default.map(([short]) => short),
    by_position: curves?.map((curve) => curve.map((value) => (value === null ? null : value / 100))) ?? null,
  };
}

function compute(state, width, previous, data) {
  const first = chosen(data, state, state.scheme, state.scaling), other = chosen(data, state, state.other, state.other_scaling);
  const values = { first, other: other.name === first.name ? null : other };
  const [from, to] = data.limits[state.measure], top = topOf(width);
  return {
    values, symbols: data.symbols,
    x: cellAxis(byPosition(state) ? 2 * state.length : TIMES.length, 46, width - 12),
    y: new Axis({ from, to, start: top + 270, end: top }),
    shown: Object.keys(ROLES).filter((role) => values[role]),
  };
}

// For each place on the axis the values of all seeds, null where nothing was measured or nothing is asked.
function columns({ by_length, by_position }, state) {
  const rows = byPosition(state) ? by_position : by_length;
  return rows ? rows[0].map((_, place) => rows.map((row) => row[place])) : [];
}

const known = (drawn, state) => columns(drawn, state).map((column, place) => [place, column]).filter(([, column]) => isKnown(column));

function draw({ context, width }, { values, symbols, shown, x, y }, state, theme, cursor) {
  const { length, measure } = state, half = measure === "copy_half", positions = byPosition(state), { title } = wordsOf(measure);
  const trained = [...new Set(shown.map((role) => values[role].trained).filter(Boolean))];
  const ofLength = trained.length === 1 ? `L = ${wholeNumber(trained[0])} tokens` : "L: the trained length";
  const named = ({ name }) => (width < 520 ? name.replace(", base", "") : name);
  const strokes = shown.map((role) => ({ label: ROLES[role].mark + named(values[role]), ...ROLES[role] }));
  const dotted = half ? `a guess: 1 of ${symbols}` : "cut to the last L tokens";
  if (!positions || half) strokes.push({ label: dotted, colour: theme.text, dash: DOTTED });
  legend(context, theme, strokes, 0, 10, width);

  const plot = new Plot(context, theme, x, y);
  if (positions) {
    // Steps are half of L wide, and place k begins at k − ½ on an axis of cells.
    x.ticks = () => [0, 0.25, 0.5, 0.75, 1].map((share) => share * 2 * length - 0.5);
  }
  plot.axes({
    xTitle: positions ? [`position in the text (${ofLength})`, `position (${ofLength})`] : [`length of the text (${ofLength})`, `length (${ofLength})`],
    yTitle: [`${title}; line: mean of the seeds, ${positions ? "band: their range" : "marks: each of them"}`, title],
    xText: (place) => `${grouped(positions ? (place + 0.5) / 2 : TIMES[place])} L`,
  });
  if (positions) {
    plot.ground(1.5, 2 * length - 0.5, colours.neutral);
    if (length > 1) words(context, theme, ["longer than in training", "longer"], x.end - 4, y.end + 9, { align: "right", width: x.end - x.at(1.5) });
  } else {
    plot.ground(timesOf(state) - 0.5, timesOf(state) + 0.5, colours.neutral);
  }

  const cuts = shown.map((role) => values[role].cut).filter(Boolean);
  const oneCut = cuts.every((cut) => same(cut, cuts[0]));
  for (const role of shown) {
    const drawn = values[role], { colour, width: thick, dash, square } = ROLES[role];
    const places = known(drawn, state);
    if (!half && !positions && drawn.cut) plot.horizontal(mean(drawn.cut), { colour: oneCut ? theme.text : colour, width: 1.8, dash: DOTTED });
    const ends = (place) => (positions ? [place - 0.5, place + 0.5] : [place]);
    const spread = places.flatMap(([place, column]) => ends(place).map((at) => [x.at(at), Math.min(...column), Math.max(...column)]));
    plot.area(spread, colour);
    plot.line(places.flatMap(([place, column]) => ends(place).map((at) => [at, mean(column)])), colour, { width: thick, dash });
    if (!positions) plot.marks(places.flatMap(([place, column]) => column.map((value) => [place, value])), colour, { radius: 3, square });
  }
  if (half) plot.horizontal(1 / symbols, { dash: DOTTED });
  if (cursor !== null) plot.vertical(cursor.place);
}

function spread(values, unit = "", seeds = false) {
  const average = `${fixed(mean(values), 2)}${unit}`;
  if (values.length === 1) return average + (seeds ? " (one seed)" : "");
  return `${average} (${fixed(Math.min(...values), 2)} to ${fixed(Math.max(...values), 2)}${seeds ? ` over ${values.length} seeds` : ""})`;
}

const columnOf = ({ by_length }, state) => by_length?.map((row) => row[timesOf(state)]) ?? [null];

// What is said of one of both at the chosen length; `told` is the other where it was spoken of before.
function atLength(drawn, told, state) {
  const { verb, unit, better } = wordsOf(state.measure), { trained, cut } = drawn, column = columnOf(drawn, state);
  if (!isKnown(column)) return null;
  const said = `${verb} ${spread(column, unit, true)}`;
  if (state.measure === "copy_half" || same(column, cut)) return said;
  const worse = column.filter((value, k) => (state.measure === "text" ? value > cut[k] : value < cut[k])).length;
  const again = told && told.trained === trained && same(told.cut, cut) && !same(columnOf(told, state), cut);
  const short = again ? "the text so cut" : `the text cut to its last ${trained} tokens`;
  const without = state.length === 1 ? `as trained it ${verb}` : state.measure === "text" ? `${short} ${verb}` : `of ${short} it ${verb}`;
  const seeds = cut.length > 1 ? `${better} in ${worse} of ${cut.length} seeds` : `${worse ? "" : "not "}${better} in this seed`;
  return `${said}; ${without}${again ? "" : ` ${spread(cut)},`} ${seeds}`;
}

// What is said of one of both where the trained length ends, and where the text ends.
function atPositions({ by_position }, state) {
  if (!by_position) return null;
  const { verb, unit } = wordsOf(state.measure);
  const [trained, last] = [1, -1].map((step) => by_position.map((curve) => curve.at(step)));
  if (state.length === 1 || !isKnown(trained)) return `${verb} ${spread(last, unit, true)} at the end of the text`;
  return `${verb} ${spread(trained, unit, true)} where the trained length ends, and ${spread(last)} at the end of the text`;
}

const capital = (name) => name[0].toUpperCase() + name.slice(1);

function finding({ values, symbols, shown }, state) {
  const { length } = state, positions = byPosition(state), parts = [];
  let told = null;
  for (const drawn of shown.map((role) => values[role])) {
    const said = positions ? atPositions(drawn, state) : atLength(drawn, told, state);
    if (said === null) {
      parts.push(`${capital(drawn.name)} was not measured ${positions ? "by position here" : "here"}.`);
    } else if (told === null) {
      const tokens = `${wholeNumber(length * drawn.trained)} tokens`;
      parts.push(`${positions ? "In texts of" : "At"} ${length === 1 ? "" : `${length} × `}the trained length (${tokens}), ${drawn.name} ${said}.`);
      told = drawn;
    } else {
      parts.push(`${capital(drawn.name)} ${said}.`);
      if (drawn.trained !== told.trained) parts.push(`That model is another, trained on ${drawn.trained} tokens.`);
    }
  }
  if (state.measure === "copy_half") parts.push(`A guess is right in 1 of ${symbols}.`);
  return parts.join(" ");
}

function readout({ values, shown }, state, { place }) {
  const where = byPosition(state) ? `${grouped(place / 2)} L to ${grouped((place + 1) / 2)} L` : `${TIMES[place]} L`;
  const each = shown.map((role) => {
    const { name, seeds } = values[role], column = columns(values[role], state)[place] ?? [null];
    if (!isKnown(column)) return `${name}: not ${byPosition(state) && values[role].by_position ? "asked" : "measured"}`;
    return `${ROLES[role].mark}${name}: ${column.map((value, k) => `${fixed(value, byPosition(state) ? 2 : 3)} (seed ${seeds[k]})`).join(", ")}`;
  });
  return [where, ...each].join(" · ");
}

const render = explorable({
  catalogue,
  readers: [{ name: "place", axis: ({ x }) => x }],
  height, compute, draw, finding, readout,
  pixel: ({ x, y }, place, value) => [x.at(place), y.at(value)],
});

export default { render };

import { colours } from "./colours.js";
import { Axis, Plot, cellAxis, widthOf, words } from "./drawing.js";
import catalogue from "./extrapolation.json";
import { explorable } from "./explorable.js";
import { groupedChips } from "./grouped_chips.js";
import { place } from "./labels.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
const TIMES = [1, 2, 4, 8, 16]; // the trained length
const ROLES = {
  first: { mark: "● ", colour: colours.score, width: 2.6, dash: [], square: false },
  other: { mark: "■ ", colour: colours.bound, width: 2.2, dash: [7, 4], square: true },
};
const DOTTED = [1.5, 3];
const HIGH = 16; // of a line of words
const CLEAR = 4; // pixels between words and lines
const STEP = 6; // pixels from one place that is tried to the next
const COVERED = 400; // what it costs to cover a point of a line, in pixels away from one's own
const BROKEN = 30; // and to break a name into two lines

const TOP = 26;
const high = (width) => (width < 520 ? 192 : 250);
const height = (width) => TOP + high(width) + 44;
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
  const [from, to] = data.limits[state.measure];
  return {
    values, symbols: data.symbols,
    x: cellAxis(byPosition(state) ? 2 * state.length : TIMES.length, 46, width - 12),
    y: new Axis({ from, to, start: TOP + high(width), end: TOP }),
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
  const plot = new Plot(context, theme, x, y), box = { left: x.start, right: x.end, top: y.end, bottom: y.start };
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

  const truncations = shown.map((role) => values[role].truncated).filter(Boolean), lines = [];
  const oneTruncation = truncations.every((values) => same(values, truncations[0]));
  const dotted = (value, name, colour = theme.text) => {
    const text = say(picture.line, { mark: "···", name }); // as the line is drawn: its name may stand far from it
    plot.horizontal(value, { colour, width: 1.8, dash: DOTTED });
    const points = [[x.start, y.at(value)], [x.end, y.at(value)]];
    lines.push({ text: lines.some((line) => line.text === text) ? "" : text, colour: theme.text, points });
  };
  for (const role of shown) {
    const drawn = values[role], { mark, colour, width: thick, dash, square } = ROLES[role];
    const places = known(drawn, state);
    if (!half && !positions && drawn.truncated) dotted(mean(drawn.truncated), picture.truncated, oneTruncation ? theme.text : colour);
    const ends = (place) => (positions ? [place - 0.5, place + 0.5] : [place]);
    const spread = places.flatMap(([place, column]) => ends(place).map((at) => [x.at(at), Math.min(...column), Math.max(...column)]));
    const line = places.flatMap(([place, column]) => ends(place).map((at) => [at, mean(column)]));
    plot.area(spread, colour);
    plot.line(line, colour, { width: thick, dash });
    if (!positions) plot.marks(places.flatMap(([place, column]) => column.map((value) => [place, value])), colour, { radius: 3.5, square });
    lines.unshift({ text: say(picture.line, { mark, name: drawn.name }), colour, points: line.map(([at, value]) => [x.at(at), y.at(value)]) });
  }
  if (half) dotted(1 / symbols, say(picture.chance, { symbols }));
  const paths = lines.map(({ points }) => along(points)), taken = [];
  const marked = (role) => (positions ? [] : known(values[role], state));
  const marks = shown.flatMap(marked).flatMap(([at, column]) => column.map((value) => [x.at(at), y.at(value)]));
  if (!positions) writeValues(context, theme, result, state, box, [...paths.flat(), ...marks], taken);
  nameLines(context, theme, box, lines, paths, marks, taken);
  if (cursor !== null) plot.vertical(cursor.column, { dash: [] });
}

// The points of a line, and those on the way, some six pixels apart.
function along(points) {
  return points.filter(([, py]) => Number.isFinite(py)).flatMap(([px, py], k, seen) => {
    const [nextX, nextY] = seen[k + 1] ?? [px, py], count = Math.max(Math.ceil(Math.hypot(nextX - px, nextY - py) / 6), 1);
    return Array.from({ length: count }, (_, n) => [px + ((nextX - px) * n) / count, py + ((nextY - py) * n) / count]);
  });
}

// The means at the chosen length, beside their marks and on no line.
function writeValues(context, theme, { values, shown, x, y }, state, box, drawn, taken) {
  const at = timesOf(state), towards = at < TIMES.length - 1 ? 0 : Math.PI;
  const lines = drawn.map(([px, py]) => ({ left: px - 4, right: px + 4, top: py - 4, bottom: py + 4 }));
  for (const role of shown) {
    const found = known(values[role], state).find(([where]) => where === at);
    if (!found) continue;
    const value = mean(found[1]), text = fixed(value, 2), wide = widthOf(context, `600 ${theme.font}`, text);
    const spot = place(wide, [x.at(at), y.at(value)], towards, 9, box, [...lines, ...taken]);
    taken.push({ left: spot.left - 4, right: spot.right + 4, top: spot.top - 1, bottom: spot.bottom + 1 });
    words(context, theme, text, spot.left, (spot.top + spot.bottom) / 2, { colour: ROLES[role].colour, bold: true });
  }
}

// The name of each line where it covers no words, and if there is room no line and no mark; in two lines if that is nearer.
function nameLines(context, theme, box, lines, paths, marks, taken) {
  lines.forEach(({ text, colour }, k) => {
    if (!text || paths[k].length === 0) return;
    const others = paths.filter((_, other) => other !== k).flat(), font = `600 ${theme.font}`;
    const broken = text.split(/(?<=,) /);
    let found = null;
    for (const parts of broken.length > 1 ? [[text], broken] : [[text]]) {
      const wide = Math.max(...parts.map((part) => widthOf(context, font, part))) + 6;
      const breaking = BROKEN * (parts.length - 1), most = (found?.cost ?? Infinity) - breaking;
      const spot = freeSpot(wide, HIGH * parts.length, box, paths[k], others, marks, taken, most);
      if (spot) found = { ...spot, cost: spot.cost + breaking, parts };
      if (found?.cost < 2 * BROKEN) break; // two lines would not be better
    }
    if (found === null) return;
    taken.push(found);
    found.parts.forEach((part, n) => words(context, theme, part, found.left + 3, found.top + (n + 0.5) * HIGH, { colour, bold: true, ground: true }));
  });
}

// Where in a box so many pixels of words stand as near to their own line as they can, if that costs less than `most`.
function freeSpot(wide, high, box, own, others, marks, taken, most) {
  const middle = (box.left + box.right) / 2;
  const search = (every, limit) => {
    let best = null, least = limit;
    for (let left = box.left + 2; left <= box.right - wide - 2; left += 2 * STEP * every) {
      const reach = Math.max(least, CLEAR); // what is farther decides nothing
      const near = (points) => beside(points, left, left + wide, reach), mine = near(own);
      let theirs = null, marked = null; // most columns do not come to them
      for (let top = box.top + 1; top <= box.bottom - high; top += STEP * every) {
        const spot = { left, right: left + wide, top, bottom: top + high };
        if (taken.some((other) => meet(spot, other))) continue;
        const { away, covered } = apart(spot, mine), alone = away + 0.02 * Math.abs(left + wide / 2 - middle) + COVERED * covered;
        if (alone >= least) continue;
        const those = apart(spot, (theirs ??= near(others))), among = COVERED * (those.covered + apart(spot, (marked ??= near(marks))).covered);
        const cost = alone + among + 2 * Math.max(away - those.away, 0); // nearer to another, it would seem to name that
        if (cost < least) [best, least] = [{ ...spot, cost }, cost];
      }
    }
    return best;
  };
  const rough = search(4, most); // what it costs at most spares most of the second search
  return search(1, rough ? rough.cost + 1e-6 : most);
}

const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// The points within reach of a column, flat: of each the square of how far it is to the side, and its height.
function beside(points, left, right, reach) {
  const found = [];
  for (const [px, py] of points) {
    const across = Math.max(left - px, px - right, 0);
    if (across < reach) found.push(across * across, py);
  }
  return found;
}

// How far such points are from a box of the column, and how many of them it covers.
function apart({ top, bottom }, points) {
  let square = Infinity, covered = 0;
  for (let k = 0; k < points.length; k += 2) {
    const across = points[k], down = Math.max(top - points[k + 1], points[k + 1] - bottom, 0);
    square = Math.min(square, across + down * down);
    if (across < CLEAR ** 2 && down < CLEAR) covered++;
  }
  return { away: Math.sqrt(square), covered };
}

// A press on the picture chooses the length there.
function press(px, py, { x, y }, state) {
  if (byPosition(state) || px < x.at(-0.5) || px > x.at(TIMES.length - 0.5) || py < y.end || py > y.start + 24) return null;
  const length = TIMES[x.nearest(x.invert(px))];
  return length === state.length ? null : { length };
}

function spread(values, which = "") {
  return { [`${which}mean`]: mean(values), [`${which}least`]: Math.min(...values), [`${which}greatest`]: Math.max(...values) };
}

const columnOf = ({ by_length }, state) => by_length?.map((row) => row[timesOf(state)]) ?? [null];

// What is known of one of both at the chosen length; `before` is the other where it was named before.
function atLength(drawn, before, state) {
  const { trained, truncated } = drawn, column = columnOf(drawn, state);
  if (!isKnown(column)) return null;
  if (state.measure === "copy_half" || same(column, truncated)) return { ...spread(column), compared: false };
  return {
    ...spread(column), compared: true, ...spread(truncated, "second_"),
    worse: column.filter((value, k) => (state.measure === "text" ? value > truncated[k] : value < truncated[k])).length,
    again: before && before.trained === trained && same(before.truncated, truncated) && !same(columnOf(before, state), truncated),
  };
}

// What is known of one of both where the trained length ends, and where the text ends.
function atPositions({ by_position }, state) {
  if (!by_position) return null;
  const [trained, last] = [1, -1].map((step) => by_position.map((curve) => curve.at(step)));
  if (state.length === 1 || !isKnown(trained)) return { ...spread(last), both: false };
  return { ...spread(trained), both: true, ...spread(last, "second_") };
}

function facts({ values, symbols, shown }, state) {
  let before = null;
  const drawn = shown.map((role) => {
    const { name, trained, seeds } = values[role];
    const found = byPosition(state) ? atPositions(values[role], state) : atLength(values[role], before, state);
    const opens = before === null;
    if (found === null) return { name, known: false };
    before ??= values[role];
    return { name, known: true, opens, trained, tokens: state.length * trained, seeds: seeds.length, another: trained !== before.trained, ...found };
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
  height, compute, draw, facts, reading, press,
  controls: { scheme: groupedChips, other: groupedChips },
  pixel: ({ x, y }, place, value) => [x.at(place), y.at(value)],
});

export default { render };

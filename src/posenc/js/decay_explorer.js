import { PairSums, decayLaw, decayLogarithm, EULER_GAMMA, inverseFrequencies, relativeSpread } from "./arithmetic.js";
import { colours, pairColour, shade } from "./colours.js";
import { Axis, Plot, grip, widthOf, words } from "./drawing.js";
import catalogue from "./decay_explorer.json";
import { explorable } from "./explorable.js";
import { fillColumns } from "./filling.js";
import { nameCurves } from "./labels.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const LOWEST = [-0.3, -1.05], TOP = 24; // where the picture ends: the first below all scores; pixels above it
const LAW = [6, 4], LOGARITHM = [1.5, 3]; // dashes
const STRIP = 18, ABOVE = 26; // pixels of the marks of the pairs, and between them and the curves
const CLEAR = 2.5, FADED = 1.5; // pixels from one distance to the next: from where on a line is seen, and where its range alone is left
const SETTLED = 0.1; // what a trend that stays near 0 keeps within
const NAME = 16; // pixels of a line of words
const HALO = 15; // pixels around the point
const ASIDE = 34; // pixels from the point that its name may stand out of the way of the ripples
const REACH = 14; // pixels over which the envelope is smooth
const COARSE = 500_000; // cosines that one input may cost; more are added once the slider rests

// The curves that are switched on: what each writes for start ≤ m < stop, and its cost beside that of S.
function series(state, sums, values, squares) {
  const { base, correlation } = state, { pairs } = sums;
  const curves = [{
    cost: 1,
    fill(start, stop) {
      sums.scores(start, stop, values.score, squares);
      if (!squares) return;
      for (let m = start; m < stop; m++) {
        const mean = correlation * values.score[m], spread = relativeSpread(correlation, squares[m], pairs);
        values.low[m] = mean - spread;
        values.high[m] = mean + spread;
      }
    },
  }];
  if (values.bound) curves.push({ cost: 2, fill: (start, stop) => sums.bounds(start, stop, values.bound) });
  curves.push({
    cost: 100 / pairs,
    fill(start, stop) {
      for (let m = start; m < stop; m++) values.law[m] = decayLaw(m, base);
    },
  });
  if (values.logarithm) curves.push({
    cost: 10 / pairs,
    fill(start, stop) {
      for (let m = start; m < stop; m++) values.logarithm[m] = m >= 10 && m <= base / 10 ? decayLogarithm(m, base) : NaN;
    },
  });
  return curves;
}

function compute(state, width, previous) {
  const { base, dim, distance } = state;
  const x = new Axis({ from: state.log_distance ? 1 : 0, to: distance, start: 46, end: width - 12, log: state.log_distance });
  const columns = x.columns();
  const same = previous?.sums.pairs === dim / 2 && previous.sums.greatest === distance;
  const sums = (same ? previous.sums : new PairSums(dim / 2, distance)).table(inverseFrequencies(dim, base));
  const values = {};
  const array = (wanted, ...names) => names.forEach((name) => {
    if (wanted) values[name] = (same && previous.values[name]) || new Float64Array(distance + 1);
  });
  array(true, "score", "law");
  array(state.show_logarithm, "logarithm");
  array(state.show_bound, "bound");
  array(state.show_score, "low", "high");
  const squares = state.show_score ? (same && previous.squares) || new Float64Array(distance + 1) : null;
  const curves = series(state, sums, values, squares);
  const cost = curves.reduce((sum, curve) => sum + curve.cost, 0);
  const fill = (start, stop) => curves.forEach((curve) => curve.fill(start, stop));
  if (state.log_distance) fill(0, 1); // distance 0 has no place on a logarithmic axis, but is among the values
  fill(distance, distance + 1); // the finding speaks of the last distance at once
  const earlier = state.held ?? (previous?.base === base || previous?.held ? previous.earlier : null); // the base before the point was last dragged
  return { x, columns, fill, sums, values, squares, base, held: state.held, earlier, dragged: Boolean(state.held || previous?.dragged), known: true, ...fillColumns(columns, fill, COARSE / (cost * sums.pairs)) };
}

function yAxis({ values, columns, filled }, height) {
  const above = (low) => Object.values(values).every((curve) => columns.every(([, start], k) => curve.subarray(start, filled[k]).every((value) => !(value < low))));
  return new Axis({ from: LOWEST.find(above) ?? LOWEST.at(-1), to: 1.05, start: height - 44 - STRIP - ABOVE, end: TOP });
}

// Where the law has fallen to about one half, as its logarithm has it: dragging that point along sets the base.
const halfway = (base) => Math.sqrt(base) * Math.exp(-EULER_GAMMA);
const baseOf = (distance) => Number(((distance * Math.exp(EULER_GAMMA)) ** 2).toPrecision(3));

function handles({ x, y }, { base }) {
  if (!y) return [];
  const distance = Math.min(Math.max(halfway(base), x.from), x.to); // where it can be dragged back from
  return [{ name: "base", along: "x", x: x.at(distance), y: y.at(decayLaw(distance, base)), drag: (px, py, before) => ({ base: baseOf(x.invert(px)), held: before.base }) }];
}

function draw({ context, width, height }, result, state, theme, cursor) {
  const { x, columns, filled, values, sums } = result;
  const extremes = (least, greatest) => Plot.extremes(columns, filled, least, greatest), trend = Plot.course(extremes(values.law));
  const around = (curve, share) => Plot.envelope(curve, trend.map(([, value]) => (state.base > 1 ? share * value : 0)), REACH);
  const score = extremes(values.score), isDense = x.to > 64; // else each value is seen
  const plot = new Plot(context, theme, x, (result.y = yAxis(result, height))), names = [], ink = (colour) => shade(0.7, theme, colour);
  const name = (text, colour, points) => names.push({ text, colour, points: points.map(([px, value]) => [px, plot.y.at(value)]) });
  plot.axes({ xTitle: "", xText: () => "", yTitle: say(picture.y, state) });
  drawPairs(context, theme, width, height, x, state, cursor);
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  const lasting = [], { earlier } = result, ghost = earlier > 1 && earlier !== state.base ? columns.map(([pixel, first]) => [pixel, decayLaw(first, earlier)]) : [];
  if (ghost.length) {
    context.globalAlpha = 0.55;
    plot.curve(ghost, theme.muted, { width: 2.4 });
    context.globalAlpha = 1;
    lasting.push([say(picture.earlier, { base: earlier }), theme.muted]);
  }
  if (state.show_score) {
    const range = around(extremes(values.low, values.high), state.correlation);
    plot.area(range, colours.key, 0.3);
    if (state.base > 1) plot.curve(trend.map(([pixel, value]) => [pixel, state.correlation * value]), colours.key);
    name(say(picture.random, state), ink(colours.key), range);
  }
  if (state.show_bound) {
    const bound = extremes(values.bound);
    plot.swings(bound, Plot.around(bound, REACH), colours.bound);
    name(picture.bound, ink(colours.bound), Plot.course(bound, REACH));
  }
  const ripples = isDense ? around(score, 1) : score;
  const isScore = !state.show_score || state.base === 1;
  if (isScore) {
    plot.area(ripples, colours.score);
    plot.curve(score.flatMap(([pixel, low, high]) => [[pixel, low], [pixel, high]]), isDense ? fading(context, x) : colours.score);
  }
  if (!isDense && isScore) plot.marks(Array.from(values.score, (value, m) => [m, value]).slice(x.from), colours.score, { radius: 2 });
  names.push({ points: ripples.map(([px, , high]) => [px, plot.y.at(high)]) }, { points: ripples.map(([px, low]) => [px, plot.y.at(low)]) }); // to be kept free
  if (isScore && isDense) lasting.push([picture.range, ink(colours.score)]);
  if (state.base > 1) { // else one wave, whatever the pairs
    plot.curve(trend, theme.text, { dash: LAW });
    if (!isDense && isScore) lasting.push([say(picture.score, sums), ink(colours.score)]);
    lasting.push([say(picture.law, state), theme.text]);
  }
  if (state.show_logarithm) {
    const logarithm = Plot.course(extremes(values.logarithm));
    plot.curve(logarithm, theme.text, { width: 2, dash: LOGARITHM });
    name(picture.logarithm, theme.text, logarithm);
  }
  const taken = [];
  for (const handle of handles(result, state)) {
    context.globalAlpha = 0.2;
    plot.marks([[x.invert(handle.x), plot.y.invert(handle.y)]], colours.score, { radius: HALO });
    context.globalAlpha = 1;
    grip(context, theme, handle.x, handle.y, colours.score);
    if (state.base === 1) continue; // the one wave leaves no room for its name
    const text = say(result.dragged ? picture.base : picture.drag, state), long = widthOf(context, `600 ${theme.font}`, text), before = handle.x - 14 - long, left = handle.x + 14 + long > width || (ghost.length > 0 && earlier > state.base && before > x.start), from = left ? before : handle.x + 14;
    const beside = ripples.filter(([px]) => px > from && px < from + long), edges = beside.map(([, low, high]) => plot.y.at(left ? low : high));
    const near = handle.y + (left ? 14 : -12), beyond = left ? Math.max(near, ...edges.map((at) => at + 10)) : Math.min(near, ...edges.map((at) => at - 8));
    const py = Math.abs(beyond - handle.y) > ASIDE ? near : beyond;
    const isStruck = ghost.some(([px, value]) => px > from && px < from + long && Math.abs(plot.y.at(value) - py) < 12);
    if (!isStruck) words(context, theme, text, handle.x + (left ? -14 : 14), py, { align: left ? "right" : "left", colour: theme.text, bold: true, rim: true });
    taken.push({ left: handle.x - 10 - (left ? long + 8 : 0), right: handle.x + 10 + (left ? 0 : long + 8), top: Math.min(py, handle.y) - 20, bottom: Math.max(py, handle.y) + 20 });
  }
  atEnd(context, theme, lasting, [...ripples, ...ghost].map(([px, low, high = low]) => [px, plot.y.at(high), plot.y.at(low)]), x.end, plot.y.start, taken);
  nameCurves(context, theme, { left: x.start, right: x.end, top: plot.y.end, bottom: plot.y.start }, names, taken);
  if (cursor !== null) plot.vertical(cursor.distance);
}

// Below the curves, where each pair has completed half a rotation, and how many have not by the last distance.
function drawPairs(context, theme, width, height, x, { base, dim }, cursor) {
  const strip = new Plot(context, theme, x, new Axis({ from: 0, to: 1, start: height - 44, end: height - 44 - STRIP })), pairs = dim / 2;
  const halves = Array.from(inverseFrequencies(dim, base), (frequency) => Math.PI / frequency), falling = halves.filter((half) => half > x.to).length;
  const later = falling ? say(picture.falling, { falling }) : "", title = picture.halves, room = x.end - x.start - widthOf(context, `600 ${theme.font}`, later) - 12;
  strip.axes({ xTitle: picture.x, yTitle: "", xTicks: Math.max(3, width / 110), yTicks: 1, yText: () => "" });
  words(context, theme, title, x.start, strip.y.end - 10, { width: room });
  words(context, theme, later, x.end, strip.y.end - 10, { align: "right", colour: theme.text, bold: true });
  halves.forEach((half, i) => half >= x.from && half <= x.to && strip.rule([x.at(half), strip.y.start - 1], [x.at(half), strip.y.end + 1], { colour: pairColour(i, pairs), width: width < 600 ? 1.4 : 2.5, dash: [] }));
  if (cursor !== null) strip.vertical(cursor.distance);
}

// The colour of the score, paler where its values stand closer together.
function fading(context, x) {
  const colour = context.createLinearGradient(x.start, 0, x.end, 0);
  for (let share = 0; share <= 1; share += 1 / 64) {
    const from = x.invert(x.start + share * (x.end - x.start)), apart = x.at(from + 1) - x.at(from);
    const opacity = Math.min(Math.max((apart - FADED) / (CLEAR - FADED), 0), 1);
    colour.addColorStop(share, colours.score + Math.round(255 * opacity).toString(16).padStart(2, "0"));
  }
  return colour;
}

// Names one above another at the right end of what is drawn, where they stay while the base is dragged: above it if there is room.
function atEnd(context, theme, names, drawn, right, floor, taken) {
  if (names.length === 0) return;
  const left = right - 6 - Math.max(...names.map(([text]) => widthOf(context, `600 ${theme.font}`, text))), high = names.length * NAME;
  const there = drawn.filter(([px], k) => px > left || drawn[k + 1]?.[0] > left);
  const beside = (from, step) => {
    let bottom = from;
    while (taken.some((other) => other.right > left && other.top < bottom && other.bottom > bottom - high)) bottom += step;
    return bottom;
  };
  const over = beside(Math.min(...there.map(([, top]) => top)) - 5, -1), under = beside(Math.max(...there.map(([, , low]) => low)) + 5 + high, 1);
  const bottom = over >= TOP + high ? over : under < floor ? under : TOP + high;
  names.forEach(([text, colour], k) => words(context, theme, text, right - 3, bottom - (k + 0.5) * NAME, { align: "right", colour, bold: true, ground: true }));
  taken.push({ left, right, top: bottom - high, bottom });
}

// From where on every pair has completed half a rotation and the trend stays near 0; no more exactly than that it is far away.
function settledFrom(base, slowest, distance) {
  const all = Math.PI / slowest, beyond = (1 + base) / (SETTLED * Math.log(base)); // where |Ci(x)| < 1/x leaves it within that
  let m = Math.floor(beyond);
  while (m < 2 * distance && m > all && Math.abs(decayLaw(m, base)) <= SETTLED) m -= 1;
  return Number(Math.max(m, all).toPrecision(2));
}

function facts(result, { base, dim, distance }) {
  const frequencies = inverseFrequencies(dim, base), [fastest, slowest] = [frequencies[0], frequencies.at(-1)];
  const isAlike = distance * (fastest - slowest) < Math.PI / 2; // no pair is a quarter of a rotation ahead of another
  return {
    pairs: dim / 2, is_alike: isAlike, period: (4 * Math.PI) / (fastest + slowest),
    falling: frequencies.filter((frequency) => frequency * distance < Math.PI).length,
    ...(!isAlike && { settled: settledFrom(base, slowest, distance) }),
  };
}

function reading({ fill, values }, state, { distance: m }) {
  fill(m, m + 1); // the picture may still be coarse here
  const at = Object.fromEntries(Object.entries(values).map(([name, curve]) => [name, curve[m]]));
  return { ...at, at: m, in_logarithm: state.show_logarithm && !Number.isNaN(at.logarithm) };
}

const render = explorable({
  catalogue,
  readers: [{ name: "distance", axis: ({ x }) => x }],
  height: (width) => (width < 400 ? 336 : width < 600 ? 360 : 400),
  compute, draw, facts, reading, handles,
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

import { PairSums, cosines, inverseFrequencies, mean, turns } from "./arithmetic.js";
import { boundsOf, correctionRange, scaledFrequencies, turnsAtPair } from "./arithmetic_scaling.js";
import { chipsAndList } from "./chips_and_list.js";
import { colours, pairColour } from "./colours.js";
import catalogue from "./context_extension.json";
import { Axis, Plot, cellAxis, grip, legend, words } from "./drawing.js";
import { explorable } from "./explorable.js";
import { fillColumns } from "./filling.js";
import { nameCurves } from "./labels.js";
import { grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
const THREE = ["linear", "ntk_aware", "yarn_code"]; // always in sight
const COARSE = 120_000; // cosines that one input may cost
const ROUNDING = 1e-9; // relative; what is scaled by exactly as much as it needs to be reaches nothing unseen
const LEAST_TOP = 8; // up to which the axis of the divisors goes at least
const GRIP = 11; // pixels from the top of the panel to the grips of its thresholds
const NEAR = 9; // pixels from a curve within which a press chooses its method
const REACH = 12; // pixels over which the envelope of a score is smooth

const isWide = (width) => width >= 600;
const pictureHeight = (width) => (isWide(width) ? 400 : 352);

// Above, what each method divides the frequencies by; below, on the same axis of pairs, the angles reached. Or the scores alone.
function places(width) {
  const left = 46, right = width - 14, bottom = pictureHeight(width) - 40;
  const strip = isWide(width) ? 84 : 62, between = isWide(width) ? 34 : 50;
  return {
    above: { left, right, top: 22, bottom: bottom - strip - between }, below: { left, right, top: bottom - strip, bottom },
    all: { left, right, top: 22, bottom },
  };
}

// The axis of the divisors; a method may also speed a pair up a little.
function divisors({ factor }, { top, bottom }) {
  const most = Math.max(LEAST_TOP, factor), axis = new Axis({ from: most ** -0.08, to: most ** 1.22, start: bottom, end: top, log: true });
  const powers = Array.from({ length: 7 }, (_, k) => 2 ** k).filter((tick, k) => tick <= most && (most <= 16 || k % 2 === 0));
  axis.ticks = () => powers;
  return axis;
}

function compute(state, width, previous, lists) {
  const { dim, base, factor, trained, used, method, shown } = state;
  const setting = { dim, base, factor, trained, used, betaFast: state.beta_fast, betaSlow: state.beta_slow };
  const original = inverseFrequencies(dim, base), bounds = boundsOf(method, setting), place = places(width);
  const scaled = (name) => scaledFrequencies(name, setting, lists), divided = (frequencies) => frequencies.map((theta, i) => original[i] / theta);
  const drawn = (one) => one && {
    wavelength: one.frequencies.map((theta) => (2 * Math.PI) / theta), divisor: divided(one.frequencies),
    rotations: turns(used, one.frequencies), attention_factor: one.attentionFactor,
  };
  const lines = { original: scaled("none"), method: scaled(method) };
  const values = {
    trained_rotations: turns(trained, original), thresholds: bounds && correctionRange({ ...setting, ...bounds }, false),
    original: drawn(lines.original), method: drawn(lines.method),
    three: Object.fromEntries(THREE.map((name) => [name, divided(scaled(name).frequencies)])),
  };
  const x = new Axis({ from: 1, to: used, start: place.all.left, end: place.all.right, log: true });
  const result = {
    values, lists, bounds, lines, place, x, pairs: cellAxis(dim / 2, place.above.left, place.above.right),
    up: shown === "scores" ? new Axis({ from: -0.55, to: 1.05, start: place.all.bottom, end: place.all.top }) : divisors(state, place.above),
    turnsAt: (pair) => turnsAtPair(pair, setting), complete: undefined,
  };
  result.across = shown === "scores" ? result.x : result.pairs;
  return shown === "scores" ? Object.assign(result, scores(result, state, previous)) : result;
}

// The score at every distance of the frequencies as trained, and as scaled.
function scores({ values, lines, x }, { used, dim }, previous) {
  const pairs = dim / 2, same = previous?.sums && previous.sums[0].pairs === pairs && previous.sums[0].greatest === used;
  const drawn = ["original", "method"].filter((which) => lines[which]), columns = x.columns();
  const sums = drawn.map((which, k) => ((same && previous.sums[k]) || new PairSums(pairs, used)).table(lines[which].frequencies));
  for (const which of drawn) values[which].score = (same && previous.values[which]?.score) || new Float64Array(used + 1);
  const fill = (start, stop) => drawn.forEach((which, k) => sums[k].scores(start, stop, values[which].score));
  fill(0, 1); // distance 0 has no place on a logarithmic axis, but is among the values
  return { sums, columns, ...fillColumns(columns, fill, COARSE / (pairs * drawn.length)) };
}

// Which pairs reach angles unseen in training: they had not completed a rotation, and now go farther.
function reachesUnseen({ trained_rotations: seen }, { rotations: reached }) {
  return Array.from(seen, (turned, i) => turned < 1 && reached[i] > turned * (1 + ROUNDING));
}

const count = (flags) => flags.filter(Boolean).length;
const scoreAt = (distance, { frequencies }) => mean(cosines(distance, frequencies));

function facts({ values, lists, lines }, state) {
  const { original, method } = values, { used, trained, dim } = state;
  return {
    pairs: dim / 2, times: used / trained, unscaled: count(reachesUnseen(values, original)), listed: lists.long.length, no_list: !method,
    ...(method && {
      fresh: count(reachesUnseen(values, method)), kept: count(Array.from(method.divisor, (times) => times <= 1 + ROUNDING)),
      score: scoreAt(used, lines.original), scaled: scoreAt(used, lines.method), temperature: method.attention_factor ** 2,
    }),
  };
}

function reading({ values, lines }, state, { last, pair: i, distance: m }) {
  const { original, method } = values, scaled = method !== null && state.method !== "none";
  if (last === "distance") {
    return { scaled, score: scoreAt(m, lines.original), ...(scaled && { score_scaled: scoreAt(m, lines.method), temperature: method.attention_factor ** 2 }) };
  }
  return {
    scaled, trained_rotations: values.trained_rotations[i], rotations: original.rotations[i],
    ...(scaled && { rotations_scaled: method.rotations[i], divisor: method.divisor[i] }),
  };
}

// ---- what is dragged and pressed

// The thresholds of the method, fast and slow: { name, rotations, at }, where `at` is a pair index between two pairs.
function thresholds({ values, bounds }, { method, dim }) {
  if (!bounds) return [];
  const all = Object.values(bounds).map((rotations, k) => ({ name: ["beta_fast", "beta_slow"][k], rotations, at: values.thresholds[k], moves: method !== "llama3" }));
  return all.filter(({ at }) => at >= 0 && at <= dim / 2 - 1);
}

function handles(result, state) {
  const { place, pairs, up, turnsAt, x } = result, { shown, trained, used, factor } = state;
  if (shown === "scores") {
    const line = { vertical: true, from: place.all.top, to: place.all.bottom };
    return trained > used ? [] : [{ name: "trained", x: x.at(trained), y: place.all.bottom - 16, line, drag: (px) => ({ trained: x.invert(px) }) }];
  }
  const line = { vertical: true, from: place.above.top, to: place.above.bottom };
  return [
    { name: "factor", along: "y", x: place.above.right, y: up.at(factor), drag: (_, py) => ({ factor: up.invert(py) }) },
    ...thresholds(result, state).filter(({ moves }) => moves).map(({ name, at }) => ({
      name, x: pairs.at(at), y: place.above.top + GRIP, line, drag: (px) => ({ [name]: turnsAt(pairs.invert(px)) }),
    })),
  ];
}

// A press on one of the three curves chooses its method.
function press(px, py, { values, place, pairs, up }, { shown }) {
  const { left, right, top, bottom } = place.above;
  if (shown === "scores" || px < left || px > right || py < top || py > bottom) return null;
  const pair = pairs.nearest(pairs.invert(px)), away = (name) => Math.abs(up.at(values.three[name][pair]) - py);
  const nearest = THREE.toSorted((one, other) => away(one) - away(other))[0];
  return away(nearest) <= NEAR ? { method: nearest } : null;
}

// ---- the picture

const nameOf = (method) => say(picture.method, { method }, names);

function draw(canvas, result, state, theme, cursor) {
  (state.shown === "scores" ? drawScores : drawPairs)(canvas, result, state, theme, cursor);
  for (const { x, y } of handles(result, state)) grip(canvas.context, theme, x, y, theme.text);
}

function drawPairs({ context, width }, result, state, theme, cursor) {
  drawDivisors(context, theme, width, result, state);
  drawAngles(context, theme, width, result, state);
  if (cursor?.last !== "pair") return;
  const { pairs, place } = result, line = new Plot(context, theme, pairs, new Axis({ from: 0, to: 1, start: place.below.bottom, end: place.above.top }));
  line.vertical(cursor.pair, { dash: [] });
}

// What the frequency of each pair is divided by: equal steps are equal ratios.
function drawDivisors(context, theme, width, result, state) {
  const { place: { above }, pairs, up, values } = result, { method, factor } = state, taken = [];
  const plot = new Plot(context, theme, pairs, up), bounds = thresholds(result, state);
  if (bounds.length === 2) { // fast pairs, which keep their frequency, and slow ones, which do not
    plot.ground(pairs.from, bounds[0].at, pairColour(0, 9), 0.13);
    plot.ground(bounds[1].at, pairs.to, pairColour(8, 9), 0.13);
  }
  plot.axes({ xText: () => "", xTitle: "", yTitle: picture.scaling, yText: (value) => say(picture.times, { factor: value }) });
  plot.horizontal(factor, { dash: [2, 3], colour: theme.muted });
  bounds.forEach((bound, k) => drawThreshold(context, theme, plot, bound, { ...state, wide: isWide(width), left: k ? pairs.at(bounds[0].at) : above.left, right: above.right, top: above.top, taken }));
  const others = THREE.filter((name) => name !== method), curve = (name) => (name === method ? values.method?.divisor : values.three[name]);
  for (const name of others) plot.series(curve(name), colours.neutral, { width: 1.6 });
  if (values.method) {
    plot.series(values.method.divisor, colours.score, { width: 2.8 });
    if (pairs.at(1) - pairs.at(0) >= 4) plot.marks(Array.from(values.method.divisor, (value, i) => [i, value]), colours.score, { radius: 2.5 });
  }
  taken.push({ left: above.right - 10, right: above.right + 10, top: up.at(factor) - 10, bottom: up.at(factor) + 10 });
  const points = (series) => Array.from(series, (value, i) => [pairs.at(i), up.at(value)]);
  nameCurves(context, theme, above, [
    ...(values.method ? [{ text: nameOf(method), colour: colours.score, points: points(values.method.divisor) }] : []),
    ...others.map((name) => ({ text: nameOf(name), colour: theme.muted, points: points(curve(name)) })),
    ...bounds.map(({ at }) => ({ weight: 0.5, points: [[pairs.at(at), up.end], [pairs.at(at), up.start]] })),
  ], taken);
}

// A threshold, and beside it what it does and, where there is room, how configurations call it.
function drawThreshold(context, theme, plot, { name, rotations, at }, { method, factor, wide, left, right, top, taken }) {
  const px = plot.x.at(at), fast = name === "beta_fast", [align, room] = fast || right - px < 40 ? ["right", px - left - 26] : ["left", right - px - 13];
  plot.vertical(at, { dash: [5, 4], width: 1.5 });
  [picture.threshold[name], ...(wide ? [picture.called] : [])].forEach((texts, line) => {
    const written = texts.map((text) => say(text, { rotations, factor, bound: method === "llama3" ? `llama3_${name}` : name }, names)), y = top + GRIP + 16 * line;
    words(context, theme, written, px + (align === "right" ? -13 : 13), y, { align, colour: line ? theme.muted : theme.text, width: room });
    taken.push({ left: align === "right" ? px - 13 - room : px, right: align === "right" ? px : px + 13 + room, top: y - 8, bottom: y + 8 });
  });
}

// The angles that each pair reaches, up to a full rotation: pale as far as training has gone, striped beyond.
function drawAngles(context, theme, width, { place: { below }, pairs, values }, state) {
  const { original, method, trained_rotations: seen } = values, y = new Axis({ from: 0, to: 1, start: below.bottom, end: below.top });
  const plot = new Plot(context, theme, pairs, y), step = pairs.at(1) - pairs.at(0), wide = Math.max(0.84 * step, 1), left = (i) => pairs.at(i) - 0.42 * step;
  const upTo = (rotations) => y.at(Math.min(rotations, 1)), fill = (i, top, bottom) => context.fillRect(left(i), top, wide, bottom - top);
  plot.axes({ xTitle: picture.pairs, xTicks: Math.min(6, pairs.to + 0.5), yTitle: "", yTicks: 1, yText: grouped });
  seen.forEach((turned, i) => {
    context.fillStyle = pairColour(i, seen.length);
    context.globalAlpha = 0.35;
    fill(i, upTo(turned), below.bottom);
    context.globalAlpha = 1;
  });
  const steps = ({ rotations }) => Array.from(rotations, (reached, i) => [[i - 0.5, Math.min(reached, 1)], [i + 0.5, Math.min(reached, 1)]]).flat();
  if (method) {
    const fresh = reachesUnseen(values, method);
    for (const style of [null, striped(theme.ground)]) {
      fresh.forEach((isNew, i) => {
        if (!isNew) return;
        context.fillStyle = style ?? pairColour(i, seen.length);
        fill(i, upTo(method.rotations[i]), upTo(seen[i]));
      });
    }
    if (state.method !== "none") plot.line(steps(original), colours.neutral, { width: 1.6, dash: [3, 3] });
    plot.line(steps(method), theme.text, { width: 2 });
  }
  const entries = [{ label: say(picture.reached[isWide(width) ? 0 : 1], state), colour: theme.text }];
  if (method && state.method !== "none") entries.push({ label: picture.unscaled, colour: colours.neutral, dash: [3, 3] });
  entries.push({ label: picture.unseen, colour: pairColour(seen.length - 1, seen.length), pattern: striped(theme.ground) });
  legend(context, theme, entries, isWide(width) ? below.left : 0, below.top - (isWide(width) ? 14 : 31), width);
}

function drawScores({ context }, { place: { all }, x, up, columns, filled, values }, state, theme, cursor) {
  const { trained, used, method } = state, plot = new Plot(context, theme, x, up);
  plot.axes({ xTitle: picture.distance, yTitle: picture.scores, xText: (value) => (value < 1e4 ? grouped(value) : decade(value)) });
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  if (trained <= used) {
    plot.vertical(trained, { dash: [5, 4], width: 1.5 });
    const px = x.at(trained), [align, room] = px - all.left > all.right - px ? ["right", px - all.left - 13] : ["left", all.right - px - 13];
    words(context, theme, picture.trained.map((text) => say(text, state)), px + (align === "left" ? 13 : -13), all.bottom - 16, { align, colour: theme.text, width: room });
  }
  const drawn = [["original", colours.neutral, picture.unscaled], ...(values.method && method !== "none" ? [["method", colours.score, nameOf(method)]] : [])];
  for (const [which, colour] of drawn) {
    const extremes = Plot.extremes(columns, filled, values[which].score);
    plot.swings(extremes, Plot.around(extremes, REACH), colour, { width: 2 });
  }
  legend(context, theme, drawn.map(([, colour, label]) => ({ label, colour })), all.left + 8, all.bottom - 44, all.right);
  if (cursor?.last === "distance") plot.vertical(cursor.distance, { dash: [] });
}

const decade = (value) => `10${[..."⁰¹²³⁴⁵⁶⁷⁸"][Math.round(Math.log10(value))]}`;

// A tile of stripes in the colour of the page, which say "new" without colour; made once for each theme.
const tiles = {};
function striped(ground) {
  if (tiles[ground]) return tiles[ground];
  const tile = document.createElement("canvas"), context = tile.getContext("2d");
  tile.width = tile.height = 6;
  context.strokeStyle = ground;
  context.lineWidth = 2;
  for (const from of [-6, 0, 6]) {
    context.moveTo(from, 6);
    context.lineTo(from + 6, 0);
  }
  context.stroke();
  return (tiles[ground] = context.createPattern(tile, "repeat"));
}

const render = explorable({
  catalogue,
  readers: [
    { name: "pair", axis: ({ pairs }) => pairs, within: ({ place }, { shown }) => (shown === "scores" ? [] : [{ ...place.all, top: place.above.top }]) },
    { name: "distance", axis: ({ x }) => x, within: ({ place }, { shown }) => (shown === "scores" ? [place.all] : []) },
  ],
  height: pictureHeight, compute, draw, facts, reading, handles, press,
  opening: (share, { factor }) => ({ factor: factor ** share }),
  controls: { method: chipsAndList },
  pixel: ({ across, up }, at, value) => [across.at(at), up.at(value)],
});

export default { render };

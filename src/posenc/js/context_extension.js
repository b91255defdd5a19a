import { inverseFrequencies, turns } from "./arithmetic.js";
import { boundsOf, correctionRange, scaledFrequencies, turnsAtPair } from "./arithmetic_scaling.js";
import { chipsAndList } from "./chips_and_list.js";
import { colours, pairColour, shade } from "./colours.js";
import catalogue from "./context_extension.json";
import { Axis, Plot, cellAxis, grip, widthOf, words } from "./drawing.js";
import { explorable } from "./explorable.js";
import { nameCurves } from "./labels.js";
import { grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
const CATCH = 14, LEAVES = 6; // pixels from the factor that is needed within which the handle takes it, and where it began there
const ROUNDING = 1e-9; // relative; what is scaled by exactly as much as it needs to be reaches nothing unseen
const MOST = 64; // that a frequency is divided by, of all factors that can be chosen
const GRIP = 11; // pixels from the top of the panel to the grips of its thresholds
const SPARE = 1.25; // how far the axis goes beyond the factor that is needed
const HEAD = 36, FOOT = 12; // pixels above the greatest divisor, for what stands there, and below 1
const BESIDE = 55; // pixels to the right of the panels, for what stands beside the circle
const BARS = 8; // pixels of a pair from which its bar stands apart from the next
const ROWS = [0.85, 0.75, 0.65, 0.55, 0.45]; // of the angles, in which names stand

const isWide = (width) => width >= 600;
const pictureHeight = (width) => (isWide(width) ? 400 : 352);

// Above, what each method divides the frequencies by; below, on the same axis of pairs, the angles reached.
function places(width) {
  const left = 38, right = width - BESIDE, bottom = pictureHeight(width) - 40, strip = 108;
  return { above: { left, right, top: 0, bottom: bottom - strip - 32 }, below: { left, right, top: bottom - strip, bottom } };
}

// The axis of the divisors, up to the factor, or beyond what it should be; a method may also speed a pair up a little.
function divisors({ factor, used, trained }, { top, bottom }) {
  const most = Math.max(2, factor, Math.min((SPARE * used) / trained, MOST)), each = Math.log(most) / (bottom - top - HEAD - FOOT);
  const axis = new Axis({ from: Math.exp(-FOOT * each), to: most * Math.exp(HEAD * each), start: bottom, end: top, log: true });
  const powers = Array.from({ length: 7 }, (_, k) => 2 ** k).filter((tick, k) => tick <= most && (most <= 16 || k % 2 === 0));
  return Object.assign(axis, { most, ticks: () => powers });
}

function compute(state, width, previous, lists) {
  const { dim, base, factor, trained, used, method } = state;
  const setting = { dim, base, factor, trained, used, betaFast: state.beta_fast, betaSlow: state.beta_slow };
  const original = inverseFrequencies(dim, base), bounds = boundsOf(method, setting), place = places(width);
  const scaled = (name) => scaledFrequencies(name, setting, lists);
  const drawn = (one) => one && {
    wavelength: one.frequencies.map((theta) => (2 * Math.PI) / theta), divisor: one.frequencies.map((theta, i) => original[i] / theta),
    rotations: turns(used, one.frequencies), attention_factor: one.attentionFactor,
  };
  const lines = { original: scaled("none"), method: scaled(method) };
  const values = {
    trained_rotations: turns(trained, original), thresholds: bounds && correctionRange({ ...setting, ...bounds }, false),
    original: drawn(lines.original), method: drawn(lines.method),
  };
  return {
    values, bounds, lists, lines, place, dragged: Boolean(state.held || previous?.dragged), pairs: cellAxis(dim / 2, place.above.left, place.above.right), up: divisors(state, place.above),
    turnsAt: (pair) => turnsAtPair(pair, setting),
  };
}

// Which pairs reach angles unseen in training: they had not completed a rotation, and now go farther.
function reachesUnseen({ trained_rotations: seen }, { rotations: reached }) {
  return Array.from(seen, (turned, i) => turned < 1 && reached[i] > turned * (1 + ROUNDING));
}

// Whether a pair that needs to be slowed is slowed by more than that.
const isExcess = ({ trained_rotations: seen, method }, times) => seen.some((turned, i) => turned < 1 && times > 1 && method.divisor[i] > times * (1 + ROUNDING));

const count = (flags) => flags.filter(Boolean).length, isKept = (divisor) => divisor <= 1 + ROUNDING;
// The angle between neighbouring tokens in the fastest pair, in whole degrees.
const perToken = ({ frequencies }) => Math.round((frequencies[0] * 180) / Math.PI);

function facts({ values, lists, lines }, state) {
  const { original, method } = values, { used, trained, dim } = state, times = used / trained;
  return {
    pairs: dim / 2, times, unscaled: count(reachesUnseen(values, original)), listed: lists.long.length, no_list: !method,
    ...(method && {
      step: perToken(lines.method), step_unscaled: perToken(lines.original),
      fresh: count(reachesUnseen(values, method)), kept: count(Array.from(method.divisor, isKept)),
      excess: isExcess(values, times),
    }),
  };
}

function reading({ values: { original, method, trained_rotations: seen } }, state, { pair: i }) {
  const scaled = method !== null && state.method !== "none";
  return { scaled, trained_rotations: seen[i], rotations: original.rotations[i], ...(scaled && { rotations_scaled: method.rotations[i], divisor: method.divisor[i] }) };
}

// ---- what is dragged and pressed

// The thresholds of the method, fast and slow: { name, rotations, at }, where `at` is a pair index between two pairs.
function thresholds({ values, bounds }, { method, dim }) {
  if (!bounds) return [];
  const all = Object.values(bounds).map((rotations, k) => ({ name: ["beta_fast", "beta_slow"][k], rotations, at: values.thresholds[k], moves: method !== "llama3" }));
  return all.filter(({ at }) => at >= 0 && at <= dim / 2 - 1);
}

// The factor, but where nothing is scaled; its handle begins there, and makes PI of it.
const dividing = ({ method, factor }) => (method === "none" ? 1 : factor);

function handles(result, state) {
  const { place, pairs, up, turnsAt } = result;
  const line = { vertical: true, from: place.above.top, to: place.above.bottom };
  const needed = Math.min(Math.max(state.used / state.trained, 1), MOST);
  const divided = (py, before) => {
    const factor = Math.abs(up.at(needed) - py) <= (dividing(before) === needed ? LEAVES : CATCH) ? needed : Math.min(up.invert(py), up.most);
    return before.method === "none" && factor <= 1 ? { method: "none", factor: before.factor } : { factor };
  };
  return [
    { name: "factor", along: "y", x: place.above.right, y: up.at(dividing(state)), drag: (_, py, before) => ({ held: true, ...divided(py, before) }) },
    ...thresholds(result, state).filter(({ moves }) => moves).map(({ name, at }) => ({
      name, x: pairs.at(at), y: place.above.top + GRIP, line, drag: (px) => ({ [name]: turnsAt(pairs.invert(px)) }),
    })),
  ];
}

// ---- the picture

function draw({ context, width }, result, state, theme, cursor) {
  drawDivisors(context, theme, width, result, state);
  drawAngles(context, theme, width, result, state);
  const { pairs, place } = result, line = new Plot(context, theme, pairs, new Axis({ from: 0, to: 1, start: place.below.bottom, end: place.above.top }));
  if (cursor !== null) line.vertical(cursor.pair, { dash: [] });
  const [circle, ...others] = handles(result, state), beside = { colour: theme.text, bold: true, width: BESIDE - 11 };
  for (const { x, y } of [circle, ...others]) grip(context, theme, x, y, theme.text);
  words(context, theme, say(picture.times, { factor: dividing(state) }), circle.x + 11, circle.y, beside);
  if (!result.dragged) words(context, theme, picture.drag, circle.x + 11, circle.y + 18, beside);
}

// What the frequency of each pair is divided by: equal steps are equal ratios.
function drawDivisors(context, theme, width, result, state) {
  const { place: { above }, pairs, up, values } = result, { method } = state, factor = dividing(state), taken = [];
  const plot = new Plot(context, theme, pairs, up), bounds = thresholds(result, state);
  plot.axes({ xText: () => "", xTitle: "", yTitle: "", yText: (value) => say(picture.times, { factor: value }) });
  const scaling = picture.scaling[isWide(width) ? 0 : bounds.length ? 2 : 1], bottom = bounds.length ? up.at(up.ticks().at(-1)) - 4 : 2 * GRIP, title = { left: above.left, right: above.left + widthOf(context, theme.font, scaling), top: bottom - 16, bottom };
  taken.push(title);
  plot.horizontal(factor, { dash: [2, 3], colour: theme.muted });
  // how much pairs are slowed beyond what keeps them from unseen angles
  const times = state.used / state.trained, least = Array.from(values.trained_rotations, (turned) => (turned < 1 ? Math.max(times, 1) : 1)), divisor = values.method?.divisor ?? least;
  const most = least.map((needed, i) => Math.max(divisor[i], needed)), fresh = values.method ? reachesUnseen(values, values.method) : [];
  plot.area(most.flatMap((slowed, i) => [-0.5, 0.5].map((side) => [pairs.at(i + side), least[i], slowed])), colours.score, 0.16);
  stripes(context, theme, fresh, (i) => { // what is missing to what would keep it from them
    const left = Math.round(pairs.at(i - 0.5)), gap = pairs.at(1) - pairs.at(0) >= BARS ? 2 : 0, top = Math.max(up.at(times), above.top), bottom = up.at(values.method.divisor[i]);
    context.fillRect(left, top, Math.max(Math.round(pairs.at(i + 0.5)) - left - gap, 1), bottom - top);
  });
  bounds.forEach((bound, k) => drawThreshold(context, theme, plot, bound, { ...state, left: k ? pairs.at(bounds[0].at) + 13 : 0, right: width, top: above.top, taken }));
  if (values.method) plot.series(values.method.divisor, colours.score, { width: 2.8 });
  words(context, theme, scaling, above.left, title.top + 8, { ground: true });
  taken.push({ left: above.right - 10, right: above.right + 10, top: up.at(factor) - 10, bottom: up.at(factor) + 10 });
  if (fresh.includes(true)) {
    const missing = say(picture.missing[isWide(width) ? 0 : 1], { times: Number(times.toPrecision(2)) }), right = Math.min(above.right - 12, pairs.at(fresh.lastIndexOf(true) - 0.5)), y = Math.max(up.at(times), above.top) - 9;
    words(context, theme, missing, right, y, { align: "right", bold: true, colour: theme.text, ground: true });
    taken.push({ left: right - widthOf(context, `600 ${theme.font}`, missing), right, top: y - 8, bottom: y + 8 });
  }
  const inside = nameBetween(context, theme, pairs, above.left, least.map(up.at, up), most.map(up.at, up), [0.5, 0.3, 0.15].map((share) => up.at(factor ** share)), [picture.needless], {});
  if (inside) taken.push(inside);
  const points = Array.from(values.method?.divisor ?? [], (value, i) => [pairs.at(i), up.at(value)]);
  nameCurves(context, theme, above, [
    { text: say(picture.method, { method }, names), colour: shade(0.7, theme, colours.score), points },
    ...bounds.map(({ at }) => ({ weight: 0.5, points: [[pairs.at(at), up.end], [pairs.at(at), up.start]] })),
  ], taken);
}

// A threshold, and beside it what it does and, where there is room, how configurations call it.
function drawThreshold(context, theme, plot, { name, rotations, at }, { method, factor, left, right, top, taken }) {
  const px = plot.x.at(at), [align, room] = name === "beta_fast" || right - px < 60 ? ["right", px - left - 13] : ["left", right - px - 13], y = top + GRIP;
  const written = picture.threshold[name].map((text) => say(text, { rotations, factor, bound: method === "llama3" ? `llama3_${name}` : name }, names));
  plot.vertical(at, { dash: [5, 4], width: 1.5 });
  words(context, theme, written, px + (align === "right" ? -13 : 13), y, { align, colour: theme.text, width: room });
  taken.push({ left: align === "right" ? px - 13 - room : px, right: align === "right" ? px : px + 13 + room, top: y - 8, bottom: y + 8 });
}

// The angles that each pair reaches, up to a full rotation: pale as far as training has gone, striped beyond.
function drawAngles(context, theme, width, { place: { below }, pairs, values }, state) {
  const { method, trained_rotations: seen } = values, y = new Axis({ from: 0, to: 1, start: below.bottom, end: below.top });
  const plot = new Plot(context, theme, pairs, y), gap = pairs.at(1) - pairs.at(0) >= BARS ? 2 : 0;
  const reachTo = (rotations) => y.at(Math.min(rotations, 1)), edge = (i) => Math.round(pairs.at(i - 0.5));
  const fill = (i, top, bottom) => context.fillRect(edge(i), top, Math.max(edge(i + 1) - edge(i) - gap, 1), bottom - top);
  plot.axes({ xTitle: picture.pairs, xTicks: Math.min(6, pairs.to + 0.5), yTitle: picture.reached.map((text) => say(text, state)), yTicks: 1, yText: grouped });
  context.globalAlpha = 0.3;
  seen.forEach((turned, i) => {
    context.fillStyle = pairColour(i, seen.length);
    fill(i, reachTo(turned), below.bottom);
  });
  context.globalAlpha = 1;
  if (!method) return;
  const fresh = reachesUnseen(values, method);
  stripes(context, theme, fresh, (i) => fill(i, reachTo(method.rotations[i]), reachTo(seen[i])));
  const steps = ({ rotations }) => Array.from(rotations, (reached, i) => [[i - 0.5, Math.min(reached, 1)], [i + 0.5, Math.min(reached, 1)]]).flat();
  plot.line(steps(method), theme.text, { width: 2 });
  const name = (texts, from, to, rows, style) => nameBetween(context, theme, pairs, below.left, Array.from(from, reachTo), Array.from(to, reachTo), rows.map(reachTo), texts, style);
  const none = seen.map(() => 0);
  name(picture.unseen, seen, method.rotations.map((reached, i) => (fresh[i] ? reached : 0)), ROWS, { bold: true });
  name([picture.seen], none, seen, [0.2], {});
  if (state.method !== "none" && !fresh.some(Boolean)) name([picture.none_unseen], none, method.rotations, [0.58], { bold: true });
}

// A name in the row where it has the most room between two series of pixels, of which it returns the box; beside it, if wanted, where that is too little.
function nameBetween(context, theme, pairs, leftmost, from, to, rows, texts, style) {
  const edge = (i) => Math.round(pairs.at(i - 0.5)), long = (text) => widthOf(context, `${style.bold ? 600 : 400} ${theme.font}`, text);
  const roomAt = (y) => {
    const fits = to.map((high, i) => high <= y - 9 && from[i] >= y + 9), first = fits.indexOf(true);
    return first < 0 ? { room: 0 } : { y, left: edge(first), room: edge(first + fits.slice(first).concat(false).indexOf(false)) - edge(first) };
  };
  const { y, left, room } = rows.map(roomAt).reduce((best, one) => (one.room > best.room ? one : best));
  const half = long(texts[0]) / 2, middle = left + room / 2;
  if (room >= 2 * half + 6) {
    words(context, theme, texts[0], middle, y, { align: "center", colour: theme.text, ground: true, ...style });
    return { left: middle - half, right: middle + half, top: y - 8, bottom: y + 8 };
  }
  if (texts[1] && room > 0) words(context, theme, texts[1], Math.max(left - 6, leftmost + long(texts[1])), y, { align: "right", colour: theme.text, ground: true, ...style });
}

// Fills something of each pair that reaches unseen angles, striped in its colour.
function stripes(context, theme, fresh, fill) {
  for (const style of [null, striped(theme.ground)]) {
    fresh.forEach((isNew, i) => {
      if (!isNew) return;
      context.fillStyle = style ?? pairColour(i, fresh.length);
      fill(i);
    });
  }
}

// A tile of stripes in the colour of the page, which say "new" without colour; made once for each theme.
const tiles = {};
function striped(ground) {
  if (tiles[ground]) return tiles[ground];
  const tile = document.createElement("canvas"), context = tile.getContext("2d");
  tile.width = tile.height = 8;
  context.strokeStyle = ground;
  context.lineWidth = 2.5;
  for (const from of [-8, 0, 8]) {
    context.moveTo(from, 8);
    context.lineTo(from + 8, 0);
  }
  context.stroke();
  return (tiles[ground] = context.createPattern(tile, "repeat"));
}

const render = explorable({
  catalogue,
  readers: [{ name: "pair", axis: ({ pairs }) => pairs, within: ({ place: { above, below } }) => [{ ...below, top: above.top }] }],
  height: pictureHeight, compute, draw, facts, reading, handles,
  opening: (share, { trained, used }) => ({ used: Math.round(trained * (used / trained) ** share) }), // the sequence grows
  linked: (changes, { method }) => (method === "none" && "factor" in changes && !("method" in changes) ? { method: "linear" } : {}),
  controls: { method: chipsAndList },
  pixel: ({ pairs, up }, at, value) => [pairs.at(at), up.at(value)],
});

export default { render };

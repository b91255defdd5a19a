// The three panels of ContextExtension: scaling and angles of every pair, and the score against distance. One stands large,
// the others small beside it.

import { frame, largeAndSmall, nameCurves } from "./beside.js";
import { colours, pairColour } from "./colours.js";
import catalogue from "./context_extension.json";
import { Axis, Plot, grip, legend, words } from "./drawing.js";
import { grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
export const ROUNDING = 1e-9; // relative; what is scaled by exactly as much as it needs to be reaches nothing unseen
export const PANELS = Object.keys(catalogue.controls.shown.options);
const WITH_BETAS = ["ntk_by_parts", "yarn_paper", "yarn_code"];
const MARKS = { original: "", method: "● ", other: "■ " };
const STROKES = { // in the order in which they are drawn
  original: { colour: colours.neutral, width: 1.6, dash: [] },
  other: { colour: colours.bound, width: 2.2, dash: [7, 4] },
  method: { colour: colours.score, width: 2.6, dash: [] },
};

const highOf = (width) => (width < 600 ? 266 : 344);
const arranged = (width) => largeAndSmall(width, PANELS.length - 1, highOf(width));
export const panelsHeight = (width) => arranged(width).height;

// Where each panel's axes stand, by its name; `large` is the one that is shown large.
export function places(width, shown) {
  const { large, small } = arranged(width), around = { left: 50, right: large.right - 12, top: 22, bottom: large.bottom - 40 };
  const others = PANELS.filter((name) => name !== shown);
  return { [shown]: around, ...Object.fromEntries(others.map((name, k) => [name, small[k]])) };
}

// Which pairs reach angles unseen in training: they had not completed a rotation, and now go farther.
export function reachesUnseen({ trained_rotations: seen }, { rotations: reached }) {
  return Array.from(seen, (count, i) => count < 1 && reached[i] > count * (1 + ROUNDING));
}

export const count = (flags) => flags.filter(Boolean).length;
const decade = (value) => `10${[..."⁰¹²³⁴⁵⁶⁷⁸"][Math.round(Math.log10(value))]}`;
const nameOf = (which, state) => (
  which === "original" ? picture.original : say(picture.method, { mark: MARKS[which], method: state[which] }, names)
);

// The axes of the large panel, besides that of the pairs and that of the distances.
export function upwards({ shown, factor }, { top, bottom }) {
  const from = { start: bottom, end: top }, most = Math.max(factor, 1.02); // a factor of 1 leaves no room between
  if (shown === "scaling") return new Axis({ from: most ** -0.12, to: most ** 1.2, ...from, log: true });
  return shown === "angles" ? new Axis({ from: 0, to: 1, ...from }) : new Axis({ from: -1.05, to: 1.05, ...from });
}

// The thresholds of the methods that have them: { control, rotations, at }, where `at` is a pair index between two pairs.
function bounds({ values }, { method, other, beta_fast, beta_slow, dim }) {
  if (![method, other].some((name) => WITH_BETAS.includes(name))) return [];
  const all = [["beta_fast", beta_fast], ["beta_slow", beta_slow]].map(([control, rotations], k) => ({ control, rotations, at: values.ramp[k] }));
  return all.filter(({ at }) => at >= 0 && at <= dim / 2 - 1);
}

const ZONES = [0.42, 0.3, 0.2]; // how far down a zone's name may stand: as far as no curve crosses it
const GRIP = 11; // pixels from the top of the panel to the grips of its thresholds, above all curves

// What is dragged in the large panel: the thresholds, or the trained length.
export function handles(result, state) {
  const { place, pairs, up, turnsAt } = result, { shown, trained, used } = state, box = place[shown];
  if (shown === "scaling") {
    const along = { vertical: true, from: box.top, to: box.bottom };
    return bounds(result, state).map(({ control, at }) => ({
      name: control, x: pairs.at(at), y: box.top + GRIP, line: along, drag: (px) => ({ [control]: turnsAt(pairs.invert(px)) }),
    }));
  }
  if (shown !== "scores" || trained > used) return [];
  const line = { vertical: true, from: box.top, to: box.bottom };
  return [{ name: "trained", x: result.x.at(trained), y: box.bottom - 16, line, drag: (px) => ({ trained: result.x.invert(px) }) }];
}

export function drawPanels({ context }, result, state, theme, cursor) {
  const { place, values } = result, drawn = Object.keys(STROKES).filter((which) => values[which]);
  for (const name of PANELS.filter((name) => name !== state.shown)) {
    frame(context, theme, place[name], say(picture.small, { shown: name }, names));
    SMALL[name](context, theme, place[name], result, state, drawn);
  }
  LARGE[state.shown](context, theme, place[state.shown], result, state, drawn, cursor);
  for (const { x, y } of handles(result, state)) grip(context, theme, x, y, theme.text);
}

// ---- small

const shrunk = ({ left, right, top, bottom }) => ({ left: left + 4, right: right - 4, top: top + 4, bottom: bottom - 4 });

const SMALL = {
  scaling(context, theme, place, { values, pairs }, state, drawn) {
    const { left, right, top, bottom } = shrunk(place), y = upwards({ ...state, shown: "scaling" }, { top, bottom });
    const plot = new Plot(context, theme, new Axis({ from: 0, to: Math.max(pairs.to - 0.5, 1), start: left, end: right }), y);
    drawn.forEach((which) => plot.series(values[which].divisor, STROKES[which].colour, STROKES[which]));
    words(context, theme, say(picture.times, { factor: 1 }), left + 4, y.at(1) - 10);
    words(context, theme, say(picture.times, { factor: state.factor }), right - 4, y.at(state.factor) + 10, { align: "right", ground: true });
  },
  angles(context, theme, place, { values }, state) {
    const { left, right, top, bottom } = shrunk(place), rows = ["original", "method", "other"].filter((which) => values[which]);
    const pairs = values.trained_rotations.length, step = (right - left) / pairs, high = (bottom - top) / rows.length - 2;
    rows.forEach((which, k) => {
      const fresh = reachesUnseen(values, values[which]), end = top + (k + 1) * (high + 2) - 2;
      fresh.forEach((isNew, i) => {
        const reached = high * Math.min(values[which].rotations[i], 1);
        context.fillStyle = isNew ? theme.text : pairColour(i, pairs);
        context.globalAlpha = isNew ? 0.75 : 0.45;
        context.fillRect(left + i * step, end - reached, Math.max(step - 0.3, 0.8), reached);
      });
      context.globalAlpha = 1;
      words(context, theme, say(picture.fresh, { name: nameOf(which, state), fresh: count(fresh) }), left + 4, end - high / 2, { colour: theme.text, bold: true, ground: true });
    });
  },
  scores(context, theme, place, { x, columns, filled, values }, state, drawn) {
    const { top, bottom } = shrunk(place), plot = new Plot(context, theme, x, upwards({ shown: "scores" }, { top, bottom }));
    context.globalAlpha = 0.6;
    drawn.forEach((which) => plot.curve(Plot.extremes(columns, filled, values[which].score), STROKES[which].colour, { width: 1 }));
    context.globalAlpha = 1;
  },
};

// ---- large

const LARGE = { scaling: drawScaling, angles: drawAngles, scores: drawScores };

function onPairs(context, theme, { pairs, up }, state, axes) {
  const plot = new Plot(context, theme, pairs, up);
  plot.axes({ xTitle: picture.pairs, xTicks: Math.min(6, state.dim / 2), ...axes });
  return plot;
}

function curves(plot, values, drawn, series) {
  drawn.forEach((which) => {
    plot.series(values[which][series], STROKES[which].colour, STROKES[which]);
    if (which === "original" || plot.x.at(1) - plot.x.at(0) < 4) return;
    const points = Array.from(values[which][series], (value, i) => [i, value]);
    plot.marks(points.filter(([, value]) => value <= plot.y.to), STROKES[which].colour, { radius: 2.5, square: which === "other" });
  });
}

function nameThem(context, theme, plot, { values }, state, drawn, series, taken, uprights = []) {
  const { x, y } = plot, named = ["method", "other", "original"].filter((which) => drawn.includes(which));
  const own = named.filter((which, k) => !named.slice(0, k).some((before) => state[before] === state[which]));
  nameCurves(context, theme, { left: x.start, right: x.end, top: y.end, bottom: y.start }, [...own.map((which) => ({
    text: nameOf(which, state), colour: which === "original" ? theme.muted : STROKES[which].colour,
    points: Array.from(values[which][series], (value, i) => [x.at(i), y.at(value)]),
  })), ...uprights.map((at) => ({ weight: 0.5, points: [[x.at(at), y.end], [x.at(at), y.start]] }))], taken);
}

const rectangle = (x, y, wide) => ({ left: x - wide / 2, right: x + wide / 2, top: y - 8, bottom: y + 8 });

// What the frequency of each pair is divided by, between 1 and s: equal steps are equal ratios.
function drawScaling(context, theme, place, result, state, drawn, cursor) {
  const { pairs, up, values } = result, { factor } = state, taken = [];
  up.ticks = () => [...new Set([1, Math.sqrt(factor), factor])].filter((tick) => tick === factor || Number.isInteger(tick));
  const [fast, slow] = bounds(result, state).length === 2 ? bounds(result, state) : [];
  const plot = new Plot(context, theme, pairs, up);
  if (fast) { // fast pairs, which may keep their frequency, and slow ones, which must not
    plot.ground(pairs.from, fast.at, pairColour(0, 9), 0.13);
    plot.ground(slow.at, pairs.to, pairColour(8, 9), 0.13);
    for (const [bound, from, to] of [["beta_fast", pairs.from, fast.at], ["beta_slow", slow.at, pairs.to]]) {
      const wide = pairs.at(to) - pairs.at(from) - 8;
      if (wide < 60) continue;
      const x = (pairs.at(from) + pairs.at(to)) / 2, free = ({ top, bottom }) => !drawn.some((which) => (
        values[which].divisor.some((times, i) => Math.abs(pairs.at(i) - x) < wide / 2 && up.at(times) > top - 4 && up.at(times) < bottom + 4)
      ));
      const heights = ZONES.map((share) => place.top + (place.bottom - place.top) * share);
      const y = heights.find((height) => free({ top: height - 8, bottom: height + 24 })) ?? heights[0];
      const centred = { align: "center", colour: theme.text, width: wide };
      picture.zones[bound].forEach((text, line) => words(context, theme, text, x, y + 16 * line, centred));
      taken.push(rectangle(x, y, wide), rectangle(x, y + 16, wide));
    }
  }
  plot.axes({
    xTitle: picture.pairs, xTicks: Math.min(6, state.dim / 2), yTitle: picture.scaling,
    yText: (value) => say(picture.times, { factor: Number(value.toPrecision(3)) }),
  });
  plot.horizontal(factor, { dash: [2, 3], colour: theme.muted });
  bounds(result, state).forEach(({ at }) => plot.vertical(at, { dash: [5, 4], width: 1.5 }));
  curves(plot, values, drawn, "divisor");
  bounds(result, state).forEach(({ rotations, control, at }) => {
    const texts = picture.threshold.map((text) => say(text, { rotations, control }, names)), px = pairs.at(at), y = place.top + GRIP;
    const right = place.right - px - 13, toLeft = control === "beta_fast" || right < 16, width = toLeft ? px - 13 - (control === "beta_slow" && fast ? pairs.at(fast.at) + 13 : place.left) : right;
    words(context, theme, texts, px + (toLeft ? -13 : 13), y, { align: toLeft ? "right" : "left", colour: theme.text, width });
    taken.push(rectangle(px + (toLeft ? -70 : 70), y, 140));
  });
  nameThem(context, theme, plot, result, state, drawn, "divisor", taken, bounds(result, state).map(({ at }) => at));
  if (cursor?.last === "pair") plot.vertical(cursor.pair, { dash: [] });
}

// The angles that each pair reaches, up to a full rotation: pale as far as training has gone, striped beyond.
function drawAngles(context, theme, place, result, state, drawn, cursor) {
  const { values } = result, pairs = state.dim / 2, high = (place.bottom - place.top - 56) / 3;
  const strips = Object.keys(MARKS).map((which, k) => {
    const start = place.top + high + k * (high + 28), y = new Axis({ from: 0, to: 1, start, end: start - high });
    const fresh = values[which] ? reachesUnseen(values, values[which]) : [];
    const named = { name: nameOf(which, state), fresh: count(fresh), pairs, first: k === 0 };
    const plot = onPairs(context, theme, { ...result, up: y }, state, {
      xTitle: k === 2 ? picture.angles : "", xText: k === 2 ? grouped : () => "",
      yTitle: values[which] ? picture.unseen.map((text) => say(text, named)) : say(picture.no_list, named), yTicks: 1, yText: grouped,
    });
    return { plot, start, fresh, reached: Array.from(values[which]?.rotations ?? [], (turned) => y.at(Math.min(turned, 1))) };
  });
  const [{ plot: { x } }] = strips, step = x.at(1) - x.at(0), wide = Math.max(0.84 * step, 1), left = (i) => x.at(0) + (i - 0.42) * step;
  const filled = strips.filter(({ fresh }) => fresh.length), seen = values.trained_rotations.map((turned) => high * Math.min(turned, 1));
  const fill = (i, top, bottom) => context.fillRect(left(i), top, wide, bottom - top);
  const fillNew = ({ fresh, start, reached }, i) => fresh[i] && fill(i, reached[i], start - seen[i]);
  // Style after style: to change it takes longer than to fill.
  for (const [opacity, each] of [[0.35, ({ start }, i) => fill(i, start - seen[i], start)], [1, fillNew]]) {
    context.globalAlpha = opacity;
    seen.forEach((_, i) => {
      context.fillStyle = pairColour(i, pairs);
      filled.forEach((strip) => each(strip, i));
    });
  }
  context.fillStyle = striped(theme.ground);
  filled.forEach((strip) => seen.forEach((_, i) => fillNew(strip, i)));
  context.fillStyle = theme.text;
  filled.forEach(({ reached }) => reached.forEach((top, i) => fill(i, top - 0.75, top + 0.75)));
  if (cursor?.last === "pair") strips.forEach(({ plot }) => plot.vertical(cursor.pair, { dash: [] }));
}

function drawScores(context, theme, place, { x, up, columns, filled, values }, state, drawn, cursor) {
  const { trained, used } = state, plot = new Plot(context, theme, x, up), shown = Object.keys(MARKS).filter((which) => drawn.includes(which));
  plot.axes({ xTitle: picture.distance, yTitle: picture.scores, xText: (value) => (value < 1e4 ? grouped(value) : decade(value)) });
  if (trained <= used) {
    plot.vertical(trained, { dash: [5, 4], width: 1.5 });
    const align = x.at(trained) - place.left > 150 ? "right" : "left";
    const beside = x.at(trained) + (align === "left" ? 13 : -13);
    words(context, theme, say(picture.trained, state), beside, place.bottom - 16, { align, colour: theme.text });
  }
  context.globalAlpha = 0.6; // so that one band does not hide another
  for (const which of drawn) plot.curve(Plot.extremes(columns, filled, values[which].score), STROKES[which].colour, STROKES[which]);
  context.globalAlpha = 1;
  const single = columns.filter(([, start, stop]) => stop - start === 1).map(([, start]) => start); // where a curve is a line
  for (const which of shown.filter((which) => which !== "original")) {
    const spots = single.filter((_, n) => n % 6 === (which === "other" ? 3 : 0));
    plot.marks(spots.map((m) => [m, values[which].score[m]]), STROKES[which].colour, { square: which === "other" });
  }
  const entries = shown.map((which) => ({ label: nameOf(which, state), ...STROKES[which] }));
  legend(context, theme, entries, place.left, place.bottom - (trained <= used ? 60 : 40), place.right, { ground: true });
  if (cursor?.last === "distance") plot.vertical(cursor.distance, { dash: [] });
}

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

// The four panels of ContextExtension: wavelengths, slowing and angles of every pair, and the score against distance.

import { colours, pairColour } from "./colours.js";
import catalogue from "./context_extension.json";
import { Axis, Plot, legend, panels, widthOf, words } from "./drawing.js";
import { grouped } from "./numbers.js";
import { say } from "./sentences.js";

const { picture, names } = catalogue;
export const ROUNDING = 1e-9; // relative; what is slowed by exactly as much as it needs to be meets nothing new
const PANEL = 240; // pixels
const WITH_BETAS = ["ntk_by_parts", "yarn_paper", "yarn_code"];
const MARKS = { original: "", method: "● ", other: "■ " };
const STROKES = { // in the order in which they are drawn
  original: { colour: colours.neutral, width: 1.6, dash: [] },
  method: { colour: colours.score, width: 2, dash: [] },
  other: { colour: colours.bound, width: 1.8, dash: [7, 4] },
};

const legendHeight = (width) => (width < 520 ? 62 : 28);
// Where the axes of each panel stand.
export function places(width) {
  const around = panels(4, { width, height: PANEL, least: 290, gap: 22, top: legendHeight(width) });
  return around.map(({ left, right, top, bottom }) => ({ left: left + 44, right: right - 10, top: top + 22, bottom: bottom - 40 }));
}

export function panelsHeight(width) {
  return Math.max(...places(width).map(({ bottom }) => bottom)) + 44;
}

// Which pairs meet angles that training never showed: they had not completed a turn, and now go farther.
export function meetsNew({ trained_turns: seen }, { turns: reached }) {
  return Array.from(seen, (count, i) => count < 1 && reached[i] > count * (1 + ROUNDING));
}

export const count = (flags) => flags.filter(Boolean).length;
const decade = (value) => `10${[..."⁰¹²³⁴⁵⁶⁷⁸"][Math.round(Math.log10(value))]}`;
const nameOf = (which, state) => (which === "original" ? picture.original : say(picture.method, { mark: MARKS[which], method: state[which] }, names));

export function drawPanels({ context, width }, result, state, theme, cursor) {
  const { values, panel } = result, pairs = state.dim / 2;
  const shown = Object.keys(STROKES).filter((which) => values[which]);
  legend(context, theme, shown.map((which) => ({ label: nameOf(which, state), ...STROKES[which] })), 0, 10, width);
  const plotPairs = (place, y, axes) => {
    const plot = new Plot(context, theme, result.pairs.beginning(place.left), y);
    plot.axes({ xTitle: picture.pairs, xTicks: Math.min(6, pairs), ...axes });
    return plot;
  };
  const curves = (plot, series) => shown.forEach((which) => {
    plot.series(values[which][series], STROKES[which].colour, STROKES[which]);
    if (which === "original" || plot.x.at(1) - plot.x.at(0) < 4) return;
    const points = Array.from(values[which][series], (value, i) => [i, value]);
    plot.marks(points.filter(([, value]) => value <= plot.y.to), STROKES[which].colour, { radius: 2, square: which === "other" });
  });
  const waves = drawWavelengths(context, theme, panel[0], state, plotPairs, curves);
  const slowing = drawSlowing(context, theme, panel[1], state, values.ramp, plotPairs, curves);
  const angles = drawAngles(context, theme, panel[2], state, values, plotPairs);
  const scores = drawScores(context, theme, result, state, shown);
  if (cursor?.last === "pair") [waves, slowing, ...angles].forEach((plot) => plot.vertical(cursor.pair));
  if (cursor?.last === "distance") scores.vertical(cursor.distance);
}

// Wavelengths against the two lengths: what lies above the trained one has not completed a turn.
function drawWavelengths(context, theme, place, { trained, used }, plotPairs, curves) {
  const y = new Axis({ from: 4, to: 1e8, start: place.bottom, end: place.top, log: true });
  const plot = plotPairs(place, y, { yTitle: picture.wavelengths, yText: decade });
  plot.horizontal(trained, { dash: [], colour: theme.muted });
  plot.horizontal(used, { colour: theme.muted });
  curves(plot, "wavelength");
  const apart = used >= trained ? 8 : -8;
  onGround(context, theme, say(picture.used, { used }), place.left + 4, y.at(used) - apart);
  onGround(context, theme, say(picture.trained, { trained }), place.left + 4, y.at(trained) + apart);
  return plot;
}

// How many times slower each pair turns, between 1 and s: equal steps are equal ratios.
function drawSlowing(context, theme, place, state, ramp, plotPairs, curves) {
  const { factor } = state, top = Math.max(factor, 1.02); // a factor of 1 leaves no room between
  const y = new Axis({ from: top ** -0.06, to: top ** 1.25, start: place.bottom, end: place.top, log: true });
  y.ticks = () => [...new Set([1, Math.sqrt(factor), factor])];
  const plot = plotPairs(place, y, { yTitle: picture.slowing.map((text) => say(text, state)), yText: grouped });
  const ramped = WITH_BETAS.includes(state.method) || WITH_BETAS.includes(state.other);
  const bounds = [state.beta_fast, state.beta_slow].map((turned, k) => ({ turned, at: ramp[k], align: k ? "left" : "right" }));
  const drawn = bounds.filter(({ at }) => ramped && at >= 0 && at <= state.dim / 2 - 1);
  drawn.forEach(({ at }) => plot.vertical(at));
  curves(plot, "slowed");
  for (const { turned, at, align } of drawn) {
    onGround(context, theme, say(picture.turned, { turned }), plot.x.at(at) + (align === "left" ? 4 : -4), place.top + 6, align);
  }
  return plot;
}

// The angles that each pair reaches, up to a full turn: pale as far as training has gone, striped beyond.
function drawAngles(context, theme, place, state, values, plotPairs) {
  const pairs = state.dim / 2, high = (place.bottom - place.top - 44) / 3;
  const strips = Object.keys(MARKS).map((which, k) => {
    const start = place.top + high + k * (high + 22), y = new Axis({ from: 0, to: 1, start, end: start - high });
    const fresh = values[which] ? meetsNew(values, values[which]) : [];
    const named = { name: nameOf(which, state), fresh: count(fresh), pairs, first: k === 0 };
    const plot = plotPairs(place, y, {
      xTitle: k === 2 ? picture.angles : "", xText: k === 2 ? grouped : () => "",
      yTitle: values[which] ? picture.new.map((text) => say(text, named)) : say(picture.no_list, named), yTicks: 1, yText: grouped,
    });
    return { plot, start, fresh, reached: Array.from(values[which]?.turns ?? [], (turned) => y.at(Math.min(turned, 1))) };
  });
  const [{ plot: { x } }] = strips, step = x.at(1) - x.at(0), wide = Math.max(0.84 * step, 1), left = (i) => x.at(0) + (i - 0.42) * step;
  const drawn = strips.filter(({ fresh }) => fresh.length), seen = values.trained_turns.map((turned) => high * Math.min(turned, 1));
  const fill = (i, top, bottom) => context.fillRect(left(i), top, wide, bottom - top);
  const fillNew = ({ fresh, start, reached }, i) => fresh[i] && fill(i, reached[i], start - seen[i]);
  // Style after style: to change it takes longer than to fill.
  for (const [opacity, each] of [[0.35, ({ start }, i) => fill(i, start - seen[i], start)], [1, fillNew]]) {
    context.globalAlpha = opacity;
    seen.forEach((_, i) => {
      context.fillStyle = pairColour(i, pairs);
      drawn.forEach((strip) => each(strip, i));
    });
  }
  context.fillStyle = striped(theme.ground);
  drawn.forEach((strip) => seen.forEach((_, i) => fillNew(strip, i)));
  context.fillStyle = theme.text;
  drawn.forEach(({ reached }) => reached.forEach((top, i) => fill(i, top - 0.75, top + 0.75)));
  return strips.map(({ plot }) => plot);
}

function drawScores(context, theme, { x, y, columns, filled, values }, { trained, used }, shown) {
  const plot = new Plot(context, theme, x, y);
  plot.axes({ xTitle: picture.distance, yTitle: picture.scores, xText: (value) => (value < 1e4 ? grouped(value) : decade(value)) });
  if (trained < used) {
    plot.vertical(trained);
    words(context, theme, picture.training_ends, x.at(trained) - 4, y.end + 6, { align: "right" });
  }
  context.globalAlpha = 0.6; // so that one band does not hide another
  for (const which of shown) plot.curve(Plot.extremes(columns, filled, values[which].score), STROKES[which].colour, { width: STROKES[which].width });
  context.globalAlpha = 1;
  const single = columns.filter(([, start, stop]) => stop - start === 1).map(([, start]) => start); // where a curve is a line
  for (const which of shown.filter((which) => which !== "original")) {
    const spots = single.filter((_, n) => n % 6 === (which === "other" ? 3 : 0));
    plot.marks(spots.map((m) => [m, values[which].score[m]]), STROKES[which].colour, { square: which === "other" });
  }
  return plot;
}

// Words that lines behind them do not cross out.
function onGround(context, theme, text, x, y, align = "left") {
  const wide = widthOf(context, theme.font, text);
  context.globalAlpha = 0.8;
  context.fillStyle = theme.ground;
  context.fillRect(align === "left" ? x - 2 : x - wide - 2, y - 7, wide + 4, 14);
  context.globalAlpha = 1;
  words(context, theme, text, x, y, { align });
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

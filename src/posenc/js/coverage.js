import { inverseFrequencies, turns } from "./arithmetic.js";
import { newShares, pairsReaching } from "./arithmetic_coverage.js";
import { colours, pairColour } from "./colours.js";
import { Axis, Plot, arrow, cellAxis, words } from "./drawing.js";
import catalogue from "./coverage.json";
import { explorable } from "./explorable.js";
import { grouped } from "./numbers.js";

const { picture } = catalogue;
const RINGS = 200; // pixels for the rings with their heading, and for each of the two charts
const TURNS = 214;
const SHARES = 166;
const HEADING = 40;
const FIRST = 2; // milliseconds for the shares before the picture is first drawn; the rest follows once the sliders rest
const A_HAIR_MORE = 1 + 1e-7; // as in Python

function compute(state, width) {
  const { base, dim, trained, used, tolerance } = state;
  const frequencies = inverseFrequencies(dim, base);
  const fresh = new Float64Array(dim / 2).fill(NaN), shares = newShares(frequencies, trained, used, tolerance * A_HAIR_MORE);
  let next = 0;
  const complete = (deadline) => {
    while (next < fresh.length) {
      if (performance.now() > deadline) return false;
      fresh[next++] = shares.next().value;
    }
    return true;
  };
  const done = complete(performance.now() + FIRST);
  const values = {
    trained_turns: turns(trained, frequencies),
    used_turns: turns(used, frequencies),
    new: fresh,
    turned: pairsReaching(frequencies, trained, 2 * Math.PI),
    quarter: pairsReaching(frequencies, trained, Math.PI / 2),
  };
  const x = cellAxis(dim / 2, 46, width - 12);
  return { x, frequencies, values, width, ...rings(dim / 2, width), complete: done ? undefined : complete };
}

// The largest rings that fit, in rows of equal length.
function rings(pairs, width) {
  for (let size = 48; ; size -= 1) {
    const rows = Math.ceil(pairs / Math.floor(width / size));
    if (rows * size <= RINGS - HEADING) {
      const columns = Math.ceil(pairs / rows);
      return { size, columns, across: Math.min(width / columns, 1.25 * size) };
    }
  }
}

function drawRings({ context, width }, { values, size, columns, across }, state, theme, cursor) {
  words(context, theme, picture.rings, 0, 0, { baseline: "top", width });
  key(context, theme, width);
  const pairs = values.new.length, radius = size * 0.36;
  const middle = (i) => [(i % columns) * across + across / 2, HEADING + Math.floor(i / columns) * size + size / 2];
  // One stroke for the arcs of several pairs, of which each goes from a share of the turn to another.
  const arcs = (of, from, to, colour, thick, dash = []) => {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.setLineDash(dash);
    context.beginPath();
    for (const i of of) {
      const [x, y] = middle(i), start = (from(i) - 0.25) * 2 * Math.PI;
      context.moveTo(x + radius * Math.cos(start), y + radius * Math.sin(start));
      context.arc(x, y, radius, start, (to(i) - 0.25) * 2 * Math.PI);
    }
    context.stroke();
    context.setLineDash([]);
  };
  const none = () => 0, whole = () => 1, met = (i) => Math.min(values.trained_turns[i], 1), end = (i) => Math.min(values.used_turns[i], 1);
  const all = values.trained_turns.map((_, i) => i);
  arcs(all.filter((i) => met(i) < 1), none, whole, theme.grid, 1);
  arcs(all.filter((i) => end(i) > met(i)), met, end, theme.text, Math.max(1.5, size / 20), [2, 2]);
  for (const i of all) arcs([i], none, met, pairColour(i, pairs), Math.max(2.5, size / 7));
  if (cursor) {
    const [x, y] = middle(cursor.pair);
    context.strokeStyle = theme.text;
    context.lineWidth = 1;
    context.strokeRect(x - size / 2 + 0.5, y - size / 2 + 0.5, size - 1, size - 1);
  }
}

// What thick and dashed mean.
function key(context, theme, width) {
  const entries = [[picture.met, colours.neutral, 5, []], [picture.new, theme.text, 2, [2, 2]]];
  let left = 0;
  for (const [label, colour, thick, dash] of entries) {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(left, 26);
    context.lineTo(left + 22, 26);
    context.stroke();
    context.setLineDash([]);
    words(context, theme, label, left + 28, 26, { colour: theme.text, width });
    left += 44 + context.measureText(label).width;
  }
}

// From turns in training, a dot, to turns in use, a bar. A pair that turns less than the axis shows is a mark below it.
function drawTurns({ context }, plot, { values }, longer, step) {
  const pairs = values.new.length, { x, y } = plot;
  values.trained_turns.forEach((trained, i) => {
    const colour = pairColour(i, pairs), at = x.at(i), radius = Math.min(3, Math.max(1.5, step * 0.4));
    const from = Math.min(y.at(trained), y.start), to = Math.min(y.at(values.used_turns[i]), y.start);
    context.fillStyle = colour;
    if (longer) {
      context.fillRect(at - 0.75, to, 1.5, from - to);
      context.fillRect(at - step * 0.4, to - 1, step * 0.8, 2);
    }
    if (trained >= y.from) plot.marks([[i, trained]], colour, { radius });
    else arrow(context, [at, y.start - 6], [at, y.start + 1], colour, { width: 1.5, head: 4 });
  });
}

function draw(canvas, result, state, theme, cursor) {
  const { context } = canvas, { x, values } = result;
  const pairs = values.new.length, step = (x.end - x.start) / pairs, longer = state.used > state.trained;
  drawRings(canvas, result, state, theme, cursor);

  const upper = RINGS + 34;
  const y = new Axis({ from: 1e-3, to: 3e4, start: RINGS + TURNS - 40, end: upper, log: true });
  const turning = new Plot(context, theme, x, (result.y = y));
  const title = longer ? picture.both_turns : picture.turns;
  turning.axes({ xTitle: picture.pairs, yTitle: title, xTicks: Math.min(8, pairs), yText: (tick) => (Math.round(Math.log10(tick)) % 2 ? "" : grouped(tick)) });
  turning.horizontal(1, { dash: [], width: 1.5 });
  words(context, theme, picture.one_turn, x.end, y.at(1) - 3, { align: "right", baseline: "bottom", colour: theme.text });
  drawTurns(canvas, turning, result, longer, step);

  const top = RINGS + TURNS;
  const share = new Plot(context, theme, x, new Axis({ from: 0, to: 100, start: top + SHARES - 40, end: top + 22 }));
  share.axes({ xTitle: picture.pairs, yTitle: picture.shares, xTicks: Math.min(8, pairs), yTicks: 4, yText: String });
  values.new.forEach((part, i) => part > 0 && share.bar(x.at(i), Math.max(1, step * 0.7), 100 * part, pairColour(i, pairs)));
  if (!longer) words(context, theme, picture.no_longer, (x.start + x.end) / 2, top + SHARES / 2 - 12, { align: "center" });
  if (cursor !== null) for (const plot of [turning, share]) plot.vertical(cursor.pair);
}

function facts({ values }) {
  const pairs = values.new.length, fresh = values.new.filter((share) => share > 0); // NaN, not yet computed, is not
  const average = fresh.reduce((sum, share) => sum + share, 0) / fresh.length;
  return { pairs, unturned: pairs - values.turned, under_quarter: pairs - values.quarter, fresh: fresh.length, average: 100 * average };
}

function reading({ values, frequencies }, { used, trained }, { pair: i }) {
  const share = 100 * values.new[i];
  return {
    wavelength: (2 * Math.PI) / frequencies[i], trained_turns: values.trained_turns[i], used_turns: values.used_turns[i],
    computed: used > trained && !Number.isNaN(share), share,
  };
}

const render = explorable({
  catalogue,
  readers: [{
    name: "pair",
    axis: ({ x }) => x,
    pick: (px, py, { x, size, columns, across }) => {
      if (py > RINGS) return x.invert(px);
      const column = Math.min(Math.floor(px / across), columns - 1), row = Math.max(0, Math.floor((py - HEADING) / size));
      return row * columns + column;
    },
  }],
  height: () => RINGS + TURNS + SHARES,
  compute, draw, facts, reading,
  pixel: ({ x, y }, pair, count) => [x.at(pair), y.at(count)],
});

export default { render };

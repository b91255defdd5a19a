import { cosines, fingerprintDifference, inverseFrequencies, mean, turns } from "./arithmetic.js";
import { pairColour } from "./colours.js";
import { Axis, Plot, cellAxis, words } from "./drawing.js";
import catalogue from "./frequency_bank.json";
import { explorable } from "./explorable.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const HANDS = 168; // pixels for the dials, 150 for each chart below them
const CHART = 150;

function compute(state, width) {
  const { base, dim, distance, other } = state;
  const frequencies = inverseFrequencies(dim, base);
  const cosine = cosines(distance, frequencies);
  let sum = 0;
  const share = fingerprintDifference(distance, other, frequencies);
  let shared = 0;
  const values = {
    turns: turns(distance, frequencies),
    cosine,
    running_mean: cosine.map((value, i) => (sum += value) / (i + 1)),
    share_so_far: share && share.map((value) => (shared += value)),
    similarity: mean(cosines(distance - other, frequencies)),
  };
  const x = cellAxis(dim / 2, 46, width - 12);
  return { x, frequencies, values };
}

// The largest dials that fit: as many in a row as the width holds, as many rows as the height.
function dials(pairs, width) {
  for (let size = 48; ; size -= 1) {
    const columns = Math.floor(width / size);
    if (columns > 0 && Math.ceil(pairs / columns) * size <= HANDS - 22) return { size, columns };
  }
}

function drawDials({ context, width }, { frequencies }, state, theme) {
  const { size, columns } = dials(frequencies.length, width);
  const radius = size / 2 - Math.max(1, size * 0.08);
  words(context, theme, picture.dials, 0, 0, { baseline: "top", width });
  frequencies.forEach((frequency, i) => {
    const x = (i % columns) * size + size / 2, y = 22 + Math.floor(i / columns) * size + size / 2;
    const hand = (distance, colour, width, dash) => {
      const angle = distance * frequency;
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + radius * Math.sin(angle), y - radius * Math.cos(angle));
      context.stroke();
      context.setLineDash([]);
    };
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
    hand(state.other, theme.muted, 1, [2, 2]);
    hand(state.distance, pairColour(i, frequencies.length), Math.max(1.5, size / 16), []);
  });
}

function draw(canvas, result, state, theme, cursor) {
  const { context, width } = canvas, { x, frequencies, values } = result;
  const pairs = frequencies.length, step = (x.end - x.start) / pairs;
  drawDials(canvas, result, state, theme);
  const chart = (top, from, to, title, options) => {
    const plot = new Plot(context, theme, x, new Axis({ from, to, start: top + CHART - 40, end: top + 16 }));
    plot.axes({ xTitle: picture.pairs, yTitle: title, xTicks: Math.min(8, pairs), yTicks: 4, ...options });
    return plot;
  };
  const bars = (plot, heights) => heights.forEach((height, i) => plot.bar(x.at(i), Math.max(1, step * 0.7), height, pairColour(i, pairs)));

  const waves = chart(HANDS, -1.05, 1.05, picture.waves);
  bars(waves, values.cosine);
  waves.curve(Array.from(values.running_mean, (value, i) => [x.at(i), value, value]), theme.text, { width: 2 });
  const turned = values.turns.findIndex((count) => count < 1);
  if (turned > 0) waves.vertical(turned - 0.5);
  result.waves = waves;

  const charts = [waves];
  if (values.share_so_far) {
    const shares = chart(HANDS + CHART + 8, 0, 100, picture.shares.map((text) => say(text, state)), { yText: String });
    bars(shares, values.share_so_far.map((share) => 100 * share));
    charts.push(shares);
  }
  if (cursor !== null) charts.forEach((plot) => plot.vertical(cursor.pair));
}

function facts({ values, frequencies }) {
  const pairs = frequencies.length, fastest = Math.ceil(pairs / 8), same = !values.share_so_far;
  const turned = values.turns.filter((count) => count >= 1).length;
  return {
    pairs, turned, same, fastest, mean: values.running_mean[pairs - 1], similarity: values.similarity,
    share: same ? null : 100 * values.share_so_far[fastest - 1],
  };
}

function reading({ values, frequencies }, state, { pair: i }) {
  const shares = values.share_so_far, share = shares && 100 * (shares[i] - (i === 0 ? 0 : shares[i - 1]));
  return { wavelength: (2 * Math.PI) / frequencies[i], turns: values.turns[i], cosine: values.cosine[i], same: !shares, share };
}

const render = explorable({
  catalogue,
  readers: [{ name: "pair", axis: ({ x }) => x }],
  height: () => HANDS + 2 * CHART + 8,
  compute, draw, facts, reading,
  pixel: ({ waves }, pair, value) => [waves.x.at(pair), waves.y.at(value)],
});

export default { render };

import { biasOf, sharesWithin } from "./arithmetic_bias.js";
import { chipsAndList } from "./chips_and_list.js";
import { colours, pairColour, shade } from "./colours.js";
import { Axis, Plot, disc, grip, widthOf, words } from "./drawing.js";
import catalogue from "./bias_explorer.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const EQUAL = 1e-9; // rounding errors stay below
const LEARNS = ["kerple_log", "kerple_power", "fire", "transformer_xl", "deberta"]; // drawn at random here
const VARY = ["fire", "transformer_xl", "deberta"]; // from query to query at one distance
const JUMPS = ["transformer_xl", "deberta"]; // from one distance to the next: one line alone can be read
const FAINT = 0.4; // of the lines of other heads
const GIVES = 6, HALVINGS = 30; // how many pixels of a pull past the last head move the dot by one; a mix is found to 1 in 2³⁰
const SPAN = 16; // of the biases in the chart: below 0 or, where they are on either side of it, around it

// The biases of all heads, and below, on the same axis of distances, the attention that they give.
const HEIGHT = 400;
const places = (width) => {
  const left = 50, right = width - 12;
  return { biases: { left, right, top: 24, bottom: 168 }, weights: { left, right, top: 230, bottom: HEIGHT - 40 } };
};

// The biases that the chart shows, from least to greatest, of all schemes but one on the same scale.
function range({ scheme, heads }) {
  if (scheme === "sandwich") return [0, 8 * heads];
  return scheme === "t5" || VARY.includes(scheme) ? [-SPAN / 2, SPAN / 2] : [-SPAN, 0];
}

// What is drawn where the dot is held at a distance: the mix of the biases of two heads, of which one reaches less far and the
// other farther, or of the widest head's and none, that gives the keys up to there half of the attention. Beyond all of them
// the dot gives a little.
function mixed(bias, within, head, held) {
  const heads = bias.map((row, h) => ({ head: h + 1, row, at: keysForHalf(within[h]) - 1 })).sort((one, other) => one.at - other.at);
  const none = new Float64Array(bias[0].length), even = { head: 0, row: none, at: keysForHalf(sharesWithin(none)) - 1 };
  if (even.at > heads.at(-1).at) heads.push(even);
  const k = heads.findIndex(({ at }) => at > held), farther = heads[k], nearer = heads[k - 1];
  if (!farther || !nearer) {
    const { at } = farther ?? heads.at(-1), last = heads.find((one) => one.at === at && one.head === head + 1) ?? heads.find((one) => one.at === at);
    return { row: last.row, between: [last.head, last.head], share: 0, at: at + (held - at) / GIVES, end: farther ? "near" : "far", stops: heads };
  }
  const mix = (share) => nearer.row.map((value, m) => value + share * (farther.row[m] - value));
  const half = Math.floor(held), upTo = (shares) => shares[half] + (held - half) * (shares[half + 1] - shares[half]);
  let least = 0, most = 1;
  for (let halving = 0; halving < HALVINGS; halving++) {
    const share = (least + most) / 2;
    if (upTo(sharesWithin(mix(share))) >= 0.5) least = share;
    else most = share;
  }
  return { row: mix(least), between: [nearer.head, farther.head], share: least, at: held, end: "", stops: heads };
}

function compute(setting, width, previous, { t5 }) {
  const state = { ...setting, t5, heads: setting.scheme === "t5" ? t5.length : setting.heads }, { heads, distance } = state, head = Math.min(state.head, heads) - 1;
  const functions = Array.from({ length: heads }, (_, h) => biasOf(state, h)), distances = Array.from({ length: distance + 1 }, (_, m) => m);
  const bias = functions.map((between) => Float64Array.from(distances, (m) => between(distance, distance - m)));
  const within = bias.map(sharesWithin), held = (state.held ?? null) === null ? null : mixed(bias, within, head, state.held), row = held?.row ?? bias[head];
  const place = places(width), axis = (from, to, { top, bottom }) => new Axis({ from, to, start: bottom, end: top });
  return {
    values: { bias, within, weights: ofGreatest(row), ...extremes(bias[head], functions[head], state) }, head, held, row, place, alone: JUMPS.includes(state.scheme),
    reach: held?.at ?? keysForHalf(within[head]) - 1, needed: keysForHalf(held ? sharesWithin(row) : within[head]),
    x: new Axis({ from: 0, to: distance, start: place.biases.left, end: place.biases.right }), y: axis(...range(state), place.biases), up: axis(0, 1.04, place.weights),
  };
}

// How high up a dot is: on its head's line.
function heightAt({ up }, weights, at) {
  const near = Math.min(Math.floor(at), weights.length - 1), next = Math.min(near + 1, weights.length - 1);
  return up.at(weights[near] + (at - near) * (weights[next] - weights[near]));
}

// The weights in shares of the greatest.
function ofGreatest(logits) {
  const greatest = Math.max(...logits);
  return logits.map((logit) => Math.exp(logit - greatest));
}

// At each distance, the least and the greatest bias of all queries.
function extremes(row, between, { scheme, distance }) {
  const low = row.slice(), high = row.slice();
  if (VARY.includes(scheme)) {
    for (let i = 0; i < distance; i++) {
      for (let m = 0; m <= i; m++) {
        const bias = between(i, i - m);
        low[m] = Math.min(low[m], bias);
        high[m] = Math.max(high[m], bias);
      }
    }
  }
  return { low, high };
}

const keysForHalf = (within) => within.findIndex((share) => share >= 0.5 - EQUAL) + 1;

// The steeper a head's line, the warmer its colour; those that jump have no slope.
function tints(series, { scheme }, head) {
  if (JUMPS.includes(scheme)) return series.map((_, h) => (h === head ? colours.score : colours.neutral));
  const falls = series.map((values) => values[0] - values.at(-1));
  return falls.map((fall) => pairColour(falls.filter((other) => other > fall).length, falls.length));
}

function draw({ context, width }, result, state, theme, cursor) {
  const { values: { bias, weights, low, high }, x, y, up, head, held, row, reach, needed, alone } = result, { scheme } = state;
  const facts = { ...state, learns: LEARNS.includes(scheme), varies: VARY.includes(scheme), shown_head: head + 1, needed, mixes: isMixed(result) };
  const heading = (texts, py) => words(context, theme, texts.map((text) => say(text, facts)).filter(Boolean), 2, py, { width, colour: theme.text, bold: true });
  const tint = tints(bias, state, head), ink = alone ? colours.score : inkOf(result, tint), [above, below] = [y, up].map((axis) => new Plot(context, theme, x, axis));
  const fill = (plot, least, greatest, opacity) => plot.area(Array.from(greatest, (value, m) => [x.at(m), least[m], value]), ink, opacity);
  heading(picture.bias, 9);
  above.axes({ xTitle: "", yTitle: "", xTicks: 0, yTicks: 4, yText: (value) => fixed(value, 0) });
  if (facts.varies) fill(above, low, high, held ? 0.1 : 0.2);
  else fill(above, row.map((value) => Math.min(value, 0)), row.map((value) => Math.max(value, 0)), 0.14);
  context.globalAlpha = FAINT;
  if (!alone) bias.forEach((values, h) => above.series(values, tint[h], { width: scheme === "t5" ? 1.3 : 2 }));
  context.globalAlpha = 1;
  if (!alone) above.series(row, theme.ground, { width: 7 });
  above.series(row, ink, { width: alone ? 2 : 4 });
  const dotted = (plot, series) => alone && x.to <= 32 && plot.marks(Array.from(series, (value, m) => [m, value]), ink, { radius: 5 });
  dotted(above, row);
  const last = row.findLastIndex((value) => value !== row.at(-1)) + 1;
  if (scheme === "t5" && last < x.to) {
    above.vertical(last, { dash: [3, 3] });
    words(context, theme, picture.bucket, Math.min(x.at(last) + 5, x.end - widthOf(context, theme.font, picture.bucket)), y.end + 8, { colour: theme.text, ground: true });
  }
  if (scheme === "alibi") grip(context, theme, slopeAt(result, row).x, slopeAt(result, row).y, ink);
  heading(picture.weights, 193);
  below.axes({ xTitle: picture.distance, yTitle: "", xTicks: Math.max(3, (x.end - x.start) / 90), yTicks: 2, yText: (value) => picture.weight_ticks[value] });
  const ground = new Float64Array(weights.length), text = say(picture.half, facts), wide = Math.min(widthOf(context, `600 ${theme.font}`, text), width - 4), until = x.at(reach);
  fill(below, ground, weights, 0.15);
  context.save();
  context.beginPath();
  context.rect(0, 0, until, up.start);
  context.clip();
  fill(below, ground, weights, 0.3);
  context.restore();
  const others = alone ? [] : bias.map(ofGreatest);
  context.globalAlpha = FAINT;
  others.forEach((values, h) => below.series(values, tint[h], { width: scheme === "t5" ? 1.3 : 1.6 }));
  context.globalAlpha = 1;
  if (!alone) below.series(weights, theme.ground, { width: 7 });
  below.series(weights, ink, { width: alone ? 2 : 4 });
  dotted(below, weights);
  below.rule([until, up.start], [until, up.end - 3], { colour: ink, width: 1.5, dash: [5, 4] });
  const level = heightAt(result, weights, reach);
  for (const { head: of, row: values, at } of (held?.stops ?? []).filter((stop) => held.between.includes(stop.head))) { // next to the dot
    const px = x.at(at), py = heightAt(result, ofGreatest(values), at);
    disc(context, theme, px, py, 4.5, tint[of - 1] ?? theme.muted);
    if (of === 0 && held.end === "") words(context, theme, picture.none, px + 10, py, { bold: true, rim: true });
  }
  grip(context, theme, until, level, ink);
  words(context, theme, text, Math.max(Math.min(until - wide / 2, x.end - wide), 2), up.end - 11, { colour: shade(0.7, theme, ink), bold: true, width: width - 4 });
  if (cursor === null) return;
  for (const [plot, series] of [[above, row], [below, weights]]) {
    plot.vertical(cursor.distance, { dash: [] });
    if (series[cursor.distance] >= plot.y.from) plot.marks([[cursor.distance, series[cursor.distance]]], theme.text, { radius: 5 });
  }
}

// Whether the bias shown is that of no head.
const isMixed = ({ held }) => held !== null && (held.end === "" || held.between[0] === 0);

// The colour of the line shown, on the way from one head's to the other's.
function inkOf({ held, head }, tint) {
  if (held === null) return tint[head];
  const [nearer, farther] = held.between.map((one) => tint[one - 1] ?? colours.neutral);
  return `color-mix(in srgb, ${farther} ${100 * held.share}%, ${nearer})`;
}

const inside = ({ left, right, top, bottom }, px, py) => px >= left && px <= right && py >= top && py <= bottom;

// A press among the lines of either chart chooses the head of the nearest, if they are drawn.
function press(px, py, { values: { bias }, x, y, up, head, place, alone }) {
  if (alone || !Object.values(place).some((panel) => inside(panel, px, py))) return null;
  const away = bias.map((row) => (py > y.start ? awayFrom(ofGreatest(row), x, up, px, py) : awayFrom(row, x, y, px, py)));
  const nearest = away.indexOf(Math.min(...away));
  return nearest === head ? null : { head: nearest + 1 };
}

// Where an ALiBi line is taken hold of.
function slopeAt({ x, y }, row) {
  const slope = row[0] - row[1], m = Math.min(0.8 * x.to, (0.7 * SPAN) / slope);
  return { x: x.at(m), y: y.at(-slope * m) };
}

// How far the nearest keys reach that get half of the attention with this slope.
const reachOf = (slope, keys) => (slope < 1e-6 ? keys / 2 : -Math.log(0.5 * (1 + Math.exp(-slope * keys))) / slope) - 1;

// The line at half of the attention is dragged, or with ALiBi the slope, and comes to rest at that of the nearest head.
function handles(result, { scheme }) {
  const { values: { bias, within, weights }, x, y, up, head, reach, row } = result;
  const halves = within.map((shares) => x.at(keysForHalf(shares) - 1)), at = x.at(reach), to = halves[head + 1] ?? halves[head - 1] ?? at;
  const drag = (px) => {
    const away = halves.map((half) => Math.abs(half - px)), nearest = away.indexOf(Math.min(...away));
    return { head: (away[nearest] < away[head] ? nearest : head) + 1, held: x.invert(Math.min(Math.max(px, x.start), x.end)) };
  };
  const half = { name: "half", along: "x", x: at, y: heightAt(result, weights, reach), line: { vertical: true, from: up.end, to: up.start }, step: at - to, drag };
  if (scheme !== "alibi") return [half];
  const slope = slopeAt(result, row), next = slopeAt(result, bias[head + 1] ?? bias[head - 1] ?? row);
  return [half, { name: "slope", along: "y", ...slope, step: next.y - slope.y, drag: (px, py) => drag(x.at(reachOf(-Math.min(y.invert(py), 0) / Math.max(x.invert(px), 1), x.to + 1))) }];
}

// How far a line is from a point, in pixels.
function awayFrom(row, x, y, px, py) {
  const at = x.invert(Math.min(px, x.end)), from = Math.max(Math.floor(at) - 8, 0), to = Math.min(Math.ceil(at) + 8, row.length - 1);
  const point = (m) => [x.at(m), y.at(row[m])];
  let least = Infinity;
  for (let m = from; m < to; m++) least = Math.min(least, awayFromPart(point(m), point(m + 1), px, py));
  return least;
}

function awayFromPart([fromX, fromY], [toX, toY], px, py) {
  const [along, up] = [toX - fromX, toY - fromY], square = along ** 2 + up ** 2;
  const share = square === 0 ? 0 : Math.min(Math.max(((px - fromX) * along + (py - fromY) * up) / square, 0), 1);
  return Math.hypot(px - fromX - share * along, py - fromY - share * up);
}

function facts(result, { distance }) {
  const { head, held, row, needed, alone } = result, [nearer, farther] = held?.between ?? [0, 0], halves = Math.LN2 / (row[0] - row[1]);
  return {
    alone, keys: distance + 1, shown_head: head + 1, needed, mixes: isMixed(result), end: held?.end ?? "", nearer, farther, halves, gentle: 4 * halves > distance,
    preferred: row.indexOf(Math.max(...row)), flat: row.findLastIndex((value) => value !== row.at(-1)) + 1,
  };
}

const reading = ({ values: { weights }, row }, state, { distance: m }) => ({ away: m, bias: row[m], weight: 100 * weights[m] });

const render = explorable({
  catalogue,
  readers: [{ name: "distance", axis: ({ x }) => x, within: ({ place }) => Object.values(place) }],
  linked(changes, state) {
    const { heads, head } = { ...state, ...changes };
    return head > heads ? { head: heads } : {};
  },
  height: () => HEIGHT,
  controls: { scheme: chipsAndList },
  compute, draw, press, handles, facts, reading,
  pixel: ({ x, y }, distance, value) => [x.at(distance), y.at(value)],
});

export default { render };

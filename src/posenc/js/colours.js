// Colours: each has one meaning throughout the book (palette.json), and the page shows through where there is nothing.

import palette from "./palette.json";

export const colours = palette;

const channels = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));

const ofPairs = new Map(); // by number of pairs, the colours made so far

// The colour of a pair on the one scale from the fastest (warm) to the slowest (cold); of heads, from the steepest bias on.
export function pairColour(index, pairs) {
  if (!ofPairs.has(pairs)) ofPairs.set(pairs, []);
  return (ofPairs.get(pairs)[index] ??= between(pairs === 1 ? 0 : index / (pairs - 1)));
}

function between(share) {
  const at = share * (palette.pairs.length - 1), low = Math.min(Math.floor(at), palette.pairs.length - 2);
  const from = channels(palette.pairs[low]), to = channels(palette.pairs[low + 1]);
  return `rgb(${from.map((level, k) => Math.round(level + (to[k] - level) * (at - low))).join(" ")})`;
}

// A scale for heat maps: { from, to, levels, opacity(value) }. At `from` the page shows through, on either theme.
export function sequential(from, to) {
  return { from, to, levels: channels(palette.score), opacity: (value) => (Math.min(Math.max(value, from), to) - from) / (to - from) };
}

// A colour for words and thin lines, which need more contrast than areas, on either theme.
export const tint = (colour, theme) => `color-mix(in srgb, ${colour} 70%, ${theme.text})`;

// The same colour from pale to deep on either theme, for what has an order.
export function shade(share, theme, colour = palette.score) {
  return `color-mix(in srgb, ${colour} ${100 - 90 * Math.abs(share - 0.5)}%, ${share < 0.5 ? theme.ground : theme.text})`;
}

// Longer contexts: what each method makes of the list of frequencies. The formulas and their sources are in posenc.scaling.
//
// setting: { dim, base, factor, trained, used, betaFast, betaSlow }, the lengths in tokens, the bounds in turns.

import { inverseFrequencies, turns } from "./arithmetic.js";

const clip = (value, least, greatest) => Math.min(Math.max(value, least), greatest);

// YaRN's factor on cosines and sines; the weight is DeepSeek's.
export function mscale(factor, weight = 1) {
  return factor > 1 ? 0.1 * weight * Math.log(factor) + 1 : 1;
}

// The weight of each pair's old frequency, by the turns that it makes in the trained length.
function rampByRotations({ dim, base, trained, betaFast, betaSlow }) {
  const made = turns(trained, inverseFrequencies(dim, base));
  if (betaFast === betaSlow) return made.map((count) => (count >= betaFast ? 1 : 0));
  return made.map((count) => clip(count - betaSlow, 0, betaFast - betaSlow) / (betaFast - betaSlow));
}

// The pair indices at which pairs make betaFast and betaSlow turns; the released code rounds them outwards.
export function correctionRange({ dim, base, trained, betaFast, betaSlow }, rounded) {
  const pairOf = (count) => (dim * Math.log(trained / (count * 2 * Math.PI))) / (2 * Math.log(base));
  const low = pairOf(betaFast), high = pairOf(betaSlow);
  return [Math.max(rounded ? Math.floor(low) : low, 0), Math.min(rounded ? Math.ceil(high) : high, dim - 1)];
}

// The turns that a pair, or a place between two, makes in the trained length.
export function turnsAtPair(pair, { dim, base, trained }) {
  return trained / (2 * Math.PI * base ** ((2 * pair) / dim));
}

// The same weight, by the index of the pair.
export function rampByPair(setting, rounded = true) {
  const [low, high] = correctionRange(setting, rounded), end = low === high ? high + 0.001 : high;
  return Float64Array.from({ length: setting.dim / 2 }, (_, i) => 1 - clip((i - low) / (end - low), 0, 1));
}

const BOUNDED = ["ntk_by_parts", "yarn_paper", "yarn_code"], LLAMA3 = { betaFast: 4, betaSlow: 1 }; // its high_freq_factor and low_freq_factor

// The turns from which a pair keeps its frequency, and up to which it is divided by the whole factor; null for methods without.
export function boundsOf(method, { betaFast, betaSlow }) {
  return method === "llama3" ? LLAMA3 : BOUNDED.includes(method) ? { betaFast, betaSlow } : null;
}

const ntk = ({ dim, base }, factor) => inverseFrequencies(dim, base * factor ** (dim / (dim - 2)));
const original = ({ dim, base }) => inverseFrequencies(dim, base);
const blend = (setting, kept) => original(setting).map((theta, i) => kept[i] * theta + (1 - kept[i]) * (theta / setting.factor));

const METHODS = {
  none: (setting) => [original(setting), 1],
  linear: (setting) => [original(setting).map((theta) => theta / setting.factor), 1],
  ntk_aware: (setting) => [ntk(setting, setting.factor), 1],
  dynamic_ntk: (setting) => [ntk(setting, Math.max(setting.used, setting.trained) / setting.trained), 1],
  ntk_by_parts: (setting) => [blend(setting, rampByRotations(setting)), 1],
  yarn_paper: (setting) => [blend(setting, rampByRotations(setting)), mscale(setting.factor)],
  yarn_code: (setting) => [blend(setting, rampByPair(setting)), mscale(setting.factor)],
  llama3: (setting) => [blend(setting, rampByRotations({ ...setting, ...LLAMA3 })), 1],
  longrope(setting, lists) {
    if (lists?.long.length !== setting.dim / 2) return null;
    const slower = setting.used > setting.trained ? lists.long : lists.short;
    return [original(setting).map((theta, i) => theta / slower[i]), Math.sqrt(1 + Math.log(setting.factor) / Math.log(setting.trained))];
  },
};

// { frequencies, attentionFactor }; null for LongRoPE where the published lists have another number of pairs.
export function scaledFrequencies(method, setting, lists) {
  const scaled = METHODS[method](setting, lists);
  return scaled && { frequencies: scaled[0], attentionFactor: scaled[1] };
}

// What a configuration asks for, as posenc.scaling.from_config has it. setting: { kind, dim, head, share, base, factor,
// trained, length, … }: `dim` dimensions of a `head` rotate; of dynamic and longrope, `length` tokens are at hand.
export function configuredFrequencies(setting) {
  const { kind, dim, head, share, base, factor, trained, length } = setting;
  const plain = Float64Array.from({ length: Math.ceil(dim / 2) }, (_, i) => base ** ((-2 * i) / dim));
  const blended = (kept) => plain.map((theta, i) => kept[i] * theta + (1 - kept[i]) * (theta / factor));
  if (kind === "linear") return plain.map((theta) => theta / factor);
  if (kind === "proportional") {
    const turning = Math.floor((head * share) / 2);
    return Float64Array.from({ length: head / 2 }, (_, i) => (i < turning ? base ** ((-2 * i) / head) / factor : 0));
  }
  if (kind === "dynamic") return ntk({ dim, base }, 1 + factor * (Math.max(length, trained) / trained - 1));
  if (kind === "longrope") return plain.map((theta, i) => theta / (length > trained ? setting.long : setting.short)[i]);
  if (kind === "llama3") return blended(rampByRotations({ ...setting, betaFast: setting.high, betaSlow: setting.low }));
  return kind === "yarn" ? blended(rampByPair(setting, setting.rounded)) : plain;
}

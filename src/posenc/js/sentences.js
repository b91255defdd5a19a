// Sentences made of words and facts; posenc._sentences says what a text is, and does the same.

import { fixed, grouped, formatInteger } from "./numbers.js";
import shell from "./shell.json";

const there = (a, b) => a !== null && b !== null;
const SIGNS = {
  "=": (a, b) => a === b, "≠": (a, b) => a !== b, "<": (a, b) => there(a, b) && a < b, "≤": (a, b) => there(a, b) && a <= b,
  ">": (a, b) => there(a, b) && a > b, "≥": (a, b) => there(a, b) && a >= b,
};
const FORMATS = { integer: formatInteger, grouped, capital: (text) => text[0].toUpperCase() + text.slice(1) };

export function say(text, facts, names = {}) {
  if (typeof text === "string") return text.replace(/\{(\w+)(?::([^}]+))?\}/g, (_, name, formats) => written(factOf(name, facts), formats, names));
  if (Array.isArray(text)) return text.map((part) => say(part, facts, names)).join("");
  if ("each" in text) return factOf(text.each, facts).map((one) => say(text.say, { ...facts, ...one }, names)).join(text.between ?? "");
  return say(holds(text.if, facts) ? text.then : text.else ?? "", facts, names);
}

export const joined = (sentences) => sentences.filter(Boolean).join(" ").replace(/(?<=[。！？；：]) /g, "");

// Several sentences with a space between, but for Chinese; those that say nothing are left out.
export const sayAll = (texts, facts, names) => joined(texts.map((text) => say(text, facts, names)));

const SIGN = "[=≠<≤>≥≈×÷+−·]";
const TOGETHER = new RegExp(` (?=%|${SIGN} )|(?<=[ (]${SIGN}) |(?<=\\d) (?=(?:${shell.units})(?!\\p{L}))`, "gu");

// With what belongs together on one line: a sign and what stands beside it, a number and its unit.
export const whole = (text) => text.replace(TOGETHER, "\u00a0");

function factOf(name, facts) {
  if (!(name in facts)) throw new Error(`no fact ${name} among ${Object.keys(facts).join(", ")}`);
  return facts[name];
}

function written(value, formats, names) {
  for (const name of formats?.split("|") ?? []) {
    if (/^\d+$/.test(name)) value = fixed(value, Number(name));
    else if (name in FORMATS) value = FORMATS[name](value);
    else if (value in names[name]) value = names[name][value];
    else throw new Error(`no ${value} in ${name}`);
  }
  return String(value);
}

// What follows an “and” that is not so is not looked at.
export const holds = (condition, facts) => condition.split(" and ").every((part) => {
  const compared = part.match(/^(\S+) ([=≠<≤>≥]) ('[^']*'|\S+)$/);
  if (compared) return SIGNS[compared[2]](operand(compared[1], facts), operand(compared[3], facts));
  return part.startsWith("not ") ? !factOf(part.slice(4), facts) : Boolean(factOf(part, facts));
});

function operand(text, facts) {
  if (text.startsWith("'")) return text.slice(1, -1);
  if (text === "none") return null;
  return /^-?[\d.]+(e-?\d+)?$/.test(text) ? Number(text) : factOf(text, facts);
}

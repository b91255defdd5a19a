// What a configuration does with positions, and what is wrong with it: the rules of doctor.json, no page.
// posenc.doctor runs the same, says the same, and has the explanations.

import { configuredFrequencies, mscale } from "./arithmetic_scaling.js";
import words from "./doctor.json";
import table from "./../model_types.json";
import { BY_LENGTH, INNER, LENGTH, LONGEST, ROPE_TYPES, about, given, has, isObject, mistyped, understood } from "./read_configuration.js";
import { holds, say } from "./sentences.js";

const { names } = words;
export const LEVELS = Object.keys(words.levels); // the worst first
const UNKNOWN_LENGTH = 4096, UNKNOWN_HEAD = 128, ROUNDING = 1e-9;

class Unreadable extends Error {
  constructor(why, facts = {}) {
    super(why);
    Object.assign(this, { why, facts });
  }
}

// ---- texts

// In JSON as Python writes it, Infinity is a number and NaN is one; here NaN is a null.
const BARE = { NaN: "null", Infinity: "1e999", "-Infinity": "-1e999" };

function parsed(text) {
  text = text.replace(/^\ufeff/, "").trim();
  if (text === "") throw new Unreadable("empty");
  let found;
  try {
    found = JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (part) => BARE[part] ?? part));
  } catch {
    throw whyNot(text);
  }
  if (!isObject(found)) throw new Unreadable("not_object", { kind: shown(found) });
  return found;
}

function whyNot(text) {
  const bare = text.replace(/"(?:[^"\\\n]|\\.)*"/g, '""'); // without what stands in quotes
  if (!"{[".includes(text[0])) return new Unreadable("other", { beginning: text.slice(0, 20).split(/\r?\n/)[0] });
  if (/'[^'\n]*'\s*:|\b(?:None|True|False)\b/.test(bare)) return new Unreadable("python");
  if (/\/\/|\/\*|#/.test(bare)) return new Unreadable("comment");
  const comma = bare.match(/,\s*([}\]])/);
  if (comma) return new Unreadable("comma", { after: comma[1] });
  const [open, shut] = [/[{[]/g, /[}\]]/g].map((bracket) => bare.match(bracket)?.length ?? 0);
  return open > shut ? new Unreadable("cut", { open, shut }) : new Unreadable("json");
}

function shown(value) {
  if (isObject(value)) return words.shown.object;
  if (Array.isArray(value)) {
    if (value.length > 8) return say(words.shown.list, { count: value.length, first: shown(value[0]), last: shown(value.at(-1)) });
    return `[${value.map(shown).join(", ")}]`;
  }
  if (typeof value === "number") return String(value);
  const text = JSON.stringify(value ?? null), letters = [...text];
  return letters.length <= 60 ? text : `${letters.slice(0, 59).join("")}…`;
}

const valueAt = (config, place) => place.reduce((value, key) => value[key], config);

function without(config, places) {
  const copy = structuredClone(config);
  for (const place of places) delete valueAt(copy, place.slice(0, -1))[place.at(-1)];
  return copy;
}

// ---- rules

const finding = (rule, facts, key, layer) => ({ rule: rule.name, level: rule.level, key, layer, text: say(rule.say, facts, names), see: rule.see });
const spoils = ({ level, rule }) => level === LEVELS[0] && !words.change_no_frequency.includes(rule);

function byRules(rules, facts) {
  return words[rules].filter((rule) => holds(rule.when, facts)).map((rule) => finding(rule, facts, say(rule.key, facts), facts.layer ?? ""));
}

// Keys that nothing reads, of which no rule says more.
function ignoredBy(read) {
  const kinds = [...new Set(read.rotations.map(({ parameters }) => parameters.rope_type))].join(", ");
  return read.ignored.flatMap((path) => {
    const key = path.split(".").at(-1), inner = path !== key || read.dictionary === "";
    if (words.known_keys.includes(key) && (!inner || INNER.has(key) || words.alphas.includes(key))) return [];
    const facts = { key, inner, known: INNER.has(key), instead: has(words.instead, key) ? words.instead[key] : "", kinds };
    return words.key_rules.filter((rule) => holds(rule.when, facts)).map((rule) => finding(rule, facts, key, ""));
  });
}

// One that several rotations have is told once; the worst come first.
function joined(found, beside) {
  const told = new Map();
  for (const one of found.flat()) {
    const key = JSON.stringify([one.rule, one.level, one.key, one.text, one.see]);
    if (!told.has(key)) told.set(key, []);
    told.get(key).push(one);
  }
  const once = [...told.values()].map((all) => ({ ...all[0], layer: all.length === found.length ? "" : all.map(({ layer }) => layer).join(", ") }));
  const rank = ({ level }) => LEVELS.indexOf(level);
  return [...once, ...beside].sort((one, other) => rank(one) - rank(other));
}

// ---- facts

const number = (config, key) => (typeof given(config, key) === "number" || typeof given(config, key) === "boolean" ? config[key] : null);
const firstOf = (keys, fits) => keys.find(fits) ?? "";

function dtypeOf(config) {
  const named = typeof given(config, "dtype") === "string" ? config.dtype : given(config, "torch_dtype");
  return typeof named === "string" ? named.replace(/^torch\./, "") : "";
}

function fileFacts(read, outer) {
  const { model, dictionary: name, rotations } = read, rope = given(model, name) ?? {}, layers = Object.values(rope).some(isObject);
  const mixed = Object.keys(rope).filter((key) => layers && rope[key] !== null && !isObject(rope[key]));
  const named = rotations.map((one) => one.layer_type), kept = [...named, ...read.unrotated], types = given(model, "layer_types") ?? [];
  const lacking = [...new Set(types)].filter((one) => layers && words.windows.includes(one) && !kept.includes(one));
  const nope = given(model, "no_rope_layers"), layouts = new Set(rotations.map(({ layout }) => layout));
  const filled = (key) => (isObject(given(model, key)) ? Object.keys(model[key]).length > 0 : Array.isArray(given(model, key)) ? model[key].length > 0 : Boolean(given(model, key)));
  const silent = read.without === table.reasons.silent, names = named.map((one) => one ?? "None");
  const plain = names.filter((_, k) => rotations[k].parameters.rope_type === "default"), scaled = names.filter((one) => !plain.includes(one));
  return {
    dictionary: name || "rope_parameters", model_type: read.model_type, known_type: read.known, without: read.without,
    flat_unread: read.nested.length === 0 && !(about(read.model_type)?.flat ?? true), silent, spoken: [...words.speaking, name].filter(filled).join(", "),
    unrotated: read.unrotated.join(", "), layers, several: rotations.length > 1, names: names.join(", "),
    scaled_names: plain.length > 0 ? scaled.join(", ") : "", unscaled_names: plain.join(", "),
    plain: Object.keys(rope).length > 0 && read.ignored.includes(name), both_differ: name !== "rope_parameters" && read.ignored.includes("rope_parameters"),
    mixed_keys: mixed.join(", "), layer_missing: kept.every((one) => words.windows.includes(one)) ? lacking.join(", ") : "",
    layout: layouts.size === 1 ? [...layouts][0] : "", layout_key: given(model, "rope_interleave") === null ? "model_type" : "rope_interleave",
    nope_key: firstOf(["no_rope_layers", "layer_types", name], filled) || "model_type", nope_count: nope?.length ?? null,
    nope_rotating: (nope ?? []).filter(Boolean).length, nope_wrong: (nope ?? []).some((one) => ![0, 1, true, false].includes(one)),
    num_hidden_layers: number(model, "num_hidden_layers"),
    window_key: firstOf(words.window_bases, (key) => given(model, key) !== null), use_dynamic_ntk: given(model, "use_dynamic_ntk") === true,
    use_logn_attn: given(model, "use_logn_attn") === true,
    dtype: dtypeOf(model) || dtypeOf(outer), dtype_key: [model, outer].some((one) => typeof given(one, "dtype") === "string") ? "dtype" : "torch_dtype",
  };
}

const stepAt = (length) => 2 ** Math.max((length - 1).toString(2).length - 8, 0);
const lengthFacts = ({ dtype }, length) => ({ half: ["bfloat16", "float16"].includes(dtype) && length !== null, length, step: length === null ? 1 : stepAt(length) });

function widthOf({ head_dim, parameters: { short_factor, mrope_section } }) {
  return head_dim ?? (2 * (short_factor?.length ?? 0) || 2 * (mrope_section ?? []).reduce((sum, one) => sum + one, 0) || UNKNOWN_HEAD);
}

function factsOf(read, one) {
  const { model, ignored } = read, { written, parameters: rope } = one, kind = rope.rope_type, head = widthOf(one);
  const types = has(table.rope_types, kind) ? table.rope_types[kind] : { needs: [], reads: [] };
  const named = [given(written, "rope_type"), given(written, "type")].filter((value) => value !== null);
  const present = named.map((value) => (has(table.older_types, value) ? table.older_types[value] : value));
  const outside = firstOf(words.bases, (key) => ignored.includes(key) && has(model, key)), inside = number(written, "rope_theta") !== null, base = rope.rope_theta ?? 10_000;
  const both = { ...model, ...written }, alphaRead = number(written, "alpha") !== null && !ignored.some((path) => path.endsWith("alpha"));
  const alphaKey = firstOf(words.alphas, (key) => number(both, key) && !alphaRead), alpha = alphaRead ? written.alpha : given(both, alphaKey);
  const shareInside = number(written, "partial_rotary_factor"), sections = rope.mrope_section ?? null, types_of = given(model, "layer_types") ?? [];
  const windows = types_of.filter((each) => words.windows.slice(1).includes(each)), layer = one.layer_type ?? "";
  const apart = Boolean(number(model, "qk_nope_head_dim") && number(model, "qk_rope_head_dim"));
  return {
    layer, kind: ROPE_TYPES.includes(kind) ? kind : "", named: kind, layout: one.layout, kind_known: ROPE_TYPES.includes(kind), known: ROPE_TYPES.join(", "),
    type_written: named.length > 0, type_key: given(written, "rope_type") !== null ? "rope_type" : "type",
    older_name: named.find((value) => has(table.older_types, value)) ?? "", other_type: new Set(present).size > 1 ? named.at(-1) : "", type_alone: given(written, "rope_type") === null && given(written, "type") !== null,
    extra_keys: named.length > 0 ? "" : Object.keys(written).filter((key) => !table.any_type.includes(key)).join(", "),
    base, base_needed: rope.rope_theta === null && ["llama3", "proportional"].includes(kind),
    base_written: inside || words.bases.some((key) => number(model, key) !== null),
    base_inside: inside && Object.keys(model).length > 0 && number(model, "rope_theta") === null, base_outside: outside,
    alpha_read: alphaRead, alpha_key: alphaKey,
    base_other: outside ? given(model, outside) : 0, base_differs: outside !== "" && inside,
    alpha_base: alpha > 0 && head > 2 ? base * alpha ** (head / (head - 2)) : null,
    ...headFacts(model, one), ...rotatingFacts(kind, head, rope.partial_rotary_factor), ...lengthsOf(model, one), ...scalingFacts(one, types),
    share_inside: shareInside, share_outside: number(model, "partial_rotary_factor"), share_differs: shareInside !== null && ignored.includes("partial_rotary_factor"),
    rotary_dim: number(model, "rotary_dim"), rotary_ignored: ignored.includes("rotary_dim"),
    sections_key: given(written, "xdrope_section") !== null ? "xdrope_section" : "mrope_section",
    sections_sum: sections?.reduce((sum, each) => sum + each, 0) ?? null,
    sections_in_turn: Boolean(rope.mrope_interleaved), llama_4_beta: Boolean(number(written, "llama_4_scaling_beta")), model_given: Object.keys(model).length > 0,
    mla_head: apart && one.head_dim ? one.head_dim + model.qk_nope_head_dim : null,
    windowed: windows.length > 0 && windows.length < types_of.length && kind !== "default" && layer === "",
    layer_unused: words.windows.includes(layer) && types_of.length > 0 && !types_of.includes(layer),
    mla: given(model, "qk_rope_head_dim") !== null || given(model, "kv_lora_rank") !== null,
  };
}

function headFacts(model, one) {
  const [widthKey, headsKey] = table.widths.find((pair) => pair.every((key) => given(model, key))) ?? ["", ""];
  const width = given(model, widthKey), heads = given(model, headsKey), { head_dim } = one;
  const quotient = width && heads ? width / (heads * (given(model, "memory_attention_downsample_rate") || 1)) : null;
  const named = given(model, "head_dim") !== null && given(model, "qk_rope_head_dim") === null;
  return {
    head_missing: head_dim === null, head_dim: widthOf(one), head_named: named,
    head_fraction: quotient !== null && !Number.isInteger(quotient) && Math.trunc(quotient) === head_dim && !named,
    width_key: widthKey, heads_key: headsKey, width, heads, quotient,
  };
}

function rotatingFacts(kind, head, share) {
  const valid = share > 0 && share <= 1, exact = valid ? head * share : 0, proportional = kind === "proportional";
  const rotating = proportional ? head : Math.trunc(exact), least = kind === "dynamic" || kind === "axial" ? 4 : 2, odd = rotating % 2 === 1;
  return {
    share, share_bad: !valid, exact, rotating, pairs: odd && kind === "default" ? (rotating + 1) / 2 : Math.floor(rotating / 2),
    still: proportional ? Math.floor(head / 2) - Math.floor(exact / 2) : 0, least, odd,
    floors: valid && !proportional && exact - rotating > 1e-9,
  };
}

function lengthsOf(model, { written, parameters: rope }) {
  const kind = rope.rope_type, byLength = BY_LENGTH.includes(kind), longest = number({ ...written, ...model }, LONGEST) || null;
  const original = byLength ? rope[LENGTH] ?? null : longest, inside = number(written, LENGTH), outside = number(model, LENGTH);
  return {
    longest, original, original_inside: inside, original_outside: outside,
    original_stated: Boolean(inside || outside), by_length: byLength, ratio: longest && original ? longest / original : null,
    fastest_turns: original ? original / (2 * Math.PI) : null,
  };
}

function scalingFacts({ written, parameters: rope }, { needs, reads }) {
  const kind = rope.rope_type, facts = Object.fromEntries(words.numbers.map((key) => [key, rope[key] ?? null]));
  Object.assign(facts, { beta_fast: rope.beta_fast ?? 32, beta_slow: rope.beta_slow ?? 1 });
  const missing = needs.filter((key) => (rope[key] ?? null) === null), original = rope[LENGTH] ?? null, { mscale: over, mscale_all_dim: under } = rope;
  const { factor, attention_factor: attention } = facts;
  let computed = null;
  if (kind === "yarn" && factor && Math.min(over || 1, under || 1) > 0) computed = over && under ? mscale(factor, over) / mscale(factor, under) : mscale(factor);
  else if (kind === "longrope" && factor && original > 1) computed = Math.sqrt(1 + (factor > 1 ? Math.log(factor) / Math.log(original) : 0));
  return {
    ...facts, missing: missing.join(", "), missing_key: missing[0] ?? "", factor_null: kind === "yarn" && written.factor === null,
    factor_written: given(written, "factor") !== null && [...needs, ...reads].includes("factor"), static: ["linear", "yarn"].includes(kind) && factor !== null,
    mscale_written: given(written, "mscale"), under_written: given(written, "mscale_all_dim"),
    truncate: has(written, "truncate") ? JSON.stringify(written.truncate) : "", computed, attention_apart: attention !== null && computed !== null && Math.abs(attention - computed) > 1e-6,
    softmax: kind === "yarn" && factor && given(written, "mscale_all_dim") > 0 ? mscale(factor, written.mscale_all_dim) ** 2 : 1,
    short_count: rope.short_factor?.length ?? null, long_count: rope.long_factor?.length ?? null,
  };
}

// ---- frequencies

function drawnOf({ parameters: rope }, facts, requested, drawn) {
  const { kind, layer, longest, original, rotating, head_dim, base, share } = facts;
  const length = requested ?? (longest || original || UNKNOWN_LENGTH), trained = facts.by_length ? original : longest;
  const more = {
    ...facts, drawn, length, trained, requested: requested !== null, slowest: null, slowest_trained: null, fresh: 0,
  };
  const rotation = { layer, kind, trained, length, before: null, after: null, attention: null, facts: more };
  if (!drawn) return rotation;
  const setting = {
    kind, base, length, dim: rotating, head: head_dim, share, factor: facts.factor ?? 1, trained: rope[LENGTH] ?? (kind === "dynamic" ? UNKNOWN_LENGTH : original),
    betaFast: facts.beta_fast, betaSlow: facts.beta_slow, rounded: rope.truncate ?? true, low: facts.low_freq_factor, high: facts.high_freq_factor,
    short: rope.short_factor, long: rope.long_factor,
  };
  const before = configuredFrequencies({ ...setting, kind: kind === "proportional" ? kind : "default", factor: 1 });
  const after = configuredFrequencies(setting), rotate = (thetas) => thetas.filter((theta) => theta > 0);
  const slowest = (thetas) => (rotate(thetas).length > 0 ? (2 * Math.PI) / rotate(thetas).at(-1) : null);
  Object.assign(more, { slowest: slowest(after), slowest_trained: slowest(before) });
  if (trained !== null) {
    more.fresh = Array.from(before).filter((theta, i) => theta * trained < 2 * Math.PI && after[i] * length > theta * trained * (1 + ROUNDING)).length;
  }
  return { ...rotation, before, after, attention: facts.attention_factor ?? facts.computed ?? 1 };
}

// ---- keys

function keysOf(read, rotations, findings, file) {
  const first = rotations.find(({ after }) => after)?.facts ?? rotations[0]?.facts ?? file, told = [], seen = new Set();
  let others = 0;
  for (const [key, value] of Object.entries(read.model)) {
    if (has(words.keys, key) || table.beside.includes(key) || read.ignored.includes(key)) told.push(keyOf(key, key, value, "", first, findings));
    else if (key !== read.dictionary) others += 1;
  }
  rotations.forEach(({ layer, facts }, k) => {
    for (const [key, value] of Object.entries(read.rotations[k].written)) {
      const path = [read.dictionary, file.layers ? layer : "", key].filter(Boolean).join(".");
      if (!seen.has(path) && !isObject(value)) told.push(keyOf(path, key, value, layer, facts, findings));
      seen.add(path);
    }
  });
  return [told, others];
}

function keyOf(path, key, value, layer, facts, findings) {
  const concerning = findings.find((one) => one.key === key && (!layer || !one.layer || one.layer.split(", ").includes(layer)));
  const common = { path, value: shown(value), level: concerning?.level ?? LEVELS.at(-1) };
  if (has(words.keys, key) && "kind" in facts) return { ...common, text: say(words.keys[key].does, facts, names), see: words.keys[key].see };
  const what = has(words.keys, key) ? "without" : table.beside.includes(key) ? "class" : "unknown";
  return { ...common, text: say(words.key_else[what], facts), see: what === "unknown" ? "names" : "file" };
}

// The verdict: how many errors and likely mistakes there are, or that the file is fine, and what that means.
export function summary({ fault, findings, facts = {} }) {
  const counts = LEVELS.slice(0, 3).map((level) => [level, findings.filter((one) => one.level === level).length]);
  const counted = counts.filter(([, count]) => count > 0).map(([level, count]) => ({ count: say(words.report.counted, { level, number: count }, names) }));
  const sound = !fault && counts[0][1] + counts[1][1] === 0;
  return say(words.report.summary, { without: "", model_type: "", known_type: false, ...facts, fault, sound, notes: counts[2][1] > 0 ? counted.at(-1).count : "", counts: counted }, names);
}

// Diagnoses a text; `length` is an integer, in tokens, or null for as many as the configuration allows.
export function diagnose(text, length = null) {
  let config, read, wrong;
  try {
    config = parsed(text);
    const places = mistyped(config);
    wrong = places.map(([place, kind]) => finding(words.mistyped, { key: place.at(-1), kind, value: shown(valueAt(config, place)) }, place.at(-1), ""));
    read = understood(without(config, places.map(([place]) => place)));
    if (read.without === table.reasons.silent && !words.sizes.some((key) => has(read.model, key))) throw new Unreadable("nothing");
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { fault: say(words.files[error.why], error.facts), nested: "", rotations: [], findings: [], keys: [], others: 0, facts: {} };
  }
  const file = fileFacts(read, config), rotations = [], found = [];
  for (const one of read.rotations) {
    const facts = { ...file, ...factsOf(read, one) }, listed = byRules("rules", facts);
    const drawable = one.parameters.rope_type !== "axial" && facts.kind_known && !has(one.parameters, "inv_freq") && ![...listed, ...wrong].some(spoils);
    const rotation = drawnOf(one, facts, length, drawable);
    rotations.push(rotation);
    found.push([...listed, ...byRules("length_rules", rotation.facts)]);
  }
  const findings = joined(found, [...wrong, ...byRules("file_rules", { ...file, ...lengthFacts(file, length) }), ...ignoredBy(read)]);
  const [keys, others] = keysOf(read, rotations, findings, file);
  return { fault: "", nested: read.nested.join("."), rotations, findings, keys, others, facts: file };
}

// What a configuration does with positions, and what is wrong with it: facts and rules of doctor.json, no page.
// posenc.doctor reads the same, says the same, and has the explanations.

import { configuredFrequencies, mscale } from "./arithmetic_scaling.js";
import table from "./doctor.json";
import { holds, say } from "./sentences.js";

const { names, types } = table;
export const VERDICTS = Object.keys(table.verdicts);
const LENGTH = "original_max_position_embeddings", LONGEST = "max_position_embeddings";
const FULL = "full_attention", WINDOW = "sliding_attention";
const GREATEST = 2 ** 53, UNKNOWN_LENGTH = 4096, ROUNDING = 1e-9;
const WORDS = ["rope", "rotary", "yarn", "mrope", "xdrope"];

class Unreadable extends Error {
  constructor(why, facts = {}) {
    super(why);
    Object.assign(this, { why, facts });
  }
}

// ---- texts

function parsed(text) {
  text = text.replace(/^\ufeff/, "").trim();
  if (text === "") throw new Unreadable("empty");
  let found;
  try {
    found = JSON.parse(text);
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
  if (/\b(?:NaN|Infinity)\b/.test(bare)) return new Unreadable("nan");
  const [open, shut] = [/[{[]/g, /[}\]]/g].map((bracket) => bare.match(bracket)?.length ?? 0);
  return open > shut ? new Unreadable("cut", { open, shut }) : new Unreadable("json");
}

function shown(value) {
  if (isObject(value)) return table.shown.object;
  if (Array.isArray(value)) {
    if (value.length > 8) return say(table.shown.list, { count: value.length, first: shown(value[0]), last: shown(value.at(-1)) });
    return `[${value.map(shown).join(", ")}]`;
  }
  if (typeof value === "number") return String(value);
  const text = JSON.stringify(value ?? null), letters = [...text];
  return letters.length <= 60 ? text : `${letters.slice(0, 59).join("")}…`;
}

// ---- values

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const has = (given, key) => Object.hasOwn(given, key);
const given = (config, key) => (has(config, key) ? config[key] ?? null : null);
const finite = (value) => typeof value === "number" && Math.abs(value) < 1e300;
const whole = (value) => finite(value) && Number.isInteger(value) && value > 0 && value < GREATEST;
const listed = (value, fits) => Array.isArray(value) && value.every(fits);

function stateOf(config, key, fits = finite) {
  if (!has(config, key)) return ["missing", null];
  if (config[key] === null) return ["null", null];
  return fits(config[key]) ? ["good", config[key]] : ["bad", null];
}

const olderNames = (key) => [key, ...(table.older[key] ?? [])];
const named = (model, key) => olderNames(key).map((name) => given(model, name)).find((value) => value !== null) ?? null;

// ---- where it stands

const SPEAKING = ["rope_parameters", "rope_scaling", "rotary_dim", ...Object.keys(table.older).flatMap(olderNames)];
const speaks = (config) => SPEAKING.some((key) => given(config, key) !== null);
const needsAndReads = ({ needs, reads }) => [...needs, ...reads];
const INNER = new Set([...Object.values(types).flatMap(needsAndReads), ...table.any_type]);

function alone(config) {
  if (has(config, "rope_parameters") || has(config, "rope_scaling") || Object.keys(config).length === 0) return false;
  const type = given(config, "type");
  if (has(config, "rope_type") || (typeof type === "string" && (has(types, type) || has(table.older_types, type)))) return true;
  if (Object.keys(config).every((key) => INNER.has(key) && key !== LONGEST)) return true;
  return Object.values(config).every((one) => isObject(one) && alone(one));
}

function read(outer) {
  const nested = [];
  let config = outer;
  while (!speaks(config) && !alone(config)) {
    const inside = table.inside.find((key) => isObject(given(config, key)));
    if (inside === undefined) break;
    nested.push(inside);
    config = config[inside];
  }
  if (alone(config)) return { model: {}, nested: nested.join("."), dictionary: "", parts: partsOf({}, config, "", {}) };
  if (!speaks(config) && headOf(config, "", false).head_is === "missing") throw new Unreadable("nothing");
  const outside = nested.length > 0 ? Object.fromEntries(["dtype", "torch_dtype"].filter((key) => has(outer, key)).map((key) => [key, outer[key]])) : {};
  const model = { ...outside, ...config };
  const [rope, dictionary, common] = dictionaryOf(config);
  return { model, nested: nested.join("."), dictionary, parts: partsOf(model, rope, dictionary, common) };
}

function dictionaryOf(config) {
  const scaling = given(config, "rope_scaling"), parameters = given(config, "rope_parameters");
  const filled = (value) => (isObject(value) || Array.isArray(value) ? Object.keys(value).length > 0 : Boolean(value));
  const dictionary = filled(scaling) || !filled(parameters) ? "rope_scaling" : "rope_parameters", found = given(config, dictionary);
  const both = isObject(scaling) && isObject(parameters) && filled(scaling) && filled(parameters);
  return [isObject(found) ? found : {}, dictionary, {
    dictionary_bad: found !== null && !isObject(found), dictionary_said: shown(found), both_differ: both && !same(scaling, parameters),
  }];
}

function same(one, other) {
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return keys.length === Object.keys(other).length && keys.every((key) => has(other, key) && same(one[key], other[key]));
  }
  if (Array.isArray(one) && Array.isArray(other)) return one.length === other.length && one.every((each, k) => same(each, other[k]));
  return one === other;
}

function partsOf(model, rope, dictionary, given_) {
  const layers = Object.values(rope).some(isObject), known = [FULL, ...table.windowed];
  const listedTypes = given(model, "layer_types"), layerTypes = listed(listedTypes, (one) => typeof one === "string") ? listedTypes : [];
  const local = named(model, "rope_local_base_freq");
  const mixed = Object.keys(rope).filter((key) => layers && rope[key] !== null && !isObject(rope[key]));
  const kept = Object.keys(rope).filter((key) => rope[key] === null || isObject(rope[key]));
  const lacking = [...new Set(layerTypes)].filter((one) => layers && known.includes(one) && !kept.includes(one));
  const common = {
    dictionary_bad: false, dictionary_said: "", both_differ: false, ...given_, dictionary: dictionary || "rope_parameters",
    speaks: speaks(model) || dictionary === "", mixed: mixed.length > 0, mixed_keys: mixed.join(", "),
    layer_missing: kept.every((name) => known.includes(name)) ? lacking.join(", ") : "", layers, beside: "", local_base: null, full_kind: "default",
  };
  if (layers) {
    return kept.map((name) => {
      const unused = layerTypes.length > 0 && known.includes(name) && !layerTypes.includes(name);
      return partOf(model, name, rope[name], { ...common, layer_unused: unused });
    });
  }
  if (finite(local) && local > 0) {
    const two = { ...common, layers: true, layer_unused: false }, { kind } = kindOf(rope);
    return [
      partOf(model, FULL, rope, { ...two, beside: "full", local_base: local, full_kind: kind || "default" }, true),
      partOf(model, WINDOW, { rope_theta: local }, { ...two, beside: "window" }),
    ];
  }
  return [partOf(model, "", rope, { ...common, layer_unused: false }, true, layerTypes)];
}

// ---- facts

function kindOf(rope) {
  const written = ["rope_type", "type"].map((key) => given(rope, key)).filter((value) => value !== null);
  const present = written.map((one) => (typeof one === "string" ? (has(table.older_types, one) ? table.older_types[one] : one) : null));
  const first = present.length > 0 ? present[0] : "default";
  const state = first === null ? "bad" : !has(types, first) ? "unknown" : written.length > 0 ? "good" : "missing";
  return {
    kind: state === "good" || state === "missing" ? first : "", kind_is: state,
    named: written.length === 0 ? "" : typeof written[0] === "string" ? written[0] : shown(written[0]),
    other_type: written.length === 2 && typeof written[1] === "string" ? written[1] : "",
    type_alone: given(rope, "rope_type") === null && given(rope, "type") !== null,
    types_differ: present.length === 2 && present[0] !== present[1], known: Object.keys(types).join(", "),
  };
}

function headOf(model, layer, shareNamed) {
  const [widthKey, headsKey] = table.widths.find((pair) => pair.every((key) => given(model, key) !== null)) ?? ["", ""];
  const [, width] = stateOf(model, widthKey, whole), [, heads] = stateOf(model, headsKey, whole);
  const narrower = stateOf(model, "memory_attention_downsample_rate", whole)[1] ?? 1;
  const quotient = width && heads ? width / (heads * narrower) : null;
  const facts = {
    width_key: widthKey, heads_key: headsKey, width, heads, quotient, head_key: "head_dim", head_said: "", head_wide: false,
    mla: given(model, "qk_rope_head_dim") !== null || given(model, "kv_lora_rank") !== null,
  };
  const own = layer === FULL ? given(model, "per_layer_config") : null;
  const wide = isObject(own) ? [...new Set(Object.values(own).filter(isObject).map((one) => given(one, "head_dim")))] : [];
  if (wide.length === 1 && whole(wide[0])) return { ...facts, head_is: "named", head_dim: wide[0] };
  const keys = shareNamed ? ["head_dim", "qk_rope_head_dim"] : ["qk_rope_head_dim", ...table.head_dims];
  const bad = (key) => ({ ...facts, head_is: "bad", head_dim: 0, head_key: key, head_said: shown(model[key]) });
  for (const key of layer === FULL ? ["global_head_dim", ...keys] : keys) {
    const [state, value] = stateOf(model, key, whole);
    if (state === "bad") return bad(key);
    const apart = key === "head_dim" && quotient !== null && quotient !== value && !facts.mla;
    if (state === "good") return { ...facts, head_is: "named", head_dim: value, head_key: key, head_wide: apart };
  }
  for (const key of [widthKey, headsKey].filter(Boolean)) if (stateOf(model, key, whole)[0] === "bad") return bad(key);
  if (quotient === null) return { ...facts, head_is: "missing", head_dim: 128 };
  return { ...facts, head_is: Number.isInteger(quotient) ? "quotient" : "fraction", head_dim: Math.floor(quotient) };
}

function baseAndShare(model, rope, flat) {
  const facts = {};
  for (const [key, name] of [["rope_theta", "base"], ["partial_rotary_factor", "share"]]) {
    let [state, value] = stateOf(rope, key);
    const raw = named(model, key), outside = finite(raw) ? raw : null;
    facts[`${name}_outside`] = outside;
    facts[`${name}_differs`] = flat && value !== null && outside !== null && value !== outside;
    facts[`${name}_inside`] = state === "good" && outside === null && Object.keys(model).length > 0;
    if (state === "missing" || state === "null") [state, value] = raw === null ? ["missing", null] : [outside === null ? "bad" : "good", outside];
    facts[`${name}_is`] = state;
    facts[name] = value;
    facts[`${name}_said`] = shown(given(rope, key) ?? raw);
  }
  if (facts.base_is === "missing") facts.base = 10_000;
  if (facts.share_is === "missing") facts.share = 1;
  const [, rotating] = stateOf(model, "rotary_dim", whole), head = headOf(model, "", true);
  const told = ["rope_parameters", "rope_scaling", ...Object.keys(table.older)].some((key) => given(model, key) !== null);
  Object.assign(facts, { rotary_dim: rotating, rotary_beside: rotating !== null && told });
  if (rotating && !told && head.head_is !== "missing" && head.head_dim >= rotating) {
    facts.share = rotating / head.head_dim;
    if (Math.trunc(head.head_dim * facts.share) < rotating) facts.share = (rotating + 0.5) / head.head_dim;
    facts.share_is = "good";
    if (facts.base_is === "missing") facts.base_is = "good";
  }
  return facts;
}

function rotatingOf(kind, headDim, share) {
  const valid = share !== null && share > 0 && share <= 1, exact = valid ? headDim * share : 0, wholeHead = kind === "proportional";
  const rotating = wholeHead ? headDim : Math.trunc(exact), least = kind === "dynamic" || kind === "axial" ? 4 : 2, odd = rotating % 2 === 1;
  return {
    rotating, exact, pairs: odd && kind === "default" ? (rotating + 1) / 2 : Math.floor(rotating / 2),
    still: wholeHead ? Math.floor(headDim / 2) - Math.floor(exact / 2) : 0, least, too_few: valid && headDim > 0 && rotating < least,
    floors: valid && !wholeHead && exact - rotating > 1e-9, odd: odd && rotating < headDim, head_odd: odd && rotating === headDim,
    in_part: valid && share < 1 && !wholeHead,
  };
}

function lengthsOf(model, rope, kind, flat) {
  const [longestIs, longest] = stateOf({ ...rope, ...model }, LONGEST, whole), [insideIs, inside] = stateOf(rope, LENGTH, whole);
  const outside = flat ? stateOf(model, LENGTH, whole)[1] : null;
  const where = outside ? "outside" : inside ? "inside" : longest ? "longest" : "nowhere", original = outside ?? inside ?? longest;
  const byLength = table.by_length.includes(kind), stated = where === "inside" || where === "outside";
  return {
    longest_is: longestIs, longest, longest_said: shown(given({ ...rope, ...model }, LONGEST)), original_is: insideIs === "bad" ? "bad" : original ? "good" : "missing", original_said: shown(given(rope, LENGTH)),
    original, original_inside: inside, original_where: insideIs === "bad" ? "inside" : where, original_stated: stated,
    original_differs: Boolean(outside && inside && outside !== inside), by_length: byLength, ratio: longest && original ? longest / original : null,
    shrinks: Boolean(byLength && stated && longest) && (original > longest || (kind === "llama3" && original === longest)),
    fastest_turns: original ? original / (2 * Math.PI) : null,
  };
}

const factors = (value) => listed(value, (one) => finite(one) && one > 0);

function scalingOf(rope, kind, lengths) {
  const facts = {};
  for (const key of ["factor", "attention_factor", "mscale", "mscale_all_dim", "low_freq_factor", "high_freq_factor"]) {
    [facts[`${key}_is`], facts[key]] = stateOf(rope, key);
  }
  facts.beta_fast = stateOf(rope, "beta_fast")[1] || 32;
  facts.beta_slow = stateOf(rope, "beta_slow")[1] || 1;
  for (const key of ["short", "long"]) {
    const [state, list] = stateOf(rope, `${key}_factor`, factors);
    facts[`${key}_is`] = state;
    facts[`${key}_count`] = list?.length ?? null;
  }
  const truncate = given(rope, "truncate"), [truncateIs] = stateOf(rope, "truncate", () => false);
  const reads = kind === "" ? [] : needsAndReads(types[kind]), { ratio, original } = lengths;
  const { factor, mscale: over, mscale_all_dim: under, low_freq_factor: low, high_freq_factor: high, attention_factor: attention } = facts;
  const effective = factor === null && (kind === "yarn" || kind === "longrope") ? ratio : factor;
  let computed = null;
  if (kind === "yarn" && effective) computed = over && under ? mscale(effective, over) / mscale(effective, under) : mscale(effective);
  else if (kind === "longrope" && effective && original > 1) computed = Math.sqrt(1 + (effective > 1 ? Math.log(effective) / Math.log(original) : 0));
  const used = attention !== null && reads.includes("attention_factor");
  return {
    ...facts, truncate_is: typeof truncate === "boolean" ? String(truncate) : truncateIs, truncate_said: shown(truncate),
    factor_used: factor !== null && reads.includes("factor"), factor_stated: factor !== null,
    factor_absent: facts.factor_is === "missing" || facts.factor_is === "null", effective,
    static: (kind === "linear" || kind === "yarn") && factor !== null, betas_negative: facts.beta_fast < 0 || facts.beta_slow < 0,
    bounds_good: low !== null && high !== null, bounds_negative: low !== null && high !== null && Math.min(low, high) <= 0, computed,
    attention_used: used, attention_apart: used && computed !== null && Math.abs(attention - computed) > 1e-6,
    softmax: kind === "yarn" && effective && under ? mscale(effective, under) ** 2 : 1,
  };
}

function besides(model, rope) {
  const sectionsKey = given(rope, "xdrope_section") !== null ? "xdrope_section" : "mrope_section", sections = given(rope, sectionsKey);
  const [sectionsIs, parts] = stateOf(rope, sectionsKey, (value) => listed(value, (one) => one === 0 || whole(one)));
  const nope = given(model, "no_rope_layers"), [nopeIs, bits] = stateOf(model, "no_rope_layers", (value) => listed(value, (bit) => [0, 1, true, false].includes(bit)));
  const dtypeKey = typeof given(model, "dtype") === "string" ? "dtype" : "torch_dtype", written = given(model, dtypeKey);
  const dtype = typeof written === "string" ? written.replace(/^torch\./, "") : "", [layersIs, layers] = stateOf(model, "num_hidden_layers", whole);
  const modelType = typeof given(model, "model_type") === "string" ? model.model_type : "";
  return {
    sections_key: sectionsKey, sections_is: sectionsIs, sections_said: shown(sections), sections_sum: parts?.reduce((sum, one) => sum + one, 0) ?? null,
    nope_is: nopeIs, nope_said: shown(nope), nope_count: bits?.length ?? null, nope_rotating: bits?.filter(Boolean).length ?? null,
    layers_is: layersIs, num_hidden_layers: layers, dtype_key: dtypeKey, dtype, half: ["bfloat16", "float16"].includes(dtype),
    model_type: modelType, own_code: table.own_code.includes(modelType),
  };
}

function partOf(model, layer, written, common, flat = false, layerTypes = []) {
  const rope = written ?? {}, kind = kindOf(rope), base = baseAndShare(model, rope, flat);
  const head = headOf(model, layer, base.share_is === "good" && !has(model, "rotary_dim")), lengths = lengthsOf(model, rope, kind.kind, flat);
  const extras = Object.keys(rope).filter((key) => !table.any_type.includes(key)), windows = layerTypes.filter((one) => table.windowed.includes(one));
  const facts = {
    ...common, ...kind, ...base, ...head, ...rotatingOf(kind.kind, head.head_dim, base.share), ...lengths, ...scalingOf(rope, kind.kind, lengths),
    ...besides(model, rope), layer, layer_null: written === null, extras: extras.length > 0, extra_keys: extras.join(", "),
    windowed: windows.length > 0 && windows.length < layerTypes.length && kind.kind !== "" && kind.kind !== "default",
  };
  return { layer, rope, facts };
}

// ---- rules

// Whether nothing can be drawn for what was found.
const spoils = ({ verdict, rule }) => verdict === "wrong" && !table.change_no_frequency.includes(rule);

const finding = (rule, facts, key, layer) => ({ rule: rule.name, verdict: rule.verdict, key, layer, text: say(rule.say, facts, names), see: rule.see });

function byRules(rules, facts) {
  return table[rules].filter((rule) => holds(rule.when, facts)).map((rule) => finding(rule, facts, say(rule.key, facts), facts.layer));
}

function ofKeys({ layer, rope, facts: { kind, layer_null, ...facts } }) {
  const { needs, reads } = has(types, kind) ? types[kind] : { needs: [], reads: [] };
  const read = [...table.any_type, ...needs, ...reads];
  return [...Object.keys(rope), ...needs.filter((key) => !has(rope, key))].flatMap((key) => {
    if (layer_null || (kind === "" && INNER.has(key))) return []; // what reads them is unknown
    const known = {
      key, kind, state: keyState(rope, key, facts), said: shown(given(rope, key)), number: table.numbers.includes(key), list: table.lists.includes(key),
      needed: needs.includes(key), read: read.includes(key), known: INNER.has(key), replaced: kind === "yarn" && key === "factor",
      instead: has(table.instead, key) ? table.instead[key] : "",
    };
    return table.key_rules.filter((rule) => holds(rule.when, known)).map((rule) => finding(rule, known, key, layer));
  });
}

function keyState(rope, key, facts) {
  if (!has(rope, key)) return "missing";
  if (rope[key] === null) return "null";
  if (table.lists.includes(key)) return facts[key.replace("_factor", "_is")];
  return table.numbers.includes(key) && !finite(rope[key]) ? "bad" : "good";
}

function outsideOf(model) {
  const strange = Object.keys(model).filter((key) => (
    key.toLowerCase().split("_").some((word) => WORDS.includes(word)) && !has(table.keys, key) && !table.class_keys.includes(key)
    && model[key] !== null && model[key] !== false
  ));
  return strange.map((key) => finding(table.outside_rule, { key, instead: has(table.instead, key) ? table.instead[key] : "" }, key, ""));
}

// One that several rotations have is told once; the worst come first.
function joined(found, outside) {
  const told = new Map();
  for (const one of found.flat()) {
    const key = JSON.stringify([one.rule, one.verdict, one.key, one.text, one.see]);
    if (!told.has(key)) told.set(key, []);
    told.get(key).push(one);
  }
  const once = [...told.values()].map((all) => ({ ...all[0], layer: all.length === found.length ? "" : all.map(({ layer }) => layer).join(", ") }));
  const rank = ({ verdict }) => VERDICTS.indexOf(verdict);
  return [...once, ...outside].sort((one, other) => rank(one) - rank(other));
}

// ---- frequencies

function settingOf({ rope, facts }, length) {
  const { kind, head_dim, rotating, base, share, longest, original, effective, factor } = facts;
  return {
    kind, base, length, dim: rotating, head: head_dim, share, factor: (kind === "yarn" || kind === "longrope" ? effective : factor) ?? 1,
    trained: kind === "dynamic" ? longest ?? UNKNOWN_LENGTH : original, betaFast: facts.beta_fast, betaSlow: facts.beta_slow,
    rounded: ["missing", "true"].includes(facts.truncate_is) || facts.layers, low: facts.low_freq_factor, high: facts.high_freq_factor,
    short: given(rope, "short_factor"), long: given(rope, "long_factor"),
  };
}

function rotationOf(part, asked, drawn) {
  const { facts } = part, { kind, longest, original } = facts;
  const length = asked ?? longest ?? original ?? UNKNOWN_LENGTH, trained = facts.by_length ? original : longest;
  const more = {
    ...facts, drawn, length, trained, asked: asked !== null, beyond: asked !== null && trained !== null && length > trained,
    beyond_longest: asked !== null && longest !== null && length > longest, step: 2 ** Math.max((length - 1).toString(2).length - 8, 0), slowest: null, slowest_trained: null, fresh: 0, scaled_short: false,
  };
  const rotation = { layer: part.layer, kind, trained, length, before: null, after: null, attention: null, facts: more };
  if (!drawn) return rotation;
  const setting = settingOf(part, length);
  const before = configuredFrequencies({ ...setting, kind: kind === "proportional" ? kind : "default", factor: 1 });
  const after = configuredFrequencies(setting), turning = (thetas) => thetas.filter((theta) => theta > 0);
  const slowest = (thetas) => (turning(thetas).length > 0 ? (2 * Math.PI) / turning(thetas).at(-1) : null);
  Object.assign(more, { slowest: slowest(after), slowest_trained: slowest(before) });
  if (trained !== null) {
    more.fresh = Array.from(before).filter((theta, i) => theta * trained < 2 * Math.PI && after[i] * length > theta * trained * (1 + ROUNDING)).length;
  }
  more.scaled_short = asked === null && (kind === "yarn" || kind === "llama3") && more.fresh > 0;
  const attention = facts.attention_used ? facts.attention_factor : facts.computed ?? 1;
  return { ...rotation, before, after, attention };
}

// ---- keys

function keysOf({ model, dictionary, parts }, rotations, findings) {
  const first = rotations.find(({ after }) => after) ?? rotations[0], told = [];
  let others = 0;
  for (const [key, value] of Object.entries(model)) {
    const strange = findings.some((one) => one.rule === "outside" && one.key === key);
    if (has(table.keys, key) || table.class_keys.includes(key) || strange) told.push(keyOf(key, key, value, "", first.facts, findings));
    else if (key !== dictionary) others += 1;
  }
  rotations.forEach(({ layer, facts }, k) => {
    const { rope } = parts[k];
    if (facts.beside === "window") return; // its one key stands outside, by a name of its own
    const within = facts.beside || !facts.layers ? [dictionary] : [dictionary, layer];
    for (const [key, value] of Object.entries(rope)) told.push(keyOf([...within, key].filter(Boolean).join("."), key, value, layer, facts, findings));
  });
  return [told, others];
}

function keyOf(path, key, value, layer, facts, findings) {
  const about = findings.find((one) => one.key === key && (!layer || !one.layer || one.layer.split(", ").includes(layer)));
  const common = { path, value: shown(value), verdict: about?.verdict ?? VERDICTS.at(-1) };
  if (has(table.keys, key)) return { ...common, text: say(table.keys[key].does, facts, names), see: table.keys[key].see };
  const what = table.class_keys.includes(key) ? "class" : "unknown";
  return { ...common, text: say(table.key_else[what], facts), see: what === "class" ? "file" : "names" };
}

// Diagnoses a text; `length` is a whole number of tokens, or null for as many as the configuration allows.
export function diagnose(text, length = null) {
  let reading;
  try {
    reading = read(parsed(text));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { fault: say(table.files[error.why], error.facts), nested: "", rotations: [], findings: [], keys: [], others: 0 };
  }
  const rotations = [], found = [];
  for (const part of reading.parts) {
    const { facts } = part, about = [...byRules("rules", facts), ...ofKeys(part)];
    const drawable = !facts.layer_null && !facts.own_code && !["", "axial"].includes(facts.kind) && facts.head_dim > 1 && !facts.head_odd;
    const rotation = rotationOf(part, length, drawable && !about.some(spoils));
    about.push(...byRules("length_rules", rotation.facts), ...(rotation.after ? byRules("drawn_rules", rotation.facts) : []));
    rotations.push(rotation);
    found.push(about);
  }
  const findings = joined(found, outsideOf(reading.model)), [keys, others] = keysOf(reading, rotations, findings);
  return { fault: "", nested: reading.nested, rotations, findings, keys, others };
}

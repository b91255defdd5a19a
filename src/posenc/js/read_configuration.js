// What a model's config.json says about rotation, as facts: posenc.configuration, which explains it, in the page.

import table from "./../model_types.json";

export const LENGTH = "original_max_position_embeddings";
export const LONGEST = "max_position_embeddings";
export const ROPE_TYPES = Object.keys(table.rope_types);
export const BY_LENGTH = ["yarn", "longrope", "llama3"]; // types that are laid by the trained length

const KINDS = Object.fromEntries(Object.entries(table.kinds).flatMap(([kind, keys]) => keys.map((key) => [key, kind])));
export const INNER = new Set([...table.any_type, ...Object.values(table.rope_types).flatMap(({ needs, reads }) => [...needs, ...reads])]);
const SPEAKING = ["rope_parameters", "rope_scaling", "rotary_dim", ...table.thetas, ...table.local_thetas, ...table.shares];
const BASES = [...table.thetas, ...table.local_thetas, "compress_rope_theta", "swa_rope_theta"];
const WORDS = ["rope", "rotary", "yarn", "mrope", "xdrope"];
const SECTIONS = ["mrope_section", "mrope_interleaved", "xdrope_section"]; // read within a rope dictionary alone

// ---- values

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const has = (config, key) => Object.hasOwn(config, key);
export const given = (config, key) => (has(config, key) ? config[key] ?? null : null);
const isNumber = (value) => typeof value === "number" && Math.abs(value) < 1e300;
const isInt = (value) => isNumber(value) && Number.isInteger(value) && value >= 0 && value < 2 ** 53;
const isList = (value, fits) => Array.isArray(value) && value.every(fits);
const filled = (value) => (isObject(value) ? Object.keys(value).length > 0 : Boolean(value));
const first = (config, keys) => keys.map((key) => given(config, key)).find((value) => value !== null) ?? null;
const any = (config, keys) => keys.some((key) => given(config, key) !== null);
const joined = (...parts) => parts.filter(Boolean).join(".");
const present = (name) => (typeof name === "string" && has(table.older_types, name) ? table.older_types[name] : name);

const FITS = {
  "a number": isNumber,
  "an integer": isInt,
  "a list of numbers greater than 0": (value) => isList(value, (one) => isNumber(one) && one > 0),
  "a list of integers": (value) => isList(value, (one) => typeof one === "boolean" || isInt(one)),
  "a list of names": (value) => isList(value, (one) => typeof one === "string"),
  "true or false": (value) => typeof value === "boolean",
  "a name in quotes": (value) => typeof value === "string",
  "an object": isObject,
};

function same(one, other) {
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return keys.length === Object.keys(other).length && keys.every((key) => has(other, key) && same(one[key], other[key]));
  }
  if (Array.isArray(one) && Array.isArray(other)) return one.length === other.length && one.every((each, k) => same(each, other[k]));
  return one === other;
}

// ---- where it stands

function alone(config) {
  const keys = Object.keys(config), named = given(config, "type");
  if (has(config, "rope_parameters") || has(config, "rope_scaling") || keys.length === 0) return false;
  if (has(config, "rope_type") || (typeof named === "string" && (has(table.rope_types, named) || has(table.older_types, named)))) return true;
  const layers = Object.values(config).filter((one) => one !== null);
  if (layers.length > 0 && layers.every((one) => isObject(one) && alone(one))) return true;
  return keys.every((key) => INNER.has(key) && key !== LONGEST);
}

function located(config) {
  const path = [];
  while (!alone(config)) {
    const inner = table.inside.find((key) => isObject(given(config, key)));
    if (inner === undefined || (any(config, SPEAKING) && !any(config[inner], SPEAKING))) break;
    path.push(inner);
    config = config[inner];
  }
  return [config, path];
}

const dictionaryOf = (model) => (filled(given(model, "rope_scaling")) || !filled(given(model, "rope_parameters")) ? "rope_scaling" : "rope_parameters");

// The places of values that are not what their key must be, and what that is.
export function mistyped(config) {
  const [model, path] = located(config), found = [];
  if (about(given(model, "model_type") || given(config, "model_type"))?.rotates === false) return found;
  const within = (part, place, deeper) => {
    for (const [key, value] of Object.entries(part)) {
      const eachLayer = key === "rope_theta" && !deeper && value?.length > 0 && isList(value, isNumber);
      if (has(KINDS, key) && value !== null && !eachLayer && !FITS[KINDS[key]](value)) found.push([[...place, key], KINDS[key]]);
      else if (isObject(value) && (deeper || key === "rope_parameters" || key === "rope_scaling")) within(value, [...place, key], true);
    }
  };
  within(model, path, alone(model));
  return found;
}

// ---- what it means

// What is known of a model type: facts, or that nothing of it rotates; null for a type that is not known.
export function about(type) {
  if (typeof type !== "string") return null;
  if (table.without_rotation.includes(type)) return { rotates: false };
  if (!has(table.models, type)) return null;
  const { as, ...rest } = table.models[type];
  return as === undefined ? rest : { ...about(as), ...rest };
}

// posenc.configuration.understood: a configuration whose values are what their keys must be.
export function understood(config) {
  const [model, path] = located(config), onItsOwn = alone(model), outer = given(config, "model_type") || "";
  const type = onItsOwn ? "" : given(model, "model_type") || outer;
  const known = about(type) ?? (path.length > 0 ? about(outer) : null), facts = known ?? {};
  const name = onItsOwn ? "" : dictionaryOf(model), around = onItsOwn ? {} : model;
  let rope = onItsOwn ? model : given(model, name) ?? {};
  const ignored = onItsOwn ? [] : Object.keys(model).filter((key) => isStrange(key, model[key]));
  if (filled(rope) && facts.plain) {
    rope = {};
    ignored.push(name);
  }
  if (name === "rope_scaling" && filled(given(model, "rope_parameters")) && !same(model.rope_parameters, rope)) ignored.push("rope_parameters");
  const silentFile = known === null && !onItsOwn && !any(model, SPEAKING), without = withoutOf(around, facts) || (silentFile ? table.reasons.silent : "");
  const rotations = [], silent = [], add = (keys) => ignored.push(...keys.filter((key) => !ignored.includes(key)));
  for (const [layer, written, entry] of without ? [] : layersOf(around, rope, facts)) {
    if (written === null) silent.push(layer);
    else {
      const place = joined(name, layer !== null && written === given(rope, layer) ? layer : "");
      const [rotation, unread] = rotationOf(around, layer, written, entry, facts, place);
      rotations.push(rotation);
      add([...new Set(unread)]);
    }
  }
  if (isPerLayer(rope)) ignored.push(...Object.keys(rope).filter((key) => rope[key] !== null && !isObject(rope[key])).map((key) => joined(name, key)));
  const bases = rotations.map(({ parameters }) => parameters.rope_theta);
  add(BASES.filter((key) => isNumber(given(around, key)) && !bases.includes(around[key]) && !without && !facts.alpha));
  return {
    model_type: type, known: known !== null, nested: path, dictionary: name, rotations,
    unrotated: without ? [] : [...silent, ...unrotatedOf(around, facts)], without, ignored, model: around,
  };
}

function isStrange(key, value) {
  const speaks = key.toLowerCase().split("_").some((word) => WORDS.includes(word));
  const known = table.beside.includes(key) || (has(KINDS, key) && !SECTIONS.includes(key));
  return speaks && !known && value !== null && value !== false;
}

const isPerLayer = (rope) => Object.values(rope).some(isObject);

function withoutOf(model, facts) {
  const { reasons } = table, [bases, scaled] = ["layer_rope_theta", "rope_scaling_layers"].map((key) => new Set(given(model, key) ?? []));
  bases.delete(0);
  if (bases.size > 1 || (scaled.size > 0 && scaled.size !== given(model, "num_hidden_layers"))) return reasons.layers;
  if (facts.own || any(model, table.own_keys)) return reasons.own;
  if (facts.rotates === false) return reasons.none;
  if (!facts.only_if || !filled(model)) return "";
  const [key, expected, otherwise] = facts.only_if, value = given(model, key) ?? otherwise;
  const words = { key, value: JSON.stringify(value), expected: JSON.stringify(expected) };
  return value === expected ? "" : reasons.setting.replace(/\{(\w+)\}/g, (_, word) => words[word]);
}

function unrotatedOf(model, facts) {
  const found = any(model, [facts.unrotated_if ?? "model_type"]) ? [...(facts.unrotated ?? [])] : [];
  const layers = given(model, "num_hidden_layers") ?? 0, every = given(model, "no_rope_layer_interval") || facts.unrotated_every;
  const listed = ["no_rope_layers", "layer_rope_theta"].map((key) => given(model, key) ?? []).find(({ length }) => length > 0);
  const still = listed ? listed.filter((one) => !one).length : every ? Math.floor(layers / every) : 0;
  return still > 0 ? [...found, `${still} of ${layers || (listed?.length ?? 0)} layers`] : found;
}

// The types of layers, each with its rope dictionary and with what is known of its base.
function layersOf(model, rope, facts) {
  const local = table.local_thetas.find((key) => given(model, key) !== null);
  const entries = facts.layers ?? (local ? { full_attention: {}, sliding_attention: { theta: local, scaled: false } } : null);
  if (isPerLayer(rope)) {
    return Object.entries(rope).filter(([, written]) => written === null || isObject(written)).map(([layer, written]) => [layer, written, entries?.[layer] ?? {}]);
  }
  if (entries) return Object.entries(entries).map(([layer, entry]) => [layer, entry.scaled ?? true ? rope : {}, entry]);
  return [[null, rope, {}]];
}

// A setting that may be a list with a value for every layer: the one of the first layer of a type.
function ofLayer(value, model, layer) {
  if (!Array.isArray(value)) return value;
  const place = Math.max((given(model, "layer_types") ?? []).indexOf(layer), 0);
  return value[Math.min(place, value.length - 1)];
}

function rotationOf(model, layer, written, entry, facts, place) {
  const kind = present(first(written, ["rope_type", "type"])) || entry.rope_type || "default";
  const perLayer = isPerLayer(given(model, dictionaryOf(model)) ?? {});
  const { needs, reads } = has(table.rope_types, kind) ? table.rope_types[kind] : { needs: [], reads: [...INNER] };
  const read = [...table.any_type, ...needs, ...reads, ...(facts.alpha ? ["alpha"] : [])], kept = Object.entries(written).filter(([, value]) => value !== null);
  const rope = Object.fromEntries(kept.filter(([key]) => read.includes(key) && key !== "type"));
  const ignored = kept.filter(([key]) => !read.includes(key)).map(([key]) => joined(place, key));
  const named = [given(written, "rope_type"), given(written, "type")].filter(Boolean).map(present);
  if (new Set(named).size > 1) ignored.push(joined(place, "type"));
  if (has(entry, "attention_factor") && read.includes("attention_factor")) rope.attention_factor ??= entry.attention_factor;

  const keys = has(entry, "theta") ? [entry.theta] : Object.keys(entry).length > 0 ? [] : [facts.theta, ...table.thetas].filter(Boolean);
  rope.rope_theta ??= ofLayer(first(model, keys), model, layer);
  if (facts.base_ratio && filled(model)) rope.rope_theta ??= 10_000 * (given(model, facts.base_ratio) || 1);
  const common = filled(facts) || (!filled(model) && !["llama3", "proportional"].includes(kind)) ? 10_000 : null;
  rope.rope_theta ??= entry.rope_theta ?? facts.rope_theta ?? common;
  const headDim = widthOfHead(model, layer, facts, rope), [share, unread] = shareOf(model, layer, rope, entry, facts, headDim, perLayer);
  ignored.push(...unread);
  Object.assign(rope, { rope_type: kind, partial_rotary_factor: share }, facts.parameters);
  if (has(rope, "xdrope_section")) {
    rope.mrope_section = rope.xdrope_section;
    delete rope.xdrope_section;
  }
  if (facts.sections) {
    const [height, , time] = rope.mrope_section ?? facts.mrope_section;
    rope.axes = [...Array.from({ length: 2 * height }, (_, k) => 1 + (k % 2)), ...Array.from({ length: time }, () => 0)];
    delete rope.mrope_section;
  }
  ignored.push(...fillLengths(model, rope, perLayer, facts, place), ...settle(rope, written, perLayer).map((key) => joined(place, key)));
  let rotating = headDim === null ? 0 : kind === "proportional" ? headDim : Math.trunc(headDim * share);
  if (kind === "default" && headDim !== null && rotating < headDim) rotating += rotating % 2;
  if (rope.alpha && facts.alpha && rope.rope_type === "dynamic" && rotating > 2) {
    Object.assign(rope, { rope_type: "default", rope_theta: rope.rope_theta * rope.alpha ** (rotating / (rotating - 2)) });
    delete rope.factor;
    delete rope[LENGTH];
  }
  delete rope.alpha;
  const told = facts.layout_key === undefined ? null : given(model, facts.layout_key);
  const layout = told === null ? facts.layout ?? "half-split" : told ? "interleaved" : "half-split";
  return [{ layer_type: layer, head_dim: headDim, rotary_dim: rotating, layout, parameters: rope, written }, ignored];
}

function widthOfHead(model, layer, facts, rope) {
  const own = given(model, "per_layer_config"), share = rope.partial_rotary_factor ?? null;
  if (layer === "full_attention") {
    const wide = new Set(isObject(own) ? Object.values(own).map((one) => given(one, "head_dim")) : []);
    wide.add(given(model, "global_head_dim")).delete(null);
    if (wide.size === 1) return [...wide][0];
  }
  const apart = apartOf(model, facts), named = given(model, "head_dim");
  if (apart !== null && (share === null || named === null || Math.trunc(named * share) === apart || share === 1)) return apart;
  const width = first(model, table.head_dims) ?? (!has(model, "head_dim") && filled(model) ? facts.head_dim ?? null : null);
  if (width !== null) return width;
  const pair = table.widths.find((keys) => keys.every((key) => given(model, key) !== null));
  if (pair === undefined && (!filled(model) || !filled(facts))) return null;
  const [size, count] = (pair ?? table.widths[0]).map((key) => given(model, key) || facts[key]);
  return size && count ? Math.floor(size / (count * (given(model, "memory_attention_downsample_rate") || 1))) : null;
}

const apartOf = (model, facts) => given(model, "qk_rope_head_dim") || (filled(model) ? facts.qk_rope_head_dim ?? null : null);

function shareOf(model, layer, rope, entry, facts, headDim, perLayer) {
  const keys = table.shares.filter((key) => given(model, key) !== null);
  const outside = ofLayer(first(model, keys), model, layer), inside = rope.partial_rotary_factor ?? null;
  const ignored = inside !== null && outside !== null && inside !== outside && !perLayer ? [...keys] : [], apart = apartOf(model, facts);
  if (apart !== null && headDim === apart) return [1, ignored];
  const share = inside ?? outside, reads = !filled(facts) || facts.rotary === "rotary_dim", written = given(model, "rotary_dim");
  const count = reads && filled(model) ? (has(model, "rotary_dim") ? written : facts.rotary_dim ?? null) : null;
  if (share !== null || count === null || !headDim) {
    const fits = Boolean(share && headDim) && Math.trunc(headDim * share) === written;
    if (written !== null && !fits && (share !== null || !reads)) ignored.push("rotary_dim");
    return [share ?? entry.partial_rotary_factor ?? facts.partial_rotary_factor ?? 1, ignored];
  }
  return [Math.trunc(headDim * (count / headDim)) === count ? count / headDim : (count + 0.5) / headDim, ignored];
}

function fillLengths(model, rope, perLayer, facts, place) {
  const kind = rope.rope_type, longest = first({ ...rope, ...model }, [LONGEST]) || (filled(model) ? facts[LONGEST] ?? null : null);
  const inside = rope[LENGTH] ?? null, outside = perLayer ? null : given(model, LENGTH);
  delete rope[LONGEST];
  delete rope[LENGTH];
  if (![...BY_LENGTH, "dynamic"].includes(kind)) return [];
  const original = (kind === "dynamic" ? [longest, outside, inside] : [outside, inside, longest]).find(Boolean) ?? null;
  if (original !== null) rope[LENGTH] = original;
  if ((kind === "yarn" || kind === "longrope") && !has(rope, "factor") && original && longest) rope.factor = longest / original;
  return [[joined(place, LENGTH), inside], [LENGTH, outside]].filter(([, one]) => one && one !== original).map(([key]) => key);
}

// Brings what is left of YaRN's keys to what transformers computes with, and says which of them it does not read.
function settle(rope, written, perLayer) {
  const unread = [];
  if (rope.rope_type !== "yarn") return unread;
  if (!has(written, "factor")) delete rope.factor;
  for (const key of ["beta_fast", "beta_slow"]) if (rope[key] === 0) delete rope[key];
  if (has(written, "truncate")) {
    rope.truncate = Boolean(written.truncate);
    if (perLayer) {
      if (!rope.truncate) unread.push("truncate");
      delete rope.truncate;
    }
  }
  if (has(rope, "attention_factor") || !rope.mscale || !rope.mscale_all_dim) {
    for (const key of ["mscale", "mscale_all_dim"].filter((one) => has(rope, one))) {
      if (rope[key]) unread.push(key);
      delete rope[key];
    }
  }
  return unread;
}

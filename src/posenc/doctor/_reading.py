"""What a configuration says, as facts; js/diagnose.js reads it the same way."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from posenc._sentences import catalogue

TABLE = catalogue("doctor")
Facts = dict[str, Any]
_LENGTH, _LONGEST = "original_max_position_embeddings", "max_position_embeddings"
_FULL, _WINDOW = "full_attention", "sliding_attention"
GREATEST = 2**53  # whole numbers up to here are the same in JavaScript


class Unreadable(ValueError):
    """A text that is no configuration: which of the sentences in "files" says why, and its facts."""

    def __init__(self, why: str, **facts: Any) -> None:
        super().__init__(why)
        self.why, self.facts = why, facts


class Part(NamedTuple):
    """A rotation of a model: of one type of layers, or of all layers where `layer` is empty."""

    layer: str
    rope: Mapping[str, Any]
    facts: Facts


class Reading(NamedTuple):
    """A configuration taken apart: the object that was read, where in the file it was, and its rotations."""

    model: Mapping[str, Any]
    nested: str
    dictionary: str  # the name of the key under which the parameters of rotation stand, "" where they stand alone
    parts: list[Part]


# ---- texts ----------------------------------------------------------------------------------------------------------


def _constant(name: str) -> Any:
    raise Unreadable("nan")


def parsed(text: str) -> dict[str, Any]:
    """The object in a text of JSON; raises Unreadable."""
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise Unreadable("empty")
    try:
        found = json.loads(text, parse_constant=_constant)
    except (json.JSONDecodeError, RecursionError):
        raise _why_not(text) from None
    if not isinstance(found, dict):
        raise Unreadable("not_object", kind=shown(found))
    return found


def _why_not(text: str) -> Unreadable:
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)  # without what stands in quotes
    if text[0] not in "{[":
        return Unreadable("other", beginning=text[:20].splitlines()[0])
    if re.search(r"'[^'\n]*'\s*:|\b(?:None|True|False)\b", bare):
        return Unreadable("python")
    if re.search(r"//|/\*|#", bare):
        return Unreadable("comment")
    if comma := re.search(r",\s*([}\]])", bare):
        return Unreadable("comma", after=comma[1])
    if re.search(r"\b(?:NaN|Infinity)\b", bare):
        return Unreadable("nan")
    opened, shut = len(re.findall(r"[{\[]", bare)), len(re.findall(r"[}\]]", bare))
    if opened > shut:
        return Unreadable("cut", open=opened, shut=shut)
    return Unreadable("json")


def shown(value: Any) -> str:
    """A value of JSON as it is written, shortened where it is long."""
    if isinstance(value, Mapping):
        return str(TABLE["shown"]["object"])
    if isinstance(value, list):
        if len(value) > 8:
            words = {"count": len(value), "first": shown(value[0]), "last": shown(value[-1])}
            return str(TABLE["shown"]["list"]).format(**words)
        return f"[{', '.join(shown(one) for one in value)}]"
    if is_number(value):
        return _digits(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _digits(value: float) -> str:
    """A number as JavaScript writes it."""
    try:
        value = float(value)
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if "e" in text and 1e-6 <= abs(value) < 1:
        mantissa, exponent = text.split("e")
        sign, digits = "-" * mantissa.startswith("-"), mantissa.lstrip("-").replace(".", "")
        return f"{sign}0.{'0' * (-int(exponent) - 1)}{digits}"
    return re.sub(r"e([+-])0*(\d)", r"e\1\2", text)


# ---- values ---------------------------------------------------------------------------------------------------------


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return is_number(value) and abs(value) < 1e300


def _whole(value: Any) -> bool:
    return _finite(value) and value == int(value) and 0 < value < GREATEST


def _state(given: Mapping[str, Any], key: str, fits: Any = _finite) -> tuple[str, Any]:
    """Whether a key is "missing", "null", "bad" or "good", and its value where it is good."""
    if key not in given:
        return "missing", None
    if given[key] is None:
        return "null", None
    if not fits(given[key]):
        return "bad", None
    return "good", int(given[key]) if fits is _whole else given[key]


def _named(model: Mapping[str, Any], key: str) -> Any:
    """The value of a key or of an older name of it."""
    names = (key, *TABLE["older"].get(key, ()))
    return next((model[name] for name in names if model.get(name) is not None), None)


def _listed(value: Any, fits: Any) -> bool:
    return isinstance(value, list) and all(fits(one) for one in value)


# ---- where it stands ------------------------------------------------------------------------------------------------


def _speaks(config: Mapping[str, Any]) -> bool:
    """Whether a key of the object itself is about rotation."""
    keys = ("rope_parameters", "rope_scaling", "rotary_dim", *TABLE["older"], *sum(TABLE["older"].values(), []))
    return any(config.get(key) is not None for key in keys)


def inner_keys() -> set[str]:
    """All keys that a rope dictionary may have."""
    return {key for kind in TABLE["types"].values() for key in (*kind["needs"], *kind["reads"])} | {*TABLE["any_type"]}


def _alone(config: Mapping[str, Any]) -> bool:
    """Whether an object is a rope dictionary, and no configuration around one."""
    if "rope_parameters" in config or "rope_scaling" in config or not config:
        return False
    if "rope_type" in config or config.get("type") in (*TABLE["types"], *TABLE["older_types"]):
        return True
    return config.keys() <= inner_keys() - {_LONGEST} or all(
        isinstance(one, Mapping) and _alone(one) for one in config.values()
    )


def read(config: Mapping[str, Any]) -> Reading:
    """A configuration taken apart; raises Unreadable where it says nothing of rotation."""
    nested, outer = [], config
    while not _speaks(config) and not _alone(config):
        inside = next((key for key in TABLE["inside"] if isinstance(config.get(key), Mapping)), None)
        if inside is None:
            break
        nested.append(inside)
        config = config[inside]
    around = {"head_is": "missing"} if _alone(config) else _head(config, "", False)
    if not _speaks(config) and not _alone(config) and around["head_is"] == "missing":
        raise Unreadable("nothing")
    model: Mapping[str, Any] = config
    if nested:  # the number format stands outside as a rule
        model = {key: outer[key] for key in ("dtype", "torch_dtype") if key in outer} | dict(config)
    if _alone(config):
        return Reading({}, ".".join(nested), "", list(_parts({}, config, "", {})))
    rope, dictionary, common = _dictionary(config)
    return Reading(model, ".".join(nested), dictionary, list(_parts(model, rope, dictionary, common)))


def _dictionary(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], str, Facts]:
    """The rope dictionary of a whole configuration, the key that has it, and what is amiss with the two keys."""
    scaling, parameters = config.get("rope_scaling"), config.get("rope_parameters")
    name = "rope_scaling" if scaling or not parameters else "rope_parameters"
    given = config.get(name)
    bad = given is not None and not isinstance(given, Mapping)
    differ = isinstance(scaling, Mapping) and isinstance(parameters, Mapping) and bool(scaling and parameters)
    facts = {
        "dictionary_bad": bad,
        "dictionary_said": shown(given),
        "both_differ": differ and scaling != parameters,
    }
    return (given if isinstance(given, Mapping) else {}), name, facts


def _parts(model: Mapping[str, Any], rope: Mapping[str, Any], dictionary: str, common: Facts) -> Iterator[Part]:
    layers = {name: one for name, one in rope.items() if isinstance(one, Mapping)}
    given = model.get("layer_types")
    types: list[str] = given if isinstance(given, list) and all(isinstance(one, str) for one in given) else []
    local = _named(model, "rope_local_base_freq")
    mixed = [key for key, one in rope.items() if layers and one is not None and not isinstance(one, Mapping)]
    named = {_FULL, *TABLE["windowed"]}
    kept = [name for name, one in rope.items() if isinstance(one, Mapping) or one is None]
    lacking = [one for one in dict.fromkeys(types) if layers and one in named and one not in kept]
    common = {
        "dictionary_bad": False,
        "dictionary_said": "",
        "both_differ": False,
        **common,
        "dictionary": dictionary or "rope_parameters",
        "speaks": _speaks(model) or not dictionary,
        "mixed": bool(mixed),
        "mixed_keys": ", ".join(mixed),
        "layer_missing": ", ".join(lacking) if named >= set(kept) else "",
        "layers": bool(layers),
        "beside": "",  # which of two rotations it is, where the second has a key beside the dictionary
        "local_base": None,
        "full_kind": "default",
    }
    if layers:
        for name in kept:
            unused = bool(types) and name in named and name not in types
            yield _part(model, name, rope[name], common | {"layer_unused": unused})
        return
    if _finite(local) and local > 0 and rope is not model:
        kind = _kind(rope)["kind"]
        two = common | {"layers": True, "layer_unused": False}
        yield _part(
            model, _FULL, rope, two | {"beside": "full", "local_base": local, "full_kind": kind or "default"}, flat=True
        )
        yield _part(model, _WINDOW, {"rope_theta": local}, two | {"beside": "window"})
        return
    yield _part(model, "", rope, common | {"layer_unused": False}, flat=True, types=types)


# ---- facts ----------------------------------------------------------------------------------------------------------


def _kind(rope: Mapping[str, Any]) -> Facts:
    """The type of scaling: `kind` is its present name, "" where there is none that is known."""
    given = [rope[key] for key in ("rope_type", "type") if rope.get(key) is not None]
    present = [TABLE["older_types"].get(one, one) if isinstance(one, str) else None for one in given]
    first = present[0] if present else "default"
    state = "good" if given else "missing"
    if first is None:
        state = "bad"
    elif first not in TABLE["types"]:
        state = "unknown"
    return {
        "kind": first if state in ("good", "missing") else "",
        "kind_is": state,
        "named": "" if not given else given[0] if isinstance(given[0], str) else shown(given[0]),
        "other_type": given[1] if len(given) == 2 and isinstance(given[1], str) else "",
        "type_alone": rope.get("rope_type") is None and rope.get("type") is not None,
        "types_differ": len(present) == 2 and present[0] != present[1],
        "known": ", ".join(TABLE["types"]),
    }


def _head(model: Mapping[str, Any], layer: str, share_named: bool) -> Facts:
    """The width of a head, or of the part of it that `rope_theta` speaks about, and where it comes from."""
    width_key, heads_key = next(
        (pair for pair in TABLE["widths"] if all(model.get(key) is not None for key in pair)), ("", "")
    )
    width, heads = _state(model, width_key, _whole)[1], _state(model, heads_key, _whole)[1]
    narrower = _state(model, "memory_attention_downsample_rate", _whole)[1] or 1
    quotient = width / (heads * narrower) if width and heads else None
    facts: Facts = {
        "width_key": width_key,
        "heads_key": heads_key,
        "width": width,
        "heads": heads,
        "quotient": quotient,
        "head_key": "head_dim",
        "head_said": "",
        "head_wide": False,
        "mla": model.get("qk_rope_head_dim") is not None or model.get("kv_lora_rank") is not None,
    }
    keys = ["head_dim", "qk_rope_head_dim"] if share_named else ["qk_rope_head_dim", *TABLE["head_dims"]]
    if layer == _FULL:
        keys.insert(0, "global_head_dim")
    own = model.get("per_layer_config") if layer == _FULL else None
    wide = {one.get("head_dim") for one in own.values() if isinstance(one, Mapping)} if isinstance(own, Mapping) else ()
    if len(wide) == 1 and _whole(next(iter(wide))):
        return facts | {"head_is": "named", "head_dim": next(iter(wide))}
    for key in keys:
        state, value = _state(model, key, _whole)
        if state == "bad":
            return facts | {"head_is": "bad", "head_dim": 0, "head_key": key, "head_said": shown(model[key])}
        if state == "good":
            apart = key == "head_dim" and quotient is not None and quotient != value and not facts["mla"]
            return facts | {"head_is": "named", "head_dim": value, "head_key": key, "head_wide": apart}
    for key in filter(None, (width_key, heads_key)):
        if _state(model, key, _whole)[0] == "bad":
            return facts | {"head_is": "bad", "head_dim": 0, "head_key": key, "head_said": shown(model[key])}
    if quotient is None:
        return facts | {"head_is": "missing", "head_dim": 128}
    if quotient != int(quotient):
        return facts | {"head_is": "fraction", "head_dim": int(quotient)}
    return facts | {"head_is": "quotient", "head_dim": int(quotient)}


def _base_and_share(model: Mapping[str, Any], rope: Mapping[str, Any], flat: bool) -> Facts:
    facts: Facts = {}
    for key, name in (("rope_theta", "base"), ("partial_rotary_factor", "share")):
        state, inside = _state(rope, key)
        outside = _named(model, key)
        outside = outside if _finite(outside) else None
        facts[f"{name}_outside"] = outside
        facts[f"{name}_differs"] = flat and inside is not None and outside is not None and inside != outside
        facts[f"{name}_inside"] = state == "good" and outside is None and bool(model)
        if state in ("missing", "null"):
            raw = _named(model, key)
            state, inside = (
                ("missing", None) if raw is None else ("good", outside) if outside is not None else ("bad", None)
            )
        facts[f"{name}_is"], facts[name] = state, inside
        facts[f"{name}_said"] = shown(rope[key] if rope.get(key) is not None else _named(model, key))
    if facts["base_is"] == "missing":
        facts["base"] = 10_000
    if facts["share_is"] == "missing":
        facts["share"] = 1
    rotating, head = _state(model, "rotary_dim", _whole)[1], _head(model, "", True)
    told = any(model.get(key) is not None for key in ("rope_parameters", "rope_scaling", *TABLE["older"]))
    facts |= {"rotary_dim": rotating, "rotary_beside": rotating is not None and told}
    if rotating and not told and head["head_is"] != "missing" and head["head_dim"] >= rotating:  # GPT-J: one base
        facts["share"] = rotating / head["head_dim"]
        if int(head["head_dim"] * facts["share"]) < rotating:  # 30 / 44 · 44 is less than 30
            facts["share"] = (rotating + 0.5) / head["head_dim"]
        facts["share_is"] = "good"
        if facts["base_is"] == "missing":
            facts["base_is"] = "good"
    return facts


def _rotating(kind: str, head_dim: int, share: Any) -> Facts:
    """How many dimensions rotate, and in how many pairs."""
    valid = share is not None and 0 < share <= 1
    exact = head_dim * share if valid else 0
    whole_head = kind == "proportional"
    rotating = head_dim if whole_head else int(exact)
    least = 4 if kind in ("dynamic", "axial") else 2
    odd = rotating % 2 == 1
    return {
        "rotating": rotating,
        "exact": exact,
        "pairs": (rotating + 1) // 2 if odd and kind == "default" else rotating // 2,
        "still": head_dim // 2 - int(exact // 2) if whole_head else 0,
        "least": least,
        "too_few": valid and head_dim > 0 and rotating < least,
        "floors": valid and not whole_head and exact - rotating > 1e-9,
        "odd": odd and rotating < head_dim,
        "head_odd": odd and rotating == head_dim,
        "in_part": valid and share < 1 and not whole_head,
    }


def _lengths(model: Mapping[str, Any], rope: Mapping[str, Any], kind: str, flat: bool) -> Facts:
    longest_is, longest = _state({**rope, **model}, _LONGEST, _whole)
    inside_is, inside = _state(rope, _LENGTH, _whole)
    outside = _state(model, _LENGTH, _whole)[1] if flat else None
    where = "outside" if outside else "inside" if inside else "longest" if longest else "nowhere"
    original = outside or inside or longest
    by_length = kind in TABLE["by_length"]
    stated = where in ("inside", "outside")
    return {
        "longest_is": longest_is,
        "longest": longest,
        "longest_said": shown({**rope, **model}.get(_LONGEST)),
        "original_is": "bad" if inside_is == "bad" else "good" if original else "missing",
        "original_said": shown(rope.get(_LENGTH)),
        "original": original,
        "original_inside": inside,
        "original_where": "inside" if inside_is == "bad" else where,
        "original_stated": stated,
        "original_differs": bool(outside and inside and outside != inside),
        "by_length": by_length,
        "ratio": longest / original if longest and original else None,
        "shrinks": bool(by_length and stated and longest)
        and (original > longest or (kind == "llama3" and original == longest)),
        "fastest_turns": original / (2 * math.pi) if original else None,
    }


def _mscale(factor: float, weight: float = 1.0) -> float:
    return 0.1 * weight * math.log(factor) + 1 if factor > 1 else 1.0


def _scaling(model: Mapping[str, Any], rope: Mapping[str, Any], kind: str, lengths: Facts) -> Facts:
    """What the keys of the scaling say."""
    facts: Facts = {}
    keys = ("factor", "attention_factor", "mscale", "mscale_all_dim", "low_freq_factor", "high_freq_factor")
    for key in keys:
        facts[f"{key}_is"], facts[key] = _state(rope, key)
    for key, default in (("beta_fast", 32), ("beta_slow", 1)):  # 0 counts as missing in transformers
        facts[key] = _state(rope, key)[1] or default
    for key in ("short", "long"):
        facts[f"{key}_is"], listed = _state(rope, f"{key}_factor", _factors)
        facts[f"{key}_count"] = None if listed is None else len(listed)
    truncate = rope.get("truncate")
    states = {True: "true", False: "false"}
    facts["truncate_is"] = states[truncate] if isinstance(truncate, bool) else _state(rope, "truncate")[0]
    if facts["truncate_is"] == "good":
        facts["truncate_is"] = "bad"
    known = TABLE["types"].get(kind, {"needs": [], "reads": []})
    reads = [*known["needs"], *known["reads"]]
    factor, ratio = facts["factor"], lengths["ratio"]
    effective = ratio if factor is None and kind in ("yarn", "longrope") else factor
    over, under = facts["mscale"], facts["mscale_all_dim"]
    computed = None
    if kind == "yarn" and effective:
        computed = _mscale(effective, over) / _mscale(effective, under) if over and under else _mscale(effective)
    elif kind == "longrope" and effective and (lengths["original"] or 0) > 1:
        grown = math.log(effective) / math.log(lengths["original"]) if effective > 1 else 0
        computed = math.sqrt(1 + grown)
    low, high = facts["low_freq_factor"], facts["high_freq_factor"]
    attention = facts["attention_factor"]
    used = attention is not None and "attention_factor" in reads
    return facts | {
        "truncate_said": shown(truncate),
        "factor_used": factor is not None and "factor" in reads,
        "factor_stated": factor is not None,
        "factor_absent": facts["factor_is"] in ("missing", "null"),
        "effective": effective,
        "static": kind in ("linear", "yarn") and factor is not None,
        "betas_negative": facts["beta_fast"] < 0 or facts["beta_slow"] < 0,
        "bounds_good": low is not None and high is not None,
        "bounds_negative": low is not None and high is not None and min(low, high) <= 0,
        "computed": computed,
        "attention_used": used,
        "attention_apart": used and computed is not None and abs(attention - computed) > 1e-6,
        "softmax": _mscale(effective, under) ** 2 if kind == "yarn" and effective and under else 1,
    }


def _factors(value: Any) -> bool:
    return _listed(value, lambda one: _finite(one) and one > 0)


def _besides(model: Mapping[str, Any], rope: Mapping[str, Any]) -> Facts:
    """What is said of axes, layers and the number format."""
    facts: Facts = {"sections_key": "xdrope_section" if rope.get("xdrope_section") is not None else "mrope_section"}
    sections = rope.get(facts["sections_key"])
    facts["sections_is"], listed = _state(rope, facts["sections_key"], lambda one: _listed(one, _whole_or_zero))
    nope = model.get("no_rope_layers")
    facts["nope_is"], layers = _state(model, "no_rope_layers", lambda one: _listed(one, lambda bit: bit in (0, 1)))
    dtype_key = "dtype" if isinstance(model.get("dtype"), str) else "torch_dtype"
    dtype = model.get(dtype_key)
    dtype = dtype.removeprefix("torch.") if isinstance(dtype, str) else ""
    layers_is, count = _state(model, "num_hidden_layers", _whole)
    return facts | {
        "sections_said": shown(sections),
        "sections_sum": sum(listed) if listed is not None else None,
        "nope_said": shown(nope),
        "nope_count": len(layers) if layers is not None else None,
        "nope_rotating": sum(1 for one in layers if one) if layers is not None else None,
        "layers_is": layers_is,
        "num_hidden_layers": count,
        "dtype_key": dtype_key,
        "dtype": dtype,
        "half": dtype in ("bfloat16", "float16"),
        "model_type": model["model_type"] if isinstance(model.get("model_type"), str) else "",
        "own_code": model.get("model_type") in TABLE["own_code"] if isinstance(model.get("model_type"), str) else False,
    }


def _whole_or_zero(value: Any) -> bool:
    return value == 0 and is_number(value) or _whole(value)


def _part(
    model: Mapping[str, Any],
    layer: str,
    rope: Mapping[str, Any] | None,
    common: Facts,
    flat: bool = False,
    types: list[str] | None = None,
) -> Part:
    """The facts of one rotation."""
    null, rope = rope is None, rope or {}
    kind = _kind(rope)
    base = _base_and_share(model, rope, flat)
    named = base["share_is"] == "good" and "rotary_dim" not in model
    head = _head(model, layer, named)
    lengths = _lengths(model, rope, kind["kind"], flat)
    extras = [key for key in rope if key not in TABLE["any_type"]]
    windows = [one for one in types or [] if one in TABLE["windowed"]]
    facts = {
        **common, **kind, **base, **head, **_rotating(kind["kind"], head["head_dim"], base["share"]), **lengths,
        **_scaling(model, rope, kind["kind"], lengths), **_besides(model, rope),
        "layer": layer,
        "layer_null": null,
        "extras": bool(extras),
        "extra_keys": ", ".join(extras),
        "windowed": bool(windows) and len(windows) < len(types or []) and kind["kind"] not in ("", "default"),
    }  # fmt: skip
    return Part(layer, rope, facts)

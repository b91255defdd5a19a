"""The doctor: what a model's config.json does with positions, and which mistakes it contains.

`python -m posenc.doctor config.json` prints it, the book's page of the doctor shows it. `posenc.configuration` reads
the file; rules and words stand in js/doctor.json, and the page runs the same ones. Frequencies are those that the
library transformers (5.23) computes.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from posenc._arrays import check_int, describe
from posenc._sentences import holds, say
from posenc.configuration import BY_LENGTH, INNER, LENGTH, LONGEST, ROPE_TYPES, Configuration, LayerRotation
from posenc.configuration import TABLE as READ
from posenc.configuration import _about as about
from posenc.configuration import _mistyped as mistyped
from posenc.configuration import _understood as understood
from posenc.configuration import _value_at as value_at
from posenc.doctor._json import TABLE, Unreadable, parsed, shown
from posenc.scaling import from_config, mscale

LEVELS = tuple(TABLE["levels"])  # the worst first
GREATEST = 2**53  # whole numbers up to here are the same in JavaScript
_NAMES = TABLE["names"]
_UNKNOWN_LENGTH, _UNKNOWN_HEAD = 4096, 128  # what is drawn where the file does not say
_ROUNDING = 1e-9
Facts = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """What a rule found: its name, its level, the key that it is about, the layers' type (`""` for all), a sentence,
    and the section of the book that explains it."""

    rule: str
    level: str
    key: str
    layer: str
    text: str
    see: str


@dataclass(frozen=True)
class Key:
    """A key of the configuration that has to do with positions: where it stands, its value, and what it does."""

    path: str
    value: str
    level: str
    text: str
    see: str


@dataclass(frozen=True)
class Rotation:
    """A rotation of the model, of all layers or of those of one type.

    Attributes:
        layer: the type of the layers, `""` for all.
        kind: the type of scaling, as the file names it where it is unknown.
        before, after: radians per token of every pair, as trained and as scaled; None where nothing can be drawn.
        attention_factor: what cosines and sines are multiplied by; None where nothing can be drawn.
        trained, length: tokens of training, None where the file does not tell, and tokens that are looked at.
        facts: all that the rules look at.
    """

    layer: str
    kind: str
    before: np.ndarray | None
    after: np.ndarray | None
    attention_factor: float | None
    trained: int | None
    length: int
    facts: Facts


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor says of a configuration.

    Attributes:
        fault: why the text is no configuration, `""` where it is one; then there is nothing else.
        nested: the key, or keys with points between, under which the language model's part was read.
        rotations: one, or one for each type of layers; none where nothing rotates.
        findings: errors, likely mistakes and notes, the worst first.
        keys: every key that has to do with positions, in the order of the file.
        others: how many keys have nothing to do with them.
        facts: of the file as a whole.
    """

    fault: str
    nested: str
    rotations: tuple[Rotation, ...]
    findings: tuple[Finding, ...]
    keys: tuple[Key, ...]
    others: int
    facts: Facts = field(default_factory=dict)

    def worst(self) -> str:
        """The verdict on the file: "error", "likely mistake" or "fine"; notes are for other programs that read it."""
        if self.fault:
            return "error"
        worst = self.findings[0].level if self.findings else "fine"
        return worst if worst in LEVELS[:2] else "fine"


def diagnose(config: str | Mapping[str, Any], length: int | None = None) -> Diagnosis:
    """What a configuration does with positions, and what is wrong with it.

    Args:
        config: the text of a config.json, or what is read from it; also a rope_scaling or rope_parameters alone.
        length: tokens that the model is to read; None: as many as the configuration allows.

    A text that is no configuration is no error: the diagnosis has a `fault`. TypeError for a config of another kind,
    ValueError or TypeError for a length that is no integer from 1 to 2^53.

    >>> config = {"rope_scaling": {"rope_type": "linear", "factor": 0.25}, "rope_theta": 10000.0, "head_dim": 64}
    >>> [(finding.level, finding.key) for finding in diagnose(config).findings]
    [('error', 'factor')]
    """
    if length is not None and check_int("length", length) >= GREATEST:
        raise ValueError(f"length must be below {GREATEST}, got {length}")
    if not isinstance(config, str | Mapping):
        raise TypeError(f"config must be the text of a configuration or a mapping, got {describe(config)}")
    try:
        given = parsed(config) if isinstance(config, str) else config
        wrong = [_mistyped(given, place, kind) for place, kind in mistyped(given)]
        read = understood(_without(given, [place for place, _ in mistyped(given)]))
        if read.without == READ["reasons"]["silent"] and not any(key in read.model for key in TABLE["sizes"]):
            raise Unreadable("nothing")
    except Unreadable as unreadable:
        return Diagnosis(say(TABLE["files"][unreadable.why], unreadable.facts), "", (), (), (), 0)
    outer = given if isinstance(given, Mapping) else {}
    file = _file_facts(read, outer)
    rotations, found = [], []
    for one in read.rotations:
        facts = file | _facts(read, one)
        listed = _by_rules("rules", facts)
        drawn = one.parameters["rope_type"] not in ("axial",) and facts["kind_known"]
        drawn &= "inv_freq" not in one.parameters and not any(_spoils(each) for each in (*listed, *wrong))
        rotation = _drawn(one, facts, length, drawn)
        listed += _by_rules("length_rules", rotation.facts)
        rotations.append(rotation)
        found.append(listed)
    beside = [*wrong, *_by_rules("file_rules", file | _length_facts(file, length)), *_ignored(read)]
    findings = _joined(found, beside)
    keys, others = _keys(read, rotations, findings, file)
    return Diagnosis("", ".".join(read.nested), tuple(rotations), tuple(findings), tuple(keys), others, file)


def _without(config: Any, places: list[tuple[str, ...]]) -> Any:
    """A copy without the values at some places."""
    config = copy.deepcopy(dict(config))
    for *path, key in places:
        del value_at(config, tuple(path))[key]
    return config


# ---- rules ----------------------------------------------------------------------------------------------------------


def _finding(rule: Mapping[str, Any], facts: Facts, key: str, layer: str) -> Finding:
    return Finding(rule["name"], rule["level"], key, layer, say(rule["say"], facts, _NAMES), rule["see"])


def _by_rules(rules: str, facts: Facts) -> list[Finding]:
    """What the rules of a list find."""
    holding = (rule for rule in TABLE[rules] if holds(rule["when"], facts))
    return [_finding(rule, facts, say(rule["key"], facts), facts.get("layer", "")) for rule in holding]


def _mistyped(config: Any, place: tuple[str, ...], kind: str) -> Finding:
    facts = {"key": place[-1], "kind": kind, "value": shown(value_at(config, place))}
    return _finding(TABLE["mistyped"], facts, place[-1], "")


def _ignored(read: Configuration) -> Iterator[Finding]:
    """Keys that nothing reads, of which no rule says more."""
    for path in read.ignored:
        place, _, key = path.rpartition(".")
        inner = bool(place) or not read.dictionary
        if key in TABLE["known_keys"] and (not inner or key in INNER or key in TABLE["alphas"]):
            continue
        facts = {"key": key, "inner": inner, "known": key in INNER}
        facts |= {
            "instead": TABLE["instead"].get(key, ""),
            "kinds": ", ".join(dict.fromkeys(_kind(one) for one in read.rotations)),
        }
        for rule in TABLE["key_rules"]:
            if holds(rule["when"], facts):
                yield _finding(rule, facts, key, "")


def _spoils(finding: Finding) -> bool:
    """Whether nothing can be drawn for what was found."""
    return finding.level == LEVELS[0] and finding.rule not in TABLE["change_no_frequency"]


def _joined(found: list[list[Finding]], beside: list[Finding]) -> list[Finding]:
    """The findings of all rotations; one that several have is told once."""
    layers: dict[tuple[str, ...], list[str]] = {}
    for one in (one for listed in found for one in listed):
        layers.setdefault((one.rule, one.level, one.key, one.text, one.see), []).append(one.layer)
    joined = [
        Finding(rule, level, key, "" if len(where) == len(found) else ", ".join(where), text, see)
        for (rule, level, key, text, see), where in layers.items()
    ]
    return sorted([*joined, *beside], key=lambda one: LEVELS.index(one.level))


# ---- facts ----------------------------------------------------------------------------------------------------------


def _kind(rotation: LayerRotation) -> str:
    return str(rotation.parameters["rope_type"])


def _number(mapping: Mapping[str, Any], key: str) -> Any:
    """A number, None where there is none or a list."""
    value = mapping.get(key)
    return value if isinstance(value, int | float) else None


def _first_key(keys: list[str], fits: Callable[[str], Any]) -> str:
    """The first of the keys that fits, else ""."""
    return next(filter(fits, keys), "")


def _file_facts(read: Configuration, outer: Mapping[str, Any]) -> Facts:
    """What the rules look at in the file as a whole."""
    model, name = read.model, read.dictionary
    rope, types, nope = model.get(name) or {}, model.get("layer_types") or [], model.get("no_rope_layers")
    layers = any(isinstance(one, Mapping) for one in rope.values())
    mixed = [key for key, one in rope.items() if layers and one is not None and not isinstance(one, Mapping)]
    names = [str(one.layer_type) for one in read.rotations]
    kept = {*names, *read.unrotated}
    lacking = [one for one in dict.fromkeys(types) if layers and one in TABLE["windows"] and one not in kept]
    plain = [one for one, rotation in zip(names, read.rotations, strict=True) if _kind(rotation) == "default"]
    layouts = {one.layout for one in read.rotations}
    dtypes = [one.get(key) for one in (model, outer) for key in ("dtype", "torch_dtype")]
    return {
        "dictionary": name or "rope_parameters", "model_type": read.model_type, "known_type": read.known,
        "without": read.without, "silent": read.without == READ["reasons"]["silent"],
        "flat_unread": not read.nested and not (about(read.model_type) or {}).get("flat", True),
        "spoken": ", ".join(key for key in (*TABLE["speaking"], name) if model.get(key)),
        "unrotated": ", ".join(read.unrotated), "layers": layers, "several": len(names) > 1, "names": ", ".join(names),
        "scaled_names": ", ".join(one for one in names if one not in plain) if plain else "",
        "unscaled_names": ", ".join(plain), "plain": bool(rope) and name in read.ignored,
        "both_differ": name != "rope_parameters" and "rope_parameters" in read.ignored, "mixed_keys": ", ".join(mixed),
        "layer_missing": ", ".join(lacking) if kept <= {*TABLE["windows"]} else "",
        "layout": layouts.pop() if len(layouts) == 1 else "",
        "layout_key": "model_type" if model.get("rope_interleave") is None else "rope_interleave",
        "nope_key": _first_key(["no_rope_layers", "layer_types", name], model.get) or "model_type",
        "nope_count": None if nope is None else len(nope), "nope_rotating": sum(map(bool, nope or ())),
        "nope_wrong": any(one not in (0, 1) for one in nope or ()),
        "num_hidden_layers": _number(model, "num_hidden_layers"),
        "window_key": _first_key(TABLE["window_bases"], lambda key: model.get(key) is not None),
        "use_dynamic_ntk": model.get("use_dynamic_ntk") is True, "use_logn_attn": model.get("use_logn_attn") is True,
        "dtype": next((one.removeprefix("torch.") for one in dtypes if isinstance(one, str)), ""),
        "dtype_key": "dtype" if any(isinstance(one, str) for one in dtypes[::2]) else "torch_dtype",
    }  # fmt: skip


def _length_facts(file: Facts, length: int | None) -> Facts:
    step = 1 if length is None else 2 ** max((length - 1).bit_length() - 8, 0)
    return {"half": file["dtype"] in ("bfloat16", "float16") and length is not None, "length": length, "step": step}


def _width(one: LayerRotation) -> int:
    """The width of a head; where the file has none, what its lists are for."""
    if one.head_dim is not None:
        return one.head_dim
    return 2 * len(one.parameters.get("short_factor") or ()) or 2 * sum(one.sections or ()) or _UNKNOWN_HEAD


def _facts(read: Configuration, one: LayerRotation) -> Facts:
    """What the rules look at in one rotation."""
    model, written, rope, kind, head = read.model, one.written, one.parameters, _kind(one), _width(one)
    types = READ["rope_types"].get(kind, {"needs": [], "reads": []})
    named = [value for value in (written.get("rope_type"), written.get("type")) if value is not None]
    present = {READ["older_types"].get(value, value) for value in named}
    base, inside = 10_000 if rope["rope_theta"] is None else rope["rope_theta"], _number(written, "rope_theta")
    outside = _first_key(TABLE["bases"], lambda key: key in read.ignored and key in model)
    around, share = {**model, **written}, _number(written, "partial_rotary_factor")
    alpha_read = _number(written, "alpha") is not None and not any(path.endswith("alpha") for path in read.ignored)
    alpha_key = "" if alpha_read else _first_key(TABLE["alphas"], lambda key: _number(around, key))
    alpha, sections = written["alpha"] if alpha_read else around.get(alpha_key), rope.get("mrope_section")
    layer, layers = one.layer_type or "", model.get("layer_types") or []
    apart = bool(_number(model, "qk_nope_head_dim") and _number(model, "qk_rope_head_dim"))
    windows = [each for each in layers if each in TABLE["windows"][1:]]
    facts = {
        "layer": layer, "kind": kind if kind in ROPE_TYPES else "", "named": kind, "layout": one.layout,
        "kind_known": kind in ROPE_TYPES, "known": ", ".join(ROPE_TYPES),
        "type_written": bool(named), "type_key": "rope_type" if written.get("rope_type") is not None else "type",
        "older_name": next((value for value in named if value in READ["older_types"]), ""),
        "other_type": named[-1] if len(present) > 1 else "",
        "type_alone": written.get("rope_type") is None and written.get("type") is not None,
        "extra_keys": "" if named else ", ".join(key for key in written if key not in READ["any_type"]),
        "base": base, "base_needed": rope["rope_theta"] is None and kind in ("llama3", "proportional"),
        "base_written": inside is not None or any(_number(model, key) is not None for key in TABLE["bases"]),
        "base_inside": inside is not None and bool(model) and _number(model, "rope_theta") is None,
        "base_outside": outside, "base_other": model.get(outside, 0),
        "base_differs": bool(outside) and inside is not None,
        "alpha_read": alpha_read, "alpha_key": alpha_key,
        "alpha_base": base * alpha ** (head / (head - 2)) if alpha and alpha > 0 and head > 2 else None,
        "share_inside": share, "share_outside": _number(model, "partial_rotary_factor"),
        "share_differs": share is not None and "partial_rotary_factor" in read.ignored,
        "rotary_dim": _number(model, "rotary_dim"), "rotary_ignored": "rotary_dim" in read.ignored,
        "sections_key": "xdrope_section" if written.get("xdrope_section") is not None else "mrope_section",
        "sections_sum": None if sections is None else sum(sections),
        "sections_in_turn": bool(rope.get("mrope_interleaved")),
        "llama_4_beta": bool(_number(written, "llama_4_scaling_beta")), "model_given": bool(model),
        "mla_head": one.head_dim + model["qk_nope_head_dim"] if apart and one.head_dim else None,
        "windowed": bool(windows) and len(windows) < len(layers) and kind != "default" and not layer,
        "layer_unused": layer in TABLE["windows"] and bool(layers) and layer not in layers,
        "mla": model.get("qk_rope_head_dim") is not None or model.get("kv_lora_rank") is not None,
    }  # fmt: skip
    return facts | _head(model, one) | _lengths(model, one) | _scaling(one, types)


def _head(model: Mapping[str, Any], one: LayerRotation) -> Facts:
    """The width of a head, what it would be if it were computed, and how much of it rotates."""
    pair = next((pair for pair in READ["widths"] if all(model.get(key) for key in pair)), ["", ""])
    width, heads = (model.get(key) for key in pair)
    quotient = width / (heads * (model.get("memory_attention_downsample_rate") or 1)) if width and heads else None
    named = model.get("head_dim") is not None and model.get("qk_rope_head_dim") is None
    kind, share, head = _kind(one), one.parameters["partial_rotary_factor"], _width(one)
    valid, whole_head = 0 < share <= 1, kind == "proportional"
    exact = head * share if valid else 0
    rotating, least = head if whole_head else int(exact), 4 if kind in ("dynamic", "axial") else 2
    odd = rotating % 2 == 1
    return {
        "head_missing": one.head_dim is None, "head_dim": head, "width_key": pair[0], "heads_key": pair[1],
        "width": width, "heads": heads, "quotient": quotient,
        "head_named": named,
        "head_fraction": not named and quotient is not None and int(quotient) == one.head_dim != quotient,
        "share": share, "share_bad": not valid, "exact": exact, "rotating": rotating,
        "pairs": (rotating + 1) // 2 if odd and kind == "default" else rotating // 2,
        "still": head // 2 - int(exact // 2) if whole_head else 0, "least": least, "odd": odd,
        "floors": valid and not whole_head and exact - rotating > 1e-9,
    }  # fmt: skip


def _lengths(model: Mapping[str, Any], one: LayerRotation) -> Facts:
    """The longest length, the trained one, and where it stands."""
    written, rope, kind = one.written, one.parameters, _kind(one)
    by_length, longest = kind in BY_LENGTH, int(_number({**written, **model}, LONGEST) or 0) or None
    original = rope.get(LENGTH) if by_length else longest
    inside, outside = _number(written, LENGTH), _number(model, LENGTH)
    return {
        "longest": longest, "original": original, "original_inside": inside, "original_outside": outside,
        "original_stated": bool(inside or outside), "by_length": by_length,
        "ratio": longest / original if longest and original else None,
        "fastest_turns": original / (2 * math.pi) if original else None,
    }  # fmt: skip


def _scaling(one: LayerRotation, types: Mapping[str, list[str]]) -> Facts:
    """What the keys of the scaling say."""
    written, rope, kind = one.written, one.parameters, _kind(one)
    facts: Facts = {key: rope.get(key) for key in TABLE["numbers"]}
    facts |= {"beta_fast": rope.get("beta_fast", 32), "beta_slow": rope.get("beta_slow", 1)}
    missing = [key for key in types["needs"] if rope.get(key) is None]
    factor, attention, original = facts["factor"], facts["attention_factor"], rope.get(LENGTH)
    over, under, computed = rope.get("mscale"), rope.get("mscale_all_dim"), None
    if kind == "yarn" and factor and min(over or 1, under or 1) > 0:
        computed = _temperature(factor, over) / _temperature(factor, under) if over and under else _temperature(factor)
    elif kind == "longrope" and factor and original and original > 1:
        computed = math.sqrt(1 + (math.log(factor) / math.log(original) if factor > 1 else 0))
    all_dim, yarn = written.get("mscale_all_dim"), kind == "yarn"
    return facts | {
        "missing": ", ".join(missing), "missing_key": missing[0] if missing else "",
        "factor_null": yarn and written.get("factor", 1) is None,
        "factor_written": written.get("factor") is not None and "factor" in (*types["needs"], *types["reads"]),
        "static": kind in ("linear", "yarn") and factor is not None,
        "mscale_written": written.get("mscale"), "under_written": all_dim,
        "truncate": json.dumps(written["truncate"]) if "truncate" in written else "", "computed": computed,
        "attention_apart": attention is not None and computed is not None and abs(attention - computed) > 1e-6,
        "softmax": _temperature(factor, all_dim) ** 2 if yarn and factor and all_dim and all_dim > 0 else 1,
        "short_count": len(rope["short_factor"]) if "short_factor" in rope else None,
        "long_count": len(rope["long_factor"]) if "long_factor" in rope else None,
    }  # fmt: skip


def _temperature(factor: float, weight: float = 1.0) -> float:
    return mscale(factor, weight) if factor > 1 else 1.0


# ---- frequencies ----------------------------------------------------------------------------------------------------


def _drawn(one: LayerRotation, facts: Facts, requested: int | None, drawn: bool) -> Rotation:
    """The frequencies of a rotation, and the facts that stand on them."""
    kind, layer, longest = facts["kind"], facts["layer"], facts["longest"]
    length = requested or longest or facts["original"] or _UNKNOWN_LENGTH
    trained = facts["original"] if facts["by_length"] else longest
    facts = facts | {
        "drawn": drawn, "length": length, "trained": trained, "requested": requested is not None,
        "slowest": None, "slowest_trained": None, "fresh": 0,
    }  # fmt: skip
    if not drawn:
        return Rotation(layer, kind, None, None, None, trained, length, facts)
    rope = {**one.parameters, "rope_theta": facts["base"]}
    rope |= {LENGTH: _UNKNOWN_LENGTH} if kind == "dynamic" and LENGTH not in rope else {}
    plain = {key: rope[key] for key in ("rope_theta", "partial_rotary_factor")}
    plain["rope_type"] = kind if kind == "proportional" else "default"
    length_at_hand = length if kind in ("dynamic", "longrope") else None
    width = facts["head_dim"]
    made = from_config(replace(one, parameters=rope), width, length_at_hand)
    after = np.asarray(made.inv_freq)
    before = np.asarray(from_config(replace(one, parameters=plain), width).inv_freq)
    for name, each in (("slowest", after), ("slowest_trained", before)):
        rotating = each[each > 0]
        facts[name] = float(2 * math.pi / rotating[-1]) if len(rotating) else None
    if trained is not None:
        seen = before * trained
        facts["fresh"] = int(np.sum((seen < 2 * math.pi) & (after * length > seen * (1 + _ROUNDING))))
    return Rotation(layer, kind, before, after, float(made.attention_factor), trained, length, facts)


# ---- keys -----------------------------------------------------------------------------------------------------------


def _keys(
    read: Configuration, rotations: list[Rotation], findings: list[Finding], file: Facts
) -> tuple[list[Key], int]:
    """Every key that has to do with positions, and how many others there are."""
    first = next((one.facts for one in rotations if one.after is not None), rotations[0].facts if rotations else file)
    keys, others, seen = [], 0, set()
    for key, value in read.model.items():
        if key in TABLE["keys"] or key in READ["beside"] or key in read.ignored:
            keys.append(_key(key, key, value, "", first, findings))
        elif key != read.dictionary:
            others += 1
    for rotation, one in zip(rotations, read.rotations, strict=True):
        layer = rotation.layer if file["layers"] else ""
        for key, value in one.written.items():
            path = ".".join(filter(None, (read.dictionary, layer, key)))
            if path not in seen and not isinstance(value, Mapping):
                keys.append(_key(path, key, value, rotation.layer, rotation.facts, findings))
            seen.add(path)
    return keys, others


def _key(path: str, key: str, value: Any, layer: str, facts: Facts, findings: list[Finding]) -> Key:
    concerning = [
        one for one in findings if one.key == key and (not layer or not one.layer or layer in one.layer.split(", "))
    ]
    level = concerning[0].level if concerning else LEVELS[-1]
    words = TABLE["keys"].get(key)
    if words is None or "kind" not in facts:
        what = "without" if words else "class" if key in READ["beside"] else "unknown"
        return Key(
            path, shown(value), level, say(TABLE["key_else"][what], facts), "names" if what == "unknown" else "file"
        )
    return Key(path, shown(value), level, say(words["does"], facts, _NAMES), words["see"])


__all__ = ["LEVELS", "Diagnosis", "Finding", "Key", "Rotation", "diagnose"]

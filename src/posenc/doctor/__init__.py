"""The doctor for configurations: what a model's config.json does with positions, and what is wrong with it.

`python -m posenc.doctor config.json` prints it, the book's page of the doctor shows it. The rules and all words stand
in js/doctor.json; the page reads the same ones, and tests hold the two together. Frequencies are those that the
library transformers (5.23) computes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc._arrays import check_int, describe
from posenc._sentences import holds, say
from posenc.doctor._reading import GREATEST, TABLE, Facts, Part, Reading, Unreadable, is_number, parsed, read, shown
from posenc.scaling import from_config

VERDICTS = tuple(TABLE["verdicts"])  # the worst first
_NAMES = TABLE["names"]
_WORDS = {"rope", "rotary", "yarn", "mrope", "xdrope"}
_UNKNOWN_LENGTH = 4096  # what is drawn where no length is to be had
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Finding:
    """What a rule found: its name, its verdict, the key that it is about, the layers' type (`""` for all), a sentence,
    and the section of the book that explains it."""

    rule: str
    verdict: str
    key: str
    layer: str
    text: str
    see: str


@dataclass(frozen=True)
class Key:
    """A key of the configuration that has to do with positions: where it stands, its value, and what it does."""

    path: str
    value: str
    verdict: str
    text: str
    see: str


@dataclass(frozen=True)
class Rotation:
    """A rotation of the model, of all layers or of those of one type.

    Attributes:
        layer: the type of the layers, `""` for all.
        kind: the type of scaling, `""` where it is unknown.
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
        rotations: one, or one for each type of layers.
        findings: what is wrong, ignored or to beware of, the worst first.
        keys: every key that has to do with positions, in the order of the file.
        others: how many keys have nothing to do with them.
    """

    fault: str
    nested: str
    rotations: tuple[Rotation, ...]
    findings: tuple[Finding, ...]
    keys: tuple[Key, ...]
    others: int

    def worst(self) -> str:
        """The worst verdict of all findings; "fine" where there is none, "wrong" where the text is unreadable."""
        if self.fault:
            return "wrong"
        return self.findings[0].verdict if self.findings else "fine"


def diagnose(config: str | Mapping[str, Any], length: int | None = None) -> Diagnosis:
    """What a configuration does with positions, and what is wrong with it.

    Args:
        config: the text of a config.json, or what is read from it; also a rope_scaling or rope_parameters alone.
        length: tokens that the model is to read; None: as many as the configuration allows.

    A text that is no configuration is no error: the diagnosis has a `fault`. TypeError for a config of another kind,
    ValueError or TypeError for a length that is no whole number from 1 to 2^53.

    >>> config = {"rope_scaling": {"rope_type": "linear", "factor": 0.25}, "rope_theta": 10000.0, "head_dim": 64}
    >>> [(finding.verdict, finding.key) for finding in diagnose(config).findings]
    [('wrong', 'factor')]
    """
    if length is not None and check_int("length", length) >= GREATEST:
        raise ValueError(f"length must be below {GREATEST}, got {length}")
    if not isinstance(config, str | Mapping):
        raise TypeError(f"config must be the text of a configuration or a mapping, got {describe(config)}")
    try:
        given = parsed(config) if isinstance(config, str) else config
        reading = read(given)
    except Unreadable as unreadable:
        return Diagnosis(say(TABLE["files"][unreadable.why], unreadable.facts), "", (), (), (), 0)
    rotations, found = [], []
    for part in reading.parts:
        about = [*_by_rules("rules", part.facts), *_of_keys(part)]
        facts = part.facts
        drawable = not facts["layer_null"] and not facts["own_code"] and facts["kind"] not in ("", "axial")
        drawable &= facts["head_dim"] > 1 and not facts["head_odd"]
        rotation = _rotation(part, length, drawable and not any(map(_spoils, about)))
        about += _by_rules("length_rules", rotation.facts)
        if rotation.after is not None:
            about += _by_rules("drawn_rules", rotation.facts)
        rotations.append(rotation)
        found.append(about)
    outside = list(_outside(reading.model))
    findings = _joined(found, outside)
    keys, others = _keys(reading, rotations, findings)
    return Diagnosis("", reading.nested, tuple(rotations), tuple(findings), tuple(keys), others)


def _spoils(finding: Finding) -> bool:
    """Whether nothing can be drawn for what was found."""
    return finding.verdict == "wrong" and finding.rule not in TABLE["change_no_frequency"]


# ---- rules ----------------------------------------------------------------------------------------------------------


def _finding(rule: Mapping[str, Any], facts: Facts, key: str, layer: str) -> Finding:
    return Finding(rule["name"], rule["verdict"], key, layer, say(rule["say"], facts, _NAMES), rule["see"])


def _by_rules(rules: str, facts: Facts) -> list[Finding]:
    """What the rules of a list find in a rotation."""
    holding = (rule for rule in TABLE[rules] if holds(rule["when"], facts))
    return [_finding(rule, facts, say(rule["key"], facts), facts["layer"]) for rule in holding]


def _of_keys(part: Part) -> Iterator[Finding]:
    """What the rules about keys of a rope dictionary find."""
    kind = part.facts["kind"]
    types = TABLE["types"]
    needs = types.get(kind, {"needs": []})["needs"]
    reads = {*TABLE["any_type"], *needs, *types.get(kind, {"reads": []})["reads"]}
    known = {*TABLE["any_type"], *(key for one in types.values() for key in (*one["needs"], *one["reads"]))}
    for key in [*part.rope, *(key for key in needs if key not in part.rope)]:
        if part.facts["layer_null"] or (not kind and key in known):
            continue  # what reads them is unknown
        facts = {
            "key": key,
            "kind": kind,
            "state": _key_state(part.rope, key, part.facts),
            "said": shown(part.rope.get(key)),
            "number": key in TABLE["numbers"],
            "list": key in TABLE["lists"],
            "needed": key in needs,
            "read": key in reads,
            "known": key in known,
            "replaced": kind == "yarn" and key == "factor",
            "instead": TABLE["instead"].get(key, ""),
        }
        yield from (_finding(rule, facts, key, part.layer) for rule in TABLE["key_rules"] if holds(rule["when"], facts))


def _key_state(rope: Mapping[str, Any], key: str, facts: Facts) -> str:
    if key not in rope:
        return "missing"
    if rope[key] is None:
        return "null"
    if key in TABLE["lists"]:
        return str(facts[key.replace("_factor", "_is")])
    return "bad" if key in TABLE["numbers"] and not (is_number(rope[key]) and abs(rope[key]) < 1e300) else "good"


def _outside(model: Mapping[str, Any]) -> Iterator[Finding]:
    """Keys beside the rope dictionary that look as if they spoke of rotation, and that nothing knows."""
    for key, value in model.items():
        words = {*str(key).lower().split("_")}
        known = key in TABLE["keys"] or key in TABLE["class_keys"] or value is None or value is False
        if words & _WORDS and not known:
            yield _finding(TABLE["outside_rule"], {"key": key, "instead": TABLE["instead"].get(key, "")}, key, "")


def _joined(found: list[list[Finding]], outside: list[Finding]) -> list[Finding]:
    """The findings of all rotations; one that several have is told once."""
    layers: dict[tuple[str, ...], list[str]] = {}
    for one in (one for about in found for one in about):
        layers.setdefault((one.rule, one.verdict, one.key, one.text, one.see), []).append(one.layer)
    joined = [
        Finding(rule, verdict, key, "" if len(where) == len(found) else ", ".join(where), text, see)
        for (rule, verdict, key, text, see), where in layers.items()
    ]
    return sorted([*joined, *outside], key=lambda one: VERDICTS.index(one.verdict))


# ---- frequencies ----------------------------------------------------------------------------------------------------


def _clean(part: Part) -> dict[str, Any]:
    """The parameters as transformers takes them, of a rotation in which nothing is wrong."""
    facts, kind = part.facts, part.facts["kind"]
    rope = {"rope_type": kind, "rope_theta": facts["base"], "partial_rotary_factor": facts["share"]}
    if kind in ("linear", "llama3", "dynamic"):
        rope["factor"] = facts["factor"]
    if kind == "proportional":
        rope["factor"] = facts["factor"] or 1.0
    if kind in ("yarn", "longrope"):
        rope["factor"] = facts["effective"]
    if kind == "dynamic":
        rope["original_max_position_embeddings"] = facts["longest"] or _UNKNOWN_LENGTH
    if facts["by_length"]:
        rope["original_max_position_embeddings"] = facts["original"]
    if kind == "yarn":
        rope |= {key: facts[key] for key in ("beta_fast", "beta_slow")}
        rounded = facts["truncate_is"] in ("missing", "true") or facts["layers"]
        rope |= {
            "truncate": rounded,
            "attention_factor": facts["attention_factor"] if facts["attention_used"] else facts["computed"],
        }
    if kind == "llama3":
        rope |= {key: facts[key] for key in ("low_freq_factor", "high_freq_factor")}
    if kind == "longrope":
        rope |= {key: part.rope[key] for key in ("short_factor", "long_factor")}
        rope["attention_factor"] = facts["attention_factor"] if facts["attention_used"] else facts["computed"]
    return {key: value for key, value in rope.items() if value is not None}


def _rotation(part: Part, asked: int | None, drawn: bool) -> Rotation:
    """The frequencies of a rotation, and the facts that stand on them."""
    facts, kind = part.facts, part.facts["kind"]
    length = asked or facts["longest"] or facts["original"] or _UNKNOWN_LENGTH
    trained = facts["original"] if facts["by_length"] else facts["longest"]
    beyond = asked is not None and trained is not None and length > trained
    facts = facts | {
        "drawn": drawn,
        "length": length,
        "trained": trained,
        "asked": asked is not None,
        "beyond": beyond,
        "beyond_longest": asked is not None and facts["longest"] is not None and length > facts["longest"],
        "step": 2 ** max((length - 1).bit_length() - 8, 0),
        "slowest": None,
        "slowest_trained": None,
        "fresh": 0,
        "scaled_short": False,
    }
    if not drawn:
        return Rotation(part.layer, kind, None, None, None, trained, length, facts)
    scaled = from_config(_clean(part), facts["head_dim"], length if kind in ("dynamic", "longrope") else None)
    after = np.asarray(scaled.inv_freq)
    plain = {"rope_type": "proportional" if kind == "proportional" else "default", "rope_theta": facts["base"]}
    before = np.asarray(from_config(plain | {"partial_rotary_factor": facts["share"]}, facts["head_dim"]).inv_freq)
    for name, each in (("slowest", after), ("slowest_trained", before)):
        turning = each[each > 0]
        facts[name] = float(2 * math.pi / turning[-1]) if len(turning) else None
    if trained is not None:
        seen = before * trained
        facts["fresh"] = int(np.sum((seen < 2 * math.pi) & (after * length > seen * (1 + _ROUNDING))))
    facts["scaled_short"] = not facts["asked"] and kind in ("yarn", "llama3") and facts["fresh"] > 0
    return Rotation(part.layer, kind, before, after, float(scaled.attention_factor), trained, length, facts)


# ---- keys -----------------------------------------------------------------------------------------------------------


def _keys(reading: Reading, rotations: list[Rotation], findings: list[Finding]) -> tuple[list[Key], int]:
    """Every key that has to do with positions, and how many others there are."""
    first = next((one for one in rotations if one.after is not None), rotations[0])
    told, others = [], 0
    for key, value in reading.model.items():
        strange = any(one.rule == "outside" and one.key == key for one in findings)
        if key in TABLE["keys"] or key in TABLE["class_keys"] or strange:
            told.append(_key(key, key, value, "", first.facts, findings))
        elif key != reading.dictionary:
            others += 1
    for rotation, part in zip(rotations, reading.parts, strict=True):
        within = [reading.dictionary, rotation.layer if rotation.facts["layers"] else ""]
        if part.facts["beside"] == "window":
            continue  # its one key stands outside, by a name of its own
        if part.facts["beside"]:
            within = [reading.dictionary]
        for key, value in part.rope.items():
            path = ".".join(filter(None, [*within, key]))
            told.append(_key(path, key, value, rotation.layer, rotation.facts, findings))
    return told, others


def _key(path: str, key: str, value: Any, layer: str, facts: Facts, findings: list[Finding]) -> Key:
    about = [
        one for one in findings if one.key == key and (not layer or not one.layer or layer in one.layer.split(", "))
    ]
    verdict = about[0].verdict if about else VERDICTS[-1]
    words = TABLE["keys"].get(key)
    if words is None:
        what = "class" if key in TABLE["class_keys"] else "unknown"
        return Key(
            path, shown(value), verdict, say(TABLE["key_else"][what], facts), "names" if what == "unknown" else "file"
        )
    return Key(path, shown(value), verdict, say(words["does"], facts, _NAMES), words["see"])


__all__ = ["VERDICTS", "Diagnosis", "Finding", "Key", "Rotation", "diagnose"]

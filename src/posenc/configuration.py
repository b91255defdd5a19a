"""What a model's config.json says about rotation, as facts; js/read_configuration.js reads it the same way.

`read_configuration` takes a raw file, what the library transformers makes of it, or a rope dictionary on its own, and
says for every kind of layers what `posenc.scaling.from_config` needs. Where the file says nothing, it takes what the
class of the model in transformers (5.23) takes: model_types.json has that, written by tools/model_types.py.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from posenc._arrays import said

TABLE: dict[str, Any] = json.loads((files("posenc") / "model_types.json").read_text(encoding="utf-8"))
ROPE_TYPES = tuple(TABLE["rope_types"])
LENGTH, LONGEST = "original_max_position_embeddings", "max_position_embeddings"
BY_LENGTH = ("yarn", "longrope", "llama3")  # types that are laid by the trained length
_KINDS = {key: kind for kind, keys in TABLE["kinds"].items() for key in keys}
INNER = {*TABLE["any_type"], *(key for one in TABLE["rope_types"].values() for keys in one.values() for key in keys)}
_SPEAKING = ("rope_parameters", "rope_scaling", "rotary_dim", *TABLE["thetas"], *TABLE["local_thetas"], *TABLE["shares"])
_BASES = (*TABLE["thetas"], *TABLE["local_thetas"], "compress_rope_theta", "swa_rope_theta")
_WORDS = {"rope", "rotary", "yarn", "mrope", "xdrope"}


class NoRotation(ValueError):
    """A configuration of a model that has no rotary encoding, or one that its configuration does not define."""


@dataclass(frozen=True)
class LayerRotation:
    """The rotation of all layers, or of those of one type.

    Attributes:
        layer_type: the type of the layers, None where all that rotate do it alike.
        head_dim: width of the part of a head that is rotated, or of which a part is; None where the file has none.
        rotary_dim: how many of its dimensions rotate, 0 where head_dim is None.
        layout: "interleaved" (pair i is dimensions 2i and 2i + 1) or "half" (i and i + d/2).
        parameters: the rope dictionary, complete and by present names, which `posenc.scaling.from_config` takes.
        written: the rope dictionary as the file has it.
    """

    layer_type: str | None
    head_dim: int | None
    rotary_dim: int
    layout: str
    parameters: Mapping[str, Any] = field(hash=False)
    written: Mapping[str, Any] = field(hash=False)

    @property
    def sections(self) -> tuple[int, ...] | None:
        """How many pairs follow each axis of the positions (M-RoPE), None for positions of one axis."""
        listed = self.parameters.get("mrope_section")
        return None if listed is None else tuple(listed)


@dataclass(frozen=True)
class Configuration:
    """What a configuration says about rotation.

    Attributes:
        model_type: as the file names it, "" where it does not.
        known: whether `model_types.json` knows that type; else the layout is a guess.
        nested: the keys under which the language model's part was found.
        dictionary: the key of the rope dictionary, "" for a rope dictionary on its own.
        rotations: one, or one for each type of layers that rotate.
        unrotated: what does not rotate in a model that rotates: types of layers, or how many layers.
        without: why nothing rotates, or nothing that a configuration defines; "" where something does.
        ignored: keys about rotation that nothing reads, or that another key overrules.
        assumed: keys that the file lacks and for which neither it nor its model type says what stands for them.
        model: the part of the file that was read.
    """

    model_type: str
    known: bool
    nested: tuple[str, ...]
    dictionary: str
    rotations: tuple[LayerRotation, ...]
    unrotated: tuple[str, ...]
    without: str
    ignored: tuple[str, ...]
    assumed: tuple[str, ...]
    model: Mapping[str, Any] = field(hash=False)

    def of(self, layer_type: str | None = None) -> LayerRotation:
        """The rotation of one type of layers, or of all where they are alike.

        Raises NoRotation where nothing rotates, ValueError for a type that the configuration does not have.
        """
        if self.without:
            raise NoRotation(f"config must be of a model that rotates by it, got {self.model_type!r}: {self.without}")
        names = tuple(one.layer_type for one in self.rotations)
        if names == (None,) and layer_type is not None:
            raise ValueError(f"layer_type must be None, for config has one rotation for all, got {layer_type!r}")
        if layer_type in self.unrotated:
            raise NoRotation(f"layer_type must be one that rotates, {names}; config has none for {layer_type!r}")
        if layer_type not in names:
            raise ValueError(f"layer_type must be one of {names}, got {layer_type!r}")
        return self.rotations[names.index(layer_type)]


def read_configuration(config: Any) -> Configuration:
    """What a configuration says about rotation, as the library transformers (5.23) reads it.

    Args:
        config: a mapping as read from config.json, a `rope_parameters` or `rope_scaling` alone, or an object of
            transformers with `to_dict`. A null is the same as a missing key.

    Raises TypeError for what is no mapping, and for a key that is no number, list or name where it must be one. A
    warning names keys about rotation that nothing reads. That nothing rotates is no error: the answer says it, and its
    `of` raises.

    >>> config = {"model_type": "deepseek_v3", "rope_theta": 10000.0, "qk_rope_head_dim": 64}
    >>> rotation = read_configuration(config).of()
    >>> rotation.layout, rotation.rotary_dim
    ('interleaved', 64)
    """
    if not isinstance(config, Mapping) and callable(getattr(config, "to_dict", None)):
        config = config.to_dict()
    if not isinstance(config, Mapping):
        raise TypeError(f"config must be a mapping or a configuration of transformers, got {said(config)}")
    if not config:
        raise ValueError(f"config must say something of rotation, got {said(config)}")
    for place, kind in mistyped(config):
        raise TypeError(f"{place[-1]} must be {kind} in config, got {said(value_at(config, place))}")
    found = understood(config)
    if found.ignored:
        warnings.warn(f"config has keys that nothing reads: {', '.join(found.ignored)}", stacklevel=2)
    if found.assumed:
        warnings.warn("config lacks rope_theta and names no known model_type: 10000 is assumed", stacklevel=2)
    return found


# ---- where it stands ------------------------------------------------------------------------------------------------


def _has(config: Mapping[str, Any], keys: Any) -> bool:
    return any(config.get(key) is not None for key in keys)


def alone(config: Mapping[str, Any]) -> bool:
    """Whether a mapping is a rope dictionary, of one type of layers or of several, and no configuration around one."""
    if "rope_parameters" in config or "rope_scaling" in config or not config:
        return False
    named = config.get("type")
    if "rope_type" in config or (isinstance(named, str) and (named in ROPE_TYPES or named in TABLE["older_types"])):
        return True
    layers = [one for one in config.values() if one is not None]
    within = layers and all(isinstance(one, Mapping) and alone(one) for one in layers)
    return bool(within) or config.keys() <= INNER - {LONGEST}


def located(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """The part of a configuration that belongs to the language model, and the keys that lead to it."""
    path: list[str] = []
    while not alone(config):
        inner = next((key for key in TABLE["inside"] if isinstance(config.get(key), Mapping)), None)
        if inner is None or (_has(config, _SPEAKING) and not _has(config[inner], _SPEAKING)):
            break
        path.append(inner)
        config = config[inner]
    return config, path


def _dictionary(model: Mapping[str, Any]) -> str:
    """The key of the rope dictionary: transformers takes rope_scaling where both have something in them."""
    return "rope_scaling" if model.get("rope_scaling") or not model.get("rope_parameters") else "rope_parameters"


def value_at(config: Mapping[str, Any], place: tuple[str, ...]) -> Any:
    value: Any = config
    for key in place:
        value = value[key]
    return value


def mistyped(config: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The places of values that are not what their key must be, and what that is."""
    model, path = located(config)
    if (about(model.get("model_type") or config.get("model_type")) or {}).get("rotates") is False:
        return  # nothing of it is read
    inner = ("rope_parameters", "rope_scaling")

    def within(part: Mapping[str, Any], place: tuple[str, ...], deeper: bool) -> Iterator[tuple[tuple[str, ...], str]]:
        for key, value in part.items():
            kind = _KINDS.get(key)
            each_layer = key == "rope_theta" and not deeper and value and _is_list(value, is_number)
            if kind is not None and value is not None and not each_layer and not _FITS[kind](value):
                yield (*place, key), kind
            elif isinstance(value, Mapping) and (deeper or key in inner):
                yield from within(value, (*place, key), True)

    yield from within(model, (*path,), alone(model))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_whole(value: Any) -> bool:
    return is_number(value) and value == int(value) and 0 <= value < 2**53  # as far as JavaScript counts


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(map(fits, value))


_FITS: dict[str, Callable[[Any], bool]] = {
    "a number": is_number,
    "a whole number": _is_whole,
    "a list of numbers greater than 0": lambda value: _is_list(value, lambda one: is_number(one) and one > 0),
    "a list of whole numbers": lambda value: _is_list(value, lambda one: one in (True, False) or _is_whole(one)),
    "a list of names": lambda value: _is_list(value, lambda one: isinstance(one, str)),
    "true or false": lambda value: isinstance(value, bool),
    "a name in quotes": lambda value: isinstance(value, str),
    "an object": lambda value: isinstance(value, Mapping),
}


# ---- what it means --------------------------------------------------------------------------------------------------


def about(model_type: Any) -> dict[str, Any] | None:
    """What is known of a model type: facts, or that nothing of it rotates; None for a type that is not known."""
    if not isinstance(model_type, str):
        return None
    if model_type in TABLE["without_rotation"]:
        return {"rotates": False}
    found = TABLE["models"].get(model_type)
    if found is None or "as" not in found:
        return found
    return (about(found["as"]) or {}) | {key: value for key, value in found.items() if key != "as"}


def understood(config: Mapping[str, Any]) -> Configuration:
    """`read_configuration` of a mapping whose values are what their keys must be."""
    model, path = located(config)
    on_its_own = alone(model)
    outer = config.get("model_type") or ""
    kind = "" if on_its_own else model.get("model_type") or outer
    known = about(kind)
    if known is None and path:
        known = about(outer)
    facts = known or {}
    name = "" if on_its_own else _dictionary(model)
    rope = model if on_its_own else model.get(name) or {}
    around = {} if on_its_own else model
    ignored = [] if on_its_own else [key for key, value in model.items() if _is_strange(key, value)]
    if rope and facts.get("plain"):  # code that looks at no rope dictionary
        rope, ignored = {}, [*ignored, name]
    if name == "rope_scaling" and model.get("rope_parameters") and model["rope_parameters"] != rope:
        ignored.append("rope_parameters")
    without = _without(around, facts)
    if known is None and not on_its_own and not _has(model, _SPEAKING):
        without = without or str(TABLE["reasons"]["silent"])
    rotations, silent = [], []
    for layer, written, entry in () if without else _layers(around, rope, facts):
        if written is None:
            silent.append(str(layer))
            continue
        place = ".".join(filter(None, (name, layer if written is rope.get(layer) else "")))
        rotation, unread = _rotation(around, layer, written, entry, facts, place)
        rotations.append(rotation)
        ignored += [key for key in unread if key not in ignored]
    if written_beside := [key for key, one in rope.items() if _is_per_layer(rope) and not isinstance(one, Mapping | None)]:
        ignored += [f"{name}.{key}" if name else key for key in written_beside]
    bases = {one.parameters["rope_theta"] for one in rotations}
    spoken = [key for key in _BASES if is_number(around.get(key)) and around[key] not in bases]
    ignored += [key for key in spoken if key not in ignored and not without and not facts.get("alpha")]
    lacks_base = known is None and bool(around) and None in bases
    return Configuration(
        kind,
        known is not None,
        (*path,),
        name,
        (*rotations,),
        () if without else (*silent, *_unrotated(around, facts)),
        without,
        (*ignored,),
        ("rope_theta",) if lacks_base else (),
        around,
    )


def _is_strange(key: str, value: Any) -> bool:
    """Whether a key beside the rope dictionary looks as if it spoke of rotation, and nothing knows it."""
    words = {*str(key).lower().split("_")}
    return bool(words & _WORDS) and key not in _KINDS and key not in TABLE["beside"] and value is not None and value is not False


def _is_per_layer(rope: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) for value in rope.values())


def _without(model: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    reasons = TABLE["reasons"]
    if facts.get("own") or _has(model, TABLE["own_keys"]):
        return str(reasons["own"])
    if facts.get("rotates") is False:
        return str(reasons["none"])
    if "only_if" in facts and model:
        key, wanted, default = facts["only_if"]
        value = default if model.get(key) is None else model[key]
        if value != wanted:
            return str(reasons["setting"]).format(key=key, value=json.dumps(value), wanted=json.dumps(wanted))
    return ""


def _unrotated(model: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[str]:
    """The layers that do not rotate in a model that has rotation."""
    if _has(model, [facts.get("unrotated_if", "model_type")]):
        yield from facts.get("unrotated", ())
    listed, layers = model.get("no_rope_layers"), model.get("num_hidden_layers")
    every = model.get("no_rope_layer_interval") or facts.get("unrotated_every")
    bases = model.get("layer_rope_theta")
    if listed:
        still = sum(not one for one in listed)
    elif bases:
        listed, still = bases, sum(base == 0 for base in bases)
    else:
        still = layers // every if every and layers else 0
    if still:
        yield f"{still} of {layers or len(listed or ())} layers"


def _layers(
    model: Mapping[str, Any], rope: Mapping[str, Any], facts: Mapping[str, Any]
) -> Iterator[tuple[str | None, Mapping[str, Any] | None, Mapping[str, Any]]]:
    """The types of layers, each with its rope dictionary and with what is known of its base."""
    entries = facts.get("layers", {})
    local = next((key for key in TABLE["local_thetas"] if model.get(key) is not None), None)
    if local and not entries:  # as Gemma 3 before transformers 5: the windowed layers have a base and no scaling
        entries = {"full_attention": {}, "sliding_attention": {"theta": local, "scaled": False}}
    bases, scaled = model.get("layer_rope_theta"), model.get("rope_scaling_layers")
    if _is_per_layer(rope):
        for layer, written in rope.items():
            if isinstance(written, Mapping | None):
                yield layer, written, entries.get(layer, {})
    elif entries:
        for layer, entry in entries.items():
            yield layer, rope if entry.get("scaled", True) else {}, entry
    elif bases and len({*bases} - {0}) > 1:
        for base in sorted({*bases} - {0}):
            yield f"rope_theta {int(base)}", {**rope, "rope_theta": base}, {}
    elif scaled and rope and sorted(scaled) != list(range(model.get("num_hidden_layers") or 0)):
        plain = {key: rope[key] for key in ("rope_theta", "partial_rotary_factor") if key in rope}
        yield from (("scaled", rope, {}), ("not scaled", plain, {}))
    else:
        yield None, rope, {}


def _first(model: Mapping[str, Any], keys: Any) -> Any:
    return next((model[key] for key in keys if model.get(key) is not None), None)


def _of_layer(value: Any, model: Mapping[str, Any], layer: str | None) -> Any:
    """A setting that may be a list with a value for every layer: the one of the first layer of a type."""
    if not isinstance(value, list | tuple):
        return value
    types = list(model.get("layer_types") or ())
    place = types.index(layer) if layer in types else 0
    return value[min(place, len(value) - 1)]


def rope_type(rope: Mapping[str, Any]) -> str | None:
    """The type that a rope dictionary names, by its present name; None where it names none."""
    named = _first(rope, ("rope_type", "type"))
    return TABLE["older_types"].get(named, named) if isinstance(named, str) else named


def _rotation(
    model: Mapping[str, Any],
    layer: str | None,
    written: Mapping[str, Any],
    entry: Mapping[str, Any],
    facts: Mapping[str, Any],
    place: str,
) -> tuple[LayerRotation, list[str]]:
    """The rotation of one type of layers, and the keys that it does not read."""
    kind = rope_type(written) or entry.get("rope_type") or "default"
    per_layer = _is_per_layer(model.get(_dictionary(model)) or {})
    types = TABLE["rope_types"].get(kind, {"needs": [], "reads": [*INNER]})
    read = {*TABLE["any_type"], *types["needs"], *types["reads"], *(["alpha"] if facts.get("alpha") else [])}
    rope = {key: value for key, value in written.items() if value is not None and key in read and key != "type"}
    named = [TABLE["older_types"].get(one, one) for one in (written.get("rope_type"), written.get("type")) if one]
    ignored = [".".join(filter(None, (place, key))) for key, value in written.items() if key not in read and value is not None]
    ignored += [".".join(filter(None, (place, "type")))] if len({*named}) > 1 else []
    rope |= {key: entry[key] for key in ("attention_factor",) if key in entry and key in read and key not in rope}

    keys = [entry["theta"]] if "theta" in entry else [] if entry else [*filter(None, [facts.get("theta")]), *TABLE["thetas"]]
    outside = _of_layer(_first(model, keys), model, layer)
    rope.setdefault("rope_theta", outside)
    if rope["rope_theta"] is None and facts.get("base_ratio") and model:  # ChatGLM's
        rope["rope_theta"] = 10_000.0 * (model.get(facts["base_ratio"]) or 1)
    if rope["rope_theta"] is None:
        common = 10_000.0 if facts or (not model and kind not in ("llama3", "proportional")) else None
        rope["rope_theta"] = entry.get("rope_theta", facts.get("rope_theta", common))
    head_dim = width_of_head(model, layer, facts, rope)
    share, unread = _share(model, layer, rope, entry, facts, head_dim, per_layer)
    ignored += unread
    rope |= {"rope_type": kind, "partial_rotary_factor": share} | facts.get("parameters", {})
    if "xdrope_section" in rope:
        rope["mrope_section"] = rope.pop("xdrope_section")
    if "sections" in facts:  # of Ernie: height and width take turns in the fast pairs, and time has the slow ones
        height, _, time = rope.pop("mrope_section", facts["mrope_section"])
        rope["axes"] = [1, 2] * height + [0] * time
    ignored += _lengths(model, rope, per_layer, facts, place)
    ignored += [".".join(filter(None, (place, key))) for key in _settled(rope, written, per_layer)]
    rotating = 0 if head_dim is None else head_dim if kind == "proportional" else int(head_dim * share)
    rotating += rotating % 2 if kind == "default" and head_dim is not None and rotating < head_dim else 0
    if rope.get("alpha") and facts.get("alpha") and rope["rope_type"] == "dynamic" and rotating > 2:
        base = rope["rope_theta"] * rope["alpha"] ** (rotating / (rotating - 2))  # HunYuan's, the same for every length
        rope |= {"rope_type": "default", "rope_theta": base}
        for key in ("factor", LENGTH):
            rope.pop(key, None)
    rope.pop("alpha", None)
    layout = facts.get("layout", "half")
    if "layout_key" in facts and model.get(facts["layout_key"]) is not None:
        layout = "interleaved" if model[facts["layout_key"]] else "half"
    return LayerRotation(layer, head_dim, rotating, layout, rope, written), ignored


def width_of_head(
    model: Mapping[str, Any], layer: str | None, facts: Mapping[str, Any], rope: Mapping[str, Any]
) -> int | None:
    """The width of a head, or of the part of it that DeepSeek's attention sets apart to rotate."""
    own = model.get("per_layer_config")
    share = rope.get("partial_rotary_factor")
    if layer == "full_attention":
        wide = {one.get("head_dim") for one in own.values()} - {None} if isinstance(own, Mapping) else set()
        wide |= {model["global_head_dim"]} if model.get("global_head_dim") is not None else set()
        if len(wide) == 1:
            return int(wide.pop())
    apart = _first(model, ["qk_rope_head_dim"]) or (facts.get("qk_rope_head_dim") if model else None)
    if apart is not None and (share is None or _first(model, ["head_dim"]) is None or int(model["head_dim"] * share) == apart or share == 1):
        return int(apart)
    named = _first(model, TABLE["head_dims"])
    if named is None and "head_dim" not in model and model:
        named = facts.get("head_dim")
    if named is not None:
        return int(named)
    pair = next((pair for pair in TABLE["widths"] if _has(model, pair[:1]) and _has(model, pair[1:])), None)
    if pair is None and (not model or not facts):
        return None
    width, heads = pair or TABLE["widths"][0]
    size, count = (model.get(key) or facts.get(key) for key in (width, heads))
    if not size or not count:
        return None
    return int(size) // (int(count) * int(model.get("memory_attention_downsample_rate") or 1))


def _share(
    model: Mapping[str, Any],
    layer: str | None,
    rope: Mapping[str, Any],
    entry: Mapping[str, Any],
    facts: Mapping[str, Any],
    head_dim: int | None,
    per_layer: bool,
) -> tuple[float, list[str]]:
    """The share of the head that rotates, and keys about it that are overruled."""
    keys = [key for key in (*TABLE["shares"], "partial_rotary_factors") if model.get(key) is not None]
    outside = _of_layer(_first(model, keys), model, layer)
    inside, ignored = rope.get("partial_rotary_factor"), []
    if inside is not None and outside is not None and inside != outside and not per_layer:
        ignored += keys
    apart = _first(model, ["qk_rope_head_dim"]) or (facts.get("qk_rope_head_dim") if model else None)
    if apart is not None and head_dim == apart:
        return 1.0, ignored
    share = outside if inside is None else inside
    reads = not facts or facts.get("rotary") == "rotary_dim"
    count = model.get("rotary_dim", facts.get("rotary_dim")) if reads and model else None
    if share is not None or count is None or not head_dim:
        overruled = model.get("rotary_dim") is not None and not (share and head_dim and int(head_dim * share) == model["rotary_dim"])
        ignored += ["rotary_dim"] if overruled and (share is not None or not reads) else []
        return entry.get("partial_rotary_factor", facts.get("partial_rotary_factor", 1.0)) if share is None else share, ignored
    share = count / head_dim
    return share if int(head_dim * share) == count else (count + 0.5) / head_dim, ignored  # 30 / 44 · 44 is below 30


def _lengths(
    model: Mapping[str, Any], rope: dict[str, Any], per_layer: bool, facts: Mapping[str, Any], place: str
) -> list[str]:
    """Fills in the trained length, and the factor where the ratio of two lengths stands for it; the lengths not read."""
    kind, longest = rope["rope_type"], _first({**rope, **model}, [LONGEST]) or (facts.get(LONGEST) if model else None)
    rope.pop(LONGEST, None)
    inside, outside = rope.pop(LENGTH, None), None if per_layer else model.get(LENGTH)
    if kind not in (*BY_LENGTH, "dynamic"):
        return []
    ranked = (longest, outside, inside) if kind == "dynamic" else (outside, inside, longest)
    original = next((one for one in ranked if one), None)
    if original is not None:
        rope[LENGTH] = int(original)
    if kind in ("yarn", "longrope") and "factor" not in rope and original and longest:
        rope["factor"] = longest / original
    written = ((".".join(filter(None, (place, LENGTH))), inside), (LENGTH, outside))
    return [key for key, one in written if one and one != original]


def _settled(rope: dict[str, Any], written: Mapping[str, Any], per_layer: bool) -> list[str]:
    """Brings what is left of YaRN's keys to what transformers computes with, and says which of them it does not read."""
    unread: list[str] = []
    if rope["rope_type"] != "yarn":
        return unread
    if "factor" not in written:
        rope.pop("factor", None)  # a null stands for the ratio of the lengths, a missing factor is an error
    for key in ("beta_fast", "beta_slow"):
        if rope.get(key) == 0:
            del rope[key]
    if "truncate" in written:
        rope["truncate"] = bool(written["truncate"])
        if per_layer:
            unread += [] if rope.pop("truncate") else ["truncate"]
    scales = [key for key in ("mscale", "mscale_all_dim") if key in rope]
    if "attention_factor" in rope or not all(rope.get(key) for key in ("mscale", "mscale_all_dim")):
        for key in scales:
            unread += [key] if rope.pop(key) else []
    return unread


__all__ = ["Configuration", "LayerRotation", "NoRotation", "read_configuration"]

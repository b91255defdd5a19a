"""What a model's config.json says about rotation; js/read_configuration.js reads it the same way.

`read_configuration` takes a raw file, what the library transformers makes of it, or a rope dictionary on its own, and
says for every kind of layers what `posenc.scaling.from_config` needs. Where the file says nothing, it takes what the
class of the model in transformers (5.23) takes: model_types.json has that, written by tools/model_types.py.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from posenc._arrays import Layout, describe

TABLE: dict[str, Any] = json.loads((files("posenc") / "model_types.json").read_text(encoding="utf-8"))
ROPE_TYPES = tuple(TABLE["rope_types"])
LENGTH, LONGEST = "original_max_position_embeddings", "max_position_embeddings"
BY_LENGTH = ("yarn", "longrope", "llama3")  # types that are laid by the trained length
_KINDS = {key: kind for kind, keys in TABLE["kinds"].items() for key in keys}
INNER = {*TABLE["any_type"], *(key for one in TABLE["rope_types"].values() for keys in one.values() for key in keys)}
_SPEAKING = (
    "rope_parameters",
    "rope_scaling",
    "rotary_dim",
    *TABLE["thetas"],
    *TABLE["local_thetas"],
    *TABLE["shares"],
)
_BASES = (*TABLE["thetas"], *TABLE["local_thetas"], "compress_rope_theta", "swa_rope_theta")
_WORDS = {"rope", "rotary", "yarn", "mrope", "xdrope"}
_SECTIONS = ("mrope_section", "mrope_interleaved", "xdrope_section")  # read within a rope dictionary alone


class NoRotation(ValueError):
    """A configuration of a model that has no rotary encoding, or one that its configuration does not define."""


@dataclass(frozen=True)
class LayerRotation:
    """The rotation of all layers, or of those of one type.

    Attributes:
        layer_type: the type of the layers, None where all that rotate do it alike.
        head_dim: width of the part of a head that is rotated, or of which a part is; None where the file has none.
        rotary_dim: how many of its dimensions rotate, 0 where head_dim is None.
        layout: "interleaved" (pair i is dimensions 2i and 2i + 1) or "half-split" (i and i + d/2).
        parameters: the rope dictionary, complete and by present names, which `posenc.scaling.from_config` takes.
        written: the rope dictionary as the file has it.
    """

    layer_type: str | None
    head_dim: int | None
    rotary_dim: int
    layout: Layout
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
        raise TypeError(f"config must be a mapping or a configuration of transformers, got {describe(config)}")
    if not config:
        raise ValueError(f"config must say something of rotation, got {describe(config)}")
    for place, kind in _mistyped(config):
        raise TypeError(f"{place[-1]} must be {kind} in config, got {describe(_value_at(config, place))}")
    found = _understood(config)
    if found.ignored:
        warnings.warn(f"config has keys that nothing reads: {', '.join(found.ignored)}", stacklevel=2)
    if found.assumed:
        warnings.warn("config lacks rope_theta and names no known model_type: 10000 is assumed", stacklevel=2)
    return found


# ---- where it stands ------------------------------------------------------------------------------------------------


def _has(config: Mapping[str, Any], keys: Any) -> bool:
    return any(config.get(key) is not None for key in keys)


def _alone(config: Mapping[str, Any]) -> bool:
    """Whether a mapping is a rope dictionary, of one type of layers or of several, and no configuration around one."""
    if "rope_parameters" in config or "rope_scaling" in config or not config:
        return False
    named = config.get("type")
    if "rope_type" in config or (isinstance(named, str) and (named in ROPE_TYPES or named in TABLE["older_types"])):
        return True
    layers = [one for one in config.values() if one is not None]
    within = layers and all(isinstance(one, Mapping) and _alone(one) for one in layers)
    return bool(within) or config.keys() <= INNER - {LONGEST}


def _located(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """The part of a configuration that belongs to the language model, and the keys that lead to it."""
    path: list[str] = []
    while not _alone(config):
        inner = next((key for key in TABLE["inside"] if isinstance(config.get(key), Mapping)), None)
        if inner is None or (_has(config, _SPEAKING) and not _has(config[inner], _SPEAKING)):
            break
        path.append(inner)
        config = config[inner]
    return config, path


def _dictionary(model: Mapping[str, Any]) -> str:
    """The key of the rope dictionary: transformers takes rope_scaling where both have something in them."""
    return "rope_scaling" if model.get("rope_scaling") or not model.get("rope_parameters") else "rope_parameters"


def _value_at(config: Mapping[str, Any], place: tuple[str, ...]) -> Any:
    value: Any = config
    for key in place:
        value = value[key]
    return value


def _mistyped(config: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The places of values that are not what their key must be, and what that is."""
    model, path = _located(config)
    if (_about(model.get("model_type") or config.get("model_type")) or {}).get("rotates") is False:
        return  # nothing of it is read
    inner = ("rope_parameters", "rope_scaling")

    def within(part: Mapping[str, Any], place: tuple[str, ...], deeper: bool) -> Iterator[tuple[tuple[str, ...], str]]:
        for key, value in part.items():
            kind = _KINDS.get(key)
            each_layer = key == "rope_theta" and not deeper and value and _is_list(value, _is_number)
            if kind is not None and value is not None and not each_layer and not _FITS[kind](value):
                yield (*place, key), kind
            elif isinstance(value, Mapping) and (deeper or key in inner):
                yield from within(value, (*place, key), True)

    yield from within(model, (*path,), _alone(model))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_int(value: Any) -> bool:
    return _is_number(value) and value == int(value) and 0 <= value < 2**53  # as far as JavaScript counts


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(map(fits, value))


_FITS: dict[str, Callable[[Any], bool]] = {
    "a number": _is_number,
    "an integer": _is_int,
    "a list of numbers greater than 0": lambda value: _is_list(value, lambda one: _is_number(one) and one > 0),
    "a list of integers": lambda value: _is_list(value, lambda one: one in (True, False) or _is_int(one)),
    "a list of names": lambda value: _is_list(value, lambda one: isinstance(one, str)),
    "true or false": lambda value: isinstance(value, bool),
    "a name in quotes": lambda value: isinstance(value, str),
    "an object": lambda value: isinstance(value, Mapping),
}


# ---- what it means --------------------------------------------------------------------------------------------------


def _about(model_type: Any) -> dict[str, Any] | None:
    """What is known of a model type: facts, or that nothing of it rotates; None for a type that is not known."""
    if not isinstance(model_type, str):
        return None
    if model_type in TABLE["without_rotation"]:
        return {"rotates": False}
    found: dict[str, Any] | None = TABLE["models"].get(model_type)
    if found is None or "as" not in found:
        return found
    return (_about(found["as"]) or {}) | {key: value for key, value in found.items() if key != "as"}


def _understood(config: Mapping[str, Any]) -> Configuration:
    """`read_configuration` of a mapping whose values are what their keys must be, without its warnings."""
    model, path = _located(config)
    single, outer = _alone(model), config.get("model_type") or ""
    kind = "" if single else model.get("model_type") or outer
    known = _about(kind)
    if known is None and path:
        known = _about(outer)
    name = "" if single else _dictionary(model)
    rope = model if single else model.get(name) or {}
    reader = _Reader({} if single else model, known or {}, name)
    reader.ignore(() if single else [key for key, value in model.items() if _is_strange(key, value)])
    if rope and reader.facts.get("plain"):  # code that looks at no rope dictionary
        rope = {}
        reader.ignore([name])
    elif name == "rope_scaling" and model.get("rope_parameters") and model["rope_parameters"] != rope:
        reader.ignore(["rope_parameters"])
    without = reader.without()
    if known is None and not single and not _has(model, _SPEAKING):
        without = without or str(TABLE["reasons"]["silent"])
    layers = {} if without else reader.layers(rope)
    rotations = [reader.rotation(layer, one, entry) for layer, (one, entry) in layers.items() if one is not None]
    if _is_per_layer(rope):
        reader.ignore([_path(name, key) for key, one in rope.items() if not isinstance(one, Mapping | None)])
    bases = {one.parameters["rope_theta"] for one in rotations}
    if not (without or reader.facts.get("alpha")):
        reader.ignore([key for key in _BASES if _is_number(reader.model.get(key)) and reader.model[key] not in bases])
    silent = [str(layer) for layer, one in layers.items() if one[0] is None]
    assumed = ("rope_theta",) if known is None and not single and None in bases else ()
    unrotated = () if without else (*silent, *reader.unrotated())
    return Configuration(
        kind, known is not None, (*path,), name, (*rotations,), unrotated, without, (*reader.ignored,), assumed,
        reader.model,
    )  # fmt: skip


def _is_strange(key: str, value: Any) -> bool:
    """Whether a key beside the rope dictionary looks as if it spoke of rotation, and nothing knows it."""
    speaks = not _WORDS.isdisjoint(str(key).lower().split("_"))
    known = key in TABLE["beside"] or (key in _KINDS and key not in _SECTIONS)
    return speaks and not known and value is not None and value is not False


def _is_per_layer(rope: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) for value in rope.values())


def _path(*keys: str | None) -> str:
    return ".".join(filter(None, keys))


def _present(name: Any) -> Any:
    """The present name of a type of scaling."""
    return TABLE["older_types"].get(name, name) if isinstance(name, str) else name


def _first(mapping: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((mapping[key] for key in keys if mapping.get(key) is not None), None)


class _Reader:
    """A configuration on its way to facts: the model around the rope dictionary, what is known of its type, and what
    nothing has read."""

    def __init__(self, model: Mapping[str, Any], facts: Mapping[str, Any], name: str) -> None:
        self.model, self.facts, self.name = model, facts, name
        self.per_layer = _is_per_layer(model.get(name) or {})
        self.apart = model.get("qk_rope_head_dim") or (facts.get("qk_rope_head_dim") if model else None)
        self.ignored: list[str] = []

    def ignore(self, keys: Iterable[str]) -> None:
        """Note keys that nothing reads."""
        self.ignored += [key for key in keys if key not in self.ignored]

    def without(self) -> str:
        """Why nothing rotates by this configuration, "" where something does."""
        model, reasons = self.model, TABLE["reasons"]
        bases, scaled = ({*(model.get(key) or ())} for key in ("layer_rope_theta", "rope_scaling_layers"))
        if len(bases - {0}) > 1 or (scaled and len(scaled) != model.get("num_hidden_layers")):
            return str(reasons["layers"])
        if self.facts.get("own") or _has(model, TABLE["own_keys"]):
            return str(reasons["own"])
        if self.facts.get("rotates") is False:
            return str(reasons["none"])
        key, expected, default = self.facts.get("only_if", ("model_type", None, None))
        value = default if model.get(key) is None else model[key]
        if not model or expected is None or value == expected:
            return ""
        return str(reasons["setting"]).format(key=key, value=json.dumps(value), expected=json.dumps(expected))

    def unrotated(self) -> Iterator[str]:
        """The layers that do not rotate in a model that has rotation."""
        model, facts = self.model, self.facts
        if _has(model, [facts.get("unrotated_if", "model_type")]):
            yield from facts.get("unrotated", ())
        layers, every = model.get("num_hidden_layers") or 0, model.get("no_rope_layer_interval")
        every = every or facts.get("unrotated_every")
        listed = model.get("no_rope_layers") or model.get("layer_rope_theta") or ()
        still = sum(not one for one in listed) if listed else layers // every if every else 0
        if still:
            yield f"{still} of {layers or len(listed)} layers"

    def layers(self, rope: Mapping[str, Any]) -> dict[str | None, tuple[Mapping[str, Any] | None, Mapping[str, Any]]]:
        """The types of layers, each with its rope dictionary and what is known of its base."""
        entries = self.facts.get("layers")
        local = next((key for key in TABLE["local_thetas"] if self.model.get(key) is not None), None)
        if local and not entries:  # as Gemma 3 before transformers 5: the windowed layers have a base and no scaling
            entries = {"full_attention": {}, "sliding_attention": {"theta": local, "scaled": False}}
        if _is_per_layer(rope):
            kept = {layer: one for layer, one in rope.items() if isinstance(one, Mapping | None)}
            return {layer: (one, (entries or {}).get(layer, {})) for layer, one in kept.items()}
        if entries:
            return {layer: (rope if entry.get("scaled", True) else {}, entry) for layer, entry in entries.items()}
        return {None: (rope, {})}

    def rotation(self, layer: str | None, written: Mapping[str, Any], entry: Mapping[str, Any]) -> LayerRotation:
        """The rotation of one type of layers."""
        model, facts = self.model, self.facts
        kind = _present(_first(written, ("rope_type", "type"))) or entry.get("rope_type") or "default"
        place = _path(self.name, layer if self.per_layer else "")
        types = TABLE["rope_types"].get(kind, {"needs": [], "reads": INNER})
        read = {*TABLE["any_type"], *types["needs"], *types["reads"], "alpha" if facts.get("alpha") else "type"}
        given = {key: value for key, value in written.items() if value is not None}
        rope = {key: value for key, value in given.items() if key in read and key != "type"}
        self.ignore([_path(place, key) for key in given if key not in read])
        if len({_present(given[key]) for key in ("rope_type", "type") if given.get(key)}) > 1:
            self.ignore([_path(place, "type")])
        if "attention_factor" in entry and "attention_factor" in read:
            rope.setdefault("attention_factor", entry["attention_factor"])
        if "rope_theta" not in rope:
            rope["rope_theta"] = self.base(layer, kind, entry)
        head_dim = self.width(layer, rope.get("partial_rotary_factor"))
        share = self.share(layer, rope.get("partial_rotary_factor"), entry, head_dim)
        rope |= {"rope_type": kind, "partial_rotary_factor": share} | facts.get("parameters", {})
        if "xdrope_section" in rope:
            rope["mrope_section"] = rope.pop("xdrope_section")
        if "sections" in facts:  # Ernie's: height and width take turns in the fast pairs, and time has the slow ones
            height, _, time = rope.pop("mrope_section", facts["mrope_section"])
            rope["axes"] = [1, 2] * height + [0] * time
        self.lengths(rope, place)
        self.yarn(rope, written, place)
        rotating = 0 if head_dim is None else head_dim if kind == "proportional" else int(head_dim * share)
        rotating += rotating % 2 if kind == "default" and head_dim is not None and rotating < head_dim else 0
        alpha = rope.pop("alpha", None)
        if alpha and rope["rope_type"] == "dynamic" and rotating > 2:  # HunYuan's, the same for every length
            rope |= {"rope_type": "default", "rope_theta": rope["rope_theta"] * alpha ** (rotating / (rotating - 2))}
            rope = {key: value for key, value in rope.items() if key not in ("factor", LENGTH)}
        of_type, flag = facts.get("layout", "half-split"), model.get(facts.get("layout_key", ""))
        interleaved = of_type == "interleaved" if flag is None else bool(flag)
        layout: Layout = "interleaved" if interleaved else "half-split"
        return LayerRotation(layer, head_dim, rotating, layout, rope, written)

    def of_layer(self, value: Any, layer: str | None) -> Any:
        """A setting that may be a list with a value for every layer: the one of the first layer of a type."""
        if not isinstance(value, list | tuple):
            return value
        types = [*(self.model.get("layer_types") or ())]
        return value[min(types.index(layer) if layer in types else 0, len(value) - 1)]

    def base(self, layer: str | None, kind: str, entry: Mapping[str, Any]) -> float | None:
        """The base from around the rope dictionary, or that of the model's class."""
        model, facts = self.model, self.facts
        keys = [facts["theta"]] if "theta" in facts else []
        keys = [entry["theta"]] if "theta" in entry else [] if entry else [*keys, *TABLE["thetas"]]
        outside = self.of_layer(_first(model, keys), layer)
        if outside is None and model and "base_ratio" in facts:  # ChatGLM's
            outside = 10_000.0 * (model.get(facts["base_ratio"]) or 1)
        common = 10_000.0 if facts or (not model and kind not in ("llama3", "proportional")) else None
        found = entry.get("rope_theta", facts.get("rope_theta", common)) if outside is None else outside
        return None if found is None else float(found)

    def width(self, layer: str | None, share: float | None) -> int | None:
        """The width of a head, or of the part of it that DeepSeek's attention sets apart to rotate."""
        model, facts = self.model, self.facts
        named, own = model.get("head_dim"), model.get("per_layer_config")
        if layer == "full_attention":
            wide = {one.get("head_dim") for one in own.values()} if isinstance(own, Mapping) else set()
            wide = (wide | {model.get("global_head_dim")}) - {None}
            if len(wide) == 1:
                return int(wide.pop())
        if self.apart and (share in (None, 1) or named is None or int(named * share) == self.apart):
            return int(self.apart)
        named = _first(model, TABLE["head_dims"])
        if named is None and model and "head_dim" not in model:
            named = facts.get("head_dim")
        pair = next((pair for pair in TABLE["widths"] if all(model.get(key) is not None for key in pair)), None)
        if named is not None or (pair is None and not (model and facts)):
            return None if named is None else int(named)
        size, heads = (model.get(key) or facts.get(key) for key in pair or TABLE["widths"][0])
        narrower = model.get("memory_attention_downsample_rate") or 1
        return int(size) // int(heads * narrower) if size and heads else None

    def share(self, layer: str | None, inside: float | None, entry: Mapping[str, Any], head_dim: int | None) -> float:
        """The share of the head that rotates."""
        model, facts = self.model, self.facts
        keys = [key for key in TABLE["shares"] if model.get(key) is not None]
        outside, count = self.of_layer(_first(model, keys), layer), model.get("rotary_dim")
        if inside is not None and outside is not None and inside != outside and not self.per_layer:
            self.ignore(keys)
        if self.apart and head_dim == self.apart:
            return 1.0
        found, reads = outside if inside is None else inside, not facts or facts.get("rotary") == "rotary_dim"
        if count is not None and (found is not None or not reads) and int((head_dim or 0) * (found or 0)) != count:
            self.ignore(["rotary_dim"])
        count = (facts.get("rotary_dim") if "rotary_dim" not in model else count) if reads and model else None
        if found is not None or count is None or not head_dim:
            common = entry.get("partial_rotary_factor", facts.get("partial_rotary_factor", 1.0))
            return float(common if found is None else found)
        share = count / head_dim
        return float(share if int(head_dim * share) == count else (count + 0.5) / head_dim)  # 30 / 44 · 44 is below 30

    def lengths(self, rope: dict[str, Any], place: str) -> None:
        """Fills in the trained length, and the factor where the ratio of two lengths stands for it."""
        kind, model = rope["rope_type"], self.model
        longest = _first({**rope, **model}, [LONGEST]) or (self.facts.get(LONGEST) if model else None)
        rope.pop(LONGEST, None)
        inside, outside = rope.pop(LENGTH, None), None if self.per_layer else model.get(LENGTH)
        if kind not in (*BY_LENGTH, "dynamic"):
            return
        ranked = (longest, outside, inside) if kind == "dynamic" else (outside, inside, longest)
        if original := next(filter(None, ranked), None):
            rope[LENGTH] = int(original)
            if kind in ("yarn", "longrope") and longest:
                rope.setdefault("factor", longest / original)
        self.ignore([_path(place, LENGTH)] if inside and inside != original else [])
        self.ignore([LENGTH] if outside and outside != original else [])

    def yarn(self, rope: dict[str, Any], written: Mapping[str, Any], place: str) -> None:
        """Brings YaRN's keys to what transformers computes with."""
        if rope["rope_type"] != "yarn":
            return
        if "factor" not in written:
            rope.pop("factor", None)  # a null stands for the ratio of the lengths, a missing factor is an error
        for key in ("beta_fast", "beta_slow"):
            if rope.get(key) == 0:
                del rope[key]
        if "truncate" in written:
            rope["truncate"] = bool(written["truncate"])
            if self.per_layer and not rope.pop("truncate"):
                self.ignore([_path(place, "truncate")])
        if "attention_factor" in rope or not (rope.get("mscale") and rope.get("mscale_all_dim")):
            for key in ("mscale", "mscale_all_dim"):
                self.ignore([_path(place, key)] if rope.pop(key, None) else [])


__all__ = ["Configuration", "LayerRotation", "NoRotation", "read_configuration"]

"""The frequencies that a Hugging Face configuration asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from posenc._arrays import Array, as_float_array, check_choice, check_int, check_inv_freq, check_positive, describe
from posenc.scaling._shared import Scaled, share_of
from posenc.scaling.by_parts import llama3, yarn
from posenc.scaling.factors import axial, default, linear, longrope, proportional
from posenc.scaling.ntk import dynamic_ntk
from posenc.scaling.own import check_has_rotation, in_common_words, share_of_head


class _RopeType(NamedTuple):
    """What computes a rope_type, and the keys of a configuration that it needs and that it may have."""

    method: Callable[..., Scaled]
    needed: tuple[str, ...] = ()
    further: tuple[str, ...] = ()


_LENGTH = "original_max_position_embeddings"
_YARN_KEYS = ("factor", _LENGTH, "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate")
_ROPE_TYPES = {
    "default": _RopeType(default),
    "linear": _RopeType(linear, ("factor",)),
    "dynamic": _RopeType(dynamic_ntk, ("factor",), (_LENGTH,)),
    "yarn": _RopeType(yarn, (), _YARN_KEYS),
    "longrope": _RopeType(longrope, ("short_factor", "long_factor"), ("factor", _LENGTH, "attention_factor")),
    "llama3": _RopeType(llama3, ("rope_theta", "factor", "low_freq_factor", "high_freq_factor"), (_LENGTH,)),
    "proportional": _RopeType(proportional, ("rope_theta",), ("factor",)),
    "axial": _RopeType(axial, (), ("n_axes", "shared")),
}
ROPE_TYPES = tuple(_ROPE_TYPES)
_SHARED_KEYS = ("rope_type", "type", "rope_theta", "partial_rotary_factor")
# Frequencies that no type makes, which pairs follow which axis of the positions, and what queries are multiplied by.
_BESIDES = ("inv_freq", "axes", "mrope_section", "mrope_interleaved", "llama_4_scaling_beta", "max_position_embeddings")
_ROPE_KEYS = {
    *_SHARED_KEYS, *_BESIDES, *(key for kind in _ROPE_TYPES.values() for key in (*kind.needed, *kind.further))
}  # fmt: skip
# Keys of a whole configuration that name rotation and are read here, or say nothing about frequencies.
_MODEL_KEYS = ("rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor", "rope_local_base_freq")
_OTHER_KEYS = (
    "qk_rope_head_dim", "rope_interleave", "no_rope_layers", "no_rope_layer_interval", "compress_rope_theta",
    "layer_rope_theta", "rope_scaling_layers", "rotary_dim", "rotary_pct", "rotary_emb_base", "rotary_embedding_base",
    "use_rotary_embedding", "use_mem_rope", "rotary_value", "num_spatial_rope_pairs_per_axis", "num_uid_rope_pairs",
    "spatial_rope_base_frequency", "uid_rope_base_frequency",
    "memory_attention_rope_dropout", "memory_attention_rope_feat_sizes", "memory_attention_rope_k_sizes",
)  # fmt: skip
# Where models have the width of a head, and what it is computed from where they have none of these.
_HEAD_DIMS = ("head_dim", "attention_head_dim", "kv_channels")
_WIDTHS_AND_HEADS = (
    ("hidden_size", "num_attention_heads"), ("embed_dim", "num_heads"), ("hidden_size", "num_heads"),
    ("d_model", "num_attention_heads"), ("n_embd", "n_head"), ("d_model", "n_heads"),
    ("hidden_size", "decoder_num_attention_heads"),
    ("memory_attention_hidden_size", "memory_attention_num_attention_heads"),
    ("hidden_size", "speech_encoder_attention_heads"),
)  # fmt: skip
_DOWNSAMPLED = "memory_attention_downsample_rate"  # SAM 2's memory attends in fewer dimensions than it has
# What GPT-NeoX and models of speech call the usual names.
_OTHER_NAMES = (
    ("rope_theta", "rotary_emb_base"), ("rope_theta", "rotary_embedding_base"), ("partial_rotary_factor", "rotary_pct"),
)  # fmt: skip


def _rope_type(rope: Mapping[str, Any]) -> str:
    """The type that a rope dictionary names, in its present spelling."""
    named = [rope[key] for key in ("rope_type", "type") if rope.get(key) is not None] or ["default"]
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"rope_type must be a string in config, got {describe(name)}")
    # Phi-3's first name for longrope, and Qwen2-VL's for a rotation whose positions have three axes
    present = [{"su": "longrope", "mrope": "default"}.get(name, name) for name in named]
    if present[0] != present[-1]:
        raise ValueError(f"config contradicts itself: rope_type is {named[0]!r} and type is {named[1]!r}")
    return check_choice("rope_type", present[0], ROPE_TYPES)


def _is_per_layer(rope: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) for value in rope.values())


def _is_rope_dictionary(config: Mapping[str, Any]) -> bool:
    """Whether `config` is a rope dictionary, per layer or not, rather than a whole configuration."""
    if "rope_parameters" in config or "rope_scaling" in config:
        return False
    if "rope_type" in config or "type" in config or config.keys() <= _ROPE_KEYS - {"max_position_embeddings"}:
        return True
    nested = "text_config" in config  # a model with several parts, and not layers of several kinds
    return not nested and _is_per_layer(config) and all(isinstance(value, Mapping | None) for value in config.values())


def _rope_copy(rope: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a rope dictionary; where it is not per layer, without nulls and with its type under one name."""
    if _is_per_layer(rope):
        return dict(rope)
    # A null says nothing, but transformers takes `"truncate": null` for false: it stays, and `yarn` refuses it.
    # In yarn a null factor is a ratio of lengths, and a missing one an error, there and here.
    kept = ("truncate", "factor")
    copy = {key: value for key, value in rope.items() if key != "type" and (value is not None or key in kept)}
    return copy | {"rope_type": _rope_type(rope)}


def _whole_configuration(config: Mapping[str, Any]) -> dict[str, Any]:
    """The rope dictionary of a whole configuration, per layer where the configuration has it so."""
    check_has_rotation(config)
    _check_layers(config)
    config = _present_names(config)
    known = {*_MODEL_KEYS, *_OTHER_KEYS}
    strange = sorted(
        key
        for key, value in config.items()
        if {"rope", "rotary"} & {*str(key).split("_")} and key not in known and value not in (None, False)
    )
    if strange:
        raise ValueError(f"config has keys that are not understood, {strange}; understood are {sorted(known)}")
    given = {key: config[key] for key in ("rope_parameters", "rope_scaling") if config.get(key) is not None}
    for key, value in given.items():
        if not isinstance(value, Mapping):
            raise TypeError(f"{key} must be a mapping or None in config, got {describe(value)}")
    plain = [_rope_copy(value) for value in given.values()]
    shared = {
        key: value for rope in plain for key, value in rope.items() if key in ("rope_theta", "partial_rotary_factor")
    }
    if len(plain) == 2 and shared | plain[0] != shared | plain[1]:
        raise ValueError(f"config contradicts itself: rope_parameters and rope_scaling differ, {given!r}")
    rope = in_common_words(config, shared | plain[0] if plain else {"rope_type": "default"})
    local = config.get("rope_local_base_freq")
    if local is None:
        return rope
    if _is_per_layer(rope):
        raise ValueError(f"config has both rope_local_base_freq, {local!r}, and parameters per layer, {given!r}")
    # Gemma 3 before transformers 5: layers that see a window are never scaled and have a base of their own.
    return {"full_attention": rope, "sliding_attention": {"rope_theta": check_positive("rope_local_base_freq", local)}}


def _present_names(config: Mapping[str, Any]) -> dict[str, Any]:
    """A whole configuration whose older names for shares and bases are replaced by the present ones."""
    config = dict(config)
    for present, older in _OTHER_NAMES:
        if config.get(older) is not None and config.setdefault(present, config[older]) != config[older]:
            raise ValueError(f"config contradicts itself: {present} is {config[present]!r}, {older} {config[older]!r}")
    named = any(config.get(key) is not None for key in _MODEL_KEYS)
    if config.get("rotary_dim") is not None and not named:  # GPT-J, whose code has one base
        head_dim, rotating = head_dim_of(config), check_int("rotary_dim", config["rotary_dim"], 2)
        config |= {"rope_theta": 10_000.0, "partial_rotary_factor": share_of_head(rotating, head_dim)}
    return config


def _check_layers(config: Mapping[str, Any]) -> None:
    """Refuses configurations whose layers differ in a way that no layer type tells."""
    bases, dictionary = config.get("layer_rope_theta"), config.get("rope_parameters")
    dictionary = dictionary if isinstance(dictionary, Mapping) else {}
    one = dictionary.get("rope_theta", config.get("rope_theta"))
    if bases is not None and any(base not in (0, one) for base in bases):  # a layer of base 0 does not rotate
        raise ValueError(
            f"config must have one base for all layers of a type, got layer_rope_theta {describe(bases)}: pass one layer's "
            "rope dictionary, with its rope_theta"
        )
    some, layers = config.get("rope_scaling_layers"), config.get("num_hidden_layers")
    plain = dictionary.get("rope_type", "default") == "default"
    if some is not None and not plain and sorted(some) != list(range(layers or 0)):
        raise ValueError(
            f"config must scale all layers alike, got rope_scaling_layers {describe(some)}: pass the rope dictionary, or "
            "{'rope_theta': …} for the layers that are not scaled"
        )


def _mapping(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """`config`, after checking that it is a mapping."""
    if not isinstance(config, Mapping):
        raise TypeError(f"config must be a mapping, got {describe(config)}")
    return config


def _found(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The rope dictionary of a configuration, per layer where it is, and the model's settings around it."""
    if not _mapping(config):
        raise ValueError(f"config must say something of RoPE, got {describe(config)}")
    if _is_rope_dictionary(config):
        return config, {}
    inner = config.get("text_config")
    if isinstance(inner, Mapping) and not any(config.get(key) is not None for key in _MODEL_KEYS):
        return _found(inner)  # a model that also sees or hears: its language model is meant
    return _whole_configuration(config), _present_names(config)


def rope_dictionary(config: Mapping[str, Any], layer_type: str | None = None) -> dict[str, Any]:
    """The rope dictionary of a configuration, or of one kind of its layers, with its type under its present name.

    >>> rope_dictionary({"rope_scaling": {"type": "su", "factor": 2.0}, "rope_theta": 1e4})
    {'factor': 2.0, 'rope_type': 'longrope'}
    """
    return _of_layer(_found(config)[0], layer_type)


def layer_types(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the kinds of layers that rotate, of a configuration whose layers differ; else a ValueError.

    >>> layer_types({"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}})
    ('full_attention', 'sliding_attention')
    """
    rope = _found(config)[0]
    if not _is_per_layer(rope):
        raise ValueError(f"config must have parameters per layer, got one rotation for all: {describe(rope)}")
    return tuple(name for name, value in rope.items() if isinstance(value, Mapping))


def head_dim_of(config: Mapping[str, Any], layer_type: str | None = None) -> int:
    """The width of a head, or of the part of it that rotates, as a whole configuration has it for a layer type or all.

    >>> head_dim_of({"hidden_size": 4096, "num_attention_heads": 32})
    128
    """
    if layer_type is not None and not isinstance(layer_type, str):
        raise TypeError(f"layer_type must be a string or None, got {describe(layer_type)}")
    inner = _mapping(config).get("text_config")
    if isinstance(inner, Mapping) and not any(config.get(key) is not None for key in _MODEL_KEYS):
        return head_dim_of(inner, layer_type)
    check_has_rotation(config)
    if config.get("model_type") == "efficientloftr":  # which turns all heads as one
        return check_int("hidden_size", config["hidden_size"])
    if layer_type == "full_attention":
        layers = config.get("per_layer_config")
        wide = (
            {one["head_dim"] for one in layers.values() if "head_dim" in one} if isinstance(layers, Mapping) else set()
        )
        wide |= {config["global_head_dim"]} if config.get("global_head_dim") is not None else set()
        if len(wide) == 1:
            return check_int("head_dim", wide.pop(), 2)
    for key in ("head_dim", "qk_rope_head_dim") if _names_a_share(config) else ("qk_rope_head_dim", *_HEAD_DIMS):
        if config.get(key) is not None:
            return check_int(key, config[key], 2)
    for width, heads in _WIDTHS_AND_HEADS:
        if config.get(width) is not None and config.get(heads) is not None:
            narrower = check_int(_DOWNSAMPLED, config.get(_DOWNSAMPLED, 1))
            return check_int(width, config[width]) // (check_int(heads, config[heads]) * narrower)
    raise ValueError(f"config must have head_dim, or hidden_size and num_attention_heads, got {sorted(config)}")


def _names_a_share(config: Mapping[str, Any]) -> bool:
    """Whether a configuration gives the part of a head that rotates as a share of it."""
    places = [config, *(config.get(key) or {} for key in ("rope_parameters", "rope_scaling"))]
    places += [one for place in places[1:] for one in place.values() if isinstance(one, Mapping)]
    return any(place.get("partial_rotary_factor") is not None for place in places)


def _of_layer(rope: Mapping[str, Any], layer_type: str | None) -> dict[str, Any]:
    """The rope dictionary of one layer type, or of all layers where they share one."""
    if not _is_per_layer(rope):
        if layer_type is not None:
            raise ValueError(f"layer_type must be None, for config has one rotation for all layers, got {layer_type!r}")
        return _rope_copy(rope)
    strange = {key: value for key, value in rope.items() if not isinstance(value, Mapping | None)}
    if strange:
        raise ValueError(f"config mixes parameters of layers with parameters of all layers, {strange!r}")
    chosen = rope[check_choice("layer_type", layer_type, tuple(rope))]  # type: ignore[arg-type]
    if chosen is None:
        raise ValueError(f"layer_type must be one that rotates; config has null for {layer_type!r}")
    if _is_per_layer(chosen):
        raise ValueError(
            f"config must not have mappings inside the parameters of {layer_type!r}, got {describe(chosen)}"
        )
    return _rope_copy(chosen)


def _inside_or_around(name: str, rope: Mapping[str, Any], model: Mapping[str, Any], per_layer: bool) -> Any:
    """A setting that may stand in the rope dictionary or around it; layers may differ from what stands around them."""
    inside, outside = rope.get(name), model.get(name)
    if inside is None:
        return outside
    if outside is not None and inside != outside and not per_layer:
        raise ValueError(f"config contradicts itself: {name} is {inside!r} in the rope dictionary, {outside!r} outside")
    return inside


def _check_head_dim(head_dim: int, model: Mapping[str, Any]) -> None:
    """Refuses a head_dim other than the ones that a whole configuration names."""
    layers = model.get("per_layer_config") or {}
    heads = [model, *layers.values()] if isinstance(layers, Mapping) else [model]
    named = [head.get("head_dim") for head in heads if isinstance(head, Mapping)] + [model.get("global_head_dim")]
    if model.get("qk_rope_head_dim") is not None and not _names_a_share(model):
        named = [model["qk_rope_head_dim"]]  # DeepSeek's heads have a part that rotates and a part that does not
    named = [name for name in named if name is not None]
    if named and head_dim not in named:
        raise ValueError(f"head_dim must be what config says, {' or '.join(map(str, named))}, got {head_dim}")


def _lengths(
    rope_type: str, rope: Mapping[str, Any], model: Mapping[str, Any], original: Any, per_layer: bool
) -> dict[str, Any]:
    """The trained length, and the factor where the ratio of two lengths stands for it."""
    longest = model.get("max_position_embeddings")
    longest = None if longest is None else check_int("max_position_embeddings", longest)
    original = None if original is None else check_int(_LENGTH, original)
    if per_layer and original is not None and _LENGTH not in rope:
        raise ValueError(f"config must have {_LENGTH} inside the parameters of each layer, got {original} outside")
    if rope_type == "dynamic" and None not in (original, longest) and original != longest:
        raise ValueError(
            f"config contradicts itself: dynamic scales from one length, but {_LENGTH} is {original} and "
            f"max_position_embeddings is {longest}"
        )
    if original is None and longest is None:
        raise ValueError(
            f"config lacks {_LENGTH} or max_position_embeddings for rope_type {rope_type!r}, got {describe(rope)}"
        )
    settings = {_LENGTH: longest if original is None else original}
    if rope_type not in ("yarn", "longrope") or rope.get("factor") is not None:
        return settings
    if rope_type == "yarn" and "factor" not in rope:
        raise ValueError(
            f"config lacks factor for rope_type 'yarn', got {describe(rope)}; null stands for a ratio of lengths"
        )
    if original is not None and longest is not None:
        return settings | {"factor": longest / original}
    if rope_type == "longrope" and "attention_factor" in rope:
        return settings
    raise ValueError(
        f"config lacks factor for rope_type {rope_type!r}, or both of {_LENGTH} and max_position_embeddings, whose "
        f"ratio it would be, got {describe(rope)}"
    )


def from_config(
    config: Mapping[str, Any],
    head_dim: int,
    seq_len: int | None = None,
    *,
    layer_type: str | None = None,
    like: Array = None,
) -> Scaled:
    """The frequencies that a Hugging Face configuration asks for, as the library transformers (5.23) reads it.

    `config` is a rope dictionary (`rope_parameters`, or the older `rope_scaling`, with `rope_type` or the older `type`)
    or a whole configuration that has one of the two; either may be per layer. Where a setting comes from:

        rope_theta: the rope dictionary, else the configuration around it, which must have it; a dictionary on its own
            has base 10 000 without, except for llama3 and proportional.
        partial_rotary_factor: the same two places, else 1. ⌊head_dim·partial_rotary_factor⌋ dimensions rotate.
        original_max_position_embeddings (yarn, longrope, llama3): the same two places, else max_position_embeddings.
            dynamic knows max_position_embeddings alone; on its own, its dictionary has it under the longer name.
        factor: the rope dictionary, also where it is not the ratio of the two lengths, as in Qwen3's published advice;
            for longrope without it and for yarn with null, max_position_embeddings/original_max_position_embeddings.
        inv_freq: the rope dictionary, for frequencies that no type makes; nothing else is asked for then.
        truncate (yarn): the rope dictionary of the layer. transformers overlooks it where parameters are per layer.
        rope_theta and rope_local_base_freq, Gemma 3's older pair: the bases of the layer types "full_attention", which
            has the scaling, and "sliding_attention", which has none.

    Unknown keys that speak of rotation, missing keys and places that contradict each other raise ValueError. Not in the
    answer is what the class of a model does besides: DeepSeek's factor on 1/√d (see `mscale`), or OLMo 3's older
    configurations, whose one rope_scaling is for the layers of full attention alone.

    Args:
        config: a mapping as read from JSON, which stays as it is. A null is the same as a missing key.
        head_dim: width of a head; for DeepSeek of the part that rotates, qk_rope_head_dim.
        seq_len: tokens at hand, for dynamic and longrope. None: none yet; dynamic is not scaled, longrope short.
        layer_type: the layers wanted, for a configuration that is per layer.

    Returns `Scaled`, with frequencies of shape (dimensions that rotate / 2,), for proportional (head_dim/2,).

    >>> config = {"rope_scaling": {"type": "linear", "factor": 4.0}, "rope_theta": 10000.0}
    >>> from_config(config, head_dim=8).inv_freq.tolist()
    [0.25, 0.025, 0.0025, 0.00025]
    """
    head_dim = check_int("head_dim", head_dim, 2)
    if seq_len is not None:
        check_int("seq_len", seq_len, 0)
    found, model = _found(config)
    alone = not model
    per_layer = _is_per_layer(found)
    rope = _of_layer(found, layer_type)
    _check_head_dim(head_dim, model)

    rope_type = rope.pop("rope_type")
    method, needed, further = _ROPE_TYPES[rope_type]
    accepted = {*_SHARED_KEYS, *_BESIDES, *needed, *further}
    unknown = sorted(map(str, rope.keys() - accepted))
    if unknown:
        raise ValueError(f"config has unknown keys {unknown} for rope_type {rope_type!r}, known are {sorted(accepted)}")
    if "inv_freq" in rope:
        listed = check_inv_freq(as_float_array("inv_freq", rope["inv_freq"], like=like))
        if 2 * listed.shape[0] > head_dim:
            raise ValueError(f"inv_freq must have at most {head_dim // 2} frequencies in config, got {listed.shape[0]}")
        return Scaled(listed, 1.0)
    given = rope | {name: _inside_or_around(name, rope, model, per_layer) for name in (*_SHARED_KEYS[2:], _LENGTH)}
    if given["rope_theta"] is None and (not alone or per_layer):
        needed = ("rope_theta", *needed)
    missing = [key for key in needed if given.get(key) is None]
    if missing:
        raise ValueError(f"config lacks {', '.join(missing)} for rope_type {rope_type!r}, got {describe(rope)}")
    base = 10_000.0 if given["rope_theta"] is None else check_positive("rope_theta", given["rope_theta"])
    share = 1.0 if given["partial_rotary_factor"] is None else given["partial_rotary_factor"]
    rotating = int(head_dim * share_of("partial_rotary_factor", share))

    settings = {key: value for key, value in rope.items() if key not in (*_SHARED_KEYS, *_BESIDES)}
    if settings.get("factor", 1.0) is None:
        del settings["factor"]
    if rope_type == "proportional":
        rotating, settings["partial_rotary_factor"] = head_dim, share
    if rope_type == "default" and rotating % 2 and 0 < rotating < head_dim:
        # transformers makes the pairs of an odd number whole, (d + 1)/2, and keeps d in the exponent −2i/d
        rotating, base = rotating + 1, base ** ((rotating + 1) / rotating)
    least = 4 if rope_type in ("dynamic", "axial") else 2
    if rotating < least or rotating % 2:
        raise ValueError(
            f"head_dim {head_dim} with partial_rotary_factor {share!r} leaves {rotating} dimensions to rotate, which "
            f"must be even and at least {least} for rope_type {rope_type!r}"
        )
    if _LENGTH in further:
        settings |= _lengths(rope_type, rope, model, given[_LENGTH], per_layer)
    if rope_type in ("dynamic", "longrope"):
        settings["seq_len"] = settings[_LENGTH] if seq_len is None else seq_len
    return method(rotating, base, **settings, like=like)

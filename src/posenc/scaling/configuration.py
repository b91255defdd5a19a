"""The frequencies of a Hugging Face configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from posenc._arrays import Array, as_float_array, check_choice, check_int, check_inv_freq, check_positive, describe
from posenc.configuration import LENGTH, TABLE, LayerRotation, read_configuration
from posenc.scaling._shared import Scaled, check_fraction
from posenc.scaling.by_parts import llama3, yarn
from posenc.scaling.factors import axial, default, linear, longrope, proportional
from posenc.scaling.ntk import dynamic_ntk

_METHODS: dict[str, Callable[..., Scaled]] = {
    "default": default,
    "linear": linear,
    "dynamic": dynamic_ntk,
    "yarn": yarn,
    "longrope": longrope,
    "llama3": llama3,
    "proportional": proportional,
    "axial": axial,
}
ROPE_TYPES = tuple(_METHODS)


def from_config(
    config: Any,
    head_dim: int | None = None,
    seq_len: int | None = None,
    *,
    layer_type: str | None = None,
    like: Array = None,
) -> Scaled:
    """The frequencies of a Hugging Face configuration, as the library transformers (5.23) reads it.

    `config` is what `posenc.configuration.read_configuration` takes: a whole configuration, raw or of transformers, a
    rope dictionary (`rope_parameters`, or the older `rope_scaling`), or one rotation that it returned. Where settings
    come from:

        rope_theta: the rope dictionary, else the configuration around it, else the model's class; 10 000 if that is
            unknown, with a warning.
        partial_rotary_factor: the same places, else 1. ⌊head_dim·partial_rotary_factor⌋ dimensions are rotated.
        original_max_position_embeddings (yarn, longrope, llama3): the configuration around the rope dictionary, else
            the dictionary, else max_position_embeddings. dynamic uses max_position_embeddings only; its dictionary on
            its own has it under the longer name.
        factor: the rope dictionary, even if it is not the ratio of the two lengths, as in Qwen3's published advice;
            for longrope without it and yarn with null, max_position_embeddings/original_max_position_embeddings.
        inv_freq: the rope dictionary, for frequencies of no type; nothing else is needed then.

    What a model's class does besides, such as DeepSeek's factor on 1/√d (see `mscale`), is not included.

    Args:
        config: is not changed.
        head_dim: width of a head, for DeepSeek of the rotated part, qk_rope_head_dim; None: as in `config`.
        seq_len: tokens in the sequence, for dynamic and longrope; None: dynamic is not scaled, longrope short.
        layer_type: kind of layers, for a configuration that is per layer type.

    Returns `Scaled` with frequencies of shape (rotated dimensions / 2,), for proportional (head_dim/2,). Raises
    `posenc.configuration.NoRotation`, a ValueError, for a model without rotary encoding, ValueError for missing values
    and values out of range, and TypeError for values that are no numbers.

    >>> config = {"rope_scaling": {"type": "linear", "factor": 4.0}, "rope_theta": 10000.0}
    >>> from_config(config, head_dim=8).inv_freq.tolist()
    [0.25, 0.025, 0.0025, 0.00025]
    """
    rotation = config if isinstance(config, LayerRotation) else read_configuration(config).of(layer_type)
    rope = dict(rotation.parameters)
    if head_dim is None and rotation.head_dim is None:
        raise ValueError(f"config must have head_dim, or hidden_size and num_attention_heads, got {describe(rope)}")
    width = check_int("head_dim", rotation.head_dim if head_dim is None else head_dim, 2)  # type: ignore[arg-type]
    if rotation.head_dim not in (None, width):
        raise ValueError(f"head_dim must be what config says, {rotation.head_dim}, got {width}")
    if seq_len is not None:
        check_int("seq_len", seq_len, 0)
    if "inv_freq" in rope:
        listed = check_inv_freq(as_float_array("inv_freq", rope["inv_freq"], like=like))
        if 2 * listed.shape[0] > width:
            raise ValueError(f"inv_freq must have at most {width // 2} frequencies in config, got {listed.shape[0]}")
        return Scaled(listed, 1.0)
    rope_type = check_choice("rope_type", rope["rope_type"], ROPE_TYPES)
    needs, reads = TABLE["rope_types"][rope_type].values()
    by_length = LENGTH in reads
    required = [
        *needs,
        *([LENGTH] if by_length else []),
        *(["factor"] if rope_type == "longrope" and "attention_factor" not in rope else []),
    ]
    required += ["rope_theta"] if rope_type in ("llama3", "proportional") else []
    if missing := [key for key in required if rope.get(key) is None]:
        names = [f"{LENGTH} or max_position_embeddings" if key == LENGTH else key for key in missing]
        raise ValueError(
            f"config lacks {', '.join(names)} for rope_type {rope_type!r}, got {describe(rotation.written)}"
        )
    base = check_positive("rope_theta", 10_000.0 if rope["rope_theta"] is None else rope["rope_theta"])
    if base <= 1:
        raise ValueError(f"rope_theta must be greater than 1, so that frequencies decrease, got {base:g}")
    fraction = check_fraction("partial_rotary_factor", rope["partial_rotary_factor"])
    if fraction == 0:
        raise ValueError(f"partial_rotary_factor must be greater than 0, or nothing rotates, got {fraction!r}")
    settings = {key: rope[key] for key in (*needs, *reads) if rope.get(key) is not None}
    rotating = int(width * fraction)
    if rope_type == "proportional":
        rotating, settings["partial_rotary_factor"] = width, fraction
    if rope_type == "default" and rotating % 2 and 0 < rotating < width:
        # transformers makes the pairs of an odd number whole, (d + 1)/2, and keeps d in the exponent −2i/d
        rotating, base = rotating + 1, base ** ((rotating + 1) / rotating)
    least = 4 if rope_type in ("dynamic", "axial") else 2
    if rotating < least or rotating % 2:
        raise ValueError(
            f"head_dim {width} with partial_rotary_factor {fraction!r} leaves {rotating} dimensions to rotate, which "
            f"must be even and at least {least} for rope_type {rope_type!r}"
        )
    if rope_type in ("dynamic", "longrope"):
        settings["seq_len"] = settings[LENGTH] if seq_len is None else seq_len
    return _METHODS[rope_type](rotating, base, **settings, like=like)

"""Models of the library transformers whose code rotates otherwise than their configuration's words say.

Each is put into the words of `from_config` and `posenc.Rope`: for the type "axial" `n_axes` and `shared`, and for
any type `axes`, the axis of the positions that each pair follows, and `inv_freq`, the frequencies themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from posenc._arrays import check_int, describe
from posenc.frequencies import inv_freq

_SECTION = (22, 22, 20)  # pairs of Ernie's height, width and time, where its configuration does not say
# Configurations that no rotation is computed from, and why.
_WITHOUT = {
    "blt": "its parts have rotations of their own: pass patcher_config, encoder_config, decoder_config or "
    "global_config",
    "glm5_next_text": "none of its layers rotates",
    "kimi_linear": "none of its layers rotates",
    "pp_doclayout_v2": "it rotates relations, not positions",
    "vjepa2": "its code turns the two dimensions of a pair by different angles, which is no rotation",
}
# Models that rotate only where a setting has a value: the setting, that value, and what it is where nothing is said.
_ONLY_IF: dict[str, tuple[str, Any, Any]] = {
    "clvp_encoder": ("use_rotary_embedding", True, True),
    "esm": ("position_embedding_type", "rotary", "absolute"),
    "falcon": ("alibi", False, False),
    "granitemoehybrid": ("position_embedding_type", "rope", None),
    "seamless_m4t": ("position_embeddings_type", "rotary", "relative"),
    "wav2vec2-bert": ("position_embeddings_type", "rotary", "relative_key"),
    "wav2vec2-conformer": ("position_embeddings_type", "rotary", "relative"),
    "zamba2": ("use_mem_rope", True, False),
}


def check_has_rotation(config: Mapping[str, Any]) -> None:
    """Refuses a whole configuration of a model that rotates nothing by it."""
    kind = config.get("model_type", "")
    why = _WITHOUT.get(kind)
    if kind in _ONLY_IF:
        key, wanted, default = _ONLY_IF[kind]
        value = default if config.get(key) is None else config[key]
        why = None if value == wanted else f"its {key} is {describe(value)}, not {wanted!r}"
    if why is not None:
        raise ValueError(f"config must be of a model that rotates positions by it, got {kind!r}: {why}")


def in_common_words(config: Mapping[str, Any], rope: dict[str, Any]) -> dict[str, Any]:
    """The rope dictionary of a whole configuration, of any model, with what its code does besides."""
    change = _esmfold2 if "num_uid_rope_pairs" in config else _CHANGES.get(config.get("model_type", ""))
    return rope if change is None else change(config, rope)


def share_of_head(rotating: int, head_dim: int) -> float:
    """The partial_rotary_factor of which ⌊head_dim·partial_rotary_factor⌋ is `rotating`."""
    share = rotating / head_dim
    return share if head_dim * share >= rotating else math.nextafter(share, 1)  # 30 / 44 · 44 is less than 30


def _with(**words: Any) -> Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]]:
    return lambda config, rope: rope | words


def _counted(config: Mapping[str, Any], key: str, least: int = 1) -> int:
    if config.get(key) is None:
        raise ValueError(f"config lacks {key}, which the code of this model needs, got {sorted(config)}")
    return check_int(key, config[key], least)


def _clvp(config: Mapping[str, Any], rope: dict[str, Any]) -> dict[str, Any]:
    """The width that rotates is half of the projection's share of a head, and never below 32."""
    heads = _counted(config, "num_attention_heads")
    rotating = max(_counted(config, "projection_dim") // (2 * heads), 32)
    head_dim = _counted(config, "hidden_size") // heads
    return rope | {"rope_theta": 10_000.0, "partial_rotary_factor": share_of_head(rotating, head_dim)}


def _esmfold2(config: Mapping[str, Any], rope: dict[str, Any]) -> dict[str, Any]:
    """Atoms: three coordinates with one base and a number of the residue with another; what is left stands still."""
    space, number = (_counted(config, f"num_{of}") for of in ("spatial_rope_pairs_per_axis", "uid_rope_pairs"))
    still = _counted(config, "head_dim") // 2 - 3 * space - number
    listed = 3 * inv_freq(2 * space, config.get("spatial_rope_base_frequency", 20.0)).tolist()
    listed += inv_freq(2 * number, config.get("uid_rope_base_frequency", 10_000.0)).tolist() + [0.0] * still
    axes = [axis for axis, pairs in enumerate((space, space, space, number + still)) for _ in range(pairs)]
    return rope | {"inv_freq": listed, "axes": axes}


def _efficientloftr(config: Mapping[str, Any], rope: dict[str, Any]) -> dict[str, Any]:
    """All heads turn as one vector, in which rows and columns take turns; the share is of one head."""
    share = rope.get("partial_rotary_factor", 1.0)
    heads, width = (_counted(config, key) for key in ("num_attention_heads", "hidden_size"))
    if 2 * share != heads:
        raise ValueError(
            f"partial_rotary_factor must be half of the {heads} heads of efficientloftr, got {describe(share)}"
        )
    kept = {key: value for key, value in rope.items() if key != "partial_rotary_factor"}
    return kept | {"rope_type": "axial", "axes": [0, 1] * (width // 4)}


def _ernie(config: Mapping[str, Any], rope: dict[str, Any]) -> dict[str, Any]:
    """Height and width take turns in the fast pairs, which they share, and time has the slow ones."""
    height, width, time = given = rope.get("mrope_section", _SECTION)
    if height != width:
        raise ValueError(f"mrope_section must have as many pairs of height as of width, got {describe(given)}")
    kept = {key: value for key, value in rope.items() if key != "mrope_section"}
    return kept | {"axes": [1, 2] * height + [0] * time}


_CHANGES: dict[str, Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]]] = {
    "clvp_encoder": _clvp,
    "dinov3_vit": _with(rope_type="axial"),  # positions are 2π times coordinates from -1 to 1, here and in the next two
    "eomt_dinov3": _with(rope_type="axial"),
    "sapiens2": _with(rope_type="axial"),
    "efficientloftr": _efficientloftr,
    "ernie4_5_vl_moe_text": _ernie,
    "minimax_m3_vl_vision": _with(n_axes=3),
    "pixtral": _with(shared=True),
    "roformer": _with(rope_theta=10_000.0),
}

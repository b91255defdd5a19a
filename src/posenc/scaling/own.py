"""Models of the library transformers whose code rotates otherwise than their configuration's words say.

Each is put into the words of `from_config` and `posenc.Rope`: for the type "axial" `n_axes` and `shared`, and for
any type `axes`, the axis of the positions that each pair follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from posenc._arrays import said

_SECTION = (22, 22, 20)  # pairs of Ernie's height, width and time, where its configuration does not say
# Configurations that no rotation is computed from, and why.
_WITHOUT = {
    "blt": "its parts have rotations of their own: pass patcher_config, encoder_config, decoder_config or "
    "global_config",
    "pp_doclayout_v2": "it rotates relations, not positions",
}


def check_has_rotation(config: Mapping[str, Any]) -> None:
    """Refuses a whole configuration of a model that rotates nothing by it."""
    kind = config.get("model_type")
    if kind in _WITHOUT:
        raise ValueError(f"config must be of a model that rotates positions by it, got {kind!r}: {_WITHOUT[kind]}")


def in_common_words(config: Mapping[str, Any], rope: dict[str, Any]) -> dict[str, Any]:
    """The rope dictionary of a whole configuration, of any model, with what its code does besides."""
    change = _CHANGES.get(config.get("model_type", ""))
    return rope if change is None else change(config, rope)


def _with(**words: Any) -> Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]]:
    return lambda config, rope: rope | words


def _efficientloftr(config: Mapping[str, Any], rope: dict[str, Any]) -> dict[str, Any]:
    """All heads turn as one vector, in which rows and columns take turns; the share is of one head."""
    share, heads, width = rope.get("partial_rotary_factor", 1.0), config["num_attention_heads"], config["hidden_size"]
    if 2 * share != heads:
        raise ValueError(
            f"partial_rotary_factor must be half of the {heads} heads of efficientloftr, got {said(share)}"
        )
    kept = {key: value for key, value in rope.items() if key != "partial_rotary_factor"}
    return kept | {"rope_type": "axial", "axes": [0, 1] * (width // 4)}


def _ernie(config: Mapping[str, Any], rope: dict[str, Any]) -> dict[str, Any]:
    """Height and width take turns in the fast pairs, which they share, and time has the slow ones."""
    height, width, time = given = rope.get("mrope_section", _SECTION)
    if height != width:
        raise ValueError(f"mrope_section must have as many pairs of height as of width, got {said(given)}")
    kept = {key: value for key, value in rope.items() if key != "mrope_section"}
    return kept | {"axes": [1, 2] * height + [0] * time}


_CHANGES: dict[str, Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]]] = {
    "efficientloftr": _efficientloftr,
    "eomt_dinov3": _with(rope_type="axial"),  # positions are 2π times coordinates from -1 to 1
    "ernie4_5_vl_moe_text": _ernie,
    "minimax_m3_vl_vision": _with(n_axes=3),
    "pixtral": _with(shared=True),
}

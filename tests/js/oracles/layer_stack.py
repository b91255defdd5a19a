"""What LayerStack draws, by the package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc._sentences import catalogue
from posenc.analysis import decay, match_weight
from posenc.frequencies import angles, inv_freq
from posenc.widgets import LayerStack

FLOOR_SCALE, ATTN_SCALE = 8192, 0.1  # of Llama 4, as its configuration names them

TOLERANCE = 0.01  # radians from an angle that training met, as in `posenc.analysis.unseen_angles`

ROTATES, LOCAL = "Rr", "rn"  # letters of such layers

BACK = 2 ** np.arange(20)  # distances at which Python and JavaScript are compared

STACKS: dict[str, Any] = catalogue("stacks")


def query_scale(n_keys: int) -> float:
    """What Llama 4 multiplies the scores of the n-th query by, in layers that do not rotate: 1 + 0.1·ln(1 + ⌊n/8192⌋).

    Source: `Llama4TextAttention` of transformers, attn_temperature_tuning, with attn_scale and floor_scale by default.

    >>> [round(query_scale(n), 3) for n in (8191, 8192, 131_072, 1_048_576)]
    [1.0, 1.069, 1.283, 1.486]
    """
    return 1 + ATTN_SCALE * math.log1p(n_keys // FLOOR_SCALE)


def new_pairs(distance: int, frequencies: np.ndarray, trained_length: int) -> int:
    """How many pairs stand at an angle, at a distance, that no distance below the trained length has.

    Only pairs that have not turned once by then have anything left to meet; `frequencies` has shape (pairs,), in
    radians per token. The share over many distances is that of `posenc.analysis.unseen_angles`.

    >>> new_pairs(500, np.array([1.0, 0.01, 0.001, 0.0]), trained_length=400)
    2
    """
    last, at = angles(trained_length - 1, frequencies), angles(distance, frequencies) % (2 * np.pi)
    return int(np.sum((last < 2 * np.pi) & (at > last + TOLERANCE) & (at < 2 * np.pi - TOLERANCE)))


def frequencies_of(numbers: dict[str, Any], match_pairs: str) -> np.ndarray:
    """The frequencies of the pairs in which a match lies, all or the slower half; 0 for those that do not turn.

    >>> frequencies_of({"pairs": 4, "turning": 3, "base": 10_000}, "slow").round(3).tolist()
    [0.01, 0.0]
    """
    pairs = numbers["pairs"]
    frequencies = np.where(np.arange(pairs) < numbers["turning"], inv_freq(2 * pairs, numbers["base"]), 0.0)
    return frequencies[pairs // 2 :] if match_pairs == "slow" else frequencies


def _numbers(widget: LayerStack) -> dict[str, Any]:
    numbers: dict[str, Any] = STACKS[widget.model]
    return numbers


def _pattern(widget: LayerStack) -> str:
    """The letter of each layer, from the bottom up."""
    period, count = _numbers(widget)["period"], _numbers(widget)["count"]
    return widget.layers or (count * period)[:count]


def _at(widget: LayerStack) -> int:
    """The distance of the key that matches: the text ends where it ends."""
    return min(widget.distance, widget.context - 1)


def _of(widget: LayerStack, letter: str) -> dict[str, Any]:
    """A layer of a kind: its shares, and pairs at unseen angles."""
    seen = min(widget.context, _numbers(widget)["window"]) if letter in LOCAL else widget.context
    frequencies = frequencies_of(_numbers(widget)["local" if letter in LOCAL else "full"], widget.match_pairs)
    margin = widget.margin
    if letter not in ROTATES:
        frequencies = np.zeros_like(frequencies)
        margin *= query_scale(widget.context) if widget.temperature else 1
    at = np.array([*BACK, 1, _at(widget)])
    shares = np.where(at < seen, match_weight(margin * decay(at, frequencies), seen), 0.0)
    return {
        "curve": shares[:-2],
        "near": float(shares[-2]),
        "share": float(shares[-1]),
        "seen": _at(widget) < seen,
        "fresh": new_pairs(_at(widget), frequencies, _numbers(widget)["length"]) if _at(widget) < seen else 0,
        "pairs": len(frequencies),
    }


def values(widget: LayerStack) -> dict[str, Any]:
    """For each layer, from the bottom up: its shares, whether it sees the matching key, and pairs at unseen angles."""
    kinds = {letter: _of(widget, letter) for letter in dict.fromkeys(_pattern(widget))}
    layers = [kinds[letter] for letter in _pattern(widget)]
    return {"pattern": _pattern(widget)} | {name: [layer[name] for layer in layers] for name in layers[0]}

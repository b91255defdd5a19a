"""What LearnedDistanceBias draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.frequencies import inv_freq
from posenc.lab.distance_bias import clamped, distance_bias, most_negative_pairs
from posenc.widgets import LearnedDistanceBias
from posenc.widgets.learned_distance_bias import HEAD_DIM, LONGEST, TRAINED, _run

BIN = 16  # distances of one cell of the sequence


def _biases(widget: LearnedDistanceBias) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frequencies, E[q k̄] of the layer by head, and the distance bias of each pair, shape (pairs, distances)."""
    parts = np.array(_run(widget.base, widget.seed)["products"])[int(widget.layer) - 1]
    products, frequencies = parts[..., 0] + 1j * parts[..., 1], inv_freq(HEAD_DIM, float(widget.base))
    chosen = products.mean(axis=0) if widget.head == "mean" else products[int(widget.head) - 1]
    return frequencies, products, distance_bias(chosen, frequencies, np.arange(LONGEST + 1))


def _weights(bias: np.ndarray, length: int) -> np.ndarray:
    """The attention weights of so many keys of the same content, in sums of BIN distances."""
    powers = np.where(np.arange(LONGEST) < length, np.exp(bias[:LONGEST]), 0)
    return (powers / powers.sum()).reshape(-1, BIN).sum(axis=1)


def values(widget: LearnedDistanceBias) -> dict[str, Any]:
    """The bias of the pair, of all, of all with some clamped, their weights; b = −Im E[q k̄] by pair, and losses."""
    frequencies, products, biases = _biases(widget)
    slow = [pair for pair in range(HEAD_DIM // 2) if frequencies[pair] * TRAINED < 2 * np.pi]
    negative = most_negative_pairs(products, frequencies, TRAINED)
    clamped_pairs = {
        "none": [],
        "most_negative": negative,
        "other_slow": [pair for pair in slow if pair not in negative],
        "fast": [pair for pair in range(HEAD_DIM // 2) if pair not in slow],
        "all": list(range(HEAD_DIM // 2)),
    }[widget.clamp]
    kept = biases.copy()
    kept[clamped_pairs] = clamped(biases[clamped_pairs], TRAINED)
    chosen = products.mean(axis=0) if widget.head == "mean" else products[int(widget.head) - 1]
    run = _run(widget.base, widget.seed)
    return {
        "pair": biases[widget.pair],
        "all": biases.sum(axis=0),
        "clamped": kept.sum(axis=0),
        "weights": _weights(biases.sum(axis=0), widget.length),
        "clamped_weights": _weights(kept.sum(axis=0), widget.length),
        "b": -chosen.imag,
        "clamped_pairs": clamped_pairs,
        "most_negative": negative,
        "losses": run["losses"],
        "within": run["within"],
    }

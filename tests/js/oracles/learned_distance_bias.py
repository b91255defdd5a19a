"""What LearnedDistanceBias draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.frequencies import inv_freq
from posenc.lab.distance_bias import clamped, distance_bias, most_negative_pairs
from posenc.widgets import LearnedDistanceBias
from posenc.widgets.learned_distance_bias import HEAD_DIM, TRAINED, _run

DISTANCES = 4 * TRAINED


def _waves(widget: LearnedDistanceBias) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frequencies, E[q k̄] of the layer by head, and the distance bias of each pair, shape (pairs, distances)."""
    parts = np.array(_run(widget.base, widget.seed)["products"])[int(widget.layer) - 1]
    products, frequencies = parts[..., 0] + 1j * parts[..., 1], inv_freq(HEAD_DIM, float(widget.base))
    chosen = products.mean(axis=0) if widget.head == "mean" else products[int(widget.head) - 1]
    return frequencies, products, distance_bias(chosen, frequencies, np.arange(DISTANCES + 1))


def values(widget: LearnedDistanceBias) -> dict[str, Any]:
    """The bias of the pair, of all pairs, and of all with some clamped; b = −Im E[q k̄] by pair, and losses."""
    frequencies, products, waves = _waves(widget)
    slow = [pair for pair in range(HEAD_DIM // 2) if frequencies[pair] * TRAINED < 2 * np.pi]
    minus = most_negative_pairs(products, frequencies, TRAINED)
    held_pairs = {
        "none": [],
        "minus": minus,
        "slow": [pair for pair in slow if pair not in minus],
        "fast": [pair for pair in range(HEAD_DIM // 2) if pair not in slow],
        "all": list(range(HEAD_DIM // 2)),
    }[widget.hold]
    kept = waves.copy()
    kept[held_pairs] = clamped(waves[held_pairs], TRAINED)
    chosen = products.mean(axis=0) if widget.head == "mean" else products[int(widget.head) - 1]
    run = _run(widget.base, widget.seed)
    return {
        "pair": waves[widget.pair],
        "all": waves.sum(axis=0),
        "held": kept.sum(axis=0),
        "b": -chosen.imag,
        "held_pairs": held_pairs,
        "minus": minus,
        "losses": run["losses"][widget.length],
        "within": run["within"],
    }

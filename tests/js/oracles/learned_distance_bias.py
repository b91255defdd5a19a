"""What LearnedDistanceBias draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.frequencies import inv_freq
from posenc.lab.distance_bias import clamped, distance_bias, most_negative_pairs
from posenc.widgets import LearnedDistanceBias
from posenc.widgets.learned_distance_bias import HEAD_DIM, LONGEST, TRAINED, _run


def values(widget: LearnedDistanceBias) -> dict[str, Any]:
    """The bias of the pair, of all and of all with some clamped, which those are, and the losses."""
    run, frequencies = _run(widget.base), inv_freq(HEAD_DIM, float(widget.base))
    products = np.array(run["products"])[int(widget.layer) - 1] @ [1, 1j]
    biases = distance_bias(products, frequencies, np.arange(LONGEST + 1))
    pairs = range(HEAD_DIM // 2)
    slow = [pair for pair in pairs if frequencies[pair] * TRAINED < 2 * np.pi]
    negative = most_negative_pairs(products[None], frequencies, TRAINED)
    clamped_pairs = {
        "none": [],
        "most_negative": negative,
        "other_slow": [pair for pair in slow if pair not in negative],
        "zero": negative,
        "mask": list(pairs),
    }[widget.clamp]
    kept = biases.copy()
    if widget.clamp == "zero":
        kept[clamped_pairs, TRAINED:] = 0
    else:
        kept[clamped_pairs] = clamped(biases[clamped_pairs], TRAINED)
    if widget.clamp == "mask":
        kept = kept[:, :TRAINED]
    return {
        "pair": biases[widget.pair],
        "all": biases.sum(axis=0),
        "clamped": kept.sum(axis=0),
        "clamped_pairs": clamped_pairs,
        "most_negative": negative,
        "losses": run["losses"],
        "within": run["within"],
    }

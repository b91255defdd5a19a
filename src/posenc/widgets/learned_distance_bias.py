"""LearnedDistanceBias: the learned distance bias of trained heads, pair by pair, and the loss if it is clamped."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from posenc.lab.measured import benchmarks, statistics
from posenc.lab.real_results import parts
from posenc.widgets._base import Choice, Control, Explorable, Switch

TRAINED, LONGEST = 128, 256  # tokens
HEAD_DIM = 32
WINDOWS = 80  # of text, over which every loss is a mean
# What is changed past L: the control's options, and their names in two sets of measurements.
_CLAMPED = {"none": "none", "most_negative": "most negative", "other_slow": "other slow"}
_CHANGED = {"zero": "zeroed", "mask": "window"}


@cache
def _run(base: str) -> dict[str, Any]:
    """One model: E[q k̄], averaged over heads, as pairs of numbers, and losses at 2L and within the trained length."""
    wanted = {"scheme": f"rope_{base}", "seed": 0, "task": "text"}
    run = f"two_layers-text-rope_{base}-0"
    content = statistics()[f"{run}/content"].mean(axis=1)  # (layers, pairs)
    changed = parts("tiny")[run]  # by window

    def loss(kind: str, length: int, **chosen: str) -> float:
        asked = wanted | {"kind": kind, "probe": "text", "profile": "two_layers", "length": length} | chosen
        return float(benchmarks().values(**asked)[1][0, :WINDOWS].mean())

    return {
        "products": np.stack([content.real, content.imag], axis=-1).astype(float).round(3).tolist(),
        "losses": {key: loss("distance_bias", LONGEST, chosen=word) for key, word in _CLAMPED.items()}
        | {key: float(changed[word].mean()) for key, word in _CHANGED.items()},
        "within": loss("plain", TRAINED),
    }


class LearnedDistanceBias(Explorable):
    """The distance bias of a trained model, pair by pair and clamped, and the losses measured with it clamped."""

    module = "learned_distance_bias"
    room = (670, 721)
    main = ("clamp", "pair")

    clamp = Choice("none", chips=True, needs={"show_pair": [False]})
    pair = Control(13, 0, HEAD_DIM // 2 - 1, "integer", needs="show_pair")
    show_pair = Switch(False)
    base = Choice("100", chips=True)
    layer = Choice("2", chips=True)

    @classmethod
    def data(cls) -> dict[str, Any]:
        """By base, what `_run` gives."""
        return {"runs": {base: _run(base) for base in cls.catalogue["controls"]["base"]["options"]}}

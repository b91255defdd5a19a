"""LearnedDistanceBias: the learned distance bias of trained heads, pair by pair, and the loss if it is clamped."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from posenc.lab.measured import benchmarks, statistics
from posenc.widgets._base import Choice, Control, Explorable, Switch

TRAINED, LONGEST = 128, 256  # tokens
HEAD_DIM = 32
WINDOWS = 200  # of text, for the losses with clamped biases
# Which pairs are clamped: the control's options, and their names in the measurements.
_CHOSEN = {
    "none": "none",
    "most_negative": "most negative",
    "other_slow": "other slow",
    "fast": "fast",
    "all": "all",
}


@cache
def _run(base: str, seed: str) -> dict[str, Any]:
    """One model: E[q k̄] as pairs of numbers, the measured losses, and the loss within the trained length."""
    name, wanted = f"two_layers-text-rope_{base}-{seed}", {"scheme": f"rope_{base}", "seed": int(seed), "task": "text"}
    content = statistics()[f"{name}/content"]
    found = benchmarks().select(kind="distance_bias", profile="two_layers", length=LONGEST, **wanted)
    losses = {one["chosen"]: one["loss"] for one in found}
    asked = wanted | {"kind": "plain", "probe": "text", "profile": "two_layers", "length": TRAINED}
    _, plain = benchmarks().values(**asked)  # (seeds, windows)
    parts = np.stack([content.real, content.imag], axis=-1).astype(float).round(3)  # (layers, heads, pairs, 2)
    return {
        "products": parts.tolist(),
        "losses": {key: losses[word] for key, word in _CHOSEN.items()},
        "within": float(plain[0, :WINDOWS].mean()),
    }


class LearnedDistanceBias(Explorable):
    """The distance bias of a trained model's heads, the attention that it alone gives, and the loss with it clamped."""

    module = "learned_distance_bias"
    room = (704, 726)
    main = ("clamp",)

    clamp = Choice("none", chips=True)
    length = Control(LONGEST, 1, LONGEST, "integer")
    show_pair = Switch(False)
    pair = Control(7, 0, HEAD_DIM // 2 - 1, "integer", needs="show_pair")
    base = Choice("10000", chips=True)
    layer = Choice("2", chips=True)
    head = Choice("mean")
    seed = Choice("0")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """By base and seed, what `_run` gives."""
        bases, seeds = (list(cls.catalogue["controls"][name]["options"]) for name in ("base", "seed"))
        return {"runs": {f"{base} {seed}": _run(base, seed) for base in bases for seed in seeds}}

"""MeanWave: the learned distance bias of trained heads, pair by pair, and the loss if it is clamped."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from posenc.frequencies import inv_freq, rotations
from posenc.lab.distance_bias import clamped, distance_bias, most_negative_pairs
from posenc.lab.measured import benchmarks, statistics
from posenc.widgets._base import Choice, Control, Explorable

TRAINED = 128  # tokens
DISTANCES = 4 * TRAINED
HEAD_DIM = 32
WINDOWS = 200  # of text, for the losses with clamped biases
# Which pairs are clamped: the control's options, and their names in the measurements.
_CHOSEN = {"none": "none", "minus": "most negative", "slow": "other slow", "fast": "fast", "all": "all"}


@cache
def _run(base: str, seed: str) -> dict[str, Any]:
    """One model: E[q k̄] as pairs of numbers, the measured losses, and the loss within the trained length."""
    name, wanted = f"two_layers-text-rope_{base}-{seed}", {"scheme": f"rope_{base}", "seed": int(seed), "task": "text"}
    content = statistics()[f"{name}/content"]
    found = benchmarks().select(kind="distance_bias", profile="two_layers", **wanted)
    losses = {str(one["length"]): {} for one in found}
    for one in found:
        losses[str(one["length"])][one["chosen"]] = one["loss"]
    asked = wanted | {"kind": "plain", "probe": "text", "profile": "two_layers", "length": TRAINED}
    _, plain = benchmarks().values(**asked)  # (seeds, windows)
    parts = np.stack([content.real, content.imag], axis=-1).astype(float).round(3)  # (layers, heads, pairs, 2)
    return {
        "products": parts.tolist(),
        "losses": {length: {key: row[word] for key, word in _CHOSEN.items()} for length, row in losses.items()},
        "within": float(plain[0, :WINDOWS].mean()),
    }


class MeanWave(Explorable):
    """The distance bias of a trained model's heads, of one pair and of all, and the loss with it clamped."""

    module = "mean_wave"
    room = (796, 1058)
    main = ("hold", "pair")

    hold = Choice("none", chips=True)
    pair = Control(7, 0, HEAD_DIM // 2 - 1, "integer")
    base = Choice("10000", chips=True)
    layer = Choice("2", chips=True)
    head = Choice("mean")
    length = Choice("256", chips=True)
    seed = Choice("0")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """By base and seed, what `_run` gives."""
        bases, seeds = (list(cls.catalogue["controls"][name]["options"]) for name in ("base", "seed"))
        return {"runs": {f"{base} {seed}": _run(base, seed) for base in bases for seed in seeds}}

    def _waves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Frequencies, E[q k̄] of the layer by head, and the distance bias of each pair, shape (pairs, distances)."""
        parts = np.array(_run(self.base, self.seed)["products"])[int(self.layer) - 1]
        products, frequencies = parts[..., 0] + 1j * parts[..., 1], inv_freq(HEAD_DIM, float(self.base))
        chosen = products.mean(axis=0) if self.head == "mean" else products[int(self.head) - 1]
        return frequencies, products, distance_bias(chosen, frequencies, np.arange(DISTANCES + 1))

    def values(self) -> dict[str, Any]:
        """The bias of the pair, of all pairs, and of all with some clamped; b = −Im E[q k̄] by pair, and losses."""
        frequencies, products, waves = self._waves()
        slow = [pair for pair in range(HEAD_DIM // 2) if frequencies[pair] * TRAINED < 2 * np.pi]
        minus = most_negative_pairs(products, frequencies, TRAINED)
        held_pairs = {
            "none": [],
            "minus": minus,
            "slow": [pair for pair in slow if pair not in minus],
            "fast": [pair for pair in range(HEAD_DIM // 2) if pair not in slow],
            "all": list(range(HEAD_DIM // 2)),
        }[self.hold]
        kept = waves.copy()
        kept[held_pairs] = clamped(waves[held_pairs], TRAINED)
        chosen = products.mean(axis=0) if self.head == "mean" else products[int(self.head) - 1]
        run = _run(self.base, self.seed)
        return {
            "pair": waves[self.pair],
            "all": waves.sum(axis=0),
            "held": kept.sum(axis=0),
            "b": -chosen.imag,
            "held_pairs": held_pairs,
            "minus": minus,
            "losses": run["losses"][self.length],
            "within": run["within"],
        }

    def facts(self) -> dict[str, Any]:
        values = self.values()
        frequencies = inv_freq(HEAD_DIM, float(self.base))
        return {
            "trained": TRAINED,
            "b_pair": values["b"][self.pair],
            "turned": float(rotations(TRAINED, frequencies)[self.pair]),
            "at_trained": values["pair"][TRAINED],
            "at_far": values["pair"][2 * TRAINED],
            "as_it_is": values["losses"]["none"],
            "loss": values["losses"][self.hold],
            "within": values["within"],
            "is_minus": self.pair in values["minus"],
        }

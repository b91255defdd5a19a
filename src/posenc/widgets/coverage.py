"""Coverage: which pairs complete a rotation in training, and which angles past it are unseen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc import analysis
from posenc.configs import MODELS, ModelConfig
from posenc.frequencies import inv_freq, rotations
from posenc.widgets._base import Choice, Control, Explorable

# An angle exactly at the tolerance counts as met, whichever way Python and JavaScript round it.
_A_HAIR_MORE = 1 + 1e-7


def _preset(config: ModelConfig) -> dict[str, Any]:
    """Base, rotating width and trained length of a model, before any scaling."""
    parameters = config.rope.get("rope_parameters", config.rope)
    return {
        "base": float(parameters["rope_theta"]),
        "dim": config.rotary_dim,
        "trained": config.original_max_position_embeddings,
    }


class Coverage(Explorable):
    """Every pair as a ring of the angles that training has met and that a longer text adds.

    `pair` stands below as a large ring; beyond the last pair, the last.
    """

    module = "coverage"
    room = (750, 967)
    main = ("used", "model")

    model = Choice("Llama-2-7b-hf", presets={name: _preset(config) for name, config in MODELS.items()})
    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(128, 2, 256, "even")
    trained = Control(4096, 16, 65_536, "tokens")
    used = Control(8192, 16, 131_072, "tokens")
    tolerance = Control(0.01, 0.001, 0.5, "log")
    chart = Choice("new")
    pair = Control(50, 0, 127, "integer")

    def values(self) -> dict[str, Any]:
        """Rotations of each pair in training and in use, and its fraction of unseen angles; counts of pairs."""
        frequencies = inv_freq(self.dim, self.base)
        new = np.zeros(len(frequencies))
        if self.used > self.trained:
            new = analysis.unseen_angles(frequencies, self.trained, self.used, self.tolerance * _A_HAIR_MORE)
        return {
            "trained_turns": rotations(self.trained, frequencies),
            "used_turns": rotations(self.used, frequencies),
            "new": new,
            "turned": analysis.pairs_reaching(frequencies, self.trained, 2 * math.pi),
            "quarter": analysis.pairs_reaching(frequencies, self.trained, math.pi / 2),
        }

    def facts(self) -> dict[str, Any]:
        values, pairs = self.values(), self.dim // 2
        new = values["new"][values["new"] > 0]
        return {
            "pairs": pairs,
            "unturned": pairs - values["turned"],
            "under_quarter": pairs - values["quarter"],
            "fresh": new.size,
            "average": 100 * new.mean() if new.size else None,
        }

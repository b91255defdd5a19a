"""Coverage: which pairs of a rotary code have turned fully in training, and which angles are new past it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc import analysis
from posenc.configs import MODELS, ModelConfig
from posenc.frequencies import inv_freq, turns
from posenc.widgets._base import Choice, Control, Explorable
from posenc.widgets._numbers import fixed, grouped, whole

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
    """Every pair as a ring of the angles that training has met and that a longer text adds."""

    module = "coverage"
    height = 960

    model = Choice("Llama-2-7b-hf", presets={name: _preset(config) for name, config in MODELS.items()})
    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(128, 2, 256, "even")
    trained = Control(4096, 16, 65_536, "tokens")
    used = Control(8192, 16, 131_072, "tokens")
    tolerance = Control(0.01, 0.001, 0.5, "log")

    def values(self) -> dict[str, Any]:
        """Turns of each pair in training and in use, and its share of new angles past training; counts of pairs."""
        frequencies = inv_freq(self.dim, self.base)
        new = np.zeros(len(frequencies))
        if self.used > self.trained:
            new = analysis.uncovered(frequencies, self.trained, self.used, self.tolerance * _A_HAIR_MORE)
        return {
            "trained_turns": turns(self.trained, frequencies),
            "used_turns": turns(self.used, frequencies),
            "new": new,
            "turned": analysis.pairs_reaching(frequencies, self.trained, 2 * math.pi),
            "quarter": analysis.pairs_reaching(frequencies, self.trained, math.pi / 2),
        }

    def finding(self) -> str:
        values, pairs = self.values(), self.dim // 2
        turned, quarter = values["turned"], values["quarter"]
        first = (
            f"With base {grouped(self.base)}, {pairs - turned} of {pairs} pairs have not completed a turn within "
            f"{whole(self.trained)} tokens, and {pairs - quarter} not even a quarter."
        )
        if self.used <= self.trained:
            return f"{first} A text of {whole(self.used)} tokens is no longer than that: no angle is new."
        new = values["new"][values["new"] > 0]
        if new.size == 0:
            return f"{first} Up to {whole(self.used)} tokens no pair meets a new angle."
        return (
            f"{first} Up to {whole(self.used)} tokens {new.size} of {pairs} pairs meet{'s' if new.size == 1 else ''} "
            f"new angles, on average at {fixed(100 * new.mean(), 1)} % of the positions past training."
        )

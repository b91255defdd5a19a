"""DecayExplorer: the all-ones score of RoPE against distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import abel_bound, decay, decay_law, decay_logarithm, expected_score
from posenc.frequencies import inv_freq
from posenc.widgets._base import Control, Explorable, Switch


class DecayExplorer(Explorable):
    """S(m), its law and its bound against distance, and the score of random queries and keys.

    Everything is over the score of an aligned query and key at distance 0.
    """

    module = "decay_explorer"
    room = (714, 933)
    main = ("base", "distance")

    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(128, 2, 256, "even")
    distance = Control(4096, 8, 65_536, "tokens")
    correlation = Control(0.8, -1, 1, "hundredths", needs="show_score")
    show_law = Switch(True)
    show_logarithm = Switch(False)
    show_bound = Switch(False)
    show_score = Switch(False)
    log_distance = Switch(True)

    def values(self) -> dict[str, Any]:
        """Score, and whatever is switched on, at every whole distance from 0; NaN where the logarithm is not drawn."""
        distances, frequencies = np.arange(self.distance + 1), inv_freq(self.dim, self.base)
        values = {"score": decay(distances, frequencies)}
        if self.show_law:
            values["law"] = decay_law(distances, self.base)
        if self.show_logarithm:
            drawn = (distances >= 10) & (distances <= self.base / 10)
            values["logarithm"] = np.full(len(distances), np.nan)
            if drawn.any():
                values["logarithm"][drawn] = decay_logarithm(distances[drawn], self.base)
        if self.show_bound:
            values["bound"] = abel_bound(distances, frequencies) / abel_bound(0, frequencies)
        if self.show_score:
            mean, variance = expected_score(distances, frequencies, self.correlation)
            values["low"], values["high"] = (mean - variance**0.5) / self.dim, (mean + variance**0.5) / self.dim
        return values

    def facts(self) -> dict[str, Any]:
        values, last = self.values(), self.distance
        score = values["score"]
        rises, below = np.flatnonzero(np.diff(score) > 0), np.flatnonzero(score < 0)
        facts = {
            "score": score[last],
            "pairs": self.dim // 2,
            "rises": rises.size > 0,
            "rise": int(rises[0]) if rises.size else None,
            "negative": below.size > 0,
            "below": int(below[0]) if below.size else None,
        }
        if self.show_law:
            facts["law"] = values["law"][last]
        if self.show_score:
            low, high = values["low"][last], values["high"][last]
            facts |= {"mean": (low + high) / 2, "spread": (high - low) / 2}
        return facts

"""DecayExplorer: the all-ones score of a rotary code against distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import abel_bound, decay, decay_law, decay_logarithm, expected_score
from posenc.frequencies import inv_freq
from posenc.widgets._base import Control, Explorable, Switch, fixed, grouped, whole


class DecayExplorer(Explorable):
    """S(m), its law and its bound against distance, and the score of random queries and keys.

    Everything is over the score of an aligned query and key at distance 0.
    """

    module = "decay_explorer"
    title = "Decay explorer"
    description = "The all-ones score of a rotary code against distance, with sliders for base, width and range."
    height = 760

    base = Control(10_000.0, "base", 1, 1e8, "log")
    dim = Control(128, "width d", 2, 256, "even")
    distance = Control(4096, "distances up to", 8, 65_536, "tokens", "tokens")
    correlation = Control(0.8, "correlation ρ of q and k", -1, 1, "hundredths", needs="show_score")
    show_law = Switch(True, "law")
    show_logarithm = Switch(False, "logarithm")
    show_bound = Switch(False, "RoFormer's bound")
    show_score = Switch(False, "score of random q and k")
    log_distance = Switch(False, "logarithmic distance")

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

    def finding(self) -> str:
        values, last = self.values(), self.distance
        score = values["score"]
        parts = []
        if self.base == 1:
            parts.append("With base 1 every pair turns alike: S(m) is cos m and never decays.")
        law = f", the law {fixed(values['law'][last], 3)}" if self.show_law else ""
        parts.append(f"At {whole(last)} tokens S is {fixed(score[last], 3)}{law}.")
        rises, below = np.flatnonzero(np.diff(score) > 0), np.flatnonzero(score < 0)
        parts.append(
            f"Of {self.dim // 2} pairs with base {grouped(self.base)}, the sum "
            f"{f'first rises after {whole(int(rises[0]))}' if rises.size else 'falls all the way'} and "
            f"{f'first drops below 0 at {whole(int(below[0]))}' if below.size else 'stays at or above 0'}."
        )
        if self.show_score:
            mean, spread = (values["low"] + values["high"])[last] / 2, (values["high"] - values["low"])[last] / 2
            parts.append(
                f"Queries and keys of correlation {fixed(self.correlation, 2)} score "
                f"{fixed(mean, 3)} ± {fixed(spread, 3)} there."
            )
        return " ".join(parts)

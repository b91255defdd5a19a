"""ThreeDoors: two words, three injection points for their positions, and what the score depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.absolute import sinusoidal
from posenc.bias import alibi, alibi_slopes
from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotate
from posenc.widgets._base import Choice, Control, Explorable, Switch

QUERY, KEY = "sat", "cat"
VECTORS = {QUERY: (1.1, 0.2, 0.7, 0.5), KEY: (0.9, 0.5, 0.3, 0.8)}  # query and key are the words themselves
DIM, BASE = 4, 100.0
HEADS, HEAD = 4, 1  # of so many heads that one has ALiBi's slope of 1/16
LAST = 32  # the last place
ROUNDING = 1e-9
Place = int | np.ndarray


class ThreeDoors(Explorable):
    """The score of two words at all positions: with a sinusoidal encoding added, with RoPE, or with ALiBi."""

    module = "three_doors"
    room = (647, 829)
    main = ("together",)

    door = Choice("input", chips=True)
    together = Switch(False)
    m = Control(14, 0, LAST, "integer")
    n = Control(6, 0, LAST, "integer")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The two words and the vector of each."""
        return {"query": list(VECTORS[QUERY]), "key": list(VECTORS[KEY])}

    def _met(self, word: str, place: Place) -> np.ndarray:
        """The word's vector in the dot product, at each position: shape (…, DIM)."""
        vector = np.broadcast_to(np.array(VECTORS[word]), (*np.shape(place), DIM))
        if self.door == "input":
            return vector + sinusoidal(np.asarray(place), DIM, BASE)
        return rotate(vector, angles(place, inv_freq(DIM, BASE)), "interleaved") if self.door == "query_key" else vector

    def _score(self, m: Place, n: Place) -> Any:
        """The logit of a query at position m and a key at position n."""
        score = np.sum(self._met(QUERY, m) * self._met(KEY, n), axis=-1) / np.sqrt(DIM)
        if self.door != "logits":
            return score
        offsets = np.atleast_2d(np.asarray(n) - m)
        return score + alibi(offsets, alibi_slopes(HEADS)[HEAD : HEAD + 1], symmetric=True).reshape(np.shape(score))

    def values(self) -> dict[str, Any]:
        """The score; with both words shifted to every position; and with the query at every position."""
        starts = np.arange(LAST + 1 - abs(self.m - self.n))  # of the first of the two
        low = min(self.m, self.n)
        return {
            "score": float(self._score(self.m, self.n)),
            "together": self._score(starts + self.m - low, starts + self.n - low),
            "apart": self._score(np.arange(LAST + 1), np.full(LAST + 1, self.n)),
        }

    def facts(self) -> dict[str, Any]:
        values = self.values()
        together, apart = values["together"], values["apart"]
        return {
            "score": values["score"],
            "distance": abs(self.m - self.n),
            "low": float(together.min()),
            "high": float(together.max()),
            "least": float(apart.min()),
            "most": float(apart.max()),
            "stays": float(np.ptp(together)) <= ROUNDING,
            "blind": float(np.ptp(apart)) <= ROUNDING,
        }

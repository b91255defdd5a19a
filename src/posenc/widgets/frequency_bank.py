"""FrequencyBank: every pair of RoPE as a rotation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc.analysis import fingerprint_difference, fingerprint_similarity
from posenc.frequencies import inv_freq
from posenc.widgets._base import Choice, Control, Explorable


class FrequencyBank(Explorable):
    """Every pair as a dial, its cosine at a distance, the running mean, and what tells two distances apart.

    `pair` stands beside the fastest as a large dial; beyond the last pair, the last.
    """

    module = "frequency_bank"
    room = (750, 967)
    main = ("distance", "chart")

    distance = Control(500, 0, 65_536, "tokens")
    chart = Choice("cosines", chips=True)
    other = Control(501, 0, 65_536, "tokens", needs={"chart": ["difference"]})
    pair = Control(44, 0, 127, "integer")
    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(128, 2, 256, "even")

    def values(self) -> dict[str, Any]:
        """Turns, cosine and running mean of each pair, the difference summed from fast to slow, and the similarity."""
        frequencies = inv_freq(self.dim, self.base)
        cosine = np.cos(self.distance * frequencies)
        same = self.distance == self.other
        return {
            "turns": self.distance * frequencies / (2 * np.pi),
            "cosine": cosine,
            "running_mean": np.cumsum(cosine) / np.arange(1, self.dim // 2 + 1),
            "share_so_far": None if same else np.cumsum(fingerprint_difference(self.distance, self.other, frequencies)),
            "similarity": float(fingerprint_similarity(self.distance, self.other, frequencies)),
        }

    def facts(self) -> dict[str, Any]:
        values, pairs = self.values(), self.dim // 2
        shares, fastest = values["share_so_far"], math.ceil(pairs / 8)
        turned = int(np.sum(values["turns"] >= 1))
        return {
            "pairs": pairs,
            "turned": turned,
            "unturned": pairs - turned,
            "rounds": math.floor(values["turns"][0]),
            "mean": values["running_mean"][-1],
            "same": shares is None,
            "similarity": values["similarity"],
            "fastest": fastest,
            "share": None if shares is None else 100 * shares[fastest - 1],
        }

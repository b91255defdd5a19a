"""FrequencyBank: every pair of RoPE as a rotation."""

from __future__ import annotations

from posenc.widgets._base import Choice, Control, Explorable


class FrequencyBank(Explorable):
    """Every pair as a dial, its cosine at a distance, the running mean, and what tells two distances apart.

    `pair` stands beside the fastest as a large dial; beyond the last pair, the last.
    """

    module = "frequency_bank"
    room = (701, 745)
    main = ("distance", "chart")

    distance = Control(500, 0, 65_536, "tokens")
    chart = Choice("none", chips=True)
    other = Control(501, 0, 65_536, "tokens", needs={"chart": ["difference"]})
    pair = Control(44, 0, 127, "integer")
    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(128, 2, 256, "even")

"""DecayExplorer: the score of two equal vectors under RoPE against distance."""

from __future__ import annotations

from posenc.widgets._base import Control, Explorable, Switch


class DecayExplorer(Explorable):
    """S(m) against distance: its range, its limit for infinitely many pairs, its bound, and random queries and keys.

    Everything is over the score of an aligned query and key at distance 0.
    """

    module = "decay_explorer"
    room = (705, 732)
    main = ("base", "distance")

    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(128, 2, 256, "even")
    distance = Control(4096, 8, 65_536, "tokens")
    correlation = Control(0.8, -1, 1, "hundredths", needs="show_score")
    show_logarithm = Switch(False)
    show_bound = Switch(False)
    show_score = Switch(False)
    log_distance = Switch(True)

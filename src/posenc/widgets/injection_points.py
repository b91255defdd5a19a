"""InjectionPoints: two words, three injection points for their positions, and what the score depends on."""

from __future__ import annotations

from typing import Any

from posenc.widgets._base import Choice, Control, Explorable, Switch

QUERY, KEY = "sat", "cat"
VECTORS = {QUERY: (1.1, 0.2, 0.7, 0.5), KEY: (0.9, 0.5, 0.3, 0.8)}  # query and key are the words themselves
LAST = 32  # the last position


class InjectionPoints(Explorable):
    """The score of two words at all positions: with a sinusoidal encoding added, with RoPE, or with ALiBi."""

    module = "injection_points"
    room = (635, 802)
    main = ("together",)

    injection_point = Choice("input", chips=True)
    together = Switch(False)
    m = Control(14, 0, LAST, "integer")
    n = Control(6, 0, LAST, "integer")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The two words and the vector of each."""
        return {"query": list(VECTORS[QUERY]), "key": list(VECTORS[KEY])}

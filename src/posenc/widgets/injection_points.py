"""InjectionPoints: six tokens, three injection points for their positions, and what the attention then depends on."""

from __future__ import annotations

from typing import Any

from posenc.widgets._base import Choice, Control, Explorable, Switch

WORDS = ("the", "cat", "sat", "on", "the", "mat")
QUERY, KEY = 2, 1  # “sat” attends, “cat” is dragged too
QUERY_VECTOR = (1.1, 0.2, 0.7, 0.5)
KEYS = {
    "the": (0.2, 0.1, 0.1, 0.1),
    "cat": (1.6, 0.8, 0.5, 1.2),
    "sat": (0.1, 0.3, 0.2, 0.1),
    "on": (0.1, -0.4, 0.2, -0.2),
    "mat": (0.7, 0.4, 0.2, 0.5),
}
LAST = 32  # the last position
OTHERS = (0, 0, 0, 16, 20, 24)  # how far the other words are from the first; 0 for query and key, which are dragged


class InjectionPoints(Explorable):
    """The attention of one token to six, wherever they are: with a sinusoidal encoding added, RoPE, or ALiBi."""

    module = "injection_points"
    room = (677, 695)
    main = ("together",)

    injection_point = Choice("none", chips=True)
    together = Switch(False)
    m = Control(16, 0, LAST, "integer")
    n = Control(8, 0, LAST, "integer")
    start = Control(4, 0, LAST - max(OTHERS), "integer")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The words, the query, and the key of each."""
        keys = [list(KEYS[word]) for word in WORDS]
        return {"words": list(WORDS), "query": list(QUERY_VECTOR), "keys": keys}

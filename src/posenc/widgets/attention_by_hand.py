"""AttentionByHand: six tokens, two matrices to edit, and the attention weights that result."""

from __future__ import annotations

from typing import Any

from posenc.widgets._base import Choice, Control, Explorable, Switch

WORDS = ("the", "cat", "sat", "on", "the", "mat")
ROWS = {  # how much of each feature is in a word, as in chapter 01
    "the": (0.1, 0.1, 0.0, 0.9),
    "cat": (1.0, 0.2, 0.1, 0.0),
    "sat": (0.2, 0.0, 1.0, 0.1),
    "on": (0.0, 0.1, 0.3, 1.0),
    "mat": (0.1, 1.0, 0.0, 0.1),
}


def _entry(default: float) -> Control:
    return Control(default, -4, 4, "hundredths", compact=True)


class AttentionByHand(Explorable):
    """Queries and keys of six words as arrows in a plane, made by W_Q and W_K, and all attention weights.

    A row of W_Q says what a feature looks for, how much of a creature and of an object; a row of W_K, what it is found
    as.
    """

    module = "attention_by_hand"
    room = (620, 737)
    main = ("token",)

    token = Choice("2", chips=True)
    scaled = Switch(True)
    q_creature_creature = _entry(0.0)
    q_creature_object = _entry(0.0)
    q_object_creature = _entry(0.0)
    q_object_object = _entry(0.0)
    q_action_creature = _entry(3.0)
    q_action_object = _entry(0.0)
    q_glue_creature = _entry(0.0)
    q_glue_object = _entry(3.0)
    k_creature_creature = _entry(1.0)
    k_creature_object = _entry(0.0)
    k_object_creature = _entry(0.0)
    k_object_object = _entry(1.0)
    k_action_creature = _entry(0.0)
    k_action_object = _entry(0.0)
    k_glue_creature = _entry(0.0)
    k_glue_object = _entry(0.0)

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The words, and the row of features of each."""
        return {"words": list(WORDS), "rows": [list(ROWS[word]) for word in WORDS]}

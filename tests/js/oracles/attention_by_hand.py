"""What AttentionByHand draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.attention import attention
from posenc.widgets import AttentionByHand
from posenc.widgets.attention_by_hand import ROWS, WORDS

FEATURES = ("creature", "object", "action", "glue")

HANDED_OVER = 3  # features of a value: all but the glue


def _matrix(widget: AttentionByHand, letter: str) -> np.ndarray:
    """W_Q or W_K, shape (features, 2)."""
    sides = ("creature", "object")
    return np.array([[getattr(widget, f"{letter}_{feature}_{side}") for side in sides] for feature in FEATURES])


def values(widget: AttentionByHand) -> dict[str, Any]:
    """Queries, keys, weights of all words, and what each gathers of the values."""
    rows = np.array([ROWS[word] for word in WORDS])  # (words, features)
    queries, keys = rows @ _matrix(widget, "q"), rows @ _matrix(widget, "k")  # (words, 2)
    attended = attention(queries, keys, rows[:, :HANDED_OVER], scale=None if widget.scaled else 1.0)
    return {"queries": queries, "keys": keys, "weights": attended.weights, "gathered": attended.output}

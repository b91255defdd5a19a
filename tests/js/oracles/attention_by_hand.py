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
    """Queries, keys, weights of all words, what each gathers of the values; and the weight that one more key would get,
    in the direction of the chosen query, at distances from −0.5 to 2.5 from the origin.
    """
    rows = np.array([ROWS[word] for word in WORDS])  # (words, features)
    queries, keys = rows @ _matrix(widget, "q"), rows @ _matrix(widget, "k")  # (words, 2)
    attended = attention(queries, keys, rows[:, :HANDED_OVER], scale=None if widget.scaled else 1.0)
    query, reaches = queries[int(widget.token)], np.linspace(-0.5, 2.5, 41)
    scale = np.sqrt(0.5) if widget.scaled else 1.0
    powers = np.exp(scale * np.linalg.norm(query) * reaches)
    field = powers / (powers + np.exp(scale * keys @ query).sum())
    return {"queries": queries, "keys": keys, "weights": attended.weights, "gathered": attended.output, "field": field}

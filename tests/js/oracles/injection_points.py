"""What InjectionPoints draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.absolute import sinusoidal
from posenc.bias import alibi, alibi_slopes
from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotate
from posenc.widgets import InjectionPoints
from posenc.widgets.injection_points import KEY, LAST, QUERY, VECTORS

DIM, BASE = 4, 100.0

HEADS, HEAD = 4, 1  # of so many heads that one has ALiBi's slope of 1/16

Position = int | np.ndarray


def _injected(widget: InjectionPoints, word: str, position: Position) -> np.ndarray:
    """The word's vector in the dot product, at each position: shape (…, DIM)."""
    vector = np.broadcast_to(np.array(VECTORS[word]), (*np.shape(position), DIM))
    if widget.injection_point == "input":
        return vector + sinusoidal(np.asarray(position), DIM, BASE)
    return (
        rotate(vector, angles(position, inv_freq(DIM, BASE)), "interleaved")
        if widget.injection_point == "query_key"
        else vector
    )


def _score(widget: InjectionPoints, m: Position, n: Position) -> Any:
    """The logit of a query at position m and a key at position n."""
    score = np.sum(_injected(widget, QUERY, m) * _injected(widget, KEY, n), axis=-1) / np.sqrt(DIM)
    if widget.injection_point != "logits":
        return score
    offsets = np.atleast_2d(np.asarray(n) - m)
    return score + alibi(offsets, alibi_slopes(HEADS)[HEAD : HEAD + 1], symmetric=True).reshape(np.shape(score))


def values(widget: InjectionPoints) -> dict[str, Any]:
    """The score; with both words shifted to every position; and with the query at every position."""
    starts = np.arange(LAST + 1 - abs(widget.m - widget.n))  # of the first of the two
    low = min(widget.m, widget.n)
    return {
        "score": float(_score(widget, widget.m, widget.n)),
        "together": _score(widget, starts + widget.m - low, starts + widget.n - low),
        "apart": _score(widget, np.arange(LAST + 1), np.full(LAST + 1, widget.n)),
    }

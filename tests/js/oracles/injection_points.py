"""What InjectionPoints draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.absolute import sinusoidal
from posenc.bias import alibi, alibi_slopes
from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotate
from posenc.widgets import InjectionPoints
from posenc.widgets.injection_points import KEY, KEYS, LAST, OTHERS, QUERY, QUERY_VECTOR, WORDS

DIM, BASE = 4, 100.0

HEADS, HEAD = 4, 1  # of so many heads that one has ALiBi's slope of 1/16

Position = int | np.ndarray


def _injected(widget: InjectionPoints, vector: tuple[float, ...], position: Position) -> np.ndarray:
    """A query or key as it enters the dot product, at each position: shape (…, DIM)."""
    rows = np.broadcast_to(np.array(vector), (*np.shape(position), DIM))
    if widget.injection_point == "input":
        return rows + sinusoidal(np.asarray(position), DIM, BASE)
    if widget.injection_point == "query_key":
        return rotate(rows, angles(position, inv_freq(DIM, BASE)), "interleaved")
    return rows


def _score(widget: InjectionPoints, m: Position, n: Position, key: int = KEY) -> Any:
    """The logit of the query at position m and a key at position n."""
    query, key_vector = _injected(widget, QUERY_VECTOR, m), _injected(widget, KEYS[WORDS[key]], n)
    score = np.sum(query * key_vector, axis=-1) / np.sqrt(DIM)
    if widget.injection_point != "logits":
        return score
    offsets = np.atleast_2d(np.asarray(n) - m)
    return score + alibi(offsets, alibi_slopes(HEADS)[HEAD : HEAD + 1], symmetric=True).reshape(np.shape(score))


def values(widget: InjectionPoints) -> dict[str, Any]:
    """The score, all weights; the score with both words shifted to every position; and with the query at every one."""
    places = {QUERY: widget.m, KEY: widget.n}
    logits = [_score(widget, widget.m, places.get(k, widget.start + far), k) for k, far in enumerate(OTHERS)]
    powers = np.exp(logits)
    starts = np.arange(LAST + 1 - abs(widget.m - widget.n))  # of the first of the two
    low = min(widget.m, widget.n)
    return {
        "score": float(_score(widget, widget.m, widget.n)),
        "weights": powers / powers.sum(),
        "together": _score(widget, starts + widget.m - low, starts + widget.n - low),
        "apart": _score(widget, np.arange(LAST + 1), np.full(LAST + 1, widget.n)),
    }

"""What BiasExplorer draws, by the package."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from posenc import bias
from posenc._arrays import Array
from posenc.absolute import relative_positions, sinusoidal
from posenc.attention import attention
from posenc.widgets import BiasExplorer
from posenc.widgets._base import normal_draws

HIDDEN, GROWTH = 32, 0.1  # the width of FIRE's network, and c

WIDTH, POSITIONS, SPAN = 4, 16, 32  # of a head, of Transformer-XL's code of a distance, of DeBERTa's table


def _normal(widget: BiasExplorer, kind: int, *shape: int, head: int | None = None) -> np.ndarray:
    """Standard normal numbers of one kind, of one head or of each, shape (heads, *shape)."""
    of_heads = range(widget.heads) if head is None else [head]
    draws = [normal_draws((widget.draw * 64 + h) * 8 + kind, math.prod(shape)).reshape(shape) for h in of_heads]
    return np.stack(draws)


def bias_of(widget: BiasExplorer, queries: np.ndarray, keys: np.ndarray) -> Array:
    """The bias between tokens at these positions, shape (heads, queries, keys); the queries are the last keys."""
    between = relative_positions(queries, keys)
    if widget.scheme == "alibi":
        return bias.alibi(between, bias.alibi_slopes(widget.heads))
    if widget.scheme == "t5":
        return bias.t5(between, np.array(widget.data()["t5"]).T, bidirectional=False)
    if widget.scheme == "sandwich":
        return bias.sandwich(between, widget.heads)
    if widget.scheme == "fire":
        return bias.fire(queries, keys, partial(_network, widget), GROWTH, float(widget.threshold))
    if widget.scheme.startswith("kerple"):
        first, second = _normal(widget, 0, 2).T
        if widget.scheme == "kerple_log":
            return bias.kerple(between, np.exp(first), np.exp(second), kind="logarithmic")
        return bias.kerple(between, np.exp(first - 2), 2 / (1 + np.exp(-second)), kind="power")
    tokens = widget.distance + 1
    query, key = _normal(widget, 0, tokens, WIDTH)[:, queries], _normal(widget, 1, tokens, WIDTH)[:, keys]
    if widget.scheme == "transformer_xl":
        code = sinusoidal(np.arange(len(keys) - 1, -1, -1), POSITIONS)
        of_distances = code @ _normal(widget, 2, POSITIONS, WIDTH) / math.sqrt(POSITIONS)  # (heads, keys, WIDTH)
        u, v = _normal(widget, 3, WIDTH), _normal(widget, 4, WIDTH)
        return bias.transformer_xl(query, key, of_distances, u, v).bias / math.sqrt(WIDTH)
    of_keys, of_queries = (2 * _normal(widget, kind, 2 * SPAN, WIDTH) for kind in (2, 3))
    return bias.deberta(query, key, of_keys, of_queries, between).bias / math.sqrt(3 * WIDTH)


def _network(widget: BiasExplorer, share: Array) -> Array:
    """FIRE's learned function of shares of a distance: a network with one layer of rectified units, 0 at 0."""
    slopes, offsets = _normal(widget, 1, 2, HIDDEN, head=0)[0]
    units = np.maximum(share * slopes + offsets, 0) - np.maximum(offsets, 0)  # (..., HIDDEN)
    return 5 * units @ _normal(widget, 0, HIDDEN).T / math.sqrt(HIDDEN)


def _weights(widget: BiasExplorer, biases: Array) -> Array:
    """The attention of queries whose products with all keys are the same."""
    queries, keys = (np.zeros((*biases.shape[:1], n, 1)) for n in biases.shape[1:])
    return attention(queries, keys, keys, causal=True, bias=biases).weights


def values(widget: BiasExplorer) -> dict[str, Any]:
    """What is drawn, in logits and in shares of a query's attention.

    Of the last query the bias at every distance and the share of its attention that falls within it, shape (heads,
    distances). In the head shown, the weight at every distance in shares of the maximum, and the least and the greatest
    bias of all queries.
    """
    keys = np.arange(widget.distance + 1)
    every = bias_of(widget, keys, keys)
    last = every[:, -1:]
    weights = _weights(widget, last)[:, 0, ::-1]
    head = min(widget.head, len(every)) - 1
    along = [np.diagonal(every[head], offset=-distance) for distance in keys]
    return {
        "bias": last[:, 0, ::-1],
        "within": np.cumsum(weights, axis=-1),
        "weights": weights[head] / weights[head].max(),
        "low": np.array([biases.min() for biases in along]),
        "high": np.array([biases.max() for biases in along]),
    }

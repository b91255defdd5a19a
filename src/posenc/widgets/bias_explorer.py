"""BiasExplorer: biases on the attention logits, and the attention weights that result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc import bias
from posenc._arrays import Array
from posenc.absolute import relative_positions, sinusoidal
from posenc.attention import attention
from posenc.widgets._base import Action, Choice, Control, Explorable, normal_draws

DRAWN = ["t5", "kerple_log", "kerple_power", "fire", "transformer_xl", "deberta"]  # the schemes that learn

TOKENS = 48  # in the matrices, at most
BUCKETS = 32  # T5's
HIDDEN, GROWTH = 32, 0.1  # the width of FIRE's network, and c
WIDTH, POSITIONS, SPAN = 4, 16, 32  # of a head, of Transformer-XL's code of a distance, of DeBERTa's table
EQUAL = 1e-9  # rounding errors stay below


class BiasExplorer(Explorable):
    """The bias of every head against distance, the matrix of one head under the causal mask, and the softmax of both.

    The products of queries and keys are taken to be equal, so that the bias decides alone. What a scheme learns is
    drawn at random, spread so that biases are a few logits; so is the content that Transformer-XL and DeBERTa ask for.
    """

    module = "bias_explorer"
    room = (754, 1078)
    main = ("scheme", "head")

    scheme = Choice("alibi", chips=True)
    draw = Action(needs={"scheme": DRAWN})
    head = Control(3, 1, 16, "integer")
    heads = Control(8, 1, 16, "integer")
    distance = Control(128, 8, 512, "tokens")
    back = Control(16, 0, 512, "tokens")
    shown = Choice("bias", chips=True)
    threshold = Control(24, 1, 512, "tokens", needs={"scheme": ["fire"]})

    def _normal(self, kind: int, *shape: int, head: int | None = None) -> np.ndarray:
        """Standard normal numbers of one kind, of one head or of each, shape (heads, *shape)."""
        of_heads = range(self.heads) if head is None else [head]
        draws = [normal_draws((self.draw * 64 + h) * 8 + kind, math.prod(shape)).reshape(shape) for h in of_heads]
        return np.stack(draws)

    def _bias(self, queries: np.ndarray, keys: np.ndarray) -> Array:
        """The bias between tokens at these positions, shape (heads, queries, keys); the queries are the last keys."""
        between = relative_positions(queries, keys)
        if self.scheme == "alibi":
            return bias.alibi(between, bias.alibi_slopes(self.heads))
        if self.scheme == "t5":
            return bias.t5(between, 1.5 * self._normal(0, BUCKETS).T, bidirectional=False)
        if self.scheme == "sandwich":
            return bias.sandwich(between, self.heads)
        if self.scheme == "fire":
            return bias.fire(queries, keys, self._network, GROWTH, float(self.threshold))
        if self.scheme.startswith("kerple"):
            first, second = self._normal(0, 2).T
            if self.scheme == "kerple_log":
                return bias.kerple(between, np.exp(first), np.exp(second), kind="logarithmic")
            return bias.kerple(between, np.exp(first - 2), 2 / (1 + np.exp(-second)), kind="power")
        tokens = self.distance + 1
        query, key = self._normal(0, tokens, WIDTH)[:, queries], self._normal(1, tokens, WIDTH)[:, keys]
        if self.scheme == "transformer_xl":
            code = sinusoidal(np.arange(len(keys) - 1, -1, -1), POSITIONS)
            of_distances = code @ self._normal(2, POSITIONS, WIDTH) / math.sqrt(POSITIONS)  # (heads, keys, WIDTH)
            u, v = self._normal(3, WIDTH), self._normal(4, WIDTH)
            return bias.transformer_xl(query, key, of_distances, u, v).bias / math.sqrt(WIDTH)
        of_keys, of_queries = (2 * self._normal(kind, 2 * SPAN, WIDTH) for kind in (2, 3))
        return bias.deberta(query, key, of_keys, of_queries, between).bias / math.sqrt(3 * WIDTH)

    def _network(self, share: Array) -> Array:
        """FIRE's learned function of shares of a distance: a network with one layer of rectified units, 0 at 0."""
        slopes, offsets = self._normal(1, 2, HIDDEN, head=0)[0]
        units = np.maximum(share * slopes + offsets, 0) - np.maximum(offsets, 0)  # (..., HIDDEN)
        return 5 * units @ self._normal(0, HIDDEN).T / math.sqrt(HIDDEN)

    def _weights(self, biases: Array) -> Array:
        """The attention of queries whose products with all keys are the same."""
        queries, keys = (np.zeros((*biases.shape[:1], n, 1)) for n in biases.shape[1:])
        return attention(queries, keys, keys, causal=True, bias=biases).weights

    def values(self) -> dict[str, Any]:
        """What is drawn, in logits and in shares of a query's attention.

        Of the last query the bias at every distance, and the share that falls within it, shape (heads, distances).
        Of the first tokens, in one head, bias (NaN for later keys) and weights, shape (queries, keys). In that head the
        bias at the chosen distance for every query that stands so far from the front.
        """
        keys = np.arange(self.distance + 1)
        last = self._bias(keys[-1:], keys)
        first, head = keys[:TOKENS], min(self.head, self.heads) - 1
        matrix = self._bias(first, first)[[head]]
        back = min(self.back, self.distance)
        return {
            "bias": last[:, 0, ::-1],
            "within": np.cumsum(self._weights(last)[:, 0, ::-1], axis=-1),
            "matrix": np.where(first[:, None] >= first, matrix[0], np.nan),
            "weights": self._weights(matrix)[0],
            "diagonal": np.diagonal(self._bias(keys, keys)[head], offset=-back),
        }

    def facts(self) -> dict[str, Any]:
        values, head = self.values(), min(self.head, self.heads)
        needed = np.argmax(values["within"] >= 0.5 - EQUAL, axis=-1) + 1  # keys that hold half of the attention
        diagonal = values["diagonal"]
        return {
            "keys": self.distance + 1,
            "shown_head": head,
            "shown_back": min(self.back, self.distance),
            "nearest": [{"of_head": h, "needed": needed[h - 1]} for h in dict.fromkeys((1, head, self.heads))],
            "least": diagonal.min(),
            "greatest": diagonal.max(),
            "varies": diagonal.max() - diagonal.min() > EQUAL,
        }

"""The interface of every scheme, and the injection points."""

from __future__ import annotations

import math
from typing import ClassVar

from posenc._arrays import Array, check_int, namespace, working_dtype
from posenc.schemes._module import Module
from posenc.schemes._shared import check_axes, check_queries_and_keys, check_sequence_positions, query_and_key_positions

INJECTION_POINTS = ("input", "query and key", "logits", "none")


class PositionScheme(Module):
    """A scheme that changes nothing (NoPE), and the base class of all others.

    A subclass overrides `_embed`, `_rotate`, `_bias` or `_logit_scale`, which get checked arguments.

    Attributes:
        injection_point: where the scheme enters attention: "input", "query and key", "logits" or "none".
        causal: True for decoders, False for encoders, None if the scheme is the same for both. The bias of a causal
            scheme may or may not be −∞ for later keys: masking is left to attention.

    >>> scheme = PositionScheme()
    >>> scheme.injection_point, scheme.logit_scale(head_dim=16, n_keys=9)
    ('none', 0.25)
    """

    injection_point: ClassVar[str] = "none"
    causal: bool | None = None

    def embed(self, x: Array, positions: Array) -> Array:
        """The embeddings `x`, (batch, length, dim), any floating dtype, plus the encoding if the scheme has one."""
        check_axes("x", x, "(batch, length, dim)")
        return self._embed(x, check_sequence_positions("positions", positions, x, x.shape[1]))

    def rotate(self, q: Array, k: Array, positions: Array, key_positions: Array | None = None) -> tuple[Array, Array]:
        """Queries and keys, rotated by their positions if the scheme rotates; shapes and dtype stay.

        Args:
            q: shape (batch, heads, queries, head_dim), any floating dtype.
            k: shape (batch, key heads, keys, head_dim), in the dtype of q; the number of key heads divides heads.
            positions: of the queries, shape (queries,), (1, queries) or (batch, queries), in tokens.
            key_positions: of the keys, likewise; None: those of the queries.
        """
        check_queries_and_keys(q, k, grouped=True)
        return self._rotate(q, k, *query_and_key_positions(q, k, positions, key_positions))

    def bias(self, q: Array, k: Array, positions: Array, key_positions: Array | None = None) -> Array | None:
        """What is added to the scaled products q·k·logit_scale, or None.

        Arguments as for `rotate`, but with as many heads in k as in q: repeat grouped keys before.

        Returns None, or floats of shape (heads, queries, keys), or (batch, heads, queries, keys) if positions differ
        between sequences or the bias depends on q and k; finite, or −∞ for keys after the query. In the dtype of q, in
        float32 for bfloat16 and float16, as `posenc.attention.attention` and torch's `scaled_dot_product_attention`
        (attn_mask) take it.
        """
        check_queries_and_keys(q, k, grouped=False)
        added = self._bias(q, k, *query_and_key_positions(q, k, positions, key_positions))
        return None if added is None else namespace(added).astype(added, working_dtype(q), copy=False)

    def logit_scale(self, head_dim: int, n_keys: int) -> float:
        """The factor on q·k: 1/√head_dim, unless the scheme has another.

        `n_keys`, at least 0, is the number of keys in the softmax; only `NoPositionWithTemperature` uses it.
        """
        return self._logit_scale(check_int("head_dim", head_dim), check_int("n_keys", n_keys, 0))

    def for_layer(self, index: int) -> PositionScheme:
        """The scheme of a layer, by its index from 0: the scheme itself, unless layers differ."""
        return self

    def _embed(self, x: Array, positions: Array) -> Array:
        return x

    def _rotate(self, q: Array, k: Array, positions: Array, key_positions: Array) -> tuple[Array, Array]:
        return q, k

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array | None:
        return None

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1 / math.sqrt(head_dim)

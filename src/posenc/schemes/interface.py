"""What every scheme answers, and the four doors."""

from __future__ import annotations

import math
from typing import ClassVar

try:
    from torch import Tensor, nn
except ModuleNotFoundError as error:
    from posenc._extras import missing

    raise missing(error, "torch") from None

from posenc._arrays import check_int
from posenc.schemes._shared import (
    check_queries_and_keys,
    checked_positions,
    tensor_of_floats,
    where_they_stand,
    working_dtype,
)

INJECTION_POINTS = ("input", "query and key", "logits", "none")


class PositionScheme(nn.Module):
    """A scheme that changes nothing: attention blind to positions but for its mask. The others are built on it.

    Attributes:
        injection_point: where the scheme enters: "input", "query and key", "logits" or "none".
        causal: True for a scheme for decoders, whose queries look only back; False for one for encoders; None where
            the scheme is the same for both. A bias of a causal scheme may be −∞ for later keys, but need not be: the
            mask is attention's.

    A scheme of your own overrides `_embed`, `_rotate`, `_bias` or `_logit_scale`, which get checked arguments.

    >>> scheme = PositionScheme()
    >>> scheme.injection_point, scheme.logit_scale(head_dim=16, n_keys=9)
    ('none', 0.25)
    """

    injection_point: ClassVar[str] = "none"
    causal: bool | None = None

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """The embeddings `x`, shape (batch, length, dim), any floating dtype, with their positions or as they are."""
        tensor_of_floats("x", x, "(batch, length, dim)")
        at = checked_positions("positions", positions, x.shape[0], x.shape[1])
        return self._embed(x, at.to(x.device))

    def rotate(
        self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys, turned by their positions or as they are, in the shapes and the dtype given.

        Args:
            q: shape (batch, heads, queries, head_dim), any floating dtype.
            k: shape (batch, key heads, keys, head_dim), in the dtype of q; the number of key heads divides heads.
            positions: of the queries, shape (queries,), (1, queries) or (batch, queries), in tokens.
            key_positions: of the keys, likewise; None: those of the queries.
        """
        check_queries_and_keys(q, k, grouped=True)
        return self._rotate(q, k, *where_they_stand(q, k, positions, key_positions))

    def bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor | None = None) -> Tensor | None:
        """What is added to the scaled products q·k·logit_scale, or None.

        Arguments as for `rotate`, with as many heads of k as of q: repeat the keys of a group before.

        Returns None, or floats of shape (heads, queries, keys), or (batch, heads, queries, keys) where positions differ
        between sequences or the bias depends on q and k; finite, or −∞ for keys that stand after the query. In the
        dtype of q, in float32 for bfloat16 and float16: for `posenc.attention.attention`, and as attn_mask of torch's
        `scaled_dot_product_attention`.
        """
        check_queries_and_keys(q, k, grouped=False)
        added = self._bias(q, k, *where_they_stand(q, k, positions, key_positions))
        return None if added is None else added.to(working_dtype(q.dtype))

    def logit_scale(self, head_dim: int, n_keys: int) -> float:
        """The factor on q·k: 1/√head_dim, unless the scheme has another.

        `n_keys`, at least 0, are the keys that the softmax is taken over; only a temperature that follows it looks at
        it.
        """
        return self._logit_scale(check_int("head_dim", head_dim), check_int("n_keys", n_keys, 0))

    def for_layer(self, index: int) -> PositionScheme:
        """The scheme of one layer of a Transformer, by its index from 0: itself, unless layers differ."""
        return self

    def _embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        return q, k

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor | None:
        return None

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1 / math.sqrt(head_dim)

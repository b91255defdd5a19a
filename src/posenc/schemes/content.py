"""Biases on the attention logits that depend on the contents of queries and keys, too."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from posenc import absolute
from posenc import bias as biases
from posenc._arrays import Array, check_bool, check_int, check_positive, device_of, is_compiling, namespace
from posenc.absolute import relative_positions
from posenc.schemes._module import beside, normal, seeded
from posenc.schemes.logits import BiasScheme


class _ContentBias(BiasScheme, ABC):
    """Adds terms that depend on queries and keys of one width."""

    def __init__(self, n_heads: int, head_dim: int) -> None:
        super().__init__(n_heads)
        self.head_dim = check_int("head_dim", head_dim)

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array:
        if (q.shape[1], q.shape[3]) != (self.n_heads, self.head_dim):
            expected = f"(batch, {self.n_heads}, length, {self.head_dim})"
            raise ValueError(f"q must have shape {expected}, got shape {tuple(q.shape)}")
        terms = self.terms(q, k, positions, key_positions)
        return self._logit_scale(self.head_dim, k.shape[2]) * terms

    def _split_heads(self, rows: Array) -> Array:
        """(rows, heads·head_dim) as (heads, rows, head_dim)."""
        xp = namespace(rows)
        return xp.permute_dims(xp.reshape(rows, (-1, self.n_heads, self.head_dim)), (1, 0, 2))

    @abstractmethod
    def terms(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array:
        """The terms added to q·k before scaling, shape (batch, heads, queries, keys)."""


def _distances(positions: Array, key_positions: Array, *, causal: bool | None) -> Array:
    """The distances that occur, in decreasing order; negative ones, to later keys, only if not causal."""
    _check_consecutive(positions, key_positions)
    farthest, nearest = key_positions.shape[-1] - 1, -1 if causal else -positions.shape[-1]
    return namespace(positions).arange(farthest, min(nearest, farthest), -1, device=device_of(positions))


def _check_consecutive(positions: Array, key_positions: Array) -> None:
    """Checks that keys have consecutive positions and queries are the last of them."""
    queries, keys = positions.shape[-1], key_positions.shape[-1]
    if queries > keys:
        raise ValueError(f"key_positions must be as many as positions, {queries}, or more, got {keys}")
    if is_compiling() or keys == 0:
        return
    xp = namespace(positions)
    steps = xp.arange(keys, device=device_of(key_positions))
    in_order = bool(xp.all(key_positions == key_positions[..., :1] + steps))
    if not in_order or not bool(xp.all(positions == key_positions[..., keys - queries :])):
        raise ValueError(
            "key_positions must be consecutive and positions the last of them, got positions "
            f"of shape {tuple(positions.shape)} and key_positions of shape {tuple(key_positions.shape)}"
        )


class TransformerXL(_ContentBias):
    """Transformer-XL's relative terms: q·r + u·k + v·r with r = W_kR·R of the distance (`posenc.bias.transformer_xl`).

    Keys have consecutive positions, and queries are the last of them.

    Args:
        causal: −∞ for later keys, as in the paper; False: bidirectional.
        dim: width of the sinusoidal encoding R; None: n_heads·head_dim.
        base: of that encoding, finite and greater than 0.
        std: of the normal distribution of the initial w_kr (dim, n_heads·head_dim), u and v (n_heads, head_dim).

    Source: Dai et al. 2019, section 3.3.

    >>> import numpy as np
    >>> q = np.ones((1, 2, 3, 8))
    >>> TransformerXL(2, head_dim=8).bias(q, q, np.arange(3)).shape
    (1, 2, 3, 3)
    """

    def __init__(
        self,
        n_heads: int,
        head_dim: int,
        causal: bool = True,
        dim: int | None = None,
        base: float = 10_000.0,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(n_heads, head_dim)
        width, std = self.n_heads * self.head_dim, check_positive("std", std)
        self.causal, self.base = check_bool("causal", causal), check_positive("base", base)
        self.dim = width if dim is None else check_int("dim", dim)
        with seeded(seed):
            self.w_kr = normal(self.dim, width, std=std)
            self.u = normal(self.n_heads, self.head_dim, std=std)
            self.v = normal(self.n_heads, self.head_dim, std=std)

    def terms(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array:
        distances = _distances(positions, key_positions, causal=self.causal)
        w_kr = beside(q, self.w_kr)
        encoding = absolute.sinusoidal(distances, self.dim, self.base, layout="half-split", dtype=w_kr.dtype)
        r = self._split_heads(encoding @ w_kr)  # (heads, rows, head_dim)
        return biases.transformer_xl(q, k, r, beside(q, self.u), beside(q, self.v)).bias


class Tener(_ContentBias):
    """TENER's relative terms: q·R + u·k + v·R with the sinusoidal encoding R of the distance (`posenc.bias.tener`).

    It is bidirectional, and the sines distinguish left from right. The logits are not scaled. Keys have consecutive
    positions, and queries are the last of them.

    Args:
        causal: −∞ for later keys, for decoders, which the paper does not have.
        std: of the normal distribution of the initial u and v (n_heads, head_dim).

    Source: Yan et al. 2019, "TENER: Adapting Transformer Encoder for Named Entity Recognition".

    >>> import numpy as np
    >>> q = np.ones((1, 2, 3, 8))
    >>> scheme = Tener(2, head_dim=8)
    >>> scheme.bias(q, q, np.arange(3)).shape, scheme.logit_scale(8, n_keys=3)
    ((1, 2, 3, 3), 1.0)
    """

    def __init__(
        self,
        n_heads: int,
        head_dim: int,
        causal: bool = False,
        base: float = 10_000.0,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(n_heads, head_dim)
        self.causal, self.base = check_bool("causal", causal), check_positive("base", base)
        std = check_positive("std", std)
        with seeded(seed):
            self.u = normal(self.n_heads, self.head_dim, std=std)
            self.v = normal(self.n_heads, self.head_dim, std=std)

    def terms(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array:
        distances = _distances(positions, key_positions, causal=self.causal)
        r = absolute.sinusoidal(distances, self.head_dim, self.base, dtype=q.dtype)  # (rows, head_dim)
        return biases.tener(q, k, r, beside(q, self.u), beside(q, self.v)).bias

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1.0


class Deberta(_ContentBias):
    """DeBERTa's disentangled terms, content to position and position to content (`posenc.bias.deberta`).

    The logits are divided by √(3·head_dim).

    Args:
        span: at least 1; keys span − 1 or more before the query share a row, keys span or more after it another.
        std: of the normal distribution of the initial table p (2·span, n_heads·head_dim) and its square projections
            w_kr and w_qr.

    Source: He et al. 2021, section 3.1.

    >>> import numpy as np
    >>> q = np.ones((1, 2, 3, 8))
    >>> scheme = Deberta(2, head_dim=8, span=4)
    >>> scheme.bias(q, q, np.arange(3)).shape, tuple(scheme.p.shape)
    ((1, 2, 3, 3), (8, 16))
    """

    def __init__(
        self, n_heads: int, head_dim: int, span: int = 512, std: float = 0.02, seed: int | None = None
    ) -> None:
        super().__init__(n_heads, head_dim)
        width, std = self.n_heads * self.head_dim, check_positive("std", std)
        with seeded(seed):
            self.p = normal(2 * check_int("span", span), width, std=std)
            self.w_kr = normal(width, width, std=std)
            self.w_qr = normal(width, width, std=std)

    def terms(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array:
        p = beside(q, self.p)
        key_relative, query_relative = (self._split_heads(p @ beside(q, w)) for w in (self.w_kr, self.w_qr))
        offsets = relative_positions(positions, key_positions)
        if offsets.ndim == 2:
            return biases.deberta(q, k, key_relative, query_relative, offsets).bias
        each = [  # rows of r differ between sequences
            biases.deberta(q[i], k[i], key_relative, query_relative, offsets[i]).bias for i in range(q.shape[0])
        ]
        xp = namespace(q)
        return xp.stack(each) if each else xp.zeros((*q.shape[:3], k.shape[2]), dtype=q.dtype, device=device_of(q))

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1 / math.sqrt(3 * head_dim)

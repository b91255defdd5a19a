"""Biases on the attention logits that depend on positions alone."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np

from posenc import bias as biases
from posenc._arrays import (
    Array,
    check_bool,
    check_choice,
    check_even_dim,
    check_int,
    check_positive,
    describe,
    namespace,
)
from posenc.absolute import relative_positions
from posenc.schemes._module import beside, learned, normal, perceptron, run_perceptron, seeded, uniform
from posenc.schemes.interface import PositionScheme


class BiasScheme(PositionScheme):
    """Adds a bias to the logits of `n_heads` heads."""

    injection_point = "logits"

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = check_int("n_heads", n_heads)

    def _check_heads(self, q: Array) -> None:
        if q.shape[1] != self.n_heads:
            expected = f"(batch, {self.n_heads}, length, head_dim)"
            raise ValueError(f"q must have shape {expected}, got shape {tuple(q.shape)}")


class _RelativeBias(BiasScheme, ABC):
    """Adds a bias that depends on relative positions alone."""

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array:
        self._check_heads(q)
        return self.relative_bias(relative_positions(positions, key_positions))

    @abstractmethod
    def relative_bias(self, offsets: Array) -> Array:
        """The bias, shape (..., heads, queries, keys), at relative positions, shape (..., queries, keys)."""


class ALiBi(_RelativeBias):
    """ALiBi: a penalty of m_h logits per token of distance (`posenc.bias.alibi`).

    Args:
        slopes: m_h ≥ 0, one per head; None: the paper's.
        causal: −∞ for later keys, as in the paper; False: the symmetric form.

    Source: Press et al. 2022, section 3.

    >>> q = np.ones((1, 2, 3, 8))
    >>> ALiBi(2).bias(q, q, np.arange(3))[0].tolist()  # of the first head
    [[0.0, -inf, -inf], [-0.0625, 0.0, -inf], [-0.125, -0.0625, 0.0]]
    """

    def __init__(self, n_heads: int, slopes: Sequence[float] | None = None, causal: bool = True) -> None:
        super().__init__(n_heads)
        self.causal = check_bool("causal", causal)
        if slopes is not None and (isinstance(slopes, str) or not isinstance(slopes, Sequence)):
            raise TypeError(f"slopes must be a list of numbers or None, got {describe(slopes)}")
        if slopes is not None and len(slopes) != self.n_heads:
            raise ValueError(f"slopes must be {self.n_heads} numbers, one per head, got {describe(slopes)}")
        self.slopes = tuple(map(float, biases.alibi_slopes(self.n_heads))) if slopes is None else tuple(slopes)
        biases.alibi(np.zeros((1, 1)), self.slopes)  # checks the slopes

    def relative_bias(self, offsets: Array) -> Array:
        return biases.alibi(offsets, self.slopes, symmetric=not self.causal, dtype=offsets.dtype)


class T5(_RelativeBias):
    """T5's learned bias of bucketed relative positions (`posenc.bias.t5`); products q·k are not scaled.

    All layers share one table.

    Args:
        causal: True for a decoder, whose buckets are all for the past; False for an encoder.
        num_buckets, max_distance: as for `posenc.bias.t5_bucket`.
        gain: factor on the table; above 1, the same optimiser steps change the bias more.
        std: of the normal distribution of the initial table.

    Source: Raffel et al. 2020, section 2.1.

    >>> q = np.ones((1, 2, 3, 8))
    >>> bias = T5(2).bias(q, q, np.arange(3))
    >>> bias.shape, bool(bias[0, 1, 0] == bias[0, 2, 1])  # the same distance, the same bias
    ((2, 3, 3), True)
    """

    def __init__(
        self,
        n_heads: int,
        causal: bool = True,
        num_buckets: int = 32,
        max_distance: int = 128,
        gain: float = 1.0,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(n_heads)
        self.causal, self.max_distance = check_bool("causal", causal), max_distance
        self.gain = check_positive("gain", gain)
        # Checks the buckets and the distance.
        biases.t5_bucket(np.zeros(0), bidirectional=not self.causal, num_buckets=num_buckets, max_distance=max_distance)
        with seeded(seed):
            self.table = normal(num_buckets, self.n_heads, std=check_positive("std", std))

    def relative_bias(self, offsets: Array) -> Array:
        table = beside(offsets, self.table)
        return self.gain * biases.t5(offsets, table, bidirectional=not self.causal, max_distance=self.max_distance)

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1.0


class Sandwich(_RelativeBias):
    """Sandwich: the product of two sinusoidal encodings, scaled per head (`posenc.bias.sandwich`).

    Args:
        dim: width of the encodings, even.

    Source: Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis".

    >>> q = np.ones((1, 2, 3, 8))
    >>> Sandwich(2, dim=8).bias(q, q, np.arange(3))[1].round(2).tolist()  # of the second head
    [[0.5, 0.44, 0.32], [0.44, 0.5, 0.44], [0.32, 0.44, 0.5]]
    """

    def __init__(self, n_heads: int, dim: int = 128, base: float = 10_000.0) -> None:
        super().__init__(n_heads)
        self.dim, self.base = check_even_dim(dim), check_positive("base", base)

    def relative_bias(self, offsets: Array) -> Array:
        return biases.sandwich(offsets, self.n_heads, self.dim, self.base, dtype=offsets.dtype)


class Kerple(_RelativeBias):
    """KERPLE: −r1·ln(1 + r2·distance) or −r1·distance^r2, with learned r1 and r2 per head (`posenc.bias.kerple`).

    The parameters are log_r1 and log_r2, for the power logit_r2 with r2 = 2·sigmoid(logit_r2), so that r1 and r2 stay
    positive, and r2 below 2 for the power. `kind` is "logarithmic" or "power". Initial values of r1 and r2 are uniform
    on [0.1, 1].

    Source: Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation"; the initial
    values are ours.

    >>> q = np.ones((1, 2, 3, 8))
    >>> bias = Kerple(2).bias(q, q, np.arange(3))
    >>> bool(bias[0, 2, 2] == 0), bool(bias[0, 2, 1] > bias[0, 2, 0])  # lower for larger distances
    (True, True)
    """

    def __init__(self, n_heads: int, kind: str = "logarithmic", seed: int | None = None) -> None:
        super().__init__(n_heads)
        self.kind = check_choice("kind", kind, biases.KERPLE_KINDS)
        with seeded(seed):
            r1, r2 = uniform(0.1, 1.0, 2, self.n_heads)
        xp = namespace(r1)
        self.log_r1 = learned(xp.log(r1))
        if kind == "power":
            self.logit_r2 = learned(xp.log(r2 / (2 - r2)))
        else:
            self.log_r2 = learned(xp.log(r2))

    @property
    def r1(self) -> Array:
        """Shape (heads,), greater than 0."""
        return namespace(self.log_r1).exp(self.log_r1)

    @property
    def r2(self) -> Array:
        """Shape (heads,), greater than 0; below 2 for the power."""
        xp = namespace(self.log_r1)
        return 2 / (1 + xp.exp(-self.logit_r2)) if self.kind == "power" else xp.exp(self.log_r2)

    def relative_bias(self, offsets: Array) -> Array:
        r1, r2 = beside(offsets, self.r1), beside(offsets, self.r2)
        return biases.kerple(offsets, r1, r2, kind=self.kind, dtype=offsets.dtype)


class Fire(BiasScheme):
    """FIRE: a small network of the normalised distance (`posenc.bias.fire`).

    The network is Linear(1, width), ReLU, Linear(width, heads), with torch's initial values. The parameters log_c and
    log_threshold begin at the logarithms of `c` and `threshold`, greater than 0; the threshold is in tokens. Positions
    count from the start of the sequence; −∞ for later keys.

    Source: Li et al. 2024, "Functional Interpolation for Relative Positions Improves Long Context Transformers".

    >>> q = np.ones((1, 2, 3, 8))
    >>> bias = Fire(2).bias(q, q, np.arange(3))
    >>> bias.shape, bool(np.isneginf(bias[0, 0, 1]))  # later keys are masked
    ((2, 3, 3), True)
    """

    causal = True

    def __init__(
        self, n_heads: int, width: int = 32, c: float = 0.1, threshold: float = 512.0, seed: int | None = None
    ) -> None:
        super().__init__(n_heads)
        with seeded(seed):
            self.mlp = perceptron(1, check_int("width", width), self.n_heads)
        self.log_c = learned(math.log(check_positive("c", c)))
        self.log_threshold = learned(math.log(check_positive("threshold", threshold)))

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array:
        self._check_heads(q)
        xp = namespace(positions)
        c, threshold = (xp.exp(beside(positions, weight)) for weight in (self.log_c, self.log_threshold))
        return biases.fire(positions, key_positions, partial(run_perceptron, self.mlp), c, threshold)

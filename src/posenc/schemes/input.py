"""Absolute positional encodings, added once to the input embeddings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from posenc import absolute
from posenc._arrays import Array, Layout, check_choice, check_int, check_positive, device_of, namespace, widest_float
from posenc.schemes._module import beside, normal, seeded
from posenc.schemes.interface import PositionScheme


class _InputEncoding(PositionScheme, ABC):
    """Adds an encoding of width `dim` to the embeddings."""

    injection_point = "input"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = check_int("dim", dim)

    def _embed(self, x: Array, positions: Array) -> Array:
        if x.shape[-1] != self.dim:
            raise ValueError(f"x must have shape (batch, length, {self.dim}), got shape {tuple(x.shape)}")
        return x + namespace(x).astype(self.encoding(positions), x.dtype, copy=False)

    @abstractmethod
    def encoding(self, positions: Array) -> Array:
        """The encoding, shape (*positions.shape, dim)."""


class Integer(_InputEncoding):
    """A baseline: the position itself in every dimension (`posenc.absolute.integer`).

    >>> Integer(2).embed(np.zeros((1, 3, 2)), np.arange(3)).tolist()
    [[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]]
    """

    def encoding(self, positions: Array) -> Array:
        return absolute.integer(positions, self.dim, dtype=_widest(positions))


class Normalised(_InputEncoding):
    """A baseline: the position divided by `length` ≥ 1, in tokens (`posenc.absolute.normalised`).

    >>> Normalised(2, length=4).embed(np.zeros((1, 3, 2)), np.arange(3)).tolist()
    [[[0.0, 0.0], [0.25, 0.25], [0.5, 0.5]]]
    """

    def __init__(self, dim: int, length: int) -> None:
        super().__init__(dim)
        self.length = check_int("length", length)

    def encoding(self, positions: Array) -> Array:
        return absolute.normalised(positions, self.length, self.dim, dtype=_widest(positions))


class Binary(_InputEncoding):
    """A baseline: the position in binary (`posenc.absolute.binary`), below 2^dim.

    >>> Binary(3).embed(np.zeros((1, 2, 3)), np.array([1, 6])).tolist()
    [[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]]
    """

    def encoding(self, positions: Array) -> Array:
        return absolute.binary(positions, self.dim, dtype=_widest(positions))


class Sinusoidal(_InputEncoding):
    """The sinusoidal encoding (`posenc.absolute.sinusoidal`).

    Source: Vaswani et al. 2017, section 3.5.

    >>> Sinusoidal(2).embed(np.zeros((1, 2, 2)), np.arange(2)).round(2).tolist()
    [[[0.0, 1.0], [0.84, 0.54]]]
    """

    def __init__(self, dim: int, base: float = 10_000.0, layout: Layout = "interleaved") -> None:
        super().__init__(dim)
        self.base, self.layout = check_positive("base", base), check_choice("layout", layout, absolute.LAYOUTS)

    def encoding(self, positions: Array) -> Array:
        return absolute.sinusoidal(positions, self.dim, self.base, self.layout, dtype=_widest(positions))


class Learned(_InputEncoding):
    """Learned positional embedding: a table with a row per position (`posenc.absolute.learned`).

    Args:
        max_positions: rows, at least 1.
        past_end, length: as for `posenc.absolute.learned`.
        std: of the normal distribution of the initial rows.

    >>> scheme = Learned(4, max_positions=8)
    >>> scheme.embed(np.zeros((1, 1, 4)), np.array([5]))[0, 0].tolist() == scheme.table[5].tolist()
    True
    """

    def __init__(
        self,
        dim: int,
        max_positions: int,
        past_end: str = "refuse",
        length: int | None = None,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(dim)
        self.past_end, self.length = check_choice("past_end", past_end, absolute.PAST_END), length
        with seeded(seed):
            self.table = normal(check_int("max_positions", max_positions), self.dim, std=check_positive("std", std))
        self.encoding(np.zeros(0))  # checks that length fits past_end

    def encoding(self, positions: Array) -> Array:
        table = beside(positions, self.table)
        return absolute.learned(positions, table, past_end=self.past_end, length=self.length)


def _widest(positions: Array) -> Any:
    """float64 if the device has it: results are rounded once, to the dtype of the embeddings."""
    return widest_float(namespace(positions), device_of(positions))

"""Absolute positional encodings, added once to the input embeddings."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from posenc import absolute
from posenc._arrays import Layout, check_choice, check_int, check_positive
from posenc.schemes._shared import normal, seeded, widest_dtype
from posenc.schemes.interface import PositionScheme


class _InputEncoding(PositionScheme, ABC):
    """Adds an encoding of width `dim` to the embeddings."""

    injection_point = "input"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = check_int("dim", dim)

    def _embed(self, x: Tensor, positions: Tensor) -> Tensor:
        if x.shape[-1] != self.dim:
            raise ValueError(f"x must have shape (batch, length, {self.dim}), got shape {tuple(x.shape)}")
        return x + self.encoding(positions).to(x.dtype)

    @abstractmethod
    def encoding(self, positions: Tensor) -> Tensor:
        """The encoding, shape (*positions.shape, dim)."""


class Integer(_InputEncoding):
    """A baseline: the position itself in every dimension (`posenc.absolute.integer`).

    >>> Integer(2).embed(torch.zeros(1, 3, 2), torch.arange(3)).tolist()
    [[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]]
    """

    def encoding(self, positions: Tensor) -> Tensor:
        return absolute.integer(positions, self.dim, dtype=widest_dtype(positions))  # type: ignore[no-any-return]


class Normalised(_InputEncoding):
    """A baseline: the position divided by `length` ≥ 1, in tokens (`posenc.absolute.normalised`).

    >>> Normalised(2, length=4).embed(torch.zeros(1, 3, 2), torch.arange(3)).tolist()
    [[[0.0, 0.0], [0.25, 0.25], [0.5, 0.5]]]
    """

    def __init__(self, dim: int, length: int) -> None:
        super().__init__(dim)
        self.length = check_int("length", length)

    def encoding(self, positions: Tensor) -> Tensor:
        return absolute.normalised(positions, self.length, self.dim, dtype=widest_dtype(positions))  # type: ignore[no-any-return]


class Binary(_InputEncoding):
    """A baseline: the position in binary (`posenc.absolute.binary`), below 2^dim.

    >>> Binary(3).embed(torch.zeros(1, 2, 3), torch.tensor([1, 6])).tolist()
    [[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]]
    """

    def encoding(self, positions: Tensor) -> Tensor:
        return absolute.binary(positions, self.dim, dtype=widest_dtype(positions))  # type: ignore[no-any-return]


class Sinusoidal(_InputEncoding):
    """The sinusoidal encoding (`posenc.absolute.sinusoidal`).

    Source: Vaswani et al. 2017, section 3.5.

    >>> Sinusoidal(2).embed(torch.zeros(1, 2, 2), torch.arange(2)).round(decimals=2)
    tensor([[[0.0000, 1.0000],
             [0.8400, 0.5400]]])
    """

    def __init__(self, dim: int, base: float = 10_000.0, layout: Layout = "interleaved") -> None:
        super().__init__(dim)
        self.base, self.layout = check_positive("base", base), check_choice("layout", layout, absolute.LAYOUTS)

    def encoding(self, positions: Tensor) -> Tensor:
        return absolute.sinusoidal(positions, self.dim, self.base, self.layout, dtype=widest_dtype(positions))  # type: ignore[no-any-return]


class Learned(_InputEncoding):
    """Learned positional embedding: a table with a row per position (`posenc.absolute.learned`).

    Args:
        max_positions: rows, at least 1.
        past_end, length: as for `posenc.absolute.learned`.
        std: of the normal distribution of the initial rows.

    >>> scheme = Learned(4, max_positions=8)
    >>> torch.equal(scheme.embed(torch.zeros(1, 1, 4), torch.tensor([5]))[0, 0], scheme.table[5])
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
        self.encoding(torch.zeros(0))  # checks that length fits past_end

    def encoding(self, positions: Tensor) -> Tensor:
        return absolute.learned(  # type: ignore[no-any-return]
            positions, self.table, past_end=self.past_end, length=self.length
        )

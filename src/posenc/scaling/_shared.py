"""The result of the methods of `posenc.scaling`, and checks that they share."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

from posenc._arrays import Array, check_int, check_positive, describe


class Scaled(NamedTuple):
    """Frequencies in radians per token, shape (dim/2,), and the factor on cosines and sines."""

    inv_freq: Array
    attention_factor: float


def at_least_one(name: str, value: float) -> float:
    """`value` as a float, after checking that it is finite and at least 1."""
    if check_positive(name, value) < 1:
        raise ValueError(f"{name} must be at least 1 (a context is lengthened, never shortened), got {value!r}")
    return float(value)


def trained_length(length: int) -> int:
    return check_int("original_max_position_embeddings", length)


def check_fraction(name: str, value: float) -> float:
    """`value` as a float, after checking that it is from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {describe(value)}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value!r}")
    return float(value)

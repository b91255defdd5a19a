"""Checks that several biases share."""

from __future__ import annotations

import math

from posenc._arrays import (
    Array,
    as_float_array,
    check_integers,
    describe,
    describe_values,
    device_of,
    is_compiling,
    namespace,
)


def pairwise(relative_positions: Array, like: Array = None) -> Array:
    """`relative_positions` as floats of shape (..., queries, keys)."""
    offsets = as_float_array("relative_positions", relative_positions, like=like)
    if offsets.ndim < 2:
        raise ValueError(f"relative_positions must have shape (..., queries, keys), got {describe(relative_positions)}")
    return offsets


def integer_offsets(relative_positions: Array, like: Array = None) -> Array:
    """`relative_positions` as floats of any shape, after checking that they are integers."""
    if is_compiling():
        return as_float_array("relative_positions", relative_positions, like=like)
    return check_integers("relative_positions", relative_positions, like=like)


def positions_as_floats(name: str, positions: Array, like: Array = None) -> Array:
    """`positions` as floats of shape (..., length)."""
    at = as_float_array(name, positions, like=like)
    if at.ndim == 0:
        raise ValueError(f"{name} must have at least one axis, got {describe(positions)}")
    return at


def per_head(name: str, values: Array, like: Array, *, zero: bool = False) -> Array:
    """`values`, greater than 0 or with `zero` at least 0, as floats of shape (heads, 1, 1)."""
    numbers = as_float_array(name, values, like=like)
    if numbers.ndim != 1 or numbers.shape[0] == 0:
        raise ValueError(f"{name} must have shape (heads,), got {describe(values, numbers.shape)}")
    if not is_compiling():
        refused = numbers < 0 if zero else numbers <= 0
        if bool(namespace(numbers).any(refused)):
            limit = "not be negative" if zero else "be greater than 0"
            raise ValueError(f"{name} must {limit}, got {describe_values(values, refused)}")
    return numbers[:, None, None]


def mask_later_keys(bias: Array, offsets: Array) -> Array:
    """`bias` with −∞ for every key after its query."""
    xp = namespace(bias)
    return xp.where(offsets > 0, xp.full((), -math.inf, dtype=bias.dtype, device=device_of(bias)), bias)

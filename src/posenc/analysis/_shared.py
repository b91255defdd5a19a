"""Checks and small steps that several parts of `posenc.analysis` share."""

from __future__ import annotations

from posenc._arrays import Array, as_float_array, check_int, describe, namespace


def growing_lengths(trained_length: int, length: int) -> tuple[int, int]:
    """Both lengths, after checking that the second is greater."""
    if check_int("length", length) <= check_int("trained_length", trained_length):
        raise ValueError(f"length must be greater than trained_length, got {length} and {trained_length}")
    return int(trained_length), int(length)


def table_of(name: str, value: Array, rows: int) -> Array:
    """`value` as a two-dimensional array of finite numbers with at least `rows` rows."""
    table = as_float_array(name, value)
    if table.ndim != 2 or table.shape[0] < rows or table.shape[1] == 0:
        raise ValueError(
            f"{name} must have two axes, at least {rows} rows and a column, got {describe(value, table.shape)}"
        )
    return table


def not_zero(value: Array) -> Array:
    """`value` with 1 instead of 0, as a divisor where 0/0 should be 0."""
    xp = namespace(value)
    return xp.where(value == 0, xp.ones_like(value), value)


def more_than_rounding(singular: Array, matrix: Array) -> Array:
    """Which singular values of a matrix are above rounding error."""
    return singular > namespace(matrix).finfo(matrix.dtype).eps * max(matrix.shape) * singular[0]

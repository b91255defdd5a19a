"""Desired properties of a positional encoding: one number per property, from a table of encodings."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from posenc._arrays import Array, check_int, check_positive, describe, device_of, is_array, namespace
from posenc.analysis._shared import growing_lengths, more_than_rounding, not_zero, table_of


def min_distance(encodings: Array) -> Array:
    """Uniqueness: the minimum distance between two rows, of at least 2. Ideal: well above 0.

    >>> float(min_distance([[0, 0], [3, 4], [3, 5]]))
    1.0
    """
    return namespace(encodings).min(namespace(encodings).concat(_distances(encodings, 2)))


def max_norm(encodings: Array) -> Array:
    """Boundedness: the maximum norm of a row. Ideal: independent of the length of the table.

    >>> float(max_norm([[0, 1], [3, 4]]))
    5.0
    """
    table = table_of("encodings", encodings, 1)
    return namespace(table).max(_norms(table))


def translation_residual(encodings: Array) -> Array:
    """Translation invariance: how much the distance between two rows depends on their position. Ideal: 0.

    For each offset k, 1 ≤ k < length/2, the coefficient of variation of |PE_{t+k} − PE_t| over t; the result is its
    mean over k. There must be at least 3 rows.

    >>> float(translation_residual([[0], [1], [3], [6]]).round(3))
    0.408
    """
    return _mean_ratio(_distances(encodings, 3), lambda apart, offset: namespace(apart).std(apart))


def left_right_difference(encodings: Array) -> Array:
    """Symmetry: how differently the rows k to the right and k to the left are distant. Ideal: 0.

    For each offset k, 1 ≤ k < length/2, the mean of ||PE_{t+k} − PE_t| − |PE_t − PE_{t−k}|| over the mean distance; the
    result is its mean over k. There must be at least 3 rows. At 0, distance does not distinguish left from right.

    >>> float(left_right_difference([[0], [1], [3], [6]]))
    0.5
    """

    def change(apart: Array, offset: int) -> Array:
        return namespace(apart).mean(namespace(apart).abs(apart[offset:] - apart[:-offset]))

    return _mean_ratio(_distances(encodings, 3), change)


def monotonicity_violations(encodings: Array) -> float:
    """Monotonic decay: how often the farther of two rows to the right is the more similar one. Ideal: 0; noise: 1/2.

    The fraction of triples of positions t < t + a < t + b with |PE_{t+b} − PE_t| < |PE_{t+a} − PE_t|, where differences
    up to 10⁻⁹ of the maximum distance count as rounding. There must be at least 3 rows.

    >>> monotonicity_violations([[0], [2], [1]])
    1.0
    """
    by_offset = _distances(encodings, 3)
    xp, rows = namespace(by_offset[0]), len(by_offset)
    dtype, device = by_offset[0].dtype, device_of(encodings)
    off = [xp.full((offset,), math.inf, dtype=dtype, device=device) for offset in range(rows)]
    # row t, offset k in column k − 1; offsets past the table are infinitely far, and never a violation
    apart = xp.stack([xp.concat([there, past]) for there, past in zip(by_offset, off, strict=True)], axis=-1)
    slack = 1e-9 * xp.max(xp.concat(by_offset))
    falls = sum(int(xp.count_nonzero(apart[:, near + 1 :] < apart[:, near, None] - slack)) for near in range(rows - 1))
    return falls / math.comb(rows + 1, 3)


def shift_residual(encodings: Array, offset: int) -> Array:
    """Linearity: the error of the best single matrix that shifts every row by `offset` ≥ 1 tokens. Ideal: 0.

    The root mean square of PE_{t+k} − M·PE_t over rows and dimensions, for the least-squares M, without a constant.
    Singular values up to ε·max(shape) times the maximum are dropped. There must be more than offset + dim rows (fewer
    are always fitted).

    >>> float(shift_residual([[1], [2], [4], [9]], offset=1).round(3))
    0.282
    """
    offset = check_int("offset", offset)
    table = table_of("encodings", encodings, 1)
    if table.shape[0] <= offset + table.shape[1]:
        raise ValueError(
            f"encodings must have more than offset + dim = {offset} + {table.shape[1]} rows, got {tuple(table.shape)}"
        )
    xp, before, after = namespace(table), table[:-offset], table[offset:]
    left, singular, _ = xp.linalg.svd(before, full_matrices=False)
    left = xp.where(more_than_rounding(singular, before), left, xp.zeros_like(left))
    return xp.sqrt(xp.mean((after - left @ (xp.matrix_transpose(left) @ after)) ** 2))


def period(encodings: Array, tolerance: float = 1e-9) -> int | None:
    """Periodicity: the smallest offset at which all rows repeat. Ideal: None.

    Offsets up to half the table, of at least 2 rows, are tried. `tolerance` is the maximum difference per dimension.

    >>> period([[0], [1], [0], [1]])
    2
    """
    table, tolerance = table_of("encodings", encodings, 2), check_positive("tolerance", tolerance)
    xp = namespace(table)
    for offset in range(1, table.shape[0] // 2 + 1):
        if bool(xp.all(xp.abs(table[offset:] - table[:-offset]) <= tolerance)):
            return offset
    return None


def length_dependence(shorter: Array, longer: Array) -> Array:
    """Independence of length: the maximum change of a row when the sequence gets longer. Ideal: 0.

    `shorter` is the table for one length, shape (length, dim), `longer` that for another, with at least as many rows.

    >>> float(length_dependence([[0], [1]], [[0], [0.5], [1]]))
    0.5
    """
    first, second = table_of("shorter", shorter, 1), table_of("longer", longer, 1)
    namespace(first, second)  # refuses arrays of two libraries
    rows = first.shape[0]
    if second.shape[0] < rows or first.shape[1] != second.shape[1]:
        raise ValueError(
            "longer must have the width of shorter and at least its rows, "
            f"got shapes {tuple(second.shape)} and {tuple(first.shape)}"
        )
    return max_norm(second[:rows] - first)


def defined_fraction(encoding: Callable[[Array], Array], trained_length: int, length: int) -> float:
    """Extrapolation: the fraction of positions past the trained length that have an encoding. Ideal: 1.

    `encoding` is called with a NumPy array of one integer, shape (1,), and returns shape (1, dim). A ValueError, an
    IndexError or a value that is not finite means that there is none; at the last trained position errors are passed
    on. A defined encoding need not be one that a model can use (see `unseen_angles`).

    >>> defined_fraction(lambda at: np.eye(6)[at], trained_length=4, length=8)
    0.5
    """
    trained, end = growing_lengths(trained_length, length)
    if not callable(encoding):
        raise TypeError(f"encoding must be a function of positions, got {describe(encoding)}")

    def row(position: int) -> Array:
        answer = encoding(np.asarray([position]))
        if not is_array(answer) or answer.ndim != 2 or answer.shape[0] != 1:
            raise TypeError(f"encoding must return an array of shape (1, dim) for one position, got {describe(answer)}")
        return answer

    row(trained - 1)
    defined = 0
    for position in range(trained, end):
        try:
            answer = row(position)
        except (ValueError, IndexError):
            continue
        defined += bool(namespace(answer).all(namespace(answer).isfinite(answer)))
    return defined / (end - trained)


def _norms(rows: Array) -> Array:
    """Norms of the rows, (length, dim) to (length,)."""
    return namespace(rows).linalg.vector_norm(rows, axis=-1)


def _distances(encodings: Array, rows: int) -> list[Array]:
    """|PE_{t+k} − PE_t| for every t, shape (length − k,), for k = 1, 2, …"""
    table = table_of("encodings", encodings, rows)
    return [_norms(table[offset:] - table[:-offset]) for offset in range(1, table.shape[0])]


def _mean_ratio(by_offset: list[Array], measure: Callable[[Array, int], Array]) -> Array:
    """The mean over offsets below half the length of measure(distances)/mean(distances)."""
    ratios = []
    for offset in range(1, len(by_offset) // 2 + 1):
        apart = by_offset[offset - 1]
        ratios.append(measure(apart, offset) / not_zero(namespace(apart).mean(apart)))
    return namespace(*ratios).mean(namespace(*ratios).stack(ratios))

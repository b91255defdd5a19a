"""What a position code should do: one number for each desired property of a table of codes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from posenc._arrays import Array, check_int, check_positive, describe, device_of, is_array, namespace
from posenc.analysis._shared import growing_lengths, more_than_rounding, not_zero, table_of


def min_distance(codes: Array) -> Array:
    """Uniqueness: the least distance between two rows, of at least 2. Ideal: well above 0; 0 means a shared code.

    >>> float(min_distance([[0, 0], [3, 4], [3, 5]]))
    1.0
    """
    return namespace(codes).min(namespace(codes).concat(_distances(codes, 2)))


def max_norm(codes: Array) -> Array:
    """Boundedness: the greatest length of a row. Ideal: the same however long the table; growth drowns the words.

    >>> float(max_norm([[0, 1], [3, 4]]))
    5.0
    """
    table = table_of("codes", codes, 1)
    return namespace(table).max(_norms(table))


def translation_residual(codes: Array) -> Array:
    """Translation invariance: how much the distance between two rows depends on where they are. Ideal: 0.

    For each offset k, 1 ≤ k < length/2, the distances |PE_{t+k} − PE_t| at all t have a mean and a standard deviation;
    the answer is the mean over k of deviation/mean. There must be at least 3 rows.

    >>> float(translation_residual([[0], [1], [3], [6]]).round(3))
    0.408
    """
    return _mean_ratio(_distances(codes, 3), lambda apart, offset: namespace(apart).std(apart))


def left_right_difference(codes: Array) -> Array:
    """Symmetry: how differently k tokens to the right and k to the left lie from the same row. Ideal: 0.

    For each offset k, 1 ≤ k < length/2, the mean of ||PE_{t+k} − PE_t| − |PE_t − PE_{t−k}|| over the mean distance; the
    answer is its mean over k. There must be at least 3 rows. A code that passes cannot tell left from right by
    distance.

    >>> float(left_right_difference([[0], [1], [3], [6]]))
    0.5
    """

    def change(apart: Array, offset: int) -> Array:
        return namespace(apart).mean(namespace(apart).abs(apart[offset:] - apart[:-offset]))

    return _mean_ratio(_distances(codes, 3), change)


def monotonicity_violations(codes: Array) -> float:
    """Monotonicity: how often the farther of two rows to the right is the more similar one. Ideal: 0; of noise, 1/2.

    It is the share of all triples of positions t < t + a < t + b with |PE_{t+b} − PE_t| < |PE_{t+a} − PE_t|. Falls of
    up to 10⁻⁹ of the greatest distance are taken for rounding. For rows of one length the product says the same. There
    must be at least 3 rows.

    >>> monotonicity_violations([[0], [2], [1]])
    1.0
    """
    by_offset = _distances(codes, 3)
    xp, rows = namespace(by_offset[0]), len(by_offset)
    off = [xp.full((offset,), math.inf, dtype=by_offset[0].dtype, device=device_of(codes)) for offset in range(rows)]
    # row t, offset k in column k − 1; offsets that leave the table are infinitely far, and never a fall
    apart = xp.stack([xp.concat([there, past]) for there, past in zip(by_offset, off, strict=True)], axis=-1)
    slack = 1e-9 * xp.max(xp.concat(by_offset))
    falls = sum(int(xp.count_nonzero(apart[:, near + 1 :] < apart[:, near, None] - slack)) for near in range(rows - 1))
    return falls / math.comb(rows + 1, 3)


def shift_residual(codes: Array, offset: int) -> Array:
    """Linearity: what the best single matrix leaves when it moves every row by `offset` ≥ 1 tokens. Ideal: 0.

    The root of the mean over rows and dimensions of (PE_{t+k} − M·PE_t)², in the units of the code, for the M that
    makes it least, which has no constant part. Singular values up to ε·max(shape) of the greatest are left out. There
    must be more than offset + dim rows (with fewer, any table is fitted).

    >>> float(shift_residual([[1], [2], [4], [9]], offset=1).round(3))
    0.282
    """
    offset = check_int("offset", offset)
    table = table_of("codes", codes, 1)
    if table.shape[0] <= offset + table.shape[1]:
        raise ValueError(
            f"codes must have more rows than offset + dim = {offset} + {table.shape[1]}, got shape {tuple(table.shape)}"
        )
    xp, before, after = namespace(table), table[:-offset], table[offset:]
    left, singular, _ = xp.linalg.svd(before, full_matrices=False)
    left = xp.where(more_than_rounding(singular, before), left, xp.zeros_like(left))
    return xp.sqrt(xp.mean((after - left @ (xp.matrix_transpose(left) @ after)) ** 2))


def period(codes: Array, tolerance: float = 1e-9) -> int | None:
    """Periodicity: the least offset at which every row comes back. Ideal: None, else positions share codes.

    Only offsets up to half the table, of at least 2 rows, are tried. `tolerance` is the greatest difference in a
    dimension that counts as none.

    >>> period([[0], [1], [0], [1]])
    2
    """
    table, tolerance = table_of("codes", codes, 2), check_positive("tolerance", tolerance)
    xp = namespace(table)
    for offset in range(1, table.shape[0] // 2 + 1):
        if bool(xp.all(xp.abs(table[offset:] - table[:-offset]) <= tolerance)):
            return offset
    return None


def length_dependence(shorter: Array, longer: Array) -> Array:
    """Whether a position keeps its code when the text grows: the length of the greatest change of a row. Ideal: 0.

    `shorter` is the table for one length, shape (length, dim), `longer` that for another, of as many rows or more.

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


def defined_fraction(code: Callable[[Array], Array], trained_length: int, length: int) -> float:
    """Extrapolation: the share of the positions past the trained length that have a code at all. Ideal: 1.

    `code` is called with a NumPy array of one whole number, shape (1,), and answers a code of shape (1, dim). A
    ValueError, an IndexError or a value that is not finite means that there is none; at the last trained position,
    errors are passed on. That a code is defined does not say that a model can read it (`unseen_angles` is about that).

    >>> defined_fraction(lambda at: np.eye(6)[at], trained_length=4, length=8)
    0.5
    """
    trained, end = growing_lengths(trained_length, length)
    if not callable(code):
        raise TypeError(f"code must be a function of positions, got {describe(code)}")

    def row(position: int) -> Array:
        answer = code(np.asarray([position]))
        if not is_array(answer) or answer.ndim != 2 or answer.shape[0] != 1:
            raise TypeError(
                f"code must answer an array of shape (1, dim) for one position, got {describe(answer)} of {code!r}"
            )
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
    """The lengths of rows, (length, dim) to (length,)."""
    return namespace(rows).linalg.vector_norm(rows, axis=-1)


def _distances(codes: Array, rows: int) -> list[Array]:
    """The distances of rows k apart, for k = 1, 2, …: |PE_{t+k} − PE_t| for every t, shape (length − k,)."""
    table = table_of("codes", codes, rows)
    return [_norms(table[offset:] - table[:-offset]) for offset in range(1, table.shape[0])]


def _mean_ratio(by_offset: list[Array], measure: Callable[[Array, int], Array]) -> Array:
    """The mean over the offsets below half the length of a measure of the distances over their mean."""
    ratios = []
    for offset in range(1, len(by_offset) // 2 + 1):
        apart = by_offset[offset - 1]
        ratios.append(measure(apart, offset) / not_zero(namespace(apart).mean(apart)))
    return namespace(*ratios).mean(namespace(*ratios).stack(ratios))

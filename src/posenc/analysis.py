"""Numbers that decide what is said of position codes, in five parts.

    the list of frequencies       decay with distance, its law, its limits, fingerprints of a distance, the least base
    past the trained length       angles never met, the critical dimension, scores fitted and read farther out
    what a code should do         one number for each desired property of a table of codes
    after the projections         the four terms of a score, and what a matrix between two codes makes of their offset
    no code at all                how a mean over more keys blurs, and how one key drowns among many

The functions take NumPy arrays or torch tensors and answer in kind, in float64 where the device has it. Offsets and
distances are in tokens and may be any finite real numbers; scores are normalised so that full agreement is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np

from posenc._arrays import (
    Array,
    device_of,
    even_dim,
    first_array,
    floats,
    frequency_list,
    is_array,
    namespace,
    one_of,
    positive,
    said,
    said_of,
    scipy_module,
    whole,
    whole_numbers,
)
from posenc.absolute import LAYOUTS, sinusoidal
from posenc.frequencies import angles, turns
from posenc.frequencies import inv_freq as make_inv_freq

SIGNIFICANT_BITS = {"bfloat16": 8, "float16": 11, "float32": 24}


class ScoreFit(NamedTuple):
    """What `fit_scores` answers."""

    inv_freq: Array  # (pairs,), the frequencies that were fitted with
    coefficients: Array  # (2·pairs,), of the cosines and then of the sines, as `fingerprint` lists them
    condition: Array  # greatest over least singular value of the columns
    in_range: Array  # greatest absolute value at 0 … length − 1
    past_range: Array  # … at length … 2·length − 1
    half_steps: Array  # … at 0, 1/2, 1, … length − 1/2


class FourTerms(NamedTuple):
    """The four parts of a score between word + position and word + position, each of shape (..., queries, keys)."""

    content_content: Array
    content_position: Array  # the word of the query, the position of the key
    position_content: Array
    position_position: Array


def decay(offsets: Array, inv_freq: Array) -> Array:
    """The all-ones score S(m) = (2/d) Σ_i cos(m·θ_i).

    It is the score of a query and a key that agree in every pair, m tokens apart, over their score at distance 0;
    it is also the cosine similarity of two sinusoidal codes m positions apart.

    Args:
        offsets: distances m in tokens, any shape.
        inv_freq: shape (dim/2,), in radians per token.

    Returns:
        shape of `offsets`, in [−1, 1]. Raises as `posenc.frequencies.angles` does.
    """
    turned = _turned(offsets, inv_freq)  # (..., dim/2)
    xp = namespace(turned)
    return xp.mean(xp.cos(turned), axis=-1)


def decay_law(offsets: Array, base: float) -> Array:
    """What S(m) tends to when pairs become many: (Ci(m) − Ci(m/base)) / ln base.

    The mean over pairs becomes the integral of cos(m·base^(−x)) for x from 0 to 1; u = m·base^(−x) turns it into
    the integral of cos(u)/u from m/base to m over ln base. Ci is the cosine integral. It is 1 at m = 0, and cos m
    for base 1, where every pair turns alike.

    Args:
        offsets: distances in tokens, any shape; the law is even in them.
        base: finite and greater than 0.

    Returns:
        shape of `offsets`. Raises ValueError for offsets or a base that are not finite, or base ≤ 0.
    """
    base = positive("base", base)
    distance = floats("offsets", offsets)
    xp = namespace(distance)
    if base == 1.0:
        return xp.cos(distance)
    sici = scipy_module("special").sici  # of NumPy arrays only; torch has no cosine integral
    m = np.abs(np.asarray(distance.cpu() if hasattr(distance, "cpu") else distance))
    away = np.where(m == 0, 1.0, m)
    law = np.where(m == 0, 1.0, (sici(away)[1] - sici(away / base)[1]) / math.log(base))
    return xp.asarray(law, dtype=distance.dtype, device=device_of(distance))


def decay_logarithm(offsets: Array, base: float) -> Array:
    """The straight line in ln m that S(m) follows for 1 ≪ m ≪ base: 1 − (ln m + γ) / ln base.

    γ = 0.5772… is Euler's constant. Outside that range it is not an approximation of anything.

    Args:
        offsets: distances in tokens, any shape, all greater than 0.
        base: finite and greater than 1.

    Returns:
        shape of `offsets`. Raises ValueError for a distance ≤ 0 or base ≤ 1.
    """
    base = positive("base", base)
    if base <= 1:
        raise ValueError(f"base must be greater than 1 for the logarithm, got {base}")
    distance = floats("offsets", offsets)
    xp = namespace(distance)
    if bool(xp.any(distance <= 0)):
        raise ValueError(f"offsets must be greater than 0 for the logarithm, got {said_of(offsets, distance <= 0)}")
    return 1 - (xp.log(distance) + np.euler_gamma) / math.log(base)


def abel_bound(offsets: Array, inv_freq: Array) -> Array:
    """RoFormer's bound: the mean over j of |S_j|, where S_j is the sum of e^{i·m·θ} over the first j pairs.

    Summation by parts bounds a score by (greatest jump between the contents of neighbouring pairs) × Σ_j |S_j|.
    The mean is what RoFormer draws; it is (dim/2 + 1)/2 at m = 0.

    Args:
        offsets: distances in tokens, any shape.
        inv_freq: shape (dim/2,), in radians per token; the order of the pairs matters.

    Returns:
        shape of `offsets`, in units of one pair. Raises as `posenc.frequencies.angles` does.

    Source: Su et al. 2021, section 3.4.3, equations (35) to (37).
    """
    turned = _turned(offsets, inv_freq)  # (..., dim/2)
    xp = namespace(turned)
    real = xp.cumulative_sum(xp.cos(turned), axis=-1)
    imaginary = xp.cumulative_sum(xp.sin(turned), axis=-1)
    return xp.mean(xp.sqrt(real**2 + imaginary**2), axis=-1)


def expected_score(offsets: Array, inv_freq: Array, correlation: float) -> tuple[Array, Array]:
    """Exact mean and variance of the rotary score of random queries and keys.

    Every coordinate of q is standard normal and k = ρ·q + √(1 − ρ²)·(another standard normal), so that q and k
    have correlation ρ in every coordinate. Then, with the sums over all dim/2 pairs,

        mean = 2ρ Σ cos(m·θ_i),   variance = Σ (2(1 − ρ²) + 4ρ² cos²(m·θ_i)).

    The score is the plain dot product, before any division by √d.

    Args:
        offsets: distances in tokens, any shape.
        inv_freq: shape (dim/2,), in radians per token.
        correlation: ρ, from −1 to 1.

    Returns:
        (mean, variance), each of the shape of `offsets`. Raises ValueError for a correlation outside [−1, 1].
    """
    if isinstance(correlation, bool) or not isinstance(correlation, Real):
        raise TypeError(f"correlation must be a number, got {said(correlation)}")
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must be from -1 to 1, got {correlation!r}")
    turned = _turned(offsets, inv_freq)  # (..., dim/2)
    xp = namespace(turned)
    cosines = xp.cos(turned)
    mean = 2 * correlation * xp.sum(cosines, axis=-1)
    variance = xp.sum(2 * (1 - correlation**2) + 4 * correlation**2 * cosines**2, axis=-1)
    return mean, variance


def fingerprint(offsets: Array, inv_freq: Array) -> Array:
    """The cosines and sines of a distance, (cos m·θ_i, …, sin m·θ_i, …): all that rotation lets a score see of it.

    Args:
        offsets: distances in tokens, any shape.
        inv_freq: shape (dim/2,), in radians per token.

    Returns:
        shape (*offsets.shape, dim), of length √(dim/2). Raises as `posenc.frequencies.angles` does.
    """
    turned = _turned(offsets, inv_freq)  # (..., dim/2)
    xp = namespace(turned)
    return xp.concat([xp.cos(turned), xp.sin(turned)], axis=-1)


def fingerprint_similarity(first: Array, second: Array, inv_freq: Array) -> Array:
    """Cosine similarity of the fingerprints of two distances; it is S(first − second), whatever the two are."""
    return decay(floats("first", first, like=inv_freq) - floats("second", second, like=inv_freq), inv_freq)


def fingerprint_difference(first: float, second: float, inv_freq: Array) -> Array:
    """The share of each pair in the squared difference of two fingerprints, 2(1 − cos((a − b)·θ_i)) over its sum.

    Args:
        first, second: two distances in tokens.
        inv_freq: shape (dim/2,), in radians per token.

    Returns:
        shape (dim/2,), not negative, adding up to 1.

    Raises:
        ValueError: the two fingerprints are equal, so that there is no difference to share.
    """
    offset = floats("first", first, like=inv_freq) - floats("second", second, like=inv_freq)
    turned = angles(offset, inv_freq)  # (dim/2,)
    xp = namespace(turned)
    squared = 4 * xp.sin(turned / 2) ** 2  # 2(1 − cos), without losing the slow pairs to rounding
    total = xp.sum(squared)
    if float(total) == 0:
        raise ValueError(f"first and second must differ in their fingerprints, got {said(first)} and {said(second)}")
    return squared / total


def least_base(length: int, dim: int, bases: Sequence[float]) -> float | None:
    """The smallest of `bases` whose all-ones score stays at or above zero up to `length`.

    The answer depends on the grid: the bases that pass do not form an interval.

    Args:
        length: greatest distance in tokens, a whole number of at least 1; every whole distance up to it is checked.
        dim: even and positive.
        bases: the grid to search.

    Returns:
        the smallest base that passes, or None where none does.

    Source: Men et al. 2024, "Base of RoPE Bounds Context Length", section 4.
    """
    distances, dim = np.arange(whole("length", length) + 1), even_dim(dim)
    grid = floats("bases", bases)
    if grid.ndim != 1 or grid.shape[0] == 0 or bool(np.any(np.asarray(grid) <= 0)):
        raise ValueError(f"bases must be a list of numbers greater than 0, got {said(bases)}")
    for base in sorted(bases):
        if bool(np.all(decay(distances, make_inv_freq(dim, base)) >= 0)):
            return base
    return None


def uncovered(inv_freq: Array, trained_length: int, length: int, tolerance: float = 0.01) -> Array:
    """The share of the angles past the trained length that training has never met, pair by pair.

    An angle at a position trained_length … length − 1, modulo a turn, counts as new if it is farther than `tolerance`
    from each of the angles at 0 … trained_length − 1. A pair that has turned once and more has been nearly everywhere.

    Args:
        inv_freq: shape (dim/2,), in radians per token.
        trained_length: positions met in training, at least 1.
        length: positions used, greater than `trained_length`.
        tolerance: in radians, finite and greater than 0.

    Returns:
        shape (dim/2,), from 0 (nothing new) to 1 (all new).

    Raises:
        TypeError, ValueError: as `posenc.frequencies.angles` for `inv_freq`; lengths that are no whole numbers or do
            not grow; a tolerance that is not finite and positive.
    """
    tolerance, (trained, end) = positive("tolerance", tolerance), _lengths(trained_length, length)
    frequencies = frequency_list(inv_freq)
    xp, turn = namespace(frequencies), 2 * math.pi
    positions = xp.arange(end, dtype=frequencies.dtype, device=device_of(frequencies))
    shares = []
    for frequency in frequencies:  # pair by pair: all angles at once would be a large table
        at = angles(positions, frequency[None])[:, 0] % turn  # (length,)
        seen, used = xp.sort(at[:trained]), at[trained:]
        seen = xp.concat([seen, seen[:1] + turn])  # position 0 stands at angle 0, which is also a whole turn
        after = xp.searchsorted(seen, used, side="right")
        away = xp.minimum(used - seen[after - 1], seen[after] - used)
        shares.append(xp.mean(xp.astype(away > tolerance, frequencies.dtype)))
    return xp.stack(shares)


def coverage(inv_freq: Array, trained_length: int, length: int, tolerance: float = 0.01) -> Array:
    """The older name of `uncovered`, kept for code that has it: the share that is *not* covered.

    Arguments, answer and errors are those of `uncovered`.
    """
    return uncovered(inv_freq, trained_length, length, tolerance)


def pairs_reaching(inv_freq: Array, length: int, angle: float) -> int:
    """How many pairs reach an angle within a length: those with (length − 1)·θ_i ≥ angle.

    At π/2 a pair's cosine has come down to 0, at π it is at its least, and at 2π the pair has met every angle.

    Args:
        inv_freq: shape (dim/2,), in radians per token.
        length: positions 0 … length − 1, at least 1.
        angle: in radians, finite and greater than 0.

    Returns:
        a number from 0 to dim/2. Raises as `posenc.frequencies.angles` does for `inv_freq`, TypeError or ValueError
        for the others.
    """
    angle, last = positive("angle", angle), whole("length", length) - 1
    reached = angles(last, inv_freq) >= angle  # (dim/2,)
    return int(namespace(reached).count_nonzero(reached))


def critical_dimension(dim: int, base: float, length: int) -> int:
    """The dimensions whose pairs turn more than once within the trained length: 2·⌈dim/2 · log_base(length/2π)⌉.

    It is twice the index of the first pair that does not; counting the pairs also holds where the formula would leave
    0 … dim. Liu et al. call it the critical dimension for extrapolation.

    Args:
        dim: even and positive.
        base: finite and greater than 0.
        length: trained length in tokens, at least 1.

    Returns:
        an even number from 0 to dim. Raises as `posenc.frequencies.inv_freq` does, and TypeError or ValueError for a
        `length` that is no whole number of at least 1.

    Source: Liu et al. 2023, "Scaling Laws of RoPE-based Extrapolation".
    """
    return 2 * int(np.count_nonzero(turns(whole("length", length), make_inv_freq(dim, base)) > 1))


def fit_scores(targets: Array, inv_freq: Array, *, least_turns: float = 0.0, ridge: float = 0.0) -> ScoreFit:
    """Fits a score of distance to targets on a trained length, by least squares, and reads it elsewhere.

    A rotary score is f(m) = Σ_i (a_i·cos(m·θ_i) + b_i·sin(m·θ_i)) in the distance m, with a and b from query and key.
    Given any targets for m = 0 … length − 1, the best a and b are found; then f is read past the length and between
    the whole distances, where nothing has held it.

    The solver is a singular value decomposition. Without ridge, singular values up to ε·max(length, 2·pairs) times the
    greatest are left out, as numpy.linalg.lstsq does; with ridge r, σ/(σ² + r) stands for 1/σ. With pairs that have
    not turned, the columns are so nearly dependent that `past_range` is rounding blown up: only its size tells.

    Args:
        targets: shape (length,), real numbers; the experiment takes standard normal ones.
        inv_freq: shape (dim/2,), in radians per token.
        least_turns: only pairs that turn this often within the length are fitted with; not negative.
        ridge: weight of Σ (a² + b²) against the squared errors; not negative.

    Returns:
        a `ScoreFit`, everything in it in the library of the targets. `fingerprint(m, fit.inv_freq) @ fit.coefficients`
        is f(m).

    Raises:
        TypeError, ValueError: as `posenc.frequencies.angles` for `inv_freq`; targets that are no list of at least one
            finite number; `least_turns` or `ridge` negative or not finite; no pair that turns often enough.

    Source: the experiment is that of Chen et al. 2023 (position interpolation), figure 2.
    """
    like = first_array(targets, inv_freq)
    values, frequencies = floats("targets", targets, like=like), frequency_list(floats("inv_freq", inv_freq, like=like))
    if values.ndim != 1 or values.shape[0] == 0:
        raise ValueError(f"targets must have shape (length,), got {said(targets, values.shape)}")
    least_turns, ridge = _not_negative("least_turns", least_turns), _not_negative("ridge", ridge)
    xp, length = namespace(values), values.shape[0]
    chosen = frequencies[turns(length, frequencies) >= least_turns]
    if chosen.shape[0] == 0:
        raise ValueError(f"least_turns must leave some pairs, got {least_turns}: no pair turns as often in {length}")
    half_steps = xp.arange(2 * length, dtype=values.dtype, device=device_of(values)) / 2
    columns = fingerprint(half_steps[::2], chosen)  # (length, 2·pairs)
    left, singular, right = xp.linalg.svd(columns, full_matrices=False)
    if ridge:
        inverse = singular / (singular**2 + ridge)
    else:
        inverse = xp.where(_kept(singular, columns), 1 / _not_zero(singular), xp.zeros_like(singular))
    coefficients = xp.matrix_transpose(right) @ (inverse * (xp.matrix_transpose(left) @ values))

    def greatest(distances: Array) -> Array:
        return xp.max(xp.abs(fingerprint(distances, chosen) @ coefficients))

    whole_steps = 2 * half_steps
    return ScoreFit(
        chosen,
        coefficients,
        xp.where(singular[-1] > 0, singular[0] / _not_zero(singular[-1]), xp.full_like(singular[-1], math.inf)),
        greatest(whole_steps[:length]),
        greatest(whole_steps[length:]),
        greatest(half_steps),
    )


def least_distance(codes: Array) -> Array:
    """Uniqueness: the least distance between two rows. Ideal: well above 0; 0 means that two positions share a code.

    Args:
        codes: a table of at least 2 rows, shape (length, dim), the code of position t in row t.

    Returns:
        one number. Raises TypeError or ValueError for what is no such table, as all of its kind here do.
    """
    return namespace(codes).min(namespace(codes).concat(_distances(codes, 2)))


def greatest_norm(codes: Array) -> Array:
    """Boundedness: the greatest length of a row. Ideal: the same however long the table; growth drowns the words.

    Args:
        codes: a table of at least 1 row, shape (length, dim).

    Returns:
        one number.
    """
    table = _table("codes", codes, 1)
    return namespace(table).max(_norms(table))


def translation_residual(codes: Array) -> Array:
    """Translation invariance: how much the distance between two rows depends on where they are. Ideal: 0.

    For each offset k, 1 ≤ k < length/2, the distances |PE_{t+k} − PE_t| at all t have a mean and a standard deviation;
    the answer is the mean over k of deviation/mean.

    Args:
        codes: a table of at least 3 rows, shape (length, dim).

    Returns:
        one number, 0 where all distances of an offset agree.
    """
    return _mean_ratio(_distances(codes, 3), lambda apart, offset: namespace(apart).std(apart))


def left_right_difference(codes: Array) -> Array:
    """Symmetry: how differently k tokens to the right and k to the left lie from the same row. Ideal: 0.

    For each offset k, 1 ≤ k < length/2, the mean of ||PE_{t+k} − PE_t| − |PE_t − PE_{t−k}|| over the mean distance;
    the answer is its mean over k. A code that passes cannot tell left from right by distance or product alone: this
    wish and that for a sense of direction exclude each other.

    Args:
        codes: a table of at least 3 rows, shape (length, dim).

    Returns:
        one number.
    """

    def change(apart: Array, offset: int) -> Array:
        return namespace(apart).mean(namespace(apart).abs(apart[offset:] - apart[:-offset]))

    return _mean_ratio(_distances(codes, 3), change)


def monotonicity_violations(codes: Array) -> float:
    """Monotonicity: how often the farther of two rows to the right is the more similar one. Ideal: 0.

    It is the share of all triples of positions t < t + a < t + b with |PE_{t+b} − PE_t| < |PE_{t+a} − PE_t|. Falls of
    up to 10⁻⁹ of the greatest distance are taken for rounding. For rows of one length the product says the same.

    Args:
        codes: a table of at least 3 rows, shape (length, dim).

    Returns:
        a share, from 0 to 1. Noise gets about one half.
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
    """Linearity: what the best single matrix leaves when it moves every row by k tokens. Ideal: 0.

    The root of the mean over rows and dimensions of (PE_{t+k} − M·PE_t)², for the M that makes it least. M has no
    constant part. It is found by singular values, of which those up to ε·max(shape) of the greatest are left out.

    Args:
        codes: a table of more than offset + dim rows (with fewer, any table is fitted), shape (length, dim).
        offset: k, in tokens, at least 1.

    Returns:
        one number, in the units of the code.
    """
    offset = whole("offset", offset)
    table = _table("codes", codes, 1)
    if table.shape[0] <= offset + table.shape[1]:
        raise ValueError(
            f"codes must have more rows than offset + dim = {offset} + {table.shape[1]}, got shape {tuple(table.shape)}"
        )
    xp, before, after = namespace(table), table[:-offset], table[offset:]
    left, singular, _ = xp.linalg.svd(before, full_matrices=False)
    left = xp.where(_kept(singular, before), left, xp.zeros_like(left))
    return xp.sqrt(xp.mean((after - left @ (xp.matrix_transpose(left) @ after)) ** 2))


def period(codes: Array, tolerance: float = 1e-9) -> int | None:
    """Periodicity: the least offset at which every row comes back. It makes positions share codes, so ideal: None.

    Only offsets up to half the table are tried: beyond, there is no second turn to compare in full.

    Args:
        codes: a table of at least 2 rows, shape (length, dim).
        tolerance: greatest difference in a dimension that counts as none; finite and greater than 0.

    Returns:
        the offset in tokens, or None where there is none.
    """
    table, tolerance = _table("codes", codes, 2), positive("tolerance", tolerance)
    xp = namespace(table)
    for offset in range(1, table.shape[0] // 2 + 1):
        if bool(xp.all(xp.abs(table[offset:] - table[:-offset]) <= tolerance)):
            return offset
    return None


def length_dependence(shorter: Array, longer: Array) -> Array:
    """Whether a position keeps its code when the text grows: the greatest change of a shared row. Ideal: 0.

    Args:
        shorter: the table for one length, shape (length, dim).
        longer: the table for another, of as many rows or more and of the same width.

    Returns:
        the greatest length of the difference of two rows of one position.
    """
    first, second = _table("shorter", shorter, 1), _table("longer", longer, 1)
    namespace(first, second)  # refuses arrays of two libraries
    rows = first.shape[0]
    if second.shape[0] < rows or first.shape[1] != second.shape[1]:
        raise ValueError(
            "longer must have the width of shorter and at least its rows, "
            f"got shapes {tuple(second.shape)} and {tuple(first.shape)}"
        )
    return greatest_norm(second[:rows] - first)


def defined_share(code: Callable[[Array], Array], trained_length: int, length: int) -> float:
    """Extrapolation: the share of the positions past the trained length that have a code at all. Ideal: 1.

    Positions are asked for one at a time. A ValueError, an IndexError or a value that is not finite means that there
    is no code. That a code is defined does not say that a model can read it (`uncovered` is about that).

    Args:
        code: called with a NumPy array of one whole number, shape (1,); answers a code of shape (1, dim).
        trained_length: positions 0 … trained_length − 1 are known, at least 1.
        length: positions used, greater than `trained_length`.

    Returns:
        a share, from 0 to 1.

    Raises:
        TypeError: `code` cannot be called or answers another shape than (1, dim), or lengths that are no whole numbers.
        ValueError: lengths that do not grow. What `code` raises at the last known position is passed on.
    """
    trained, end = _lengths(trained_length, length)
    if not callable(code):
        raise TypeError(f"code must be a function of positions, got {said(code)}")

    def row(position: int) -> Array:
        answer = code(np.asarray([position]))
        if not is_array(answer) or answer.ndim != 2 or answer.shape[0] != 1:
            raise TypeError(
                f"code must answer an array of shape (1, dim) for one position, got {said(answer)} of {code!r}"
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


def four_terms(
    query_content: Array, key_content: Array, query_position: Array, key_position: Array, w_q: Array, w_k: Array
) -> FourTerms:
    """The score of word + position against word + position, taken apart: (x_t + p_t)ᵀ·W_qᵀ·W_k·(x_s + p_s).

    Multiplied out it is x_tᵀ·W·x_s + x_tᵀ·W·p_s + p_tᵀ·W·x_s + p_tᵀ·W·p_s with W = W_qᵀ·W_k. The second and the third
    term each hold one position only; the last alone sees both. Nothing is divided by √d.

    Args:
        query_content: x_t, shape (..., queries, dim).
        key_content: x_s, shape (..., keys, dim), with the same leading axes.
        query_position: p_t, shape (queries, dim) for all leading axes alike, or the shape of `query_content`.
        key_position: p_s, likewise for the keys.
        w_q, w_k: the projections, shape (head_dim, dim), as torch.nn.Linear keeps them.

    Returns:
        a `FourTerms` of float64 arrays of shape (..., queries, keys); their sum is the score.

    Raises:
        TypeError: no real numbers, or arrays of two libraries.
        ValueError: not finite, or shapes that do not fit.

    Source: Dai et al. 2019 (Transformer-XL), section 3.3, start from this expansion.
    """
    names = ("query_content", "key_content", "query_position", "key_position", "w_q", "w_k")
    given = (query_content, key_content, query_position, key_position, w_q, w_k)
    like = first_array(*given)
    x_t, x_s, p_t, p_s, q, k = (floats(name, array, like=like) for name, array in zip(names, given, strict=True))
    fits = x_t.ndim > 1 and x_s.ndim == x_t.ndim and x_s.shape[:-2] == x_t.shape[:-2] and x_s.shape[-1] == x_t.shape[-1]
    fits = fits and all(p.shape in (x.shape, x.shape[-2:]) for p, x in ((p_t, x_t), (p_s, x_s)))
    if not (fits and q.ndim == 2 and q.shape == k.shape and q.shape[1] == x_t.shape[-1]):
        shapes = ", ".join(
            f"{name} {tuple(array.shape)}" for name, array in zip(names, (x_t, x_s, p_t, p_s, q, k), strict=True)
        )
        raise ValueError(f"contents, positions and projections must fit each other, got shapes {shapes}")
    xp = namespace(x_t)
    weight = xp.matrix_transpose(q) @ k  # (dim, dim)
    terms = [left @ weight @ xp.matrix_transpose(right) for left in (x_t, p_t) for right in (x_s, p_s)]
    return FourTerms(*(xp.broadcast_to(term, terms[0].shape) for term in terms))


def offset_kernel(
    offsets: Array,
    positions: Array,
    dim: int,
    base: float = 10_000.0,
    weight: Array = None,
    *,
    layout: str = "interleaved",
) -> Array:
    """What a matrix between two sinusoidal codes makes of their offset: p_tᵀ·W·p_{t+Δ} at every position t.

    For W = I it is (dim/2)·S(Δ) at every t (see `decay`), and even in Δ. Any other W is what W_qᵀ·W_k may be: random
    ones make the product depend on t; those of `pairwise_weight` never do; `posenc.absolute.shift_matrix(1, dim)` moves
    the peak to Δ = −1, so that a head looks one token back.

    Args:
        offsets: Δ (key minus query), any real numbers, shape (offsets,), in tokens.
        positions: t, any real numbers, shape (positions,).
        dim: width of the code, at least 1.
        base: finite and greater than 0.
        weight: W, shape (dim, dim); the identity where it is left out. Gradients flow into it.
        layout: "interleaved" or "half", as in `posenc.absolute.sinusoidal`; W is read in it.

    Returns:
        float64, shape (positions, offsets).

    Raises:
        TypeError, ValueError: as `posenc.absolute.sinusoidal`; offsets or positions that are no list; a weight of
            another shape.

    Source: the experiment with a random W is that of Yan et al. 2019 (TENER).
    """
    like = first_array(offsets, positions, weight)
    apart, at = floats("offsets", offsets, like=like), floats("positions", positions, like=like)
    for name, array, given in (("offsets", apart, offsets), ("positions", at, positions)):
        if array.ndim != 1:
            raise ValueError(f"{name} must have shape ({name},), got {said(given, array.shape)}")
    query = sinusoidal(at, dim, base, layout)  # (positions, dim)
    key = sinusoidal(at[:, None] + apart, dim, base, layout)  # (positions, offsets, dim)
    if weight is not None:
        matrix = floats("weight", weight, like=like)
        if tuple(matrix.shape) != (dim, dim):
            raise ValueError(f"weight must have shape (dim, dim) = {(dim, dim)}, got {said(weight, matrix.shape)}")
        query = query @ matrix
    return (key @ query[..., None])[..., 0]


def pairwise_weight(a: Array, b: Array, layout: str = "interleaved") -> Array:
    """The matrix that scales and turns each pair by itself: blocks a_i·I + b_i·J with J = [[0, −1], [1, 0]].

    Between two sinusoidal codes it gives Σ_i (a_i·cos(Δ·θ_i) + b_i·sin(Δ·θ_i)), whatever the position: dim free numbers
    keep translation invariance exactly, and any b ≠ 0 tells left from right. With a_i = cos(k·θ_i), b_i = −sin(k·θ_i)
    it is `posenc.absolute.shift_matrix`.

    Args:
        a, b: one number for each pair, shape (dim/2,).
        layout: "interleaved" or "half", as in `posenc.absolute.sinusoidal`.

    Returns:
        float64, shape (dim, dim).

    Raises:
        TypeError: no real numbers, or arrays of two libraries.
        ValueError: not finite, not two lists of one length, or an unknown layout.
    """
    one_of("layout", layout, LAYOUTS)
    like = first_array(a, b)
    first, second = floats("a", a, like=like), floats("b", b, like=like)
    if first.ndim != 1 or first.shape[0] == 0 or first.shape != second.shape:
        raise ValueError(
            f"a and b must both have shape (dim/2,), got a = {said(a, first.shape)} and b = {said(b, second.shape)}"
        )
    xp, pairs = namespace(first), first.shape[0]
    rows = (xp.stack([first, 0.0 - second], axis=-1), xp.stack([second, first], axis=-1))
    blocks = xp.stack(rows, axis=-2)  # (pairs, 2, 2)
    apart = xp.eye(pairs, dtype=first.dtype, device=device_of(first))[:, None, :, None]
    matrix = apart * blocks[:, :, None, :]  # (pair, 2, pair, 2)
    if layout == "half":
        matrix = xp.permute_dims(matrix, (1, 0, 3, 2))
    return xp.reshape(matrix, (2 * pairs, 2 * pairs))


def kernel_residual(kernel: Array) -> Array:
    """How much of what a kernel of offsets says depends on the position: 0 for nothing, 1 for everything.

    The root of the share of the variance of all entries that is left within the columns, one column for an offset.

    Args:
        kernel: shape (positions, offsets), at least 2 positions, as `offset_kernel` gives.

    Returns:
        one number, from 0 to 1; 0 for a kernel of equal entries.
    """
    table = _table("kernel", kernel, 2)
    xp = namespace(table)
    return xp.sqrt(xp.mean(xp.var(table, axis=0)) / _not_zero(xp.var(table)))


def kernel_asymmetry(kernel: Array) -> Array:
    """How differently a kernel treats an offset to the right and the same to the left: 0 for not at all.

    The mean of |K(t, Δ) − K(t, −Δ)| over all entries, in standard deviations of all entries.

    Args:
        kernel: shape (positions, offsets), of offsets −n … n in this order, so an odd number of columns.

    Returns:
        one number, not negative; 0 for a kernel of equal entries.
    """
    table = _table("kernel", kernel, 1)
    if table.shape[1] % 2 == 0:
        raise ValueError(f"kernel must have the offsets −n … n as columns, got shape {tuple(table.shape)}")
    xp = namespace(table)
    return xp.mean(xp.abs(table - xp.flip(table, axis=-1))) / _not_zero(xp.std(table))


def uniform_attention_std(n_keys: Array) -> Array:
    """The standard deviation of a mean of n independent values of deviation 1: n^(−1/2).

    A causal head without any code that attends evenly writes such a mean; its size says how many keys there were.
    Equal values show nothing: their mean is the same for every n.

    Args:
        n_keys: n, whole numbers of at least 1, any shape.

    Returns:
        float64, shape of `n_keys`. Raises TypeError or ValueError for anything else.
    """
    return whole_numbers("n_keys", n_keys, least=1) ** -0.5


def first_tie(precision: str, limit: int = 10_000) -> int | None:
    """The first n at which n^(−1/2) and (n + 1)^(−1/2) are the same number once rounded.

    From there on a count that is written as that standard deviation can no longer be read exactly.

    Args:
        precision: "bfloat16", "float16" or "float32".
        limit: the greatest n that is tried, at least 1 and at most 10 000 000 (float16 stays normal throughout).

    Returns:
        n, or None where there is no tie up to `limit`.

    Raises:
        TypeError, ValueError: an unknown precision, or a limit out of range.
    """
    one_of("precision", precision, tuple(SIGNIFICANT_BITS))
    if whole("limit", limit) > 10_000_000:
        raise ValueError(f"limit must be at most 10000000, got {limit}")
    fraction, exponent = np.frexp(uniform_attention_std(np.arange(1, limit + 2)))
    bits = SIGNIFICANT_BITS[precision]
    rounded = np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits)  # half to even, as the formats round
    ties = np.flatnonzero(rounded[1:] == rounded[:-1])
    return int(ties[0]) + 1 if len(ties) else None


def needle_weight(n_keys: Array, logit: float, temperature: float = 1.0) -> Array:
    """The expected softmax weight of one key of a given logit among n − 1 keys of standard normal logits.

    Every other key takes a share, so that the weight falls with n although no logit changes: dilution. It is near
    e^(λ·logit) / (e^(λ·logit) + (n − 1)·e^(λ²/2)) for λ = 1/temperature, and never below that. The answer is exact to
    10⁻¹²: with X the sum of the other exponentials over e^(λ·logit), E[1/(1 + X)] = ∫ e^(−s)·E[e^(−s·X)] ds, and
    the inner mean is the (n − 1)-th power of that of one key. Both integrals are trapezoidal sums of smooth functions
    that vanish at both ends, which converge faster than any power of the step.

    Args:
        n_keys: n, whole numbers of at least 1, any shape.
        logit: of the one key, from −100 to 100.
        temperature: by which all logits are divided, as in `posenc.attention.attention`; finite and at least 0.1.

    Returns:
        float64, shape of `n_keys`, from 0 to 1; 1 for a single key.

    Raises:
        TypeError, ValueError: no whole numbers, or a logit or temperature out of range.
    """
    keys = whole_numbers("n_keys", n_keys, least=1)
    if isinstance(logit, bool) or not isinstance(logit, Real):
        raise TypeError(f"logit must be a number, got {said(logit)}")
    if not -100 <= logit <= 100:
        raise ValueError(f"logit must be from -100 to 100, got {logit!r}")
    if positive("temperature", temperature) < 0.1:
        raise ValueError(f"temperature must be at least 0.1, got {temperature!r}")
    if 0 in keys.shape:
        return keys
    xp, sharpness = namespace(keys), 1 / temperature
    others = np.asarray(keys.cpu() if hasattr(keys, "cpu") else keys) - 1.0
    step = 0.2 / max(sharpness, 1.0)
    noise = np.arange(-10, 10 + step / 2, step)
    density = step * np.exp(-(noise**2) / 2) / math.sqrt(2 * math.pi)
    # s runs over all sizes that the weight can have, from e^−40 of the least one on.
    least = -40 - math.log(others.max() + 1) - sharpness * max(0.0, 10 - logit)
    log_s = np.arange(least, 5, 0.2)
    share = np.exp(np.minimum(log_s[:, None] + sharpness * (noise - logit), 700))  # (s, noise), short of overflow
    lost, left = -np.expm1(-share) @ density, np.exp(-share) @ density  # 1 − mean and mean, both without cancelling
    log_mean = np.where(lost < 0.5, np.log1p(-np.minimum(lost, 0.5)), np.log(np.maximum(left, 1e-300)))
    weight = 0.2 * np.sum(np.exp(log_s - np.exp(log_s) + others[..., None] * log_mean), axis=-1)
    return xp.asarray(weight, dtype=keys.dtype, device=device_of(keys))


def _turned(offsets: Array, inv_freq: Array) -> Array:
    """The angles of `offsets`, which are named as such where they are refused."""
    return angles(floats("offsets", offsets, like=inv_freq), inv_freq)


def _not_negative(name: str, value: float) -> float:
    """`value` as a float, after checking that it is a finite number of at least 0."""
    return 0.0 if not isinstance(value, bool) and isinstance(value, Real) and value == 0 else positive(name, value)


def _lengths(trained_length: int, length: int) -> tuple[int, int]:
    """Both lengths, after checking that the second goes past the first."""
    if whole("length", length) <= whole("trained_length", trained_length):
        raise ValueError(f"length must be greater than trained_length, got {length} and {trained_length}")
    return int(trained_length), int(length)


def _table(name: str, value: Array, rows: int) -> Array:
    """`value` as a two-dimensional array of finite numbers with at least so many rows."""
    table = floats(name, value)
    if table.ndim != 2 or table.shape[0] < rows or table.shape[1] == 0:
        raise ValueError(
            f"{name} must have two axes, at least {rows} rows and a column, got {said(value, table.shape)}"
        )
    return table


def _not_zero(value: Array) -> Array:
    """`value` with 1 for 0, to divide by where 0 divided by 0 is to be 0."""
    xp = namespace(value)
    return xp.where(value == 0, xp.ones_like(value), value)


def _kept(singular: Array, matrix: Array) -> Array:
    """Which singular values of a matrix are more than rounding."""
    return singular > namespace(matrix).finfo(matrix.dtype).eps * max(matrix.shape) * singular[0]


def _norms(rows: Array) -> Array:
    """The lengths of rows, (length, dim) to (length,)."""
    return namespace(rows).linalg.vector_norm(rows, axis=-1)


def _distances(codes: Array, rows: int) -> list[Array]:
    """The distances of rows k apart, for k = 1, 2, …: |PE_{t+k} − PE_t| for every t, shape (length − k,)."""
    table = _table("codes", codes, rows)
    return [_norms(table[offset:] - table[:-offset]) for offset in range(1, table.shape[0])]


def _mean_ratio(by_offset: list[Array], measure: Callable[[Array, int], Array]) -> Array:
    """The mean over the offsets below half the length of a measure of the distances over their mean."""
    ratios = []
    for offset in range(1, len(by_offset) // 2 + 1):
        apart = by_offset[offset - 1]
        ratios.append(measure(apart, offset) / _not_zero(namespace(apart).mean(apart)))
    return namespace(*ratios).mean(namespace(*ratios).stack(ratios))

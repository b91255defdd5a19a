"""Past the trained length: angles never met, the critical dimension, scores fitted and read farther out."""

from __future__ import annotations

import math
from numbers import Real
from typing import NamedTuple

import numpy as np

from posenc._arrays import (
    Array,
    as_float_array,
    check_int,
    check_inv_freq,
    check_positive,
    describe,
    device_of,
    first_array,
    namespace,
)
from posenc.analysis._shared import growing_lengths, more_than_rounding, not_zero
from posenc.analysis.distance import fingerprint
from posenc.frequencies import angles, rotations
from posenc.frequencies import inv_freq as make_inv_freq


class ScoreFit(NamedTuple):
    """What `fit_scores` answers."""

    inv_freq: Array  # (pairs,), the frequencies that were fitted with
    coefficients: Array  # (2·pairs,), of the cosines and then of the sines, as `fingerprint` lists them
    condition: Array  # greatest over least singular value of the columns
    in_range: Array  # greatest absolute value at 0 … length − 1
    past_range: Array  # … at length … 2·length − 1
    half_steps: Array  # … at 0, 1/2, 1, … length − 1/2


def unseen_angles(inv_freq: Array, trained_length: int, length: int, tolerance: float = 0.01) -> Array:
    """The share of the angles past the trained length that training has never met, pair by pair.

    An angle at a position trained_length … length − 1, modulo a turn, counts as new if it is farther than `tolerance`,
    in radians, from each of the angles at 0 … trained_length − 1. Returns shape (dim/2,), from 0 (nothing new) to 1
    (all new).

    >>> unseen_angles([1.0, 0.01, 0.0], trained_length=400, length=800).tolist()
    [0.0, 0.5675, 0.0]
    """
    tolerance, (trained, end) = check_positive("tolerance", tolerance), growing_lengths(trained_length, length)
    frequencies = check_inv_freq(inv_freq)
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


def pairs_reaching(inv_freq: Array, length: int, angle: float) -> int:
    """How many pairs reach an `angle` > 0, in radians, within a length: those with (length − 1)·θ_i ≥ angle.

    At π/2 a pair's cosine has come down to 0, at π it is at its least, and at 2π the pair has met every angle.

    >>> pairs_reaching([1.0, 0.1, 0.01], length=100, angle=math.pi)
    2
    """
    angle, last = check_positive("angle", angle), check_int("length", length) - 1
    reached = angles(last, inv_freq) >= angle  # (dim/2,)
    return int(namespace(reached).count_nonzero(reached))


def critical_dimension(dim: int, base: float, length: int) -> int:
    """The dimensions whose pairs turn more than once within the trained length: 2·⌈dim/2 · log_base(length/2π)⌉.

    Source: Liu et al. 2023, "Scaling Laws of RoPE-based Extrapolation".

    >>> critical_dimension(128, 10_000, length=4096)
    92
    """
    return 2 * int(np.count_nonzero(rotations(check_int("length", length), make_inv_freq(dim, base)) > 1))


def fit_scores(targets: Array, inv_freq: Array, *, min_rotations: float = 0.0, ridge: float = 0.0) -> ScoreFit:
    """Fits a score of distance to targets on a trained length, by least squares, and reads it elsewhere.

    A rotary score is f(m) = Σ_i (a_i·cos(m·θ_i) + b_i·sin(m·θ_i)) in the distance m. Given any targets for m = 0 …
    length − 1, the best a and b are found; then f is read past the length and between the whole distances.

    The solver is a singular value decomposition. Without ridge, singular values up to ε·max(length, 2·pairs) times the
    greatest are left out, as numpy.linalg.lstsq does; with ridge r, σ/(σ² + r) stands for 1/σ. With pairs that have not
    turned, the columns are so nearly dependent that `past_range` is rounding blown up: only its size tells.

    Args:
        targets: shape (length,), real numbers; the experiment takes standard normal ones.
        min_rotations: fit only with pairs that make at least this many rotations within the length; at least 0.
        ridge: weight of Σ (a² + b²) against the squared errors; not negative.

    Returns a `ScoreFit` in the library of the targets; `fingerprint(m, fit.inv_freq) @ fit.coefficients` is f(m).
    Source: the experiment is that of figure 2 in Chen et al. 2023, "Extending Context Window of Large Language Models
    via Positional Interpolation".

    >>> fit = fit_scores([1.0, 0.0, -1.0, 0.0], [math.pi / 2])
    >>> abs(fit.coefficients).round(6).tolist(), float(fit.past_range.round(6))
    ([1.0, 0.0], 1.0)
    """
    like = first_array(targets, inv_freq)
    values, frequencies = (
        as_float_array("targets", targets, like=like),
        check_inv_freq(as_float_array("inv_freq", inv_freq, like=like)),
    )
    if values.ndim != 1 or values.shape[0] == 0:
        raise ValueError(f"targets must have shape (length,), got {describe(targets, values.shape)}")
    min_rotations, ridge = _not_negative("min_rotations", min_rotations), _not_negative("ridge", ridge)
    xp, length = namespace(values), values.shape[0]
    chosen = frequencies[rotations(length, frequencies) >= min_rotations]
    if chosen.shape[0] == 0:
        raise ValueError(
            f"min_rotations must leave some pairs, got {min_rotations}: no pair turns as often in {length}"
        )
    half_steps = xp.arange(2 * length, dtype=values.dtype, device=device_of(values)) / 2
    columns = fingerprint(half_steps[::2], chosen)  # (length, 2·pairs)
    left, singular, right = xp.linalg.svd(columns, full_matrices=False)
    if ridge:
        inverse = singular / (singular**2 + ridge)
    else:
        inverse = xp.where(more_than_rounding(singular, columns), 1 / not_zero(singular), xp.zeros_like(singular))
    coefficients = xp.matrix_transpose(right) @ (inverse * (xp.matrix_transpose(left) @ values))

    def greatest(distances: Array) -> Array:
        return xp.max(xp.abs(fingerprint(distances, chosen) @ coefficients))

    whole_steps = 2 * half_steps
    return ScoreFit(
        chosen,
        coefficients,
        xp.where(singular[-1] > 0, singular[0] / not_zero(singular[-1]), xp.full_like(singular[-1], math.inf)),
        greatest(whole_steps[:length]),
        greatest(whole_steps[length:]),
        greatest(half_steps),
    )


def _not_negative(name: str, value: float) -> float:
    """`value` as a float, after checking that it is a finite number of at least 0."""
    return (
        0.0 if not isinstance(value, bool) and isinstance(value, Real) and value == 0 else check_positive(name, value)
    )

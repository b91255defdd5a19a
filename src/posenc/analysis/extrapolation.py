"""Past the trained length: unseen angles, the critical dimension, fitted scores extrapolated."""

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
    """The result of `fit_scores`."""

    inv_freq: Array  # (pairs,), the frequencies used
    coefficients: Array  # (2·pairs,), of the cosines, then of the sines, as in `fingerprint`
    condition: Array  # ratio of maximum to minimum singular value
    in_range: Array  # maximum absolute score at 0 … length − 1
    past_range: Array  # … at length … 2·length − 1
    half_steps: Array  # … at 0, 1/2, 1, … length − 1/2


def unseen_angles(inv_freq: Array, trained_length: int, length: int, tolerance: float = 0.01) -> Array:
    """The fraction of each pair's angles past the trained length that never occur in training (OOD rotations).

    The angle at a position trained_length … length − 1, modulo 2π, is unseen if it differs by more than `tolerance`
    radians from all angles at 0 … trained_length − 1. Returns shape (dim/2,), from 0 (none unseen) to 1 (all unseen).

    >>> unseen_angles([1.0, 0.01, 0.0], trained_length=400, length=800).tolist()
    [0.0, 0.5675, 0.0]
    """
    tolerance, (trained, end) = check_positive("tolerance", tolerance), growing_lengths(trained_length, length)
    frequencies = check_inv_freq(inv_freq)
    xp, full = namespace(frequencies), 2 * math.pi
    positions = xp.arange(end, dtype=frequencies.dtype, device=device_of(frequencies))
    fractions = []
    for frequency in frequencies:  # pair by pair, to save memory
        at = angles(positions, frequency[None])[:, 0] % full  # (length,)
        seen, used = xp.sort(at[:trained]), at[trained:]
        seen = xp.concat([seen, seen[:1] + full])  # angle 0 is also 2π
        after = xp.searchsorted(seen, used, side="right")
        away = xp.minimum(used - seen[after - 1], seen[after] - used)
        fractions.append(xp.mean(xp.astype(away > tolerance, frequencies.dtype)))
    return xp.stack(fractions)


def pairs_reaching(inv_freq: Array, length: int, angle: float) -> int:
    """How many pairs reach an `angle` > 0, in radians, within a length: (length − 1)·θ_i ≥ angle.

    At π/2 a pair's cosine has fallen to 0, at π to its minimum, and at 2π the pair has completed a rotation.

    >>> pairs_reaching([1.0, 0.1, 0.01], length=100, angle=math.pi)
    2
    """
    angle, last = check_positive("angle", angle), check_int("length", length) - 1
    reached = angles(last, inv_freq) >= angle  # (dim/2,)
    return int(namespace(reached).count_nonzero(reached))


def critical_dimension(dim: int, base: float, length: int) -> int:
    """The number of dimensions whose pairs rotate more than once within the length: 2·⌈dim/2 · log_base(length/2π)⌉.

    Source: Liu et al. 2023, "Scaling Laws of RoPE-based Extrapolation".

    >>> critical_dimension(128, 10_000, length=4096)
    92
    """
    return 2 * int(np.count_nonzero(rotations(check_int("length", length), make_inv_freq(dim, base)) > 1))


def fit_scores(targets: Array, inv_freq: Array, *, min_rotations: float = 0.0, ridge: float = 0.0) -> ScoreFit:
    """Fits a rotary score to targets at distances within a length by least squares, and evaluates it elsewhere.

    The score is f(m) = Σ_i (a_i·cos(m·θ_i) + b_i·sin(m·θ_i)). Its coefficients are fitted to targets at m = 0 … length
    − 1; then f is evaluated past the length and between the integer distances.

    The solver is a singular value decomposition. Without ridge, singular values up to ε·max(length, 2·pairs) times the
    maximum are dropped, as in numpy.linalg.lstsq; with ridge r, 1/σ becomes σ/(σ² + r). With pairs of less than a
    rotation the columns are nearly dependent, and `past_range` is amplified rounding: only its order of magnitude means
    something.

    Args:
        targets: shape (length,), real numbers; standard normal ones in the experiment.
        min_rotations: fit only with pairs that make at least this many rotations within the length; at least 0.
        ridge: weight of Σ (a² + b²) against the squared errors; at least 0.

    Returns a `ScoreFit` in the library of the targets; `fingerprint(m, fit.inv_freq) @ fit.coefficients` is f(m).
    Source: figure 2 of Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
    Interpolation".

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
        raise ValueError(f"min_rotations must leave some pairs, got {min_rotations}, more than any makes in {length}")
    half_steps = xp.arange(2 * length, dtype=values.dtype, device=device_of(values)) / 2
    columns = fingerprint(half_steps[::2], chosen)  # (length, 2·pairs)
    left, singular, right = xp.linalg.svd(columns, full_matrices=False)
    if ridge:
        inverse = singular / (singular**2 + ridge)
    else:
        inverse = xp.where(more_than_rounding(singular, columns), 1 / not_zero(singular), xp.zeros_like(singular))
    coefficients = xp.matrix_transpose(right) @ (inverse * (xp.matrix_transpose(left) @ values))

    def maximum(distances: Array) -> Array:
        return xp.max(xp.abs(fingerprint(distances, chosen) @ coefficients))

    integers = 2 * half_steps
    return ScoreFit(
        chosen,
        coefficients,
        xp.where(singular[-1] > 0, singular[0] / not_zero(singular[-1]), xp.full_like(singular[-1], math.inf)),
        maximum(integers[:length]),
        maximum(integers[length:]),
        maximum(half_steps),
    )


def _not_negative(name: str, value: float) -> float:
    """`value` as a float, after checking that it is finite and at least 0."""
    return (
        0.0 if not isinstance(value, bool) and isinstance(value, Real) and value == 0 else check_positive(name, value)
    )

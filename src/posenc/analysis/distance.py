"""Scores as a function of distance: decay, its law and bounds, fingerprints, the minimum base."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

import numpy as np

from posenc._arrays import (
    Array,
    as_float_array,
    check_even_dim,
    check_int,
    check_positive,
    describe,
    describe_values,
    device_of,
    namespace,
    scipy_module,
)
from posenc.frequencies import angles
from posenc.frequencies import inv_freq as make_inv_freq


def decay(offsets: Array, inv_freq: Array) -> Array:
    """The all-ones score S(m) = (2/d) Σ_i cos(m·θ_i), in the shape of `offsets`, in [−1, 1].

    The score of a query and a key that are equal in every pair, m tokens apart, relative to distance 0; also the cosine
    similarity of two sinusoidal encodings m positions apart.

    >>> decay([0, 1, 100], [1.0, 0.1, 0.01, 0.001]).round(3).tolist()
    [1.0, 0.884, 0.39]
    """
    phi = _angles(offsets, inv_freq)  # (..., dim/2)
    xp = namespace(phi)
    return xp.mean(xp.cos(phi), axis=-1)


def decay_law(offsets: Array, base: float) -> Array:
    """The limit of S(m) for many pairs: (Ci(m) − Ci(m/base)) / ln base, in the shape of `offsets`.

    This is the integral of cos(m·base^(−x)) over x from 0 to 1, with SciPy's cosine integral Ci. It is 1 at m = 0, even
    in m, and cos m for base 1.

    >>> decay_law([0, 64, 4096], base=10_000).round(3).tolist()
    [1.0, 0.487, 0.039]
    """
    base = check_positive("base", base)
    distance = as_float_array("offsets", offsets)
    xp = namespace(distance)
    if base == 1.0:
        return xp.cos(distance)
    sici = scipy_module("special").sici  # of NumPy arrays only; torch has no cosine integral
    m = np.abs(np.asarray(distance.cpu() if hasattr(distance, "cpu") else distance))
    away = np.where(m == 0, 1.0, m)
    law = np.where(m == 0, 1.0, (sici(away)[1] - sici(away / base)[1]) / math.log(base))
    return xp.asarray(law, dtype=distance.dtype, device=device_of(distance))


def decay_logarithm(offsets: Array, base: float) -> Array:
    """The logarithmic law that S(m) follows for 1 ≪ m ≪ base: 1 − (ln m + γ) / ln base, in the shape of `offsets`.

    γ = 0.5772… is Euler's constant. Outside that range it approximates nothing. Offsets must be greater than 0 and
    `base` greater than 1.

    >>> decay_logarithm([64, 512], base=10_000).round(3).tolist()
    [0.486, 0.26]
    """
    base = check_positive("base", base)
    if base <= 1:
        raise ValueError(f"base must be greater than 1 for the logarithm, got {base}")
    distance = as_float_array("offsets", offsets)
    xp = namespace(distance)
    if bool(xp.any(distance <= 0)):
        raise ValueError(
            f"offsets must be greater than 0 for the logarithm, got {describe_values(offsets, distance <= 0)}"
        )
    return 1 - (xp.log(distance) + np.euler_gamma) / math.log(base)


def abel_bound(offsets: Array, inv_freq: Array) -> Array:
    """RoFormer's bound: the mean over j of |S_j|, where S_j is the sum of e^{i·m·θ} over the first j pairs.

    Summation by parts bounds a score by (maximum difference of neighbouring pairs) × Σ_j |S_j|. The mean, in the shape
    of `offsets` and in units of one pair, is (dim/2 + 1)/2 at m = 0. The order of the pairs in `inv_freq` matters.

    Source: Su et al. 2021, section 3.4.3, equations (35) to (37).

    >>> abel_bound([0, 100], [1.0, 0.1, 0.01, 0.001]).round(3).tolist()
    [2.5, 1.054]
    """
    phi = _angles(offsets, inv_freq)  # (..., dim/2)
    xp = namespace(phi)
    real = xp.cumulative_sum(xp.cos(phi), axis=-1)
    imaginary = xp.cumulative_sum(xp.sin(phi), axis=-1)
    return xp.mean(xp.sqrt(real**2 + imaginary**2), axis=-1)


def expected_score(offsets: Array, inv_freq: Array, correlation: float) -> tuple[Array, Array]:
    """Exact mean and variance of the rotary score of random queries and keys, each in the shape of `offsets`.

    Each coordinate of q is standard normal, and k = ρ·q + √(1 − ρ²)·(an independent standard normal) with ρ the
    `correlation`, from −1 to 1. Without division by √d, and with sums over all dim/2 pairs,

        mean = 2ρ Σ cos(m·θ_i),   variance = Σ (2(1 − ρ²) + 4ρ² cos²(m·θ_i)).

    >>> mean, variance = expected_score(0, [1.0, 0.1], correlation=0.5)
    >>> float(mean), float(variance)
    (2.0, 5.0)
    """
    if isinstance(correlation, bool) or not isinstance(correlation, Real):
        raise TypeError(f"correlation must be a number, got {describe(correlation)}")
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must be from -1 to 1, got {correlation!r}")
    phi = _angles(offsets, inv_freq)  # (..., dim/2)
    xp = namespace(phi)
    cosines = xp.cos(phi)
    mean = 2 * correlation * xp.sum(cosines, axis=-1)
    variance = xp.sum(2 * (1 - correlation**2) + 4 * correlation**2 * cosines**2, axis=-1)
    return mean, variance


def fingerprint(offsets: Array, inv_freq: Array) -> Array:
    """The fingerprint of a distance: (cos m·θ_i, …, sin m·θ_i, …), all of it that a rotary score depends on.

    Returns shape (*offsets.shape, dim), of norm √(dim/2).

    >>> fingerprint(2, [1.0, 0.1]).round(3).tolist()
    [-0.416, 0.98, 0.909, 0.199]
    """
    phi = _angles(offsets, inv_freq)  # (..., dim/2)
    xp = namespace(phi)
    return xp.concat([xp.cos(phi), xp.sin(phi)], axis=-1)


def fingerprint_similarity(first: Array, second: Array, inv_freq: Array) -> Array:
    """Cosine similarity of the fingerprints of two distances; it equals S(first − second).

    >>> float(fingerprint_similarity(500, 501, [1.0, 0.1]).round(3))
    0.768
    """
    return decay(
        as_float_array("first", first, like=inv_freq) - as_float_array("second", second, like=inv_freq), inv_freq
    )


def fingerprint_difference(first: float, second: float, inv_freq: Array) -> Array:
    """The fraction of each pair in the squared difference of two fingerprints: 2(1 − cos((a − b)·θ_i)), normalised.

    Returns shape (dim/2,), at least 0, with sum 1. Raises ValueError for equal fingerprints.

    >>> fingerprint_difference(500, 501, [1.0, 0.1]).round(3).tolist()
    [0.989, 0.011]
    """
    offset = as_float_array("first", first, like=inv_freq) - as_float_array("second", second, like=inv_freq)
    phi = angles(offset, inv_freq)  # (dim/2,)
    xp = namespace(phi)
    squared = 4 * xp.sin(phi / 2) ** 2  # 2(1 − cos), accurate for slow pairs
    total = xp.sum(squared)
    if float(total) == 0:
        raise ValueError(
            f"first and second must differ in their fingerprints, got {describe(first)} and {describe(second)}"
        )
    return squared / total


def min_base(length: int, dim: int, bases: Sequence[float]) -> float | None:
    """The smallest of `bases` > 0 whose all-ones score stays at or above 0 up to `length`, or None.

    Every integer distance up to `length` is checked. The bases that pass do not form an interval, so the result depends
    on the grid.

    Source: Men et al. 2024, "Base of RoPE Bounds Context Length", section 4.

    >>> min_base(2048, 128, [1e4, 1.2e4, 1.6e4])
    16000.0
    """
    distances, dim = np.arange(check_int("length", length) + 1), check_even_dim(dim)
    grid = as_float_array("bases", bases)
    if grid.ndim != 1 or grid.shape[0] == 0 or bool(np.any(np.asarray(grid) <= 0)):
        raise ValueError(f"bases must be a list of numbers greater than 0, got {describe(bases)}")
    for base in sorted(bases):
        if bool(np.all(decay(distances, make_inv_freq(dim, base)) >= 0)):
            return base
    return None


def _angles(offsets: Array, inv_freq: Array) -> Array:
    """Angles, with errors that name `offsets`."""
    return angles(as_float_array("offsets", offsets, like=inv_freq), inv_freq)

"""The sine and cosine integrals, and two quantiles, on NumPy."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

_SERIES_TO = 4.0  # up to here the power series, beyond it the continued fraction


def _series(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Si and Ci by their power series."""
    si, ci = np.zeros_like(x), np.euler_gamma + np.log(x)
    term = np.ones_like(x)
    for k in range(1, 41):
        term = term * x / k  # x^k / k!
        sign = -1.0 if k // 2 % 2 else 1.0
        if k % 2:
            si = si + sign * term / k
        else:
            ci = ci + sign * term / k
    return si, ci


def _fraction(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Si and Ci by the continued fraction of the exponential integral E₁(ix), by Lentz's method."""
    d = 1 / (1 + 1j * x)
    h, c = d, np.full_like(d, np.inf)
    for k in range(1, 200):
        a, b = -(k**2), 2 * k + 1 + 1j * x
        d = 1 / (a * d + b)
        c = b if k == 1 else b + a / c
        h = h * c * d
        if np.all(np.abs(c * d - 1) < 1e-15):
            break
    e1 = np.exp(-1j * x) * h  # −Ci(x) + i (Si(x) − π/2)
    return np.pi / 2 + e1.imag, -e1.real


def sici(x: Any) -> tuple[Any, Any]:
    """The sine integral and the cosine integral of positive numbers."""
    x = np.asarray(x, dtype=float)
    if not np.all(x > 0):
        raise ValueError("sici takes positive numbers only in a page")
    near = x <= _SERIES_TO
    si, ci = np.empty_like(x), np.empty_like(x)
    for where, by in ((near, _series), (~near, _fraction)):
        if np.any(where):
            si[where], ci[where] = by(x[where])
    return si[()], ci[()]


def ndtri(p: float) -> float:
    """The quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(p)


def _student(t: float, freedom: int) -> float:
    """Student's distribution function, in closed form for a whole number of degrees of freedom."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine = math.cos(angle) ** 2
    if freedom % 2:
        total, term = 0.0, math.cos(angle)
        for k in range(1, (freedom - 1) // 2 + 1):
            total += term
            term *= cosine * 2 * k / (2 * k + 1)
        return 0.5 + (angle + math.sin(angle) * total) / math.pi
    total, term = 0.0, 1.0
    for k in range(1, freedom // 2 + 1):
        total += term
        term *= cosine * (2 * k - 1) / (2 * k)
    return 0.5 + math.sin(angle) * total / 2


def stdtrit(freedom: float, p: float) -> float:
    """The quantile of Student's distribution for a whole number of degrees of freedom, by bisection."""
    if freedom != int(freedom) or freedom < 1 or not 0 < p < 1:
        raise ValueError(f"stdtrit takes whole degrees of freedom and 0 < p < 1 in a page, got {freedom}, {p}")
    least, most = -1e8, 1e8
    while (middle := (least + most) / 2) not in (least, most):
        least, most = (middle, most) if _student(middle, int(freedom)) < p else (least, middle)
    return middle

"""The sine and cosine integrals, the error function, and two quantiles, on NumPy."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

SERIES_TO = 8.0  # up to here the power series, beyond it an integral without waves


def _series(x: np.ndarray) -> np.ndarray:
    """Ci + i Si by their power series: γ + ln x + Σ (ix)^k / (k k!)."""
    total, term = np.euler_gamma + np.log(x) + 0j, np.ones_like(x) + 0j
    for k in range(1, 60):
        term = term * 1j * x / k
        total = total + term / k
    return total


def _integral(x: np.ndarray) -> np.ndarray:
    """The same by the exponential integral, E₁(ix) = −Ci + i (Si − π/2) = exp(−ix) ∫ exp(−s) / (s + ix) ds."""
    nodes, weights = np.polynomial.laguerre.laggauss(80)
    e1 = np.exp(-1j * x) * sum(weight / (node + 1j * x) for node, weight in zip(nodes, weights, strict=True))
    return -e1.real + 1j * (e1.imag + np.pi / 2)


def sici(x: Any) -> tuple[Any, Any]:
    """The sine integral and the cosine integral of positive numbers."""
    x = np.asarray(x, dtype=float)
    found = np.where(x <= SERIES_TO, _series(np.minimum(x, SERIES_TO)), _integral(np.maximum(x, SERIES_TO)))
    return found.imag[()], found.real[()]


def erf(x: Any) -> Any:
    """The error function."""
    return np.vectorize(math.erf, otypes=[float])(x)[()]


def ndtri(p: float) -> float:
    """The quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(p)


def stdtrit(freedom: float, p: float) -> float:
    """The quantile of Student's distribution: t = √ν tan α, and α has the density cos(α)^(ν − 1), up to a factor."""
    nodes, weights = np.polynomial.legendre.leggauss(64)

    def area(angle: float) -> float:
        return float(angle * weights @ np.cos(angle * (nodes + 1) / 2) ** (freedom - 1))

    low, high = -math.pi / 2, math.pi / 2
    wanted = (2 * p - 1) * area(high)
    for _ in range(60):  # by bisection
        middle = (low + high) / 2
        low, high = (middle, high) if area(middle) < wanted else (low, middle)
    return math.sqrt(freedom) * math.tan(low)

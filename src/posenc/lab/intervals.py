"""Confidence intervals of means over seeds and over windows of text: a bootstrap over two crossed factors.

Seeds and files are both samples, so both are resampled. Two methods measured with the same seeds on the same windows
are compared by their paired differences, which hardly depend on how hard a window is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posenc._arrays import check_int, scipy_module

RESAMPLES = 4000
LEVEL = 0.95


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:z.2f} [{self.low:z.2f}, {self.high:z.2f}]"

    @property
    def includes_zero(self) -> bool:
        """Whether a difference is not significant at the 5 % level."""
        return self.low <= 0 <= self.high


def interval(values: np.ndarray, groups: np.ndarray | None = None, resamples: int = RESAMPLES) -> Interval:
    """The mean over seeds and windows, with a 95 % interval.

    With few seeds a plain bootstrap is too narrow: it underestimates the variance and ignores that it is an estimate.
    So differences between seeds, and between groups, are first scaled by √(n/(n − 1)) and by the quantile of Student's
    t over that of the normal distribution. A factor with one level is not resampled.

    Args:
        values: shape (seeds, windows); for two methods, their differences.
        groups: of the windows, shape (windows,); windows of one file share a group. None: each is its own group.
        resamples: number of bootstrap samples, at least 100.

    Raises:
        TypeError, ValueError: arrays of another shape, numbers that are not finite, or too few resamples.

    Source: Owen 2007, "The pigeonhole bootstrap", for two factors drawn independently; the scaling is ours, after
    Student's interval for a mean.

    Example:
        >>> found = interval(np.array([[1.0, 3.0], [2.0, 4.0]]))
        >>> found.mean, found.low < 2.5 < found.high
        (2.5, True)
    """
    values = np.asarray(values, float)
    if values.ndim != 2 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"values must be finite numbers of shape (seeds, windows), got shape {values.shape}")
    number = np.arange(values.shape[1]) if groups is None else np.asarray(groups)
    if number.shape != values.shape[1:]:
        raise ValueError(f"groups must have shape ({values.shape[1]},), got shape {number.shape}")
    _, of = np.unique(number, return_inverse=True)
    sizes = np.bincount(of).astype(float)  # (groups,)
    means = np.stack([np.bincount(of, row) for row in values]) / sizes  # (seeds, groups)
    by_seed, by_group = means @ sizes / sizes.sum(), means.mean(axis=0)
    mean = float(by_seed.mean())
    widening = [_widening(count) for count in means.shape]
    rest = means - by_seed[:, None] - by_group + mean
    means = mean + widening[0] * (by_seed - mean)[:, None] + widening[1] * (by_group - mean) + rest
    random = np.random.RandomState(0)
    seeds = _drawn(random, means.shape[0], check_int("resamples", resamples, 100))  # (resamples, seeds)
    weights = _drawn(random, means.shape[1], resamples) * sizes  # (resamples, groups)
    drawn = np.einsum("rs,sg,rg->r", seeds, means, weights) / (means.shape[0] * weights.sum(axis=1))
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(mean, float(low), float(high))


def _widening(count: int) -> float:
    """The factor that makes the bootstrap interval of a mean of `count` values as wide as Student's."""
    if count < 2:
        return 1.0
    tail, special = (1 + LEVEL) / 2, scipy_module("special")
    return float(np.sqrt(count / (count - 1)) * special.stdtrit(count - 1, tail) / special.ndtri(tail))


def _drawn(random: np.random.RandomState, count: int, times: int) -> np.ndarray:
    """How often each of `count` items is drawn with replacement in `count` draws, shape (times, count)."""
    return random.multinomial(count, np.full(count, 1 / count), size=times)

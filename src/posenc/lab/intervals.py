"""How sure a mean is that was measured with several seeds on the windows of several files.

Seeds and files are both a sample: other initial weights and other texts would have given another mean. So both are
drawn anew, with replacement, and the mean is computed each time (a bootstrap over two crossed factors). Two methods
that answered the same windows with the same seeds are compared by their differences, which hardly depend on how hard a
window is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posenc._arrays import check_int, scipy_module

RESAMPLES = 4000
LEVEL = 0.95


class Interval(NamedTuple):
    """A mean, and between what it lies in 95 of 100 repetitions."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:z.2f} [{self.low:z.2f}, {self.high:z.2f}]"

    @property
    def is_level(self) -> bool:
        """Whether a difference cannot be told from none."""
        return self.low <= 0 <= self.high


def interval(values: np.ndarray, groups: np.ndarray | None = None, resamples: int = RESAMPLES) -> Interval:
    """The mean over seeds and windows, with an interval of 95 %.

    With few seeds a bootstrap is too sure of itself: a mean of n draws from n values spreads less than one of n new
    values, and how much they spread is itself guessed from few. So what differs between seeds, and between groups, is
    stretched before it is drawn from, by √(n/(n − 1)) and by the quantile of Student's t over that of the normal
    distribution. One seed or one group says nothing of others, and then is not drawn anew.

    Args:
        values: one number for each seed and window, shape (seeds, windows); for two methods, their differences.
        groups: of the windows, shape (windows,): those of one file belong together. None: each is a group of its own.
        resamples: how often seeds and groups are drawn anew, at least 100.

    Raises:
        TypeError, ValueError: arrays of another shape, numbers that are not finite, or too few resamples.

    Source: Owen 2007, "The pigeonhole bootstrap", for two factors drawn independently; the stretching is ours, after
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
    stretch = [_stretch(count) for count in means.shape]
    rest = means - by_seed[:, None] - by_group + mean
    means = mean + stretch[0] * (by_seed - mean)[:, None] + stretch[1] * (by_group - mean) + rest
    random = np.random.RandomState(0)
    seeds = _drawn(random, means.shape[0], check_int("resamples", resamples, 100))  # (resamples, seeds)
    weights = _drawn(random, means.shape[1], resamples) * sizes  # (resamples, groups)
    drawn = np.einsum("rs,sg,rg->r", seeds, means, weights) / (means.shape[0] * weights.sum(axis=1))
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(mean, float(low), float(high))


def _stretch(count: int) -> float:
    """What makes the bootstrap of a mean of so many values as wide as Student's interval."""
    if count < 2:
        return 1.0
    tail, special = (1 + LEVEL) / 2, scipy_module("special")
    return float(np.sqrt(count / (count - 1)) * special.stdtrit(count - 1, tail) / special.ndtri(tail))


def _drawn(random: np.random.RandomState, count: int, times: int) -> np.ndarray:
    """How often each of so many is drawn, when as many are drawn as there are, with replacement."""
    return random.multinomial(count, np.full(count, 1 / count), size=times)

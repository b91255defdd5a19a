"""posenc.lab.intervals: on data whose mean is known, intervals hold it about as often as they say."""

import numpy as np
import pytest

from posenc.lab.intervals import Interval, interval

FILES = np.repeat(np.arange(30), 10)


def drawn(random, seeds, of_seed, of_file, of_window, noise, groups=FILES):
    """Values of mean 2, with errors of their own of every seed, file, window, and seed and window."""
    return (
        2
        + of_seed * random.randn(seeds, 1)
        + of_file * random.randn(groups.max() + 1)[groups]
        + of_window * random.randn(len(groups))
        + noise * random.randn(seeds, len(groups))
    )


@pytest.mark.parametrize(
    ("seeds", "of_seed", "of_file", "of_window"),
    [(5, 0.0, 0.2, 0.5), (3, 0.1, 0.0, 0.1)],
)
def test_it_holds_the_mean_about_as_often_as_it_says(seeds, of_seed, of_file, of_window):
    random, times = np.random.RandomState(1), 200
    found = [interval(drawn(random, seeds, of_seed, of_file, of_window, 0.1), FILES, 200) for _ in range(times)]
    held = sum(one.low <= 2 <= one.high for one in found) / times
    assert 0.88 <= held <= 0.99
    assert all(one.low <= one.mean <= one.high for one in found)


def test_who_forgets_the_files_is_too_sure():
    """The control that must fail: windows of one file are alike, and taken one by one they promise too much."""
    random, times = np.random.RandomState(2), 60
    found = [interval(drawn(random, 3, 0.0, 0.5, 0.3, 0.1), None, 200) for _ in range(times)]
    assert sum(one.low <= 2 <= one.high for one in found) / times < 0.75


def test_a_difference_on_the_same_windows_is_surer_than_two_means():
    random = np.random.RandomState(3)
    windows = 0.5 * random.randn(len(FILES))
    one, other = (windows + 0.02 * random.randn(3, len(FILES)) + shift for shift in (0.0, 0.03))
    paired = interval(other - one, FILES)
    assert not paired.includes_zero
    assert paired.low < 0.03 < paired.high
    apart = [interval(values, FILES) for values in (one, other)]
    assert paired.high - paired.low < 0.2 * (apart[0].high - apart[0].low)
    assert interval(one - one, FILES).includes_zero


def test_the_mean_is_that_of_all_values_and_the_same_twice():
    values = np.random.RandomState(4).randn(4, 7)
    groups = np.array([0, 0, 0, 1, 1, 2, 5])
    first, again = (interval(values, groups) for _ in range(2))
    assert first == again
    assert first.mean == pytest.approx(values.mean())
    assert str(Interval(1.234, 1.0, 1.5)) == "1.23 [1.00, 1.50]"
    assert str(Interval(-0.004, -0.006, 0.001)) == "0.00 [-0.01, 0.00]"


@pytest.mark.parametrize(
    ("values", "groups", "said"),
    [
        (np.zeros(3), None, r"values must be finite numbers of shape \(seeds, windows\), got shape \(3,\)"),
        (np.array([[1.0, np.nan]]), None, "values must be finite numbers"),
        (np.zeros((2, 3)), np.zeros(2), r"groups must have shape \(3,\), got shape \(2,\)"),
    ],
)
def test_what_no_mean_can_be_made_of_is_refused(values, groups, said):
    with pytest.raises(ValueError, match=said):
        interval(values, groups)

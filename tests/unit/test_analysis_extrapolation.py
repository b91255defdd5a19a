"""posenc.analysis.extrapolation: known shares and pairs, slow references, fits against the normal equations."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.analysis import critical_dimension, fingerprint, fit_scores, pairs_reaching, unseen_angles
from posenc.frequencies import angles, inv_freq


def slow_unseen_angles(frequencies, trained, length, tolerance):
    """Every new angle against every angle of training, around the circle."""
    at = angles(np.arange(length), frequencies)  # (length, pairs)
    apart = at[trained:, None] - at[None, :trained]
    around = np.abs((apart + math.pi) % (2 * math.pi) - math.pi)
    return np.mean(around.min(axis=1) > tolerance, axis=0)


@settings(max_examples=60)
@given(st.lists(st.floats(0, 7), min_size=1, max_size=4), st.integers(1, 60), st.integers(1, 60), st.floats(1e-3, 4))
def test_unseen_angles_against_every_angle(frequencies, trained, more, tolerance):
    found = unseen_angles(frequencies, trained, trained + more, tolerance)
    # an angle exactly as far as the tolerance may be rounded to either side
    least, most = (
        slow_unseen_angles(np.array(frequencies), trained, trained + more, tolerance + slack) for slack in (1e-9, -1e-9)
    )
    assert np.all((least - 1e-12 <= found) & (found <= most + 1e-12))


def test_unseen_angles_by_hand():
    quarter = math.pi / 2
    # 0, 1/4, 1/2 of a turn are met; of 3/4, 1 (met as 0) and 5/4 (met as 1/4) one is new; a pair at rest meets nothing
    np.testing.assert_allclose(unseen_angles([quarter, 0.0], 3, 6), [1 / 3, 0])
    assert unseen_angles([0.1], 1, 2, 0.099) == 1
    assert unseen_angles([0.1], 1, 2, 0.101) == 0
    assert unseen_angles([2 * math.pi - 0.005], 1, 2) == 0  # just short of a turn lies beside 0
    assert unseen_angles([0.003, math.pi], 1, 5).tolist() == [0.25, 0.5]


def test_known_pairs_that_reach():
    assert [pairs_reaching(inv_freq(128), 4096, node) for node in (math.pi / 2, math.pi, 2 * math.pi)] == [55, 50, 46]
    # the last position is length − 1, and reaching is enough
    assert [pairs_reaching([1.0, 0.5], 3, angle) for angle in (1, 1.5, 2, 2.5)] == [2, 1, 1, 0]


def test_known_critical_dimension():
    assert critical_dimension(128, 1e4, 4096) == 92
    assert critical_dimension(128, 1e4, 2048) == 82
    assert critical_dimension(128, 1e4, 1) == 0
    assert critical_dimension(128, 10.0, 10**6) == 128


@given(st.integers(1, 4), st.integers(9, 40), st.floats(0, 10), st.integers(0, 100))
def test_fits_against_the_normal_equations(pairs, length, ridge, seed):
    rng = np.random.default_rng(seed)
    frequencies = np.sort(rng.uniform(0.3, 3.0, pairs))[::-1] + np.arange(pairs)[::-1] * 0.01
    targets = rng.standard_normal(length)
    columns = np.concatenate([f(np.arange(length)[:, None] * frequencies) for f in (np.cos, np.sin)], axis=1)
    if np.linalg.cond(columns) > 1e4:
        return
    fit = fit_scores(targets, frequencies, ridge=ridge)
    expected = np.linalg.solve(columns.T @ columns + ridge * np.eye(2 * pairs), columns.T @ targets)
    np.testing.assert_allclose(fit.coefficients, expected, atol=1e-6)
    np.testing.assert_allclose(fit.condition, np.linalg.cond(columns))
    for distances, greatest in (
        (np.arange(length), fit.in_range),
        (np.arange(length, 2 * length), fit.past_range),
        (np.arange(2 * length) / 2, fit.half_steps),
    ):
        curve = sum(
            a * np.cos(distances * w) + b * np.sin(distances * w)
            for a, b, w in zip(fit.coefficients[:pairs], fit.coefficients[pairs:], frequencies, strict=True)
        )
        np.testing.assert_allclose(greatest, np.abs(curve).max(), rtol=1e-9)
        np.testing.assert_allclose(curve, fingerprint(distances, fit.inv_freq) @ fit.coefficients, atol=1e-9)


def test_fits_of_dependent_columns():
    fit = fit_scores(np.ones(8), [0.0])  # the sine of a pair at rest is a column of zeros
    assert fit.condition == math.inf
    np.testing.assert_allclose(fit.coefficients, [1, 0], atol=1e-12)
    assert fit_scores(np.zeros(1), [1.0]).in_range == 0
    # cos m and sin m twice: the shorter of all solutions, as numpy.linalg.lstsq gives
    np.testing.assert_allclose(fit_scores(np.cos(np.arange(9)), [1.0, 1.0]).coefficients, [0.5, 0.5, 0, 0], atol=1e-12)

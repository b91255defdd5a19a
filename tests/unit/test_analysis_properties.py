"""posenc.analysis.properties: known tables, values by hand, slow loops, and codes that miss one requirement each."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import binary
from posenc.analysis import (
    defined_fraction,
    left_right_difference,
    max_norm,
    min_distance,
    monotonicity_violations,
    period,
    shift_residual,
    translation_residual,
)


def test_properties_by_hand():
    steps = np.array([[0.0, 0], [1, 0], [3, 0], [2, 2]])
    np.testing.assert_allclose(min_distance(steps), 1)
    np.testing.assert_allclose(max_norm(steps), 3)
    near = np.array([1, 2, math.sqrt(5)])  # one step apart; only offset 1 is below half of 4
    np.testing.assert_allclose(translation_residual(steps), near.std() / near.mean())
    np.testing.assert_allclose(left_right_difference(steps), np.mean([1, math.sqrt(5) - 2]) / near.mean())
    # from row 0: 1, 3, √8: one fall in three; from row 1: 2, √5: none
    assert monotonicity_violations(steps) == 1 / 4
    assert monotonicity_violations(np.array([[0.0], [2.0], [1.0]])) == 1
    assert monotonicity_violations(np.array([[0.0], [1.0], [1.0]])) == 0  # a tie is no fall
    assert monotonicity_violations(np.array([[0.0], [1.0], [1.0 - 1e-12]])) == 0  # nor is rounding
    # M = (1·2 + 2·4 + 4·9)/(1 + 4 + 16) leaves −0.19, −0.38 and 0.24
    np.testing.assert_allclose(shift_residual(np.array([[1.0], [2.0], [4.0], [9.0]]), 1), 0.2817, atol=5e-5)
    assert period(np.array([[0.0], [1.0]] * 3)) == 2
    assert period(np.ones((2, 1))) == 1
    assert period(np.array([[0.0], [1.0], [2.0], [0.0]])) is None  # one row that comes back is not enough
    assert period(np.array([[0.0], [1e-3]]), 0.01) == 1


def slow_residual_and_difference(codes):
    ratios, sides = [], []
    for k in range(1, (len(codes) + 1) // 2):
        apart = [np.linalg.norm(codes[t + k] - codes[t]) for t in range(len(codes) - k)]
        ratios.append(np.std(apart) / np.mean(apart))
        both = [abs(apart[t] - apart[t - k]) for t in range(k, len(codes) - k)]
        sides.append(np.mean(both) / np.mean(apart))
    return np.mean(ratios), np.mean(sides)


def slow_violations(codes):
    falls = total = 0
    for t in range(len(codes)):
        for near in range(t + 1, len(codes)):
            for far in range(near + 1, len(codes)):
                total += 1
                falls += np.linalg.norm(codes[far] - codes[t]) < np.linalg.norm(codes[near] - codes[t]) - 1e-6
    return falls / total


@given(st.integers(3, 14), st.integers(1, 5), st.integers(0, 1000))
def test_properties_against_slow_loops(length, dim, seed):
    codes = np.random.default_rng(seed).standard_normal((length, dim))
    pairs = [np.linalg.norm(codes[a] - codes[b]) for a in range(length) for b in range(a)]
    np.testing.assert_allclose(min_distance(codes), min(pairs))
    np.testing.assert_allclose(max_norm(codes), np.linalg.norm(codes, axis=1).max())
    residual, sides = slow_residual_and_difference(codes)
    np.testing.assert_allclose(translation_residual(codes), residual)
    np.testing.assert_allclose(left_right_difference(codes), sides)
    np.testing.assert_allclose(monotonicity_violations(codes), slow_violations(codes))
    if length > dim + 1:
        before, after = codes[:-1], codes[1:]
        left = after - before @ np.linalg.lstsq(before, after, rcond=None)[0]
        np.testing.assert_allclose(shift_residual(codes, 1), math.sqrt(np.mean(left**2)))


def test_where_a_code_is_defined():
    gap = {3: np.array([[np.nan, 1.0]]), 4: np.array([[np.inf, 1.0]])}
    assert defined_fraction(lambda at: gap.get(int(at[0]), np.ones((1, 2))), 2, 6) == 0.5
    assert defined_fraction(lambda at: np.eye(5)[at], 3, 6) == 2 / 3  # an IndexError is a missing code
    with pytest.raises(ValueError, match="positions must be at most 3"):  # a code that is not even defined in training
        defined_fraction(lambda at: binary(at, 2), 9, 12)
    with pytest.raises(TypeError, match=r"encoding must return an array of shape \(1, dim\)"):
        defined_fraction(lambda at: np.ones(3), 2, 4)

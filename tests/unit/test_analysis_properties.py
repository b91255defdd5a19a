"""posenc.analysis.properties: known tables, values by hand, slow loops, and codes that fail one wish each."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.absolute import binary, integer, learned, normalised, sinusoidal
from posenc.analysis import (
    defined_fraction,
    left_right_difference,
    length_dependence,
    max_norm,
    min_distance,
    monotonicity_violations,
    period,
    shift_residual,
    translation_residual,
)
from tests.unit.test_analysis import TABLES

bases = st.floats(1.0, 1e8)


@pytest.mark.parametrize(
    ("name", "residual", "violations"),
    [
        ("integer", 0, 0),
        ("normalised", 0, 0),
        ("binary", 0.146, 0.280),
        ("harmonic", 0.126, 0.164),
        ("dyadic", 0.197, 0.369),
        ("sinusoidal", 0, 0.313),
        ("noise", 0.179, 0.546),
    ],
)
def test_known_properties(name, residual, violations):
    assert abs(translation_residual(TABLES[name]) - residual) < (5e-4 if residual else 1e-12)
    assert abs(monotonicity_violations(TABLES[name]) - violations) < (5e-4 if violations else 1e-12)


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


@settings(max_examples=25)
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


@settings(max_examples=25)
@given(st.integers(1, 32), bases, st.integers(1, 20))
def test_sinusoids_pass_what_they_are_made_for(pairs, base, offset):
    codes = sinusoidal(np.arange(90), 2 * pairs, base)
    np.testing.assert_allclose(max_norm(codes), math.sqrt(pairs))
    assert translation_residual(codes) < 1e-9
    assert left_right_difference(codes) < 1e-9
    assert shift_residual(codes, offset) < 1e-9
    assert length_dependence(codes[:40], codes) == 0


def test_each_early_code_fails_its_own_wish():
    t = np.arange(512)
    assert max_norm(integer(t, 16)) == 4 * 511  # grows with the text
    assert min_distance(normalised(t, 512, 16)) < 0.01
    assert length_dependence(normalised(t[:64], 64, 16), normalised(t, 512, 16)) > 3
    assert length_dependence(binary(t[:64], 16), binary(t, 16)) == 0
    assert period(binary(t % 16, 4)) == 16
    assert min_distance(binary(t % 16, 4)) == 0
    assert period(sinusoidal(t, 16)) is None
    table = np.random.default_rng(0).standard_normal((64, 16))
    assert defined_fraction(lambda at: learned(at, table), 64, 128) == 0
    assert defined_fraction(lambda at: binary(at, 7), 64, 192) == 0.5
    assert defined_fraction(lambda at: sinusoidal(at, 16), 64, 128) == 1


def test_where_a_code_is_defined():
    gap = {3: np.array([[np.nan, 1.0]]), 4: np.array([[np.inf, 1.0]])}
    assert defined_fraction(lambda at: gap.get(int(at[0]), np.ones((1, 2))), 2, 6) == 0.5
    assert defined_fraction(lambda at: np.eye(5)[at], 3, 6) == 2 / 3  # an IndexError is a missing code
    with pytest.raises(ValueError, match="positions must be at most 3"):  # a code that is not even defined in training
        defined_fraction(lambda at: binary(at, 2), 9, 12)
    with pytest.raises(TypeError, match=r"encoding must return an array of shape \(1, dim\)"):
        defined_fraction(lambda at: np.ones(3), 2, 4)

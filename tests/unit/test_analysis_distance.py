"""posenc.analysis.distance: known figures, the law as an integral, sampled scores, fingerprints."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from posenc.analysis import (
    abel_bound,
    decay,
    decay_law,
    decay_logarithm,
    expected_score,
    fingerprint,
    fingerprint_difference,
    fingerprint_similarity,
    min_base,
)
from posenc.frequencies import inv_freq
from posenc.rotary import rotate

dims = st.integers(1, 128).map(lambda pairs: 2 * pairs)
bases = st.floats(1.0, 1e8)
offsets = st.integers(-65_536, 65_536)


def test_known_decay():
    # 2Σcos(mθ) for d = 128, published with independent code
    expected = [128, 124.19, 91.44, 61.04, 28.09, -6.77]
    np.testing.assert_allclose(128 * decay([0, 1, 8, 64, 512, 4096], inv_freq(128)), expected, atol=0.006)


def test_known_bound():
    expected = [32.50, 31.54, 17.95, 12.63, 10.23, 7.24, 4.47]
    np.testing.assert_allclose(abel_bound([0, 1, 10, 50, 100, 200, 1000], inv_freq(128)), expected, atol=0.006)


@given(offsets, dims, bases)
def test_decay_is_the_score_of_equal_rotated_vectors(offset, dim, base):
    frequencies = inv_freq(dim, base)
    ones = np.ones((1, dim))
    score = rotate(ones, offset * frequencies) @ ones[0] / dim
    np.testing.assert_allclose(score, [decay(offset, frequencies)], atol=1e-12)


@pytest.mark.parametrize("base", [2.0, 100.0, 1e4, 1e8])
@pytest.mark.parametrize("offset", [0, 0.5, 1, 7, 40])
def test_the_law_is_the_integral_over_the_pairs(base, offset):
    integral, _ = quad(lambda x: math.cos(offset * base**-x), 0, 1, limit=500)
    np.testing.assert_allclose(decay_law(offset, base), integral, atol=1e-9)
    np.testing.assert_allclose(decay_law(-offset, base), integral, atol=1e-9)


def test_one_common_speed_has_a_single_wave_as_its_law():
    m = np.arange(-50, 50)
    np.testing.assert_allclose(decay_law(m, 1.0), np.cos(m))
    np.testing.assert_allclose(decay(m, inv_freq(64, 1.0)), np.cos(m), atol=1e-12)


def test_the_logarithm_joins_the_law_in_its_range():
    m = np.arange(30, 300)
    np.testing.assert_allclose(decay_logarithm(m, 1e6), decay_law(m, 1e6), atol=0.003)


@settings(max_examples=20)
@given(st.floats(-1, 1), st.integers(0, 5000))
def test_expected_score_against_sampling(correlation, offset):
    rng = np.random.default_rng(0)
    frequencies = inv_freq(16)
    q, noise = rng.standard_normal((2, 40_000, 16))
    k = correlation * q + math.sqrt(1 - correlation**2) * noise
    scores = np.sum(rotate(q, offset * frequencies) * k, axis=-1)
    mean, variance = expected_score(offset, frequencies, correlation)
    assert abs(scores.mean() - mean) < 5 * math.sqrt(variance / 40_000)
    assert abs(scores.var() / variance - 1) < 0.1


@given(offsets, offsets, dims, bases)
def test_fingerprints(first, second, dim, base):
    frequencies = inv_freq(dim, base)
    a, b = fingerprint(first, frequencies), fingerprint(second, frequencies)
    assert a.shape == (dim,)
    np.testing.assert_allclose(a @ a, dim / 2)
    np.testing.assert_allclose(a @ b / (dim / 2), fingerprint_similarity(first, second, frequencies), atol=1e-9)
    if first != second:
        squared = ((a - b) ** 2).reshape(2, -1).sum(axis=0)
        np.testing.assert_allclose(
            fingerprint_difference(first, second, frequencies), squared / squared.sum(), atol=1e-6
        )


def test_least_base_takes_the_smallest_that_passes_on_its_grid():
    grid = [1e4, 1.2e4, 1.6e4, 1e6]
    assert min_base(2048, 128, grid) == 1.6e4
    assert decay(np.arange(2049), inv_freq(128, 1.2e4)).min() < 0 <= decay(np.arange(2049), inv_freq(128, 1.6e4)).min()
    assert min_base(100_000, 128, [1e4]) is None
    assert min_base(1, 2, [1e4]) == 1e4
    assert min_base(2, 2, [1e4]) is None  # cos 2 < 0: the length itself is checked

"""posenc.scaling.by_parts: both ramps and where they lie, their limits, Llama 3, and the temperature."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.frequencies import inv_freq, rotations
from posenc.scaling import correction_range, mscale, ramp_by_pair, ramp_by_rotations, yarn

dims = st.integers(1, 128).map(lambda pairs: 2 * pairs)
bases = st.floats(1.01, 1e8)
factors = st.floats(1, 1000)
lengths = st.integers(1, 2**20)
betas = st.tuples(st.floats(0.05, 64), st.floats(0.05, 64)).map(sorted)  # slow, fast


def test_where_the_ramp_of_the_released_code_lies():
    where = partial(correction_range, original_max_position_embeddings=2048)
    assert where(128) == (16, 41)
    assert where(128, truncate=False) == pytest.approx((16.128, 40.210), abs=1e-3)
    kept = ramp_by_pair(128, original_max_position_embeddings=2048)
    np.testing.assert_allclose(kept[[0, 16, 17, 40, 41, 63]], [1, 1, 0.96, 0.04, 0, 0], atol=1e-15)


LENGTH = "original_max_position_embeddings"


@given(dims, bases, lengths, betas, st.booleans())
def test_the_two_ramps(dim, base, length, bounds, truncate):
    slow, fast = bounds
    shared = {LENGTH: length, "beta_fast": fast, "beta_slow": slow}
    by_turns = ramp_by_rotations(dim, base, **shared)
    by_pair = ramp_by_pair(dim, base, **shared, truncate=truncate)
    made = rotations(length, inv_freq(dim, base))
    for kept in (by_turns, by_pair):
        assert kept.shape == (dim // 2,)
        assert np.all((kept >= 0) & (kept <= 1))
        assert np.all(kept[1:] <= kept[:-1])
    assert np.all(by_turns[made >= fast] == 1)
    assert np.all(by_turns[made < slow] == 0)
    low, high = correction_range(dim, base, **shared, truncate=truncate)
    assert low >= 0
    assert high <= dim - 1
    if low < high:
        pairs = np.arange(dim // 2)
        np.testing.assert_array_equal(by_pair[pairs <= low], 1)
        np.testing.assert_array_equal(by_pair[pairs >= high], 0)
        np.testing.assert_allclose(np.interp(pairs, [low, high], [1, 0]), by_pair, atol=1e-9)
    for kept, ramp in ((by_turns, "paper"), (by_pair, "released")):
        scaled = yarn(dim, base, factor=5, **shared, ramp=ramp, truncate=truncate)
        np.testing.assert_allclose(scaled.inv_freq, inv_freq(dim, base) * (kept + (1 - kept) / 5), rtol=1e-13)
        assert scaled.attention_factor == mscale(5)


def test_equal_bounds_make_a_step():
    made = rotations(10_000, inv_freq(8))
    kept = ramp_by_rotations(8, original_max_position_embeddings=10_000, beta_fast=made[2], beta_slow=made[2])
    assert kept.tolist() == [1, 1, 1, 0]
    assert kept.dtype == np.float64
    # The same of the released ramp, whose range is empty at a pair, or between two.
    bounds = {"original_max_position_embeddings": 2, "beta_fast": 2.0, "beta_slow": 0.3183098861837907}
    assert correction_range(8, **bounds) == (0, 0)
    assert ramp_by_pair(8, **bounds).tolist() == [1, 0, 0, 0]
    between = {"original_max_position_embeddings": 10_000, "beta_fast": 50.0, "beta_slow": 50.0, "truncate": False}
    low, high = correction_range(8, **between)
    assert 1 < low == high < 2
    assert ramp_by_pair(8, **between).tolist() == [1, 1, 0, 0]


def test_what_the_released_ramp_does_at_its_limits():
    """No pair makes a turn: nothing is slowed. Every pair makes 32 and the range is past the end: all are slowed."""
    few = {"dim": 128, "original_max_position_embeddings": 4}
    assert correction_range(**few) == (0, -3)
    assert ramp_by_pair(**few).tolist() == [1] * 64
    assert ramp_by_rotations(**few).tolist() == [0] * 64
    many = {"dim": 8, "base": 10, "original_max_position_embeddings": 10**9}
    assert correction_range(**many) == (26, 7)
    assert ramp_by_pair(**many).tolist() == [0] * 4
    assert ramp_by_rotations(**many).tolist() == [1] * 4


@given(dims, bases, st.floats(1e-3, 1e3), st.floats(0.1, 3))
def test_the_temperature(dim, base, factor, weight):
    expected = 1 + 0.1 * weight * math.log(factor) if factor > 1 else 1
    assert mscale(factor, weight) == pytest.approx(expected, abs=1e-14)
    assert mscale(factor) == mscale(factor, 1.0)
    if factor >= 1:
        shared = {"dim": dim, "base": base, "factor": factor, LENGTH: 4096}
        assert yarn(**shared).attention_factor == mscale(factor)
        both = yarn(**shared, mscale=weight, mscale_all_dim=0.5)
        assert both.attention_factor == mscale(factor, weight) / mscale(factor, 0.5)
        assert yarn(**shared, mscale=weight, mscale_all_dim=weight).attention_factor == 1.0
        given_one = yarn(**shared, mscale=weight, mscale_all_dim=0.5, attention_factor=0.25)
        assert given_one.attention_factor == 0.25
        np.testing.assert_array_equal(given_one.inv_freq, yarn(**shared).inv_freq)


@pytest.mark.parametrize("given_one", [{"mscale": 0.7}, {"mscale_all_dim": 0.7}])
def test_one_mscale_alone_is_refused(given_one):
    with pytest.raises(ValueError, match="mscale and mscale_all_dim must be given together"):
        yarn(8, factor=4, original_max_position_embeddings=64, **given_one)

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


def test_the_temperature():
    assert (mscale(0.5), mscale(1), mscale(4, 0.5)) == (1, 1, pytest.approx(1 + 0.05 * math.log(4), abs=1e-15))
    shared = {"dim": 64, "factor": 4, LENGTH: 4096}
    both = {"mscale": 0.7, "mscale_all_dim": 0.5}
    assert yarn(**shared, **both).attention_factor == mscale(4, 0.7) / mscale(4, 0.5)
    assert yarn(**shared, **both, attention_factor=0.25).attention_factor == 0.25
    with pytest.raises(ValueError, match="mscale and mscale_all_dim must be given together"):
        yarn(**shared, mscale=0.7)

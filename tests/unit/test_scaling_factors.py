"""posenc.scaling.factors: one factor for all pairs, one for each, and pairs that stand still."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.frequencies import inv_freq
from posenc.scaling import axial, longrope, proportional

dims = st.integers(1, 128).map(lambda pairs: 2 * pairs)
bases = st.floats(1.01, 1e8)
factors = st.floats(1, 1000)


def test_longrope_chooses_its_list_by_the_length_at_hand():
    lists = {"short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.0, 4.0, 9.0, 1.0]}
    chosen = partial(longrope, 8, 1e4, **lists, original_max_position_embeddings=64, factor=4)
    for seq_len, name in ((0, "short_factor"), (64, "short_factor"), (65, "long_factor"), (10**6, "long_factor")):
        scaled = chosen(seq_len=seq_len)
        np.testing.assert_allclose(scaled.inv_freq, inv_freq(8) / lists[name], rtol=1e-15)
        assert scaled.attention_factor == pytest.approx(math.sqrt(1 + math.log(4) / math.log(64)), abs=1e-15)
    assert chosen(seq_len=65, attention_factor=1.25).attention_factor == 1.25
    alone = longrope(8, **lists, seq_len=1, original_max_position_embeddings=1, attention_factor=1.25)
    assert alone.attention_factor == 1.25
    with pytest.raises(ValueError, match="factor must be given where attention_factor is not, got None"):
        longrope(8, **lists, seq_len=1, original_max_position_embeddings=64)


@given(dims, bases, st.floats(0, 1), factors)
def test_proportional_stops_the_slow_pairs(dim, base, share, factor):
    scaled = proportional(dim, base, partial_rotary_factor=share, factor=factor).inv_freq
    turning = math.floor(share * dim / 2)
    np.testing.assert_array_equal(scaled[:turning], inv_freq(dim, base)[:turning] / factor)
    np.testing.assert_array_equal(scaled[turning:], np.zeros(dim // 2 - turning))


@pytest.mark.parametrize(("dim", "n_axes", "pairs"), [(12, 1, 6), (12, 2, 3), (12, 3, 2), (80, 3, 13)])
def test_axes_have_a_whole_list_each(dim, n_axes, pairs):
    expected = [100.0 ** (-pair / pairs) for pair in range(pairs)]
    np.testing.assert_allclose(axial(dim, 100.0, n_axes=n_axes).inv_freq, expected, rtol=1e-14)


def test_axes_that_share_a_list_take_turns_in_it():
    expected = [100.0 ** (-pair / 6) for pair in (0, 3, 1, 4, 2, 5)]
    np.testing.assert_allclose(axial(12, 100.0, n_axes=3, shared=True).inv_freq, expected, rtol=1e-14)


def test_what_axes_cannot_share():
    with pytest.raises(ValueError, match="dim must be a multiple of 6, for 3 axes of whole pairs, got 8"):
        axial(8, n_axes=3, shared=True)

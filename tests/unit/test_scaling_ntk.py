"""posenc.scaling.ntk: the greater base, its two ends, and the length at hand."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.frequencies import inv_freq
from posenc.scaling import dynamic_ntk, ntk_aware, ntk_base

wide_dims = st.integers(2, 128).map(lambda pairs: 2 * pairs)  # NTK scaling needs two pairs
bases = st.floats(1.01, 1e8)
lengths = st.integers(1, 2**20)


def test_the_greater_base():
    assert [round(ntk_base(128, factor=factor)) for factor in (2, 4, 8)] == [20_221, 40_890, 82_685]
    assert ntk_base(128, factor=4) / 10_000 == pytest.approx(4.089, abs=5e-4)
    slowed = inv_freq(128) / ntk_aware(128, factor=4).inv_freq
    np.testing.assert_allclose(slowed[[0, 32, 63]], [1, 2.022, 4], atol=5e-4)


@given(wide_dims, bases, st.integers(0, 2**20), lengths)
def test_dynamic_is_ntk_by_the_length_at_hand(dim, base, seq_len, length):
    for factor in (None, 1, 1.0):
        scaled = dynamic_ntk(dim, base, seq_len=seq_len, original_max_position_embeddings=length, factor=factor)
        expected = ntk_aware(dim, base, factor=max(seq_len, length) / length)
        np.testing.assert_allclose(scaled.inv_freq, expected.inv_freq, rtol=1e-13)


def test_a_factor_beyond_floats_is_refused():
    with pytest.raises(ValueError, match=re.escape("factor must leave base·factor^(dim/(dim − 2)) finite, got 1e+200")):
        ntk_base(4, factor=1e200)
    assert math.isfinite(ntk_base(4, factor=1e150))

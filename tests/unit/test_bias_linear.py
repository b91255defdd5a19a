"""posenc.bias.linear: published slopes, straight lines, the product of vectors with two entries, half precision."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import relative_positions
from posenc.attention import attention
from posenc.bias import alibi, alibi_rank_two, alibi_slopes
from tests.unit.bias_arguments import normal

seeds = st.integers(0, 2**32 - 1)
heads_counts = st.integers(1, 100)
rates = st.lists(st.floats(1e-3, 4), min_size=1, max_size=4)
places = st.lists(st.floats(0, 1e5), min_size=1, max_size=8)


def test_published_slopes():
    eight = [2.0**-h for h in range(1, 9)]
    np.testing.assert_array_equal(alibi_slopes(8), eight)
    np.testing.assert_array_equal(alibi_slopes(4), [0.25, 0.0625, 0.015625, 0.00390625])
    np.testing.assert_allclose(alibi_slopes(12), eight + [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5], rtol=1e-15)
    np.testing.assert_allclose(alibi_slopes(12)[8:], [0.7071, 0.3536, 0.1768, 0.0884], atol=5e-5)
    np.testing.assert_array_equal(alibi_slopes(1), [2.0**-8])
    np.testing.assert_array_equal(alibi_slopes(2), [2.0**-4, 2.0**-8])
    assert alibi_slopes(3).dtype == np.float64


@given(heads_counts)
def test_slopes_are_the_power_below_and_every_other_of_the_power_above(n_heads):
    slopes = alibi_slopes(n_heads)
    power = 2 ** math.floor(math.log2(n_heads))
    assert slopes.shape == (n_heads,)
    assert len(set(slopes)) == n_heads
    np.testing.assert_allclose(slopes[:power], [2 ** (-8 * h / power) for h in range(1, power + 1)], rtol=1e-14)
    np.testing.assert_allclose(slopes[power:], alibi_slopes(2 * power)[::2][: n_heads - power], rtol=1e-14)


@given(places, rates)
def test_alibi_falls_in_a_straight_line(at, slopes):
    at = np.sort(at)
    bias, both = alibi(relative_positions(at, at), slopes), alibi(relative_positions(at, at), slopes, symmetric=True)
    past = np.tril(np.ones((len(at), len(at)), dtype=bool))
    assert np.isneginf(bias[:, at[None, :] > at[:, None]]).all()
    for head, slope in enumerate(slopes):
        for i in range(len(at)):
            np.testing.assert_allclose(bias[head, i, : i + 1], [-slope * (at[i] - at[j]) for j in range(i + 1)])
        np.testing.assert_array_equal(both[head][past], bias[head][past])
        np.testing.assert_array_equal(both[head], both[head].T)


def test_alibi_in_half_precision_is_the_nearest_number():
    """NumPy goes from float64 to float16 in one step."""
    offsets, slopes = -np.arange(70_000.0)[None], alibi_slopes(12)
    for symmetric in (False, True):
        half, wide = (alibi(offsets, slopes, symmetric=symmetric, dtype=dtype) for dtype in (np.float16, None))
        assert (half.dtype, wide.dtype) == (np.float16, np.float64)
        np.testing.assert_array_equal(half, np.maximum(wide, -65504).astype(np.float16))
    np.testing.assert_array_equal(alibi(offsets, slopes, dtype=np.float32), alibi(offsets, slopes).astype(np.float32))
    assert alibi([[1.0, -(10.0**6)]], [1.0], dtype=np.float16).tolist() == [[[-np.inf, -65504]]]


@given(places, places, rates, seeds)
def test_alibi_is_a_product_of_two_numbers_each(query_at, key_at, slopes, seed):
    """C152: the features' products are the bias, and appended to q and k they give its logits."""
    features = alibi_rank_two(query_at, key_at, slopes)
    assert [f.shape for f in features] == [(len(slopes), len(query_at), 2), (len(slopes), len(key_at), 2)]
    offsets = relative_positions(query_at, key_at)
    bias, product = alibi(offsets, slopes), features[0] @ features[1].swapaxes(-1, -2)
    seen = np.broadcast_to(offsets <= 0, bias.shape)
    np.testing.assert_allclose(product[seen], bias[seen], atol=1e-9)
    rng = np.random.default_rng(seed)
    q, k = (rng.standard_normal((len(slopes), len(at), 8)) for at in (query_at, key_at))
    scale = 8**-0.5
    wide_q, wide_k = np.concatenate([q, features[0] / scale], -1), np.concatenate([k, features[1]], -1)
    appended = attention(wide_q, wide_k, k, scale=scale, mask=offsets <= 0)
    np.testing.assert_allclose(appended.logits, attention(q, k, k, bias=bias).logits, atol=1e-8)


@pytest.mark.torch
def test_alibi_in_half_precision_is_rounded_once():
    """A slope a little above or below the middle of two bfloat16, less than float32 can tell; and NumPy's float16."""
    import torch

    above, below = 1 + 2.0**-8 + 2.0**-30, 1 + 3 * 2.0**-8 - 2.0**-30
    slopes = torch.tensor([above, below, 1 + 2.0**-8], dtype=torch.float64, requires_grad=True)
    bias = alibi([[-1.0]], slopes, dtype=torch.bfloat16)
    assert bias.dtype == torch.bfloat16
    assert bias.flatten().tolist() == [-1 - 2.0**-7, -1 - 2.0**-7, -1.0]
    assert torch.autograd.grad(bias.float().sum(), slopes)[0].tolist() == [-1, -1, -1]
    offsets, rates = normal(2, 1, 50_000) * 1e3, np.array([2.0**-13 * (1 + 2.0**-11 + 2.0**-30), 0.1, 7e-6])
    expected = alibi(offsets, rates, symmetric=True, dtype=np.float16)
    got = alibi(torch.from_numpy(offsets), rates.tolist(), symmetric=True, dtype=torch.float16)
    np.testing.assert_array_equal(got, expected)
    with pytest.raises(TypeError, match="dtype must be None or a floating dtype of the arrays' library, got"):
        alibi(torch.from_numpy(offsets), [1.0], dtype=np.float16)

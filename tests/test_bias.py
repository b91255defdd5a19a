"""posenc.bias: published vectors, slow loops from the papers, what is Toeplitz and what is not, and two libraries."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import relative_positions, sinusoidal
from posenc.attention import attention
from posenc.bias import (
    alibi,
    alibi_rank_two,
    alibi_slopes,
    deberta,
    fire,
    kerple,
    relative_shift,
    sandwich,
    sandwich_features,
    t5,
    t5_bucket,
    tener,
    transformer_xl,
)

CAUSAL_STARTS = [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
seeds = st.integers(0, 2**32 - 1)
heads_counts = st.integers(1, 100)
rates = st.lists(st.floats(1e-3, 4), min_size=1, max_size=4)
places = st.lists(st.floats(0, 1e5), min_size=1, max_size=8)


@pytest.fixture
def torch():
    import torch

    return torch


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def square(length):
    return relative_positions(np.arange(length), np.arange(length))


def is_toeplitz(bias):
    return np.array_equal(bias[..., 1:, 1:], bias[..., :-1, :-1])


# ---------------------------------------------------------------------------------------------------------------------
# ALiBi


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


def test_alibi_by_hand():
    low, high = alibi(square(3), [0.5, 2.0])
    np.testing.assert_array_equal(low, [[0, -np.inf, -np.inf], [-0.5, 0, -np.inf], [-1, -0.5, 0]])
    np.testing.assert_array_equal(high, [[0, -np.inf, -np.inf], [-2, 0, -np.inf], [-4, -2, 0]])
    np.testing.assert_array_equal(
        alibi(square(3), [0.5], symmetric=True), [[[0, -0.5, -1], [-0.5, 0, -0.5], [-1, -0.5, 0]]]
    )


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


def test_alibi_in_attention_is_causal_and_prefers_the_near():
    x = np.ones((8, 6, 4))
    weights = attention(x, x, x, bias=alibi(square(6), alibi_slopes(8))).weights
    np.testing.assert_array_equal(weights > 0, np.broadcast_to(np.tri(6) > 0, (8, 6, 6)))
    last = weights[:, -1]
    assert (np.diff(last, axis=-1) > 0).all()
    assert (np.diff(last[:, -1]) < 0).all()  # the steeper a head, the nearer it looks
    np.testing.assert_allclose(last[0, 1:] / last[0, :-1], np.exp(0.5))


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


def test_rank_two_in_float64_is_exact_enough():
    """C152 at the lengths of a model: 6e-14 there."""
    at = np.arange(200)
    query_features, key_features = alibi_rank_two(at, at, alibi_slopes(8))
    past = np.tri(200, dtype=bool)
    product = query_features @ key_features.swapaxes(-1, -2)
    np.testing.assert_allclose(product[:, past], alibi(square(200), alibi_slopes(8))[:, past], atol=1e-12)


def test_bloom_adds_the_same_to_every_key_of_a_query():
    """C152: m·j instead of −m·(i − j) gives the same weights under a causal mask."""
    q, k, v = normal(3, 8, 7, 4)
    ours = attention(q, k, v, causal=True, bias=alibi(square(7), alibi_slopes(8)))
    blooms = alibi_slopes(8)[:, None, None] * np.arange(7.0)
    theirs = attention(q, k, v, causal=True, bias=np.broadcast_to(blooms, (8, 7, 7)))
    np.testing.assert_allclose(theirs.weights, ours.weights, atol=1e-14)


def test_symmetric_alibi_cannot_tell_left_from_right():
    """C150: a text read backwards gives the same rows backwards, to rounding; under the causal mask it does not."""
    x, (w_q, w_k, w_v) = normal(6, 4), normal(3, 4, 4, seed=1)

    def read(x, symmetric):
        bias = alibi(square(6), [0.5], symmetric=symmetric)[0]
        return attention(x @ w_q, x @ w_k, x @ w_v, bias=bias).output

    np.testing.assert_allclose(read(x[::-1], True)[::-1], read(x, True), atol=1e-14)
    assert np.abs(read(x[::-1], False)[::-1] - read(x, False)).max() > 1


# ---------------------------------------------------------------------------------------------------------------------
# T5


def test_published_buckets():
    offsets = [-200, -128, -127, -64, -32, -17, -16, -15, -9, -8, -1, 0, 1, 7, 8, 9, 15, 16, 17, 32, 64, 127, 128, 200]
    both = [15, 15, 15, 14, 12, 10, 10, 9, 8, 8, 1, 0, 17, 23, 24, 24, 25, 26, 26, 28, 30, 31, 31, 31]
    causal = [31, 31, 31, 26, 21, 16, 16, 15, 9, 8, 1] + 13 * [0]
    got = t5_bucket(offsets, bidirectional=True)
    assert got.dtype == np.int64
    assert got.tolist() == both
    assert t5_bucket(offsets, bidirectional=False).tolist() == causal
    assert t5_bucket(-3, bidirectional=False) == 3


def test_where_causal_buckets_start():
    distance = np.arange(1000)
    buckets = t5_bucket(-distance, bidirectional=False)
    assert [int(np.argmax(buckets == bucket)) for bucket in range(32)] == CAUSAL_STARTS
    assert (np.diff(buckets) > 0).sum() == 31  # C155
    assert (buckets[113:] == 31).all()  # C154


def test_where_buckets_in_both_directions_start():
    distance = np.arange(1, 1000)
    before, after = (t5_bucket(sign * distance, bidirectional=True) for sign in (-1, 1))
    np.testing.assert_array_equal(after, before + 16)
    assert distance[np.argmax(before == 15)] == 91  # C154
    assert (before[90:] == 15).all()


@given(st.integers(0, 10**12), st.integers(1, 24), st.integers(2, 4096), st.booleans())
def test_buckets_follow_the_formula(distance, quarter, max_distance, bidirectional):
    """Floor of a logarithm, here in floats, so a bucket off is right only at the very edge."""
    one_way = 2 * quarter if bidirectional else 4 * quarter
    exact = one_way // 2
    max_distance += exact
    numbers = {"bidirectional": bidirectional, "num_buckets": 4 * quarter, "max_distance": max_distance}
    bucket = int(t5_bucket(-distance, **numbers))
    if distance < exact:
        assert bucket == distance
    else:
        place = math.log(distance / exact) / math.log(max_distance / exact) * (one_way - exact)
        assert bucket in {min(exact + math.floor(place + sign * 1e-9), one_way - 1) for sign in (-1, 1)}
    after = int(t5_bucket(distance, **numbers))
    assert after == (bucket + one_way if bidirectional and distance else 0)
    assert int(t5_bucket(-distance - 1, **numbers)) >= bucket


def test_edges_that_a_rounded_logarithm_could_miss():
    """8·16^(b/8) is whole for even b: each such distance opens its bucket, and the one before does not."""
    for step, edge in ((2, 16), (4, 32), (6, 64)):
        assert t5_bucket([-edge + 1, -edge], bidirectional=True).tolist() == [8 + step - 1, 8 + step]
    for step in range(1, 20):  # 1·(2^20)^(b/20) = 2^b
        numbers = {"bidirectional": False, "num_buckets": 2, "max_distance": 2**step}
        assert t5_bucket([0, -1, -(2**50)], **numbers).tolist() == [0, 1, 1]
    wide = {"bidirectional": False, "num_buckets": 6, "max_distance": 3 * 10**15}  # 3·10^5, 3·10^10
    edges = [3, 3 * 10**5, 3 * 10**10]
    assert t5_bucket([-edge for edge in edges], **wide).tolist() == [3, 4, 5]
    assert t5_bucket([1 - edge for edge in edges], **wide).tolist() == [2, 3, 4]


def test_t5_looks_up_one_number_for_each_head():
    table = normal(32, 3)
    offsets = relative_positions(np.arange(5), np.arange(-195, 5))
    for bidirectional in (False, True):
        bias = t5(offsets, table, bidirectional=bidirectional)
        assert bias.shape == (3, 5, 200)
        assert is_toeplitz(bias)
        for head, i, j in ((0, 0, 0), (1, 4, 195), (2, 0, 199), (1, 2, 198)):
            bucket = t5_bucket(j - 195 - i, bidirectional=bidirectional)
            assert bias[head, i, j] == table[bucket, head]
    farthest = t5(offsets, table, bidirectional=False)[:, -1, :86]  # 113 tokens away and more
    np.testing.assert_array_equal(farthest, np.broadcast_to(table[31][:, None], (3, 86)))
    assert t5(offsets, table.astype("float32"), bidirectional=True).dtype == np.float32
    near, far = (t5([[-50]], table, bidirectional=True, max_distance=limit)[:, 0, 0] for limit in (128, 20))
    np.testing.assert_array_equal(near, table[13])
    np.testing.assert_array_equal(far, table[15])


# ---------------------------------------------------------------------------------------------------------------------
# Sandwich


def test_sandwich_by_hand():
    """dim 4, base 10 000: cos m + cos(m/100), over 8h/2 = 4 and 8."""
    total = [[math.cos(m) + math.cos(m / 100) for m in (0, 1, 7)]]
    np.testing.assert_allclose(sandwich([[0, -1, 7]], 2, dim=4), [np.divide(total, 4), np.divide(total, 8)], atol=1e-15)


@given(places, places, st.integers(1, 6), st.integers(1, 40), st.floats(2, 1e6))
def test_sandwich_is_a_product_of_sinusoidal_codes(query_at, key_at, n_heads, pairs, base):
    query_at, key_at = np.array(query_at) % 4096, np.array(key_at) % 4096
    bias = sandwich(relative_positions(query_at, key_at), n_heads, 2 * pairs, base)
    queries, keys = (sandwich_features(at, n_heads, 2 * pairs, base) for at in (query_at, key_at))
    np.testing.assert_allclose(queries @ keys.swapaxes(-1, -2), bias, atol=1e-10)
    codes = [sinusoidal(at, 2 * pairs, base) for at in (query_at, key_at)]
    for head in range(n_heads):
        np.testing.assert_allclose(bias[head], codes[0] @ codes[1].T / (8 * (head + 1) / n_heads), atol=1e-10)


def test_sandwich_is_a_concatenation():
    """C157: [q, √λ·p_i]·[k, √λ·p_j] gives the logits of q·k + λ·p_i·p_j."""
    at, scale = np.arange(40), 16**-0.5
    q, k = normal(2, 4, 40, 16)
    features = sandwich_features(at, 4)
    wide_q, wide_k = np.concatenate([q, features / scale], -1), np.concatenate([k, features], -1)
    appended = attention(wide_q, wide_k, k, scale=scale, causal=True)
    added = attention(q, k, k, bias=sandwich(square(40), 4), causal=True)
    past = np.tri(40, dtype=bool)
    np.testing.assert_allclose(appended.logits[:, past], added.logits[:, past], atol=1e-12)
    np.testing.assert_allclose(appended.output, added.output, atol=1e-12)


def test_sandwich_falls_like_a_logarithm_in_ripples():
    """C157: 134 of 299 steps rise; S ≈ a + b·ln m with b near −1/ln 10 000 fits better than a line in m."""
    score = sandwich(np.arange(301.0)[None], 8)[0, 0] / 64  # λ_1 = 1
    assert score[0] == 1
    assert (np.diff(score[:300]) > 0).sum() == 134
    m = np.arange(1, 301)
    fit = np.polyfit(np.log(m), score[1:], 1)
    assert fit[0] == pytest.approx(-0.1091, abs=5e-5)
    explained = [
        1 - np.var(score[1:] - np.polyval(np.polyfit(x, score[1:], 1), x)) / np.var(score[1:]) for x in (np.log(m), m)
    ]
    assert explained == pytest.approx([0.891, 0.679], abs=1e-3)


# ---------------------------------------------------------------------------------------------------------------------
# KERPLE and FIRE


@given(places, places, rates, st.sampled_from(["logarithmic", "power"]))
def test_kerple_by_loops(query_at, key_at, r2, kind):
    r1, r2 = [0.5 + h for h in range(len(r2))], [min(r, 2.0) for r in r2]
    bias = kerple(relative_positions(query_at, key_at), r1, r2, kind=kind)
    for h, i, j in np.ndindex(bias.shape):
        distance = abs(query_at[i] - key_at[j])
        expected = -r1[h] * (math.log(1 + r2[h] * distance) if kind == "logarithmic" else distance ** r2[h])
        np.testing.assert_allclose(bias[h, i, j], expected, rtol=1e-9, atol=1e-12)


def test_kerple_contains_the_symmetric_alibi():
    slopes = alibi_slopes(6)
    power = kerple(square(9), slopes, np.ones(6), kind="power")
    np.testing.assert_allclose(power, alibi(square(9), slopes, symmetric=True), atol=1e-15)
    assert is_toeplitz(kerple(square(9), slopes, slopes))
    assert is_toeplitz(power)
    assert is_toeplitz(alibi(square(9), slopes))
    assert is_toeplitz(sandwich(square(9), 6))


def two_heads(share):
    return np.concatenate([-share, 3 * share**2], axis=-1)


def test_fire_by_hand():
    """c = 1, L = 3: ψ is ln(x + 1). Query 1 counts as 3, query 7 as itself."""
    bias = fire([1, 7], [0, 1, 4, 7], two_heads, 1.0, 3.0)
    assert bias.shape == (2, 2, 4)
    shares = np.array([[math.log(2) / math.log(4), 0, 0, 0], [1, math.log(7) / math.log(8), 2 / 3, 0]])
    later = np.array([[False, False, True, True], [False] * 4])
    np.testing.assert_allclose(bias[0], np.where(later, -np.inf, -shares), atol=1e-15)
    np.testing.assert_allclose(bias[1], np.where(later, -np.inf, 3 * shares**2), atol=1e-15)


@given(places, places, st.floats(1e-3, 10), st.floats(0.5, 1e5))
def test_fire_by_loops(query_at, key_at, c, threshold):
    asked = []
    bias = fire(query_at, key_at, lambda share: asked.append(share) or two_heads(share), c, threshold)
    assert asked[0].shape == (len(query_at), len(key_at), 1)
    assert asked[0].min() >= 0
    assert asked[0].max() <= 1
    for i, j in np.ndindex(len(query_at), len(key_at)):
        distance = query_at[i] - key_at[j]
        if distance < 0:
            assert (bias[:, i, j] == -np.inf).all()
        else:
            share = math.log(c * distance + 1) / math.log(c * max(query_at[i], threshold) + 1)
            np.testing.assert_allclose(bias[:, i, j], [-share, 3 * share**2], rtol=1e-9, atol=1e-9)


def test_fire_below_the_threshold_can_be_kerple_and_above_it_depends_on_the_query():
    r1, c, threshold = 0.7, 0.3, 32.0
    line = fire(np.arange(64), np.arange(64), lambda share: -r1 * math.log(c * threshold + 1) * share, c, threshold)
    log = kerple(square(64), [r1], [c])
    past = np.tri(33, dtype=bool)
    np.testing.assert_allclose(line[0, :33, :33][past], log[0, :33, :33][past], atol=1e-14)
    assert is_toeplitz(line[:, :32, :32])
    assert not is_toeplitz(line)
    assert line[0, 63, 62] > line[0, 32, 31]  # the same distance is a smaller share later on


# ---------------------------------------------------------------------------------------------------------------------
# Transformer-XL and TENER


def xl_arguments(heads=2, queries=3, keys=5, dim=4, both=False, seed=0):
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, heads, queries, dim)), rng.standard_normal((2, heads, keys, dim))
    u, v = rng.standard_normal((2, heads, dim))
    return q, k, rng.standard_normal((heads, keys + queries - 1 if both else keys, dim)), u, v


@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 5), st.booleans(), seeds)
def test_transformer_xl_by_loops(heads, queries, memory, both, seed):
    """The four terms with i − j looked up one pair at a time, keys longer than queries by the memory."""
    keys = queries + memory
    q, k, r, u, v = arguments = xl_arguments(heads, queries, keys, 4, both, seed)
    terms = transformer_xl(*arguments)
    for b, h, i, j in np.ndindex(2, heads, queries, keys):
        distance = i + memory - j
        expected = [q[b, h, i] @ k[b, h, j], -np.inf, u[h] @ k[b, h, j], -np.inf]
        if distance >= 0 or both:
            row = r[h, keys - 1 - distance]  # the farthest, keys − 1, comes first
            expected[1], expected[3] = q[b, h, i] @ row, v[h] @ row
        np.testing.assert_allclose([term[b, h, i, j] for term in terms], expected, atol=1e-12)
        np.testing.assert_allclose(terms.logits[b, h, i, j], sum(expected), atol=1e-12)
        np.testing.assert_allclose(terms.bias[b, h, i, j], sum(expected[1:]), atol=1e-12)


def test_transformer_xl_grouped():
    """C158: (q + u)·k + (q + v)·r is the sum of the four terms."""
    q, k, r, u, v = xl_arguments(both=True)
    terms = transformer_xl(q, k, r, u, v)
    zero = np.zeros_like(u)
    content = transformer_xl(q + u[:, None], k, r, zero, zero).content_content
    position = transformer_xl(q + v[:, None], k, r, zero, zero).content_position
    np.testing.assert_allclose(content + position, terms.logits, atol=1e-12)


def test_transformer_xl_multiplies_out_a_product_with_positions():
    """C158: (x_i + p_i)·W_qᵀ·W_k·(x_j + p_j) has the four terms, with u and v the query's own position.

    With one query, and p_i in place of the learned vectors, the model's logits are those of the sum x + p.
    """
    keys, dim = 6, 8
    x, (w_q, w_k, w_r) = normal(keys, dim), normal(3, dim, dim, seed=1)
    p = sinusoidal(np.arange(keys), dim)
    q, own = (x[-1:] @ w_q)[None], (p[-1] @ w_q)[None]
    terms = transformer_xl(q, (x @ w_k)[None], (p @ w_r)[None], own, own)
    expected = (x[-1] + p[-1]) @ w_q @ (x @ w_k + p @ w_r).T
    np.testing.assert_allclose(terms.logits[0, 0], expected, atol=1e-12)


def test_the_memory_of_a_segment_changes_nothing_else():
    """A text in two segments, the second with the first as memory, has the logits of the whole text."""
    q, k, r, u, v = xl_arguments(queries=6, keys=6)
    whole, second = transformer_xl(q, k, r, u, v), transformer_xl(q[:, :, 4:], k, r, u, v)
    for full, part in zip(whole, second, strict=True):
        np.testing.assert_allclose(part, full[:, :, 4:], atol=1e-12)
    shorter = transformer_xl(q[:, :, :4], k[:, :, :4], r[:, 2:], u, v)
    np.testing.assert_allclose(shorter.logits, whole.logits[:, :, :4, :4], atol=1e-12)
    value = normal(2, 2, 6, 3, seed=5)
    masked, own = (attention(q, k, value, bias=0.5 * whole.bias, causal=causal).output for causal in (True, False))
    np.testing.assert_array_equal(masked, own)  # the terms say themselves what is not there


@pytest.mark.parametrize(("queries", "columns"), [(3, 3), (2, 5), (5, 2), (1, 4)])
def test_relative_shift_reads_rows_that_are_one_number_shorter(queries, columns):
    """A column of zeros in front, the first `queries` numbers left out: the docstring, number by number."""
    scores = np.arange(1.0, 1 + 2 * queries * columns).reshape(2, queries, columns)
    padded = np.concatenate([np.zeros((2, queries, 1)), scores], axis=-1).reshape(2, -1)
    np.testing.assert_array_equal(relative_shift(scores), padded[:, queries:].reshape(2, queries, columns))


def test_relative_shift_by_hand():
    table = np.array([[3.0, 2, 1, 0], [13, 12, 11, 10], [23, 22, 21, 20]])  # 10·query + distance
    shifted = relative_shift(table)
    np.testing.assert_array_equal(shifted[0, :2], [1, 0])
    np.testing.assert_array_equal(shifted[1, :3], [12, 11, 10])
    np.testing.assert_array_equal(shifted[2], [23, 22, 21, 20])


@given(st.integers(1, 6), st.integers(1, 12), seeds)
def test_relative_shift_is_exact_for_the_past_and_only_there(queries, columns, seed):
    scores = np.random.default_rng(seed).standard_normal((2, queries, columns))
    shifted = relative_shift(scores)
    assert shifted.shape == scores.shape
    for i, j in np.ndindex(queries, columns):
        column = j + queries - 1 - i
        if column < columns:
            np.testing.assert_array_equal(shifted[:, i, j], scores[:, i, column])


def test_only_the_content_terms_are_not_toeplitz():
    q, k, r, u, v = xl_arguments(queries=5, keys=5, both=True)
    terms = transformer_xl(q, k, r, u, v)
    assert is_toeplitz(terms.global_position)  # C159: v replaces the query's position in every row
    assert np.array_equal(terms.global_content[..., 1:, :], terms.global_content[..., :-1, :])
    for term in (terms.content_content, terms.content_position, terms.logits):
        assert not is_toeplitz(term)


def test_tener_by_loops():
    """R is the sinusoid of t − j itself, odd in its sines: the left is not the right."""
    heads, length, dim = 2, 5, 6
    q, k, _, u, v = xl_arguments(heads, length, length, dim)
    logits = tener(q, k, sinusoidal(np.arange(length - 1, -length, -1), dim), u, v).logits
    for b, h, t, j in np.ndindex(2, heads, length, length):
        code = []
        for n in range(dim // 2):
            angle = (t - j) / 10_000 ** (2 * n / dim)
            code += [math.sin(angle), math.cos(angle)]
        expected = q[b, h, t] @ k[b, h, j] + q[b, h, t] @ code + u[h] @ k[b, h, j] + v[h] @ code
        np.testing.assert_allclose(logits[b, h, t, j], expected, atol=1e-12)
    same = np.ones_like(q)
    logits = tener(same, same, sinusoidal(np.arange(length - 1, -length, -1), dim), u, v).logits
    assert np.abs(logits - logits.swapaxes(-1, -2)).max() > 0.1


# ---------------------------------------------------------------------------------------------------------------------
# DeBERTa


def deberta_arguments(queries=5, keys=6, span=2, seed=0):
    rng = np.random.default_rng(seed)
    tables = rng.standard_normal((2, 3, 2 * span, 4))
    offsets = relative_positions(np.arange(queries) + keys - queries, np.arange(keys))
    return rng.standard_normal((2, 3, queries, 4)), rng.standard_normal((2, 3, keys, 4)), *tables, offsets


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), seeds)
def test_deberta_by_loops(queries, keys, span, seed):
    """Equations of the paper, one pair at a time, δ clipped at both ends."""
    q, k, key_relative, query_relative, offsets = arguments = deberta_arguments(queries, keys, span, seed)
    terms = deberta(*arguments)

    def delta(i, j):
        distance = i - j
        if distance <= -span:
            return 0
        return 2 * span - 1 if distance >= span else distance + span

    for b, h, i, j in np.ndindex(2, 3, queries, keys):
        place = i + keys - queries
        assert offsets[i, j] == j - place
        expected = [
            q[b, h, i] @ k[b, h, j],
            q[b, h, i] @ key_relative[h, delta(place, j)],
            k[b, h, j] @ query_relative[h, delta(j, place)],
        ]
        np.testing.assert_allclose([term[b, h, i, j] for term in terms], expected, atol=1e-12)
        np.testing.assert_allclose(terms.logits[b, h, i, j], sum(expected), atol=1e-12)
        np.testing.assert_allclose(terms.bias[b, h, i, j], sum(expected[1:]), atol=1e-12)


def test_deberta_depends_on_content():
    """C153: at the same offset 2, rows 2, 3 and 4 get different numbers. No bias B[i − j]."""
    terms = deberta(*deberta_arguments(5, 5, span=4))
    same_offset = terms.bias[0, 0, [2, 3, 4], [0, 1, 2]]
    assert np.ptp(same_offset) > 0.1
    assert not is_toeplitz(terms.content_to_position)
    assert not is_toeplitz(terms.position_to_content)
    q, k, key_relative, query_relative, offsets = deberta_arguments(5, 5, span=4)
    flat = deberta(np.ones_like(q), np.ones_like(k), key_relative, query_relative, offsets)
    assert is_toeplitz(flat.bias)  # with nothing to say, only the distance is left


# ---------------------------------------------------------------------------------------------------------------------
# All of them


def everything(convert):
    """Each function on small arguments, converted to a library; arrays of positions, lists of positions."""
    at = convert(np.arange(5.0))
    offsets, slopes = relative_positions(at, at), convert(np.array([0.5, 0.25, 1.0]))
    table = convert(normal(32, 3))
    yield "slopes", alibi_slopes(6, like=at)
    for given_offsets in (offsets, offsets.tolist()):
        yield "alibi", alibi(given_offsets, slopes)
        yield "symmetric", alibi(given_offsets, slopes, symmetric=True)
        yield "t5", t5(given_offsets, table, bidirectional=False)
        yield "t5 both", t5(given_offsets, table, bidirectional=True)
        yield "kerple", kerple(given_offsets, [0.5, 0.25, 1.0], slopes)
        yield "kerple power", kerple(given_offsets, slopes, [0.5, 0.25, 1.0], kind="power")
        yield from zip("qk", alibi_rank_two(at.tolist(), at, slopes), strict=True)
        yield from zip("qk", alibi_rank_two(at, at.tolist(), [0.5, 0.25]), strict=True)
        yield from zip("qk", alibi_rank_two([1], [2, 3], slopes), strict=True)
    yield "bucket", t5_bucket(offsets, bidirectional=True)
    yield "sandwich", sandwich(offsets, 3)
    yield "sandwich features", sandwich_features(at, 3)
    yield "fire", fire(at, at.tolist(), lambda share: share * share + 0 * slopes, 0.5, 2.0)
    yield "fire", fire([3, 5], [0, 4], lambda share: share * slopes, slopes[0], slopes[2])
    for both in (False, True):
        arguments = [convert(array) for array in xl_arguments(both=both)]
        yield from zip("abcd", transformer_xl(*arguments), strict=True)
    q, k, r, u, v = arguments
    yield "tener", tener(q, k, r[0], u, v).logits
    yield "shift", relative_shift(r)
    arguments = deberta_arguments()
    yield from zip("abc", deberta(*[convert(array) for array in arguments]), strict=True)
    yield "deberta", deberta(*[convert(array) for array in arguments[:-1]], arguments[-1].tolist()).logits


def test_batches_of_positions():
    at = np.array([[0, 1, 2, 3], [7, 5, 6, 9]])
    offsets, slopes, table = relative_positions(at, at), alibi_slopes(3), normal(32, 3)
    packed = lambda share: share * slopes  # noqa: E731 (one line says it)
    features = alibi_rank_two(at, at, slopes)
    for row in range(2):
        alone = relative_positions(at[row], at[row])
        np.testing.assert_array_equal(alibi(offsets, slopes)[row], alibi(alone, slopes))
        np.testing.assert_array_equal(t5(offsets, table, bidirectional=True)[row], t5(alone, table, bidirectional=True))
        np.testing.assert_array_equal(sandwich(offsets, 3)[row], sandwich(alone, 3))
        np.testing.assert_array_equal(sandwich_features(at, 3)[row], sandwich_features(at[row], 3))
        np.testing.assert_array_equal(kerple(offsets, slopes, slopes)[row], kerple(alone, slopes, slopes))
        np.testing.assert_array_equal(fire(at, at, packed, 1, 4)[row], fire(at[row], at[row], packed, 1, 4))
        for together, own in zip(features, alibi_rank_two(at[row], at[row], slopes), strict=True):
            np.testing.assert_array_equal(together[row], own)


def test_empty_sequences():
    none, some = np.arange(0), np.arange(3)
    slopes, table = alibi_slopes(2), normal(32, 2)
    for queries, keys in ((none, some), (some, none), (none, none)):
        shape, offsets = (2, len(queries), len(keys)), relative_positions(queries, keys)
        assert alibi(offsets, slopes).shape == shape
        assert t5(offsets, table, bidirectional=True).shape == shape
        assert sandwich(offsets, 2).shape == shape
        assert kerple(offsets, slopes, slopes).shape == shape
        assert fire(queries, keys, two_heads, 1.0, 1.0).shape == shape
        assert (
            deberta(np.ones((*shape[:-1], 4)), np.ones((2, len(keys), 4)), *normal(2, 2, 4, 4), offsets).bias.shape
            == shape
        )
    assert sandwich_features(none, 2).shape == (2, 0, 128)
    assert alibi_rank_two(none, some, slopes)[0].shape == (2, 0, 2)
    for queries, keys in ((0, 3), (0, 0), (0, 1)):
        for rows in {keys, max(keys + queries - 1, 0)}:
            q, k, r = (np.ones((2, length, 4)) for length in (queries, keys, rows))
            assert transformer_xl(q, k, r, r[:, :0].sum(1), r[:, :0].sum(1)).logits.shape == (2, queries, keys)
    assert relative_shift(np.ones((2, 0, 3))).shape == (2, 0, 3)
    assert relative_shift(np.ones((2, 3, 0))).shape == (2, 3, 0)


def test_arrays_need_not_be_contiguous():
    offsets, table = relative_positions(np.arange(9), np.arange(12))[::2, ::3].T, normal(64, 2)[::2]
    dense = np.ascontiguousarray(offsets)
    np.testing.assert_array_equal(t5(offsets, table, bidirectional=True), t5(dense, table.copy(), bidirectional=True))
    q, k, r, u, v = xl_arguments(heads=2, queries=3, keys=5)
    turned = [np.asfortranarray(array) for array in (q, k, r, u, v)]
    np.testing.assert_allclose(transformer_xl(*turned).logits, transformer_xl(q, k, r, u, v).logits, atol=1e-14)


def test_activations_keep_their_dtype():
    for make, function in ((xl_arguments, transformer_xl), (deberta_arguments, deberta)):
        q, k, *others = make()
        terms = function(q.astype("float32"), k.astype("float32"), *others)
        assert {term.dtype for term in terms} == {np.dtype("float32")}
        np.testing.assert_allclose(terms.logits, function(q, k, *others).logits, rtol=1e-5, atol=1e-5)


def test_what_is_refused():
    offsets = square(3)
    with pytest.raises(ValueError, match=r"relative_positions must have shape \(..., queries, keys\), got \[0, 1\]"):
        alibi([0, 1], [0.5])
    with pytest.raises(ValueError, match=r"slopes must not be negative, got \[0.5, -0.1\]"):
        alibi(offsets, [0.5, -0.1])
    with pytest.raises(ValueError, match=r"slopes must have shape \(heads,\), got 0.5 of shape \(\)"):
        alibi(offsets, 0.5)
    with pytest.raises(ValueError, match="query_positions must have at least one axis, got 3"):
        alibi_rank_two(3, [1], [0.5])
    with pytest.raises(ValueError, match=r"same axes before the last, got shapes \(1, 2\) and \(2,\)"):
        alibi_rank_two([[1, 2]], [1, 2], [0.5])
    with pytest.raises(ValueError, match="num_buckets must give an even number of buckets, at least 4, .* got 7"):
        t5_bucket(0, bidirectional=True, num_buckets=7)
    with pytest.raises(ValueError, match="max_distance must be greater than 16, .* got 16"):
        t5_bucket(0, bidirectional=False, max_distance=16)
    with pytest.raises(ValueError, match="relative_positions must be whole numbers"):
        t5_bucket(0.5, bidirectional=False)
    with pytest.raises(TypeError, match="bidirectional must be True or False, got 'both'"):
        t5_bucket(0, bidirectional="both")
    with pytest.raises(ValueError, match=r"table must give at least 2 buckets .* got shape \(1, 2\)"):
        t5(offsets, np.ones((1, 2)), bidirectional=False)
    with pytest.raises(ValueError, match=r"table must have shape \(num_buckets, heads\), got shape \(32,\)"):
        t5(offsets, np.ones(32), bidirectional=False)
    with pytest.raises(ValueError, match="r2 must be at most 2 for the power"):
        kerple(offsets, [1.0], [2.5], kind="power")
    with pytest.raises(
        ValueError, match=r"r1 and r2 must have one number for each head, equally many, got \[1.0\] and \[1.0, 2.0\]"
    ):
        kerple(offsets, [1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"r1 must be greater than 0, got \[0.0\]"):
        kerple(offsets, [0.0], [1.0])
    with pytest.raises(TypeError, match="mlp must be a function .* got 'relu'"):
        fire([1], [1], "relu", 1.0, 1.0)
    with pytest.raises(ValueError, match=r"mlp must answer with shape \(1, 1, heads\), got <.*> answering \(1, 1\)"):
        fire([1], [1], lambda share: share[..., 0], 1.0, 1.0)
    with pytest.raises(TypeError, match=r"mlp must answer with an array of floats, got <.*> answering 0.5"):
        fire([1], [1], lambda share: 0.5, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"key_positions must not be negative, got \[-1\]"):
        fire([1], [-1], two_heads, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"c must be one number, got \[1.0\] of shape \(1,\)"):
        fire([1], [1], two_heads, [1.0], 1.0)
    with pytest.raises(ValueError, match="threshold must be greater than 0, got -1"):
        fire([1], [1], two_heads, 1.0, -1)
    with pytest.raises(TypeError, match="c must be a number, got True"):
        fire([1], [1], two_heads, True, 1.0)
    q, k, r, u, v = xl_arguments()
    with pytest.raises(
        ValueError, match=r"r must have 5 rows \(distances 4 to 0\) or 7 \(down to -2\), got shape \(2, 4, 4\)"
    ):
        transformer_xl(q, k, r[:, 1:], u, v)
    with pytest.raises(ValueError, match=r"u must have shape \(2, 4\), got shape \(4,\)"):
        transformer_xl(q, k, r, u[0], v)
    with pytest.raises(ValueError, match=r"q must not have more rows than k, 2, got shape \(2, 2, 3, 4\)"):
        transformer_xl(q, k[:, :, :2], r, u, v)
    with pytest.raises(ValueError, match=r"k must have shape \(2, 2, keys, 4\), got shape \(1, 2, 5, 4\)"):
        transformer_xl(q, k[:1], r, u, v)
    with pytest.raises(TypeError, match="k must have the dtype of q, float64, got dtype float32"):
        transformer_xl(q, k.astype("float32"), r, u, v)
    with pytest.raises(ValueError, match=r"q must have shape \(..., heads, length, head_dim\), got shape \(3, 4\)"):
        transformer_xl(q[0, 0], k, r, u, v)
    with pytest.raises(ValueError, match=r"scores must have shape \(..., queries, distances\), got shape \(4,\)"):
        relative_shift(u[0])
    arguments = deberta_arguments()
    with pytest.raises(
        ValueError, match=r"key_relative must have an even number of rows, 2·span, got shape \(3, 3, 4\)"
    ):
        deberta(*arguments[:2], arguments[2][:, 1:], *arguments[3:])
    with pytest.raises(
        ValueError, match=r"relative_positions must have shape \(5, 6\), got an array of shape \(6, 5\)"
    ):
        deberta(*arguments[:4], arguments[4].T)


# ---------------------------------------------------------------------------------------------------------------------
# torch


@pytest.mark.torch
def test_torch_gets_what_numpy_gets(torch):
    convert = lambda array: torch.from_numpy(np.ascontiguousarray(array))  # noqa: E731 (one line says it)
    for (name, ours), (_, numpy) in zip(everything(convert), everything(np.asarray), strict=True):
        assert isinstance(ours, torch.Tensor), name
        assert str(ours.dtype) == f"torch.{numpy.dtype}", name
        np.testing.assert_allclose(ours, numpy, atol=1e-12, err_msg=name)


@pytest.mark.torch
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (32, 256), (16, 20), (64, 800)])
def test_buckets_equal_hugging_face(torch, bidirectional, num_buckets, max_distance):
    """transformers computes the logarithm in float32; the buckets are equal at every offset up to ±4096."""
    from transformers.models.t5.modeling_t5 import T5Attention

    offsets = torch.arange(-4096, 4097)
    numbers = {"bidirectional": bidirectional, "num_buckets": num_buckets, "max_distance": max_distance}
    expected = T5Attention._relative_position_bucket(offsets, **numbers)
    np.testing.assert_array_equal(t5_bucket(offsets, **numbers), expected)


@pytest.mark.torch
@pytest.mark.parametrize("is_decoder", [False, True])
def test_bias_equal_to_a_t5_layer(torch, is_decoder):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=8, d_kv=4, num_heads=2, is_decoder=is_decoder)
    layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    torch.nn.init.normal_(layer.relative_attention_bias.weight)
    expected = layer.compute_bias(150, 150)[0]
    at = torch.arange(150)
    got = t5(relative_positions(at, at), layer.relative_attention_bias.weight, bidirectional=not is_decoder)
    np.testing.assert_array_equal(got.detach(), expected.detach())


@pytest.mark.torch
def test_alibi_in_half_precision_is_rounded_once(torch):
    """A slope a little above or below the middle of two bfloat16, less than float32 can tell; and NumPy's float16."""
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


@pytest.mark.torch
@pytest.mark.parametrize("n_heads", [1, 8, 12, 40])
def test_slopes_and_weights_equal_to_bloom(torch, n_heads):
    """transformers' slopes are powers in float32: relative 1e-6. Its m·j gives our weights under a causal mask."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    blooms = build_alibi_tensor(torch.ones(1, 9, dtype=torch.long), n_heads, torch.float64)  # (heads, 1, keys)
    np.testing.assert_allclose(blooms[:, 0, 1], alibi_slopes(n_heads), rtol=1e-6)
    q, k, v = torch.randn(3, n_heads, 9, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ours = attention(q, k, v, bias=alibi(square(9).tolist(), alibi_slopes(n_heads, like=q)))
    theirs = attention(q, k, v, causal=True, bias=blooms.expand(n_heads, 9, 9))
    np.testing.assert_allclose(theirs.weights, ours.weights, atol=1e-6)


@pytest.mark.torch
@pytest.mark.parametrize("version", [1, 2])
def test_weights_equal_to_a_deberta_layer(torch, version):
    """transformers, float32, relative 1e-6 of the largest weight.

    It reads the query's table at δ(i, j), where the paper has δ(j, i): that term of ours for the opposite offsets.
    """
    from transformers import DebertaConfig, DebertaV2Config
    from transformers.models.deberta import modeling_deberta
    from transformers.models.deberta_v2 import modeling_deberta_v2

    torch.manual_seed(0)
    length, span = 12, 5
    config, modeling = ((DebertaConfig, modeling_deberta), (DebertaV2Config, modeling_deberta_v2))[version - 1]
    layer = modeling.DisentangledSelfAttention(
        config(
            hidden_size=32,
            num_attention_heads=4,
            relative_attention=True,
            max_relative_positions=span,
            pos_att_type=["c2p", "p2c"],
        )
    ).eval()
    x, table = torch.randn(2, length, 32), torch.randn(2 * span, 32)
    at = torch.arange(length)
    offsets = relative_positions(at, at)
    everywhere = torch.ones(2, 1, length, length)
    _, weights = layer(x, everywhere, output_attentions=True, relative_pos=-offsets[None], rel_embeddings=table)

    heads = lambda y: y.unflatten(-1, (4, -1)).transpose(-2, -3)  # noqa: E731 (one line says it)
    if version == 1:
        q, k, _ = heads(layer.in_proj(x)).chunk(3, dim=-1)
        key_relative, query_relative = heads(layer.pos_proj(table)), heads(layer.pos_q_proj(table))
    else:
        q, k = heads(layer.query_proj(x)), heads(layer.key_proj(x))
        key_relative, query_relative = heads(layer.pos_key_proj(table)), heads(layer.pos_query_proj(table))
    ours, opposite = (deberta(q, k, key_relative, query_relative, sign * offsets) for sign in (1, -1))
    scale = (3 * 8) ** -0.5
    bias = scale * (ours.content_to_position + opposite.position_to_content)
    got = attention(q, k, k, scale=scale, bias=bias).weights
    np.testing.assert_allclose(got.detach(), weights.detach(), atol=1e-6)
    of_the_paper = attention(q, k, k, scale=scale, bias=scale * ours.bias).weights
    assert (of_the_paper - weights).abs().max() > 0.01


@pytest.mark.torch
def test_shift_equal_to_xlnet(torch):
    """XLNet's rows start one distance farther away, at `keys`, which no pair needs."""
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    scores = torch.randn(2, 3, 4, 11, generator=torch.Generator().manual_seed(0))  # distances 7 to −3 for 7 keys
    expected = XLNetRelativeAttention.rel_shift_bnij(scores, klen=7)
    np.testing.assert_array_equal(relative_shift(scores[..., 1:])[..., :7], expected)


@pytest.mark.torch
def test_gradients(torch):
    """Finite differences through tables, slopes and parameters; exp makes −∞ a number that can be differenced."""
    random = lambda array: torch.tensor(array, dtype=torch.float64, requires_grad=True)  # noqa: E731 (short)
    check, offsets = torch.autograd.gradcheck, torch.from_numpy(square(4))
    slopes, other = random([0.5, 0.1]), random([1.5, 0.7])
    assert check(lambda m: alibi(offsets, m).exp(), slopes)
    assert check(lambda m: alibi_rank_two([0, 1], [0, 5], m), slopes)
    assert check(lambda table: t5(offsets, table, bidirectional=True), random(normal(32, 2)))
    for kind in ("logarithmic", "power"):
        assert check(lambda r1, r2, kind=kind: kerple(offsets, r1, r2, kind=kind), (slopes, other))
    at = random([0.0, 1.0, 4.0])
    assert check(lambda at: kerple(relative_positions(at, [2.0, 7.0]), [1.0], [0.5], kind="power"), at)
    power = kerple(relative_positions(at, at), [1.0], [0.5], kind="power")
    assert torch.isfinite(torch.autograd.grad(power.sum(), at)[0]).all()  # 0^½ is steep
    weight = random([[0.5], [-2.0]])
    net = lambda c, L, w: fire([0, 2, 9], [0, 1, 5], lambda share: torch.tanh(share @ w.T), c, L).exp()  # noqa: E731
    assert check(net, (random(0.3), random(4.0), weight))
    for both in (False, True):
        arguments = [random(array) for array in xl_arguments(both=both)]
        assert check(lambda *arrays: (transformer_xl(*arrays).logits / 4).exp(), arguments)
    *arguments, offsets = deberta_arguments()
    assert check(lambda *arrays: deberta(*arrays, offsets.tolist()).logits, [random(array) for array in arguments])


@pytest.mark.torch
def test_a_network_gets_the_dtype_of_its_parameter(torch):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    c = torch.nn.Parameter(torch.tensor(0.1))
    bias = fire(torch.arange(6), torch.arange(6), net, c, 4.0)
    assert (bias.dtype, tuple(bias.shape)) == (torch.float32, (3, 6, 6))
    bias[torch.isfinite(bias)].sum().backward()
    assert c.grad != 0


@pytest.mark.torch
def test_they_can_be_traced(torch):
    offsets, table = torch.from_numpy(square(5)), torch.randn(32, 2)
    q, k, r, u, v = (torch.from_numpy(array) for array in xl_arguments(keys=3))

    def run(offsets, table):
        added = (
            alibi(offsets, [0.5, 1.0])
            + alibi(offsets, [0.5, 1.0], dtype=torch.bfloat16)
            + sandwich(offsets, 2, 8)
            + kerple(offsets, [1.0, 2.0], [1.0, 2.0], kind="power")
        )
        learned = t5(offsets, table, bidirectional=True) + fire(offsets[-1].abs(), offsets[-1].abs(), torch.exp, 0.1, 3)
        by_content = transformer_xl(q, k, r, u, v).logits + deberta(q, k, r[:, :2], r[:, :2], offsets[:3, :3]).logits
        return added, learned, by_content

    for traced, plain in zip(
        torch.compile(run, backend="eager", fullgraph=True)(offsets, table), run(offsets, table), strict=True
    ):
        np.testing.assert_array_equal(traced, plain)


@pytest.mark.torch
def test_two_libraries_do_not_mix(torch):
    offsets = torch.from_numpy(square(3))
    q = torch.ones(2, 3, 4, dtype=torch.float64)
    for call in (
        lambda: alibi(offsets, np.ones(2)),
        lambda: alibi_rank_two(np.arange(3), offsets[0], [1.0]),
        lambda: t5(square(3), torch.ones(32, 2), bidirectional=True),
        lambda: kerple(offsets, [1.0], np.ones(1)),
        lambda: fire(np.arange(3), offsets[0].abs(), torch.exp, 1.0, 1.0),
        lambda: transformer_xl(q, np.ones((2, 3, 4)), q, q[:, 0], q[:, 0]),
        lambda: transformer_xl(q, q, np.ones((2, 3, 4)), q[:, 0], q[:, 0]),
        lambda: deberta(q, q, q[:, :2], q[:, :2], square(3)),
    ):
        with pytest.raises(TypeError, match="cannot mix"):
            call()

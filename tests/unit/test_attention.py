"""posenc.attention: weights known by hand, a loop over words, masks, and torch's own."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.attention import attention, packed_mask

lengths = st.integers(1, 7)
seeds = st.integers(0, 2**32 - 1)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def by_loops(q, k, v, allowed, bias, scale, temperature):
    """One head of attention, word by word, as one would do it with a pencil."""
    output, weights = np.zeros((len(q), v.shape[1])), np.zeros((len(q), len(k)))
    for i in range(len(q)):
        powers = {}
        for j in range(len(k)):
            if allowed[i][j]:
                product = sum(q[i][n] * k[j][n] for n in range(q.shape[1]))
                powers[j] = math.exp((product * scale + bias[i][j]) / temperature)
        for j, power in powers.items():
            weights[i, j] = power / sum(powers.values())
            output[i] += weights[i, j] * v[j]
    return output, weights


def test_weights_known_by_hand():
    """Logits (ln 3, 0) share 3 : 1, twice as large 9 : 1."""
    q, k = np.array([[2.0, 0, 0, 0]]), np.array([[math.log(3), 0, 0, 0], [0, 1.0, 0, 0]])
    v = np.array([[4.0, 8.0], [0.0, 4.0]])
    plain = attention(q, k, v)  # 2·ln 3 / √4
    np.testing.assert_allclose(plain.logits, [[math.log(3), 0]], atol=1e-15)
    np.testing.assert_allclose(plain.weights, [[0.75, 0.25]], atol=1e-15)
    np.testing.assert_allclose(plain.output, [[3, 7]], atol=1e-15)
    np.testing.assert_allclose(attention(q, k, v, scale=1.0).weights, [[0.9, 0.1]], atol=1e-15)
    np.testing.assert_allclose(attention(q, k, v, temperature=0.5).weights, [[0.9, 0.1]], atol=1e-15)
    level = attention(q, k, v, bias=np.array([[0.0, math.log(3)]]))
    np.testing.assert_allclose(level.weights, [[0.5, 0.5]], atol=1e-15)
    # The temperature divides the bias as well: (ln 3 + 3·ln 3)/2 against 0.
    both = attention(q, k, v, bias=np.array([[3 * math.log(3), 0]]), temperature=2.0)
    np.testing.assert_allclose(both.weights, [[0.9, 0.1]], atol=1e-15)


@given(lengths, lengths, st.integers(1, 5), st.booleans(), st.floats(0.1, 3), st.floats(0.1, 3), seeds)
def test_matrices_do_what_loops_do(queries, keys, dim, causal, scale, temperature, seed):
    rng = np.random.default_rng(seed)
    keys = max(queries, keys) if causal else keys
    q, k, v = (rng.standard_normal(shape) for shape in ((queries, dim), (keys, dim), (keys, 3)))
    bias, mask = rng.standard_normal((queries, keys)), rng.random((queries, keys)) < 0.7
    allowed = mask & (np.arange(keys) <= np.arange(queries)[:, None] + keys - queries) if causal else mask
    got = attention(q, k, v, causal=causal, bias=bias, mask=mask, scale=scale, temperature=temperature)
    output, weights = by_loops(q, k, v, allowed, bias, scale, temperature)
    np.testing.assert_allclose(got.output, output, atol=1e-12)
    np.testing.assert_allclose(got.weights, weights, atol=1e-12)
    np.testing.assert_array_equal(np.isneginf(got.logits), ~allowed)
    expected = (q @ k.T * scale + bias) / temperature
    np.testing.assert_allclose(got.logits[allowed], expected[allowed], atol=1e-12)


@given(st.integers(0, 6), st.integers(0, 6), seeds)
def test_causal_queries_are_the_last_ones(queries, more, seed):
    """Decoding with a cache: the last rows of the whole, at any split."""
    x = np.random.default_rng(seed).standard_normal((2, queries + more, 4))
    whole, last = attention(x, x, x, causal=True), attention(x[:, more:], x, x, causal=True)
    np.testing.assert_allclose(last.output, whole.output[:, more:], atol=1e-12)
    np.testing.assert_array_equal(last.weights > 0, whole.weights[:, more:] > 0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_extreme_logits(dtype):
    q, k = np.array([[100.0]], dtype=dtype), np.array([[100.0], [-100.0], [100.0]], dtype=dtype)
    got = attention(q, k, k, scale=1.0)
    np.testing.assert_array_equal(got.logits, [[1e4, -1e4, 1e4]])
    np.testing.assert_array_equal(got.weights, [[0.5, 0, 0.5]])
    np.testing.assert_array_equal(got.output, [[100]])


def test_a_temperature_for_each_head():
    q, k, v = normal(3, 2, 4, 5, 8)
    temperatures = [0.5, 1.0, 2.0, 1.0]
    together = attention(q, k, v, temperature=temperatures)
    for head, temperature in enumerate(temperatures):
        alone = attention(q[:, head], k[:, head], v[:, head], temperature=temperature)
        np.testing.assert_allclose(together.weights[:, head], alone.weights, atol=1e-15)
    half = together.logits * [[[0.25]], [[0.5]], [[1]], [[0.5]]]
    for number in (2.0, np.asarray(2.0)):
        np.testing.assert_allclose(attention(q, k, v, temperature=number).logits, half, atol=1e-15)


def test_a_fully_masked_query_gets_nothing():
    q, k, v = normal(3, 3, 4)
    mask = np.array([[True, True, True], [False, False, False], [True, False, False]])
    got = attention(q, k, v, mask=mask)
    np.testing.assert_array_equal(got.weights[1], np.zeros(3))
    np.testing.assert_array_equal(got.output[1], np.zeros(4))
    np.testing.assert_array_equal(got.logits[1], np.full(3, -np.inf))
    np.testing.assert_array_equal(got.output[2], v[0])
    np.testing.assert_array_equal(attention(q, k, v, bias=np.where(mask, 0.0, -np.inf)).output, got.output)


@pytest.mark.parametrize("shape", [(5, 6), (3, 5, 6), (2, 3, 5, 6), (2, 1, 1, 6), (1, 3, 1, 6)])
def test_shapes_of_bias_and_mask(shape):
    q, k, v = normal(2, 3, 5, 4), normal(2, 3, 6, 4, seed=1), normal(2, 3, 6, 4, seed=2)
    bias, mask = normal(*shape, seed=3), np.random.default_rng(4).random(shape) < 0.5
    got = attention(q, k, v, bias=bias, mask=mask)
    full = (2, 3, 5, 6)
    spelt_out = attention(q, k, v, bias=np.broadcast_to(bias, full), mask=np.broadcast_to(mask, full))
    np.testing.assert_array_equal(got.logits, spelt_out.logits)
    np.testing.assert_array_equal(np.isneginf(got.logits), ~np.broadcast_to(mask, full))


@pytest.mark.parametrize("shape", [(6,), (5, 1), (2, 5, 6), (1, 2, 3, 5, 6)])
def test_shapes_that_would_stretch_by_accident(shape):
    q, k = np.ones((2, 3, 5, 4)), np.ones((2, 3, 6, 4))
    shapes = r"must have shape \(5, 6\) or \(3, 5, 6\) or \(2, 3, 5, 6\).*got shape"
    with pytest.raises(ValueError, match=f"mask {shapes}"):
        attention(q, k, k, mask=np.ones(shape, dtype=bool))
    with pytest.raises(ValueError, match=f"bias {shapes}"):
        attention(q, k, k, bias=np.zeros(shape))


def test_half_precision_is_widened_inside():
    q, k, v = (normal(2, 500, 8, seed=seed).astype("float16") for seed in range(3))
    got = attention(q, k, v, causal=True, bias=np.zeros((500, 500)))
    assert (got.output.dtype, got.weights.dtype, got.logits.dtype) == (np.float16, np.float32, np.float32)
    np.testing.assert_allclose(got.weights.sum(axis=-1), 1, atol=1e-5)
    exact = attention(*(array.astype("float64") for array in (q, k, v)), causal=True)
    np.testing.assert_allclose(got.output, exact.output, rtol=1e-3, atol=1e-6)


def test_activations_keep_their_dtype():
    for dtype in ("float32", "float64"):
        q = np.ones((2, 4), dtype=dtype)
        got = attention(q, q, q, causal=True, bias=np.zeros((2, 2)), temperature=np.asarray(2.0))
        assert {array.dtype for array in got} == {np.dtype(dtype)}


def test_packed_mask_by_hand():
    expected = [[1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]] + 3 * [[0, 0, 0, 1, 1, 1]]
    mask = packed_mask([2, 1, 3])
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, np.array(expected, dtype=bool))
    np.testing.assert_array_equal(packed_mask([0, 2, 0, 0, 1, 3, 0]), mask)
    assert packed_mask([]).shape == packed_mask([0]).shape == (0, 0)
    assert packed_mask(np.array([4])).all()


@given(st.lists(st.integers(0, 5), max_size=6), st.booleans(), seeds)
def test_packed_sequences_do_not_see_each_other(each, causal, seed):
    x = np.random.default_rng(seed).standard_normal((3, sum(each), 4))
    packed = attention(x, x, x, causal=causal, mask=packed_mask(each)).output
    start = 0
    for length in each:
        alone = x[:, start : start + length]
        expected = attention(alone, alone, alone, causal=causal).output
        np.testing.assert_allclose(packed[:, start : start + length], expected, atol=1e-12)
        start += length


@pytest.mark.parametrize("heads", [1, 2, 6])
def test_grouped_keys_are_those_of_their_group(heads):
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((2, count, 5, 4)) for count in (6, heads, heads))
    found = attention(q, k, v, causal=True)
    whole = attention(q, np.repeat(k, 6 // heads, 1), np.repeat(v, 6 // heads, 1), causal=True)
    np.testing.assert_array_equal(found.output, whole.output)
    np.testing.assert_array_equal(found.weights, whole.weights)


X = np.ones((2, 3, 5, 4))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"k": X[:, :1]}, r"v must have the leading axes of k, \(2, 1\), got shape \(2, 3, 5, 4\)"),
        (
            {"k": X[..., :4, :], "v": X[..., :4, :], "causal": True},
            "causal=True needs at least as many keys as queries, got queries=5 and keys=4",
        ),
        ({"bias": np.full((5, 5), np.inf)}, "bias must be finite, or −∞ for a masked pair, got inf in an array"),
    ],
)
def test_arguments_that_do_not_fit_each_other_are_refused(more, message):
    with pytest.raises(ValueError, match=message):
        attention(**({"q": X, "k": X, "v": X} | more))


# ---------------------------------------------------------------------------------------------------------------------
# torch


@pytest.mark.torch
@pytest.mark.parametrize("queries", [1, 4, 7])
def test_equal_to_torch(torch, queries):
    """torch.nn.functional.scaled_dot_product_attention in float64: plain, causal, mask, bias, scale."""
    sdpa, generator = torch.nn.functional.scaled_dot_product_attention, torch.Generator().manual_seed(0)
    random = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)  # noqa: E731 (short)
    q, k, v = random(2, 3, queries, 8), random(2, 3, 7, 8), random(2, 3, 7, 5)
    mask = random(2, 3, queries, 7) > 0
    mask[0, 0, 0] = False  # torch gives zeros there, too
    lower = torch.ones(queries, 7, dtype=torch.bool).tril(7 - queries)
    bias = random(3, queries, 7)
    for ours, theirs in (
        ({}, {}),
        ({"scale": 1.0}, {"scale": 1.0}),
        ({"causal": True}, {"attn_mask": lower}),
        ({"mask": mask}, {"attn_mask": mask}),
        ({"mask": mask, "causal": True}, {"attn_mask": mask & lower}),
        ({"bias": bias}, {"attn_mask": bias}),
        ({"bias": bias, "temperature": 2.0}, {"attn_mask": bias / 2, "scale": 8**-0.5 / 2}),
    ):
        np.testing.assert_allclose(attention(q, k, v, **ours).output, sdpa(q, k, v, **theirs), atol=1e-12)
    grouped = torch.cat([q, q], 1)
    np.testing.assert_allclose(attention(grouped, k, v).output, sdpa(grouped, k, v, enable_gqa=True), atol=1e-12)


@pytest.mark.torch
def test_gradients(torch):
    """Against finite differences, with rows that look nowhere, a bias of −∞ and a temperature for each head."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    bias = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    temperature = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
    closed = torch.where(torch.eye(3, dtype=torch.bool), -math.inf, 0.0).double()

    def shares(q, k, v, bias, temperature):
        output, weights, _ = attention(q, k, v, causal=True, bias=bias + closed, mask=mask, temperature=temperature)
        return output, weights

    assert torch.autograd.gradcheck(shares, (q, k, v, bias, temperature))


@pytest.mark.torch
def test_gradients_of_extreme_and_empty_rows_are_numbers(torch):
    q = torch.tensor([[[1e4], [-1e4], [0.0]]], requires_grad=True)
    mask = torch.tensor([[True, True, True], [False, False, False], [True, False, True]])
    attention(q, q, q, mask=mask).output.sum().backward()
    assert torch.isfinite(q.grad).all()
    none = torch.ones(2, 0, 4, requires_grad=True)
    attention(torch.ones(2, 3, 4), none, none).output.sum().backward()
    assert none.grad.shape == (2, 0, 4)

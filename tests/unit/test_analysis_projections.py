"""posenc.analysis.projections: the four terms and kernels, against slow loops and by hand."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import sinusoidal
from posenc.analysis import four_terms, kernel_asymmetry, kernel_residual, offset_kernel, pairwise_weight
from posenc.frequencies import angles, inv_freq

bases = st.floats(1.0, 1e8)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), st.booleans(), st.integers(0, 99))
def test_the_four_terms(queries, keys, dim, head_dim, batched, seed):
    rng = np.random.default_rng(seed)
    lead = (2, 3) if batched else ()
    x_t, x_s = rng.standard_normal((*lead, queries, dim)), rng.standard_normal((*lead, keys, dim))
    p_t, p_s = rng.standard_normal((queries, dim)), rng.standard_normal((keys, dim))
    w_q, w_k = rng.standard_normal((2, head_dim, dim))
    terms = four_terms(x_t, x_s, p_t, p_s, w_q, w_k)
    scores = ((x_t + p_t) @ w_q.T) @ np.swapaxes((x_s + p_s) @ w_k.T, -1, -2)
    assert all(term.shape == (*lead, queries, keys) for term in terms)
    np.testing.assert_allclose(sum(terms), scores, atol=1e-12)
    at = (0,) * len(lead)
    np.testing.assert_allclose(terms.content_content[at][-1, 0], (w_q @ x_t[at][-1]) @ (w_k @ x_s[at][0]))
    np.testing.assert_allclose(terms.content_position[at][-1, 0], (w_q @ x_t[at][-1]) @ (w_k @ p_s[0]))
    full = np.broadcast_to(p_t, x_t.shape)
    np.testing.assert_allclose(four_terms(x_t, x_s, full, p_s, w_q, w_k).position_content, terms.position_content)
    np.testing.assert_allclose(terms.position_position[at][-1, 0], (w_q @ p_t[-1]) @ (w_k @ p_s[0]))


OFFSETS, PLACES = np.arange(-50, 51), np.arange(100)


@given(st.integers(1, 9), bases, st.sampled_from(["interleaved", "half-split"]), st.integers(0, 99))
def test_kernels_against_slow_loops(dim, base, layout, seed):
    rng = np.random.default_rng(seed)
    weight, apart, at = rng.standard_normal((dim, dim)), rng.uniform(-9, 9, 4), rng.uniform(-50, 50, 3)
    kernel = offset_kernel(apart, at, dim, base, weight, layout=layout)
    assert kernel.shape == (3, 4)
    for t in range(3):
        for k in range(4):
            first = sinusoidal(at[t], dim, base, layout)
            expected = first @ weight @ sinusoidal(at[t] + apart[k], dim, base, layout)
            np.testing.assert_allclose(kernel[t, k], expected, atol=1e-10)


@given(st.integers(1, 8), bases, st.sampled_from(["interleaved", "half-split"]), st.integers(0, 99))
def test_blocks_see_the_offset_only(pairs, base, layout, seed):
    a, b = np.random.default_rng(seed).standard_normal((2, pairs))
    kernel = offset_kernel(OFFSETS, PLACES[:9], 2 * pairs, base, pairwise_weight(a, b, layout), layout=layout)
    turned = angles(OFFSETS, inv_freq(2 * pairs, base))
    expected = np.cos(turned) @ a + np.sin(turned) @ b
    np.testing.assert_allclose(kernel, np.broadcast_to(expected, kernel.shape), atol=1e-10)


def test_kernel_numbers_by_hand():
    same = np.array([[1.0, 2, 4], [1, 2, 4]])
    assert kernel_residual(same) == 0
    np.testing.assert_allclose(kernel_asymmetry(same), 2 / same.std())  # |1 − 4|, 0, |4 − 1|
    only_place = np.array([[1.0, 1, 1], [3, 3, 3]])
    assert kernel_residual(only_place) == 1
    assert kernel_asymmetry(only_place) == 0
    assert kernel_residual(np.ones((2, 3))) == kernel_asymmetry(np.ones((2, 3))) == 0
    np.testing.assert_allclose(kernel_residual(np.array([[0.0, 2], [2, 4]])), math.sqrt(0.5))

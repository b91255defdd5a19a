"""posenc.bias.content: slow loops from the papers, and the shift number by number."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import sinusoidal
from posenc.bias import deberta, relative_shift, tener, transformer_xl
from tests.unit.bias_arguments import deberta_arguments, xl_arguments

seeds = st.integers(0, 2**32 - 1)


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


@pytest.mark.parametrize(("queries", "columns"), [(3, 3), (2, 5), (5, 2), (1, 4)])
def test_relative_shift_reads_rows_that_are_one_number_shorter(queries, columns):
    """A column of zeros in front, the first `queries` numbers left out: the docstring, number by number."""
    scores = np.arange(1.0, 1 + 2 * queries * columns).reshape(2, queries, columns)
    padded = np.concatenate([np.zeros((2, queries, 1)), scores], axis=-1).reshape(2, -1)
    np.testing.assert_array_equal(relative_shift(scores), padded[:, queries:].reshape(2, queries, columns))


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

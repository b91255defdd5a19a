"""posenc.analysis.no_positions: known ties and dilution, single integrals, sampling."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from posenc.analysis import first_tie, match_weight, needle_weight, uniform_attention_std


def test_the_law_of_even_attention_by_sampling():
    np.testing.assert_allclose(uniform_attention_std([1, 4, 100]), [1, 0.5, 0.1])
    assert uniform_attention_std(np.zeros(0)).shape == (0,)
    values = np.random.default_rng(0).standard_normal((20_000, 256))
    for n in (1, 16, 256):
        assert abs(values[:, :n].mean(axis=1).std() / uniform_attention_std(n) - 1) < 0.03


def test_known_ties():
    assert first_tie("bfloat16") == 111
    assert first_tie("float16") == 660
    assert first_tie("float32", 5000) is None
    assert first_tie("bfloat16", 111) == 111
    assert first_tie("bfloat16", 110) is None


def test_a_match_among_equal_keys_is_a_softmax():
    logits = np.zeros(8)
    logits[3] = 2.5
    expected = np.exp(logits[3]) / np.exp(logits).sum()
    np.testing.assert_allclose(match_weight(2.5, 8), expected)
    np.testing.assert_allclose(match_weight(np.array([0.0, np.log(7)]), 8), [1 / 8, 1 / 2])


def test_known_dilution():
    n = [128, 512, 2048, 8192]
    np.testing.assert_allclose(needle_weight(n, 6), [0.6593, 0.3243, 0.1068, 0.0290], atol=6e-5)
    np.testing.assert_allclose(needle_weight(n, 6, 1 / 1.2), [0.8375, 0.5613, 0.2418, 0.0738], atol=6e-5)
    kept = [needle_weight(keys, 6, math.log(128) / math.log(keys)) for keys in n]
    np.testing.assert_allclose(kept, [0.6593, 0.6580, 0.6391, 0.6009], atol=6e-5)


@given(st.floats(-8, 20), st.floats(0.1, 10))
def test_dilution_by_one_other_key_is_a_single_integral(logit, temperature):
    def weighted(z):
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / (1 + math.exp((z - logit) / temperature))

    middle = min(max(logit, -11.0), 11.0)
    expected = quad(weighted, -12, middle, limit=400)[0] + quad(weighted, middle, 12, limit=400)[0]
    np.testing.assert_allclose(needle_weight(2, logit, temperature), expected, atol=1e-8)

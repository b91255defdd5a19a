"""posenc.bias.sinusoids: Sandwich as a product of sinusoidal encodings."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import relative_positions, sinusoidal
from posenc.bias import sandwich, sandwich_features

places = st.lists(st.floats(0, 1e5), min_size=1, max_size=8)


@given(places, places, st.integers(1, 6), st.integers(1, 40), st.floats(2, 1e6))
def test_sandwich_is_a_product_of_sinusoidal_codes(query_at, key_at, n_heads, pairs, base):
    query_at, key_at = np.array(query_at) % 4096, np.array(key_at) % 4096
    bias = sandwich(relative_positions(query_at, key_at), n_heads, 2 * pairs, base)
    queries, keys = (sandwich_features(at, n_heads, 2 * pairs, base) for at in (query_at, key_at))
    np.testing.assert_allclose(queries @ keys.swapaxes(-1, -2), bias, atol=1e-10)
    codes = [sinusoidal(at, 2 * pairs, base) for at in (query_at, key_at)]
    for head in range(n_heads):
        np.testing.assert_allclose(bias[head], codes[0] @ codes[1].T / (8 * (head + 1) / n_heads), atol=1e-10)

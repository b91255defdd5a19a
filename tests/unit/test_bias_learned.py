"""posenc.bias.learned: KERPLE and FIRE by slow loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import relative_positions
from posenc.bias import fire, kerple

rates = st.lists(st.floats(1e-3, 4), min_size=1, max_size=4)
places = st.lists(st.floats(0, 1e5), min_size=1, max_size=8)


@given(places, places, rates, st.sampled_from(["logarithmic", "power"]))
def test_kerple_by_loops(query_at, key_at, r2, kind):
    r1, r2 = [0.5 + h for h in range(len(r2))], [min(r, 2.0) for r in r2]
    bias = kerple(relative_positions(query_at, key_at), r1, r2, kind=kind)
    for h, i, j in np.ndindex(bias.shape):
        distance = abs(query_at[i] - key_at[j])
        expected = -r1[h] * (math.log(1 + r2[h] * distance) if kind == "logarithmic" else distance ** r2[h])
        np.testing.assert_allclose(bias[h, i, j], expected, rtol=1e-9, atol=1e-12)


@given(places, places, st.floats(1e-3, 10), st.floats(0.5, 1e5))
def test_fire_by_loops(query_at, key_at, c, threshold):
    asked = []

    def two_heads(share):
        asked.append(share)
        return np.concatenate([-share, 3 * share**2], axis=-1)

    bias = fire(query_at, key_at, two_heads, c, threshold)
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


@pytest.mark.torch
def test_a_network_gets_the_dtype_of_its_parameter():
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    c = torch.nn.Parameter(torch.tensor(0.1))
    bias = fire(torch.arange(6), torch.arange(6), net, c, 4.0)
    assert (bias.dtype, tuple(bias.shape)) == (torch.float32, (3, 6, 6))
    bias[torch.isfinite(bias)].sum().backward()
    assert c.grad != 0

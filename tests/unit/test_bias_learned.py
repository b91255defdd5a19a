"""posenc.bias.learned: KERPLE and FIRE by slow loops, and where they are one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import relative_positions
from posenc.bias import alibi, alibi_slopes, fire, kerple, sandwich
from tests.unit.bias_arguments import is_toeplitz, square, two_heads

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


def test_kerple_contains_the_symmetric_alibi():
    slopes = alibi_slopes(6)
    power = kerple(square(9), slopes, np.ones(6), kind="power")
    np.testing.assert_allclose(power, alibi(square(9), slopes, symmetric=True), atol=1e-15)
    assert is_toeplitz(kerple(square(9), slopes, slopes))
    assert is_toeplitz(power)
    assert is_toeplitz(alibi(square(9), slopes))
    assert is_toeplitz(sandwich(square(9), 6))


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

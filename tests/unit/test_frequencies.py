"""posenc.frequencies: values known by hand, properties over wide ranges, two array libraries, and what it refuses."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.frequencies import angles, inv_freq, rotations, wavelengths

dims = st.integers(1, 256).map(lambda pairs: 2 * pairs)
bases = st.floats(1.0, 1e8)
positions = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


@pytest.fixture
def torch():
    import torch

    return torch


def test_known_values():
    np.testing.assert_allclose(inv_freq(8), [1, 0.1, 0.01, 0.001], rtol=1e-15)
    np.testing.assert_allclose(inv_freq(128)[[1, 32, 63]], [8.659643e-01, 1e-02, 1.154782e-04], rtol=1e-6)
    np.testing.assert_allclose(wavelengths(inv_freq(512))[-1], 60_611, atol=1)
    assert inv_freq(128).dtype == np.float64


@given(dims, bases)
def test_the_list_is_geometric_and_starts_at_one(dim, base):
    frequencies = inv_freq(dim, base)
    assert frequencies.shape == (dim // 2,)
    assert frequencies[0] == 1
    np.testing.assert_allclose(frequencies[1:] / frequencies[:-1], base ** (-2 / dim), rtol=1e-12)


@given(positions, dims, bases)
def test_angles_are_linear_in_position(at, dim, base):
    frequencies = inv_freq(dim, base)
    turned = angles(at, frequencies)
    assert turned.shape == (len(at), dim // 2)
    np.testing.assert_allclose(turned[:, 0], at)
    np.testing.assert_allclose(2 * turned, angles(2 * np.asarray(at), frequencies), atol=1e-300)


@given(st.floats(1, 1e7), dims, bases)
def test_a_wavelength_is_one_turn(length, dim, base):
    frequencies = inv_freq(dim, base)
    np.testing.assert_allclose(rotations(length, frequencies) * wavelengths(frequencies), length, rtol=1e-12)


def test_a_pair_that_stands_still_has_no_wavelength():
    assert wavelengths([1.0, 0.0]).tolist() == [2 * math.pi, math.inf]


@pytest.mark.torch
def test_torch_gets_what_numpy_gets(torch):
    like = torch.zeros(1)
    frequencies = inv_freq(128, 5e5, like=like)
    assert frequencies.dtype == torch.float64
    np.testing.assert_allclose(frequencies, inv_freq(128, 5e5), rtol=1e-14)
    for at in (torch.arange(7), torch.tensor([[0.5], [-3.0]]), 1_000_000, [0, 1]):
        turned = angles(at, frequencies)
        assert isinstance(turned, torch.Tensor)
        np.testing.assert_allclose(turned, angles(np.asarray(at), inv_freq(128, 5e5)), rtol=1e-14)
    np.testing.assert_allclose(rotations(4096, frequencies), rotations(4096, inv_freq(128, 5e5)), rtol=1e-14)
    np.testing.assert_allclose(wavelengths(frequencies), wavelengths(inv_freq(128, 5e5)), rtol=1e-14)


@pytest.mark.torch
def test_low_precision_input_is_widened(torch):
    turned = angles(torch.tensor([257], dtype=torch.int32), inv_freq(4, like=torch.zeros(1, dtype=torch.bfloat16)))
    assert turned.dtype == torch.float64
    assert turned[0, 0] == 257


@pytest.mark.torch
def test_positions_may_carry_a_gradient(torch):
    at = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    angles(at, inv_freq(4, like=at)).sum().backward()
    np.testing.assert_allclose(at.grad, [1.01, 1.01])


@pytest.mark.torch
def test_two_libraries_do_not_mix(torch):
    with pytest.raises(TypeError, match="cannot mix Tensor and ndarray"):
        angles(torch.arange(3), inv_freq(8))


@pytest.mark.parametrize("like", ["torch", "numpy", 3.0, [1.0]])
def test_like_is_an_array(like):
    with pytest.raises(TypeError, match=rf"like must be None or an array, .*, got {re.escape(repr(like))}$"):
        inv_freq(16, like=like)

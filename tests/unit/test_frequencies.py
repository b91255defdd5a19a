"""posenc.frequencies: values known by hand, properties over wide ranges, two array libraries."""

import math

import numpy as np
import pytest

from posenc.frequencies import angles, inv_freq, rotations, wavelengths


def test_known_values():
    np.testing.assert_allclose(inv_freq(8), [1, 0.1, 0.01, 0.001], rtol=1e-15)
    np.testing.assert_allclose(inv_freq(128)[[1, 32, 63]], [8.659643e-01, 1e-02, 1.154782e-04], rtol=1e-6)
    np.testing.assert_allclose(wavelengths(inv_freq(512))[-1], 60_611, atol=1)
    assert inv_freq(128).dtype == np.float64
    assert wavelengths([1.0, 0.0]).tolist() == [2 * math.pi, math.inf]  # an unrotated pair has no wavelength


@pytest.mark.parametrize("dim", [2, 6, 512])
@pytest.mark.parametrize("base", [1.5, 1e8])
def test_frequencies_are_geometric_from_one_and_angles_linear_in_position(dim, base):
    frequencies, at = inv_freq(dim, base), np.random.default_rng(0).uniform(-1e6, 1e6, (4, 5))
    assert frequencies.shape == (dim // 2,)
    assert frequencies[0] == 1
    np.testing.assert_allclose(frequencies[1:] / frequencies[:-1], base ** (-2 / dim), rtol=1e-12)
    np.testing.assert_allclose(angles(at, frequencies), at[..., None] * frequencies, rtol=1e-15)
    for length in (1, 4096, 1e7):
        np.testing.assert_allclose(rotations(length, frequencies) * wavelengths(frequencies), length, rtol=1e-12)


@pytest.mark.torch
def test_torch_gets_what_numpy_gets_in_float64(torch):
    """Whatever dtype the activations and the positions have: float32 and integers are widened."""
    frequencies, expected = inv_freq(128, 5e5, like=torch.zeros(1, dtype=torch.bfloat16)), inv_freq(128, 5e5)
    np.testing.assert_allclose(frequencies, expected, rtol=1e-14)
    for at in (
        torch.arange(7),
        torch.tensor([257], dtype=torch.int32),
        torch.tensor([[0.5], [-3.0]]),
        1_000_000,
        [0, 1],
    ):
        found = angles(at, frequencies)
        assert found.dtype == torch.float64
        np.testing.assert_allclose(found, angles(np.asarray(at), expected), rtol=1e-14)
    np.testing.assert_allclose(rotations(4096, frequencies), rotations(4096, expected), rtol=1e-14)
    np.testing.assert_allclose(wavelengths(frequencies), wavelengths(expected), rtol=1e-14)
    at = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    angles(at, inv_freq(4, like=at)).sum().backward()
    np.testing.assert_allclose(at.grad, [1.01, 1.01])


@pytest.mark.torch
def test_what_is_refused_of_tensors(torch):
    for dtype in (torch.bfloat16, torch.float16):  # they skip integers from 257 and 2049 on
        with pytest.raises(TypeError, match=rf"positions must be integers, float32 or float64, got {dtype}"):
            angles(torch.arange(3, dtype=dtype), inv_freq(8, like=torch.zeros(1)))
    with pytest.raises(TypeError, match="cannot mix Tensor and ndarray"):
        angles(torch.arange(3), inv_freq(8))


def test_like_is_an_array_or_none():
    for like in (3.0, "torch"):
        with pytest.raises(TypeError, match="like must be None or an array"):
            inv_freq(8, like=like)

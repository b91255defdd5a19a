"""posenc.rotary: values known by hand, what a rotation must keep, two layouts, two libraries, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotary_table, rotate

layouts = st.sampled_from(["interleaved", "half"])
positions = st.integers(0, 100_000)


def test_known_values():
    x, frequencies = np.array([[1.0, 2.0, 3.0, 4.0]]), inv_freq(4)
    np.testing.assert_allclose(
        rotate(x, angles([1], frequencies)), [[-1.142640, 1.922076, 2.959851, 4.029800]], atol=1e-6
    )
    np.testing.assert_allclose(
        rotate(x, angles([1], frequencies), layout="half"), [[-1.984111, 1.959901, 2.462378, 4.019800]], atol=1e-6
    )


@given(positions, positions, positions, layouts)
def test_the_score_depends_on_the_difference_alone(m, n, shift, layout):
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((2, 1, 64))  # q ≠ k, so that a wrong sign shows
    frequencies = inv_freq(64)
    turn = lambda x, at: rotate(x, angles([at], frequencies), layout)[0]  # noqa: E731 (one line says it)
    score = turn(q, m) @ turn(k, n)
    np.testing.assert_allclose(turn(q, m + shift) @ turn(k, n + shift), score, atol=1e-9)
    np.testing.assert_allclose(turn(q, m - n) @ k[0], score, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(turn(q, m)), np.linalg.norm(q))


def test_the_sign_of_the_sine_term():
    q, k, theta = np.array([[1.0, 0.0]]), np.array([0.0, 1.0]), 0.3
    np.testing.assert_allclose(rotate(q, [[theta]]) @ k, np.sin(theta))


def test_layouts_differ_by_a_permutation():
    x, turned = np.random.default_rng(0).standard_normal((5, 8)), angles(np.arange(5), inv_freq(8))
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    np.testing.assert_allclose(rotate(x[:, order], turned, "half"), rotate(x, turned)[:, order])


@pytest.mark.torch
@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_torch_gets_what_numpy_gets(layout, dtype):
    import torch

    x = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0)).to(getattr(torch, dtype))
    at = torch.arange(5)
    table = rotary_table(angles(at, inv_freq(8, like=x)))
    turned = rotate(x, table, layout)
    assert turned.dtype == x.dtype
    expected = rotate(x.double().numpy(), angles(np.arange(5), inv_freq(8)), layout)
    tolerance = {"float64": 1e-12, "float32": 1e-6, "bfloat16": 0.05}[dtype]
    np.testing.assert_allclose(turned.double(), expected, atol=tolerance)


@pytest.mark.torch
def test_gradients_flow():
    import torch

    x = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True)
    turned = angles(torch.arange(5), inv_freq(8, like=x))
    for layout in ("interleaved", "half"):
        assert torch.autograd.gradcheck(lambda y, layout=layout: rotate(y, turned, layout), x)


def test_what_is_refused():
    x, turned = np.ones((3, 2, 5, 8)), angles(np.arange(5), inv_freq(8))
    with pytest.raises(ValueError, match=r"layout must be one of \('interleaved', 'half'\), got 'pairs'"):
        rotate(x, turned, "pairs")
    with pytest.raises(ValueError, match="x has width 8, so the angles need width 4, got 2"):
        rotate(x, turned[:, :2])
    with pytest.raises(ValueError, match="x has width 7, so the angles need width 3.5, got 4"):
        rotate(x[..., :7], turned)
    with pytest.raises(ValueError, match="do not say which axes of x"):
        rotate(x, turned[None])
    with pytest.raises(ValueError, match="angles must be finite"):
        rotary_table([np.nan])

"""posenc.rotary with torch tensors: what is kept between calls, answers that go into given memory, and pieces."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc import Rope, _rotary_torch
from posenc.frequencies import angles, inv_freq
from posenc.rotary import LAYOUTS, rotary_table, rotate

pytestmark = pytest.mark.torch
layouts = pytest.mark.parametrize("layout", LAYOUTS)
sizes = pytest.mark.parametrize("large", [False, True], ids=["small", "large, piece by piece"])
DTYPES = [torch.float64, torch.float32, torch.bfloat16]


def normal(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)


def table_of(x, **options):
    length = x.shape[-2]
    return rotary_table(angles(torch.arange(3, 3 + length), inv_freq(x.shape[-1], like=x)), length_axis=-2, **options)


@pytest.fixture
def way(large, monkeypatch):
    monkeypatch.setattr(_rotary_torch, "LARGE", 0 if large else 10**9)
    monkeypatch.setattr(_rotary_torch, "PIECE", 16)


# ---------------------------------------------------------------- what is kept


@layouts
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_second_call_gives_what_the_first_gave_without_a_check(layout, dtype, monkeypatch):
    x = normal(2, 3, 5, 8, dtype=dtype)
    table = table_of(x, like=x)
    first = rotate(x, table, layout)
    np.testing.assert_allclose(
        first.double(), rotate(x, table, layout, "elementwise").double(), atol=0.02 if dtype == torch.bfloat16 else 1e-6
    )
    monkeypatch.setattr("posenc.rotary.activations", None)
    assert torch.equal(rotate(x, table, layout), first)
    with pytest.raises(TypeError):  # the other half of x was never checked
        rotate(x[:1], table, layout)


@layouts
def test_a_table_that_is_changed_is_taken_as_it_is(layout):
    x = normal(2, 5, 8)
    table = table_of(x, like=x)
    before = rotate(x, table, layout)
    table.cos.mul_(2)
    table.sin.mul_(2)
    torch.testing.assert_close(rotate(x, table, layout), 2 * before)
    table.sin.requires_grad_()
    rotate(x, table, layout).sum().backward()
    assert table.sin.grad.abs().min() > 0


@layouts
def test_another_table_of_the_same_arrays_has_nothing_kept(layout):
    x = normal(2, 5, 8)
    table = table_of(x, like=x)
    kept = rotate(x, table, layout)
    assert torch.equal(rotate(x, table._replace(cos=-table.cos, sin=-table.sin), layout), -kept)
    assert torch.equal(rotate(x[:, 1:3], table[1:3], layout), kept[:, 1:3])


@layouts
# torch's own code for forward derivatives still calls torch.jit.script while it is imported
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
# torch.compile makes an instance of any autograd function that it traces, and torch warns of that
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_transformations_after_a_table_was_used(layout):
    x, direction = normal(2, 3, 5, 8)
    table = table_of(x, like=x)
    expected, along = rotate(x, table, layout), rotate(direction, table, layout)
    turn = lambda y: rotate(y, table, layout)  # noqa: E731 (one line says it)
    torch.testing.assert_close(torch.vmap(turn)(x), expected)
    for found, wanted in zip(torch.func.jvp(turn, (x,), (direction,)), (expected, along), strict=True):
        torch.testing.assert_close(found, wanted)
    gradient = torch.func.grad(lambda y: (turn(y) * along).sum())(x)
    torch.testing.assert_close(gradient, direction)  # the transpose turns back
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.unpack_dual(turn(torch.autograd.forward_ad.make_dual(x, direction)))
        torch.testing.assert_close(dual.tangent, along)
    assert torch.equal(turn(x), expected)
    compiled = torch.compile(turn, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x), expected)


@layouts
@pytest.mark.parametrize("length", [4, 4096])
def test_a_rotation_used_without_gradients_can_be_trained_afterwards(layout, length):
    rope, x = Rope(16, layout=layout), normal(1, 1, length, 16)
    with torch.inference_mode():
        expected = rope(x, x)[0].clone()
        table = table_of(x, like=x)
        turned = rotate(x, table, layout)
        assert torch.equal(rotate(x, table, layout), turned)
    leaf = x.clone().requires_grad_()
    for _ in range(2):
        found = rope(leaf, leaf)[0]
        found.backward(rope.rotate(x))
        torch.testing.assert_close(found.detach(), expected)
    torch.testing.assert_close(leaf.grad, 2 * x, atol=1e-5, rtol=1e-5)


def test_the_tables_of_the_last_call_serve_like_tensors_alone():
    rope = Rope(8)
    for shape, dtype, offset in [
        ((1, 2, 3, 8), torch.float32, 0),
        ((1, 2, 3, 8), torch.float32, 0),
        ((1, 2, 3, 8), torch.float32, 7),
        ((1, 2, 3, 8), torch.float64, 7),
        ((1, 2, 4, 8), torch.float64, 7),
        ((1, 2, 4, 8), torch.float64, torch.tensor(9)),
    ]:
        q, k = normal(2, *shape, dtype=dtype)
        fresh = Rope(8)(q, k, torch.arange(shape[-2]) + offset)
        for found, wanted in zip(rope(q, k, offset=offset), fresh, strict=True):
            torch.testing.assert_close(found, wanted, atol=1e-6, rtol=1e-6)
    late = rope(q[:, :, -1:], k, offset=5)[0]  # a query that is the last of four
    torch.testing.assert_close(late, Rope(8).rotate(q[:, :, -1:], offset=8))
    with pytest.raises(ValueError, match="q must have heads of width 8"):
        rope(q[..., :6], k)


def test_frequencies_that_learn_have_no_last_tables():
    frequencies = torch.nn.Parameter(torch.ones(2))
    rope, q = Rope(4, scaling=(frequencies, 1.0)), normal(1, 1, 3, 4)
    first = rope(q, q)[0]
    with torch.no_grad():
        frequencies.mul_(0.5)
    assert not torch.allclose(rope(q, q)[0], first)


# ---------------------------------------------------------------- answers into given memory


@layouts
@sizes
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_the_answer_goes_where_it_is_wanted(layout, dtype, rotary_dim):
    x = normal(2, 3, 5, 8, dtype=dtype)
    table = table_of(x[..., :rotary_dim], like=x)
    expected = rotate(x, table, layout, rotary_dim=rotary_dim)
    places = [
        torch.empty_like(x),
        torch.empty(2, 5, 3, 8, dtype=dtype).transpose(1, 2),
        torch.empty(2, 3, 5, 9, dtype=dtype)[..., 1:],  # begins at an odd number
        torch.empty(8, 2, 3, 5, dtype=dtype).permute(1, 2, 3, 0),
    ]
    before = x.clone()
    for out in places:
        assert rotate(x, table, layout, rotary_dim=rotary_dim, out=out) is out
        torch.testing.assert_close(out, expected)
    assert torch.equal(x, before)
    assert rotate(x, table, layout, rotary_dim=rotary_dim, out=x) is x
    torch.testing.assert_close(x, expected)


@layouts
@sizes
@pytest.mark.usefixtures("way")
def test_memory_that_overlaps(layout):
    memory = normal(7, 6, 8)
    x, out = memory[:6], memory[1:]
    table = table_of(x, like=x)
    expected = rotate(x, table, layout)
    torch.testing.assert_close(rotate(x, table, layout, out=out), expected)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"out": np.ones((2, 5, 8))}, TypeError, "x and out must be torch tensors, got .* of shape"),
        (
            {"out": torch.ones(5, 8)},
            ValueError,
            r"out must be like the answer, \(2, 5, 8\), torch.float32, on cpu, got",
        ),
        ({"out": torch.ones(2, 5, 8).double()}, ValueError, r"got \(2, 5, 8\), torch.float64, on cpu"),
        ({"method": "complex"}, ValueError, "method must be None or 'compiled' where out is given, got 'complex'"),
        ({"x": torch.ones(2, 5, 8, requires_grad=True)}, ValueError, "out must be None where gradients are wanted"),
    ],
)
def test_what_cannot_take_the_answer(change, error, message):
    x = normal(2, 5, 8)
    given = {"x": x, "angles_or_table": table_of(x, like=x), "out": torch.empty(2, 5, 8)} | change
    with pytest.raises(error, match=message):
        rotate(**given)
    with torch.no_grad():
        if "x" in change:
            torch.testing.assert_close(rotate(**given), rotate(change["x"], given["angles_or_table"]))


# ---------------------------------------------------------------- a compiled kernel, and pieces


@pytest.mark.release
@layouts
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
# inductor imports code of torch's own that does
@pytest.mark.filterwarnings("ignore:`torch.jit.script.*` is deprecated:DeprecationWarning")
def test_a_compiled_kernel_turns_as_the_formula_does(layout, dtype):
    x, gradient = normal(2, 2, 8, 64, 32, dtype=dtype)
    table = table_of(x, like=x)
    found, wanted = [], []
    for method, results in (("compiled", found), ("elementwise", wanted)):
        leaf = x.clone().requires_grad_()
        turned = rotate(leaf, table, layout, method)
        turned.backward(gradient)
        results += [turned.detach(), leaf.grad]
    tolerance = {torch.float32: 1e-6, torch.bfloat16: 0.04}[dtype]
    torch.testing.assert_close(found, wanted, atol=tolerance, rtol=0.01 if dtype == torch.bfloat16 else 1e-5)
    out = torch.empty_like(x)
    assert torch.equal(rotate(x, table, layout, "compiled", out=out), found[0])
    assert torch.equal(rotate(x, table, layout, "compiled", out=x), found[0])


def test_shapes_beyond_the_kernels_that_torch_makes_are_turned_by_pieces(monkeypatch):
    monkeypatch.setattr(_rotary_torch, "MOST_KERNELS", len(_rotary_torch._KERNELS))
    monkeypatch.setattr(_rotary_torch, "_kernel", lambda: pytest.fail("a kernel was asked for"))
    x = normal(3, 8, 64, 32)
    table = table_of(x, like=x)
    assert torch.equal(rotate(x, table, "half", "compiled"), rotate(x, table, "half"))


def test_numpy_cannot_be_compiled():
    with pytest.raises(TypeError, match="method must not be 'compiled' where x is no torch tensor, got"):
        rotate(np.ones((5, 8)), angles(np.arange(5), inv_freq(8)), method="compiled")

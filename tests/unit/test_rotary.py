"""posenc.rotary: values known by hand, what a rotation keeps, layouts, shapes, and what NumPy, torch and JAX share.

In one file that imports no torch by itself, since every wrong version of the module (release/mutants) is asked all.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from posenc.frequencies import angles, inv_freq
from posenc.rotary import (
    LAYOUTS,
    convert_projection,
    cos_sin,
    layout_permutation,
    pair_scores,
    plane_rotations,
    rotate,
    rotate_complex,
    rotate_matrix,
    rotation_matrix,
    xpos_cos_sin,
)

LIBRARIES = [
    "numpy",
    pytest.param("torch", marks=pytest.mark.torch),
    pytest.param("jax.numpy", marks=pytest.mark.release),
]
DTYPES = ["float64", "float32", "bfloat16", "float16"]
layouts = pytest.mark.parametrize("layout", LAYOUTS)
methods = pytest.mark.parametrize("method", [rotate, rotate_complex, rotate_matrix])
# torch's own code for forward derivatives, and inductor, still use torch.jit.script
old_jit = pytest.mark.filterwarnings("ignore:`torch.jit.script.*` is deprecated:DeprecationWarning")


@pytest.fixture(params=LIBRARIES)
def xp(request):
    return import_module(request.param)


@pytest.fixture
def torch():
    return import_module("torch")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def phi_at(positions, dim=8):
    return angles(positions, inv_freq(dim))


# ---------------------------------------------------------------- the definition


@methods
def test_known_values(xp, method):
    x, phi = xp.asarray([1.0, 2.0, 3.0, 4.0]), xp.asarray(phi_at(1, 4))
    np.testing.assert_allclose(method(x, phi, "interleaved"), [-1.142640, 1.922076, 2.959851, 4.029800], atol=1e-6)
    np.testing.assert_allclose(method(x, phi, "half-split"), [-1.984111, 1.959901, 2.462378, 4.019800], atol=1e-6)


@layouts
@methods
def test_rotation_equals_a_loop_over_the_definition(xp, method, layout):
    x, at = normal(3, 2, 5, 8), np.arange(11, 16)
    result = np.asarray(method(xp.asarray(x), xp.asarray(phi_at(at)), layout))
    for batch, head, token, i in np.ndindex(3, 2, 5, 4):
        pair = [2 * i, 2 * i + 1] if layout == "interleaved" else [i, i + 4]
        (a, b), phi = x[batch, head, token, pair], at[token] * 10_000 ** (-2 * i / 8)
        expected = [a * np.cos(phi) - b * np.sin(phi), a * np.sin(phi) + b * np.cos(phi)]
        np.testing.assert_allclose(
            result[batch, head, token, pair], expected, atol=1e-12 if result.itemsize == 8 else 1e-6
        )


def test_half_split_is_the_default():
    x, phi = normal(5, 8), phi_at(np.arange(5))
    for function in (rotate, rotate_complex, rotate_matrix):
        np.testing.assert_array_equal(function(x, phi), function(x, phi, "half-split"))


# ---------------------------------------------------------------- what a rotation keeps


@layouts
@methods
@pytest.mark.parametrize("dim", [2, 6, 64])
def test_scores_depend_on_the_offset_alone_and_norms_are_kept(dim, method, layout):
    """With q = k a wrong sign would not show: the score of (m, n) is then that of (n, m)."""
    q, k = normal(2, 200, dim)
    m, n, shift = np.random.default_rng(1).integers(-1_000_000, 1_000_000, (3, 200))
    turn = lambda x, at: method(x, phi_at(at, dim), layout)  # noqa: E731 (one line says it)
    score = (turn(q, m) * turn(k, n)).sum(-1)
    # an angle of 2·10⁶ radians is known to about 2·10⁻¹⁰ in float64
    np.testing.assert_allclose((turn(q, m + shift) * turn(k, n + shift)).sum(-1), score, atol=1e-7)
    np.testing.assert_allclose((turn(q, m - n) * k).sum(-1), score, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(turn(q, m), axis=-1), np.linalg.norm(q, axis=-1), rtol=1e-12)
    np.testing.assert_allclose(turn(turn(q, m), n), turn(q, m + n), atol=1e-7)
    order = layout_permutation(dim)
    np.testing.assert_allclose(
        method(q[:, order], phi_at(m, dim), "half-split"),
        method(q, phi_at(m, dim), "interleaved")[:, order],
        atol=1e-12,
    )


def test_rotation_matrices_have_their_blocks_where_the_layout_says():
    c, s = np.cos([1, 0.01]), np.sin([1, 0.01])
    interleaved = [[c[0], -s[0], 0, 0], [s[0], c[0], 0, 0], [0, 0, c[1], -s[1]], [0, 0, s[1], c[1]]]
    half_split = [[c[0], 0, -s[0], 0], [0, c[1], 0, -s[1]], [s[0], 0, c[0], 0], [0, s[1], 0, c[1]]]
    np.testing.assert_allclose(rotation_matrix([1, 0.01], "interleaved"), interleaved)
    np.testing.assert_allclose(rotation_matrix([1, 0.01]), half_split)


@layouts
def test_the_transpose_of_one_rotation_times_another_rotates_by_the_difference(layout):
    m, n = np.random.default_rng(0).integers(-100, 100, (2, 50))
    at_m, at_n = (rotation_matrix(phi_at(at, 12), layout) for at in (m, n))
    np.testing.assert_allclose(at_m.swapaxes(-1, -2) @ at_n, rotation_matrix(phi_at(n - m, 12), layout), atol=1e-12)
    np.testing.assert_allclose(at_m @ at_n, at_n @ at_m, atol=1e-12)


@pytest.mark.parametrize("size", range(1, 10))
def test_every_rotation_is_made_of_plane_rotations(size):
    orthogonal = np.linalg.qr(normal(5, size, size))[0]
    orthogonal[..., 0] *= np.sign(np.linalg.det(orthogonal))[:, None]
    half_turns = np.diag([-1.0] * (size // 2 * 2) + [1.0] * (size % 2))
    for rotation in (*orthogonal, np.eye(size), half_turns):
        basis, found = plane_rotations(rotation)
        canonical, even = np.eye(size), size // 2 * 2
        if even:
            canonical[:even, :even] = rotation_matrix(found, "interleaved")
        np.testing.assert_allclose(basis.T @ basis, np.eye(size), atol=1e-10)
        np.testing.assert_allclose(basis @ canonical @ basis.T, rotation, atol=1e-10)


@layouts
def test_pair_scores_add_up_to_the_attention_score(layout):
    q, k = normal(2, 100, 16)
    m, n = np.random.default_rng(0).integers(0, 10_000, (2, 100))
    of_pairs = pair_scores(q, k, phi_at(m - n, 16), layout)
    assert of_pairs.shape == (100, 8)
    scores = (rotate(q, phi_at(m, 16), layout) * rotate(k, phi_at(n, 16), layout)).sum(-1)
    np.testing.assert_allclose(of_pairs.sum(-1), scores, atol=1e-9)
    np.testing.assert_allclose(pair_scores(np.array([1.0, 0.0]), np.array([0.0, 1.0]), [0.3]), [np.sin(0.3)])


# ---------------------------------------------------------------- shapes


@methods
@pytest.mark.parametrize("shape", [(4,), (5, 4), (1, 4), (1, 1, 5, 4), (2, 1, 5, 4), (1, 3, 1, 4), (2, 3, 5, 4)])
def test_angles_are_broadcast_along_queries(shape, method):
    x, phi = normal(2, 3, 5, 8), normal(*shape, seed=1)
    expected = method(x, np.broadcast_to(phi, (2, 3, 5, 4)))
    np.testing.assert_array_equal(method(x, phi), expected)
    np.testing.assert_array_equal(method(x, cos_sin(phi)), expected)
    if len(shape) == 4:
        length_first = method(x.swapaxes(1, 2), phi.swapaxes(1, 2))  # (batch, length, heads, dim)
        np.testing.assert_array_equal(length_first.swapaxes(1, 2), expected)


@methods
@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2, 5, 4), r"must have shape \(dim/2,\), \(length, dim/2\) or as many axes as x of shape \(2, 3, 5, 8\)"),
        ((1, 5, 4), "as many axes as x"),
        ((1, 2, 3, 5, 4), "as many axes as x"),
        ((3, 4), r"of shape \(3, 4\) must broadcast along x"),
        ((3, 1, 5, 4), "must broadcast along x"),
        ((5, 3), "must have width 4 for the 8 dimensions that are rotated, got shape"),
        ((5, 8), r"one number for each pair, as in cos\[..., : dim // 2\]"),
        ((8,), "must have width 4"),
    ],
)
def test_angles_of_other_shapes_are_refused(shape, message, method):
    """(batch, length, pairs) too: of (batch, heads, length, dim) it would be the heads that have angles."""
    x, phi = normal(2, 3, 5, 8), np.ones(shape)
    for name, value in (("angles", phi), (r"\(cos, sin\)", (np.cos(phi), np.sin(phi)))):
        with pytest.raises(ValueError, match=f"^{name} .*{message}"):
            method(x, value)


def test_a_pair_of_cosines_and_sines_is_not_taken_as_angles(xp):
    """Two arrays look like angles of a batch of two."""
    x, phi = xp.asarray(normal(2, 5, 8)), xp.asarray(phi_at(np.arange(5)))
    cos, sin = cos_sin(phi)
    for method in (rotate, rotate_complex, rotate_matrix):
        np.testing.assert_array_equal(method(x, (cos, sin)), method(x, phi))
    for arrays in ([cos, sin], (cos, sin, cos)):
        with pytest.raises(TypeError, match="^angles must be"):
            rotate(x, arrays)


@layouts
@methods
def test_empty_sequences(xp, method, layout):
    for shape in ((2, 3, 0, 8), (0, 3, 5, 8)):
        assert method(xp.zeros(shape), xp.asarray(phi_at(np.arange(shape[2]))), layout).shape == shape


@layouts
@pytest.mark.parametrize("rotary_dim", [2, 6, 8])
@pytest.mark.parametrize("width", [8, 9])
def test_partial_rotary_leaves_the_other_dimensions(xp, width, rotary_dim, layout):
    """An odd width is rotated but for its last dimensions."""
    x, phi = xp.asarray(normal(5, width)), xp.asarray(phi_at(np.arange(5), rotary_dim))
    partly = rotate(x, phi, layout, rotary_dim=rotary_dim)
    np.testing.assert_array_equal(partly[:, rotary_dim:], x[:, rotary_dim:])
    np.testing.assert_array_equal(partly[:, :rotary_dim], rotate(x[:, :rotary_dim], phi, layout))


# ---------------------------------------------------------------- factors, xPos, checkpoints


@methods
def test_the_attention_factor_multiplies_scores_by_its_square(method):
    q, k = normal(2, 5, 8)
    plain, scaled = (
        method(q, cos_sin(phi_at(np.arange(5)), factor)) @ method(k, cos_sin(phi_at(np.arange(5)), factor)).T
        for factor in (1.0, 1.3)
    )
    np.testing.assert_allclose(scaled, 1.3**2 * plain, rtol=1e-12)


@layouts
def test_xpos_scores_are_relative_and_decay_with_distance(xp, layout):
    q, k = normal(2, 100, 64)
    m, n, shift = np.random.default_rng(0).integers(0, 2000, (3, 100))

    def scores(query_at, key_at):
        of_queries, of_keys = (
            xpos_cos_sin(xp.asarray(at), xp.asarray(inv_freq(64)))[i] for i, at in enumerate((query_at, key_at))
        )
        return np.asarray((rotate(xp.asarray(q), of_queries, layout) * rotate(xp.asarray(k), of_keys, layout)).sum(-1))

    tolerance = 1e-8 if scores(m, n).itemsize == 8 else 1e-2  # JAX has float32: angles of thousands of radians
    zeta = (np.arange(32) / 32 + 0.4) / 1.4
    of_pairs = pair_scores(q, k, phi_at(m - n, 64), layout) * zeta ** ((m - n)[:, None] / 512)
    np.testing.assert_allclose(scores(m, n), of_pairs.sum(-1), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(scores(m + shift, n + shift), scores(m, n), rtol=tolerance, atol=tolerance)
    assert np.linalg.norm(rotate(q[0], xpos_cos_sin(512, inv_freq(64))[0])) < 0.8 * np.linalg.norm(q[0])


@pytest.mark.parametrize("n_key", [4, 2, 1])
@pytest.mark.parametrize("rotary_dim", [None, 4, 6])
def test_a_converted_checkpoint_gives_the_same_scores(xp, n_key, rotary_dim):
    head_dim, hidden, length, x = 8, 12, 5, normal(5, 12)
    w_q, w_k, b_q = normal(4 * head_dim, hidden, seed=1), normal(n_key * head_dim, hidden, seed=2), normal(32, seed=3)

    def convert(weight, n_heads, to="half-split"):
        return np.asarray(convert_projection(xp.asarray(weight), n_heads, head_dim, to, rotary_dim=rotary_dim))

    def scores(w_q, b_q, w_k, layout):
        q = (x @ w_q.T + b_q).reshape(length, 4, head_dim).swapaxes(0, 1)  # (heads, length, head_dim)
        k = (x @ w_k.T).reshape(length, n_key, head_dim).swapaxes(0, 1)
        phi = phi_at(np.arange(length), rotary_dim or head_dim)
        q, k = (rotate(part, phi, layout, rotary_dim=rotary_dim) for part in (q, k))
        return q @ np.repeat(k, 4 // n_key, axis=0).swapaxes(-1, -2)  # query heads share keys

    before = scores(w_q, b_q, w_k, "interleaved")
    after = scores(convert(w_q, 4), convert(b_q, 4), convert(w_k, n_key), "half-split")
    np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-5 if "jax" in xp.__name__ else 1e-12)
    np.testing.assert_array_equal(convert(convert(w_q, 4), 4, "interleaved"), xp.asarray(w_q))
    assert not np.allclose(scores(w_q, b_q, w_k, "half-split"), before)  # not converted, the checkpoint is broken


def test_the_permutation_of_layouts_is_within_each_head():
    assert layout_permutation(8) == [0, 2, 4, 6, 1, 3, 5, 7]
    rows = convert_projection(np.arange(16.0), 2, 8, "half-split")
    assert rows.tolist() == [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]


# ---------------------------------------------------------------- precision, gradients, memory and compilation in torch


@pytest.mark.torch
@layouts
@methods
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("start", [0, 1_000_000])
def test_16_bits_are_rotated_in_float32_and_rounded_once(torch, start, dtype, method, layout):
    """Angles made in bfloat16 would be wrong by whole tokens from position 257 on."""
    x, phi = torch.tensor(normal(10, 64)).to(getattr(torch, dtype)), torch.tensor(phi_at(start + np.arange(10), 64))
    result, wide = method(x, phi, layout), x if dtype == "float64" else x.float()
    assert torch.equal(result, method(wide, phi, layout).to(x.dtype))
    assert torch.equal(result, method(x, cos_sin(phi), layout))
    atol = {"float64": 1e-14, "float32": 1e-6, "bfloat16": 2e-2, "float16": 3e-3}[dtype]
    np.testing.assert_allclose(result.double(), method(x.double().numpy(), phi.numpy(), layout), atol=atol)


def test_cosines_and_sines_are_float64_unless_a_dtype_is_given(xp):
    phi = xp.asarray(phi_at(np.arange(5)))
    assert cos_sin(phi).cos.dtype == phi.dtype  # JAX has float32 alone
    assert cos_sin(phi, dtype=xp.float32).sin.dtype == xpos_cos_sin(xp.arange(3), phi[1], dtype=xp.float32)[0].cos.dtype
    assert cos_sin(phi, dtype=xp.float32).sin.dtype == xp.float32


@pytest.mark.torch
@layouts
@methods
@old_jit
def test_gradients_forwards_backwards_and_twice(torch, method, layout):
    """Of queries, of angles, and of cosines or sines alone."""
    x = torch.tensor(normal(2, 3, 4), requires_grad=True)
    phi = torch.tensor(phi_at(np.arange(1, 4), 4), requires_grad=True)
    cos, sin = (part.detach().requires_grad_() for part in cos_sin(phi))
    through_angles, through_pair = (
        lambda x, phi: method(x, phi, layout),
        lambda *args: method(args[0], args[1:], layout),
    )
    assert torch.autograd.gradcheck(through_angles, (x, phi), check_forward_ad=True)
    assert torch.autograd.gradcheck(through_pair, (x, cos, sin), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(through_angles, (x, phi))
    for learned in range(3):  # each of them, where the others do not learn
        given = [part.detach().requires_grad_(place == learned) for place, part in enumerate((x, cos, sin))]
        through_pair(*given).sum().backward()
        assert given[learned].grad.abs().max() > 0


@pytest.mark.torch
@layouts
@old_jit
def test_vmap_and_jvp(torch, layout):
    x, direction = torch.tensor(normal(2, 2, 3, 5, 8))
    phi = torch.tensor(phi_at(np.arange(15).reshape(3, 5)))
    turn = lambda y, at=phi[0]: rotate(y, at, layout)  # noqa: E731 (one line says it)
    torch.testing.assert_close(torch.vmap(turn, in_dims=1, out_dims=1)(x), turn(x))
    torch.testing.assert_close(torch.vmap(turn)(x[0], phi), turn(x[0], phi))
    for found, expected in zip(torch.func.jvp(turn, (x,), (direction,)), (turn(x), turn(direction)), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.torch
@layouts
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_memory_in_any_order(torch, layout, dtype):
    x, phi = torch.tensor(normal(2, 5, 3, 18)).to(getattr(torch, dtype)), torch.tensor(phi_at(np.arange(5)))
    for view in (
        x[..., 1:9].transpose(1, 2),  # begins at an odd place
        x[..., ::2][..., :8].transpose(1, 2),
        x[:, :, :1, :8].transpose(1, 2).expand(2, 3, 5, 8),
        x.permute(3, 0, 1, 2)[:8].permute(1, 3, 2, 0),  # the last axis is the slowest in memory
    ):
        assert torch.equal(rotate(view, phi, layout), rotate(view.contiguous(), phi, layout))
        with_nan = view.clone()
        with_nan[0, 1, 1] = float("nan")
        assert torch.equal(rotate(with_nan, phi, layout).isnan(), with_nan.isnan())


@pytest.mark.torch
@layouts
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_out_takes_the_result_and_may_be_the_queries_themselves(torch, layout, dtype, rotary_dim):
    x, phi = (
        torch.tensor(normal(2, 3, 5, 8)).to(getattr(torch, dtype)),
        torch.tensor(phi_at(np.arange(5), rotary_dim or 8)),
    )
    expected, before = rotate(x, phi, layout, rotary_dim=rotary_dim), x.clone()
    others = (
        torch.empty_like(x),
        torch.empty(2, 5, 3, 8, dtype=x.dtype).transpose(1, 2),
        torch.empty(2, 3, 5, 9, dtype=x.dtype)[..., 1:],
    )
    for out in (*others, x):
        assert torch.equal(x, before)
        assert rotate(x, phi, layout, rotary_dim=rotary_dim, out=out) is out
        torch.testing.assert_close(out, expected)
    for args in ((x.requires_grad_(), phi), (x.detach(), phi.clone().requires_grad_())):
        with pytest.raises(ValueError, match="out must be None where gradients are wanted"):
            rotate(*args, layout, rotary_dim=rotary_dim, out=torch.empty_like(x))
        with torch.no_grad():
            rotate(*args, layout, rotary_dim=rotary_dim, out=torch.empty_like(x))


@pytest.mark.release
@pytest.mark.torch
@layouts
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_one_graph_serves_every_length_under_torch_compile(torch, layout, dtype):
    """Without a break, forwards and backwards, from angles, positions and (cos, sin)."""
    torch._dynamo.reset()
    frequencies = torch.tensor(inv_freq(8))
    of_angles, of_positions, of_pair = (
        torch.compile(function, fullgraph=True, dynamic=True, backend="aot_eager")
        for function in (
            lambda q, phi: rotate(q, phi, layout),
            lambda q, at: rotate(q, cos_sin(angles(at, frequencies), dtype=torch.float32), layout),
            lambda q, cos, sin: rotate(q, (cos, sin), layout, rotary_dim=6),
        )
    )
    for length in (5, 7, 30):
        x, at = torch.tensor(normal(2, 3, length, 8)).to(getattr(torch, dtype)), torch.arange(length)
        phi, leaves = angles(at, frequencies), [x.clone().requires_grad_() for _ in range(2)]
        results = of_angles(leaves[0], phi), rotate(leaves[1], phi, layout)
        for result in results:
            result.square().sum().backward()
        atol = 0.05 if dtype == "bfloat16" else 1e-6
        np.testing.assert_allclose(*(result.detach().double() for result in results), atol=atol)
        np.testing.assert_allclose(*(leaf.grad.double() for leaf in leaves), atol=2 * atol)
        np.testing.assert_allclose(of_positions(x, at).double(), results[1].detach().double(), atol=atol)
        partly, expected = (
            f(x, *cos_sin(phi[:, :3])) for f in (of_pair, lambda q, *pair: rotate(q, pair, layout, rotary_dim=6))
        )
        np.testing.assert_allclose(partly.double(), expected.double(), atol=atol)
    torch._dynamo.reset()


# ---------------------------------------------------------------- independent implementations


@pytest.mark.torch
def test_half_split_equals_llama_and_partial_rotary_gpt_neox(torch, monkeypatch):
    """As transformers has them; their angles are float32, so positions stay small and the comparison at 10⁻⁶."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import GPTNeoXConfig, LlamaConfig
    from transformers.models.gpt_neox import modeling_gpt_neox as neox
    from transformers.models.llama import modeling_llama as llama

    q, k = torch.tensor(normal(2, 2, 4, 7, 32)).float()
    at = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 7, 8, 9]])  # each sequence has its own
    quarter = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.25}
    size = {"hidden_size": 128, "num_attention_heads": 4}
    for code, rotary, rotary_dim in (
        (llama, llama.LlamaRotaryEmbedding(LlamaConfig(**size, head_dim=32)), 32),
        (neox, neox.GPTNeoXRotaryEmbedding(GPTNeoXConfig(**size, rope_parameters=quarter)), 8),
    ):
        phi = angles(at, inv_freq(rotary_dim, like=q))[:, None]
        for ours, theirs in zip((q, k), code.apply_rotary_pos_emb(q, k, *rotary(q, at)), strict=True):
            np.testing.assert_allclose(rotate(ours, phi, rotary_dim=rotary_dim), theirs, atol=2e-6)


@pytest.mark.torch
def test_interleaved_equals_the_complex_form_of_metas_llama(torch):
    """Neighbours viewed as complex numbers, times numbers of modulus 1, length before heads."""
    x = torch.tensor(normal(2, 7, 4, 16)).float()  # (batch, length, heads, head_dim)
    freqs_cis = torch.polar(torch.ones(7, 8), torch.outer(torch.arange(7.0), 10_000 ** -(torch.arange(0, 16, 2) / 16)))
    theirs = torch.view_as_real(torch.view_as_complex(x.reshape(2, 7, 4, 8, 2)) * freqs_cis[:, None]).flatten(3)
    phi = angles(torch.arange(7), inv_freq(16, like=x))
    np.testing.assert_allclose(rotate(x, phi[None, :, None], "interleaved"), theirs, atol=2e-6)

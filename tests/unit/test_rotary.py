"""posenc.rotary: values known by hand, what a rotation keeps, layouts, shapes, and what NumPy, torch and JAX share.

In one file that imports no torch by itself, since every wrong version of the module (release/mutants) is asked all.
"""

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
    rope,
    rotate,
    rotate_complex,
    rotate_matrix,
    rotation_matrix,
    xpos_cos_sin,
)

METHODS = [rotate, rotate_complex, rotate_matrix]
DTYPES = {"float64": 1e-14, "float32": 1e-6, "bfloat16": 2e-2, "float16": 3e-3}  # and the error to expect
layouts = pytest.mark.parametrize("layout", LAYOUTS)
methods = pytest.mark.parametrize("method", METHODS)
random = np.random.default_rng


def normal(*shape, seed=0):
    return random(seed).standard_normal(shape)


def phi_at(positions, dim=8):
    return angles(positions, inv_freq(dim))


def same(found, expected, atol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=atol)


@methods
def test_known_values(xp, method):
    x, phi = xp.asarray([1.0, 2.0, 3.0, 4.0]), xp.asarray(phi_at(1, 4))
    same(method(x, phi, "interleaved"), [-1.142640, 1.922076, 2.959851, 4.029800], 1e-6)
    same(method(x, phi, "half-split"), [-1.984111, 1.959901, 2.462378, 4.019800], 1e-6)
    np.testing.assert_array_equal(method(x, phi), method(x, phi, "half-split"))  # the default


@layouts
@methods
def test_rotation_equals_a_loop_over_the_definition(xp, method, layout):
    x, at = normal(3, 2, 5, 8), np.arange(11, 16)
    result = np.asarray(method(xp.asarray(x), xp.asarray(phi_at(at)), layout))
    for batch, head, token, i in np.ndindex(3, 2, 5, 4):
        pair = [2 * i, 2 * i + 1] if layout == "interleaved" else [i, i + 4]
        (a, b), phi = x[batch, head, token, pair], at[token] * 10_000 ** (-2 * i / 8)
        expected = [a * np.cos(phi) - b * np.sin(phi), a * np.sin(phi) + b * np.cos(phi)]
        same(result[batch, head, token, pair], expected)


@layouts
@methods
@pytest.mark.parametrize("dim", [2, 64])
def test_scores_depend_on_the_offset_alone_and_norms_are_kept(dim, method, layout):
    """With q = k a wrong sign would not show: the score of (m, n) is then that of (n, m)."""
    q, k = normal(2, 50, dim)
    m, n, shift = random(1).integers(-1_000_000, 1_000_000, (3, 50))

    def turned(x, at, layout=layout):
        return method(x, phi_at(at, dim), layout)

    score = (turned(q, m) * turned(k, n)).sum(-1)
    # an angle of 2·10⁶ radians is known to about 2·10⁻¹⁰ in float64
    same((turned(q, m + shift) * turned(k, n + shift)).sum(-1), score, 1e-7)
    same((turned(q, m - n) * k).sum(-1), score, 1e-7)
    same(np.linalg.norm(turned(q, m), axis=-1), np.linalg.norm(q, axis=-1))
    same(turned(turned(q, m), n), turned(q, m + n), 1e-7)
    order = layout_permutation(dim)
    same(turned(q[:, order], m, "half-split"), turned(q, m, "interleaved")[:, order])


@layouts
@methods
def test_fractional_positions_are_rotations_too(method, layout):
    """Cosines and sines between those of whole positions are not: the norm shrinks."""
    x, at = normal(9, 8), np.arange(9) + 0.5
    rotated = method(x, phi_at(at), layout)
    same(np.linalg.norm(rotated, axis=-1), np.linalg.norm(x, axis=-1))
    same(method(rotated, phi_at(at), layout), method(x, phi_at(2 * at), layout))


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_every_rotation_is_made_of_plane_rotations(size):
    orthogonal, even = np.linalg.qr(normal(5, size, size))[0], size // 2 * 2
    orthogonal[..., 0] *= np.sign(np.linalg.det(orthogonal))[:, None]
    half_rotations = np.diag([-1.0] * even + [1.0] * (size % 2))
    for rotation in (*orthogonal, np.eye(size), half_rotations):
        basis, found = plane_rotations(rotation)
        canonical = np.eye(size)
        canonical[:even, :even] = rotation_matrix(found, "interleaved") if even else 1
        same(basis.T @ basis, np.eye(size), 1e-10)
        same(basis @ canonical @ basis.T, rotation, 1e-10)


@layouts
def test_pair_scores_add_up_to_the_attention_score(layout):
    (q, k), (m, n) = normal(2, 100, 16), random(0).integers(0, 10_000, (2, 100))
    of_pairs = pair_scores(q, k, phi_at(m - n, 16), layout)
    assert of_pairs.shape == (100, 8)
    same(of_pairs.sum(-1), (rotate(q, phi_at(m, 16), layout) * rotate(k, phi_at(n, 16), layout)).sum(-1), 1e-9)
    same(pair_scores(np.array([1.0, 0.0]), np.array([0.0, 1.0]), [0.3]), [np.sin(0.3)])


@layouts
def test_rope_rotates_by_the_angles_of_its_positions(xp, layout):
    x, at, other = xp.asarray(normal(2, 3, 5, 8)), random(0).integers(-1000, 1000, 5), np.array([1.0, 0.3, 0.1, 0.0])
    expected = {"default": phi_at(at), "base": angles(at, inv_freq(8, 500.0)), "inv_freq": angles(at, other)}
    for name, given in {"default": {}, "base": {"base": 500.0}, "inv_freq": {"inv_freq": xp.asarray(other)}}.items():
        by_angles = rotate(x, xp.asarray(expected[name]), layout)
        for positions in (xp.asarray(at), at.tolist(), xp.asarray(at)[None, None, :]):
            same(rope(x, positions, layout, **given), by_angles)
    same(rope(x, 7, layout), rotate(x, xp.asarray(phi_at(7)), layout))  # one position for all tokens
    of_each = np.stack([at, at + 9])  # (batch, length)
    found = np.asarray(rope(x, xp.asarray(of_each)[:, None], layout))
    for batch in range(2):
        same(found[batch], rope(np.asarray(x)[batch], of_each[batch], layout))


@methods
@pytest.mark.parametrize("shape", [(4,), (5, 4), (2, 1, 5, 4), (1, 3, 1, 4)])
def test_angles_are_broadcast_along_queries(shape, method):
    x, phi = normal(2, 3, 5, 8), normal(*shape, seed=1)
    expected = method(x, np.broadcast_to(phi, (2, 3, 5, 4)))
    np.testing.assert_array_equal(method(x, phi), expected)
    np.testing.assert_array_equal(method(x, cos_sin(phi)), expected)
    if len(shape) == 4:
        length_first = method(x.swapaxes(1, 2), phi.swapaxes(1, 2))  # (batch, length, heads, dim)
        np.testing.assert_array_equal(length_first.swapaxes(1, 2), expected)


@layouts
def test_angles_belong_to_the_tokens_and_not_to_the_heads(layout):
    """With as many heads as tokens no shape tells one from the other."""
    x, phi = normal(2, 4, 4, 8), phi_at(np.arange(4))  # (batch, length, heads, dim)
    rotated = rotate(x, phi[None, :, None], layout)
    for token in range(4):
        same(rotated[:, token], rotate(x[:, token], phi[token], layout))


REFUSED_SHAPES = {
    (2, 5, 4): r"must have shape \(dim/2,\), \(length, dim/2\) or as many axes as x of shape \(2, 3, 5, 8\)",
    (1, 2, 3, 5, 4): "as many axes as x",
    (3, 4): r"of shape \(3, 4\) must broadcast along x",
    (3, 1, 5, 4): "must broadcast along x",
    (5, 8): r"must have width 4 for the 8 dimensions that are rotated.* as in cos\[..., : dim // 2\]",
}


@methods
@pytest.mark.parametrize(("shape", "message"), REFUSED_SHAPES.items())
def test_angles_of_other_shapes_are_refused(shape, message, method):
    """(batch, length, pairs) too: of (batch, heads, length, dim) it would be the heads that have angles."""
    x, phi = normal(2, 3, 5, 8), np.ones(shape)
    for name, value in (("angles", phi), (r"\(cos, sin\)", (np.cos(phi), np.sin(phi)))):
        with pytest.raises(ValueError, match=f"^{name} .*{message}"):
            method(x, value)


@methods
def test_a_pair_of_cosines_and_sines_is_not_taken_as_angles(xp, method):
    """Two arrays look like angles of a batch of two."""
    x, phi = xp.asarray(normal(2, 5, 8)), xp.asarray(phi_at(np.arange(5)))
    cos, sin = cos_sin(phi)
    np.testing.assert_array_equal(method(x, (cos, sin)), method(x, phi))
    for arrays in ([cos, sin], (cos, sin, cos)):
        with pytest.raises(TypeError, match="^angles must be"):
            method(x, arrays)
    for shape in ((2, 3, 0, 8), (0, 3, 5, 8)):  # empty sequences
        assert method(xp.zeros(shape), xp.asarray(phi_at(np.arange(shape[2])))).shape == shape


@layouts
@pytest.mark.parametrize("rotary_dim", [2, 6, 8])
@pytest.mark.parametrize("width", [8, 9])
def test_partial_rotary_leaves_the_other_dimensions(xp, width, rotary_dim, layout):
    """An odd width is rotated but for its last dimensions."""
    x, phi = xp.asarray(normal(5, width)), xp.asarray(phi_at(np.arange(5), rotary_dim))
    partly = rotate(x, phi, layout, rotary_dim=rotary_dim)
    np.testing.assert_array_equal(partly[:, rotary_dim:], x[:, rotary_dim:])
    np.testing.assert_array_equal(partly[:, :rotary_dim], rotate(x[:, :rotary_dim], phi, layout))


@methods
def test_the_attention_factor_multiplies_scores_by_its_square(method):
    q, k = normal(2, 5, 8)
    plain, scaled = (cos_sin(phi_at(np.arange(5)), factor) for factor in (1.0, 1.3))
    same(method(q, scaled) @ method(k, scaled).T, 1.3**2 * method(q, plain) @ method(k, plain).T)


@layouts
def test_xpos_scores_are_relative_and_decay_with_distance(xp, layout):
    (q, k), (m, n, shift) = normal(2, 100, 64), random(0).integers(0, 2000, (3, 100))
    frequencies = xp.asarray(inv_freq(64))

    def scores(query_at, key_at):
        for_queries, for_keys = (xpos_cos_sin(xp.asarray(at), frequencies) for at in (query_at, key_at))
        turned = rotate(xp.asarray(q), for_queries[0], layout) * rotate(xp.asarray(k), for_keys[1], layout)
        return np.asarray(turned.sum(-1))

    zeta = (np.arange(32) / 32 + 0.4) / 1.4
    of_pairs = pair_scores(q, k, phi_at(m - n, 64), layout) * zeta ** ((m - n)[:, None] / 512)
    same(scores(m, n), of_pairs.sum(-1), 1e-8)
    same(scores(m + shift, n + shift), scores(m, n), 1e-8)
    assert np.linalg.norm(rotate(q[0], xpos_cos_sin(512, inv_freq(64))[0])) < 0.8 * np.linalg.norm(q[0])


@pytest.mark.parametrize("n_key", [4, 2, 1])
@pytest.mark.parametrize("rotary_dim", [None, 4, 6])
def test_a_converted_checkpoint_gives_the_same_scores(xp, n_key, rotary_dim):
    x, w_q, w_k, b_q = normal(5, 12), normal(32, 12, seed=1), normal(n_key * 8, 12, seed=2), normal(32, seed=3)

    def convert(weight, n_heads, to="half-split"):
        return np.asarray(convert_projection(xp.asarray(weight), n_heads, 8, to, rotary_dim=rotary_dim))

    def scores(w_q, b_q, w_k, layout):
        q, k = ((x @ w.T + b).reshape(5, -1, 8).swapaxes(0, 1) for w, b in ((w_q, b_q), (w_k, 0)))
        q, k = (rotate(part, phi_at(np.arange(5), rotary_dim or 8), layout, rotary_dim=rotary_dim) for part in (q, k))
        return q @ np.repeat(k, 4 // n_key, axis=0).swapaxes(-1, -2)  # query heads share keys

    before = scores(w_q, b_q, w_k, "interleaved")
    after = scores(convert(w_q, 4), convert(b_q, 4), convert(w_k, n_key), "half-split")
    same(after, before)
    np.testing.assert_array_equal(convert(convert(w_q, 4), 4, "interleaved"), w_q)
    assert not np.allclose(scores(w_q, b_q, w_k, "half-split"), before)  # not converted, the checkpoint is broken


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
    same(result.double(), method(x.double().numpy(), phi.numpy(), layout), DTYPES[dtype])


@pytest.mark.torch
@layouts
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_cosines_and_sines_of_16_bits_rotate_in_16_bits(torch, dtype, layout):
    """Faster, and less precise than float32 with the same cosines and sines."""
    x, phi = torch.tensor(normal(200, 64)).to(getattr(torch, dtype)), torch.tensor(phi_at(np.arange(200), 64))
    narrow = cos_sin(phi, dtype=x.dtype)
    exact = rotate(x.double(), narrow, layout)
    result, by_float32 = rotate(x, narrow, layout), rotate(x, tuple(part.float() for part in narrow), layout)
    assert result.dtype == x.dtype
    same(result.double(), exact, 2 * DTYPES[dtype])
    assert (result - exact).square().mean() > 1.2 * (by_float32 - exact).square().mean()
    for method in (rotate_complex, rotate_matrix):
        same(method(x, narrow, layout).double(), exact, 2 * DTYPES[dtype])


@pytest.mark.torch
@layouts
# torch's own code for forward derivatives still uses torch.jit.script
@pytest.mark.filterwarnings("ignore:`torch.jit.script.*` is deprecated:DeprecationWarning")
def test_gradients_forwards_backwards_and_twice(torch, layout):
    """Of queries, of angles, and of cosines or sines alone."""
    x, phi = torch.tensor(normal(2, 4)), torch.tensor(phi_at(np.arange(1, 3), 4))

    def of_angles(x, phi):
        return rotate(x, phi, layout)

    def of_pair(x, cos, sin):
        return rotate(x, (cos, sin), layout)

    for function, given in ((of_angles, (x, phi)), (of_pair, (x, *cos_sin(phi)))):
        leaves = [part.clone().requires_grad_() for part in given]
        assert torch.autograd.gradcheck(function, leaves, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(function, leaves)
        for learned in range(len(given)):  # each of them, where the others do not learn
            alone = [part.clone().requires_grad_(place == learned) for place, part in enumerate(given)]
            assert torch.autograd.gradcheck(function, alone, check_forward_ad=True)


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


@pytest.mark.torch
@layouts
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_out_takes_the_result_and_may_be_the_queries_themselves(torch, layout, dtype, rotary_dim):
    x = torch.tensor(normal(2, 3, 5, 8)).to(getattr(torch, dtype))
    phi, options = torch.tensor(phi_at(np.arange(5), rotary_dim or 8)), {"layout": layout, "rotary_dim": rotary_dim}
    expected, before = rotate(x, phi, **options), x.clone()
    transposed, odd = x.new_empty(2, 5, 3, 8).transpose(1, 2), x.new_empty(2, 3, 5, 9)[..., 1:]
    for out in (torch.empty_like(x), transposed, odd, x):
        assert torch.equal(x, before)
        assert rotate(x, phi, **options, out=out) is out
        torch.testing.assert_close(out, expected)
    for given in ((x.clone().requires_grad_(), phi), (x, phi.clone().requires_grad_())):
        with pytest.raises(ValueError, match="out must be None where gradients are wanted"):
            rotate(*given, **options, out=torch.empty_like(x))
        with torch.no_grad():
            rotate(*given, **options, out=torch.empty_like(x))


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
            same(rotate(ours, phi, rotary_dim=rotary_dim), theirs, 2e-6)

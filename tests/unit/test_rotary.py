"""posenc.rotary: values known by hand, what a rotation must keep, three methods, two layouts, two libraries.

In one file, since every wrong version of the module (release/mutants) is asked all of it.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.frequencies import angles, inv_freq
from posenc.rotary import (
    LAYOUTS,
    METHODS,
    convert_projection,
    layout_permutation,
    packed_positions,
    pair_scores,
    plane_rotations,
    rotary_table,
    rotate,
    rotation_matrix,
    xpos_tables,
)

layouts = st.sampled_from(LAYOUTS)
methods = st.sampled_from((None, *METHODS))
positions = st.integers(-1_000_000, 1_000_000)
dims = st.integers(1, 40).map(lambda pairs: 2 * pairs)


@pytest.fixture(params=["by the formula", "in few passes, piece by piece"])
def torch(request, monkeypatch):
    """Both ways in which tensors are turned, whatever their size."""
    import torch

    from posenc import _rotary_torch

    monkeypatch.setattr(_rotary_torch, "LARGE", 0 if "few" in request.param else 10**9)
    monkeypatch.setattr(_rotary_torch, "PIECE", 16)
    return torch


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def turned(x: np.ndarray, position: float, layout: str = "interleaved", method: str | None = None) -> np.ndarray:
    """One vector of any width, at one position, base 10 000."""
    return rotate(x, angles(position, inv_freq(len(x))), layout, method)


# ---------------------------------------------------------------- values known by hand


@pytest.mark.parametrize("method", [None, *METHODS])
def test_known_values(method):
    x = np.array([1.0, 2.0, 3.0, 4.0])
    expected = [-1.142640, 1.922076, 2.959851, 4.029800]
    np.testing.assert_allclose(turned(x, 1, "interleaved", method), expected, atol=1e-6)
    np.testing.assert_allclose(turned(x, 1, "half", method), [-1.984111, 1.959901, 2.462378, 4.019800], atol=1e-6)


def test_angles_are_radians_and_a_quarter_turn_takes_the_first_axis_to_the_second():
    np.testing.assert_allclose(rotate(np.array([1.0, 0.0]), [np.pi / 2]), [0, 1], atol=1e-15)


def test_the_sign_of_the_sine_term():
    """With q = k a wrong sign cannot be seen: score(m, n) is then the same as score(n, m)."""
    q, k = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    np.testing.assert_allclose(turned(q, 0.3) @ k, np.sin(0.3))
    np.testing.assert_allclose(turned(q, 7) @ turned(k, 4), np.sin(3))


def test_a_slow_loop_written_from_the_definition():
    x, at = normal(3, 2, 5, 8), np.arange(11, 16)
    result = rotate(x, rotary_table(angles(at, inv_freq(8)), length_axis=-2))
    for batch in range(3):
        for head in range(2):
            for place, m in enumerate(at):
                for i in range(4):
                    a, b = x[batch, head, place, 2 * i : 2 * i + 2]
                    phi = m * 10_000 ** (-2 * i / 8)
                    expected = [a * np.cos(phi) - b * np.sin(phi), a * np.sin(phi) + b * np.cos(phi)]
                    got = result[batch, head, place, 2 * i : 2 * i + 2]
                    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


# ---------------------------------------------------------------- what a rotation keeps


@given(positions, positions, positions, layouts, methods)
def test_the_score_depends_on_the_difference_alone(m, n, shift, layout, method):
    q, k = normal(2, 64)  # q ≠ k, so that a wrong sign shows
    score = turned(q, m, layout, method) @ turned(k, n, layout, method)
    # an angle of 2·10⁶ radians is known to about 2·10⁻¹⁰ in float64
    np.testing.assert_allclose(turned(q, m + shift, layout) @ turned(k, n + shift, layout), score, atol=1e-7)
    np.testing.assert_allclose(turned(q, m - n, layout) @ k, score, atol=1e-7)


@given(positions, dims, layouts, methods)
def test_lengths_are_kept(m, dim, layout, method):
    x = normal(dim)
    np.testing.assert_allclose(np.linalg.norm(turned(x, m, layout, method)), np.linalg.norm(x), rtol=1e-12)


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), dims, layouts)
def test_two_rotations_are_one_by_the_sum(m, n, dim, layout):
    x = normal(dim)
    np.testing.assert_allclose(turned(turned(x, m, layout), n, layout), turned(x, m + n, layout), atol=1e-10)


@given(dims, st.integers(0, 1000), layouts)
def test_the_three_methods_and_the_fastest_agree(dim, m, layout):
    x = normal(dim)
    for method in METHODS:
        np.testing.assert_allclose(turned(x, m, layout, method), turned(x, m, layout), rtol=1e-12, atol=1e-13)


@given(dims, st.integers(0, 1000), methods)
def test_layouts_differ_by_a_permutation(dim, m, method):
    x, order = normal(dim), layout_permutation(dim)
    expected = turned(x, m, "interleaved", method)[order]
    np.testing.assert_allclose(turned(x[order], m, "half", method), expected, rtol=1e-12, atol=1e-13)


# ---------------------------------------------------------------- matrices


def test_the_matrix_has_its_blocks_where_the_layout_says():
    c, s = np.cos([1, 0.01]), np.sin([1, 0.01])
    interleaved = [[c[0], -s[0], 0, 0], [s[0], c[0], 0, 0], [0, 0, c[1], -s[1]], [0, 0, s[1], c[1]]]
    half = [[c[0], 0, -s[0], 0], [0, c[1], 0, -s[1]], [s[0], 0, c[0], 0], [0, s[1], 0, c[1]]]
    np.testing.assert_allclose(rotation_matrix([1, 0.01]), interleaved)
    np.testing.assert_allclose(rotation_matrix([1, 0.01], "half"), half)


@given(st.integers(-100, 100), st.integers(-100, 100), dims, layouts)
def test_the_transpose_makes_the_difference(m, n, dim, layout):
    frequencies = inv_freq(dim)
    at_m, at_n = rotation_matrix(angles([m, n], frequencies), layout)
    np.testing.assert_allclose(at_m.T @ at_n, rotation_matrix(angles(n - m, frequencies), layout), atol=1e-10)
    np.testing.assert_allclose(at_m @ at_n, at_n @ at_m, atol=1e-12)  # they commute


@given(st.integers(1, 12), st.integers(0, 1000))
def test_every_rotation_is_made_of_plane_rotations(size, seed):
    from scipy.stats import special_ortho_group

    rotation = special_ortho_group.rvs(size, random_state=seed) if size > 1 else np.eye(1)
    check_planes(rotation)


def check_planes(rotation: np.ndarray) -> np.ndarray:
    basis, found = plane_rotations(rotation)
    size = len(rotation)
    assert found.shape == (size // 2,)
    canonical = np.eye(size)
    if size > 1:
        canonical[: size // 2 * 2, : size // 2 * 2] = rotation_matrix(found)
    np.testing.assert_allclose(basis.T @ basis, np.eye(size), atol=1e-10)
    np.testing.assert_allclose(basis @ canonical @ basis.T, rotation, atol=1e-10)
    return found


# ---------------------------------------------------------------- scores by pair


@given(st.integers(0, 10_000), st.integers(0, 10_000), dims, layouts)
def test_pair_scores_add_up_to_the_score(m, n, dim, layout):
    q, k = normal(2, dim)
    shares = pair_scores(q, k, angles(m - n, inv_freq(dim)), layout)
    assert shares.shape == (dim // 2,)
    np.testing.assert_allclose(shares.sum(), turned(q, m, layout) @ turned(k, n, layout), atol=1e-9)


def test_pair_scores_have_the_published_sign():
    share = pair_scores(np.array([1.0, 0.0]), np.array([0.0, 1.0]), [0.3])
    np.testing.assert_allclose(share, [np.sin(0.3)])


# ---------------------------------------------------------------- axes: tables, offsets, batches, packs, single steps


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_table_says_which_axis_counts_the_tokens(layout):
    x = normal(2, 6, 6, 8)  # as many heads as tokens: shapes cannot tell which is which
    turned_angles = angles(np.arange(6), inv_freq(8))
    heads_first = rotate(x, rotary_table(turned_angles, length_axis=-2), layout)
    length_first = rotate(x.swapaxes(1, 2), rotary_table(turned_angles, length_axis=-3), layout)
    np.testing.assert_array_equal(length_first, heads_first.swapaxes(1, 2))
    np.testing.assert_array_equal(rotate(x, turned_angles[None, None], layout), heads_first)
    with pytest.raises(ValueError, match="length_axis says which axis of x counts the tokens"):
        rotate(x, turned_angles, layout)


@pytest.mark.parametrize(("shape", "length_axis"), [((2, 5, 3, 8), -2), ((2, 5, 1, 8), -2), ((2, 3, 5, 8), -3)])
def test_a_table_on_the_wrong_axis_is_refused(shape, length_axis):
    table = rotary_table(angles(np.arange(5), inv_freq(8)), length_axis=length_axis)
    with pytest.raises(ValueError, match=r"angles_or_table does not fit x"):
        rotate(normal(*shape), table)


@given(st.integers(0, 1_000_000), st.integers(1, 9), layouts)
def test_a_whole_sequence_equals_one_token_at_a_time(start, length, layout):
    x, frequencies = normal(2, 3, length, 8), inv_freq(8)
    at = start + np.arange(length)
    whole = rotate(x, rotary_table(angles(at, frequencies), length_axis=-2), layout)
    for place, position in enumerate(at):
        table = rotary_table(angles([position], frequencies), length_axis=-2)
        step = rotate(x[..., place : place + 1, :], table, layout)
        np.testing.assert_array_equal(step, whole[..., place : place + 1, :])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("method", [None, *METHODS])
@pytest.mark.parametrize("length_axis", [-2, -3])
def test_positions_of_one_row_hold_for_the_whole_batch(length_axis, method, layout):
    x = normal(2, 3, 5, 8) if length_axis == -2 else normal(2, 5, 3, 8)
    at = np.array([3, 4, 9, 0, 100])
    row = rotary_table(angles(at[None], inv_freq(8)), length_axis=length_axis)
    plain = rotary_table(angles(at, inv_freq(8)), length_axis=length_axis)
    np.testing.assert_array_equal(rotate(x, row, layout, method), rotate(x, plain, layout, method))
    for_q, for_k = xpos_tables(at[None], inv_freq(8), length_axis=length_axis)
    for table, alone in zip((for_q, for_k), xpos_tables(at, inv_freq(8), length_axis=length_axis), strict=True):
        np.testing.assert_array_equal(rotate(x, table, layout, method), rotate(x, alone, layout, method))


@pytest.mark.parametrize("batch", [1, 3, 4])
def test_positions_of_another_batch_are_refused(batch):
    table = rotary_table(angles(np.arange(10).reshape(2, 5), inv_freq(8)), length_axis=-2)
    wrong = rf"does not fit x of shape \({batch}, 3, 5, 8\): got angles of shape \(2, 5, 4\)"
    with pytest.raises(ValueError, match=wrong):
        rotate(normal(batch, 3, 5, 8), table)
    row = rotary_table(angles(np.arange(1), inv_freq(8))[None], length_axis=-2)
    with pytest.raises(ValueError, match="does not fit x"):  # a length of 1 is one token, and no token for all
        rotate(normal(batch, 3, 5, 8), row)


@pytest.mark.parametrize("length_axis", [-2, -3])
def test_each_sequence_of_a_batch_has_its_own_positions(length_axis):
    x = normal(2, 3, 5, 8) if length_axis == -2 else normal(2, 5, 3, 8)
    at = np.array([[0, 1, 2, 3, 4], [7, 8, 9, 20, 30]])
    together = rotate(x, rotary_table(angles(at, inv_freq(8)), length_axis=length_axis))
    for row in range(2):
        alone = rotate(x[row], rotary_table(angles(at[row], inv_freq(8)), length_axis=length_axis))
        np.testing.assert_array_equal(together[row], alone)


def test_packed_sequences_turn_as_each_alone():
    lengths = [3, 0, 4, 1]
    at = packed_positions(lengths)
    assert at.tolist() == [0, 1, 2, 0, 1, 2, 3, 0]
    x = normal(2, 8, 8)  # (heads, length, dim)
    packed = rotate(x, rotary_table(angles(at, inv_freq(8)), length_axis=-2))
    start = 0
    for length in lengths:
        piece = x[:, start : start + length]
        alone = rotate(piece, rotary_table(angles(np.arange(length), inv_freq(8)), length_axis=-2))
        np.testing.assert_array_equal(packed[:, start : start + length], alone)
        start += length
    assert packed_positions([]).shape == (0,)


def test_empty_sequences():
    table = rotary_table(angles(np.arange(0), inv_freq(8)), length_axis=-2)
    for method in (None, *METHODS):
        assert rotate(np.empty((2, 3, 0, 8)), table, method=method).shape == (2, 3, 0, 8)


# ---------------------------------------------------------------- partial rotary and odd widths


@given(layouts, methods, st.integers(1, 4))
def test_partial_rotary_leaves_the_rest(layout, method, pairs):
    x = normal(5, 9)
    table = angles(np.arange(5), inv_freq(2 * pairs))
    partly = rotate(x, table, layout, method, rotary_dim=2 * pairs)
    np.testing.assert_array_equal(partly[:, 2 * pairs :], x[:, 2 * pairs :])
    np.testing.assert_allclose(partly[:, : 2 * pairs], rotate(x[:, : 2 * pairs], table, layout), atol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("odd", "width"), [("leave", 7), ("pad", 8)])
def test_an_odd_width_stays_relative(layout, odd, width):
    q, k = normal(2, 7)
    frequencies = inv_freq(6 if odd == "leave" else 8)  # padding is on the list of the next even width
    turn = lambda x, m: rotate(x, angles(m, frequencies), layout, odd=odd)  # noqa: E731 (one line says it)
    assert turn(q, 5).shape == (width,)
    np.testing.assert_allclose(turn(q, 105) @ turn(k, 103), turn(q, 2) @ turn(k, 0), atol=1e-12)
    np.testing.assert_allclose(turn(q, 0)[:7], q)
    if odd == "leave":
        assert turn(q, 5)[-1] == q[-1]


def test_an_even_width_is_not_changed_by_the_word_for_odd_ones():
    x, table = normal(5, 8), angles(np.arange(5), inv_freq(8))
    for odd in ("leave", "pad"):
        np.testing.assert_array_equal(rotate(x, table, odd=odd), rotate(x, table))


# ---------------------------------------------------------------- factors in the table, xPos


@given(st.floats(0.5, 2.0), layouts, methods)
def test_the_attention_factor_multiplies_every_score_by_its_square(factor, layout, method):
    q, k = normal(2, 5, 8)
    at = angles(np.arange(5), inv_freq(8))
    plain = [rotate(x, rotary_table(at), layout, method) for x in (q, k)]
    scaled = [rotate(x, rotary_table(at, factor), layout, method) for x in (q, k)]
    np.testing.assert_allclose(scaled[0] @ scaled[1].T, factor**2 * plain[0] @ plain[1].T, rtol=1e-12)


@given(st.integers(0, 2000), st.integers(0, 2000), st.integers(-2000, 2000), layouts, methods)
def test_xpos_is_relative_and_fades_fast_pairs(m, n, shift, layout, method):
    q, k = normal(2, 64)
    frequencies = inv_freq(64)

    def score(query_at, key_at):
        for_query = xpos_tables(query_at, frequencies)[0]
        for_key = xpos_tables(key_at, frequencies)[1]
        return rotate(q, for_query, layout, method) @ rotate(k, for_key, layout, method)

    np.testing.assert_allclose(score(m + shift, n + shift), score(m, n), rtol=1e-8, atol=1e-8)
    pairs = np.arange(32)
    zeta = (pairs / 32 + 0.4) / 1.4
    expected = pair_scores(q, k, angles(m - n, frequencies), layout) @ zeta ** ((m - n) / 512)
    np.testing.assert_allclose(score(m, n), expected, rtol=1e-8, atol=1e-8)


def test_xpos_does_not_keep_lengths():
    x = normal(64)
    assert np.linalg.norm(rotate(x, xpos_tables(512, inv_freq(64))[0])) < 0.8 * np.linalg.norm(x)


# ---------------------------------------------------------------- checkpoints


@given(st.sampled_from([(4, 4), (4, 2), (4, 1)]), st.sampled_from([None, 4, 6]))
def test_a_converted_checkpoint_gives_the_same_scores(heads, rotary_dim):
    n_query, n_key = heads  # with grouped keys, several query heads share one key head
    head_dim, hidden, length = 8, 12, 5
    x = normal(length, hidden)
    w_q, w_k = normal(n_query * head_dim, hidden, seed=1), normal(n_key * head_dim, hidden, seed=2)
    b_q = normal(n_query * head_dim, seed=3)
    table = rotary_table(angles(np.arange(length), inv_freq(rotary_dim or head_dim)), length_axis=-2)

    def scores(w_q, b_q, w_k, layout):
        q = (x @ w_q.T + b_q).reshape(length, n_query, head_dim).swapaxes(0, 1)  # (heads, length, head_dim)
        k = (x @ w_k.T).reshape(length, n_key, head_dim).swapaxes(0, 1)
        q, k = (rotate(part, table, layout, rotary_dim=rotary_dim) for part in (q, k))
        return q @ np.repeat(k, n_query // n_key, axis=0).swapaxes(-1, -2)

    convert = lambda weight, n_heads, to: convert_projection(weight, n_heads, to, rotary_dim=rotary_dim)  # noqa: E731
    before = scores(w_q, b_q, w_k, "interleaved")
    after = scores(convert(w_q, n_query, "half"), convert(b_q, n_query, "half"), convert(w_k, n_key, "half"), "half")
    np.testing.assert_allclose(after, before, atol=1e-12)
    np.testing.assert_array_equal(convert(convert(w_q, n_query, "half"), n_query, "interleaved"), w_q)
    assert not np.allclose(scores(w_q, b_q, w_k, "half"), before)  # unconverted, the checkpoint is broken


def test_the_permutation():
    assert layout_permutation(8) == [0, 2, 4, 6, 1, 3, 5, 7]
    rows = convert_projection(np.arange(16.0), 2, "half")
    assert rows.tolist() == [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]


# ---------------------------------------------------------------- torch


def torch_table(torch, at, dim, x, **options):
    return rotary_table(angles(at, inv_freq(dim, like=x)), **options)


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("method", [None, *METHODS])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_torch_gets_what_numpy_gets(torch, layout, method, dtype):
    x = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0)).to(getattr(torch, dtype))
    result = rotate(x, torch_table(torch, torch.arange(5), 8, x, length_axis=-2), layout, method)
    assert result.dtype == x.dtype
    table = rotary_table(angles(np.arange(5), inv_freq(8)), length_axis=-2)
    expected = rotate(x.double().numpy(), table, layout)
    tolerance = {"float64": 1e-14, "float32": 1e-6, "bfloat16": 2e-2, "float16": 3e-3}[dtype]
    np.testing.assert_allclose(result.double(), expected, atol=tolerance)
    row = torch_table(torch, torch.arange(5)[None], 8, x, length_axis=-2)  # positions of shape (1, length)
    assert torch.equal(rotate(x, row, layout, method), result)


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("positions", [range(250, 260), range(1_000_000, 1_000_010)])
def test_bfloat16_is_as_good_at_late_positions_as_at_early_ones(torch, layout, positions):
    """Angles made in bfloat16 are wrong from position 257 on, by whole tokens: it counts exactly only to 256."""
    x = torch.randn(10, 64, generator=torch.Generator().manual_seed(0)).bfloat16()
    table = torch_table(torch, torch.tensor(positions), 64, x, like=x)
    exact = rotate(x.double(), torch_table(torch, torch.tensor(positions), 64, x), layout)
    assert (rotate(x, table, layout).double() - exact).abs().max() < 0.02


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("method", [None, *METHODS])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_empty_tensors(torch, layout, method, dtype):
    for shape in ((2, 3, 0, 8), (0, 3, 5, 8)):
        x = torch.zeros(shape, dtype=getattr(torch, dtype), requires_grad=True)
        table = torch_table(torch, torch.arange(shape[2]), 8, x, length_axis=-2)
        turned = rotate(x, table, layout, method)
        assert (turned.shape, turned.dtype) == (x.shape, x.dtype)
        turned.sum().backward()
        assert x.grad.shape == x.shape


@pytest.mark.torch
def test_a_table_takes_the_working_precision(torch):
    turned_angles = angles(torch.arange(5), inv_freq(8, like=torch.zeros(1)))
    for dtype, expected in (("bfloat16", "float32"), ("float32", "float32"), ("float64", "float64")):
        table = rotary_table(turned_angles, like=torch.zeros(1, dtype=getattr(torch, dtype)))
        assert table.cos.dtype == table.sin.dtype == getattr(torch, expected)
    assert rotary_table(turned_angles).cos.dtype == torch.float64


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("method", [None, *METHODS])
# torch's own code for forward derivatives still calls torch.jit.script while it is imported
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_gradients_flow_forwards_and_backwards_and_twice(torch, layout, method):
    x = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True)
    table = torch_table(torch, torch.arange(5), 8, x, length_axis=-2)
    check = lambda y: rotate(y, table, layout, method)  # noqa: E731 (one line says it)
    assert torch.autograd.gradcheck(check, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(check, x)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_fastest_method_has_the_gradient_of_the_elementwise_one(torch, layout, dtype):
    generator = torch.Generator().manual_seed(0)
    x, gradient = (torch.randn(3, 4, 16, 32, generator=generator).to(getattr(torch, dtype)) for _ in range(2))
    table = torch_table(torch, torch.arange(16), 32, x, length_axis=-2, like=x)
    found = []
    for method in (None, "elementwise"):
        leaf = x.clone().requires_grad_()
        rotate(leaf, table, layout, method).backward(gradient)
        found.append(leaf.grad.float())
    np.testing.assert_allclose(*found, atol=0.05 if dtype == "bfloat16" else 1e-5)


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("learned", ["cos", "sin"])
def test_either_half_of_a_table_may_be_learned(torch, layout, learned):
    x = torch.randn(5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    table = torch_table(torch, torch.arange(1, 6), 8, x)
    leaf = getattr(table, learned).clone().requires_grad_()
    rotate(x, table._replace(**{learned: leaf}), layout).sum().backward()
    expected = torch.autograd.functional.jacobian(
        lambda part: rotate(x, table._replace(**{learned: part}), layout, "elementwise").sum(), leaf.detach()
    )
    torch.testing.assert_close(leaf.grad, expected)
    assert leaf.grad.abs().min() > 0


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_in_any_order(torch, layout):
    x = torch.randn(2, 5, 3, 18, dtype=torch.float64)
    table = torch_table(torch, torch.arange(5), 8, x, length_axis=-2)
    for view in (
        x[..., 1:9].transpose(1, 2),  # begins at an odd number, heads and length exchanged
        x[..., ::2][..., :8].transpose(1, 2),
        x[:, :, :1, :8].transpose(1, 2).expand(2, 3, 5, 8),
        x.permute(3, 0, 1, 2)[:8].permute(1, 3, 2, 0),  # the last axis is the slowest in memory
    ):
        for dtype in (torch.float64, torch.bfloat16):
            lying = view.to(dtype)
            np.testing.assert_array_equal(
                rotate(lying, table, layout).double(), rotate(lying.contiguous(), table, layout).double()
            )


@pytest.mark.release
@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
# torch.compile makes an instance of any autograd function that it traces, and torch warns of that
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_it_compiles_into_one_graph(torch, layout, dtype):
    x = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0)).to(getattr(torch, dtype))
    table = torch_table(torch, torch.arange(5), 8, x, length_axis=-2, like=x)
    compiled = torch.compile(lambda q, table: rotate(q, table, layout), fullgraph=True, backend="aot_eager")
    leaves = [x.clone().requires_grad_() for _ in range(2)]
    results = [compiled(leaves[0], table), rotate(leaves[1], table, layout)]
    for result in results:
        result.square().sum().backward()
    tolerance = 0.05 if dtype == "bfloat16" else 1e-6
    np.testing.assert_allclose(*(result.detach().double() for result in results), atol=tolerance)
    np.testing.assert_allclose(*(leaf.grad.double() for leaf in leaves), atol=2 * tolerance)
    in_graph = torch.compile(
        lambda q, at, f: rotate(q, rotary_table(angles(at, f), length_axis=-2, like=q), layout),
        fullgraph=True, backend="aot_eager",
    )  # fmt: skip
    again = in_graph(x, torch.arange(5), inv_freq(8, like=x))
    np.testing.assert_array_equal(again.double(), compiled(x, table).double())


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_maps_over_an_axis(torch, layout):
    x = torch.randn(3, 5, 4, 8, dtype=torch.float64)
    table = torch_table(torch, torch.arange(5), 8, x)
    expected = rotate(x.movedim(2, 0), table._replace(length_axis=-2), layout)
    mapped = torch.vmap(lambda y: rotate(y, table._replace(length_axis=-2), layout), in_dims=2)(x)
    np.testing.assert_array_equal(mapped, expected)
    each = torch.vmap(lambda y, cos, sin: rotate(y, table._replace(cos=cos, sin=sin), layout), in_dims=(1, 0, 0))
    np.testing.assert_array_equal(each(x[:, :, 0], table.cos[:, None], table.sin[:, None]).movedim(0, 1), expected[0])


@pytest.mark.torch
def test_matrices_scores_and_xpos_in_torch(torch):
    x = torch.randn(2, 3, 5, 8, dtype=torch.float64)
    frequencies = inv_freq(8, like=x)
    np.testing.assert_allclose(rotation_matrix(frequencies), rotation_matrix(frequencies.numpy()))
    q, k = x[0, 0, :2]
    np.testing.assert_allclose(pair_scores(q, k, frequencies), pair_scores(q.numpy(), k.numpy(), frequencies.numpy()))
    weight = torch.randn(16, 4, requires_grad=True)
    np.testing.assert_array_equal(
        convert_projection(weight, 2, "half").detach(), convert_projection(weight.detach().numpy(), 2, "half")
    )
    for table, expected in zip(
        xpos_tables(torch.arange(5), frequencies, length_axis=-2, like=x),
        xpos_tables(np.arange(5), frequencies.numpy(), length_axis=-2),
        strict=True,
    ):
        np.testing.assert_allclose(rotate(x, table), rotate(x.numpy(), expected), atol=1e-14)


# ---------------------------------------------------------------- independent implementations


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_row_that_is_no_number_stays_in_its_row(torch, layout):
    x = torch.randn(2, 4, 3, 8)
    table = torch_table(torch, torch.arange(3), 8, x, length_axis=-2, like=x)
    spoilt = x.clone()
    spoilt[0, 1, 1] = float("nan")
    assert (rotate(spoilt, table, layout).isnan().sum(-1) == torch.where(spoilt.isnan().any(-1), 8, 0)).all()


@pytest.mark.torch
def test_half_equals_hugging_face(torch, monkeypatch):
    """Their angles are float32, so positions stay small and the comparison at 10⁻⁶."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    q, k = torch.randn(2, 2, 4, 7, 16, generator=torch.Generator().manual_seed(0))
    at = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 7, 8, 9]])  # each sequence its own
    config = LlamaConfig(hidden_size=64, num_attention_heads=4, head_dim=16)
    theirs = apply_rotary_pos_emb(q, k, *LlamaRotaryEmbedding(config)(q, at))
    table = torch_table(torch, at, 16, q, length_axis=-2, like=q)
    for ours, other in zip((q, k), theirs, strict=True):
        np.testing.assert_allclose(rotate(ours, table, "half"), other, atol=2e-6)


@pytest.mark.torch
def test_partial_half_equals_gpt_neox(torch, monkeypatch):
    """GPT-NeoX turns the first quarter of each head. Their angles are float32."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import GPTNeoXConfig
    from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding, apply_rotary_pos_emb

    q, k = torch.randn(2, 2, 4, 7, 32, generator=torch.Generator().manual_seed(0))
    parameters = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.25}
    config = GPTNeoXConfig(hidden_size=128, num_attention_heads=4, rope_parameters=parameters)
    theirs = apply_rotary_pos_emb(q, k, *GPTNeoXRotaryEmbedding(config)(q, torch.arange(7)[None]))
    table = torch_table(torch, torch.arange(7), 8, q, length_axis=-2, like=q)
    for ours, other in zip((q, k), theirs, strict=True):
        np.testing.assert_allclose(rotate(ours, table, "half", rotary_dim=8), other, atol=2e-6)


@pytest.mark.torch
def test_interleaved_equals_the_complex_form_of_llamas_own_code(torch):
    """As Meta published it: neighbours viewed as complex numbers, times numbers of modulus 1, length before heads."""
    x = torch.randn(2, 7, 4, 16, generator=torch.Generator().manual_seed(0))  # (batch, length, heads, head_dim)
    phases = torch.polar(torch.ones(7, 8), torch.outer(torch.arange(7.0), 10_000 ** -(torch.arange(0, 16, 2) / 16)))
    theirs = torch.view_as_real(torch.view_as_complex(x.reshape(2, 7, 4, 8, 2)) * phases[:, None]).flatten(3)
    table = torch_table(torch, torch.arange(7), 16, x, length_axis=-3, like=x)
    np.testing.assert_allclose(rotate(x, table), theirs, atol=2e-6)

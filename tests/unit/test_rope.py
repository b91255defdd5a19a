"""posenc.rope: `Rope` against the functions below it, in NumPy and torch; learned frequencies, compiling, configs."""

from __future__ import annotations

import tracemalloc
from functools import partial
from importlib import import_module

import numpy as np
import pytest

from posenc import scaling
from posenc.frequencies import angles, inv_freq
from posenc.position_ids import grid_position_ids, mrope_position_ids, packed_position_ids
from posenc.rope import Rope, sections
from posenc.rotary import LAYOUTS, cos_sin, rotate

layouts = pytest.mark.parametrize("layout", LAYOUTS)
YARN = {"factor": 4.0, "original_max_position_embeddings": 16}
DYNAMIC = {"factor": 2.0, "original_max_position_embeddings": 4}


@pytest.fixture(params=["numpy", pytest.param("torch", marks=pytest.mark.torch)])
def xp(request):
    return import_module(request.param)


@pytest.fixture
def torch():
    return import_module("torch")


def heads(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def by_hand(x, positions, frequencies, layout="half-split", factor=1.0, rotary_dim=None):
    """x (batch, heads, length, dim) at positions (length,) or (batch, length)."""
    phi = angles(positions, frequencies)
    return rotate(x, cos_sin(phi if phi.ndim == 2 else phi[:, None], factor), layout, rotary_dim=rotary_dim)


def same(found, expected, atol=1e-13):
    for ours, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, wanted, atol=atol)


# ---------------------------------------------------------------- positions


@layouts
def test_queries_and_keys_are_rotated_by_their_positions(xp, layout):
    q, k, rope = xp.asarray(heads(2, 4, 7, 16)), xp.asarray(heads(2, 2, 7, 16)), Rope(16, 500.0, layout=layout)
    expected = [by_hand(np.asarray(x), np.arange(7), inv_freq(16, 500.0), layout) for x in (q, k)]
    for positions in (None, list(range(7)), xp.arange(7), xp.arange(7)[None], xp.asarray([[*range(7)]] * 2)):
        same(rope(q, k, positions), expected)
        swapped = rope(q.swapaxes(1, 2), k.swapaxes(1, 2), positions, length_axis=-3)  # (batch, length, heads, dim)
        same([x.swapaxes(1, 2) for x in swapped], expected)
    same([rope.rotate(q), rotate(k, rope.cos_sin(length=7, like=k), layout)], expected)
    own, of_keys = xp.asarray([[0, 1, 2], [9, 4, 7]]), xp.arange(5)
    found = rope(q[:, :, :3], k[:, :, :5], own, key_positions=of_keys)
    same(found, [by_hand(np.asarray(x), np.asarray(at), inv_freq(16, 500.0), layout)
                 for x, at in ((q[:, :, :3], own), (k[:, :, :5], of_keys))])  # fmt: skip


def test_decoding_one_token_at_a_time_equals_the_whole_sequence(xp):
    q, k, rope = xp.asarray(heads(1, 2, 600, 8)), xp.asarray(heads(1, 2, 600, 8)), Rope(8)
    whole = rope(q, k)
    for at in (0, 1, 255, 256, 599):
        one = slice(at, at + 1)
        for offset in (at, np.int64(at), xp.asarray(at), xp.asarray([at])):
            same(rope(q[:, :, one], k[:, :, one], offset=offset), [x[:, :, one] for x in whole])
    # with a cache of keys that are not rotated yet, fewer queries are the last ones
    same(rope(q[:, :, -3:], k, offset=0), [whole[0][:, :, -3:], whole[1]])


@pytest.mark.parametrize("length_axis", [-2, -3])
@pytest.mark.parametrize("axes", [None, [0, 1, 1, 0]])
def test_an_offset_for_each_sequence_equals_a_call_for_each(xp, axes, length_axis):
    q, k, offsets = xp.asarray(heads(3, 5, 5, 8)), xp.asarray(heads(3, 5, 5, 8)), xp.asarray([5, 0, 1000])
    late_q = q[:, :, -2:] if length_axis == -2 else q[:, -2:]
    for rope in (Rope(8, axes=axes), Rope.from_schedule(lambda n: scaling.dynamic_ntk(8, seq_len=1005, **DYNAMIC))):
        for queries in (q, late_q):
            together = rope(queries, k, offset=offsets, length_axis=length_axis)
            for row, offset in enumerate((5, 0, 1000)):
                alone = rope(queries[row], k[row], offset=offset, length_axis=length_axis)
                same([x[row] for x in together], alone)
        same(
            [rope.rotate(q, offset=offsets, length_axis=length_axis)],
            rope(q, k, offset=offsets, length_axis=length_axis)[:1],
        )


def test_one_token_far_away_is_exact_and_takes_little_memory():
    """Angles are float64, and no table of all positions before it is made."""
    rope, x = Rope(128), heads(1, 1, 1, 128).astype(np.float32)
    expected = by_hand(x.astype(np.float64), np.array([8_000_000]), inv_freq(128))
    tracemalloc.start()
    found = rope.rotate(x, offset=8_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert peak < 100_000


def test_packed_sequences_are_rotated_as_each_alone():
    at, x, rope = packed_position_ids([3, 0, 4, 1]), heads(2, 8, 8), Rope(8)
    assert at.tolist() == [0, 1, 2, 0, 1, 2, 3, 0]
    alone = [rope.rotate(x[:, part]) for part in (slice(3), slice(3, 7), slice(7, 8))]
    same([rope.rotate(x, at)], [np.concatenate(alone, axis=1)])


YARN_ROPE = Rope.from_frequencies(*scaling.yarn(16, **YARN), dim=20, layout="interleaved")


@pytest.mark.parametrize("rope", [Rope(20), YARN_ROPE, Rope.axial((4, 16))], ids=["plain", "YaRN", "axial"])
def test_cached_keys_are_rotated_to_where_they_move(xp, rope):
    """Four tokens are dropped: later ones move down. YaRN's factor is in the keys already."""
    k = xp.asarray(heads(1, 2, 10, 20))
    cache = rope.rotate(k)[:, :, 4:]
    for shift in (-4, [-4] * 6, xp.asarray([-4] * 6)):
        same([rope.rerotate(cache, shift)], [rope.rotate(k[:, :, 4:])])
    swapped = rope.rerotate(cache.swapaxes(1, 2), -4, length_axis=-3)
    same([swapped.swapaxes(1, 2)], [rope.rotate(k[:, :, 4:])])
    apart = rope.rotate(k[:, :, [0, 1, 2, 7, 8, 9]])  # tokens 3 to 6 are dropped, and the last three move
    same([rope.rerotate(rope.rotate(k)[:, :, [0, 1, 2, 7, 8, 9]], [0, 0, 0, -4, -4, -4])], [apart])


# ---------------------------------------------------------------- frequencies


def test_partial_rotary_and_given_frequencies():
    x = heads(1, 1, 5, 16)
    expected = by_hand(x, np.arange(5), inv_freq(8), rotary_dim=8)
    same(
        [Rope(16, rotary_dim=8).rotate(x), Rope.from_frequencies(inv_freq(8).tolist(), dim=16).rotate(x)],
        2 * [expected],
    )
    scaled = scaling.yarn(16, **YARN)
    given = Rope.from_frequencies(*scaled)
    assert (given.dim, given.attention_factor) == (16, scaled.attention_factor)
    same([given.rotate(x)], [by_hand(x, np.arange(5), scaled.inv_freq, factor=scaled.attention_factor)])
    odd = Rope(7, rotary_dim=6).rotate(x[..., :7])
    np.testing.assert_array_equal(odd[..., 6:], x[..., 6:7])


def test_frequencies_and_attention_factor_cannot_be_set():
    rope, given = Rope(8), np.ones(4)
    for name in ("inv_freq", "attention_factor", "follows_length", "n_axes"):
        with pytest.raises(AttributeError, match="no setter"):
            setattr(rope, name, 2.0)
    with pytest.raises(ValueError, match="read-only"):
        rope.inv_freq[0] = 2.0
    copy = Rope.from_frequencies(given)
    given[0] = 2.0
    assert copy.inv_freq[0] == 1.0


def test_frequencies_that_follow_the_length_of_the_sequence(xp):
    x = xp.asarray(heads(1, 1, 40, 8))
    wanted = lambda n, **more: scaling.dynamic_ntk(8, seq_len=n, **DYNAMIC).inv_freq  # noqa: E731
    expected = lambda n, of, at: by_hand(np.asarray(x)[:, :, :n], at, wanted(of))  # noqa: E731
    from_config = Rope.from_config({"rope_type": "dynamic", "rope_theta": 1e4, **DYNAMIC}, 8)
    for rope in (Rope.from_schedule(partial(_scheduled, 8)), from_config):
        assert rope.follows_length
        same([rope.frequencies(9).inv_freq, rope.frequencies(0).inv_freq], [wanted(9), rope.inv_freq])
        for length in (8, 40, 8):  # and back: a long sequence leaves no trace
            at = np.arange(length)
            found = (
                rope.rotate(x[:, :, :length]),
                rope.rotate(x[:, :, :length], xp.asarray(at)),
                *rope(x[:, :, :length], x[:, :, :length]),
            )
            same(found, 4 * [expected(length, length, at)])
        same(
            [rope.rotate(x[:, :, :3], offset=6), rope.rotate(x[:, :, :3], seq_len=9)],
            [expected(3, 9, np.arange(6, 9)), expected(3, 9, np.arange(3))],
        )
        # queries and keys are of one sequence, which goes as far as its farthest key
        q, k = rope(x[:, :, :3], x[:, :, :9], xp.arange(3), key_positions=xp.arange(9))
        same([q, k], [expected(3, 9, np.arange(3)), expected(9, 9, np.arange(9))])
        with pytest.raises(ValueError, match="k must be rotated anew"):
            rope.rerotate(x, -1)
    fixed = Rope.from_config({"rope_type": "dynamic", "rope_theta": 1e4, **DYNAMIC}, 8, seq_len=9)
    assert not fixed.follows_length
    same([fixed.inv_freq], [wanted(9)])


def _scheduled(dim, seq_len):
    return scaling.dynamic_ntk(dim, seq_len=seq_len, **DYNAMIC)


# ---------------------------------------------------------------- axes


@layouts
@pytest.mark.parametrize("widths", [(4, 4), (16, 56, 56)])
def test_axial_rope_rotates_each_part_of_a_head_by_its_axis(xp, widths, layout):
    sizes = (2, 3, 2)[: len(widths)]
    grid, rope = grid_position_ids(*sizes), Rope.axial(widths, layout=layout)
    x, ends = heads(1, 2, len(grid), sum(widths)), np.cumsum(widths)
    order = np.arange(sum(widths))  # of the dimensions of a part, one after the other
    if layout == "half-split":
        halves = np.split(order.reshape(2, -1), ends[:-1] // 2, axis=-1)
        order = np.concatenate([half.ravel() for half in halves])
    expected = np.empty_like(x)
    for axis, part in enumerate(np.split(order, ends[:-1])):
        expected[..., part] = by_hand(x[..., part], grid[:, axis], inv_freq(widths[axis]), layout)
    same([rope.rotate(xp.asarray(x), xp.asarray(grid)), rope.rotate(xp.asarray(x), grid.tolist())], 2 * [expected])
    text = rope.rotate(xp.asarray(x), offset=3)  # the same position on all axes
    same(
        [text, text],
        [
            rope.rotate(xp.asarray(x), xp.arange(len(grid))[:, None] + 3),
            rope.rotate(xp.asarray(x), xp.asarray(np.tile(np.arange(len(grid))[:, None] + 3, len(widths)))),
        ],
    )


@pytest.mark.parametrize("interleaved", [False, True])
def test_mrope_equals_a_plain_reference(xp, interleaved):
    """Text, an image of 2 × 3 patches, a video of two frames, text: pair by pair, by the position on its axis."""
    axes = [0, 1, 2] * 10 + [0, 0] if interleaved else [0] * 8 + [1] * 12 + [2] * 12
    sizes = [axes.count(axis) for axis in range(3)]
    assert sections(sizes, interleaved) == axes
    at = mrope_position_ids([3, (1, 2, 3), (2, 2, 2), 2])  # (19, 3)
    assert at[:9].tolist() == [
        [0] * 3,
        [1] * 3,
        [2] * 3,
        [3, 3, 3],
        [3, 3, 4],
        [3, 3, 5],
        [3, 4, 3],
        [3, 4, 4],
        [3, 4, 5],
    ]
    x, frequencies = heads(2, 1, 19, 64), inv_freq(64)
    expected = np.empty_like(x)
    for token, pair in np.ndindex(19, 32):
        phi = at[token, axes[pair]] * frequencies[pair]
        a, b = x[..., token, pair], x[..., token, pair + 32]
        expected[..., token, pair] = a * np.cos(phi) - b * np.sin(phi)
        expected[..., token, pair + 32] = a * np.sin(phi) + b * np.cos(phi)
    positions = xp.asarray(np.stack([at, at]))  # (batch, length, 3)
    same([Rope(64, axes=axes).rotate(xp.asarray(x), positions)], [expected])
    config = {
        "head_dim": 64,
        "rope_parameters": {"rope_theta": 1e4, "mrope_section": sizes, "mrope_interleaved": interleaved},
    }
    same([Rope.from_config(config).rotate(xp.asarray(x), positions)], [expected])


# ---------------------------------------------------------------- configurations


def test_layers_of_several_kinds():
    config = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}, "none": None}
    ropes = Rope.by_layer_type({"rope_parameters": config, "head_dim": 32}, layout="interleaved")
    assert {name: rope.layout for name, rope in ropes.items()} == dict.fromkeys(
        ("full_attention", "sliding_attention"), "interleaved"
    )
    same(
        [
            ropes["full_attention"].inv_freq,
            Rope.from_config({"rope_parameters": config}, 32, layer_type="sliding_attention").inv_freq,
        ],
        [inv_freq(32, 1e6), inv_freq(32)],
    )
    with pytest.raises(ValueError, match="config must have parameters per layer"):
        Rope.by_layer_type({"rope_theta": 1e4}, 32)


def test_what_a_configuration_says_of_the_rotation():
    text = {"head_dim": 64, "rope_parameters": {"rope_theta": 1e6, "mrope_section": [16, 8, 8]}}
    language_model = Rope.from_config({"text_config": text, "vision_config": {}})
    assert (language_model.dim, language_model.n_axes) == (64, 3)
    yarn = Rope.from_config({"rope_type": "yarn", "rope_theta": 1e4, **YARN}, 16)
    same(
        [yarn.inv_freq, [yarn.attention_factor]],
        [scaling.yarn(16, **YARN).inv_freq, [scaling.yarn(16, **YARN).attention_factor]],
    )
    assert Rope.from_config({"rotary_pct": 0.25, "rotary_emb_base": 1e4, "head_dim": 64}).rotary_dim == 16
    gpt_j = Rope.from_config({"model_type": "gptj", "rotary_dim": 64, "n_embd": 4096, "n_head": 16})
    assert (gpt_j.dim, gpt_j.rotary_dim, gpt_j.layout) == (256, 64, "interleaved")
    listed = Rope.from_config({"inv_freq": [1.0, 0.5, 0.0], "axes": [0, 0, 1]}, 8)
    assert (listed.inv_freq.tolist(), listed.rotary_dim, listed.axes) == ([1.0, 0.5, 0.0], 6, (0, 0, 1))


def test_one_line_says_what_it_is():
    assert repr(Rope(8)) == "Rope(8, layout='half-split', 4 pairs from 1 to 0.001 radians per token)"
    assert repr(YARN_ROPE).endswith("8 pairs from 1 to 7.91e-05 radians per token, attention factor 1.139)")
    assert repr(Rope.axial((4, 4))).endswith("along 2 axes)")


# ---------------------------------------------------------------- torch: dtypes, learned frequencies, transformations


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_queries_keep_their_dtype_and_are_rounded_once(torch, dtype):
    rope, (q, k) = Rope(16), torch.tensor(heads(2, 2, 3, 9, 16)).to(getattr(torch, dtype))
    exact = rope(q.double(), k.double(), offset=5)
    for ours, wanted in zip(rope(q, k, offset=5), exact, strict=True):
        assert ours.dtype == q.dtype
        torch.testing.assert_close(ours, wanted.float().to(q.dtype) if dtype != "float64" else wanted)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(rope(q, k)[0], rope.rotate(q))
    with torch.device("meta"):
        empty = torch.ones(1, 2, 5, 16)
        assert all(x.is_meta for x in (*rope(empty, empty, torch.arange(5)), rope.rotate(empty)))


@pytest.mark.torch
@pytest.mark.parametrize("of", ["tensor", "module"])
@pytest.mark.parametrize("counted", [True, False])
def test_learned_frequencies_act_in_the_next_call(torch, of, counted):
    """Once a pass without gradients, of the shape that is trained, stopped them from learning: nothing is kept."""
    from posenc.rotary_module import RotaryEmbedding

    module = RotaryEmbedding(Rope(4), learnable=True)
    learned = module.inv_freq
    call = module if of == "module" else Rope.from_frequencies(learned)
    q, at = torch.tensor(heads(1, 1, 6, 4)).float(), None if counted else torch.arange(6)

    def right():
        return Rope.from_frequencies(learned.detach().numpy().copy())(q, q, at)[0]

    for _ in range(2):
        with torch.no_grad():
            call(q, q, at)
        learned.grad = None
        rotated_q, rotated_k = call(q, q, at)
        (rotated_q @ rotated_k.mT).square().sum().backward()
        assert learned.grad.abs().min() > 0
        for change in (
            lambda: torch.optim.SGD([learned], lr=1e-2).step(),
            lambda: learned.data.mul_(-0.5),  # a frequency may cross 0
            lambda: module.load_state_dict({"inv_freq": torch.tensor([0.3, 0.03])}),
        ):
            with torch.no_grad():
                before = call(q, q, at)[0].clone()
                change()
                assert not torch.allclose(call(q, q, at)[0], before)
                torch.testing.assert_close(call(q, q, at)[0], right())


@pytest.mark.torch
def test_a_module_keeps_its_frequencies_in_float32_and_in_its_state(torch):
    from posenc.rotary_module import RotaryEmbedding

    for learnable in (False, True):
        module = RotaryEmbedding(YARN_ROPE, learnable=learnable)
        assert (list(module.state_dict()), len(list(module.parameters()))) == (["inv_freq"], learnable)
        q = torch.tensor(heads(1, 1, 6, 20)).bfloat16()
        for found, expected in zip(module.to(torch.bfloat16)(q, q, offset=9), YARN_ROPE(q, q, offset=9), strict=True):
            assert torch.equal(found, expected)
        assert module.half().inv_freq.dtype == torch.float32
        assert module.double().inv_freq.dtype == torch.float64
    with pytest.raises(ValueError, match="rope must have fixed frequencies"):
        RotaryEmbedding(Rope.from_schedule(partial(_scheduled, 8)))


@pytest.mark.torch
def test_vmap_over_sequences(torch):
    rope, q = Rope(8), torch.tensor(heads(3, 2, 5, 8))
    at = torch.tensor([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [2, 2, 2, 2, 2]])
    torch.testing.assert_close(torch.vmap(rope.rotate)(q, at), rope.rotate(q, at))
    by_offset = torch.vmap(lambda x, offset: rope.rotate(x, offset=offset))(q, at[:, 0])
    torch.testing.assert_close(by_offset, rope.rotate(q, offset=at[:, 0]))


ROPES = {
    "half-split": Rope(16),
    "interleaved": Rope(16, layout="interleaved"),
    "YaRN": YARN_ROPE,
    "axial": Rope.axial((8, 8)),
}


@pytest.mark.release
@pytest.mark.torch
@pytest.mark.parametrize("rope", ROPES.values(), ids=ROPES)
def test_one_graph_serves_every_length_and_offset(torch, rope):
    torch._dynamo.reset()
    compiled = partial(torch.compile, fullgraph=True, dynamic=True, backend="eager")
    counted, at_offset = compiled(lambda q, k: rope(q, k)), compiled(lambda q, k, n: rope(q, k, offset=n))
    at_positions = compiled(lambda q, k, at: rope(q, k, at))
    for length in (7, 9, 30):
        q, k = torch.tensor(heads(2, 1, 2, length, rope.dim)).float()
        same(counted(q, k), rope(q, k), 1e-6)
        for offset in (3, 4, 50, torch.tensor(6), torch.tensor([6])):
            same(at_offset(q, k, offset), rope(q, k, offset=offset), 1e-6)
        at = torch.arange(length)[:, None] if rope.axes else torch.arange(length)
        same(at_positions(q, k, at), rope(q, k, at), 1e-6)
    torch._dynamo.reset()


@pytest.mark.release
@pytest.mark.torch
@pytest.mark.parametrize("strict", [False, True])
def test_exported_with_a_dynamic_length(torch, strict):
    class Model(torch.nn.Module):
        def forward(self, q, k, positions=None):
            return ROPES["half-split"](q, k, positions)

    length = torch.export.Dim("length", min=2, max=512)
    q, k = torch.tensor(heads(2, 1, 2, 8, 16)).float()
    for inputs in ((q, k), (q, k, torch.arange(8))):
        shapes = {"q": {2: length}, "k": {2: length}} | ({"positions": {0: length}} if len(inputs) == 3 else {})
        exported = torch.export.export(Model(), inputs, dynamic_shapes=shapes, strict=strict).module()
        for n in (8, 30):
            longer = [*torch.tensor(heads(2, 1, 2, n, 16)).float(), torch.arange(n)][: len(inputs)]
            same(exported(*longer), Model()(*longer), 1e-6)


@pytest.mark.torch
def test_a_schedule_needs_the_length_where_positions_are_traced(torch):
    rope, q = Rope.from_schedule(partial(_scheduled, 8)), torch.ones(1, 1, 9, 8)
    traced = torch.vmap(lambda at: rope.rotate(q, at))
    with pytest.raises(ValueError, match="seq_len must be given"):
        traced(torch.arange(9)[None])
    same([torch.vmap(lambda at: rope.rotate(q, at, seq_len=9))(torch.arange(9)[None])[0]], [rope.rotate(q)], 1e-6)

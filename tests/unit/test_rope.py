"""posenc.rope: `Rope` against the functions below it, in NumPy and torch; learned frequencies, compiling, configs."""

import tracemalloc

import numpy as np
import pytest

from posenc import scaling
from posenc.frequencies import angles, inv_freq
from posenc.position_ids import grid_position_ids, mrope_position_ids, packed_position_ids
from posenc.rope import Rope
from posenc.rotary import LAYOUTS, cos_sin, rotate

YARN = {"factor": 4.0, "original_max_position_embeddings": 16}
DYNAMIC = {"factor": 2.0, "original_max_position_embeddings": 4}
DYNAMIC_CONFIG = {"rope_type": "dynamic", "rope_theta": 1e4, **DYNAMIC}
ROPES = {
    "half-split": Rope(20),
    "interleaved, YaRN, partial": Rope.from_frequencies(*scaling.yarn(16, **YARN), dim=20, layout="interleaved"),
    "axial": Rope.axial((4, 16)),
    "dynamic": Rope.from_schedule(lambda n: scaling.dynamic_ntk(20, seq_len=n, **DYNAMIC)),
}
fixed_ropes = pytest.mark.parametrize("rope", [*ROPES.values()][:3], ids=[*ROPES][:3])
layouts = pytest.mark.parametrize("layout", LAYOUTS)


def heads(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def by_hand(x, positions, frequencies, layout="half-split", factor=1.0, rotary_dim=None):
    """x (batch, heads, length, dim) at positions (length,) or (batch, length)."""
    phi = angles(np.asarray(positions), frequencies)
    pair = cos_sin(phi if phi.ndim == 2 else phi[:, None], factor)
    return rotate(np.asarray(x), pair, layout, rotary_dim=rotary_dim)


def same(found, expected, atol=1e-13):
    for ours, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, wanted, atol=atol)


@layouts
def test_queries_and_keys_are_rotated_by_their_positions(xp, layout):
    q, k, rope = xp.asarray(heads(2, 4, 7, 16)), xp.asarray(heads(2, 2, 7, 16)), Rope(16, 500.0, layout=layout)
    expected = [by_hand(x, range(7), inv_freq(16, 500.0), layout) for x in (q, k)]
    for positions in (None, list(range(7)), xp.arange(7), xp.arange(7)[None], xp.asarray([[*range(7)]] * 2)):
        same(rope(q, k, positions), expected)
        swapped = rope(q.swapaxes(1, 2), k.swapaxes(1, 2), positions, length_axis=-3)  # (batch, length, heads, dim)
        same([x.swapaxes(1, 2) for x in swapped], expected)
    same([rope.rotate(q), rotate(k, rope.cos_sin(length=7, like=k), layout)], expected)
    own, of_keys = xp.asarray([[0, 1, 2], [9, 4, 7]]), xp.arange(5)
    found = rope(q[:, :, :3], k[:, :, :5], own, key_positions=of_keys)
    given = zip((q[:, :, :3], k[:, :, :5]), (own, of_keys), strict=True)
    same(found, [by_hand(x, at, inv_freq(16, 500.0), layout) for x, at in given])


def test_decoding_one_token_at_a_time_equals_the_whole_sequence(xp):
    q, k, rope = xp.asarray(heads(1, 2, 600, 8)), xp.asarray(heads(1, 2, 600, 8)), Rope(8)
    whole = rope(q, k)
    for at in (0, 1, 255, 256, 599):
        for offset in (at, np.int64(at), xp.asarray(at), xp.asarray([at])):
            one = slice(at, at + 1)
            same(rope(q[:, :, one], k[:, :, one], offset=offset), [x[:, :, one] for x in whole])
    # with a cache of keys that are not rotated yet, fewer queries are the last ones
    same(rope(q[:, :, -3:], k), [whole[0][:, :, -3:], whole[1]])


@pytest.mark.parametrize("rope", ROPES.values(), ids=ROPES)
@pytest.mark.parametrize("length_axis", [-2, -3])
def test_an_offset_for_each_sequence_equals_a_call_for_each(xp, rope, length_axis):
    q, k = xp.asarray(heads(3, 5, 5, 20)), xp.asarray(heads(3, 5, 5, 20))
    options = {"length_axis": length_axis, "seq_len": 1005}
    for queries in (q, q[:, :, -2:] if length_axis == -2 else q[:, -2:]):
        together = rope(queries, k, offset=xp.asarray([5, 0, 1000]), **options)
        for row, offset in enumerate((5, 0, 1000)):
            same([x[row] for x in together], rope(queries[row], k[row], offset=offset, **options))
    same([rope.rotate(k, offset=xp.asarray([5, 0, 1000]), **options)], together[1:])


def test_one_token_far_away_is_exact_and_takes_little_memory():
    """Angles are float64, and no table of all positions before it is made."""
    rope, x = Rope(128), heads(1, 1, 1, 128).astype(np.float32)
    tracemalloc.start()
    found = rope.rotate(x, offset=8_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.dtype == np.float32
    same([found], [by_hand(x.astype(np.float64), [8_000_000], inv_freq(128))], 1e-6)
    assert peak < 100_000


def test_packed_sequences_are_rotated_as_each_alone():
    at, x, rope = packed_position_ids([3, 0, 4, 1]), heads(2, 8, 8), Rope(8)
    assert at.tolist() == [0, 1, 2, 0, 1, 2, 3, 0]
    alone = [rope.rotate(x[:, part]) for part in (slice(3), slice(3, 7), slice(7, 8))]
    same([rope.rotate(x, at)], [np.concatenate(alone, axis=1)])


@fixed_ropes
def test_cached_keys_are_rotated_to_where_they_move(xp, rope):
    """Tokens 3 to 6 are dropped, and the last three move down. YaRN's factor is in the keys already."""
    k, kept = xp.asarray(heads(1, 2, 10, 20)), xp.asarray([0, 1, 2, 7, 8, 9])
    cache, moved = rope.rotate(k)[:, :, 7:], rope.rotate(k[:, :, kept])
    for shift in (-4, [-4] * 3, xp.asarray([-4] * 3)):
        same([rope.rerotate(cache, shift)], [moved[:, :, 3:]])
    same([rope.rerotate(cache.swapaxes(1, 2), -4, length_axis=-3)], [moved[:, :, 3:].swapaxes(1, 2)])
    same([rope.rerotate(rope.rotate(k)[:, :, kept], [0, 0, 0, -4, -4, -4])], [moved])
    with pytest.raises(ValueError, match="k must be rotated anew"):
        ROPES["dynamic"].rerotate(k, -1)


def test_partial_rotary_and_given_frequencies():
    x, scaled = heads(1, 1, 5, 16), scaling.yarn(16, **YARN)
    expected = by_hand(x, range(5), inv_freq(8), rotary_dim=8)
    listed = Rope.from_frequencies(inv_freq(8).tolist(), dim=16)
    same([Rope(16, rotary_dim=8).rotate(x), listed.rotate(x)], [expected, expected])
    given = Rope.from_frequencies(*scaled)
    assert (given.dim, given.attention_factor) == (16, scaled.attention_factor)
    same([given.rotate(x)], [by_hand(x, range(5), scaled.inv_freq, factor=scaled.attention_factor)])
    odd = Rope(7, rotary_dim=6).rotate(x[..., :7])
    np.testing.assert_array_equal(odd[..., 6:], x[..., 6:7])


@pytest.mark.parametrize("rope", [ROPES["dynamic"], Rope.from_config(DYNAMIC_CONFIG, 20)], ids=["function", "config"])
def test_frequencies_that_follow_the_length_of_the_sequence(xp, rope):
    x = xp.asarray(heads(1, 1, 40, 20))

    def expected(at, length):
        return by_hand(x[:, :, : len(at)], at, scaling.dynamic_ntk(20, seq_len=length, **DYNAMIC).inv_freq)

    assert rope.follows_length
    for length in (8, 40, 8):  # and back: a long sequence leaves no trace
        part, at = x[:, :, :length], range(length)
        same([rope.rotate(part), rope.rotate(part, xp.arange(length)), *rope(part, part)], 4 * [expected(at, length)])
    same([rope.rotate(x[:, :, :3], offset=6)], [expected(range(6, 9), 9)])
    same([rope.rotate(x[:, :, :3], seq_len=9)], [expected(range(3), 9)])
    # queries and keys are of one sequence, which goes as far as its farthest key
    found = rope(x[:, :, :3], x[:, :, :9], xp.arange(3), key_positions=xp.arange(9))
    same(found, [expected(range(3), 9), expected(range(9), 9)])
    fixed = Rope.from_config(DYNAMIC_CONFIG, 20, seq_len=9)
    assert not fixed.follows_length
    same([fixed.inv_freq, fixed.rotate(x[:, :, :3])], [rope.frequencies(9).inv_freq, expected(range(3), 9)])


@layouts
def test_axial_rope_rotates_each_part_of_a_head_by_its_axis(xp, layout):
    widths = (16, 56, 56)
    at, rope = grid_position_ids(2, 3, 2), Rope.axial(widths, layout=layout)
    x = heads(1, 2, len(at), sum(widths))
    phi = np.concatenate([angles(at[:, axis], inv_freq(width)) for axis, width in enumerate(widths)], axis=-1)
    for positions in (xp.asarray(at), at.tolist()):
        same([rope.rotate(xp.asarray(x), positions)], [rotate(x, phi, layout)])
    text = xp.arange(len(at))[:, None] + 3  # the same position on all axes
    for options in ({"offset": 3}, {"positions": text}, {"positions": text + xp.zeros(len(widths))}):
        same([rope.rotate(xp.asarray(x), **options)], [rope.rotate(x, np.arange(len(at))[:, None] + 3)])


def test_text_goes_on_after_the_largest_position_of_an_image_or_video():
    """An image takes as many positions as its longer side; a video may have more frames than that."""
    assert mrope_position_ids([2, (1, 3, 5), 1])[-1].tolist() == [7, 7, 7]
    assert mrope_position_ids([2, (20, 2, 2), 1])[-1].tolist() == [22, 22, 22]
    assert mrope_position_ids([1, (1, 2, 2)]).tolist() == [[0, 0, 0], [1, 1, 1], [1, 1, 2], [1, 2, 1], [1, 2, 2]]


def test_layers_of_several_kinds():
    layers = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}, "none": None}
    ropes = Rope.by_layer_type({"rope_parameters": layers, "head_dim": 32}, layout="interleaved")
    assert {name: rope.layout for name, rope in ropes.items()} == dict.fromkeys([*layers][:2], "interleaved")
    same([rope.inv_freq for rope in ropes.values()], [inv_freq(32, 1e6), inv_freq(32)])
    with pytest.raises(ValueError, match="config must have parameters per layer"):
        Rope.by_layer_type({"rope_theta": 1e4}, 32)


def test_what_a_configuration_says_of_the_rotation():
    text = {"head_dim": 64, "rope_parameters": {"rope_theta": 1e6, "mrope_section": [16, 8, 8]}}
    language_model = Rope.from_config({"text_config": text, "vision_config": {}})
    assert (language_model.dim, language_model.n_axes) == (64, 3)
    yarn = Rope.from_config({"rope_type": "yarn", "rope_theta": 1e4, **YARN}, 16, layout="interleaved")
    same([yarn.inv_freq, yarn.attention_factor], scaling.yarn(16, **YARN))
    listed = Rope.from_config({"inv_freq": [1.0, 0.5, 0.0], "axes": [0, 0, 1]}, 8)
    assert (listed.inv_freq.tolist(), listed.rotary_dim, listed.axes) == ([1.0, 0.5, 0.0], 6, (0, 0, 1))


@pytest.mark.torch
def test_autocast_changes_no_angle(torch):
    rope, q = Rope(16), torch.tensor(heads(1, 1, 9, 16)).float()
    with torch.autocast("cpu", torch.bfloat16):
        inside = rope.rotate(q, offset=1000)
    assert torch.equal(inside, rope.rotate(q, offset=1000))


@pytest.mark.torch
@pytest.mark.parametrize("of", ["tensor", "module"])
def test_learned_frequencies_act_in_the_next_call(torch, of):
    """Also after a pass without gradients of the same shape: nothing is kept from it."""
    from posenc.rotary_module import RotaryEmbedding

    module = RotaryEmbedding(Rope(4), learnable=True)
    learned, q = module.inv_freq, torch.tensor(heads(1, 1, 6, 4)).float()
    call = module if of == "module" else Rope.from_frequencies(learned)

    def step():
        learned.grad = None
        rotated_q, rotated_k = call(q, q)
        (rotated_q @ rotated_k.mT).square().sum().backward()
        assert learned.grad.abs().min() > 0
        torch.optim.SGD([learned], lr=1e-2).step()

    with torch.no_grad():
        last = call(q, q)[0]
        for change in (
            torch.enable_grad()(step),
            lambda: learned.mul_(-0.5),  # a frequency may cross 0
            lambda: module.load_state_dict({"inv_freq": torch.tensor([0.3, 0.03])}),
        ):
            change()
            now, right = call(q, q)[0], Rope.from_frequencies(learned.numpy().copy())(q, q)[0]
            torch.testing.assert_close(now, right)
            assert not torch.allclose(now, last)
            last = now


@pytest.mark.torch
@pytest.mark.parametrize("learnable", [False, True])
@fixed_ropes
def test_a_module_keeps_its_frequencies_in_float32_and_in_its_state(torch, rope, learnable):
    from posenc.rotary_module import RotaryEmbedding

    module, q = RotaryEmbedding(rope, learnable=learnable), torch.tensor(heads(1, 1, 6, 20)).bfloat16()
    assert (list(module.state_dict()), len(list(module.parameters()))) == (["inv_freq"], learnable)
    for found, expected in zip(module.to(torch.bfloat16)(q, q, offset=9), rope(q, q, offset=9), strict=True):
        assert torch.equal(found, expected)
    assert (module.half().inv_freq.dtype, module.double().inv_freq.dtype) == (torch.float32, torch.float64)
    with pytest.raises(ValueError, match="rope must have fixed frequencies"):
        RotaryEmbedding(ROPES["dynamic"])


@pytest.mark.release
@pytest.mark.torch
@fixed_ropes
def test_one_graph_serves_every_length_and_offset(torch, rope):
    calls = {
        "counted": lambda q, k: rope(q, k),
        "offset": lambda q, k, offset: rope(q, k, offset=offset),
        "offsets": lambda q, k, offsets: rope(q, k, offset=offsets),
        "positions": lambda q, k, at: rope(q, k, at),
    }
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = {
        name: torch.compile(of, fullgraph=True, dynamic=True, backend="aot_eager") for name, of in calls.items()
    }
    for length in (7, 9, 30):
        q, k = (x.clone().requires_grad_() for x in torch.tensor(heads(2, 2, 3, length, 20)).float())
        at = torch.arange(length)[:, None] if rope.axes else torch.arange(length)
        given = {"counted": [], "offset": [length + 3], "offsets": [torch.tensor([length, 5])], "positions": [at]}
        for name, more in given.items():
            found, expected = compiled[name](q, k, *more), calls[name](q, k, *more)
            torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
            gradients = [torch.autograd.grad(sum(x.square().sum() for x in of), [q, k]) for of in (found, expected)]
            torch.testing.assert_close(*gradients, atol=2e-6, rtol=0)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == len(calls)

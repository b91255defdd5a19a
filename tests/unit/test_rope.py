"""posenc.rope: one object against the functions below it, and against transformers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from posenc import scaling
from posenc.frequencies import angles, inv_freq
from posenc.rope import Rope, sections
from posenc.rotary import RotaryTable, rotary_table, rotate
from posenc.scaling import Scaled

rng = np.random.default_rng(0)


def heads(*shape):
    return rng.standard_normal(shape)


def by_hand(x, positions, frequencies, layout="interleaved", factor=1.0, **more):
    table = rotary_table(angles(positions, frequencies), factor, length_axis=-2)
    return rotate(x, table, layout, **more)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_queries_and_keys_are_turned_as_by_hand(layout):
    q, k, rope = heads(2, 4, 7, 16), heads(2, 2, 7, 16), Rope(16, 500.0, layout=layout)
    expected = [by_hand(x, np.arange(7), inv_freq(16, 500.0), layout) for x in (q, k)]
    for positions in (None, np.arange(7), np.arange(7)[None], np.tile(np.arange(7), (2, 1))):
        for found, wanted in zip(rope(q, k, positions), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-14)
    np.testing.assert_allclose(rope.rotate(q), expected[0], atol=1e-14)
    swapped = rope.rotate(np.swapaxes(q, 1, 2), length_axis=-3)
    np.testing.assert_allclose(np.swapaxes(swapped, 1, 2), expected[0], atol=1e-14)


def test_decoding_token_by_token():
    q, k, rope = heads(1, 2, 600, 8), heads(1, 2, 600, 8), Rope(8)
    whole_q, whole_k = rope(q, k)
    for at in (0, 1, 255, 256, 599):
        one = slice(at, at + 1)
        now = rope(q[:, :, one], k[:, :, one], offset=at)
        np.testing.assert_allclose(now[0], whole_q[:, :, one], atol=1e-12)
        np.testing.assert_allclose(now[1], whole_k[:, :, one], atol=1e-12)
    # With a cache of keys that are not turned yet, fewer queries are the last ones.
    last_q, all_k = rope(q[:, :, -3:], k)
    np.testing.assert_allclose(last_q, whole_q[:, :, -3:], atol=1e-12)
    np.testing.assert_allclose(all_k, whole_k, atol=1e-12)


def test_a_cache_whose_oldest_keys_are_gone():
    """Counting goes on; or it begins lower, and the keys that stay are turned back by as many."""
    q, k, rope, gone = heads(1, 2, 1, 8), heads(1, 2, 10, 8), Rope(8), 4
    cache = rope.rotate(k)[:, :, gone:]
    on = rope.rotate(q, offset=9) @ cache.swapaxes(-1, -2)
    back = rope.rotate(cache, np.full(6, -gone))
    lower = rope.rotate(q, offset=9 - gone) @ back.swapaxes(-1, -2)
    np.testing.assert_allclose(lower, on, atol=1e-13)
    np.testing.assert_allclose(back, rope.rotate(k[:, :, gone:]), atol=1e-13)


@pytest.mark.parametrize("dealt", [[[0, 1], [2, 3]], [[0, 3], [1, 2]]], ids=["in a row", "zigzag"])
def test_a_text_over_devices_is_the_whole_text(dealt):
    """Each device turns its own tokens, by the positions that they have in the whole text."""
    rope, q, k, parts = Rope(8), heads(8, 8), heads(8, 8), np.arange(8).reshape(4, 2)
    mine = [parts[some].ravel() for some in dealt]
    turned_q, turned_k = (np.concatenate([rope.rotate(x[at], at) for at in mine]) for x in (q, k))
    order = np.concatenate(mine)
    scores = (rope.rotate(q) @ rope.rotate(k).T)[np.ix_(order, order)]
    np.testing.assert_allclose(turned_q @ turned_k.T, scores, atol=1e-13)


def test_positions_of_each_sequence_and_of_keys_of_their_own():
    q, k, rope = heads(2, 1, 3, 8), heads(2, 1, 5, 8), Rope(8)
    at, key_at = np.array([[0, 1, 2], [9, 4, 7]]), np.arange(5)
    turned_q, turned_k = rope(q, k, at, key_positions=key_at)
    np.testing.assert_allclose(turned_q, by_hand(q, at, inv_freq(8)), atol=1e-14)
    np.testing.assert_allclose(turned_k, by_hand(k, key_at, inv_freq(8)), atol=1e-14)


def test_a_table_is_sliced_and_used_again():
    x, rope = heads(1, 1, 9, 8), Rope(8)
    table = rope.table(length=20)
    assert isinstance(table[4:13], RotaryTable)
    np.testing.assert_allclose(rotate(x, table[4:13]), rope.rotate(x, offset=4), atol=1e-14)
    assert table[2] == -2  # a number picks a field, as before
    cos, sin, _ = table
    assert cos.shape == sin.shape == (20, 4)


def test_partial_and_given_frequencies():
    x = heads(1, 1, 5, 16)
    np.testing.assert_allclose(
        Rope(16, rotary_dim=8).rotate(x), by_hand(x, np.arange(5), inv_freq(8), rotary_dim=8), atol=1e-14
    )
    given = Rope(16, scaling=scaling.ntk_aware(16, factor=4.0))
    np.testing.assert_allclose(given.rotate(x), by_hand(x, np.arange(5), scaling.ntk_aware(16, factor=4.0)[0]))
    odd = Rope(7, rotary_dim=6)
    np.testing.assert_array_equal(odd.rotate(heads(1, 3, 7)[..., :])[..., 6:].shape, (1, 3, 1))


def test_dictionaries_scale_and_follow_the_length():
    x = heads(1, 1, 40, 8)
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    expected = scaling.yarn(8, 1e4, factor=4.0, original_max_position_embeddings=16)
    rope = Rope(8, scaling=yarn)
    assert rope.attention_factor == expected.attention_factor
    np.testing.assert_allclose(rope.rotate(x), by_hand(x, np.arange(40), *_split(expected)), atol=1e-14)
    dynamic = {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 16}
    follows = Rope(8, 1e5, scaling=dynamic)
    for length in (8, 40, 8):  # and back: a long sequence leaves no trace
        wanted = scaling.dynamic_ntk(8, 1e5, factor=2.0, original_max_position_embeddings=16, seq_len=length)
        found = follows.rotate(x[:, :, :length])
        np.testing.assert_allclose(found, by_hand(x[:, :, :length], np.arange(length), wanted[0]), atol=1e-14)
    fixed = Rope(8, 1e5, scaling=dynamic, seq_len=40)
    np.testing.assert_allclose(fixed.rotate(x), follows.rotate(x), atol=1e-14)


def test_a_function_of_the_length_and_a_factor_of_ones_own():
    x, dynamic = heads(1, 1, 9, 8), {"factor": 2.0, "original_max_position_embeddings": 4}
    rope = Rope(8, scaling=partial(scaling.dynamic_ntk, 8, **dynamic), attention_factor=1.5)
    assert (rope.follows_length, rope.attention_factor) == (True, 1.5)
    wanted = scaling.dynamic_ntk(8, seq_len=9, **dynamic).inv_freq
    np.testing.assert_allclose(rope.rotate(x), by_hand(x, np.arange(9), wanted, factor=1.5), atol=1e-14)
    # Queries and keys are of one sequence, which goes as far as its farthest key.
    q, _ = rope(x[:, :, :3], x, np.arange(3), key_positions=np.arange(9))
    np.testing.assert_allclose(q, by_hand(x[:, :, :3], np.arange(3), wanted, factor=1.5), atol=1e-14)
    assert (rope.sequence_length(np.arange(3), np.arange(9)), rope.sequence_length(np.zeros(0))) == (9, 0)
    fixed = Rope(8, scaling=partial(scaling.dynamic_ntk, 8, **dynamic), seq_len=9)
    assert (fixed.follows_length, fixed.sequence_length(np.arange(3))) == (False, None)
    np.testing.assert_allclose(fixed.inv_freq, wanted)


def _split(scaled):
    return scaled.inv_freq, "interleaved", scaled.attention_factor


def test_axes_say_which_position_a_pair_follows():
    x, rope = heads(1, 1, 6, 8), Rope.axial(8)
    grid = np.array([[row, column] for row in range(2) for column in range(3)])  # (6, 2)
    each = [by_hand(x[..., part], grid[:, axis], inv_freq(4)) for axis, part in enumerate((slice(4), slice(4, 8)))]
    np.testing.assert_allclose(rope.rotate(x, grid), np.concatenate(each, axis=-1), atol=1e-14)
    # The same position on all axes is as one position where all pairs have one list.
    many = Rope(8, axes=[0, 1, 2, 0])
    np.testing.assert_allclose(many.rotate(x, np.arange(6)[:, None]), Rope(8).rotate(x), atol=1e-14)
    np.testing.assert_allclose(many.rotate(x), Rope(8).rotate(x), atol=1e-14)


def test_layers_of_several_kinds():
    config = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}, "none": None}
    ropes = Rope.by_layer_type({"rope_parameters": config, "head_dim": 32})
    assert {name: rope.dim for name, rope in ropes.items()} == {"full_attention": 32, "sliding_attention": 32}
    np.testing.assert_allclose(ropes["full_attention"].inv_freq, inv_freq(32, 1e6))
    with pytest.raises(ValueError, match="config must have parameters per layer"):
        Rope.by_layer_type({"rope_theta": 1e4}, 32)


def test_what_is_a_models_language_model_is_read():
    text = {"head_dim": 64, "rope_parameters": {"rope_theta": 1e6, "mrope_section": [16, 8, 8]}}
    rope = Rope.from_config({"text_config": text, "vision_config": {}})
    assert (rope.dim, rope.n_axes) == (64, 3)
    assert Rope.from_config({"rotary_pct": 0.25, "rotary_emb_base": 1e4, "head_dim": 64}).rotary_dim == 16
    gpt_j = Rope.from_config({"model_type": "gptj", "rotary_dim": 64, "n_embd": 4096, "n_head": 16})
    assert (gpt_j.dim, gpt_j.rotary_dim, gpt_j.layout) == (256, 64, "interleaved")
    speech = {"model_type": "wav2vec2-bert", "position_embeddings_type": "rotary", "rotary_embedding_base": 100}
    speech |= {"hidden_size": 16, "num_attention_heads": 2}
    np.testing.assert_allclose(Rope.from_config(speech).inv_freq, inv_freq(8, 100.0))


def test_frequencies_that_no_type_makes_are_read():
    rope = Rope(8, scaling={"inv_freq": [1.0, 0.5, 0.0], "axes": [0, 0, 1]}, layout="half")
    assert (rope.inv_freq.tolist(), rope.rotary_dim, rope.axes) == ([1.0, 0.5, 0.0], 6, (0, 0, 1))


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Rope(7), "dim must have an even width"),
    (lambda: Rope(8, layout="halves"), "layout must be one of"),
    (lambda: Rope(8, axes=[0]), "axes must have a number for each of the 4 pairs, got 1"),
    (lambda: Rope(8, scaling=Scaled(np.ones(5), 1.0)), "scaling must have a frequency for each pair that turns, 4"),
    (lambda: Rope(8, 5.0, scaling=Scaled(np.ones(4), 1.0)), "base must be None"),
    (lambda: Rope(8, 5.0, scaling={"rope_theta": 6.0}), "base must be what scaling says, 6.0, or None, got 5.0"),
    (lambda: Rope(8, layer_type="full_attention"), "layer_type must be None"),
    (lambda: Rope(8, attention_factor=0), "attention_factor must be"),
    (lambda: Rope.axial(10), "dim must be a multiple of two for each of the 2 axes, 4, got 10"),
    (lambda: Rope(8).rotate(np.ones((1, 3, 6))), "x must have heads of width 8, got shape"),
    (lambda: Rope(8)(np.ones((1, 4, 8)), np.ones((1, 3, 8))), "q must be no longer than k"),
    (lambda: Rope(8).table(), "either positions or length must be given"),
    (lambda: Rope.axial(8).rotate(np.ones((1, 3, 8)), np.arange(3)), r"positions must have shape \(..., length, 2\)"),
    (lambda: Rope(8).rotate(np.ones((1, 3, 8)), length_axis=2), "length_axis must name an axis of x"),
    (lambda: sections((1, 3), interleaved=True), "sizes must leave room to take turns"),
    (lambda: Rope.from_config({"rope_theta": 1e4, "hidden_size": 8}), "config must have head_dim"),
    (lambda: Rope.from_config({"model_type": "blt"}), "got 'blt': its code rotates by more than its conf"),
    (lambda: Rope.from_config({"model_type": "falcon", "alibi": True, "rope_theta": 1e4}),
        "got 'falcon': its alibi is true, and it rotates only where"),
    (lambda: Rope(8, scaling={"inv_freq": [1.0] * 5}), "inv_freq must have at most 4 frequencies in config, got 5"),
    (lambda: Rope(8, scaling={"inv_freq": [1.0, -1.0]}), "inv_freq must not be negative, got -1"),
    (lambda: Rope(16, scaling={"rope_type": "axial"}, axes=[0] * 8), "axes must have at most 4 pairs of each axis"),
])  # fmt: skip
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_no_mapping_is_refused():
    with pytest.raises(TypeError, match="config must be a mapping or a configuration of transformers, got 3"):
        Rope.from_config(3)


def test_one_line_says_what_it_is():
    assert repr(Rope(8)) == "Rope(8, layout='interleaved', 4 pairs from 1 to 0.001 radians a token)"
    assert repr(Rope.axial(8)).endswith("along 2 axes)")

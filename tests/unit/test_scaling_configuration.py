"""posenc.scaling.configuration: each scaling in all forms that a configuration has, and what it must not say."""

import copy
from types import MappingProxyType

import numpy as np
import pytest

from posenc.scaling import (
    ROPE_TYPES,
    default,
    dynamic_ntk,
    from_config,
    linear,
    longrope,
    yarn,
)
from tests.unit.rope_configurations import CONFIGURED, LENGTH, LISTS, PHI3, QWEN3, assert_same, configured


@configured
def test_a_configuration_is_the_call_it_describes(rope, longest, seq_len, expected):
    whole = {"head_dim": 64, "hidden_size": 256, "max_position_embeddings": longest, "rope_parameters": rope}
    before = copy.deepcopy(whole)
    assert_same(from_config(whole, 64, seq_len), expected())
    assert whole == before
    assert_same(from_config(MappingProxyType(whole), 64, seq_len), expected())
    # The older form: rope_scaling with "type", the base around it.
    older = {key: value for key, value in rope.items() if key not in ("rope_type", "rope_theta")}
    older["type"] = rope.get("rope_type", "default")
    around = {"max_position_embeddings": longest, "rope_theta": rope["rope_theta"]}
    assert_same(from_config({**around, "rope_scaling": older}, 64, seq_len), expected())
    assert_same(from_config({**whole, "rope_scaling": None}, 64, seq_len), expected())
    assert_same(from_config({**whole, "rope_scaling": copy.deepcopy(rope)}, 64, seq_len), expected())
    # Per layer, beside a layer of another kind.
    layers = {"rope_parameters": {"full_attention": rope, "sliding_attention": {"rope_theta": 100.0}, "none": None}}
    assert_same(from_config({**whole, **layers}, 64, seq_len, layer_type="full_attention"), expected())
    assert_same(from_config({**whole, **layers}, 64, seq_len, layer_type="sliding_attention"), default(64, 100.0))
    assert from_config(whole, 64, seq_len, like=np.ones(1)).inv_freq.dtype == np.float64


def test_every_type_is_configured_four_times():
    named = [rope.get("rope_type", "default") for rope, *_ in CONFIGURED]
    assert set(named) == set(ROPE_TYPES)
    assert all(named.count(name) >= 4 for name in ROPE_TYPES)


@pytest.mark.parametrize(
    ("rope", "expected"),
    [
        ({"rope_theta": 1e6}, lambda: default(64, 1e6)),
        ({"type": "linear", "factor": 4.0}, lambda: linear(64, factor=4)),
        ({"type": "linear", "rope_type": "linear", "factor": 4.0}, lambda: linear(64, factor=4)),
        ({"type": "linear", "rope_type": None, "factor": 4.0}, lambda: linear(64, factor=4)),
        (
            {"type": "su", **LISTS, "factor": 4, LENGTH: 64},
            lambda: longrope(64, **LISTS, seq_len=1, factor=4, **{LENGTH: 64}),
        ),
        (
            {"type": "su", "rope_type": "longrope", **LISTS, "attention_factor": 1.5, LENGTH: 64},
            lambda: longrope(64, **LISTS, seq_len=1, attention_factor=1.5, **{LENGTH: 64}),
        ),
        ({"type": "yarn", **QWEN3}, lambda: yarn(64, factor=4, **{LENGTH: 32_768})),
        ({"type": "dynamic", "factor": 4.0, LENGTH: 64}, lambda: default(64)),
    ],
)
def test_a_rope_dictionary_on_its_own(rope, expected):
    assert_same(from_config(rope, 64), expected())


def test_where_the_trained_length_is_found():
    rope = {"type": "yarn", "factor": 4.0}
    around = {"rope_theta": 1e4, "max_position_embeddings": 4096, "rope_scaling": rope}
    assert_same(from_config(around, 64), yarn(64, factor=4, **{LENGTH: 4096}))
    assert_same(from_config({**around, LENGTH: 1024}, 64), yarn(64, factor=4, **{LENGTH: 1024}))
    inside = {**around, "rope_scaling": {**rope, LENGTH: 1024}}
    assert_same(from_config(inside, 64), yarn(64, factor=4, **{LENGTH: 1024}))
    assert_same(from_config({**inside, LENGTH: 1024}, 64), yarn(64, factor=4, **{LENGTH: 1024}))
    rope["factor"] = None
    assert_same(from_config({**around, LENGTH: 1024}, 64), yarn(64, factor=4, **{LENGTH: 1024}))


def test_a_truncate_per_layer_is_the_layers_own():
    rope = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4096, "truncate": False}
    scaled = from_config({"full_attention": rope}, 64, layer_type="full_attention")
    assert_same(scaled, yarn(64, factor=4, **{LENGTH: 4096}, truncate=False))


def test_what_stands_around_layers_is_for_those_that_do_not_say():
    layers = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"partial_rotary_factor": 0.5}}
    config = {"rope_theta": 1e4, "partial_rotary_factor": 0.25, "rope_parameters": layers}
    assert_same(from_config(config, 64, layer_type="full_attention"), default(16, 1e6))
    assert_same(from_config(config, 64, layer_type="sliding_attention"), default(32, 1e4))


def test_the_older_gemma_3():
    older = {
        "head_dim": 256,
        "rope_theta": 1_000_000.0,
        "rope_local_base_freq": 10_000.0,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }
    assert_same(from_config(older, 256, layer_type="full_attention"), linear(256, 1e6, factor=8))
    assert_same(from_config(older, 256, layer_type="sliding_attention"), default(256))
    unscaled = {**older, "rope_scaling": None}
    assert_same(from_config(unscaled, 256, layer_type="full_attention"), default(256, 1e6))


def test_the_width_that_a_configuration_names():
    rope = {"rope_parameters": {"rope_theta": 1e4}}
    for config, widths in (
        ({"head_dim": 64}, [64]),
        ({"head_dim": None}, [2, 64, 256]),
        ({"qk_rope_head_dim": 64, "head_dim": 192}, [64]),
        ({"head_dim": 256, "global_head_dim": 512}, [256, 512]),
        ({"head_dim": 256, "per_layer_config": {"05": {"head_dim": 512}, "06": {}}}, [256, 512]),
    ):
        for width in widths:
            assert_same(from_config(config | rope, width), default(width))
    for config in (
        {"head_dim": 64},
        {"qk_rope_head_dim": 64, "head_dim": 128},
        {"per_layer_config": {"0": {"head_dim": 64}}},
    ):
        with pytest.raises(ValueError, match="head_dim must be what config says, 64, got 128"):
            from_config(config | rope, 128)


@pytest.mark.parametrize(("rotary_dim", "head_dim"), [(64, 256), (30, 44), (62, 78), (52, 90), (44, 44)])
def test_a_number_of_dimensions_that_rotate(rotary_dim, head_dim):
    config = {"rotary_dim": rotary_dim, "n_embd": 4 * head_dim, "n_head": 4}
    assert_same(from_config(config, head_dim), default(rotary_dim))


YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4096}
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
LAYERS = {"full_attention": YARN, "sliding_attention": {"rope_theta": 1e4}, "none": None}


@pytest.mark.parametrize(("config", "error", "message"), [
        # types
    ({"rope_type": "Yarn"}, ValueError, "rope_type must be one of .*, got 'Yarn'"),
    ({"rope_type": 3}, TypeError, "rope_type must be a string in config, got 3"),
    ({"rope_type": ["yarn"]}, TypeError, "rope_type must be a string in config"),
    ({**YARN, "type": "linear"}, ValueError, "contradicts itself: rope_type is 'yarn' and type is 'linear'"),
        # keys
    ({**LINEAR, "attention_factor": 1.0}, ValueError, r"unknown keys \['attention_factor'\] for rope_type 'linear'"),
    ({**YARN, "beta": 32}, ValueError, r"unknown keys \['beta'\] for rope_type 'yarn', known are .*'beta_fast'"),
    ({**LINEAR, 3: 4}, ValueError, r"unknown keys \['3'\]"),
    ({"rope_theta": 1e4, "factor": 4.0}, ValueError, r"unknown keys \['factor'\] for rope_type 'default'"),
    ({"rope_theta": 1e4, "rope_typ": "yarn"}, ValueError, r"not understood, \['rope_typ'\]; understood are"),
    ({"rope_theta": 1e4, "rotary_share": 0.25, "hidden": 8}, ValueError, r"not understood, \['rotary_share'\]"),
        # missing
    ({"rope_type": "linear"}, ValueError, "config lacks factor for rope_type 'linear'"),
    ({"rope_type": "linear", "factor": None}, ValueError, "config lacks factor for rope_type 'linear'"),
    ({"type": "dynamic", "factor": 4.0}, ValueError, "config lacks original_max_position_embeddings or max_posit"),
    ({"type": "yarn", "factor": 4.0}, ValueError, "config lacks original_max_position_embeddings or max_position"),
    ({"type": "yarn", LENGTH: 4096}, ValueError, "config lacks factor for rope_type 'yarn', got .*; null sta"),
    ({"type": "longrope", **LISTS, LENGTH: 64}, ValueError, "config lacks factor for rope_type 'longrope', or both"),
    ({"type": "longrope", "factor": 4, LENGTH: 64}, ValueError, "config lacks short_factor, long_factor"),
    ({"type": "llama3", "factor": 8, LENGTH: 64}, ValueError, "lacks rope_theta, low_freq_factor, high_freq_factor"),
    ({"type": "proportional"}, ValueError, "config lacks rope_theta for rope_type 'proportional'"),
    ({"rope_scaling": {"type": "linear", "factor": 4.0}}, ValueError, "config lacks rope_theta for rope_type 'lin"),
    ({"rope_parameters": None}, ValueError, "config lacks rope_theta for rope_type 'default'"),
    ({"rope_parameters": {}}, ValueError, "config lacks rope_theta for rope_type 'default'"),
    ({"model_type": "bert", "hidden_size": 768}, ValueError, "config lacks rope_theta"),
    ({"full_attention": None}, ValueError, "config lacks rope_theta"),
        # contradictions
    ({"rope_theta": 1e6, "rope_parameters": YARN}, ValueError, "rope_theta is 10000.0 in the rope dict.*, 1000000.0 o"),

    ({"partial_rotary_factor": 0.5, "rope_parameters": {**YARN, "partial_rotary_factor": 1.0}}, ValueError, "partial"),
    ({LENGTH: 2048, "rope_parameters": YARN}, ValueError, "original_max_position_embeddings is 4096 in .*, 2048 out"),
    ({"rope_parameters": YARN, "rope_scaling": LINEAR}, ValueError, "rope_parameters and rope_scaling differ"),
    ({"rope_parameters": YARN, "rope_scaling": {**YARN, "rope_theta": 5.0}}, ValueError, "and rope_scaling differ"),
    ({"rope_parameters": YARN, "rope_scaling": {**YARN, "beta_fast": 16}}, ValueError, "and rope_scaling differ"),
    ({"rope_parameters": LAYERS, "rope_scaling": LINEAR}, ValueError, "rope_parameters and rope_scaling differ"),
    ({"rope_parameters": LAYERS, "rope_local_base_freq": 1e4}, ValueError, "both rope_local_base_freq, 10000.0"),
    ({"max_position_embeddings": 4096, "rope_parameters": {**LINEAR, "rope_type": "dynamic", LENGTH: 2048}}, ValueError,
        "dynamic scales from one length, but original_max_position_embeddings is 2048 and max_position_embedd"),
        # values
    ({"rope_scaling": "yarn"}, TypeError, "rope_scaling must be a mapping or None in config, got 'yarn'"),
    ({"rope_parameters": [YARN]}, TypeError, "rope_parameters must be a mapping or None in config"),
    ({**LINEAR, "factor": 0.5}, ValueError, "factor must be at least 1 .*, got 0.5"),
    ({**YARN, "beta_fast": 0.5}, ValueError, "beta_fast must not be below beta_slow, got 0.5 and 1.0"),
    ({**YARN, "mscale": 0.7}, ValueError, "mscale and mscale_all_dim must be given together"),
    ({"type": "longrope", **PHI3, "factor": 4, LENGTH: 64}, ValueError, r"short_factor must have shape \(32,\)"),
    ({**LINEAR, "partial_rotary_factor": 0.05}, ValueError, "partial_rotary_factor 0.05 leaves 3 "),
    ({"max_position_embeddings": 1024, "rope_parameters": {**YARN, "factor": None}}, ValueError, "factor .* 0.25"),
        # layers
    (LAYERS, ValueError, r"layer_type must be one of \('full_attention', 'sliding_attention', 'none'\), got None"),
    ({"rope_parameters": LAYERS}, ValueError, r"layer_type must be one of \('full_attention', .*, got None"),
    ({**LINEAR, "full_attention": YARN}, ValueError, "config mixes parameters of layers with parameters of all"),
])  # fmt: skip
def test_what_a_configuration_must_not_say(config, error, message):
    before = copy.deepcopy(config)
    with pytest.raises(error, match=message):
        from_config(config, 64)
    assert config == before


@pytest.mark.parametrize(
    ("config", "layer_type", "message"),
    [
        (YARN, "full_attention", "layer_type must be None, for config has one rotation .*, got 'full_attention'"),
        (LAYERS, "linear_attention", "layer_type must be one of .*, got 'linear_attention'"),
        (LAYERS, "none", "layer_type must be one that rotates; config has null for 'none'"),
        ({"a": {"rope_type": "linear", "factor": 2.0}}, "a", "config lacks rope_theta for rope_type 'linear'"),
        ({"a": {"b": {"rope_theta": 1e4}}}, "a", "config must not have mappings inside the parameters of 'a'"),
        (
            {LENGTH: 2048, "rope_parameters": {"a": {"rope_type": "yarn", "rope_theta": 1e4, "factor": 2.0}}},
            "a",
            "config must have original_max_position_embeddings inside the parameters of each layer, got 2048 outside",
        ),
    ],
)
def test_what_a_configuration_per_layer_must_not_say(config, layer_type, message):
    with pytest.raises(ValueError, match=message):
        from_config(config, 64, layer_type=layer_type)


def test_one_pair_cannot_be_scaled_dynamically():
    config = {"type": "dynamic", "factor": 2.0, LENGTH: 64}
    with pytest.raises(
        ValueError, match="head_dim 2 with .* leaves 2 dimensions to rotate, .* at least 4 for rope_type"
    ):
        from_config(config, 2)
    with pytest.raises(ValueError, match="dim must be at least 4 for NTK scaling"):
        dynamic_ntk(2, seq_len=1, original_max_position_embeddings=64)


def test_an_odd_number_of_dimensions_rotates_in_whole_pairs_as_in_transformers():
    scaled = from_config({"rope_theta": 1e4, "partial_rotary_factor": 0.5}, 42)
    np.testing.assert_allclose(scaled.inv_freq, [1e4 ** (-2 * pair / 21) for pair in range(11)], rtol=1e-13)
    with pytest.raises(ValueError, match="leaves 21 dimensions to rotate, which must be even"):
        from_config({"rope_theta": 1e4}, 21)  # 11 pairs need 22


LOFTR = {"model_type": "efficientloftr", "hidden_size": 64, "num_attention_heads": 4}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {**LOFTR, "rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}},
            "partial_rotary_factor must be half of the 4 heads of efficientloftr, got 0.5",
        ),
        (
            {"model_type": "ernie4_5_vl_moe_text", "rope_parameters": {"rope_theta": 1e4, "mrope_section": [8, 4, 4]}},
            r"mrope_section must have as many pairs of height as of width, got \[8, 4, 4\]",
        ),
        ({"model_type": "pp_doclayout_v2", "rope_theta": 1e4}, "it rotates relations, not positions"),
    ],
)
def test_what_models_of_their_own_way_must_not_say(config, message):
    with pytest.raises(ValueError, match=message):
        from_config(config, 64)

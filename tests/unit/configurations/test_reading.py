"""posenc.configuration and from_config: each scaling in all forms that a configuration has, and what is refused."""

import copy
from types import MappingProxyType

import numpy as np
import pytest

from posenc import Rope
from posenc.configuration import NoRotation, read_configuration
from posenc.scaling import default, from_config, linear, longrope, yarn
from tests.unit.rope_configurations import LENGTH, LISTS, PHI3, assert_same, configured


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
    if rope.get("truncate") is False:
        return  # which transformers overlooks per layer
    # Per layer, beside a layer of another kind.
    layers = {"rope_parameters": {"full_attention": rope, "sliding_attention": {"rope_theta": 100.0}, "none": None}}
    assert_same(from_config({**whole, **layers}, 64, seq_len, layer_type="full_attention"), expected())
    assert_same(from_config({**whole, **layers}, 64, seq_len, layer_type="sliding_attention"), default(64, 100.0))
    assert from_config(whole, 64, seq_len, like=np.ones(1)).inv_freq.dtype == np.float64


def test_a_rope_dictionary_on_its_own():
    assert_same(from_config({"rope_theta": 1e6}, 64), default(64, 1e6))
    older = {"type": "su", "rope_type": "longrope", **LISTS, "attention_factor": 1.5, LENGTH: 64}
    assert_same(from_config(older, 64), longrope(64, **LISTS, seq_len=1, attention_factor=1.5, **{LENGTH: 64}))


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


@pytest.mark.filterwarnings("ignore:config has keys that nothing reads")
def test_a_truncate_per_layer_is_overlooked_as_in_transformers():
    rope = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4096, "truncate": False}
    config = {"rope_parameters": {"full_attention": rope}, "head_dim": 64}
    assert_same(from_config(config, layer_type="full_attention"), yarn(64, factor=4, **{LENGTH: 4096}))
    assert read_configuration(config).ignored == ("rope_parameters.full_attention.truncate",)


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
    layers = {"rope_parameters": {"full_attention": {"rope_theta": 1e4}, "sliding_attention": {"rope_theta": 1e4}}}
    for config, layer_type, width in (
        ({"head_dim": 64} | rope, None, 64),
        ({"head_dim": None, "hidden_size": 64, "num_attention_heads": 2} | rope, None, 32),
        ({"qk_rope_head_dim": 64, "head_dim": 192} | rope, None, 64),
        ({"head_dim": 256, "global_head_dim": 512} | layers, "full_attention", 512),
        ({"head_dim": 256, "global_head_dim": 512} | layers, "sliding_attention", 256),
        ({"head_dim": 256, "per_layer_config": {"05": {"head_dim": 512}, "06": {}}} | layers, "full_attention", 512),
        ({"model_type": "qwen3", "hidden_size": 1024, "num_attention_heads": 16} | rope, None, 128),
        ({"model_type": "llama"} | rope, None, 128),
    ):
        assert_same(from_config(config, layer_type=layer_type), default(width))
        with pytest.raises(ValueError, match=f"head_dim must be what config says, {width}, got 96"):
            from_config(config, 96, layer_type=layer_type)
    with pytest.raises(ValueError, match="config must have head_dim, or hidden_size and num_attention_heads"):
        from_config(rope)


@pytest.mark.parametrize(("rotary_dim", "head_dim"), [(64, 256), (62, 78), (44, 44)])
def test_a_number_of_dimensions_that_rotate(rotary_dim, head_dim):
    config = {"model_type": "gptj", "rotary_dim": rotary_dim, "n_embd": 4 * head_dim, "n_head": 4}
    assert_same(from_config(config), default(rotary_dim))


@pytest.mark.parametrize(
    ("config", "layout", "rotary_dim"),
    [
        ({"model_type": "cohere"}, "interleaved", 128),
        ({"model_type": "glm"}, "interleaved", 64),
        ({"model_type": "deepseek_v3"}, "interleaved", 64),
        ({"model_type": "deepseek_v3", "rope_interleave": False}, "half-split", 64),
        ({"model_type": "llava", "text_config": {"model_type": "cohere2"}}, "interleaved", 128),
        ({"model_type": "chatglm", "kv_channels": 128, "rope_ratio": 500}, "interleaved", 64),
        ({"model_type": "none of transformers", "rope_theta": 1e4, "head_dim": 64}, "half-split", 64),
    ],
)
def test_layout_and_width_follow_the_model_type(config, layout, rotary_dim):
    rope = Rope.from_config(config)
    assert (rope.layout, rope.rotary_dim) == (layout, rotary_dim)
    assert Rope.from_config(config, layout="half-split").layout == "half-split"


def test_the_base_is_that_of_the_class_where_the_file_has_none():
    for kind, base in (("llama", 1e4), ("mixtral", 1e6), ("smollm3", 2e6), ("chatglm", 1e4)):
        assert read_configuration({"model_type": kind}).of().parameters["rope_theta"] == base
    assert read_configuration({"model_type": "chatglm", "rope_ratio": 500}).of().parameters["rope_theta"] == 5e6
    with pytest.warns(UserWarning, match="config lacks rope_theta and names no known model_type: 10000 is assumed"):
        assert_same(from_config({"rope_scaling": {"type": "linear", "factor": 4.0}}, 64), linear(64, factor=4))


def test_alpha_is_folded_into_the_base_where_the_class_does_so():
    config = {"model_type": "hunyuan_v1_dense", "head_dim": 128, "rope_theta": 1e4}
    scaling = {"rope_scaling": {"type": "dynamic", "factor": 1.0, "alpha": 1000.0}}
    assert_same(from_config(config | scaling, seq_len=10**6), default(128, 1e4 * 1000 ** (128 / 126)))


@pytest.mark.parametrize(
    ("config", "unrotated"),
    [
        ({"model_type": "cohere2"}, ("full_attention",)),
        ({"model_type": "exaone4"}, ()),
        ({"model_type": "smollm3", "num_hidden_layers": 36}, ("9 of 36 layers",)),
        ({"model_type": "llama4_text", "no_rope_layers": [1, 1, 1, 0], "num_hidden_layers": 4}, ("1 of 4 layers",)),
        ({"model_type": "granite_swa", "layer_rope_theta": [0, 1e4, 1e4, 0]}, ("2 of 4 layers",)),
    ],
)
def test_what_does_not_rotate_is_a_fact(config, unrotated):
    assert read_configuration(config).unrotated == unrotated


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"model_type": "gpt2"}, "'gpt2': nothing in its attention rotates"),
        ({"model_type": "nemotron_h", "rope_theta": 1e4, "head_dim": 128}, "nothing in its attention rotates"),
        ({"model_type": "falcon", "alibi": True}, "its alibi is true, and it rotates only where that is false"),
        ({"model_type": "granite_swa", "layer_rope_theta": [1e4, 5e5, 0]}, "its layers differ in a way that no layer"),
        ({"model_type": "blt"}, "its code rotates by more than its configuration says"),
        ({"model_type": "yuan", "hidden_size": 64}, "no key of it speaks of rotation, and its model_type is not known"),
    ],
)
def test_a_model_without_rotation_is_a_fact_and_no_rotation(config, why):
    assert why.split(": ")[-1] in read_configuration(config).without
    for ask in (from_config, Rope.from_config):
        with pytest.raises(NoRotation, match=why):
            ask(config)


YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4096}
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
LAYERS = {"full_attention": YARN, "sliding_attention": {"rope_theta": 1e4}, "none": None}


@pytest.mark.parametrize(("config", "ignored"), [
    ({**LINEAR, "attention_factor": 1.0}, "attention_factor"),
    ({**YARN, "type": "linear"}, "type"),
    ({"rope_theta": 1e4, "rope_typ": "yarn"}, "rope_typ"),
    ({"rope_theta": 1e6, "rope_parameters": YARN}, "rope_theta"),
    ({LENGTH: 2048, "rope_parameters": YARN}, f"rope_parameters.{LENGTH}"),
    ({"rope_parameters": YARN, "rope_scaling": LINEAR}, "rope_parameters"),
    ({"rope_parameters": LAYERS | {"factor": 2.0}}, "rope_parameters.factor"),
    ({"model_type": "gptj", "rope_scaling": {"rope_type": "gptj"}}, "rope_scaling"),
    ({"model_type": "phi", "rotary_dim": 24}, "rotary_dim"),
    ({"head_dim": 64, "rope_theta": 1e4, "mrope_section": [8, 12, 12]}, "mrope_section"),
])  # fmt: skip
def test_what_nothing_reads_is_told_and_does_not_stop(config, ignored):
    with pytest.warns(UserWarning, match=f"config has keys that nothing reads: {ignored}"):
        found = read_configuration(config)
    assert found.ignored == (ignored,)
    for one in found.rotations:
        assert from_config(one, one.head_dim or 64).inv_freq[0] > 0


@pytest.mark.parametrize(("config", "error", "message"), [
        # types
    ({"rope_type": "Yarn"}, ValueError, "rope_type must be one of .*, got 'Yarn'"),
    ({"rope_type": 3}, TypeError, "rope_type must be a name in quotes in config, got 3"),
    ({"rope_theta": "10000", "rope_scaling": None}, TypeError, "rope_theta must be a number in config, got '10000'"),
    ({"rope_scaling": "yarn"}, TypeError, "rope_scaling must be an object in config, got 'yarn'"),
    ({"text_config": {"rope_theta": "1e4"}}, TypeError, "rope_theta must be a number in config, got '1e4'"),
        # missing
    ({"rope_type": "linear"}, ValueError, "config lacks factor for rope_type 'linear'"),
    ({"type": "dynamic", "factor": 4.0}, ValueError, "config lacks original_max_position_embeddings or max_posit"),
    ({"type": "longrope", "factor": 4, LENGTH: 64}, ValueError, "config lacks short_factor, long_factor"),
    ({"type": "llama3", "factor": 8, LENGTH: 64}, ValueError, "lacks low_freq_factor, high_freq_factor, rope_theta"),
        # values
    ({**LINEAR, "factor": 0.5}, ValueError, "factor must be at least 1 .*, got 0.5"),
    ({"type": "longrope", **PHI3, "factor": 4, LENGTH: 64}, ValueError, r"short_factor must have shape \(32,\)"),
    ({**LINEAR, "partial_rotary_factor": 0.05}, ValueError, "partial_rotary_factor 0.05 leaves 3 "),
    ({"max_position_embeddings": 1024, "rope_parameters": {**YARN, "factor": None}}, ValueError, "factor .* 0.25"),
        # layers
    (LAYERS, ValueError, r"layer_type must be one of \('full_attention', 'sliding_attention'\), got None"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:config")
def test_what_a_configuration_must_not_say(config, error, message):
    before = copy.deepcopy(config)
    with pytest.raises(error, match=message):
        from_config(config, 64)
    assert config == before


def test_which_layers_are_wanted():
    for config, layer_type, message in (
        (YARN, "full_attention", "layer_type must be None, for config has one rotation .*, got 'full_attention'"),
        (LAYERS, "linear_attention", "layer_type must be one of .*, got 'linear_attention'"),
        (LAYERS, "none", "layer_type must be one that rotates, .*; config has none for 'none'"),
    ):
        with pytest.raises(ValueError, match=message):
            from_config(config, 64, layer_type=layer_type)


def test_an_odd_number_of_dimensions_rotates_in_whole_pairs_as_in_transformers():
    scaled = from_config({"rope_theta": 1e4, "partial_rotary_factor": 0.5}, 42)
    np.testing.assert_allclose(scaled.inv_freq, [1e4 ** (-2 * pair / 21) for pair in range(11)], rtol=1e-13)
    with pytest.raises(ValueError, match="leaves 21 dimensions to rotate, which must be even"):
        from_config({"rope_theta": 1e4}, 21)  # 11 pairs need 22

"""posenc.configs: figures of chapter 11, counts by another route, entries that hold together, and transformers."""

import dataclasses
import importlib
import math

import numpy as np
import pytest

from posenc.configs import (
    DEFAULTS,
    MODELS,
    RELEASED,
    cache_bytes_per_token,
    completed_pairs,
    model,
    released,
    scaled,
    slowest_wavelength,
    unscaled,
)
from posenc.scaling import mscale
from tools import released as tool

EVERY = {**MODELS, **DEFAULTS}
EACH_LAYER_TYPE = [(config, layer_type) for config in EVERY.values() for layer_type in config.layer_types or (None,)]
NAMES = [f"{config.name} {layer_type or ''}".strip() for config, layer_type in EACH_LAYER_TYPE]
each_layer_type = pytest.mark.parametrize(("config", "layer_type"), EACH_LAYER_TYPE, ids=NAMES)
each_model = pytest.mark.parametrize("config", EVERY.values(), ids=EVERY)


def thawed(value):
    """A read-only entry as JSON would hold it."""
    if hasattr(value, "items"):
        return {key: thawed(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def test_qwen3_figures():
    """C222 to C228 and S71: the slowest pair, its turn, pairs without a full turn, and the cache."""
    config = model("Qwen3-8B")
    assert scaled(config).inv_freq[-1] == pytest.approx(1e6 ** (-126 / 128), rel=1e-14)
    assert round(slowest_wavelength(config)) == 5_063_256
    assert [64 - completed_pairs(config, length) for length in (None, 131_072)] == [24, 17]
    assert cache_bytes_per_token(config) * 32_768 == 4.5 * 2**30
    assert (config.max_position_embeddings, config.original_max_position_embeddings) == (40_960, 32_768)


@pytest.mark.parametrize(
    ("name", "in_bytes"),
    [
        ("Llama-2-7b-hf", 2 * 32 * 128 * 32 * 2),
        ("gemma-2-9b", 2 * 8 * 256 * 42 * 2),
        ("DeepSeek-V3", (512 + 64) * 61 * 2),  # a latent vector and one rotated key, not 128 heads
    ],
)
def test_cache_by_hand(name, in_bytes):
    assert cache_bytes_per_token(model(name)) == in_bytes
    assert cache_bytes_per_token(model(name), 1) == in_bytes / 2
    assert cache_bytes_per_token(model(name), 0.5) == in_bytes / 4
    assert isinstance(cache_bytes_per_token(model(name)), int)


@pytest.mark.parametrize(
    ("name", "rotary_dim"),
    [("gpt-neox-20b", 24), ("Phi-3-mini-128k-instruct", 96), ("gemma-3-4b-it", 256), ("DeepSeek-V3", 64)],
)
def test_dimensions_that_rotate(name, rotary_dim):
    assert model(name).rotary_dim == rotary_dim


@each_layer_type
def test_derived_figures_by_another_route(config, layer_type):
    """Wavelengths by hand, pairs counted one by one, at the trained length, at another and at the shortest."""
    frequencies = [theta for theta in scaled(config, layer_type=layer_type).inv_freq if theta]
    if layer_type in (None, *config.layer_types[:1]):
        assert 2 * len(frequencies) == config.rotary_dim
    assert slowest_wavelength(config, layer_type=layer_type) == pytest.approx(2 * math.pi / min(frequencies), rel=1e-14)
    trained = config.original_max_position_embeddings
    for given, length in ((None, trained), (1000, 1000), (1, 1))[trained is None :]:
        completed = sum(length * theta >= 2 * math.pi for theta in unscaled(config, layer_type).inv_freq)
        assert completed_pairs(config, given, layer_type) == completed
    assert completed_pairs(config, 1, layer_type) == 0
    assert completed_pairs(config, 1e12, layer_type) == len(frequencies)


@each_layer_type
def test_training_began_with_a_geometric_list(config, layer_type):
    """The unscaled list is base^(−2i/d) of the base in the entry; scaling slows pairs and speeds none up."""
    parameters = config.rope.get("rope_parameters", {})
    rope = {**config.rope, **parameters.get(layer_type, parameters)}
    older = "rope_local_base_freq" in rope and layer_type == "sliding_attention"
    base = rope["rope_local_base_freq" if older else "rope_theta"]
    frequencies, factor = unscaled(config, layer_type)
    turning = int(np.sum(frequencies > 0))
    dim = config.global_head_dim if rope.get("rope_type") == "proportional" else 2 * turning
    np.testing.assert_allclose(frequencies[:turning], [base ** (-2 * i / dim) for i in range(turning)], rtol=1e-14)
    assert factor == 1
    assert np.all(scaled(config, layer_type=layer_type).inv_freq <= frequencies)


def test_gemma_3_scales_its_global_layers_alone():
    config = model("gemma-3-4b-it")
    assert config.layer_types == ("full_attention", "sliding_attention")
    wide, near = (scaled(config, layer_type=layer_type) for layer_type in config.layer_types)
    np.testing.assert_allclose(wide.inv_freq, unscaled(config, "full_attention").inv_freq / 8, rtol=1e-14)
    np.testing.assert_allclose(near.inv_freq, unscaled(config, "sliding_attention").inv_freq, rtol=1e-14)
    assert wide.inv_freq[0] == pytest.approx(1 / 8)
    with pytest.raises(ValueError, match="layer_type must be one of"):
        scaled(config)


def test_gemma_4_lets_three_quarters_of_its_pairs_stand_still():
    config = model("Gemma4TextConfig")
    assert config.layer_types == ("full_attention", "sliding_attention")
    assert config.rotary_dim == 128
    wide, near = (scaled(config, layer_type=layer_type).inv_freq for layer_type in config.layer_types)
    assert (len(wide), np.count_nonzero(wide), len(near)) == (256, 64, 128)
    assert wide[63] == pytest.approx(1e6 ** (-126 / 512), rel=1e-14)
    assert slowest_wavelength(config, layer_type="full_attention") == pytest.approx(2 * math.pi / wide[63])


def test_uneven_caches_are_not_counted():
    for name in ("Gemma4TextConfig", "DeepseekV4Config"):
        with pytest.raises(ValueError, match=f"must keep as much of a token in every layer, got {name}"):
            cache_bytes_per_token(model(name))


def test_where_no_trained_length_is_known_one_must_be_given():
    with pytest.raises(ValueError, match="length must be given for SmolLM3Config"):
        completed_pairs(model("SmolLM3Config"))
    assert completed_pairs(model("SmolLM3Config"), 32_768) == 38


def test_phi_3_has_a_list_for_each_side_of_its_trained_length():
    config = model("Phi-3-mini-128k-instruct")
    lists = config.rope["rope_scaling"]
    unchanged = unscaled(config).inv_freq
    for length, name in ((None, "short_factor"), (4096, "short_factor"), (4097, "long_factor")):
        frequencies, factor = scaled(config, length)
        np.testing.assert_allclose(unchanged / frequencies, lists[name], rtol=1e-14)
        assert factor == pytest.approx(math.sqrt(1 + math.log(32) / math.log(4096)), rel=1e-14)
    assert slowest_wavelength(config, 4097) == pytest.approx(64.76 / 3.05 * slowest_wavelength(config), rel=1e-6)


def test_llama_3_1_keeps_the_fast_pairs_of_llama_3():
    new, old = model("Llama-3.1-8B"), model("Meta-Llama-3-8B")
    ratio = scaled(old).inv_freq / scaled(new).inv_freq
    assert ratio[0] == 1
    assert ratio[-1] == pytest.approx(8, rel=1e-14)
    np.testing.assert_array_equal(unscaled(new).inv_freq, scaled(old).inv_freq)
    assert completed_pairs(new) == completed_pairs(old)


def test_deepseek_leaves_its_temperature_to_the_scale():
    """Its two mscales cancel in cosines and sines; what is left multiplies 1/√192 (`posenc.scaling.mscale`)."""
    for name, weight in (("DeepSeek-V2-Lite", 0.707), ("DeepSeek-V3", 1.0)):
        config = model(name)
        assert scaled(config).attention_factor == 1
        scaling = config.rope["rope_scaling"]
        assert mscale(scaling["factor"], scaling["mscale_all_dim"]) == pytest.approx(1 + 0.1 * weight * math.log(40))


@each_model
def test_entries_hold_together(config):
    assert EVERY[config.name] is config is model(config.name)
    assert config.n_heads % config.n_key_value_heads == 0
    assert 0 < config.rotary_dim <= config.head_dim
    assert config.rotary_dim % 2 == 0
    assert (config.original_max_position_embeddings or 1) <= config.max_position_embeddings
    assert config.rope["max_position_embeddings"] == config.max_position_embeddings
    assert (config.kv_lora_rank is None) == (config.qk_rope_head_dim is None)
    scaling = config.rope.get("rope_scaling") or config.rope.get("rope_parameters", {})
    if config.layer_types == () and scaling and scaling.get("rope_type") != "default":
        said = scaling.get("original_max_position_embeddings", config.rope.get("original_max_position_embeddings"))
        assert said == config.original_max_position_embeddings


def test_released_files_are_the_copies():
    """What ships is what `python -m tools.released` takes from the copies of the files."""
    assert tool.FILE.read_text(encoding="utf-8") == tool.text()
    for name, source in RELEASED.items():
        assert len(source.partition("@")[2].partition(":")[0]) == 40, "a commit"
        assert released(name) == tool.released(tool.MODELS[name])
    with pytest.raises(ValueError, match="SmolLM2-135M.*Qwen3-8B"):
        released("Qwen4")


def test_nothing_can_be_changed():
    config = model("Phi-3-mini-128k-instruct")
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.n_heads = 1
    with pytest.raises(TypeError):
        config.rope["rope_theta"] = 1.0
    with pytest.raises(TypeError):
        config.rope["rope_scaling"]["short_factor"][0] = 2.0
    with pytest.raises(TypeError):
        MODELS[config.name] = config


@pytest.mark.torch
@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_of_classes(name):
    """An entry of DEFAULTS is what its class has when it is told nothing, and rotates as the model's code does."""
    import transformers

    config, theirs = model(name), getattr(transformers, name)()
    assert config.n_heads == theirs.num_attention_heads
    assert config.n_key_value_heads == theirs.num_key_value_heads
    assert config.n_layers == theirs.num_hidden_layers
    assert config.max_position_embeddings == theirs.max_position_embeddings
    assert config.head_dim == (theirs.to_dict().get("head_dim") or theirs.hidden_size // theirs.num_attention_heads)
    assert thawed(config.rope["rope_parameters"]) == theirs.rope_parameters
    assert config.rope.get("no_rope_layer_interval") == getattr(theirs, "no_rope_layer_interval", None)
    assert config.compressed == hasattr(theirs, "compress_rates")
    if config.global_head_dim:
        wide = {layer["head_dim"] for layer in theirs.to_dict()["per_layer_config"].values()}
        assert wide == {config.global_head_dim}
    code = importlib.import_module(theirs.__module__.replace("configuration", "modeling"))
    rotary = getattr(code, name.replace("Config", "RotaryEmbedding"))(theirs)
    for layer_type in config.layer_types or (None,):
        ours, prefix = scaled(config, 200_000, layer_type), f"{layer_type}_" if layer_type else ""
        np.testing.assert_allclose(ours.inv_freq, getattr(rotary, f"{prefix}inv_freq").numpy(), rtol=1e-6)
        assert ours.attention_factor == pytest.approx(getattr(rotary, f"{prefix}attention_scaling"), rel=1e-12)


@pytest.mark.torch
def test_defaults_of_transformers():
    """Where a class of transformers has the model's numbers as its defaults, the entry has the same."""
    import transformers

    for name, theirs in (
        ("gpt-neox-20b", transformers.GPTNeoXConfig()),
        ("DeepSeek-V3", transformers.DeepseekV3Config()),
        ("Phi-3-mini-128k-instruct", transformers.Phi3Config()),
        ("Llama-2-7b-hf", transformers.LlamaConfig()),
        ("Mistral-7B-v0.1", transformers.MistralConfig()),
    ):
        config = model(name)
        assert config.n_heads == theirs.num_attention_heads
        assert config.n_key_value_heads == getattr(theirs, "num_key_value_heads", config.n_heads)
        assert config.n_layers == theirs.num_hidden_layers
        width = config.head_dim if config.qk_rope_head_dim is None else theirs.qk_rope_head_dim
        assert width == getattr(theirs, "head_dim", theirs.hidden_size // theirs.num_attention_heads)
        assert theirs.rope_parameters["rope_theta"] == 10_000
    assert transformers.GPTNeoXConfig().rope_parameters["partial_rotary_factor"] == 0.25

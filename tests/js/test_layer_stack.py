"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import configs
from posenc.analysis import decay, unseen_angles
from posenc.attention import attention
from posenc.frequencies import angles
from posenc.rotary import rotate
from posenc.widgets import LayerStack
from tests.explorables import shown
from tests.js.oracles.layer_stack import (
    ATTN_SCALE,
    FLOOR_SCALE,
    STACKS,
    TOLERANCE,
    frequencies_of,
    new_pairs,
    query_scale,
)


def test_the_sums_that_strips_show_are_those_of_the_package(arithmetic):
    """Of pairs of which one does not rotate, distance by distance, and their minimum and maximum over a few."""
    found = arithmetic(
        """(() => {
          const sums = new A.DecayTable(Float64Array.of(0.7, 0.1, 0));
          sums.fill(200, Infinity);
          return { scores: sums.score.slice(0, 200), between: sums.between(20, 60) };
        })()"""
    )
    expected = decay(np.arange(200), np.array([0.7, 0.1, 0.0]))
    np.testing.assert_allclose(found["scores"], expected, atol=1e-9)
    np.testing.assert_allclose(found["between"], [expected[20:60].min(), expected[20:60].max()], atol=1e-9)


MODELS = tuple(LayerStack.catalogue["controls"]["model"]["options"])


def attended(letter: str, setting: dict[str, object], at: int) -> float:
    """The weight of the matching key in an attention of the package, in one layer of a kind, as wide as the model's."""
    widget = LayerStack(**setting)
    numbers = STACKS[widget.model]["local" if letter in "rn" else "full"]
    pairs, keys = numbers["pairs"], widget.context
    frequencies = frequencies_of(numbers, "all")
    first = pairs // 2 if widget.match_pairs == "slow" else 0
    vector = np.zeros(2 * pairs)
    vector[2 * first :] = 1.0  # interleaved: pair i is at 2i and 2i + 1
    vector *= np.sqrt(widget.margin / vector.sum() * np.sqrt(2 * pairs))  # so that q·k/√d is the margin
    k = np.zeros((keys, 2 * pairs))
    k[keys - 1 - at] = vector
    q = vector[None]
    if letter in "Rr":
        k = rotate(k, angles(np.arange(keys), frequencies), "interleaved")
        q = rotate(q, angles(np.array([keys - 1]), frequencies), "interleaved")
    elif widget.temperature:
        q = q * query_scale(keys)
    window = STACKS[widget.model]["window"] if letter in "rn" else keys
    mask = np.arange(keys)[None] > keys - 1 - window
    return float(attention(q, k, np.zeros((keys, 1)), mask=mask, causal=True).weights[0, keys - 1 - at])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("match_pairs", ["all", "slow"])
def test_shares_are_those_of_an_attention(model, match_pairs):
    setting = {
        "model": model,
        "match_pairs": match_pairs,
        "context": 9000,
        "margin": 10.5,
        "layers": "RrNn",
        "temperature": True,
    }
    for at in (37, 511, 4096, 8999):
        values = shown(LayerStack, **setting, distance=at).values
        expected = [attended(letter, setting, at) for letter in "RrNn"]
        np.testing.assert_allclose(values["share"], expected, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_new_angles_are_those_of_the_analysis(model):
    every, trained = frequencies_of(STACKS[model]["full"], "all"), 1000
    # Pairs that have turned once may leave gaps, which are not counted.
    frequencies = every[(trained - 1) * every < 2 * np.pi]
    counted = [new_pairs(distance, every, trained) for distance in range(trained, 4 * trained)]
    expected = unseen_angles(frequencies, trained, 4 * trained, TOLERANCE) * 3 * trained
    assert sum(counted) == pytest.approx(expected.sum(), abs=1e-6)


# ---- the numbers -------------------------------------------------------------------------------------------------


def layer_kinds(config) -> str:
    """The letters of a configuration's layers, by what transformers does with them."""
    if config.model_type == "cohere2":  # rotates where there is a window, as Cohere2Attention says
        return "".join("r" if kind == "sliding_attention" else "N" for kind in config.layer_types)
    rotating = getattr(config, "no_rope_layers", None) or [1] * config.num_hidden_layers
    kinds = zip(rotating, config.layer_types, strict=True)
    letters = {(1, True): "R", (0, True): "N", (1, False): "r", (0, False): "n"}
    return "".join(letters[bool(turns), kind == "full_attention"] for turns, kind in kinds)


def configuration(model: str):
    """A configuration of transformers by default."""
    import transformers  # here: without torch it has no such names

    names = {"smollm3": "SmolLM3Config", "llama4": "Llama4TextConfig", "cohere2": "Cohere2Config"}
    return getattr(transformers, {**names, "gemma4": "Gemma4TextConfig"}[model])()


def numbers_of(width: int, base: float, part: float = 1.0) -> dict[str, float]:
    return {"pairs": width // 2, "turning": int(part * width // 2), "base": base}


# Trained length and base of SmolLM3-3B, Llama 4 Scout and Command R7B as they were released; the classes' own differ.
RELEASED = {"smollm3": (65_536, 5e6), "llama4": (262_144, 5e5), "cohere2": (131_072, 5e4)}


@pytest.mark.torch
@pytest.mark.parametrize("model", ["smollm3", "llama4", "cohere2", "gemma4"])
def test_numbers_are_those_of_transformers(model):
    config, stack = configuration(model), STACKS[model]
    kinds = layer_kinds(config)
    assert kinds == (len(kinds) * stack["period"])[: len(kinds)]
    assert shown(LayerStack, model=model).values["pattern"] == kinds[: stack["count"]]
    length, base = RELEASED.get(model, (config.max_position_embeddings, None))
    assert stack["length"] == length
    windows = {"llama4": "attention_chunk_size", "cohere2": "sliding_window", "gemma4": "sliding_window"}
    if model in windows:
        assert stack["window"] == getattr(config, windows[model])
    else:
        assert config.sliding_window is None
    if model == "gemma4":
        full, local = (config.rope_parameters[f"{kind}_attention"] for kind in ("full", "sliding"))
        width = {kind: config.per_layer_config[k].head_dim for k, kind in enumerate(kinds)}
        assert full["rope_type"] == "proportional"
        assert stack["full"] == numbers_of(width["R"], full["rope_theta"], full["partial_rotary_factor"])
        assert stack["local"] == numbers_of(width["r"], local["rope_theta"])
    else:
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        assert stack["full"] == stack["local"] == numbers_of(width, base)


@pytest.mark.torch
def test_the_temperature_is_that_of_transformers():
    config = configuration("llama4")
    assert (config.floor_scale, config.attn_scale) == (FLOOR_SCALE, ATTN_SCALE)
    assert config.attn_temperature_tuning


def test_the_numbers_of_qwen3_are_those_of_its_card():
    config, stack = configs.model("Qwen3-8B"), STACKS["qwen3"]
    assert stack["length"] == config.original_max_position_embeddings
    assert stack["full"] == stack["local"] == numbers_of(config.head_dim, config.rope["rope_theta"])
    assert set(stack["period"]) == {"R"}


# ---- what it teaches ---------------------------------------------------------------------------------------------


def test_without_rope_no_layer_encodes_distance():
    for distance in (1, 50, 60_000):
        widget = shown(LayerStack, layers="NNNN", distance=distance)
        assert np.ptp([curve[:16] for curve in widget.values["curve"]]) == 0
        assert "no layer encodes its distance." in widget.finding


def test_attention_dilution_hides_the_match_and_the_temperature_brings_it_back():
    steps = {step: shown(LayerStack, **setting).values["share"][3] for step, setting in LayerStack.story().items()}
    assert steps["windows"] < 0.2
    assert steps["temperature"] > 0.95


def test_only_the_nope_layer_finds_the_key_of_the_opening():
    values = shown(LayerStack).values
    assert [share > 0.5 for share in values["share"]] == [letter == "N" for letter in values["pattern"]]

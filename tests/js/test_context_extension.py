"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import configs
from posenc.widgets import ContextExtension
from tests.explorables import shown


def test_the_lists_are_those_of_the_published_configuration():
    published = configs.model("Phi-3-mini-128k-instruct").rope["rope_scaling"]
    data = ContextExtension.data()
    assert (tuple(data["short"]), tuple(data["long"])) == (published["short_factor"], published["long_factor"])


PUBLISHED = {  # the method that each model's configuration asks for
    "Llama-2-7b-hf": "none",
    "Meta-Llama-3-8B": "none",
    "Llama-3.1-8B": "llama3",
    "Mistral-7B-v0.1": "none",
    "Phi-3-mini-128k-instruct": "longrope",
    "gemma-2-9b": "none",
    "gemma-3-4b-it": "linear",
    "Qwen3-8B": "none",
    "DeepSeek-V3": "yarn_code",
    "gpt-neox-20b": "none",
}


def test_every_preset_is_put_to_the_test():
    assert set(ContextExtension.class_traits()["model"].presets) == set(PUBLISHED)


@pytest.mark.parametrize(("name", "method"), PUBLISHED.items())
def test_a_preset_and_its_method_give_the_published_frequencies(name, method):
    config = configs.model(name)
    layer_type = config.layer_types[0] if config.layer_types else None
    widget = shown(ContextExtension, model=name, method=method)
    assert widget.setting["model"] == name
    assert widget.setting["trained"] == config.original_max_position_embeddings
    drawn = widget.values["method"]
    published = configs.scaled(config, widget.setting["used"], layer_type)
    np.testing.assert_allclose(2 * np.pi / drawn["wavelength"], published.inv_freq, rtol=1e-12)
    if name != "DeepSeek-V3":  # which moves the temperature into the scale of its products
        assert drawn["attention_factor"] == pytest.approx(published.attention_factor, rel=1e-12)


@pytest.mark.parametrize("used", [4096, 4097])
def test_longrope_has_a_list_for_short_and_one_for_long_texts(used):
    widget = shown(ContextExtension, model="Phi-3-mini-128k-instruct", method="longrope", used=used)
    lists = configs.model("Phi-3-mini-128k-instruct").rope["rope_scaling"]
    expected = lists["short_factor"] if used == 4096 else lists["long_factor"]
    np.testing.assert_allclose(widget.values["method"]["divisor"], expected, rtol=1e-12)


def test_longrope_without_a_list_is_not_drawn_and_says_why():
    widget = shown(ContextExtension, method="longrope")
    assert widget.values["method"] is None
    assert widget.finding.endswith("lists of LongRoPE have 48 pairs: choose Phi-3, their model.")


def test_the_story_is_true():
    story = {name: shown(ContextExtension, **setting) for name, setting in ContextExtension.story().items()}
    divisor = {name: widget.values["method"]["divisor"] for name, widget in story.items()}
    rotations = story["pi"].values["trained_rotations"]
    assert (divisor["unscaled"] == 1).all()
    assert story["unscaled"].facts["fresh"] > 0
    assert (divisor["pi"] > 3.99).all(), "PI divides every frequency"
    assert story["pi"].facts["fresh"] == 0
    np.testing.assert_allclose(np.diff(np.log(divisor["ntk"])), np.log(divisor["ntk"][1]))
    assert divisor["ntk"][-1] == pytest.approx(4), "the slowest gets the full factor, and"
    assert (divisor["ntk"][:-1] < 3.99).all(), "only the slowest"
    assert (divisor["yarn"][rotations > 33] == 1).all(), "YaRN keeps pairs with many rotations"
    assert (divisor["yarn"][rotations < 0.9] > 3.99).all(), "and divides those with less than one"
    assert story["yarn"].facts["fresh"] == 0
    assert story["past"].facts["fresh"] == story["past"].facts["unscaled"]


def test_it_says_when_the_factor_is_larger_than_needed():
    excess = {
        "linear": "slows pairs for nothing.",
        "ntk_aware": "others are divided by more than they need.",
        "yarn_code": "slows pairs for nothing.",
    }
    for method, said in excess.items():
        assert said not in shown(ContextExtension, method=method, factor=4.0).finding
        assert shown(ContextExtension, method=method, factor=4.1).finding.endswith(said)

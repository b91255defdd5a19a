"""ContextExtension in Python: its presets are what posenc.configs publishes, and its finding what the methods do."""

import numpy as np
import pytest

from posenc import configs
from posenc.scaling import correction_range
from posenc.widgets import ContextExtension

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
    widget = ContextExtension(model=name, method=method)
    assert widget.model == name
    assert widget.trained == config.original_max_position_embeddings
    drawn = widget.values()["method"]
    published = configs.scaled(config, widget.used, layer_type)
    np.testing.assert_allclose(2 * np.pi / drawn["wavelength"], published.inv_freq, rtol=1e-12)
    if name != "DeepSeek-V3":  # which moves the temperature into the scale of its products
        assert drawn["attention_factor"] == pytest.approx(published.attention_factor, rel=1e-12)


@pytest.mark.parametrize("used", [4096, 4097])
def test_longrope_has_a_list_for_short_and_one_for_long_texts(used):
    widget = ContextExtension(model="Phi-3-mini-128k-instruct", method="longrope", used=used)
    lists = configs.model("Phi-3-mini-128k-instruct").rope["rope_scaling"]
    expected = lists["short_factor"] if used == 4096 else lists["long_factor"]
    np.testing.assert_allclose(widget.values()["method"]["slowed"], expected, rtol=1e-12)


def test_longrope_without_a_list_is_not_drawn_and_says_why():
    widget = ContextExtension(method="longrope")
    assert widget.values()["method"] is None
    assert widget.finding().endswith("lists have 48 pairs, not 64: choose the model that is published with it.")


def test_the_story_is_true():
    story = {name: ContextExtension(**setting) for name, setting in ContextExtension.story().items()}
    drawn = {name: {one["method"]: one for one in widget.facts()["drawn"]} for name, widget in story.items()}
    first = story["slow-all"].values()
    assert (first["method"]["slowed"] > 3.99).all(), "linear slows every pair"
    slowed, turned = first["other"]["slowed"], first["trained_turns"]
    assert (slowed[turned > 33] == 1).all(), "YaRN leaves alone what turned often"
    assert (np.diff(slowed) >= 0).all()
    assert (slowed[turned < 0.9] > 3.99).all()
    bend = np.diff(np.log(story["ntk"].values()["method"]["slowed"]))
    np.testing.assert_allclose(bend, bend[0])
    assert 0 < drawn["ntk"]["ntk_aware"]["fresh"] < story["ntk"].facts()["unscaled"]
    assert [one["fresh"] for one in drawn["angles"].values()] == [0, 0]
    assert story["angles"].facts()["unscaled"] > 0
    assert 0 < drawn["llama"]["llama3"]["kept"] < 64
    assert [one["fresh"] for one in drawn["past"].values()] == [story["past"].facts()["unscaled"]] * 2


def test_ramp_is_where_pairs_make_so_many_turns():
    widget = ContextExtension(beta_fast=10, beta_slow=2.5)
    low, high = widget.values()["ramp"]
    wavelength = 2 * np.pi * 10_000 ** (np.array([low, high]) / 64)
    np.testing.assert_allclose(4096 / wavelength, [10, 2.5])
    expected = correction_range(
        128, 10_000.0, original_max_position_embeddings=4096, beta_fast=10, beta_slow=2.5, truncate=False
    )
    assert (low, high) == expected

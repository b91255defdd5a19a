"""Arithmetic of context_extension in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import configs, scaling
from posenc.scaling import correction_range
from posenc.widgets import ContextExtension
from tests.explorables import shown
from tests.js.oracles.context_extension import scaled_by

METHODS = ContextExtension.catalogue["controls"]["method"]["options"]


LIMITS = {control["name"]: control for control in ContextExtension.controls()}


OPENING = {name: getattr(ContextExtension(), name) for name in LIMITS if "least" in LIMITS[name]}


NUMBERS = {
    "base": (100.0, 500.0, 1e4, 500_000.0, 1e6, 1e7),
    "dim": (4, 6, 24, 64, 96, 128, 256),
    "factor": (1.0, 1.01, 2.0, 4.0, 8.5, 32.0, 64.0),
    "trained": (256, 257, 4096, 32_768, 131_072),
    "used": (256, 4096, 4097, 16_384, 131_072, 262_144),
    "beta_fast": (4, 5, 32, 64),
    "beta_slow": (0.1, 1.0, 2.5, 4.0),
}


def settings() -> list[dict[str, float]]:
    """Every value of each slider with the others as they open, and sixty mixtures."""
    chance = np.random.default_rng(0)
    single = [{**OPENING, name: value} for name, values in NUMBERS.items() for value in values]
    mixed = [{name: chance.choice(values).item() for name, values in NUMBERS.items()} for _ in range(60)]
    return single + mixed


def test_the_numbers_reach_both_ends_of_every_slider():
    for name, values in NUMBERS.items():
        assert (min(values), max(values)) == (LIMITS[name]["least"], LIMITS[name]["greatest"])


@pytest.mark.parametrize("method", METHODS)
def test_frequencies_equal_python(arithmetic, method):
    tried = settings()
    drawn = arithmetic(
        """x.settings.map((s) => {
          const scaled = A.scaledFrequencies(x.method, { ...s, betaFast: s.beta_fast, betaSlow: s.beta_slow }, x.lists);
          return scaled && [Array.from(scaled.frequencies), scaled.attentionFactor];
        })""",
        {"settings": tried, "method": method, "lists": ContextExtension.data()},
    )
    for setting, got in zip(tried, drawn, strict=True):
        expected = scaled_by(ContextExtension(**setting), method)
        if expected is None:
            assert got is None
            assert setting["dim"] != 96
            continue
        np.testing.assert_allclose(got[0], expected.inv_freq, rtol=1e-14, err_msg=str(setting))
        assert got[1] == pytest.approx(expected.attention_factor, rel=1e-14)


@pytest.mark.parametrize("rounded", [False, True])
def test_ramps_equal_python(arithmetic, rounded):
    tried = settings()
    drawn = arithmetic(
        """x.settings.map((s) => {
          const setting = { ...s, betaFast: s.beta_fast, betaSlow: s.beta_slow };
          const drawn = [A.correctionRange(setting, x.rounded), A.rampByTurns(setting), A.rampByPair(setting)];
          return drawn.map((values) => Array.from(values));
        })""",
        {"settings": tried, "rounded": rounded},
    )
    for setting, (pairs, by_turns, by_pair) in zip(tried, drawn, strict=True):
        bounds = {name: setting[name] for name in ("dim", "base", "beta_fast", "beta_slow")}
        bounds["original_max_position_embeddings"] = setting["trained"]
        np.testing.assert_allclose(pairs, scaling.correction_range(**bounds, truncate=rounded), atol=1e-12)
        np.testing.assert_allclose(by_turns, scaling.ramp_by_rotations(**bounds), atol=1e-12)
        np.testing.assert_allclose(by_pair, scaling.ramp_by_pair(**bounds), atol=1e-12)


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
    assert widget.finding.endswith("lists have 48 pairs, not 64: choose the model they were published with.")


def test_the_story_is_true():
    story = {name: shown(ContextExtension, **setting) for name, setting in ContextExtension.story().items()}
    drawn = {name: {one["method"]: one for one in widget.facts["drawn"]} for name, widget in story.items()}
    first = story["pi-and-yarn"].values
    assert (first["method"]["divisor"] > 3.99).all(), "linear divides every frequency"
    divisor, rotations = first["other"]["divisor"], first["trained_rotations"]
    assert (divisor[rotations > 33] == 1).all(), "YaRN leaves pairs with many rotations unchanged"
    assert (np.diff(divisor) >= 0).all()
    assert (divisor[rotations < 0.9] > 3.99).all()
    bend = np.diff(np.log(story["ntk"].values["method"]["divisor"]))
    np.testing.assert_allclose(bend, bend[0])
    assert 0 < drawn["ntk"]["ntk_aware"]["fresh"] < story["ntk"].facts["unscaled"]
    assert [one["fresh"] for one in drawn["angles"].values()] == [0, 0]
    assert story["angles"].facts["unscaled"] > 0
    assert 0 < drawn["llama"]["llama3"]["kept"] < 64
    assert [one["fresh"] for one in drawn["past"].values()] == [story["past"].facts["unscaled"]] * 2


def test_ramp_is_where_pairs_make_so_many_rotations():
    widget = shown(ContextExtension, beta_fast=10, beta_slow=2.5)
    low, high = widget.values["ramp"]
    wavelength = 2 * np.pi * 10_000 ** (np.array([low, high]) / 64)
    np.testing.assert_allclose(4096 / wavelength, [10, 2.5])
    expected = correction_range(
        128, 10_000.0, original_max_position_embeddings=4096, beta_fast=10, beta_slow=2.5, truncate=False
    )
    assert (low, high) == expected

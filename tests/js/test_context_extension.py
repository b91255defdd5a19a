"""Arithmetic of context_extension in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import configs, scaling
from posenc.widgets import ContextExtension

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
        expected = ContextExtension(**setting)._scaled(method)
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

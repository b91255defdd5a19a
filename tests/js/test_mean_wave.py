"""MeanWave in Python: it shows what the laboratory measured, and the minus stands where the story says."""

import numpy as np
import pytest

from posenc.frequencies import inv_freq
from posenc.lab.distance_bias import clamped, distance_bias, most_negative_pairs
from posenc.lab.measured import benchmarks, statistics
from posenc.widgets import MeanWave
from posenc.widgets.mean_wave import HEAD_DIM, TRAINED
from tests.explorables import shown
from tests.js.oracles.mean_wave import DISTANCES


@pytest.mark.parametrize("base", ["100", "10000"])
@pytest.mark.parametrize("seed", ["0", "1"])
def test_waves_and_losses_are_the_laboratorys(base, seed):
    content = statistics()[f"two_layers-text-rope_{base}-{seed}/content"][1]  # (heads, pairs)
    frequencies, distances = inv_freq(HEAD_DIM, float(base)), np.arange(DISTANCES + 1)
    widget = shown(MeanWave, base=base, seed=seed, hold="minus", length="512")
    values = widget.values
    waves = distance_bias(content.mean(axis=0), frequencies, distances)
    np.testing.assert_allclose(values["all"], waves.sum(axis=0), atol=0.02)  # the page has three decimals of each
    np.testing.assert_allclose(values["b"], -content.mean(axis=0).imag, atol=1e-3)
    assert list(values["minus"]) == list(values["held_pairs"]) == most_negative_pairs(content, frequencies, TRAINED)
    run = {"kind": "distance_bias", "scheme": f"rope_{base}", "seed": int(seed), "length": 512, "profile": "two_layers"}
    for name, chosen in (("none", "none"), ("minus", "most negative"), ("slow", "other slow"), ("all", "all")):
        [one] = benchmarks().select(**run, chosen=chosen)
        assert values["losses"][name] == one["loss"]
    text = run | {"task": "text", "chosen": None}
    _, plain = benchmarks().values(**text | {"kind": "plain"})  # on the same windows, as far as they go
    windows = benchmarks().values(**text | {"chosen": "none"})[1].shape[1]
    np.testing.assert_allclose(plain[0, :windows].mean(), values["losses"]["none"], atol=5e-4)
    _, within = benchmarks().values(**text | {"kind": "plain", "length": TRAINED})
    np.testing.assert_allclose(values["within"], within[0, :windows].mean())


def test_what_is_held_stays_as_it_was_within_the_trained_length():
    values = shown(MeanWave, hold="all").values
    np.testing.assert_array_equal(values["held"][:TRAINED], values["all"][:TRAINED])
    assert np.ptp(values["held"][TRAINED:]) < 1e-9
    np.testing.assert_allclose(values["held"][-1], values["all"][TRAINED // 2 : TRAINED].mean())
    np.testing.assert_array_equal(shown(MeanWave).values["held"], shown(MeanWave).values["all"])
    assert clamped(np.ones((2, 3)), 2).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_the_story_holds():
    facts = {name: shown(MeanWave, **setting).facts for name, setting in MeanWave.story().items()}
    assert facts["wave"]["at_trained"] < -1 < 1 < facts["wave"]["at_far"]
    assert facts["wave"]["is_minus"]

    def gone(name):
        """The share of the harm that goes."""
        told = facts[name]
        return (told["as_it_is"] - told["loss"]) / (told["as_it_is"] - told["within"])

    assert gone("hold") > 0.8
    assert abs(gone("control")) < 0.05
    assert 0.1 < gone("fast") < 0.4
    assert gone("base") > 0.8
    np.testing.assert_allclose(facts["wave"]["turned"], facts["base"]["turned"])

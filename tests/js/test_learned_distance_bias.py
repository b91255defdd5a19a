"""LearnedDistanceBias: it shows what the laboratory measured, and the negative bias is where the story says."""

import re

import numpy as np
import pytest

from posenc.frequencies import inv_freq
from posenc.lab.distance_bias import clamped, distance_bias, most_negative_pairs
from posenc.lab.measured import benchmarks, statistics
from posenc.lab.real_results import parts
from posenc.widgets import LearnedDistanceBias
from posenc.widgets.learned_distance_bias import HEAD_DIM, LONGEST, TRAINED
from tests.explorables import shown
from tests.js.node import figure_of


@pytest.mark.parametrize("base", ["100", "10000"])
def test_biases_and_losses_are_the_laboratorys(base):
    content = statistics()[f"two_layers-text-rope_{base}-0/content"][1]  # (heads, pairs)
    frequencies, distances = inv_freq(HEAD_DIM, float(base)), np.arange(LONGEST + 1)
    widget = shown(LearnedDistanceBias, base=base, clamp="most_negative")
    values = widget.values
    biases = distance_bias(content.mean(axis=0), frequencies, distances)
    np.testing.assert_allclose(values["all"], biases.sum(axis=0), atol=0.02)  # the page has three decimals of each
    found = most_negative_pairs(content, frequencies, TRAINED)
    assert list(values["most_negative"]) == list(values["clamped_pairs"]) == found
    run = f"two_layers-text-rope_{base}-0"
    of_run = {"profile": "two_layers", "scheme": f"rope_{base}", "task": "text", "probe": "text"}
    for name, chosen in (("none", "none"), ("most_negative", "most negative"), ("other_slow", "other slow")):
        asked = of_run | {"kind": "distance_bias", "length": LONGEST, "chosen": chosen}
        np.testing.assert_allclose(values["losses"][name], benchmarks().values(**asked)[1][0, :80].mean())
    measured = parts("tiny")[run]  # on the same windows
    for name, kind in (("none", "as trained"), ("zero", "zeroed"), ("mask", "window")):
        np.testing.assert_allclose(values["losses"][name], measured[kind].mean(), atol=5e-4)
    np.testing.assert_allclose(values["losses"]["most_negative"], measured["clamped"].mean(), atol=0.01)
    np.testing.assert_allclose(values["within"], measured["truncated"].mean(), atol=5e-4)


def test_what_is_clamped_stays_as_it_was_within_the_trained_length():
    values = shown(LearnedDistanceBias, clamp="most_negative").values
    np.testing.assert_array_equal(values["clamped"][:TRAINED], values["all"][:TRAINED])
    np.testing.assert_array_equal(shown(LearnedDistanceBias, clamp="mask").values["clamped"], values["all"][:TRAINED])
    np.testing.assert_array_equal(
        shown(LearnedDistanceBias).values["clamped"], shown(LearnedDistanceBias).values["all"]
    )
    assert clamped(np.ones((2, 3)), 2).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_the_story_clamps():
    settings = LearnedDistanceBias.story() | {
        "zero": {"clamp": "zero"},
        "mask": {"clamp": "mask"},
        "base": {"clamp": "most_negative", "base": "10000"},
        "base_control": {"clamp": "other_slow", "base": "10000"},
    }
    story = {name: shown(LearnedDistanceBias, **setting) for name, setting in settings.items()}
    facts = {name: each.facts for name, each in story.items()}
    wave = story["bias"].values["pair"]
    assert story["bias"].setting["pair"] in story["bias"].values["most_negative"]
    assert (wave[8:TRAINED] < 0).all(), "it pushes within L"
    np.testing.assert_allclose(wave[140:].max(), -wave[:TRAINED].min(), rtol=0.02)  # and pulls as much past it
    assert facts["logit"]["loss"] > 2 * facts["logit"]["within"]
    assert story["clamp"].values["clamped"][TRAINED:].max() < 0 < story["control"].values["clamped"][160:].mean()

    def gone(name):
        """The fraction of the excess loss that is removed."""
        told = facts[name]
        return (told["unclamped"] - told["loss"]) / (told["unclamped"] - told["within"])

    assert gone("clamp") > 0.8
    assert abs(gone("control")) < 0.1
    assert 0.1 < gone("zero") < 0.3
    assert gone("mask") > 0.99
    assert gone("base") > 0.8
    assert abs(gone("base_control")) < 0.05


@pytest.mark.parametrize("clamp", ["none", "zero", "most_negative", "other_slow", "mask"])
def test_where_the_dot_is_held_no_loss_is_named(clamp):
    for width in (312, 702):
        for held in (8.0, 5.5, 2.0, -3.0, -8.0, -12.0):
            picture = figure_of(LearnedDistanceBias).at({"clamp": clamp}, width=width, held=held)
            assert picture["finding"].startswith("The loss was measured at the small dots")
            numbers = [text["text"] for text in picture["texts"] if re.fullmatch(r"\d\.\d\d.*", text["text"])]
            assert numbers == [f"{picture['facts']['within']:.2f} nats per byte"]

"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.lab.measured import statistics
from posenc.widgets import BiasExplorer
from tests.explorables import shown
from tests.js.node import figure_of


@pytest.mark.parametrize("logits", [[-800.0, 0.0, 709.0, 708.0, -1e300], [-746.0, -800.0, -747.5], [-1e300]])
def test_softmax_and_shares_of_large_logits(arithmetic, logits):
    weights = np.exp(np.array(logits) - max(logits))
    weights /= weights.sum()
    np.testing.assert_allclose(arithmetic("A.softmax(x)", logits), weights, atol=1e-15)
    np.testing.assert_allclose(arithmetic("A.sharesWithin(x)", logits), np.cumsum(weights), atol=1e-15)


def test_the_story_is_true():
    story = {name: shown(BiasExplorer, **setting) for name, setting in BiasExplorer.story().items()}
    needed = {name: [np.argmax(row >= 0.5) + 1 for row in each.values["within"]] for name, each in story.items()}
    assert needed["fan"][0] < needed["fan"][2] < needed["fan"][7]
    assert [each.facts["needed"] for each in story.values()][:2] == [needed["fan"][2], needed["reach"][7]]
    assert needed["reach"][0] == needed["fan"][0], "the steep heads see no farther"
    assert needed["reach"][7] > needed["fan"][7], "the gentlest does"
    last, flat = story["t5"].values["bias"][3], story["t5"].facts["flat"]
    assert np.ptp(last[flat:]) == 0
    assert last[flat - 1] != last[flat]
    assert len(set(last[:16])) == 16, "near buckets hold one distance"
    early, late = story["fire"].values["low"], story["fire"].values["bias"][2]
    assert (early <= late).all(), "early in a sequence it costs most"
    assert early[16] < late[16] < 0
    assert (story["content"].values["low"][:10] < story["content"].values["high"][:10]).all()


def test_the_biases_of_t5_are_those_of_the_trained_model():
    table = statistics()["full-text-t5-0/table"].astype(float)  # (buckets, heads)
    widget = shown(BiasExplorer, scheme="t5", head=16)
    near = widget.values["bias"][:, :16]
    np.testing.assert_allclose(near, table[:16].T, atol=5.1e-4)
    assert widget.facts["shown_head"] == table.shape[1]


SCHEMES = ["alibi", "t5", "fire", "deberta", "sandwich", "kerple_log", "kerple_power", "transformer_xl"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_nearest_keys_up_to_where_the_dot_is_held_get_half_of_the_attention(scheme):
    setting = {"scheme": scheme, "draw": 9, "distance": 100}
    reaches = np.argmax(shown(BiasExplorer, **setting).values["within"] >= 0.5 - 1e-9, axis=1)
    for held in np.linspace(reaches.min(), max(reaches.max(), 50), 9)[:-1]:
        picture = figure_of(BiasExplorer).at(setting, held=float(held))
        within = np.cumsum(picture["values"]["weights"])
        needed = np.argmax(within >= (0.5 - 1e-9) * within[-1]) + 1
        assert picture["facts"]["needed"] == needed
        assert abs(needed - 1 - held) <= 1


def test_the_slope_that_is_held_is_between_those_of_its_heads():
    slopes = np.diff(shown(BiasExplorer).values["bias"])[:, 0]
    for held in (2.5, 8.0, 41.0, 60.0):
        facts = figure_of(BiasExplorer).at({}, held=held)["facts"]
        nearer, farther = facts["nearer"], facts["farther"]
        assert -slopes[nearer - 1] >= np.log(2) / facts["halves"] >= (-slopes[farther - 1] if farther else 0)
    assert "every key gets the same weight" in figure_of(BiasExplorer).at({}, held=120.0)["finding"]
    assert "stays nearer than head 1" in figure_of(BiasExplorer).at({}, held=0.0)["finding"]

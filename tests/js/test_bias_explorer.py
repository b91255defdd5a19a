"""Arithmetic of bias_explorer in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.bias import alibi_slopes, t5_bucket
from posenc.widgets import BiasExplorer
from posenc.widgets.bias_explorer import DRAWN
from tests.explorables import shown
from tests.js.oracles.bias_explorer import bias_of

SCHEMES = BiasExplorer.catalogue["controls"]["scheme"]["options"]


LIMITS = {control["name"]: control for control in BiasExplorer.controls() if "least" in control}


SETTINGS = [
    {"draw": 0, "heads": 8, "distance": 128, "threshold": 24},
    {"draw": 0, "heads": 1, "distance": 8, "threshold": 1},
    {"draw": 999, "heads": 16, "distance": 512, "threshold": 512},
    {"draw": 17, "heads": 11, "distance": 61, "threshold": 60},
]


def test_the_settings_reach_both_ends_of_every_slider():
    for name in ("draw", "heads", "distance", "threshold"):
        tried = [setting[name] for setting in SETTINGS]
        assert (min(tried), max(tried)) == (LIMITS[name]["least"], LIMITS[name]["greatest"])


def test_slopes_and_buckets_equal_python(arithmetic):
    for heads in range(1, 17):
        np.testing.assert_allclose(arithmetic("A.alibiSlopes(x)", heads), alibi_slopes(heads), rtol=1e-15)
    distances = np.arange(513)
    drawn = arithmetic("x.map(A.t5Bucket)", distances.tolist())
    np.testing.assert_array_equal(drawn, t5_bucket(-distances, bidirectional=False))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_biases_equal_python(arithmetic, scheme):
    for setting in SETTINGS:
        widget = BiasExplorer(scheme=scheme, **setting)
        keys = np.arange(setting["distance"] + 1)
        drawn = arithmetic(
            """Array.from({ length: x.heads }, (_, h) => {
              const bias = A.biasOf(x, h), n = Math.min(x.distance + 1, 48), last = x.distance;
              const row = Array.from({ length: x.distance + 1 }, (_, j) => bias(last, j));
              const seen = (i) => Array.from({ length: n }, (_, j) => (j > i ? 0 : bias(i, j)));
              return [row, Array.from({ length: n }, (_, i) => seen(i))];
            })""",
            {"scheme": scheme, **setting},
        )
        rows, matrices = (np.array([each[k] for each in drawn]) for k in (0, 1))
        np.testing.assert_allclose(rows, bias_of(widget, keys[-1:], keys)[:, 0], atol=1e-10, rtol=1e-12)
        first = keys[:48]
        np.testing.assert_allclose(matrices, np.tril(bias_of(widget, first, first)), atol=1e-10, rtol=1e-12)


@pytest.mark.parametrize("logits", [[-800.0, 0.0, 709.0, 708.0, -1e300], [-746.0, -800.0, -747.5], [-1e300]])
def test_softmax_and_shares_of_large_logits(arithmetic, logits):
    weights = np.exp(np.array(logits) - max(logits))
    weights /= weights.sum()
    np.testing.assert_allclose(arithmetic("A.softmax(x)", logits), weights, atol=1e-15)
    np.testing.assert_allclose(arithmetic("A.sharesWithin(x)", logits), np.cumsum(weights), atol=1e-15)


SCHEMES = BiasExplorer.catalogue["controls"]["scheme"]["options"]
OF_DISTANCE_ALONE = {"alibi", "t5", "sandwich", "kerple_log", "kerple_power"}


def test_alibi_falls_by_its_slope():
    values = shown(BiasExplorer, heads=12, distance=40, head=5).values
    np.testing.assert_allclose(values["bias"], -alibi_slopes(12)[:, None] * np.arange(41))
    np.testing.assert_allclose(np.diagonal(values["matrix"], -7), -7 * alibi_slopes(12)[4])


def test_t5_has_one_value_a_bucket_and_ends_at_the_last():
    values = shown(BiasExplorer, scheme="t5", distance=200).values["bias"]
    buckets = t5_bucket(-np.arange(201), bidirectional=False)
    assert len(np.unique(values, axis=1).T) == 32
    for bucket in range(32):
        assert np.ptp(values[:, buckets == bucket], axis=1).max() == 0
    assert buckets[113] == 31
    assert np.ptp(values[:, 113:], axis=1).max() == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_diagonals_are_constant_where_distance_decides_alone(scheme):
    widget = shown(BiasExplorer, scheme=scheme, heads=4, distance=40)
    matrix = widget.values["matrix"]
    spread = max(np.ptp(np.diagonal(matrix, -distance)) for distance in range(40))
    assert (spread < 1e-9) == (scheme in OF_DISTANCE_ALONE)
    assert ("for every query." in widget.finding) == (scheme in OF_DISTANCE_ALONE)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weights_are_causal_shares(scheme):
    values = shown(BiasExplorer, scheme=scheme, heads=3, distance=30).values
    np.testing.assert_allclose(values["weights"].sum(axis=-1), 1)
    assert not np.triu(values["weights"], 1).any()
    assert np.isnan(values["matrix"][np.triu_indices(31, 1)]).all()
    np.testing.assert_allclose(values["within"][:, -1], 1)
    assert (np.diff(values["within"], axis=-1) >= 0).all()
    # The last row of the matrix is the curve of its head, read from the key itself backwards.
    np.testing.assert_allclose(values["matrix"][-1, ::-1], values["bias"][2])
    np.testing.assert_allclose(np.cumsum(values["weights"][-1, ::-1]), values["within"][2])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_draw_changes_what_is_learned_and_nothing_else(scheme):
    first, second = (shown(BiasExplorer, scheme=scheme, draw=draw, distance=20).values["bias"] for draw in (0, 1))
    assert np.array_equal(first, second) == (scheme not in DRAWN)
    if scheme in DRAWN:
        assert "drawn at random here (draw 1)." in shown(BiasExplorer, scheme=scheme, draw=1).finding


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_bias_at_a_distance_is_that_of_every_query_so_far_from_the_front(scheme):
    widget = shown(BiasExplorer, scheme=scheme, heads=4, head=2, distance=40, back=7)
    values = widget.values
    np.testing.assert_allclose(values["diagonal"], np.diagonal(values["matrix"], -7))
    assert values["diagonal"][-1] == pytest.approx(values["bias"][1][7])


def test_the_story_is_true():
    story = {name: shown(BiasExplorer, **setting) for name, setting in BiasExplorer.story().items()}
    needed = {name: {one["of_head"]: one["needed"] for one in each.facts["nearest"]} for name, each in story.items()}
    assert needed["fan"][1] < needed["fan"][3] < needed["fan"][8]
    assert needed["reach"][1] == needed["fan"][1], "the steep heads see no farther"
    assert needed["reach"][8] > needed["fan"][8], "the gentlest does"
    last = story["t5"].values["bias"][4]
    back = story["t5"].setting["back"]
    assert np.ptp(last[back:]) == 0
    assert last[back - 1] != last[back]
    assert len(set(last[:16])) == 16, "near buckets hold one distance"
    along = story["fire"].values["diagonal"]
    assert (np.diff(along) >= 0).all(), "early in a text it costs most"
    assert along[0] < along[-1] < 0
    assert story["content"].facts["varies"]

"""BiasExplorer: its arithmetic against posenc over the range of every slider, and what only it does on a page."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.bias import alibi_slopes, t5_bucket
from posenc.widgets import BiasExplorer

pytestmark = pytest.mark.xdist_group("BiasExplorer")  # with the battery of tests of it: they share its page

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
        np.testing.assert_allclose(rows, widget._bias(keys[-1:], keys)[:, 0], atol=1e-10, rtol=1e-12)
        first = keys[:48]
        np.testing.assert_allclose(matrices, np.tril(widget._bias(first, first)), atol=1e-10, rtol=1e-12)


@pytest.mark.parametrize("logits", [[-800.0, 0.0, 709.0, 708.0, -1e300], [-746.0, -800.0, -747.5], [-1e300]])
def test_softmax_and_shares_of_large_logits(arithmetic, logits):
    weights = np.exp(np.array(logits) - max(logits))
    weights /= weights.sum()
    np.testing.assert_allclose(arithmetic("A.softmax(x)", logits), weights, atol=1e-15)
    np.testing.assert_allclose(arithmetic("A.sharesWithin(x)", logits), np.cumsum(weights), atol=1e-15)


def test_there_are_as_many_heads_as_the_one_looked_at_needs(open_live):
    live = open_live(BiasExplorer)
    live.input("head").press("End")
    assert (live.get("head"), live.get("heads")) == (16, 16)
    live.input("heads").press("Home")
    assert (live.get("head"), live.get("heads")) == (1, 1)


def test_curves_and_both_matrices_are_read_by_the_pointer(open_live):
    live = open_live(BiasExplorer)
    canvas = live.figure.locator("canvas")
    distance, query, key = live.evaluate("explorable.readers")
    canvas.hover(position={"x": distance["x"], "y": distance["y"]})
    values = BiasExplorer().values()
    m = int(live.readout.split()[0])
    share = f"{100 * values['within'][2, m]:.1f} %"
    assert live.readout == (
        f"{m} tokens back, head 3: bias −{m / 8:.3f} · {share} of the last query's attention falls no farther back"
    )
    canvas.hover(position={"x": query["x"] - 30, "y": key["y"] + 20})
    above = live.readout
    assert above.startswith("query ")
    assert " back: bias −" in above
    canvas.hover(position={"x": query["x"] - 30, "y": key["y"] + 20 + 282})  # the same place in the matrix below
    assert live.readout == above
    canvas.hover(position={"x": query["x"] + 50, "y": key["y"] - 50})
    assert live.readout.endswith("masked, for the key stands after the query")


def test_only_a_scheme_that_learns_offers_a_draw(open_live):
    live = open_live(BiasExplorer)
    assert live.control("draw").is_hidden()
    live.control("scheme").locator("select").select_option("KERPLE, logarithm")
    live.control("draw").locator("button").click()
    assert "(draw 1)" in live.finding

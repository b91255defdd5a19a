"""Arithmetic of bias_explorer in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.bias import alibi_slopes, t5_bucket
from posenc.widgets import BiasExplorer

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

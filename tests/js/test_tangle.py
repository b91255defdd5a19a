"""Arithmetic of tangle in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np

from posenc.widgets.tangle import turned_axes


def test_axes_in_between_equal_python(arithmetic):
    for draw, share in ((0, 0.0), (3, 0.41), (999, 1.0)):
        drawn = arithmetic(
            "A.turnedAxes(x.draw, x.share).map((row) => Array.from(row))", {"draw": draw, "share": share}
        )
        np.testing.assert_allclose(drawn, turned_axes(draw, share), atol=1e-12)

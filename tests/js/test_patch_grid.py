"""Arithmetic of patch_grid in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.rope import sections
from posenc.widgets import PatchGrid


@pytest.mark.parametrize(("sizes", "interleaved"), [((4, 6, 6), False), ((24, 20, 20), True), ((6, 5, 5), True)])
def test_sections_equal_python(arithmetic, sizes, interleaved):
    drawn = arithmetic("A.sections(x.sizes, x.interleaved)", {"sizes": list(sizes), "interleaved": interleaved})
    np.testing.assert_array_equal(drawn, sections(sizes, interleaved))


@pytest.mark.parametrize("rule", ["page", "axes", "blocks", "turns"])
@pytest.mark.parametrize("base", [1.0, 100.0, 1e8])
def test_angles_equal_python(arithmetic, rule, base):
    widget = PatchGrid(rule=rule, base=base, frame=5, query_row=7, query_column=0, key_row=1, key_column=11)
    frames = 5 if rule in ("blocks", "turns") else 0
    drawn = arithmetic(
        "A.patchAngles(A.pairsBy(x.rule, x.base), x.frames, 6, -11)", {"rule": rule, "base": base, "frames": frames}
    )
    np.testing.assert_allclose(drawn, widget.values()["angles"], atol=1e-10)
    assert arithmetic("A.meanCosine(x)", drawn) == pytest.approx(widget.values()["score"], abs=1e-12)

"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.rope import Rope, sections
from posenc.widgets import PatchGrid
from posenc.widgets.patch_grid import COLUMNS, ROWS
from tests.explorables import shown
from tests.js.oracles.patch_grid import PAIRS


def by_rotation(rule: str, base: float, frame: int, query: tuple[int, int]) -> np.ndarray:
    """The same scores by `Rope`: aligned vectors, turned by their positions."""
    r, c = np.divmod(np.arange(ROWS * COLUMNS), COLUMNS)
    ropes = {
        "raster": lambda: (Rope(2 * PAIRS, base), COLUMNS * r + c),
        "axes": lambda: (Rope.axial((PAIRS, PAIRS), base), np.stack([r, c], axis=-1)),
        "blocks": lambda: (Rope(2 * PAIRS, base, axes=sections((4, 6, 6))), np.stack([0 * r, r, c], axis=-1)),
        "interleaved": lambda: (
            Rope(2 * PAIRS, base, axes=sections((6, 5, 5), interleaved=True)),
            np.stack([0 * r, r, c], axis=-1),
        ),
    }
    rope, at = ropes[rule]()
    q_at = at[COLUMNS * query[0] + query[1]][None].copy()
    if rule in ("blocks", "interleaved"):
        q_at[:, 0] += frame
    q = rope.rotate(np.ones((1, 2 * PAIRS)), q_at)
    k = rope.rotate(np.ones((ROWS * COLUMNS, 2 * PAIRS)), at)
    return (k @ q[0] / (2 * PAIRS)).reshape(ROWS, COLUMNS)


@pytest.mark.parametrize("rule", ["raster", "axes", "blocks", "interleaved"])
def test_scores_are_those_of_a_rotation(rule):
    widget = shown(PatchGrid, rule=rule, base=500.0, frame=5, query_row=2, query_column=9, key_row=7, key_column=1)
    np.testing.assert_allclose(widget.values["scores"], by_rotation(rule, 500.0, 5, (2, 9)), atol=1e-12)
    assert widget.values["score"] == pytest.approx(widget.values["scores"][7, 1])


def test_frames_count_where_a_rule_has_time():
    for rule, counts in (("raster", False), ("axes", False), ("blocks", True), ("interleaved", True)):
        moved, still = (shown(PatchGrid, rule=rule, frame=frame).values["score"] for frame in (7, 0))
        assert (moved != still) is counts


def test_the_range_that_is_said_is_that_of_all_patches():
    for setting, digits in ((PatchGrid.story()["raster"], 2), (PatchGrid.story()["blocks"], 3)):
        widget = shown(PatchGrid, **setting)
        assert float(widget.facts["lowest"].replace("−", "-")) == round(widget.values["scores"].min(), digits)
        assert widget.facts["score"] == f"{widget.values['score']:.{digits}f}"
    near = {**PatchGrid.story()["blocks"], "key_row": 0, "key_column": 0}
    assert shown(PatchGrid, **near).facts["score"] == "1"
    assert shown(PatchGrid, **{**near, "key_column": 1}).facts["score"] == "≈ 1", "a rounding says so"

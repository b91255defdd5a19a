"""Arithmetic of patch_grid in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.rope import Rope, sections
from posenc.widgets import PatchGrid
from posenc.widgets.patch_grid import COLUMNS, ROWS
from tests.explorables import shown
from tests.js.oracles.patch_grid import PAIRS, values


@pytest.mark.parametrize(("sizes", "interleaved"), [((4, 6, 6), False), ((24, 20, 20), True), ((6, 5, 5), True)])
def test_sections_equal_python(arithmetic, sizes, interleaved):
    drawn = arithmetic("A.sections(x.sizes, x.interleaved)", {"sizes": list(sizes), "interleaved": interleaved})
    np.testing.assert_array_equal(drawn, sections(sizes, interleaved))


@pytest.mark.parametrize("rule", ["raster", "axes", "blocks", "interleaved"])
@pytest.mark.parametrize("base", [1.0, 100.0, 1e8])
def test_angles_equal_python(arithmetic, rule, base):
    widget = PatchGrid(rule=rule, base=base, frame=5, query_row=7, query_column=0, key_row=1, key_column=11)
    frames = 5 if rule in ("blocks", "interleaved") else 0
    drawn = arithmetic(
        "A.patchAngles(A.pairsBy(x.rule, x.base), x.frames, 6, -11)", {"rule": rule, "base": base, "frames": frames}
    )
    np.testing.assert_allclose(drawn, values(widget)["angles"], atol=1e-10)
    assert arithmetic("A.meanCosine(x)", drawn) == pytest.approx(values(widget)["score"], abs=1e-12)


rows, columns = st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1)


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


@given(row=rows, column=columns, key_row=rows, key_column=columns)
def test_by_two_axes_a_score_is_a_sum_of_one_for_rows_and_one_for_columns(row, column, key_row, key_column):
    widget = shown(PatchGrid, rule="axes", query_row=row, query_column=column, key_row=key_row, key_column=key_column)
    scores, facts = widget.values["scores"], widget.facts
    assert facts["score"] == pytest.approx(facts["rows_part"] + facts["columns_part"])
    tied = scores - scores[:1] - scores[:, :1] + scores[0, 0]
    np.testing.assert_allclose(tied, 0, atol=1e-12)


def test_frames_count_where_a_rule_has_time():
    for rule, counts in (("raster", False), ("axes", False), ("blocks", True), ("interleaved", True)):
        moved, still = (shown(PatchGrid, rule=rule, frame=frame).values["score"] for frame in (7, 0))
        assert (moved != still) is counts

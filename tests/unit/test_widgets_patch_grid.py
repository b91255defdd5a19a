"""PatchGrid in Python: its scores are those of a rotation of the package, and each rule is blind where it should be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.rope import Rope, sections
from posenc.widgets import PatchGrid
from posenc.widgets.patch_grid import COLUMNS, PAIRS, ROWS

rows, columns = st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1)


def by_rotation(rule: str, base: float, frame: int, query: tuple[int, int]) -> np.ndarray:
    """The same scores by `Rope`: aligned vectors, turned by their positions."""
    r, c = np.divmod(np.arange(ROWS * COLUMNS), COLUMNS)
    ropes = {
        "page": lambda: (Rope(2 * PAIRS, base), COLUMNS * r + c),
        "axes": lambda: (Rope.axial((PAIRS, PAIRS), base), np.stack([r, c], axis=-1)),
        "blocks": lambda: (Rope(2 * PAIRS, base, axes=sections((4, 6, 6))), np.stack([0 * r, r, c], axis=-1)),
        "turns": lambda: (
            Rope(2 * PAIRS, base, axes=sections((6, 5, 5), interleaved=True)),
            np.stack([0 * r, r, c], axis=-1),
        ),
    }
    rope, at = ropes[rule]()
    q_at = at[COLUMNS * query[0] + query[1]][None].copy()
    if rule in ("blocks", "turns"):
        q_at[:, 0] += frame
    q = rope.rotate(np.ones((1, 2 * PAIRS)), q_at)
    k = rope.rotate(np.ones((ROWS * COLUMNS, 2 * PAIRS)), at)
    return (k @ q[0] / (2 * PAIRS)).reshape(ROWS, COLUMNS)


@pytest.mark.parametrize("rule", ["page", "axes", "blocks", "turns"])
def test_scores_are_those_of_a_rotation(rule):
    widget = PatchGrid(rule=rule, base=500.0, frame=5, query_row=2, query_column=9, key_row=7, key_column=1)
    np.testing.assert_allclose(widget.values()["scores"], by_rotation(rule, 500.0, 5, (2, 9)), atol=1e-12)
    assert widget.values()["score"] == pytest.approx(widget.values()["scores"][7, 1])


@given(row=rows, column=columns, key_row=rows, key_column=columns)
def test_by_two_axes_a_score_is_a_sum_of_one_for_rows_and_one_for_columns(row, column, key_row, key_column):
    widget = PatchGrid(rule="axes", query_row=row, query_column=column, key_row=key_row, key_column=key_column)
    scores, facts = widget.values()["scores"], widget.facts()
    assert facts["score"] == pytest.approx(facts["rows_part"] + facts["columns_part"])
    tied = scores - scores[:1] - scores[:, :1] + scores[0, 0]
    np.testing.assert_allclose(tied, 0, atol=1e-12)


def test_frames_count_where_a_rule_has_time():
    for rule, counts in (("page", False), ("axes", False), ("blocks", True), ("turns", True)):
        moved, still = (PatchGrid(rule=rule, frame=frame).values()["score"] for frame in (7, 0))
        assert (moved != still) is counts

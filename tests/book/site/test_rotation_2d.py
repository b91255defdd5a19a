"""Rotation2D beyond the battery: the lock, dragging, and the numbers that are written out."""

from __future__ import annotations

import pytest

from posenc._numbers import fixed
from posenc.widgets import Rotation2D
from tests.book.site.hands import drag_handle
from tests.explorables import shown

pytestmark = pytest.mark.xdist_group("Rotation2D")  # with the battery of tests of it: they share its page


def test_it_opens_locked_and_moves_both_positions_while_the_score_stays(open_live):
    live = open_live(Rotation2D)
    opening = live.setting()
    assert opening["locked"] is True
    apart, before = opening["m"] - opening["n"], live.values()["by_matrices"]
    live.input("m").press("ArrowRight")
    assert (live.get("m"), live.get("n")) == (opening["m"] + 1, opening["n"] + 1)
    assert abs(live.values()["by_matrices"] - before) < 1e-12
    live.open()
    live.input("m").press("End")
    assert (live.get("m"), live.get("n")) == (32, 32 - apart)
    live.input("n").press("End")  # the query stands at its end, so neither can move
    assert (live.get("m"), live.get("n")) == (32, 32 - apart)
    live.input("n").press("Home")
    assert (live.get("m"), live.get("n")) == (apart, 0)
    assert abs(live.values()["by_matrices"] - before) < 1e-12
    live.control("locked").locator("input").uncheck()
    live.input("m").press("ArrowRight")
    assert (live.get("m"), live.get("n")) == (apart + 1, 0)
    assert abs(live.values()["by_matrices"] - before) > 0.01


@pytest.mark.parametrize(("name", "locked"), [("m", True), ("n", False)])
def test_a_position_is_dragged_on_the_chart_and_the_lock_takes_the_other_along(open_live, name, locked):
    live = open_live(Rotation2D)
    live.set(locked=locked, m=9, n=6)
    before = live.values()["by_matrices"]
    drag_handle(live, name, 60)
    moved = {"m": live.get("m") - 9, "n": live.get("n") - 6}
    assert moved[name] >= 4
    assert moved["n" if name == "m" else "m"] == (moved[name] if locked else 0)
    assert (abs(live.values()["by_matrices"] - before) < 1e-12) == locked


# ---- handles and numbers --------------------------------------------------------------------------------------------


def test_a_handle_stops_at_the_limits(open_live):
    live = open_live(Rotation2D)
    drag_handle(live, "q", -400, -300)
    assert (live.get("q1"), live.get("q2")) == (-1.5, 1.5)


@pytest.mark.parametrize("view", ["two", "interleaved", "half-split"])
def test_the_present_numbers_are_written_out(open_live, view):
    live = open_live(Rotation2D)
    live.open()
    live.set(view=view, m=9, n=4, theta=0.7)
    values = shown(Rotation2D, view=view, m=9, n=4, theta=0.7).values
    for name, matrix in (("query", "matrix_q"), ("key", "matrix_k")):
        written = live.figure.get_by_role("table", name=f"rotation of the {name}").locator("td").all_inner_texts()
        assert written == [fixed(number, 2) for number in values[matrix].reshape(-1)]
        rotated = live.figure.get_by_role("table", name=f"rotated {name}").locator("td").all_inner_texts()
        assert rotated == [fixed(number, 2) for number in values[matrix.replace("matrix", "rotated")]]
    score = fixed(values["by_matrices"], 3)
    by_matrices = live.figure.get_by_role("group", name="The score by matrices").inner_text()
    by_complex = live.figure.get_by_role("group", name="The score as complex numbers").inner_text()
    assert by_matrices.endswith(f"=\u00a0{score}")
    assert by_complex.endswith(f"]\u00a0=\u00a0{score}")
    exponent = live.figure.get_by_role("group", name="The score as complex numbers").locator("sup")
    assert exponent.all_inner_texts() == ["i·5θ"]
    assert "^" not in by_complex
    live.set(m=2, n=4)
    assert exponent.all_inner_texts() == ["i·(−2)θ"]

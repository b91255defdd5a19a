"""Rotation2D beyond the battery: its arithmetic, the lock, its labels, and the numbers that are written out."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from posenc._numbers import fixed
from posenc.frequencies import angles, inv_freq
from posenc.rotary import pair_scores, rotate, rotation_matrix
from posenc.widgets import Rotation2D, bundle
from tests.book.site.live import Arithmetic
from tests.book.site.texts import collisions, crossed, written

pytestmark = pytest.mark.xdist_group("Rotation2D")  # with the battery of tests of it: they share its page

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("theta", [0.0, 0.01, 0.4, 3.14])
def test_rotations_equal_python(arithmetic, layout, theta):
    for dim in (2, 4):
        frequencies = theta * inv_freq(dim, 100.0)
        for position in (-32, -1, 0, 5, 42):
            q, k = RNG.uniform(-1.5, 1.5, (2, dim))
            turned = angles(position, frequencies)
            x = {"q": list(q), "k": list(k), "angles": list(turned), "layout": layout}
            found = arithmetic(
                """({
                  matrix: A.rotationMatrix(x.angles, x.layout),
                  turned: A.applied(A.rotationMatrix(x.angles, x.layout), x.q),
                  products: A.conjugateProducts(x.q, x.k, x.layout),
                  score: A.scoreByComplex(x.q, x.k, x.angles, x.layout),
                })""",
                x,
            )
            np.testing.assert_allclose(found["matrix"], rotation_matrix(turned, layout), atol=1e-10, rtol=0)
            np.testing.assert_allclose(found["turned"], rotate(q, turned, layout), atol=1e-10, rtol=0)
            by_pair = pair_scores(q, k, turned, layout)
            np.testing.assert_allclose(found["score"], by_pair.sum(), atol=1e-10, rtol=0)
            real, imaginary = np.transpose(found["products"])
            np.testing.assert_allclose(real * np.cos(turned) - imaginary * np.sin(turned), by_pair, atol=1e-10, rtol=0)


def test_the_score_is_one_number_in_every_way():
    for view in ("two", "interleaved", "half"):
        values = Rotation2D(view=view, m=17, n=4).values()
        scores = [values["by_matrices"], values["by_complex"], values["elsewhere"], values["scores"][32 + 13]]
        np.testing.assert_allclose(scores, scores[0], atol=1e-12, rtol=0)
        assert (abs(values["other_layout"] - scores[0]) < 1e-12) == (view == "two")


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


def drag(live, name: str, across: float, up: float = 0) -> None:
    """Drag a handle by so many pixels."""
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box, handles = canvas.bounding_box(), live.evaluate("explorable.handles")
    [handle] = [each for each in handles if each["name"] == name]
    live.page.mouse.move(box["x"] + handle["x"], box["y"] + handle["y"])
    live.page.mouse.down()
    live.page.mouse.move(box["x"] + handle["x"] + across, box["y"] + handle["y"] - up, steps=4)
    live.page.mouse.up()


@pytest.mark.parametrize("name", ["m", "n"])
@pytest.mark.parametrize("locked", [True, False])
def test_a_position_is_dragged_on_the_chart_and_the_lock_takes_the_other_along(open_live, name, locked):
    live = open_live(Rotation2D)
    live.set(locked=locked, m=9, n=6)
    before = live.values()["by_matrices"]
    drag(live, name, 60)
    moved = {"m": live.get("m") - 9, "n": live.get("n") - 6}
    assert moved[name] >= 4
    assert moved["n" if name == "m" else "m"] == (moved[name] if locked else 0)
    assert (abs(live.values()["by_matrices"] - before) < 1e-12) == locked


def test_a_press_on_the_chart_puts_the_query_there(open_live):
    live = open_live(Rotation2D)
    live.set(locked=False, m=9, n=6)
    [reader] = live.evaluate("explorable.readers")
    live.figure.locator("canvas").click(position={"x": reader["x"], "y": reader["y"]})
    assert (live.get("m"), live.get("n")) == (16, 6)  # the chart's middle
    assert live.readout.startswith("query at 16, key at 6: score ")


def test_play_moves_the_query_and_the_lock_takes_the_key_along(open_live):
    live = open_live(Rotation2D, reduced_motion="reduce")
    score, places = live.values()["by_matrices"], set()
    for _ in range(9):
        live.figure.locator(".posenc-bar button[aria-label^=Play]").click()
        places.add((live.get("m"), live.get("n")))
        assert abs(live.values()["by_matrices"] - score) < 1e-12
    assert {m - n for m, n in places} == {3}
    assert {(3, 0), (32, 29)} <= places


# ---- labels ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def labels(empty_page) -> Arithmetic:
    """What js/labels.js exports."""
    return Arithmetic(empty_page[0], [bundle("labels.js")])


PLACE = "A.place(x.wide, x.point, x.towards, x.away, { left: 0, right: 200, top: 0, bottom: 100 }, x.taken)"


def test_a_label_stands_where_it_should_if_it_can(labels):
    given = {"wide": 40, "point": [100, 50], "towards": 0, "away": 10, "taken": []}
    assert labels(PLACE, given) == {"left": 110, "right": 150, "top": 42.5, "bottom": 57.5}
    beside = labels(PLACE, given | {"taken": [{"left": 100, "right": 160, "top": 40, "bottom": 60}]})
    assert beside["bottom"] <= 40 or beside["top"] >= 60 or beside["right"] <= 100


def test_a_label_goes_out_of_the_way_of_a_line_but_not_far(labels):
    given = {"wide": 40, "point": [20, 50], "towards": 0, "away": 10, "taken": []}
    place = PLACE.replace("x.taken)", "x.taken, x.lines)")
    beside = labels(place, given | {"lines": [{"left": 0, "right": 200, "top": 47, "bottom": 53}]})
    assert beside["bottom"] <= 47 or beside["top"] >= 53
    assert max(abs(beside["left"] - 20), abs(beside["top"] - 50)) < 60
    across = labels(place, given | {"lines": [{"left": 30, "right": 30.5, "top": 0, "bottom": 100}]})
    assert across == labels(place, given | {"lines": []}), "rather than to go farther"


@pytest.mark.parametrize("towards", [0, math.pi / 2, math.pi, 5])
def test_labels_of_one_point_cover_neither_each_other_nor_the_edge(labels, towards):
    for point in ([100, 50], [0, 0], [200, 100], [199, 1]):
        taken = []
        for wide in (60, 20, 40, 50):
            given = {"wide": wide, "point": point, "towards": towards, "away": 8, "taken": taken}
            taken.append(labels(PLACE, given))
        for box in taken:
            assert 0 <= box["left"] < box["right"] <= 200
            assert 0 <= box["top"] < box["bottom"] <= 100
        for one, other in itertools.combinations(taken, 2):
            apart = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (point, taken)


@pytest.mark.parametrize("width", [1280, 360])
def test_no_label_covers_another(open_live, width):
    live = open_live(Rotation2D, width=width)
    settings = [{}, *Rotation2D.story().values(), {"n": 0, "m": 0, "theta": 0.0}, {"q1": 0.5, "q2": 1.1}]
    ends = [
        {control["name"]: control[end]}
        for control in Rotation2D.controls()
        for end in ("least", "greatest")
        if "least" in control and control["name"] not in {"q3", "q4", "k3", "k4"}
    ]
    places = [{"m": m, "n": n, "locked": False} for m in (0, 1, 2, 3, 17, 31, 32) for n in (0, 1, 2, 16, 30, 32)]
    for setting in [*settings, *ends, *places]:
        assert collisions(live, **{**Rotation2D().setting(), **setting}) == [], setting


@pytest.mark.parametrize("width", [1280, 360])
def test_no_line_crosses_a_label(open_live, width):
    assert crossed(open_live(Rotation2D, width=width), Rotation2D) == []


def test_the_labels_of_before_and_after_are_all_written(open_live):
    live = open_live(Rotation2D)
    live.set(**Rotation2D().setting())
    for n in range(8):  # where “k” and “k at 2” once stood in one place
        texts = {text["text"] for text in written(live, n=n)}
        assert {"q", "k", "q at 9", f"k at {n}"} <= texts


# ---- handles and numbers --------------------------------------------------------------------------------------------


def test_a_handle_stops_at_the_limits(open_live):
    live = open_live(Rotation2D)
    drag(live, "q", -400, 300)
    assert (live.get("q1"), live.get("q2")) == (-1.5, 1.5)


@pytest.mark.parametrize("view", ["two", "interleaved", "half"])
def test_the_present_numbers_are_written_out(open_live, view):
    live = open_live(Rotation2D)
    live.open()
    live.set(view=view, m=9, n=4, theta=0.7)
    values = Rotation2D(view=view, m=9, n=4, theta=0.7).values()
    for name, matrix in (("query", "matrix_q"), ("key", "matrix_k")):
        written = live.figure.get_by_role("table", name=f"rotation of the {name}").locator("td").all_inner_texts()
        assert written == [fixed(number, 2) for number in values[matrix].reshape(-1)]
        turned = live.figure.get_by_role("table", name=f"turned {name}").locator("td").all_inner_texts()
        assert turned == [fixed(number, 2) for number in values[matrix.replace("matrix", "turned")]]
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


@pytest.mark.parametrize("width", [1280, 1000, 620, 360])
@pytest.mark.parametrize("view", ["two", "half"])
def test_no_slider_of_a_coordinate_stands_alone(open_live, view, width):
    live = open_live(Rotation2D, width=width)
    live.open()
    live.set(view=view)
    tops = live.evaluate(
        "[...figure.querySelectorAll('.posenc-compact')].filter((row) => row.offsetParent).map((row) => row.offsetTop)"
    )
    assert len(tops) == (4 if view == "two" else 8)
    assert len(set(Counter(tops).values())) == 1, "rows of unlike length"


def test_text_that_is_selected_stays_while_a_slider_moves(open_live):
    live = open_live(Rotation2D)
    live.open()
    live.evaluate("getSelection().selectAllChildren(figure.querySelector('.posenc-matrix td'))")
    live.input("theta").press("ArrowRight")
    live.settle()
    assert live.page.evaluate("getSelection().anchorNode.isConnected")

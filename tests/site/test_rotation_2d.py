"""Rotation2D beyond the battery: its arithmetic, the lock, and the numbers that are written out."""

from __future__ import annotations

import numpy as np
import pytest

from posenc._numbers import fixed
from posenc.frequencies import angles, inv_freq
from posenc.rotary import pair_scores, rotate, rotation_matrix
from posenc.widgets import Rotation2D

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


def test_the_lock_moves_both_positions_and_the_score_stays(open_live):
    live = open_live(Rotation2D)
    before = live.values()["by_matrices"]
    live.control("locked").locator("input").check()
    live.input("m").press("ArrowRight")
    assert (live.get("m"), live.get("n")) == (6, 3)
    assert abs(live.values()["by_matrices"] - before) < 1e-12
    live.input("m").press("End")
    assert (live.get("m"), live.get("n")) == (32, 29)
    live.input("n").press("End")  # the query stands at its end, so neither can move
    assert (live.get("m"), live.get("n")) == (32, 29)
    live.input("n").press("Home")
    assert (live.get("m"), live.get("n")) == (3, 0)
    assert abs(live.values()["by_matrices"] - before) < 1e-12
    live.control("locked").locator("input").uncheck()
    live.input("m").press("ArrowRight")
    assert (live.get("m"), live.get("n")) == (4, 0)
    assert abs(live.values()["by_matrices"] - before) > 0.01


def test_a_handle_stops_at_the_limits(open_live):
    live = open_live(Rotation2D)
    live.figure.locator("canvas").scroll_into_view_if_needed()
    box, [handle, _] = live.figure.locator("canvas").bounding_box(), live.evaluate("explorable.handles")
    live.page.mouse.move(box["x"] + handle["x"], box["y"] + handle["y"])
    live.page.mouse.down()
    live.page.mouse.move(box["x"] + 2, box["y"] + 2, steps=4)
    live.page.mouse.up()
    assert (live.get("q1"), live.get("q2")) == (-1.5, 1.5)


@pytest.mark.parametrize("view", ["two", "interleaved", "half"])
def test_the_present_numbers_are_written_out(open_live, view):
    live = open_live(Rotation2D)
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


def test_text_that_is_selected_stays_while_a_slider_moves(open_live):
    live = open_live(Rotation2D)
    live.evaluate("getSelection().selectAllChildren(figure.querySelector('.posenc-matrix td'))")
    live.input("theta").press("ArrowRight")
    live.settle()
    assert live.page.evaluate("getSelection().anchorNode.isConnected")

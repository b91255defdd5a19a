"""Extrapolation beyond the battery: the length is moved and pressed, and every value is read out."""

from __future__ import annotations

import pytest

from posenc.widgets import Extrapolation
from posenc.widgets.extrapolation import TIMES

pytestmark = pytest.mark.xdist_group("Extrapolation")  # with the battery of tests of it: they share its page


def test_the_length_goes_from_end_to_end_among_those_that_were_measured(open_live):
    live = open_live(Extrapolation)
    live.open()
    slider, typed = live.input("length"), live.input("length", "text")
    slider.press("Home")
    assert live.get("length") == 1
    slider.press("ArrowLeft")
    assert live.get("length") == 1
    slider.press("End")
    assert live.get("length") == 16
    live.figure.locator("canvas").scroll_into_view_if_needed()
    [handle], box = live.evaluate("explorable.handles"), live.figure.locator("canvas").bounding_box()
    live.page.mouse.move(box["x"] + handle["x"], box["y"] + handle["y"])
    live.page.mouse.down()
    for to, length in ((2.04, 4), (1.6, 2**1.6), (-1, 1), (1.4, 2**1.4)):
        x, _ = live.evaluate("explorable.pixel(...x)", [to, 2.5])
        live.page.mouse.move(box["x"] + x, box["y"] + handle["y"])
        live.settle()
        assert live.get("length") == pytest.approx(length, rel=0.04)
    live.page.mouse.up()
    live.settle()
    assert live.get("length") == 2, "it is let go at a length that was measured"
    typed.fill("3")
    typed.press("Enter")
    assert live.get("length") == 4
    assert live.finding.startswith("At 4 L")


def test_a_length_is_pressed_in_the_picture(open_live):
    live = open_live(Extrapolation)
    canvas = live.figure.locator("canvas")
    for place in (0, 4, 2, 1, 3):
        x, y = live.evaluate("explorable.pixel(...x)", [place, 2.5])
        canvas.click(position={"x": x + 6, "y": y})
        assert live.get("length") == TIMES[place]
    live.set(view="position")
    canvas.click(position={"x": x - 60, "y": y})
    assert live.get("length") == TIMES[3], "there the axis is another"

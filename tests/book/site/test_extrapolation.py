"""Extrapolation beyond the battery: the length is moved and pressed, and every value is read out."""

from __future__ import annotations

import re

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
    for to, length in ((2, 4), (2.04, 4), (1.6, 4), (1.4, 2), (-1, 1)):
        x, _ = live.evaluate("explorable.pixel(...x)", [to, 2.5])
        live.page.mouse.move(box["x"] + x, box["y"] + handle["y"])
        live.settle()
        assert live.get("length") == length
    live.page.mouse.up()
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


@pytest.mark.parametrize("view", ["length", "position"])
def test_every_place_is_read_off_by_keys(open_live, view):
    live = open_live(Extrapolation)
    live.set(view=view, length=2)
    field = live.figure.locator("[data-reader]")
    field.press("Home")
    places = [live.readout]
    for _ in range(7):
        field.press("ArrowRight")
        places.append(live.readout)
    starts = [re.match(r"[\d.]+ L( to [\d.]+ L)?", place)[0] for place in places]
    if view == "length":
        assert starts == ["1 L", "2 L", "4 L", "8 L", "16 L", "16 L", "16 L", "16 L"]
    else:
        assert starts[:4] == ["0 L to 0.5 L", "0.5 L to 1 L", "1 L to 1.5 L", "1.5 L to 2 L"]
        assert set(starts[4:]) == {"1.5 L to 2 L"}
    drawn = live.values()["first"]
    rows = drawn["by_length"] if view == "length" else drawn["by_position"]
    for seed, row in zip(drawn["seeds"], rows, strict=True):
        for value, place in zip(row, places, strict=False):
            assert f"{value:.{3 if view == 'length' else 2}f} (seed {seed})" in place

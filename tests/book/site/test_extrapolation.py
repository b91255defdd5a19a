"""Extrapolation beyond the battery: the length is moved and pressed, and every value is read out."""

from __future__ import annotations

import re

import pytest

from posenc.widgets import Extrapolation
from posenc.widgets.extrapolation import TIMES

pytestmark = pytest.mark.xdist_group("Extrapolation")  # with the battery of tests of it: they share its page


def test_the_length_moves_in_powers_of_two(open_live):
    live = open_live(Extrapolation)
    slider, typed = live.input("length"), live.input("length", "text")
    slider.press("Home")
    reached = [live.get("length")]
    for key in ("ArrowRight", "PageUp", "ArrowUp", "ArrowRight", "ArrowRight", "ArrowLeft"):
        slider.press(key)
        reached.append(live.get("length"))
    assert reached == [1, 2, 4, 8, 16, 16, 8]
    for to, length in ((-0.1, 1), (0.3, 2), (0.45, 4), (0.55, 4), (0.8, 8), (1.1, 16)):
        live.drag("length", to)
        assert live.get("length") == length
    typed.fill("3")
    typed.press("Enter")
    assert live.get("length") == 4
    assert live.notice == "sequence length takes powers of two from 1 to 16; 3 became 4."


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

"""Extrapolation on the built page: every measurement that can be chosen, on the shipped results and on made-up ones."""

from __future__ import annotations

import itertools
import re

import pytest

from posenc.widgets import Extrapolation
from posenc.widgets.extrapolation import SCALED, TIMES
from tests.unit.test_widgets_extrapolation import MEASURES, SCHEMES

pytestmark = pytest.mark.xdist_group("Extrapolation")  # with the battery of tests of it: they share its page


def test_axes_stay_while_one_chooses_and_drags(open_live):
    live = open_live(Extrapolation)
    for measure in MEASURES:
        live.set(measure=measure)
        low, high = Extrapolation.data()["limits"][measure]
        heights = set()
        for view, length, scheme in itertools.product(("length", "position"), TIMES, ("rope_100", "none")):
            live.set(view=view, length=length, scheme=scheme)
            heights.add(
                tuple(live.evaluate("[explorable.pixel(0, x[0])[1], explorable.pixel(0, x[1])[1]]", [low, high]))
            )
        assert len(heights) == 1, measure


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
    assert live.notice == "length of the text takes powers of two from 1 to 16; 3 became 4."


def test_scalings_are_offered_where_they_were_measured(open_live):
    live = open_live(Extrapolation)
    live.open()
    for scheme in SCHEMES:
        live.set(scheme=scheme)
        assert live.control("scaling").is_visible() == (scheme in SCALED), scheme


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


def test_chips_stand_in_groups_and_open_where_the_chosen_one_is_folded_away(open_live):
    live = open_live(Extrapolation)
    row = live.control("scheme")
    groups = Extrapolation.catalogue["controls"]["scheme"]["groups"]
    assert [group.get("folded", False) for group in groups] == [False] * (len(groups) - 1) + [True]
    seen = [radio.get_attribute("value") for radio in row.locator("input").all() if radio.is_visible()]
    assert seen == [scheme for group in groups[:-1] for scheme in group["options"]]
    live.set(scheme="quick_rope_1")
    assert row.locator("input:checked").is_visible()
    assert row.locator("input:checked").get_attribute("value") == "quick_rope_1"


def test_the_exam_that_forgives_looking_too_far_says_so(open_live):
    live = open_live(Extrapolation)
    for measure in MEASURES:
        live.set(measure=measure)
        assert ("who looks too far finds it all the same" in live.finding) == (measure == "copy")


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

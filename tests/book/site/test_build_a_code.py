"""BuildACode beyond the battery: a dragged speed leaves its list, and the map is pressed."""

from __future__ import annotations

import pytest

from posenc.widgets import BuildACode

pytestmark = pytest.mark.xdist_group("BuildACode")


def test_a_dragged_speed_is_ones_own(open_live):
    live = open_live(BuildACode)
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box, [hand] = canvas.bounding_box(), [h for h in live.evaluate("explorable.handles") if h["name"] == "hand 2"]
    live.page.mouse.move(box["x"] + hand["x"], box["y"] + hand["y"])
    live.page.mouse.down()
    live.page.mouse.move(box["x"] + hand["x"] - 60, box["y"] + hand["y"] + 30)
    live.page.mouse.up()
    live.settle()
    assert live.get("speeds") == "own"
    assert live.get("speed_2") < 0.3
    assert (live.get("speed_1"), live.get("speed_3")) == (1, 0.25)
    live.control("speeds").get_by_text("÷ 3", exact=True).click()
    assert live.get("speed_2") == 0.333


def test_a_press_on_the_map_takes_the_hands_there(open_live):
    live = open_live(BuildACode)
    x, y = live.evaluate("explorable.pixel(40, 12)")
    live.figure.locator("canvas").click(position={"x": x, "y": y})
    assert live.get("position") == 40
    assert live.readout.startswith("positions 40 and 12: 28 apart in the text")


def test_speeds_of_hands_that_are_not_there_are_not_shown(open_live):
    live = open_live(BuildACode)
    live.open()
    assert live.control("speed_4").is_visible()
    assert live.control("speed_5").is_hidden()
    live.set(hands=6)
    assert live.control("speed_6").is_visible()

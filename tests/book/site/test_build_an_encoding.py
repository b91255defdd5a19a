"""BuildAnEncoding beyond the battery: a dragged speed leaves its list, and the map is pressed."""

from __future__ import annotations

import pytest

from posenc.widgets import BuildAnEncoding
from tests.book.site.hands import drag_handle

pytestmark = pytest.mark.xdist_group("BuildAnEncoding")


def test_a_dragged_speed_is_ones_own(open_live):
    live = open_live(BuildAnEncoding)
    drag_handle(live, "hand 2", -60, 30)
    assert live.get("speeds") == "own"
    assert live.get("speed_2") < 0.3
    assert (live.get("speed_1"), live.get("speed_3")) == (1, 0.25)
    live.control("speeds").get_by_text("÷ 3", exact=True).click()
    assert live.get("speed_2") == 0.333


def test_a_press_on_the_map_takes_the_hands_there(open_live):
    live = open_live(BuildAnEncoding)
    x, y = live.evaluate("explorable.pixel(40, 12)")
    live.figure.locator("canvas").click(position={"x": x, "y": y})
    assert live.get("position") == 40
    assert live.readout.startswith("positions 40 and 12: 28 apart in the text")

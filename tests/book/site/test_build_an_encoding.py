"""BuildAnEncoding beyond the battery: a dragged frequency leaves its list, and the map is pressed."""

from __future__ import annotations

import pytest

from posenc.widgets import BuildAnEncoding
from tests.book.site.hands import drag_handle

pytestmark = pytest.mark.xdist_group("BuildAnEncoding")


def test_a_dragged_frequency_is_custom(open_live):
    live = open_live(BuildAnEncoding)
    live.set(cosines=True)
    drag_handle(live, "pair 1", -60, 30)
    assert live.get("frequencies") == "own"
    assert live.get("theta_1") < 0.3
    assert (live.get("theta_0"), live.get("theta_2")) == (1, 0.25)
    live.control("frequencies").get_by_text("ratio ⅓", exact=True).click()
    assert live.get("theta_1") == 0.333


def test_a_press_on_the_map_chooses_both_positions(open_live):
    live = open_live(BuildAnEncoding)
    x, y = live.evaluate("explorable.pixel(40, 12)")
    live.figure.locator("canvas").click(position={"x": x, "y": y})
    assert (live.get("position"), live.get("other")) == (40, 12)
    assert live.readout.startswith("positions 40 and 12, 28 apart: distance")


def test_the_point_stays_on_its_diagonal(open_live):
    live = open_live(BuildAnEncoding)
    drag_handle(live, "position", 60, 66)
    assert live.get("other") - live.get("position") == 24
    assert live.get("position") > 9
    drag_handle(live, "position", -60, 0)
    assert live.get("other") - live.get("position") < 20

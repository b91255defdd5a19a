"""BiasExplorer beyond the battery: what is pressed."""

from __future__ import annotations

import pytest

from posenc.widgets import BiasExplorer
from tests.book.site.hands import press
from tests.explorables import shown as displayed

pytestmark = pytest.mark.xdist_group("BiasExplorer")  # with the battery of tests of it: they share its page


def test_the_head_looked_at_is_one_of_the_heads(open_live):
    live = open_live(BiasExplorer)
    live.open()
    live.input("head").press("End")
    assert (live.get("head"), live.get("heads")) == (8, 8)
    live.input("heads").press("Home")
    assert (live.get("head"), live.get("heads")) == (1, 1)


def test_a_press_on_a_line_chooses_its_head(open_live):
    live = open_live(BiasExplorer)
    drawn = displayed(BiasExplorer).values["bias"]
    for head in (1, 5, 8, 2):
        m = 20 if head < 3 else 90
        press(live, *live.evaluate("explorable.pixel(...x)", [m, float(drawn[head - 1, m])]))
        assert live.get("head") == head
    press(live, *live.evaluate("explorable.pixel(...x)", [120, -12.0]))
    assert live.get("head") == 3, "the nearest line"


def test_a_new_draw_is_offered_only_where_something_is_drawn(open_live):
    live = open_live(BiasExplorer)
    live.open()
    assert live.control("draw").is_hidden()
    live.set(scheme="fire")
    assert live.control("draw").is_visible()

"""AttentionByHand beyond the battery: arrows pull their matrix along, and a row of the table chooses the query."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import AttentionByHand
from posenc.widgets.attention_by_hand import WORDS
from tests.book.site.hands import drag_handle

pytestmark = pytest.mark.xdist_group("AttentionByHand")


def test_a_pulled_query_takes_its_matrix_and_with_it_every_query_along(open_live):
    live = open_live(AttentionByHand)
    before = live.values()
    drag_handle(live, "query", 0, -60)
    after = live.values()
    assert after["queries"][2][1] > before["queries"][2][1] + 0.5
    moved = np.abs(np.subtract(after["queries"], before["queries"])).max(axis=1)
    assert moved[3] > 0.05, "“on” has some action in it, so its query moves too"
    np.testing.assert_allclose(after["keys"], before["keys"])


def test_a_press_on_a_row_lets_that_word_ask(open_live):
    live = open_live(AttentionByHand)
    for word in (5, 1):
        x, y = live.evaluate("explorable.pixel(x, 2)", word)
        live.figure.locator("canvas").click(position={"x": x, "y": y})
        live.settle()
        assert live.get("token") == str(word)
        assert f"the output of “{WORDS[word]}”" in live.finding

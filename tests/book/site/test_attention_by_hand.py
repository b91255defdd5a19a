"""AttentionByHand beyond the battery: arrows pull their matrix along, and a row of the table asks."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import AttentionByHand
from posenc.widgets.attention_by_hand import WORDS

pytestmark = pytest.mark.xdist_group("AttentionByHand")


def drag(live, name: str, across: float, up: float) -> None:
    """Drag a handle by so many pixels."""
    [handle] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == name]
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + handle["x"], box["y"] + handle["y"]
    live.page.mouse.move(x, y)
    live.page.mouse.down()
    live.page.mouse.move(x + across / 2, y + up / 2)
    live.page.mouse.move(x + across, y + up)
    live.page.mouse.up()
    live.settle()


def test_a_pulled_query_takes_its_matrix_and_with_it_every_query_along(open_live):
    live = open_live(AttentionByHand)
    before = live.values()
    drag(live, "query", 0, -60)
    after = live.values()
    assert after["queries"][2][1] > before["queries"][2][1] + 0.5
    moved = np.abs(np.subtract(after["queries"], before["queries"])).max(axis=1)
    assert moved[3] > 0.05, "“on” has some action in it, so its query moves too"
    np.testing.assert_allclose(after["keys"], before["keys"])


def test_a_pulled_key_changes_who_is_found(open_live):
    live = open_live(AttentionByHand)
    drag(live, "key mat", 150, 0)
    values = live.values()
    assert values["keys"][5][0] > 1.5
    assert WORDS[int(np.argmax(values["weights"][2]))] == "mat"


def test_a_press_on_a_row_lets_that_word_ask(open_live):
    live = open_live(AttentionByHand)
    for word in (5, 0):
        x, y = live.evaluate("explorable.pixel(x, 2)", word)
        live.figure.locator("canvas").click(position={"x": x, "y": y})
        live.settle()
        assert live.get("word") == str(word)
        assert live.finding.startswith(f"“{WORDS[word]}” asks with")


def test_an_arrow_ends_with_its_plane(open_live):
    live = open_live(AttentionByHand, width=360)
    _, table = live.evaluate("explorable.pixel(0, 0)")
    drag(live, "key mat", 0, table)  # onto the table, which stands below
    [handle] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == "key mat"]
    assert handle["y"] < table - 30
    assert live.values()["keys"][5][1] < -0.5
    live.set(k_glue_object=-4.0)
    assert "key the" not in {handle["name"] for handle in live.evaluate("explorable.handles")}

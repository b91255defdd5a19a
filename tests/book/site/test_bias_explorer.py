"""BiasExplorer: its arithmetic against posenc over the range of every slider, and what only it does on a page."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import BiasExplorer

pytestmark = pytest.mark.xdist_group("BiasExplorer")  # with the battery of tests of it: they share its page


def test_there_are_as_many_heads_as_the_one_looked_at_needs(open_live):
    live = open_live(BiasExplorer)
    live.open()
    live.input("head").press("End")
    assert (live.get("head"), live.get("heads")) == (16, 16)
    live.input("heads").press("Home")
    assert (live.get("head"), live.get("heads")) == (1, 1)


def test_there_are_as_many_distances_as_the_one_looked_at_needs(open_live):
    live = open_live(BiasExplorer)
    live.open()
    live.input("back").press("End")
    assert (live.get("back"), live.get("distance")) == (512, 512)
    live.input("distance").press("Home")
    assert (live.get("back"), live.get("distance")) == (8, 8)


def click(live, x: float, y: float) -> None:
    """Press the picture where nothing is dragged."""
    live.figure.locator("canvas").click(position={"x": x, "y": y})


@pytest.mark.parametrize("shown", ["bias", "attention"])
def test_a_press_on_a_line_chooses_its_head(open_live, shown):
    live = open_live(BiasExplorer)
    live.set(shown=shown, back=2 if shown == "bias" else 128)
    drawn = BiasExplorer(shown=shown).values()["bias" if shown == "bias" else "within"]
    for head in (1, 5, 8, 2):
        m = 20 if head < 3 else 90
        if shown == "attention":
            m = 1 + int(np.argmax(drawn[head - 1] > 0.6))
        click(live, *live.evaluate("explorable.pixel(...x)", [m, float(drawn[head - 1, m])]))
        assert live.get("head") == head
    click(live, *live.evaluate("explorable.pixel(...x)", [100, -14.0 if shown == "bias" else 0.1]))
    assert live.get("head") == 2, "no line is near"


def test_the_distance_is_dragged_and_the_matrix_follows(open_live):
    live = open_live(BiasExplorer)
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    (_, top), (across, _) = (live.evaluate("explorable.pixel(...x)", [m, -1.0]) for m in (16, 40))
    [handle] = live.evaluate("explorable.handles")
    live.page.mouse.move(box["x"] + handle["x"] + 3, box["y"] + top)  # anywhere on the line
    live.page.mouse.down()
    live.page.mouse.move(box["x"] + across, box["y"] + top, steps=4)
    live.page.mouse.up()
    assert live.get("back") == 40
    assert "40 tokens back, the bias of head 3 is −5.000 for every query." in live.finding
    np.testing.assert_allclose(live.values()["diagonal"], BiasExplorer(back=40).values()["diagonal"])


def test_curves_and_the_matrix_are_read_by_the_pointer(open_live):
    live = open_live(BiasExplorer)
    canvas = live.figure.locator("canvas")
    distance, query, key = live.evaluate("explorable.readers")
    canvas.hover(position={"x": distance["x"], "y": distance["y"]})
    values = BiasExplorer().values()
    m = int(live.readout.split()[0])
    share = f"{100 * values['within'][2, m]:.1f} %"
    assert live.readout == (
        f"{m} tokens back, head 3: bias −{m / 8:.3f} · {share} of the last query's attention falls no farther back"
    )
    canvas.hover(position={"x": query["x"] - 20, "y": key["y"] + 15})
    cell = live.readout
    assert cell.startswith("query ")
    assert " back: bias −" in cell
    live.set(shown="attention")
    assert live.readout == cell  # the same place in the matrix of the weights
    canvas.hover(position={"x": query["x"] + 30, "y": key["y"] - 35})
    assert live.readout.endswith("masked, for the key stands after the query")


def test_the_small_chart_is_pressed_to_be_large(open_live):
    live = open_live(BiasExplorer)
    width = live.evaluate("figure.querySelector('canvas').clientWidth")
    height = live.evaluate("figure.querySelector('canvas').clientHeight")
    for shown in ("attention", "bias"):
        click(live, width - 30, height - 40)
        assert live.get("shown") == shown


def test_only_a_scheme_that_learns_offers_a_draw(open_live):
    live = open_live(BiasExplorer)
    live.open()
    assert live.control("draw").is_hidden()
    live.control("scheme").get_by_text("KERPLE, log", exact=True).click()
    live.control("draw").locator("button").click()
    assert "(draw 1)" in live.finding

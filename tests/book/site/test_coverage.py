"""Coverage beyond the battery: its arithmetic, the lengths in the picture, and what presets do on the page."""

from __future__ import annotations

import pytest

from posenc.widgets import Coverage
from tests.book.site.texts import written

pytestmark = pytest.mark.xdist_group("Coverage")  # with the battery of tests of it: they share its page


def test_a_slider_leaves_the_model(open_live):
    live = open_live(Coverage)
    live.open()
    assert live.get("model") == "Llama-2-7b-hf"
    live.input("used").press("End")
    assert live.get("model") == "Llama-2-7b-hf"  # no part of the preset
    live.input("base").press("ArrowRight")
    assert live.get("model") == "own"
    live.control("model").locator("select").select_option("Qwen3-8B")
    assert (live.get("base"), live.get("trained")) == (1e6, 32_768)


def test_a_link_names_a_model_alone(open_live):
    live = open_live(Coverage)
    live.evaluate("model.set('_restore', x)", {"model": "gpt-neox-20b"})
    assert live.setting() == Coverage(model="gpt-neox-20b").setting()
    live.evaluate("model.set('_restore', x)", {"model": "Llama-2-7b-hf", "base": "77"})
    assert live.setting() == Coverage(model="Llama-2-7b-hf", base=77.0).setting()
    assert live.get("model") == "own"


@pytest.mark.parametrize("chart", ["new", "turns"])
def test_a_ring_and_a_chart_read_off_the_same_pair_and_are_pressed(open_live, chart):
    live = open_live(Coverage)
    live.set(chart=chart)
    canvas = live.figure.locator("canvas")
    canvas.hover(position={"x": 5, "y": 97})
    by_ring = live.readout
    assert by_ring.startswith("pair 0: one turn in 6.283 tokens · 651.9 turns in training · 1\u202f304 in use · no new")
    x, y = live.evaluate("explorable.pixel(0, 10)")
    canvas.hover(position={"x": x, "y": y})
    assert live.readout == by_ring
    canvas.click(position={"x": 5, "y": 97})
    assert live.get("pair") == 0
    x, y = live.evaluate("explorable.pixel(55, 10)")
    canvas.click(position={"x": x, "y": y})
    assert live.get("pair") == 55


@pytest.mark.parametrize("width", [1280, 360])
def test_both_lengths_are_dragged_along_their_bars_to_either_end(open_live, width):
    live = open_live(Coverage, width=width)
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    for name, least, greatest in (("used", 16, 131_072), ("trained", 16, 65_536)):
        for share, end in ((-0.1, least), (1.1, greatest)):
            box = canvas.bounding_box()
            [handle] = [each for each in live.evaluate("explorable.handles") if each["name"] == name]
            y = box["y"] + handle["y"]
            live.page.mouse.move(box["x"] + handle["x"], y)
            live.page.mouse.down()
            live.page.mouse.move(box["x"] + box["width"] * share, y, steps=3)
            live.page.mouse.up()
            assert live.get(name) == end
    assert live.get("model") == "own"  # the trained length is part of the preset


def test_lengths_that_are_alike_are_still_dragged_apart(open_live):
    live = open_live(Coverage)
    live.set(used=4096)
    trained, used = live.evaluate("explorable.handles")
    assert trained["x"] == used["x"]
    assert used["y"] - trained["y"] > 20


def test_the_large_ring_says_its_turns(open_live):
    live = open_live(Coverage)
    live.set(**Coverage().setting())
    said = {"pair 50", "met in training: 0.49 turns", "longer text: to 0.98 turns", "trained on 4\u202f096 tokens"}
    assert said <= {text["text"] for text in written(live)}
    alike = {text["text"] for text in written(live, used=4096)}
    assert not [text for text in alike if text.startswith(("longer", "new at"))]

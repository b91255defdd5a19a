"""AngleCoverage beyond the battery: the lengths in the picture, and presets."""

from __future__ import annotations

import pytest

from posenc.widgets import AngleCoverage

pytestmark = pytest.mark.xdist_group("AngleCoverage")  # with the battery of tests of it: they share its page


def test_a_link_names_a_model_alone(open_live):
    live = open_live(AngleCoverage)
    live.evaluate("model.set('_restore', x)", {"model": "gpt-neox-20b"})
    assert live.setting() == AngleCoverage(model="gpt-neox-20b").setting()
    live.evaluate("model.set('_restore', x)", {"model": "Llama-2-7b-hf", "base": "77"})
    assert live.setting() == AngleCoverage(model="Llama-2-7b-hf", base=77.0).setting()
    assert live.get("model") == "own"


@pytest.mark.parametrize("chart", ["unseen", "rotations"])
def test_a_ring_and_a_chart_read_off_the_same_pair_and_are_pressed(open_live, chart):
    live = open_live(AngleCoverage)
    live.set(chart=chart)
    canvas = live.figure.locator("canvas")
    canvas.hover(position={"x": 5, "y": 97})
    by_ring = live.readout
    assert by_ring == "pair 0: no unseen angle"
    x, y = live.evaluate("explorable.pixel(0, 10)")
    canvas.hover(position={"x": x, "y": y})
    assert live.readout == by_ring
    canvas.click(position={"x": 5, "y": 97})
    assert live.get("pair") == 0
    x, y = live.evaluate("explorable.pixel(55, 10)")
    canvas.click(position={"x": x, "y": y})
    assert live.get("pair") == 55

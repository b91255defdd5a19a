"""LearnedDistanceBias and CopyDistance beyond the battery: what a press chooses."""

from __future__ import annotations

import pytest

from posenc.widgets import CopyDistance, LearnedDistanceBias


@pytest.mark.xdist_group("LearnedDistanceBias")
def test_a_press_on_a_bar_shows_the_bias_of_its_pair(open_live):
    live = open_live(LearnedDistanceBias)
    bars = next(reader for reader in live.evaluate("explorable.readers") if reader["name"] == "bar")
    for pair in (0, 6):
        x, _ = live.evaluate("explorable.pixel(x)", pair)
        live.figure.locator("canvas").click(position={"x": x, "y": bars["y"]})
        live.settle()
        assert live.get("pair") == pair


@pytest.mark.xdist_group("CopyDistance")
def test_a_press_on_a_cell_reads_it(open_live):
    live = open_live(CopyDistance)
    x, y = live.evaluate("explorable.pixel(3, 6)")
    live.figure.locator("canvas").click(position={"x": x, "y": y})
    live.settle()
    assert (live.get("length"), live.get("distance")) == (1024, "768")
    assert live.readout.startswith("1\u202f024 tokens, 768 back: ")
    x, y = live.evaluate("explorable.pixel(0, 6)")
    live.figure.locator("canvas").hover(position={"x": x, "y": y})
    assert live.readout == "128 tokens: too short for a block 768 back"

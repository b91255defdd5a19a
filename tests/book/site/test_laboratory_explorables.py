"""LearnedDistanceBias and CopyDistance beyond the battery: what a press chooses."""

from __future__ import annotations

import pytest

from posenc.widgets import CopyDistance, LearnedDistanceBias


@pytest.mark.xdist_group("LearnedDistanceBias")
def test_a_press_chooses_the_sequence_length(open_live):
    live = open_live(LearnedDistanceBias)
    for length in (10, 150):
        x, y = live.evaluate("explorable.pixel(...x)", [length, -10])
        live.figure.locator("canvas").click(position={"x": x, "y": y})
        live.settle()
        assert live.get("length") == length


@pytest.mark.xdist_group("CopyDistance")
def test_a_press_on_a_cell_reads_it(open_live):
    live = open_live(CopyDistance)
    x, y = live.evaluate("explorable.pixel(5, 0)")
    live.figure.locator("canvas").click(position={"x": x, "y": y})
    live.settle()
    assert (live.get("scaling"), live.get("distance")) == ("yarn", "768")
    assert live.get("length") == 1024, "so long that the block has its place"
    assert live.readout.startswith("YaRN, 768 tokens back: ")
    live.set(length=128)
    x, y = live.evaluate("explorable.pixel(0, 1)")
    live.figure.locator("canvas").hover(position={"x": x, "y": y})
    assert live.readout == "No scaling: 128 tokens are too short for a block 384 back"

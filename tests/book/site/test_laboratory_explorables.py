"""LearnedDistanceBias beyond the battery: what a press chooses."""

from __future__ import annotations

import pytest

from posenc.widgets import LearnedDistanceBias


@pytest.mark.xdist_group("LearnedDistanceBias")
def test_a_press_chooses_the_sequence_length(open_live):
    live = open_live(LearnedDistanceBias)
    for length in (10, 150):
        x, y = live.evaluate("explorable.pixel(...x)", [length, -10])
        live.figure.locator("canvas").click(position={"x": x, "y": y})
        live.settle()
        assert live.get("length") == length

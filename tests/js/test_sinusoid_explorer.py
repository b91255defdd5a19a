"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import SinusoidExplorer
from tests.explorables import shown

OFFSETS = np.arange(-64, 65)


def test_each_step_of_the_story_is_true():
    told = {}
    for step in SinusoidExplorer.story():
        widget = shown(SinusoidExplorer, **SinusoidExplorer.story()[step])
        told[step] = widget.facts | {"kernel": widget.values["kernel"]}
    assert list(told) == ["angles", "none", "random", "shift", "base-one"]
    assert not told["random"]["by_offset"]
    for step in ("none", "base-one"):
        assert told[step]["by_offset"]
        assert told[step]["symmetric"]
    elsewhere = shown(SinusoidExplorer, position=90).values["kernel"]
    np.testing.assert_allclose(told["none"]["kernel"], elsewhere, atol=1e-12)
    assert (told["shift"]["peak"], told["shift"]["symmetric"]) == (16, False)
    np.testing.assert_allclose(told["base-one"]["kernel"], np.cos(OFFSETS), atol=1e-12)
    assert told["base-one"]["slowest"] == pytest.approx(2 * np.pi)


@pytest.mark.parametrize(("base", "nearby"), [(10_000, True), (2, False), (1, False)])
def test_nearby_positions_are_the_most_similar_only_if_pairs_are_slow(base, nearby):
    finding = shown(SinusoidExplorer, weight="identity", base=base).finding
    assert ("nearby positions are the most similar" in finding) == nearby

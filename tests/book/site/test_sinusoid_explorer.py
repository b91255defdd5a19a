"""SinusoidExplorer beyond the battery: what dragging and drawing anew change."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import SinusoidExplorer

pytestmark = pytest.mark.xdist_group("SinusoidExplorer")  # with the battery of tests of it: they share its page


def test_dragging_the_position_moves_the_hands_and_not_the_curve(open_live):
    live = open_live(SinusoidExplorer)
    live.open()
    live.set(weight="identity")
    before = live.values()
    live.drag("position", 0.8)
    assert live.get("position") > 64
    after = live.values()
    assert np.abs(np.subtract(after["code"], before["code"])).max() > 0.1
    np.testing.assert_allclose(after["kernel"], before["kernel"], atol=1e-12)
    live.set(weight="random")
    there = live.values()["kernel"]
    live.input("position").press("Home")
    assert np.abs(np.subtract(live.values()["kernel"], there)).max() > 0.1


def test_a_new_draw_is_another_matrix_and_the_shift_operator_points(open_live):
    live = open_live(SinusoidExplorer)
    live.open()
    live.set(weight="identity")
    assert live.control("draw").is_hidden()
    live.set(weight="random")
    first = live.values()
    live.control("draw").locator("button").click()
    assert live.get("draw") == 1
    second = live.values()
    assert np.abs(np.subtract(first["kernel"], second["kernel"])).max() > 0.1
    live.set(weight="shift")
    for offset in (-30, 12):
        live.set(offset=offset)
        assert live.values()["peak"] == offset

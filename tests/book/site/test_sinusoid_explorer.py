"""SinusoidExplorer beyond the battery: what dragging and drawing anew change."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import SinusoidExplorer
from tests.book.site.hands import drag
from tests.explorables import shown

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


@pytest.mark.release
@pytest.mark.parametrize("finger", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_both_positions_and_the_offset_are_dragged_in_the_picture(open_live, finger, width):
    live = open_live(SinusoidExplorer, width=width, height=740, has_touch=finger)
    canvas = "figure.querySelector('canvas').clientWidth"

    def handle(name):
        return next(handle for handle in live.evaluate("explorable.handles") if handle["name"] == name)

    def move(name, across, down=0):
        start = handle(name)
        there = (start["x"] + across, start["y"] + down)
        drag(live, [(start["x"], start["y"]), (start["x"] + across / 2, start["y"]), there], finger)
        return there

    assert [one["name"] for one in live.evaluate("explorable.handles")] == ["position", "key", "offset"]
    x, _ = move("position", 60, 7)
    assert live.get("position") > 20
    assert live.get("offset") == 10, "the distance stays"
    assert abs(handle("position")["x"] - x) < 4
    key, position = live.get("position") - 10, live.get("position")
    x, _ = move("key", -40, -5)
    assert live.get("position") == position
    assert position - live.get("offset") < key
    assert abs(handle("key")["x"] - x) < 4
    live.set(position=20, offset=10)
    x, _ = move("offset", -30, 4)
    assert live.get("offset") < 10
    assert abs(handle("offset")["x"] - x) < 4
    start = handle("offset")
    (_, top), (_, bottom) = (live.evaluate("explorable.pixel(...x)", [0, value]) for value in (1, -0.4))
    far = next(y for y in (top, bottom) if abs(y - start["y"]) > 30)  # its line, away from the mark on it
    drag(live, [(start["x"], far), (start["x"] + 40, far)], finger)
    assert abs(handle("offset")["x"] - start["x"] - 40) < 4
    assert live.finding == shown(SinusoidExplorer, **live.setting()).finding
    live.set(position=3, offset=60)
    left = handle("key")["x"]
    assert 0 < left < live.evaluate(canvas) / 2, "a key outside the table waits at its edge"
    move("key", 25)
    assert live.get("offset") <= 3

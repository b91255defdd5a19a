"""PatchGrid beyond the battery: patches are dragged from cell to cell, time has its control, and the arithmetic."""

from __future__ import annotations

import pytest

from posenc.widgets import PatchGrid

pytestmark = pytest.mark.xdist_group("PatchGrid")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_patch_is_dragged_from_cell_to_cell(open_live, width):
    live = open_live(PatchGrid, width=width)
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    for name, (row, column) in {"key": (6, 9), "query": (0, 1)}.items():
        [handle] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == name]
        x, y = live.evaluate(f"explorable.pixel({row}, {column})")
        box = canvas.bounding_box()
        live.page.mouse.move(box["x"] + handle["x"], box["y"] + handle["y"])
        live.page.mouse.down()
        live.page.mouse.move(box["x"] + x + 4, box["y"] + y - 4)
        live.page.mouse.up()
        live.settle()
        assert [live.get(f"{name}_row"), live.get(f"{name}_column")] == [row, column]


def test_frames_have_a_control_where_a_rule_has_time(open_live):
    live = open_live(PatchGrid)
    for rule, there in (("page", False), ("axes", False), ("blocks", True), ("turns", True)):
        live.set(rule=rule)
        assert live.control("frame").is_visible() == there

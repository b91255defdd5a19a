"""PatchGrid beyond the battery: patches are dragged from cell to cell."""

from __future__ import annotations

import pytest

from posenc.widgets import PatchGrid
from tests.book.site.hands import drag_handle, handle_of

pytestmark = pytest.mark.xdist_group("PatchGrid")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_patch_is_dragged_from_cell_to_cell(open_live, width):
    live = open_live(PatchGrid, width=width)
    for name, (row, column) in {"key": (6, 9), "query": (0, 1)}.items():
        x, y = live.evaluate(f"explorable.pixel({row}, {column})")
        handle = handle_of(live, name)
        drag_handle(live, name, x + 4 - handle["x"], y - 4 - handle["y"])
        assert [live.get(f"{name}_row"), live.get(f"{name}_column")] == [row, column]

"""PatchGrid: a query patch and a key patch of an image, and which axis each pair of a head follows."""

from __future__ import annotations

from posenc.widgets._base import Choice, Control, Explorable

ROWS, COLUMNS = 8, 12
_VIDEO = {"rule": ["blocks", "interleaved"]}


class PatchGrid(Explorable):
    """The score of an aligned query and key over all patches of an image, by four rules for the axis of each pair."""

    module = "patch_grid"
    room = (644, 746)
    main = ("rule", "base")

    rule = Choice("raster", chips=True)
    frame = Control(0, 0, 16, "integer", needs=_VIDEO)
    base = Control(100.0, 1, 1e8, "log")
    query_row = Control(3, 0, ROWS - 1, "integer")
    query_column = Control(4, 0, COLUMNS - 1, "integer")
    key_row = Control(4, 0, ROWS - 1, "integer")
    key_column = Control(4, 0, COLUMNS - 1, "integer")

"""PatchGrid: a query patch and a key patch of an image, and which axis each pair of a head follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.frequencies import inv_freq
from posenc.rope import sections
from posenc.widgets._base import Choice, Control, Explorable

ROWS, COLUMNS = 8, 12
PAIRS = 16
TIME, ROW, COLUMN, ORDER = range(4)  # what a pair follows; the last is the place in reading order
_VIDEO = {"rule": ["blocks", "turns"]}
_FOLLOWED = {
    "page": [ORDER] * PAIRS,
    "axes": [ROW] * (PAIRS // 2) + [COLUMN] * (PAIRS // 2),
    "blocks": sections((4, 6, 6)),  # a quarter of Qwen2-VL's
    "turns": sections((6, 5, 5), interleaved=True),  # a quarter of Qwen3-VL's
}


class PatchGrid(Explorable):
    """The score of an aligned query and key over all patches of a picture, by four rules of who follows which axis."""

    module = "patch_grid"
    room = (678, 929)
    main = ("rule", "frame")

    rule = Choice("page", chips=True)
    frame = Control(0, 0, 16, "integer", needs=_VIDEO)
    base = Control(100.0, 1, 1e8, "log")
    query_row = Control(3, 0, ROWS - 1, "integer")
    query_column = Control(4, 0, COLUMNS - 1, "integer")
    key_row = Control(4, 0, ROWS - 1, "integer")
    key_column = Control(4, 0, COLUMNS - 1, "integer")

    def _angles(self, row: Any, column: Any) -> np.ndarray:
        """By how much each pair turns from a key to the query, in radians: shape (…, PAIRS)."""
        down, across = self.query_row - np.asarray(row), self.query_column - np.asarray(column)
        apart = np.stack([np.full(np.shape(down), self._frames), down, across, COLUMNS * down + across], axis=-1)
        return apart[..., _FOLLOWED[self.rule]] * self._frequencies

    @property
    def _frames(self) -> int:
        return self.frame if self.rule in _VIDEO["rule"] else 0

    @property
    def _frequencies(self) -> np.ndarray:
        if self.rule == "axes":
            return np.tile(inv_freq(PAIRS, self.base), 2)
        return inv_freq(2 * PAIRS, self.base)

    def values(self) -> dict[str, Any]:
        """The score on every patch, what each pair follows, and its angle between the two patches."""
        angles = self._angles(self.key_row, self.key_column)
        return {
            "scores": np.cos(self._angles(*np.indices((ROWS, COLUMNS)))).mean(axis=-1),
            "axes": _FOLLOWED[self.rule],
            "angles": angles,
            "score": float(np.cos(angles).mean()),
        }

    def facts(self) -> dict[str, Any]:
        values = self.values()
        axes, angles = np.array(values["axes"]), values["angles"]
        down, across = self.key_row - self.query_row, self.key_column - self.query_column

        def fastest(axis: int) -> float:
            its = np.abs(np.degrees(angles[axes == axis]))
            return float(its[0]) if len(its) else 0.0

        def part(axis: int) -> float:
            return float(np.cos(angles[axes == axis]).sum() / PAIRS)

        return {
            "score": values["score"],
            "down": down,
            "up": -down,
            "right": across,
            "left": -across,
            "tokens": abs(COLUMNS * down + across),
            "width": COLUMNS,
            "rows_part": part(ROW),
            "columns_part": part(COLUMN),
            "of_time": fastest(TIME),
            "of_rows": fastest(ROW),
            "of_columns": fastest(COLUMN),
        }

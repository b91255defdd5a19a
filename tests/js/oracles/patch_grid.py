"""What PatchGrid draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.frequencies import inv_freq
from posenc.rope import sections
from posenc.widgets import PatchGrid
from posenc.widgets.patch_grid import _VIDEO, COLUMNS, ROWS

PAIRS = 16

TIME, ROW, COLUMN, ORDER = range(4)  # what a pair follows; the last is the index in raster order

_FOLLOWED = {
    "raster": [ORDER] * PAIRS,
    "axes": [ROW] * (PAIRS // 2) + [COLUMN] * (PAIRS // 2),
    "blocks": sections((4, 6, 6)),  # a quarter of Qwen2-VL's
    "interleaved": sections((6, 5, 5), interleaved=True),  # a quarter of Qwen3-VL's
}


def _angles(widget: PatchGrid, row: Any, column: Any) -> np.ndarray:
    """By how much each pair rotates from a key to the query, in radians: shape (…, PAIRS)."""
    down, across = widget.query_row - np.asarray(row), widget.query_column - np.asarray(column)
    apart = np.stack([np.full(np.shape(down), _frames(widget)), down, across, COLUMNS * down + across], axis=-1)
    return apart[..., _FOLLOWED[widget.rule]] * _frequencies(widget)


def _frames(widget: PatchGrid) -> int:
    return widget.frame if widget.rule in _VIDEO["rule"] else 0


def _frequencies(widget: PatchGrid) -> np.ndarray:
    if widget.rule == "axes":
        return np.tile(inv_freq(PAIRS, widget.base), 2)
    return inv_freq(2 * PAIRS, widget.base)


def values(widget: PatchGrid) -> dict[str, Any]:
    """The score on every patch, what each pair follows, and its angle between the two patches."""
    angles = _angles(widget, widget.key_row, widget.key_column)
    return {
        "scores": np.cos(_angles(widget, *np.indices((ROWS, COLUMNS)))).mean(axis=-1),
        "axes": _FOLLOWED[widget.rule],
        "angles": angles,
        "score": float(np.cos(angles).mean()),
    }

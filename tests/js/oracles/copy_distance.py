"""What CopyDistance draws, by the package."""

from __future__ import annotations

from typing import Any

from posenc.widgets import CopyDistance
from posenc.widgets.copy_distance import (
    TUNED,
    _accuracy,
    _attention,
    _tuned,
)


def _is_tuned(widget: CopyDistance) -> bool:
    return widget.fine_tuning != "0" and widget.training == "single_copy" and widget.scaling in TUNED


def values(widget: CopyDistance) -> dict[str, Any]:
    """Accuracy by length and distance, as trained, scaled and tuned, and attention weights by band of distance.

    `before` is the accuracy of the tuned seed before tuning, None where nothing is tuned.
    """
    attended, tuned = _attention(widget.training, widget.base), _is_tuned(widget)
    return {
        "accuracy": (
            _tuned(widget.base, widget.scaling, widget.fine_tuning)
            if tuned
            else _accuracy(widget.training, widget.base, widget.scaling)
        ),
        "before": _tuned(widget.base, widget.scaling, "0") if tuned else None,
        "as_trained": _accuracy(widget.training, widget.base, "default"),
        "trained_bands": attended["trained"]["bands"],
        "bands": attended["scaled"][widget.scaling]["bands"],
        "trained_at": attended["trained"]["at"],
        "at": attended["scaled"][widget.scaling]["at"],
        "head": attended["head"],
    }

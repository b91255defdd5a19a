"""What CopyDistance draws, by the package."""

from __future__ import annotations

from typing import Any

from posenc.widgets import CopyDistance
from posenc.widgets.copy_distance import TUNED, _accuracy, _tuned


def _is_tuned(widget: CopyDistance) -> bool:
    return widget.fine_tuning != "0" and widget.training == "single_copy" and widget.scaling in TUNED


def values(widget: CopyDistance) -> dict[str, Any]:
    """Accuracy by length and distance with each scaling, tuned or not, and as trained.

    `before` is the accuracy of the tuned seed before tuning, None where nothing is tuned.
    """
    tuned, training, base = _is_tuned(widget), widget.training, widget.base
    scalings = widget.catalogue["controls"]["scaling"]["options"]
    return {
        "methods": {
            name: (_tuned(base, name, widget.fine_tuning) if name in TUNED else None)
            if tuned
            else _accuracy(training, base, name)
            for name in scalings
        },
        "before": _tuned(base, widget.scaling, "0") if tuned else None,
        "as_trained": _accuracy(training, base, "default"),
    }

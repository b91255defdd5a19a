"""What BuildACode draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import min_distance, monotonicity_violations, translation_residual
from posenc.widgets import BuildACode
from posenc.widgets.build_a_code import LENGTH


def _speeds(widget: BuildACode) -> np.ndarray:
    """The speeds of the hands there are, in radians per token, shape (hands,)."""
    return np.array([getattr(widget, f"speed_{k + 1}") for k in range(widget.hands)])


def values(widget: BuildACode) -> dict[str, Any]:
    """The code of each position, sines first, then cosines where they are kept; and scores for three wishes."""
    turned = np.arange(LENGTH)[:, None] * _speeds(widget)  # (positions, hands)
    codes = np.concatenate([np.sin(turned), np.cos(turned)], axis=1) if widget.cosines else np.sin(turned)
    return {
        "codes": codes,
        "least_distance": float(min_distance(codes)),
        "translation_residual": float(translation_residual(codes)),
        "monotonicity_violations": monotonicity_violations(codes),
    }

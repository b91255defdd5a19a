"""What BuildAnEncoding draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import min_distance, monotonicity_violations, translation_residual
from posenc.widgets import BuildAnEncoding
from posenc.widgets.build_an_encoding import LENGTH


def _speeds(widget: BuildAnEncoding) -> np.ndarray:
    """The speeds of the hands there are, in radians per token, shape (hands,)."""
    return np.array([getattr(widget, f"speed_{k + 1}") for k in range(widget.hands)])


def values(widget: BuildAnEncoding) -> dict[str, Any]:
    """The code of each position, sines first, then cosines where they are kept; and scores for three wishes."""
    turned = np.arange(LENGTH)[:, None] * _speeds(widget)  # (positions, hands)
    codes = np.concatenate([np.sin(turned), np.cos(turned)], axis=1) if widget.cosines else np.sin(turned)
    return {
        "codes": codes,
        "least_distance": float(min_distance(codes)),
        "translation_residual": float(translation_residual(codes)),
        "monotonicity_violations": monotonicity_violations(codes),
    }

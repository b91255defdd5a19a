"""What BuildAnEncoding draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import min_distance, monotonicity_violations, translation_residual
from posenc.widgets import BuildAnEncoding
from posenc.widgets.build_an_encoding import LENGTH


def _frequencies(widget: BuildAnEncoding) -> np.ndarray:
    """The frequencies of the pairs, in radians per token, shape (pairs,)."""
    return np.array([getattr(widget, f"theta_{k}") for k in range(widget.pairs)])


def values(widget: BuildAnEncoding) -> dict[str, Any]:
    """The encoding of each position, sines first, then cosines where they are kept; and scores for three properties."""
    phi = np.arange(LENGTH)[:, None] * _frequencies(widget)  # (positions, pairs)
    codes = np.concatenate([np.sin(phi), np.cos(phi)], axis=1) if widget.cosines else np.sin(phi)
    return {
        "codes": codes,
        "min_distance": float(min_distance(codes)),
        "translation_residual": float(translation_residual(codes)),
        "monotonicity_violations": monotonicity_violations(codes),
    }

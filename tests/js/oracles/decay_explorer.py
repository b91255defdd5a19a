"""What DecayExplorer draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import abel_bound, decay, decay_law, decay_logarithm, expected_score
from posenc.frequencies import inv_freq
from posenc.widgets import DecayExplorer


def values(widget: DecayExplorer) -> dict[str, Any]:
    """Score, law, and whatever is switched on, at every whole distance from 0; NaN where the logarithm is not drawn."""
    distances, frequencies = np.arange(widget.distance + 1), inv_freq(widget.dim, widget.base)
    values = {"score": decay(distances, frequencies), "law": decay_law(distances, widget.base)}
    if widget.show_logarithm:
        drawn = (distances >= 10) & (distances <= widget.base / 10)
        values["logarithm"] = np.full(len(distances), np.nan)
        if drawn.any():
            values["logarithm"][drawn] = decay_logarithm(distances[drawn], widget.base)
    if widget.show_bound:
        values["bound"] = abel_bound(distances, frequencies) / abel_bound(0, frequencies)
    if widget.show_score:
        mean, variance = expected_score(distances, frequencies, widget.correlation)
        values["low"], values["high"] = (mean - variance**0.5) / widget.dim, (mean + variance**0.5) / widget.dim
    return values

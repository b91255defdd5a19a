"""What AngleCoverage draws, by the package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc import analysis
from posenc.frequencies import inv_freq, rotations
from posenc.widgets import AngleCoverage

_A_HAIR_MORE = 1 + 1e-7


def values(widget: AngleCoverage) -> dict[str, Any]:
    """Rotations of each pair in training and in use, and its fraction of unseen angles; counts of pairs."""
    frequencies = inv_freq(widget.dim, widget.base)
    unseen = np.zeros(len(frequencies))
    if widget.used > widget.trained:
        unseen = analysis.unseen_angles(frequencies, widget.trained, widget.used, widget.tolerance * _A_HAIR_MORE)
    return {
        "trained_rotations": rotations(widget.trained, frequencies),
        "used_rotations": rotations(widget.used, frequencies),
        "unseen": unseen,
        "completed": analysis.pairs_reaching(frequencies, widget.trained, 2 * math.pi),
    }

"""What FrequencyBank draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import fingerprint_difference, fingerprint_similarity
from posenc.frequencies import inv_freq
from posenc.widgets import FrequencyBank


def values(widget: FrequencyBank) -> dict[str, Any]:
    """Rotations, cosine and running mean of each pair, the difference summed from fast to slow, and the similarity."""
    frequencies = inv_freq(widget.dim, widget.base)
    cosine = np.cos(widget.distance * frequencies)
    same = widget.distance == widget.other
    return {
        "rotations": widget.distance * frequencies / (2 * np.pi),
        "cosine": cosine,
        "running_mean": np.cumsum(cosine) / np.arange(1, widget.dim // 2 + 1),
        "share_so_far": None if same else np.cumsum(fingerprint_difference(widget.distance, widget.other, frequencies)),
        "similarity": float(fingerprint_similarity(widget.distance, widget.other, frequencies)),
    }

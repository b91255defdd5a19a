"""What FrequencyBank draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import fingerprint_difference, fingerprint_similarity
from posenc.frequencies import inv_freq
from posenc.widgets import FrequencyBank


def values(widget: FrequencyBank) -> dict[str, Any]:
    """Rotations, cosine, running mean and difference of each pair, the fastest eighth's share, and the similarity."""
    frequencies = inv_freq(widget.dim, widget.base)
    cosine = np.cos(widget.distance * frequencies)
    distances, fastest = (widget.distance, widget.other), -(-len(frequencies) // 8)
    same = widget.distance == widget.other
    return {
        "rotations": widget.distance * frequencies / (2 * np.pi),
        "cosine": cosine,
        "running_mean": np.cumsum(cosine) / np.arange(1, widget.dim // 2 + 1),
        "difference": 1 - np.cos((widget.distance - widget.other) * frequencies),
        "share": None if same else float(fingerprint_difference(*distances, frequencies)[:fastest].sum()),
        "similarity": float(fingerprint_similarity(*distances, frequencies)),
    }

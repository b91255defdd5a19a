"""What Rotation2D draws, by the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc.frequencies import angles, inv_freq
from posenc.rotary import pair_scores, rotate, rotate_complex, rotate_matrix, rotation_matrix
from posenc.widgets import Rotation2D
from posenc.widgets.rotation_2d import FARTHEST

_ELSEWHERE = 10  # tokens by which both positions are moved to see that the score stays


def _vectors(widget: Rotation2D) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, key and frequencies: θ alone, or θ and a tenth of it."""
    dim = 2 if widget.view == "two" else 4
    q = np.array([widget.q1, widget.q2, widget.q3, widget.q4][:dim], float)
    k = np.array([widget.k1, widget.k2, widget.k3, widget.k4][:dim], float)
    return q, k, widget.theta * inv_freq(dim, base=100.0)


def values(widget: Rotation2D) -> dict[str, Any]:
    """Rotated vectors, the score in two ways, at shifted positions and in the other layout, and at all offsets."""
    (q, k, frequencies), layout = _vectors(widget), "half-split" if widget.view == "half-split" else "interleaved"
    at_m, at_n, apart = (angles(position, frequencies) for position in (widget.m, widget.n, widget.m - widget.n))
    offsets = np.arange(-FARTHEST, FARTHEST + 1)

    def score(rotation: Callable[..., Any] = rotate, shift: int = 0, layout: str = layout) -> float:
        rotated = (
            rotation(vector, angles(position + shift, frequencies), layout)
            for vector, position in ((q, widget.m), (k, widget.n))
        )
        return float(np.dot(*rotated))

    whole_angles = (np.zeros_like(frequencies), np.full_like(frequencies, np.pi / 2))
    real, minus_imaginary = (pair_scores(q, k, angle, layout) for angle in whole_angles)
    return {
        "matrix_q": rotation_matrix(at_m, layout),
        "matrix_k": rotation_matrix(at_n, layout),
        "rotated_q": rotate(q, at_m, layout),
        "rotated_k": rotate(k, at_n, layout),
        "products": np.stack([real, -minus_imaginary], axis=-1),  # q·k̄ of each pair
        "rotations": np.stack([np.cos(apart), np.sin(apart)], axis=-1),  # e^{i(m−n)θ} of each pair
        "by_matrices": score(rotate_matrix),
        "by_complex": score(rotate_complex),
        "elsewhere": score(shift=_ELSEWHERE),
        "other_layout": score(layout="interleaved" if layout == "half-split" else "half-split"),
        "scores": np.array([pair_scores(q, k, angles(offset, frequencies), layout).sum() for offset in offsets]),
    }

"""What RotationPlanes draws, by the package."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from posenc.frequencies import angles
from posenc.rotary import rotate
from posenc.widgets import RotationPlanes
from posenc.widgets._base import normal_draws

POSITIONS = 96  # of the path

RADII = (1.25, 0.8)  # of the two circles

APART = 7  # tokens between the two positions whose dot product is reported


def rotated_axes(draw: int, share: float) -> np.ndarray:
    """Axes on their way from those of the numbers, at share 0, to those of the two planes, at 1.

    Six rotations, one in each plane of two axes, whose angles are drawn at random; each is taken by its share.

    Returns:
        an orthogonal matrix, shape (4, 4).
    """
    axes = np.eye(4)
    for (a, b), angle in zip(combinations(range(4), 2), share * normal_draws(draw, 6), strict=True):
        rotation = np.eye(4)
        rotation[a, a] = rotation[b, b] = np.cos(angle)
        rotation[a, b], rotation[b, a] = -np.sin(angle), np.sin(angle)
        axes = rotation @ axes
    return axes


def values(widget: RotationPlanes) -> dict[str, Any]:
    """The path along the current axes, orbited, two dot products, and z·w."""
    positions = np.arange(POSITIONS)
    start = np.array([RADII[0], 0.0, RADII[1], 0.0])
    phi = angles(positions, np.array([widget.theta_1, widget.theta_2]))  # (positions, 2)
    own = rotate(np.tile(start, (POSITIONS, 1)), phi, "interleaved")  # (positions, 4)
    seen = own @ rotated_axes(widget.draw, 1.0) @ rotated_axes(widget.draw, widget.align).T
    for (a, b), angle in zip(((0, 2), (1, 3)), (widget.orbit_13, widget.orbit_24), strict=True):
        cos, sin = np.cos(angle), np.sin(angle)
        seen[:, [a, b]] = seen[:, [a, b]] @ np.array([[cos, -sin], [sin, cos]])
    product = complex(widget.z_real, widget.z_imaginary) * widget.w_length * np.exp(1j * widget.w_angle)
    return {
        "seen": seen,
        "product": float(seen[APART] @ seen[0]),
        "elsewhere": float(seen[-1] @ seen[-1 - APART]),
        "rotated": [product.real, product.imag],
    }

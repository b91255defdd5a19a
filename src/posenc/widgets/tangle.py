"""Tangle: a rotation of four dimensions decomposed into two planes, and one plane as complex numbers."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from posenc.frequencies import angles
from posenc.rotary import rotate
from posenc.widgets._base import Action, Choice, Control, Explorable, normal_draws

POSITIONS = 96  # of the path
RADII = (1.25, 0.8)  # of the two circles
APART = 7  # tokens between the two positions whose product is told

_FOUR, _GRID = {"view": ["four"]}, {"view": ["grid"]}


def turned_axes(draw: int, share: float) -> np.ndarray:
    """Axes on their way from those of the numbers, at share 0, to those of the two planes, at 1.

    Six turns, one in each plane of two axes, whose angles are drawn at random; each is taken by its share.

    Returns:
        an orthogonal matrix, shape (4, 4).
    """
    axes = np.eye(4)
    for (a, b), angle in zip(combinations(range(4), 2), share * normal_draws(draw, 6), strict=True):
        turn = np.eye(4)
        turn[a, a] = turn[b, b] = np.cos(angle)
        turn[a, b], turn[b, a] = -np.sin(angle), np.sin(angle)
        axes = turn @ axes
    return axes


class Tangle(Explorable):
    """The path of one vector under the powers of a rotation, along any axes; and one plane of it as complex numbers."""

    module = "tangle"
    room = (684, 876)
    main = ("view", "untangle")

    view = Choice("four", chips=True)
    untangle = Control(0.0, 0, 1, "hundredths", needs=_FOUR)
    theta_1 = Control(1.0, 0, 3.14, "hundredths", needs=_FOUR)
    theta_2 = Control(0.23, 0, 3.14, "hundredths", needs=_FOUR)
    draw = Action(3, needs=_FOUR)
    w_length = Control(1.0, 0.3, 1.5, "hundredths", needs=_GRID)
    w_angle = Control(0.6, -3.14, 3.14, "hundredths", needs=_GRID)
    z_real = Control(1.6, -3, 3, "hundredths", needs=_GRID)
    z_imaginary = Control(0.8, -3, 3, "hundredths", needs=_GRID)

    def values(self) -> dict[str, Any]:
        """The path along the current axes and along those of its planes, two dot products, and z·w."""
        positions = np.arange(POSITIONS)
        start = np.array([RADII[0], 0.0, RADII[1], 0.0])
        phi = angles(positions, np.array([self.theta_1, self.theta_2]))  # (positions, 2)
        own = rotate(np.tile(start, (POSITIONS, 1)), phi, "interleaved")  # (positions, 4)
        seen = own @ turned_axes(self.draw, 1.0) @ turned_axes(self.draw, self.untangle).T
        product = complex(self.z_real, self.z_imaginary) * self.w_length * np.exp(1j * self.w_angle)
        return {
            "own": own,
            "seen": seen,
            "product": float(seen[APART] @ seen[0]),
            "elsewhere": float(seen[-1] @ seen[-1 - APART]),
            "turned": [product.real, product.imag],
        }

    def facts(self) -> dict[str, Any]:
        values = self.values()
        (across, up), z = values["turned"], np.hypot(self.z_real, self.z_imaginary)
        return {
            "product": values["product"],
            "elsewhere": values["elsewhere"],
            "apart": APART,
            "norm": float(np.hypot(*RADII)),
            "across": across,
            "up": up,
            "degrees": float(np.degrees(self.w_angle)),
            "before": float(z),
            "after": float(np.hypot(across, up)),
        }

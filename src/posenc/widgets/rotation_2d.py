"""Rotation2D: a query and a key rotated by their positions, and the score, which depends on their distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc.frequencies import angles, inv_freq
from posenc.rotary import pair_scores, rotate, rotate_complex, rotate_matrix, rotation_matrix
from posenc.widgets._base import Choice, Control, Explorable, Switch

FARTHEST = 32  # the greatest position, and the greatest offset that is drawn
_ELSEWHERE = 10  # tokens by which both positions are moved to see that the score stays
_FOUR = {"view": ["interleaved", "half-split"]}


def _coordinate(default: float, needs: dict[str, list[str]] | str = "") -> Control:
    return Control(default, -1.5, 1.5, "hundredths", needs=needs, compact=True)


class Rotation2D(Explorable):
    """A query and a key as arrows in one plane, or in the two planes of four dimensions."""

    module = "rotation_2d"
    room = (759, 1068)
    main = ("m", "locked")

    view = Choice("two")
    m = Control(9, 0, FARTHEST, "integer")
    n = Control(6, 0, FARTHEST, "integer")
    theta = Control(0.4, 0, 3.14, "hundredths")
    locked = Switch(True)
    q1 = _coordinate(1.3)
    q2 = _coordinate(0.4)
    q3 = _coordinate(0.6, _FOUR)
    q4 = _coordinate(-0.9, _FOUR)
    k1 = _coordinate(0.5)
    k2 = _coordinate(1.1)
    k3 = _coordinate(1.0, _FOUR)
    k4 = _coordinate(0.3, _FOUR)

    def _vectors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Query, key and frequencies: θ alone, or θ and a tenth of it."""
        dim = 2 if self.view == "two" else 4
        q = np.array([self.q1, self.q2, self.q3, self.q4][:dim], float)
        k = np.array([self.k1, self.k2, self.k3, self.k4][:dim], float)
        return q, k, self.theta * inv_freq(dim, base=100.0)

    def values(self) -> dict[str, Any]:
        """Rotated vectors, the score in two ways, at shifted positions and in the other layout, and at all offsets."""
        (q, k, frequencies), layout = self._vectors(), "half-split" if self.view == "half-split" else "interleaved"
        at_m, at_n, apart = (angles(position, frequencies) for position in (self.m, self.n, self.m - self.n))
        offsets = np.arange(-FARTHEST, FARTHEST + 1)

        def score(rotation: Callable[..., Any] = rotate, shift: int = 0, layout: str = layout) -> float:
            rotated = (
                rotation(vector, angles(position + shift, frequencies), layout)
                for vector, position in ((q, self.m), (k, self.n))
            )
            return float(np.dot(*rotated))

        whole_angles = (np.zeros_like(frequencies), np.full_like(frequencies, np.pi / 2))
        real, minus_imaginary = (pair_scores(q, k, angle, layout) for angle in whole_angles)
        return {
            "matrix_q": rotation_matrix(at_m, layout),
            "matrix_k": rotation_matrix(at_n, layout),
            "turned_q": rotate(q, at_m, layout),
            "turned_k": rotate(k, at_n, layout),
            "products": np.stack([real, -minus_imaginary], axis=-1),  # q·k̄ of each pair
            "turns": np.stack([np.cos(apart), np.sin(apart)], axis=-1),  # e^{i(m−n)θ} of each pair
            "by_matrices": score(rotate_matrix),
            "by_complex": score(rotate_complex),
            "elsewhere": score(shift=_ELSEWHERE),
            "other_layout": score(layout="interleaved" if layout == "half-split" else "half-split"),
            "scores": np.array([pair_scores(q, k, angles(offset, frequencies), layout).sum() for offset in offsets]),
        }

    def facts(self) -> dict[str, Any]:
        values = self.values()
        told = {name: values[name] for name in ("by_matrices", "by_complex", "elsewhere", "other_layout")}
        return told | {
            "peak": int(np.argmax(values["scores"])) - FARTHEST,
            "offset": self.m - self.n,
            "later_m": self.m + _ELSEWHERE,
            "later_n": self.n + _ELSEWHERE,
            "other": "interleaved" if self.view == "half-split" else "half-split",
        }

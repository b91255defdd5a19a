"""SinusoidExplorer: the sinusoidal encoding as rotating pairs and as a table, and its kernel through a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.absolute import shift_matrix, sinusoidal
from posenc.analysis import decay, kernel_asymmetry, kernel_residual, offset_kernel
from posenc.frequencies import inv_freq, wavelengths
from posenc.widgets._base import Action, Choice, Control, Explorable, normal_draws

POSITIONS, REACH = 128, 64  # positions 0 … 127 of the text, distances −64 … 64
SAME = 1e-9  # below it, a difference is rounding


def random_orthogonal(seed: int, dim: int) -> np.ndarray:
    """A random matrix that keeps all lengths, as js/arithmetic_kernel.js makes it: normal draws, rows orthonormalised.

    Args:
        seed: a whole number of at least 0.
        dim: rows and columns.

    Returns:
        float64, shape (dim, dim), orthogonal. No direction is likelier than another.
    """
    columns, triangle = np.linalg.qr(normal_draws(seed, dim * dim).reshape(dim, dim).T)
    return (columns * np.sign(np.diagonal(triangle))).T  # the signs that Gram–Schmidt gives


class SinusoidExplorer(Explorable):
    """Two codes as clock hands, the table that they stand in, and their product through a matrix against the distance.

    The query stands at `position`, m, and the key at n = m − `offset`. Each W keeps all lengths, so that products are
    comparable: they are over that of a code with itself, dim/2.
    """

    module = "sinusoid_explorer"
    room = (760, 1058)
    main = ("position", "weight")

    position = Control(20, 0, POSITIONS - 1, "integer")
    offset = Control(10, -REACH, REACH, "integer")
    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(64, 2, 128, "even")
    weight = Choice("random", chips=True)
    draw = Action(needs={"weight": ["random"]})

    def between(self) -> np.ndarray:
        """The matrix W, shape (dim, dim)."""
        if self.weight == "random":
            return random_orthogonal(self.draw, self.dim)
        return shift_matrix(self.offset if self.weight == "shift" else 0, self.dim, self.base)

    def values(self) -> dict[str, Any]:
        """Both codes, the table, and the kernel: at m, without W, and least, greatest and mean over all positions."""
        offsets, positions = np.arange(-REACH, REACH + 1), np.arange(POSITIONS)
        kernel = offset_kernel(-offsets, positions, self.dim, self.base, self.between()) / (self.dim / 2)
        mean = kernel.mean(axis=0)  # (offsets,)
        return {
            "code": sinusoidal(self.position, self.dim, self.base),
            "other": sinusoidal(self.position - self.offset, self.dim, self.base),
            "table": sinusoidal(positions, self.dim, self.base),
            "kernel": kernel[self.position],
            "plain": decay(np.abs(offsets), inv_freq(self.dim, self.base)),
            "low": kernel.min(axis=0),
            "high": kernel.max(axis=0),
            "mean": mean,
            "residual": float(kernel_residual(kernel)),
            "asymmetry": float(kernel_asymmetry(kernel)),
            "peak": int(offsets[np.argmax(mean)]),
        }

    def facts(self) -> dict[str, Any]:
        values, at = self.values(), self.offset + REACH
        low, high, peak = float(values["low"][at]), float(values["high"][at]), values["peak"]
        return {
            "product": float(values["kernel"][at]),
            "low": low,
            "high": high,
            "everywhere": high - low < SAME,
            "positions": POSITIONS,
            "share": 100 * values["residual"] ** 2,
            "by_offset": values["residual"] < SAME,
            "symmetric": values["asymmetry"] < SAME,
            "peak": peak,
            "steps": abs(peak),
            "slowest": float(wavelengths(inv_freq(self.dim, self.base))[-1]),
        }

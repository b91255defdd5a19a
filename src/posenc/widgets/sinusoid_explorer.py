"""SinusoidExplorer: the sinusoidal encoding as rotating pairs, and its kernel through a matrix."""

from __future__ import annotations

import numpy as np

from posenc.absolute import shift_matrix
from posenc.widgets._base import Action, Choice, Control, Explorable, normal_draws

POSITIONS, REACH = 128, 64  # positions 0 … 127 of the text, distances −64 … 64
SHIFT = 16  # tokens that the shift matrix shifts by


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
    """Two encodings as rotating pairs, and their product through a matrix against the distance.

    The query is at `position`, m, and the key at n = m − `offset`. Each W keeps all lengths, so that products are
    comparable: they are divided by that of an encoding with itself, dim/2.
    """

    module = "sinusoid_explorer"
    room = (738, 741)
    main = ("weight",)

    position = Control(64, 0, POSITIONS - 1, "integer")
    offset = Control(10, -REACH, REACH, "integer")
    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(64, 2, 128, "even")
    weight = Choice("angles", chips=True)
    draw = Action(needs={"weight": ["random"]})

    def between(self) -> np.ndarray:
        """The matrix W, shape (dim, dim)."""
        if self.weight == "random":
            return random_orthogonal(self.draw, self.dim)
        return shift_matrix(SHIFT if self.weight == "shift" else 0, self.dim, self.base)

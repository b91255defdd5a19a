"""EncodingGallery: encodings before the sinusoids, and which desired properties each has."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from posenc.absolute import binary, dyadic, harmonic, integer, normalised, radix, sinusoidal
from posenc.analysis import (
    shift_residual,
)
from posenc.widgets._base import Choice, Control, Explorable

LONG = 256  # positions over which a matrix for one step is fitted
LONGEST = 96  # tokens in the longest sequence, and positions in the large picture


class Encoding(NamedTuple):
    """One encoding of the gallery, in a sequence of `length` tokens and with `dim` dimensions."""

    rows: Callable[[np.ndarray, int, int], np.ndarray]  # of positions, length and dim
    end: Callable[[int, int], float]  # the first position that has no encoding, of length and dim


def _never(length: int, dim: int) -> float:
    return math.inf


ENCODINGS = {
    "integer": Encoding(lambda at, length, dim: integer(at, dim), _never),
    "normalised": Encoding(normalised, lambda length, dim: length),
    "binary": Encoding(lambda at, length, dim: binary(at, dim), lambda length, dim: 2**dim),
    "radix": Encoding(
        lambda at, length, dim: radix(at, dim, 10, normalise=True),
        lambda length, dim: 10**dim,
    ),
    "harmonic": Encoding(lambda at, length, dim: harmonic(at, dim), _never),
    "dyadic": Encoding(lambda at, length, dim: dyadic(at, dim), _never),
    "sinusoidal": Encoding(lambda at, length, dim: sinusoidal(at, dim), _never),
}


def _table(scheme: str, length: int, dim: int) -> np.ndarray:
    """The encodings of a sequence, up to the first position that has none, shape (positions, dim)."""
    encoding = ENCODINGS[scheme]
    return encoding.rows(np.arange(min(length, encoding.end(length, dim))), length, dim)


@cache
def _step_residual(scheme: str, dim: int) -> float:
    """What the best matrix for one step leaves, over the first `LONG` positions or those that have an encoding."""
    return float(shift_residual(_table(scheme, LONG, dim), 1))


class EncodingGallery(Explorable):
    """A table of encodings as a heat map, and which of seven desired properties each of seven encodings has."""

    module = "encoding_gallery"
    room = (704, 740)
    main = ("m",)

    scheme = Choice("sinusoidal")
    m = Control(24, 0, LONGEST - 1, "integer")
    length = Control(64, 16, LONGEST, "integer")
    dim = Control(8, 2, 32, "even")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """What the best matrix for one step leaves, for each encoding and the dimensions 2, 4, …, 32.

        The least squares behind it are so ill-conditioned for slow sines that another solver's fourth digit differs.
        """
        return {"steps": {scheme: [_step_residual(scheme, dim) for dim in range(2, 33, 2)] for scheme in ENCODINGS}}

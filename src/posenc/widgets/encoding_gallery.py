"""EncodingGallery: encodings before the sinusoids, and which desired properties each has."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from posenc.absolute import binary, dyadic, harmonic, integer, normalised, radix, sinusoidal
from posenc.analysis import (
    defined_fraction,
    length_dependence,
    max_norm,
    min_distance,
    monotonicity_violations,
    shift_residual,
    translation_residual,
)
from posenc.widgets._base import Choice, Control, Explorable

LONG = 256  # positions over which a matrix for one step is fitted
ROUNDING = 1e-9


class Code(NamedTuple):
    """One code of the gallery, in a text of `length` tokens and with `dim` dimensions."""

    rows: Callable[[np.ndarray, int, int], np.ndarray]  # of positions, length and dim
    end: Callable[[int, int], float]  # the first position that has no code, of length and dim


def _never(length: int, dim: int) -> float:
    return math.inf


CODES = {
    "integer": Code(lambda at, length, dim: integer(at, dim), _never),
    "normalised": Code(normalised, lambda length, dim: length),
    "binary": Code(lambda at, length, dim: binary(at, dim), lambda length, dim: 2**dim),
    "radix": Code(
        lambda at, length, dim: radix(at, dim, 10, normalise=True),
        lambda length, dim: 10**dim,
    ),
    "harmonic": Code(lambda at, length, dim: harmonic(at, dim), _never),
    "dyadic": Code(lambda at, length, dim: dyadic(at, dim), _never),
    "sinusoidal": Code(lambda at, length, dim: sinusoidal(at, dim), _never),
}


def _table(scheme: str, length: int, dim: int) -> np.ndarray:
    """The codes of a text, up to the first position that has none, shape (positions, dim)."""
    code = CODES[scheme]
    return code.rows(np.arange(min(length, code.end(length, dim))), length, dim)


@cache
def _step_residual(scheme: str, dim: int) -> float:
    """What the best matrix for one step leaves, over the first `LONG` positions or those that have a code."""
    return float(shift_residual(_table(scheme, LONG, dim), 1))


def scores(scheme: str, length: int, dim: int) -> dict[str, float]:
    """One number for each wish, by the function of `posenc.analysis` that gives it.

    Args:
        scheme: one of `CODES`.
        length: tokens in the text, at least 3.
        dim: width of the code, even and at most 32.

    Returns:
        the scores of the positions that have a code; `defined_fraction` is that of the next `length` positions.
    """
    table = _table(scheme, length, dim)
    one = partial(CODES[scheme].rows, length=length, dim=dim)
    past = defined_fraction(one, length, 2 * length) if len(table) == length else 0.0
    return {
        "least_distance": float(min_distance(table)),
        "greatest_norm": float(max_norm(table)),
        "length_dependence": float(length_dependence(table, _table(scheme, 2 * length, dim))),
        "defined_share": past,
        "translation_residual": float(translation_residual(table)),
        "monotonicity_violations": monotonicity_violations(table),
        "shift_residual": _step_residual(scheme, dim),
    }


def kept(wish: str, score: float, dim: int) -> bool:
    """Whether a score meets its requirement, up to rounding; values are in [−1, 1]."""
    if wish == "least_distance":
        return score > ROUNDING
    if wish == "defined_share":
        return score == 1
    return score <= (dim**0.5 if wish == "greatest_norm" else 0) + ROUNDING


class EncodingGallery(Explorable):
    """A table of encodings as a heat map, and which of seven desired properties each of seven encodings has."""

    module = "encoding_gallery"
    room = (762, 1013)
    main = ("scheme", "length")

    scheme = Choice("integer")
    length = Control(64, 16, 96, "integer")
    dim = Control(16, 2, 32, "even")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """What the best matrix for one step leaves, for each code and the widths 2, 4, …, 32.

        The least squares behind it are so ill-conditioned for slow sines that another solver's fourth digit differs.
        """
        return {"steps": {scheme: [_step_residual(scheme, dim) for dim in range(2, 33, 2)] for scheme in CODES}}

    def values(self) -> dict[str, Any]:
        """The codes of the positions that have one, and every code's score and verdict for every wish."""
        scored = {scheme: scores(scheme, self.length, self.dim) for scheme in CODES}
        return {
            "codes": _table(self.scheme, self.length, self.dim),
            "scores": scored,
            "kept": {name: [kept(wish, x, self.dim) for wish, x in row.items()] for name, row in scored.items()},
        }

    def facts(self) -> dict[str, Any]:
        values = self.values()
        coded, score = len(values["codes"]), values["scores"][self.scheme]
        verdicts = dict(zip(score, values["kept"][self.scheme], strict=True))
        failed = [{"wish": w, "score": score[w], "percent": 100 * score[w]} for w, fine in verdicts.items() if not fine]
        return {
            "code": self.catalogue["controls"]["scheme"]["options"][self.scheme],
            "wishes": len(verdicts),
            "kept": sum(verdicts.values()),
            "ends": coded < self.length,
            "last_coded": coded - 1,
            "fails": bool(failed),
            "failed": failed,
            "longest": score["greatest_norm"],
            "uneven": 100 * score["translation_residual"],
            "nearer": 100 * score["monotonicity_violations"],
        }

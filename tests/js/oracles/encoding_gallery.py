"""What EncodingGallery draws, by the package."""

from __future__ import annotations

from functools import partial
from typing import Any

from posenc.analysis import (
    defined_fraction,
    length_dependence,
    max_norm,
    min_distance,
    monotonicity_violations,
    translation_residual,
)
from posenc.widgets import EncodingGallery
from posenc.widgets.encoding_gallery import CODES, _step_residual, _table

ROUNDING = 1e-9


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


def values(widget: EncodingGallery) -> dict[str, Any]:
    """The codes of the positions that have one, and every code's score and verdict for every wish."""
    scored = {scheme: scores(scheme, widget.length, widget.dim) for scheme in CODES}
    return {
        "codes": _table(widget.scheme, widget.length, widget.dim),
        "scores": scored,
        "kept": {name: [kept(wish, x, widget.dim) for wish, x in row.items()] for name, row in scored.items()},
    }

"""What EncodingGallery draws, by the package."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from posenc.analysis import (
    defined_fraction,
    length_dependence,
    max_norm,
    min_distance,
    monotonicity_violations,
    translation_residual,
)
from posenc.widgets import EncodingGallery
from posenc.widgets.encoding_gallery import ENCODINGS, LONGEST, _step_residual, _table

ROUNDING = 1e-9


def scores(scheme: str, length: int, dim: int) -> dict[str, float]:
    """One number for each property, by the function of `posenc.analysis` that gives it.

    Args:
        scheme: one of `ENCODINGS`.
        length: tokens in the sequence, at least 3.
        dim: dimension of the encoding, even and at most 32.

    Returns:
        the scores of the positions that have an encoding; `defined_fraction` is that of the next `length` positions.
    """
    table = _table(scheme, length, dim)
    one = partial(ENCODINGS[scheme].rows, length=length, dim=dim)
    past = defined_fraction(one, length, 2 * length) if len(table) == length else 0.0
    return {
        "min_distance": float(min_distance(table)),
        "max_norm": float(max_norm(table)),
        "length_dependence": float(length_dependence(table, _table(scheme, 2 * length, dim))),
        "defined_fraction": past,
        "translation_residual": float(translation_residual(table)),
        "monotonicity_violations": monotonicity_violations(table),
        "shift_residual": _step_residual(scheme, dim),
    }


def met(name: str, score: float, dim: int) -> bool:
    """Whether a score meets its requirement, up to rounding; values are in [−1, 1]."""
    if name == "min_distance":
        return score > ROUNDING
    if name == "defined_fraction":
        return score == 1
    return score <= (dim**0.5 if name == "max_norm" else 0) + ROUNDING


def values(widget: EncodingGallery) -> dict[str, Any]:
    """All positions that have an encoding, past the end too, their distances from m, and the mean distance at each
    offset; each scheme's score and verdict for each property.
    """
    length, dim = widget.length, widget.dim
    rows, end = ENCODINGS[widget.scheme]
    p = rows(np.arange(min(LONGEST, end(length, dim))), length, dim)
    means = [np.linalg.norm(p[k:] - p[: len(p) - k], axis=-1).mean() for k in range(len(p))]
    scored = {scheme: scores(scheme, length, dim) for scheme in ENCODINGS}
    return {
        "encodings": p,
        "distances": np.linalg.norm(p - p[widget.m], axis=-1) if widget.m < len(p) else [],
        "averages": [means[abs(n - widget.m)] for n in range(len(p))] if widget.m < len(p) else [],
        "scores": scored,
        "met": {scheme: [met(name, x, dim) for name, x in row.items()] for scheme, row in scored.items()},
    }

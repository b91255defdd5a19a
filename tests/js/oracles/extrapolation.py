"""What Extrapolation draws, by the package."""

from __future__ import annotations

import math
from typing import Any

from posenc._sentences import say
from posenc.widgets import Extrapolation
from posenc.widgets.extrapolation import BOTH, SCALED


def _drawn(widget: Extrapolation, scheme: str, scaling: str) -> dict[str, Any]:
    """One scheme with one scaling, as `values` has it."""
    data = widget.data()
    scheme, scaling = BOTH.get(scheme, (scheme, scaling if scheme in SCALED else "default"))
    words = widget.catalogue
    drawn = {"name": say(words["picture"]["name"], {"scheme": scheme, "scaling": scaling}, words["names"])}
    entry = data["measured"][widget.measure].get(scheme, {"by_length": {}})
    if scaling not in entry["by_length"]:
        return drawn | {"trained": None, "seeds": [], "by_length": None, "truncated": None, "by_position": None}
    curves = entry["by_position"][scaling][round(math.log2(widget.length))]
    by_position = curves and [[None if value is None else value / 100 for value in curve] for curve in curves]
    return drawn | {
        "trained": entry["trained"],
        "seeds": entry["seeds"],
        "by_length": entry["by_length"][scaling],
        "truncated": [row[0] for row in entry["by_length"]["default"]],
        "by_position": by_position,
    }


def values(widget: Extrapolation) -> dict[str, Any]:
    """Of both: name, length of the training in tokens, and for each seed the values at 1, 2, 4, 8 and 16 times that
    length, the value of the text cut to its last tokens, so many as in training, and at the chosen length the means
    over steps of half the trained length. None where nothing was measured or nothing is asked. `other` is None
    where it is the same as `first`."""
    first, other = _drawn(widget, widget.scheme, widget.scaling), _drawn(widget, widget.other, widget.other_scaling)
    return {"first": first, "other": None if other["name"] == first["name"] else other}

"""Extrapolation: loss and accuracy of the laboratory's models far past their trained length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from posenc.lab.measured import Results, results
from posenc.widgets._base import Choice, Control, Explorable

VALUE = {"text": "loss", "copy": "accuracy", "copy_half": "accuracy"}  # of each measure, by its name in the results
SYMBOLS = 64  # that the blocks are made of
TIMES = (1, 2, 4, 8, 16)  # the trained length
SCALED = ("rope_100", "rope_10000")
BOTH = {
    "rope_100_linear": ("rope_100", "linear"),
    "rope_100_yarn": ("rope_100", "yarn"),
}  # options that are a scheme and its scaling


def _measured_as(scaling: str, times: int) -> str:
    """The name in the results of a scaling at a length, which has "_by_4" after it where the factor is 4 at every one.

    A factor of 1 changes nothing, and a fixed factor is, at one length, the one that follows it.
    """
    follows, _, factor = scaling.partition("_by_")
    if factor == str(times):
        return follows
    return "default" if times == 1 and not factor else scaling


def _hundredths(curve: Sequence[float | None]) -> list[int | None]:
    return [None if value is None else round(100 * value) for value in curve]


def summary(found: Results) -> dict[str, Any]:
    """What there is to be drawn of the laboratory's results: numbers by measure and scheme, and the limits of the axes.

    Of a scheme: `trained`, the length of its training in tokens; `seeds`; by scaling, `by_length` of shape
    (seeds, lengths), over the last tokens, which are the same at every length, and `by_position` of shape
    (lengths, seeds, steps), in hundredths, the means over steps of half the trained length. None stands where nothing
    was measured or nothing is asked. Only the full model is scaled.
    """
    plain = [one for one in found.select(kind="plain", causal=True) if one["probe"] in VALUE]
    scaled = [one for one in found.select(kind="scaling", profile="full", causal=True) if one["scaling"] != "default"]
    trained = {run: min(one["length"] for one in plain if one["run"] == run) for run in {one["run"] for one in plain}}
    at: dict[tuple[str, str], dict[tuple[str, int, int], dict[str, Any]]] = {}
    for one in plain + scaled:
        times = one["length"] // trained[one["run"]]
        fixed_factor = one.get("factor", times) != times
        scaling = one.get("scaling", "default") + (f"_by_{one['factor']:g}" if fixed_factor else "")
        name = [one["profile"] if one["profile"] == "quick" else "", one["scheme"], one.get("past_end", "")]
        at.setdefault((one["probe"], "_".join(filter(None, name))), {})[scaling, one["seed"], times] = one

    measured: dict[str, dict[str, Any]] = {measure: {} for measure in VALUE}
    for (measure, scheme), its in at.items():
        value, seeds = VALUE[measure], sorted({seed for _, seed, _ in its})
        by_length, by_position = {}, {}
        for scaling in dict.fromkeys(scaling for scaling, _, _ in its):
            rows = [[its.get((_measured_as(scaling, times), seed, times)) for times in TIMES] for seed in seeds]
            by_length[scaling] = [[one and round(one[value], 3) for one in row] for row in rows]
            curves = zip(*([one and one.get(f"position_{value}") for one in row] for row in rows), strict=True)
            by_position[scaling] = [[_hundredths(curve) for curve in each] if all(each) else None for each in curves]
        length = trained[next(iter(its.values()))["run"]]
        entry = {"trained": length, "seeds": seeds, "by_length": by_length, "by_position": by_position}
        measured[measure][scheme] = entry
    text = [one for one in plain + scaled if one["probe"] == "text"]
    losses = [loss for one in text for loss in (one["loss"], *one.get("position_loss", ())) if loss is not None]
    limits = [math.floor(2 * min(losses)) / 2, math.ceil(2 * max(losses)) / 2]  # halves of a nat around all of them
    return {"measured": measured, "limits": {"text": limits, "copy": [0, 1], "copy_half": [0, 1]}}


@cache
def _shipped() -> dict[str, Any]:
    return summary(results())


class Extrapolation(Explorable):
    """What the laboratory's models lose beyond the length of their training, two schemes or scalings at once."""

    module = "extrapolation"
    room = (682, 730)
    main = ("scheme", "other")

    measure = Choice("text", chips=True)
    view = Choice("length", chips=True)
    scheme = Choice("rope_100", chips=True)
    scaling = Choice("default", needs={"scheme": SCALED})
    other = Choice("rope_100_yarn", chips=True)
    other_scaling = Choice("default", needs={"other": SCALED})
    length = Control(4, 1, 16, "powers")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The laboratory's results, as `summary` has them, what is scaled, and the number of symbols."""
        return {"scaled": list(SCALED), "both": BOTH, "symbols": SYMBOLS, **_shipped()}

"""Extrapolation: loss and accuracy of the laboratory's models far past their trained length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, reduce
from operator import add
from typing import Any

from posenc._sentences import say
from posenc.lab.measured import Results, results
from posenc.widgets._base import Choice, Control, Explorable

VALUE = {"text": "loss", "copy": "accuracy", "copy_half": "accuracy"}  # of each measure, by its name in the results
SYMBOLS = 64  # that the blocks are made of
TIMES = (1, 2, 4, 8, 16)  # the trained length
SCALED = ("rope_100", "rope_10000")


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


def _spread(values: Sequence[float], which: str = "") -> dict[str, float]:
    """Mean, minimum and maximum over the seeds."""
    total = reduce(add, values)  # as JavaScript adds: sum() rounds less in newer Pythons
    return {f"{which}mean": total / len(values), f"{which}least": min(values), f"{which}greatest": max(values)}


class Extrapolation(Explorable):
    """What the laboratory's models lose beyond the length of their training, two schemes or scalings at once."""

    module = "extrapolation"
    room = (787, 1175)
    main = ("scheme", "length")

    measure = Choice("text", chips=True)
    view = Choice("length", chips=True)
    scheme = Choice("rope_100", chips=True)
    scaling = Choice("default", needs={"scheme": SCALED})
    other = Choice("rope_100", chips=True)
    other_scaling = Choice("yarn", needs={"other": SCALED})
    length = Control(4, 1, 16, "powers")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The laboratory's results, as `summary` has them, the schemes that are scaled, and the number of symbols."""
        return {"scaled": list(SCALED), "symbols": SYMBOLS, **_shipped()}

    def _drawn(self, scheme: str, scaling: str) -> dict[str, Any]:
        """One scheme with one scaling, as `values` has it."""
        data = self.data()
        if scheme not in SCALED:
            scaling = "default"
        words = self.catalogue
        drawn = {"name": say(words["picture"]["name"], {"scheme": scheme, "scaling": scaling}, words["names"])}
        entry = data["measured"][self.measure].get(scheme, {"by_length": {}})
        if scaling not in entry["by_length"]:
            return drawn | {"trained": None, "seeds": [], "by_length": None, "cut": None, "by_position": None}
        curves = entry["by_position"][scaling][TIMES.index(self.length)]
        by_position = curves and [[None if value is None else value / 100 for value in curve] for curve in curves]
        return drawn | {
            "trained": entry["trained"],
            "seeds": entry["seeds"],
            "by_length": entry["by_length"][scaling],
            "cut": [row[0] for row in entry["by_length"]["default"]],
            "by_position": by_position,
        }

    def values(self) -> dict[str, Any]:
        """Of both: name, length of the training in tokens, and for each seed the values at 1, 2, 4, 8 and 16 times that
        length, the value of the text cut to its last tokens, so many as in training, and at the chosen length the means
        over steps of half the trained length. None where nothing was measured or nothing is asked. `other` is None
        where it is the same as `first`."""
        first, other = self._drawn(self.scheme, self.scaling), self._drawn(self.other, self.other_scaling)
        return {"first": first, "other": None if other["name"] == first["name"] else other}

    def _column(self, drawn: dict[str, Any]) -> list[float] | None:
        """For each seed the value at the chosen length; None where it was not measured."""
        column = [row[TIMES.index(self.length)] for row in drawn["by_length"] or [[None] * len(TIMES)]]
        return None if None in column else column

    def _at_length(self, drawn: dict[str, Any], told: dict[str, Any] | None) -> dict[str, Any] | None:
        """What is known of one of both at the chosen length; `told` is the other where it was spoken of before."""
        column, cut = self._column(drawn), drawn["cut"]
        if column is None:
            return None
        if self.measure == "copy_half" or column == cut:
            return _spread(column) | {"compared": False}
        sign = 1 if self.measure == "text" else -1
        return {
            **_spread(column),
            "compared": True,
            **_spread(cut, "second_"),
            "worse": sum(sign * value > sign * short for value, short in zip(column, cut, strict=True)),
            "again": told and self._column(told) != cut == told["cut"] and told["trained"] == drawn["trained"],
        }

    def _at_positions(self, drawn: dict[str, Any]) -> dict[str, Any] | None:
        """What is known of one of both where the trained length ends, and where the text ends."""
        if drawn["by_position"] is None:
            return None
        trained, last = ([curve[step] for curve in drawn["by_position"]] for step in (1, -1))
        if self.length == 1 or None in trained:
            return _spread(last) | {"both": False}
        return _spread(trained) | {"both": True} | _spread(last, "second_")

    def facts(self) -> dict[str, Any]:
        values, told = self.values(), None
        each = []
        for drawn in filter(None, (values["first"], values["other"])):
            found = self._at_length(drawn, told) if self.view == "length" else self._at_positions(drawn)
            about = {"name": drawn["name"], "known": found is not None, "opens": told is None}
            if found is not None:
                told, trained = told or drawn, drawn["trained"]
                about |= {"trained": trained, "tokens": self.length * trained, "another": trained != told["trained"]}
                about |= {"seeds": len(drawn["seeds"]), **found}
            each.append(about)
        return {"drawn": each, "symbols": SYMBOLS}

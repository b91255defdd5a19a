"""Extrapolation: loss and accuracy of the laboratory's models far beyond the length that they were trained at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, reduce
from operator import add
from typing import Any

from posenc.lab.measured import Results, results
from posenc.widgets._base import Choice, Control, Explorable
from posenc.widgets._numbers import fixed, whole

MEASURES = {
    "text": "text: loss in nats per byte",
    "copy": "copying blocks of L/4: accuracy",
    "copy_half": "copying blocks of half the text: accuracy",
}
VALUE = {"text": "loss", "copy": "accuracy", "copy_half": "accuracy"}
WORDS = {"text": ("costs", " nats per byte", "less"), "copy": ("copies", " of the symbols", "more")}
WORDS["copy_half"] = WORDS["copy"]
SYMBOLS = 64  # that the blocks are made of
TIMES = (1, 2, 4, 8, 16)  # the trained length

# By the names in the results; after that of a learned table, how it is read past its end.
FULL = {
    "rope_100": "RoPE, base 100",
    "rope_10000": "RoPE, base 10\u202f000",
    "none": "no position code (NoPE)",
    "learned_clamp": "learned table, clamped",
    "learned_interpolate": "learned table, interpolated",
    "sinusoidal": "sinusoidal code",
    "alibi": "ALiBi, fitted slopes",
    "alibi_published": "ALiBi, published slopes",
    "t5": "T5 bias",
}
SCALED = ("rope_100", "rope_10000")
QUICK = {
    "transformer_xl": "Transformer-XL",
    "sandwich": "Sandwich",
    **{scheme: FULL[scheme] for scheme in ("none", "alibi", "t5")},
    **{f"rope_{base}": f"RoPE, base {whole(base)}" for base in (1, 10, 100, 500, 10_000, 1_000_000)},
}
SCHEMES = FULL | {f"quick_{scheme}": f"{label}, small model" for scheme, label in QUICK.items()}

# By the names in the results, "_by_4" after it where the factor is 4 at every length: in the list, and in a sentence.
SCALINGS = {
    "default": ("none, as trained", ""),
    "linear": ("linear (position interpolation)", "linear"),
    "ntk_aware": ("NTK-aware", "NTK-aware"),
    "dynamic_ntk": ("dynamic NTK", "dynamic NTK"),
    "ntk_by_parts": ("NTK by parts", "NTK by parts"),
    "yarn": ("YaRN, ramp of the code", "YaRN"),
    "yarn_paper": ("YaRN, ramp of the paper", "YaRN (paper)"),
    "yarn_published_bounds": ("YaRN, bounds as published", "YaRN (published bounds)"),
    "yarn_frequencies": ("YaRN without its temperature", "YaRN, no temperature"),
    "yarn_temperature": ("YaRN's temperature alone", "YaRN's temperature"),
}
SCALINGS |= {
    f"{scaling}_by_4": (f"{SCALINGS[scaling][1]}, always by 4", f"{SCALINGS[scaling][1]}, always by 4")
    for scaling in ("linear", "ntk_aware", "ntk_by_parts", "yarn", "yarn_paper")
}
LISTED = {scaling: listed for scaling, (listed, _) in SCALINGS.items()}


def _measured_as(scaling: str, times: int) -> str:
    """The name in the results of a scaling at a length: a factor of 1 changes nothing, and a fixed factor is, at one
    length, the one that follows it."""
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
    plain = [one for one in found.select(kind="plain", causal=True) if one["probe"] in MEASURES]
    scaled = [one for one in found.select(kind="scaling", profile="full", causal=True) if one["scaling"] != "default"]
    trained = {run: min(one["length"] for one in plain if one["run"] == run) for run in {one["run"] for one in plain}}
    at: dict[tuple[str, str], dict[tuple[str, int, int], dict[str, Any]]] = {}
    for one in plain + scaled:
        times = one["length"] // trained[one["run"]]
        fixed_factor = one.get("factor", times) != times
        scaling = one.get("scaling", "default") + (f"_by_{one['factor']:g}" if fixed_factor else "")
        name = [one["profile"] if one["profile"] == "quick" else "", one["scheme"], one.get("past_end", "")]
        at.setdefault((one["probe"], "_".join(filter(None, name))), {})[scaling, one["seed"], times] = one

    measured: dict[str, dict[str, Any]] = {measure: {} for measure in MEASURES}
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


def _spread(values: Sequence[float], unit: str = "", seeds: bool = False) -> str:
    """The mean over the seeds in words, and what it is the mean of."""
    total = reduce(add, values)  # as JavaScript adds: sum() rounds less in newer Pythons
    mean = f"{fixed(total / len(values), 2)}{unit}"
    if len(values) == 1:
        return mean + (" (one seed)" if seeds else "")
    over = f" over {len(values)} seeds" if seeds else ""
    return f"{mean} ({fixed(min(values), 2)} to {fixed(max(values), 2)}{over})"


class Extrapolation(Explorable):
    """What the laboratory's models lose beyond the length of their training, two schemes or scalings at once."""

    module = "extrapolation"
    height = 800

    measure = Choice("text")
    view = Choice("length")
    scheme = Choice("rope_100")
    scaling = Choice("default", needs={"scheme": SCALED})
    other = Choice("rope_100")
    other_scaling = Choice("yarn", needs={"other": SCALED})
    length = Control(4, 1, 16, "powers")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The laboratory's results, as `summary` has them, and the names that the finding and the legend use."""
        return {
            "schemes": SCHEMES,
            "scaled": list(SCALED),
            "scalings": {scaling: name for scaling, (_, name) in SCALINGS.items()},
            "symbols": SYMBOLS,
            **_shipped(),
        }

    def _drawn(self, scheme: str, scaling: str) -> dict[str, Any]:
        """One scheme with one scaling, as `values` has it."""
        data = self.data()
        if scheme not in SCALED:
            scaling = "default"
        drawn = {"name": ", ".join(filter(None, (SCHEMES[scheme], SCALINGS[scaling][1])))}
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

    def _at_length(self, drawn: dict[str, Any], told: dict[str, Any] | None) -> str | None:
        """What is said of one of both at the chosen length; `told` is the other where it was spoken of before."""
        verb, unit, better = WORDS[self.measure]
        column, cut = self._column(drawn), drawn["cut"]
        if column is None:
            return None
        said = f"{verb} {_spread(column, unit, seeds=True)}"
        if self.measure == "copy_half" or column == cut:
            return said
        sign = 1 if self.measure == "text" else -1
        worse = sum(sign * value > sign * short for value, short in zip(column, cut, strict=True))
        again = told and self._column(told) != cut == told["cut"] and told["trained"] == drawn["trained"]
        text = "the text so cut" if again else f"the text cut to its last {drawn['trained']} tokens"
        if self.length == 1:
            text = f"as trained it {verb}"
        else:
            text = f"{text} {verb}" if self.measure == "text" else f"of {text} it {verb}"
        short = "" if again else f" {_spread(cut)},"
        seeds = f"in {worse} of {len(cut)} seeds" if len(cut) > 1 else "in this seed"
        return f"{said}; {text}{short} {'not ' if len(cut) == 1 and not worse else ''}{better} {seeds}"

    def _column(self, drawn: dict[str, Any]) -> list[float] | None:
        """For each seed the value at the chosen length; None where it was not measured."""
        column = [row[TIMES.index(self.length)] for row in drawn["by_length"] or [[None] * len(TIMES)]]
        return None if None in column else column

    def _at_positions(self, drawn: dict[str, Any]) -> str | None:
        """What is said of one of both where the trained length ends, and where the text ends."""
        if drawn["by_position"] is None:
            return None
        verb, unit, _ = WORDS[self.measure]
        trained, last = ([curve[step] for curve in drawn["by_position"]] for step in (1, -1))
        if self.length == 1 or None in trained:
            return f"{verb} {_spread(last, unit, seeds=True)} at the end of the text"
        before = f"{_spread(trained, unit, seeds=True)} where the trained length ends"
        return f"{verb} {before}, and {_spread(last)} at the end of the text"

    def finding(self) -> str:
        values = self.values()
        by_length, told = self.view == "length", None
        parts = []
        for drawn in filter(None, (values["first"], values["other"])):
            said = self._at_length(drawn, told) if by_length else self._at_positions(drawn)
            name, capital = drawn["name"], drawn["name"][0].upper() + drawn["name"][1:]
            if said is None:
                parts.append(f"{capital} was not measured {'' if by_length else 'by position '}here.")
            elif told is None:
                times = "the trained length" if self.length == 1 else f"{self.length} × the trained length"
                tokens = f"{whole(self.length * drawn['trained'])} tokens"
                parts.append(f"{'At' if by_length else 'In texts of'} {times} ({tokens}), {name} {said}.")
                told = drawn
            else:
                parts.append(f"{capital} {said}.")
                if drawn["trained"] != told["trained"]:
                    parts.append(f"That model is another, trained on {drawn['trained']} tokens.")
        if self.measure == "copy_half":
            parts.append(f"A guess is right in 1 of {SYMBOLS}.")
        return " ".join(parts)

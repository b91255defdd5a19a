"""CopyDistance: at what distance small trained models copy a single occurrence, with each scaling."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from posenc.lab.measured import benchmarks
from posenc.widgets._base import Choice, Control, Explorable

TRAINED = 128  # tokens
LENGTHS = (128, 256, 512, 1024)
DISTANCES = (16, 32, 64, 96, 192, 384, 768)
# By the control's options: the task and the profile of the models.
RUNS = {"single_copy": ("single_copy", "two_layers"), "repeated_copy": ("copy", "full")}
TUNED = ("default", "linear", "ntk_aware", "yarn")  # the scalings with which a model was trained on, seed 0 alone
TIMES, RATE = 4, 1.5e-3  # times L, and the learning rate, of that training


@cache
def _accuracy(training: str, base: str, scaling: str) -> list[list[float | None]]:
    """Mean accuracy over the seeds, by length and distance; None where the sequence is too short."""
    task, profile = RUNS[training]
    filters = {"probe": "single_copy", "distractors": "random"}
    filters |= {"task": task, "profile": profile, "scheme": f"rope_{base}"}
    rows: list[list[float | None]] = []
    for length in LENGTHS:
        times = length // TRAINED
        same = scaling == "default" or times == 1  # a factor of 1 changes nothing
        kind = {"kind": "plain"} if same else {"kind": "scaling", "scaling": scaling, "factor": float(times)}
        found = benchmarks().select(**filters, **kind, length=length)
        by_distance = {d: [one["accuracy"] for one in found if one["distance"] == d] for d in DISTANCES}
        rows.append([round(float(np.mean(each)), 4) if each else None for each in by_distance.values()])
    return rows


def _shares(found: Any) -> list[float | None]:
    """Accuracy by distance, of one run at one length; None where it was not measured."""
    by_distance = {one["distance"]: round(float(one["accuracy"]), 4) for one in found}
    return [by_distance.get(distance) for distance in DISTANCES]


@cache
def _tuned(base: str, scaling: str, steps: str) -> list[list[float | None]]:
    """Accuracy after fine-tuning steps, by length and distance; `steps` 0: the same seed before, at TIMES·L."""
    filters = {"probe": "single_copy", "distractors": "random", "scheme": f"rope_{base}", "seed": 0}
    filters |= {"task": "single_copy", "profile": "two_layers"}
    if steps != "0":
        filters |= {
            "kind": "fine_tuning",
            "scaling": scaling,
            "factor": float(TIMES),
            "steps": int(steps),
            "rate": RATE,
        }
        return [_shares(benchmarks().select(**filters, length=length)) for length in LENGTHS]
    filters |= (
        {"kind": "plain"} if scaling == "default" else {"kind": "scaling", "scaling": scaling, "factor": float(TIMES)}
    )
    return [
        _shares(benchmarks().select(**filters, length=length) if length == TIMES * TRAINED else [])
        for length in LENGTHS
    ]


class CopyDistance(Explorable):
    """Accuracy of single-occurrence copy by distance, length and scaling."""

    module = "copy_distance"
    room = (670, 710)
    main = ("training",)

    scaling = Choice("default", chips=True)
    training = Choice("single_copy", chips=True)
    base = Choice("10000", chips=True)
    length = Control(512, LENGTHS[0], LENGTHS[-1], "powers")
    distance = Choice("384")
    fine_tuning = Choice("0", needs={"training": ["single_copy"], "scaling": TUNED}, chips=True)

    @classmethod
    def data(cls) -> dict[str, Any]:
        """By training and base, the accuracy of each scaling, tuned and not."""
        controls = cls.catalogue["controls"]

        def tuned(base: str) -> dict[str, Any]:
            steps = controls["fine_tuning"]["options"]
            return {scaling: {each: _tuned(base, scaling, each) for each in steps} for scaling in TUNED}

        return {
            "models": {
                f"{training} {base}": {
                    "accuracy": {name: _accuracy(training, base, name) for name in controls["scaling"]["options"]},
                    "tuned": tuned(base) if training == "single_copy" else {},
                }
                for training in controls["training"]["options"]
                for base in controls["base"]["options"]
            }
        }

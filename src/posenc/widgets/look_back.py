"""LookBack: how far back small trained models find what was said once, in how long a text, and where they look."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from posenc.lab.measured import exams, statistics
from posenc.widgets._base import Choice, Control, Explorable

TRAINED = 128  # tokens
LENGTHS = (128, 256, 512, 1024)
DISTANCES = (16, 32, 64, 96, 192, 384, 768)
BLOCK = (
    32  # tokens back stands the block in the texts in which heads were watched; where blocks repeat, at each such step
)
EDGES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)  # of the bands of distance
PROFILES = {"said_once": "two_layers", "copy": "full"}


@cache
def _accuracy(training: str, base: str, scaling: str) -> list[list[float | None]]:
    """Mean share right over the seeds, by length and distance; None where the text is too short."""
    wanted = {"probe": "said_once", "distractors": "random", "task": training, "scheme": f"rope_{base}"}
    wanted["profile"] = PROFILES[training]
    rows: list[list[float | None]] = []
    for length in LENGTHS:
        times = length // TRAINED
        same = scaling == "default" or times == 1  # a factor of 1 changes nothing
        kind = {"kind": "plain"} if same else {"kind": "scaling", "scaling": scaling, "factor": float(times)}
        found = exams().select(**wanted, **kind, length=length)
        by_distance = {d: [one["accuracy"] for one in found if one["distance"] == d] for d in DISTANCES}
        rows.append([round(float(np.mean(each)), 4) if each else None for each in by_distance.values()])
    return rows


@cache
def _looks(training: str, base: str) -> dict[str, Any]:
    """Where the copying head of seed 0 looks, in bands of distance, and how much at the right place, by scaling.

    It is the head of the second layer that looks most at the right place in a text of the trained length: at the symbol
    that followed in the block, BLOCK − 1 tokens back, or in any of the blocks where they repeat.
    """
    run, found = f"{PROFILES[training]}-{training}-rope_{base}-0", statistics()
    places = slice(BLOCK - 1, None, BLOCK) if training == "copy" else slice(BLOCK - 1, BLOCK)
    head = int(found[f"{run}/attention/default/{TRAINED}"][1, :, places].astype(float).sum(axis=-1).argmax())

    def look(name: str) -> dict[str, Any]:
        shares = found[f"{run}/attention/{name}"][1, head].astype(float)
        bands = [shares[low:high].sum() for low, high in zip(EDGES[:-1], EDGES[1:], strict=True)]
        return {"bands": np.round(bands, 4).tolist(), "at": round(float(shares[places].sum()), 4)}

    scalings = LookBack.catalogue["controls"]["scaling"]["options"]
    length = 4 * TRAINED
    return {
        "head": head + 1,
        "trained": look(f"default/{TRAINED}"),
        "scaled": {scaling: look(f"{scaling}/{length}") for scaling in scalings},
    }


class LookBack(Explorable):
    """Share right when a block said once is asked for, by distance and length; and where the copying head looks."""

    module = "look_back"
    height = 720
    main = ("scaling", "training")

    scaling = Choice("default", chips=True)
    training = Choice("said_once", chips=True)
    base = Choice("10000", chips=True)
    length = Control(512, LENGTHS[0], LENGTHS[-1], "powers")
    distance = Choice("384")

    @classmethod
    def data(cls) -> dict[str, Any]:
        """By training and base, the accuracy of each scaling and where the copying head looks."""
        controls = cls.catalogue["controls"]
        return {
            "models": {
                f"{training} {base}": {
                    "accuracy": {name: _accuracy(training, base, name) for name in controls["scaling"]["options"]},
                    **_looks(training, base),
                }
                for training in controls["training"]["options"]
                for base in controls["base"]["options"]
            }
        }

    def values(self) -> dict[str, Any]:
        """Accuracy by length and distance, as trained and scaled, and shares of attention by band of distance."""
        looks = _looks(self.training, self.base)
        return {
            "accuracy": _accuracy(self.training, self.base, self.scaling),
            "as_trained": _accuracy(self.training, self.base, "default"),
            "trained_bands": looks["trained"]["bands"],
            "bands": looks["scaled"][self.scaling]["bands"],
            "trained_at": looks["trained"]["at"],
            "at": looks["scaled"][self.scaling]["at"],
            "head": looks["head"],
        }

    def facts(self) -> dict[str, Any]:
        values = self.values()
        row, column = LENGTHS.index(self.length), DISTANCES.index(int(self.distance))
        right, before = values["accuracy"][row][column], values["as_trained"][row][column]
        at = lambda length, distance: values["accuracy"][LENGTHS.index(length)][DISTANCES.index(distance)]  # noqa: E731
        return {
            "measured": right is not None,
            "right": 100 * right if right is not None else None,
            "before": 100 * before if before is not None else None,
            "times": self.length // TRAINED,
            "near": 100 * at(512, 32),
            "far": 100 * at(512, 384),
            "within": 100 * at(128, 64),
            "head": values["head"],
            "repeated": self.training == "copy",
            "at": 100 * values["at"],
            "trained_at": 100 * values["trained_at"],
        }

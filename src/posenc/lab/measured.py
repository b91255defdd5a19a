"""What the laboratory measured, as it ships with the package: no torch is needed to read it.

It lies in `lab/data/results.json`, as `schema.json` beside it describes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from posenc._arrays import one_of

SHIPPED = Path(str(files("posenc"))) / "lab" / "data"
SCHEMA_VERSION = 1


def read_json(path: str | Path) -> Any:
    """What a file holds.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no whole JSON file.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not a whole JSON file: {error}") from error


class Spread(NamedTuple):
    """One number over the seeds of a run."""

    mean: float
    least: float
    greatest: float
    by_seed: dict[int, float]

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.least:.2f} to {self.greatest:.2f})"


class Results:
    """What the laboratory measured.

    Attributes:
        runs: what was trained, by name: profile, task, scheme, seed, causal, steps, command, versions, hashes of the
            text, seconds, and the loss of every tenth batch.
        measurements: flat dictionaries; `schema.json` says what stands in them.
    """

    def __init__(self, runs: Mapping[str, Mapping[str, Any]], measurements: Sequence[Mapping[str, Any]]) -> None:
        self.runs, self.measurements = dict(runs), list(measurements)
        self._fields = {field for one in self.measurements for field in one} | set(_OF_RUN)

    def select(self, **wanted: Any) -> list[dict[str, Any]]:
        """The measurements of which every named field has the value given, each with what is known of its run.

        Args:
            wanted: fields of a measurement (kind, probe, length, scaling, factor, …) or of its run (profile, task,
                scheme, seed, causal). A value of None asks for measurements that lack the field.

        Raises:
            ValueError: no measurement has a field of that name.
        """
        unknown = sorted(set(wanted) - self._fields)
        if unknown:
            raise ValueError(
                f"wanted must name fields among {', '.join(sorted(self._fields))}, got {', '.join(unknown)}"
            )
        found = []
        for one in self.measurements:
            known = {field: self.runs[one["run"]][field] for field in _OF_RUN} | dict(one)
            if all(known.get(field) == value for field, value in wanted.items()):
                found.append(known)
        return found

    def spread(self, value: str = "loss", **wanted: Any) -> Spread:
        """Mean, least and greatest of one number over the seeds.

        Args:
            value: "loss" or "accuracy".
            wanted: as for `select`, so that one measurement of each seed is left.

        Raises:
            ValueError: an unknown value or field, nothing found, or several measurements of one seed.
        """
        one_of("value", value, ("loss", "accuracy"))
        found = self.select(**wanted)
        by_seed = {one["seed"]: one[value] for one in found}
        if not found or len(by_seed) != len(found):
            raise ValueError(f"wanted must leave one measurement of each seed, got {len(found)} of {wanted!r}")
        return Spread(sum(by_seed.values()) / len(by_seed), min(by_seed.values()), max(by_seed.values()), by_seed)


_OF_RUN = ("profile", "task", "scheme", "seed", "causal")


def results(path: str | Path | None = None) -> Results:
    """What the laboratory measured: the results that ship with the package, or those of a file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no whole file of results, or of another version.
    """
    path = SHIPPED / "results.json" if path is None else Path(path)
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"{path} must hold results of schema version {SCHEMA_VERSION}")
    return Results({run["run"]: run for run in content["runs"]}, content["measurements"])

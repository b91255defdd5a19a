"""What the laboratory measured, as it ships with the package: no torch is needed to read it.

It lies in `lab/data/results.json.xz` and `exams.json.xz`, packed JSON, as `schema.json` beside them describes it.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posenc._arrays import check_choice
from posenc.lab.intervals import Interval, interval

SHIPPED = Path(str(files("posenc"))) / "lab" / "data"
SCHEMA_VERSION = 1
RESULTS = SHIPPED / "results.json.xz"
EXAMS = SHIPPED / "exams.json.xz"
FILES = 40  # that the windows of text are from, in turn


def read_json(path: str | Path) -> Any:
    """What a file holds; one whose name ends in .xz is unpacked.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no whole JSON file.
    """
    try:
        content = Path(path).read_bytes()
        return json.loads(lzma.decompress(content) if Path(path).suffix == ".xz" else content)
    except (ValueError, lzma.LZMAError) as error:
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

    def __init__(
        self,
        runs: Mapping[str, Mapping[str, Any]],
        measurements: Sequence[Mapping[str, Any]],
        values: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.runs, self.measurements, self.arrays = dict(runs), list(measurements), dict(values or {})
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
        of_run = {field: value for field, value in wanted.items() if field in _OF_RUN}
        of_measurement = {field: value for field, value in wanted.items() if field not in _OF_RUN}
        runs = {
            name: {field: run[field] for field in _OF_RUN}
            for name, run in self.runs.items()
            if all(run[field] == value for field, value in of_run.items())
        }
        return [
            runs[one["run"]] | dict(one)
            for one in self.measurements
            if one["run"] in runs and all(one.get(field) == value for field, value in of_measurement.items())
        ]

    def spread(self, value: str = "loss", **wanted: Any) -> Spread:
        """Mean, least and greatest of one number over the seeds.

        Args:
            value: "loss" or "accuracy".
            wanted: as for `select`, so that one measurement of each seed is left.

        Raises:
            ValueError: an unknown value or field, nothing found, or several measurements of one seed.
        """
        check_choice("value", value, ("loss", "accuracy"))
        found = self.select(**wanted)
        by_seed = {one["seed"]: one[value] for one in found}
        if not found or len(by_seed) != len(found):
            raise ValueError(f"wanted must leave one measurement of each seed, got {len(found)} of {wanted!r}")
        return Spread(sum(by_seed.values()) / len(by_seed), min(by_seed.values()), max(by_seed.values()), by_seed)

    def values(self, **wanted: Any) -> tuple[list[int], np.ndarray]:
        """The seeds, and what each of their models got in every window or probe: shape (seeds, windows).

        Args:
            wanted: as for `spread`.

        Raises:
            ValueError: nothing found, several measurements of one seed, or measurements whose values do not ship.
        """
        found = sorted(self.select(**wanted), key=lambda one: one["seed"])
        seeds = [one["seed"] for one in found]
        if not found or len(set(seeds)) != len(seeds):
            raise ValueError(f"wanted must leave one measurement of each seed, got {len(found)} of {wanted!r}")
        if any("values" not in one for one in found):
            raise ValueError(f"wanted must leave measurements whose values ship, got {wanted!r}")
        rows = [self.arrays[one["run"]][one["values"][0] :][: one["values"][1]] for one in found]
        return seeds, np.stack(rows).astype(float)

    def interval(self, wanted: Mapping[str, Any], less: Mapping[str, Any] | None = None) -> Interval:
        """A mean over seeds and windows with its interval, or that of a difference on the same seeds and windows.

        Args:
            wanted: as for `spread`, in a dictionary.
            less: what is subtracted, likewise; the windows they share are compared, and the seeds they share.

        Raises:
            ValueError: as `values` does, or no seed or window in common.
        """
        seeds, values = self.values(**wanted)
        if less is not None:
            others, subtracted = self.values(**less)
            both = [seed for seed in seeds if seed in others]
            windows = min(values.shape[1], subtracted.shape[1])
            if not both:
                raise ValueError(f"less must have seeds of {seeds}, got {others}")
            rows = [values[seeds.index(one)] for one in both], [subtracted[others.index(one)] for one in both]
            values = np.stack(rows[0])[:, :windows] - np.stack(rows[1])[:, :windows]
        text = self.select(**wanted)[0]["probe"] == "text"
        return interval(values, np.arange(values.shape[1]) % FILES if text else None)


_OF_RUN = ("profile", "task", "scheme", "seed", "causal")


def results(path: str | Path | None = None) -> Results:
    """What the laboratory measured: the results that ship with the package, or those of a file.

    Args:
        path: of a JSON file, or one packed as .json.xz; the values of each window or probe are in a file of the same
            name that ends in .npz.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no whole file of results, or of another version.
    """
    path = RESULTS if path is None else Path(path)
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"{path} must hold results of schema version {SCHEMA_VERSION}")
    values = {}
    if beside(path).is_file():
        with np.load(beside(path)) as opened:
            values = dict(opened)
    return Results({run["run"]: run for run in content["runs"]}, content["measurements"], values)


def statistics() -> dict[str, np.ndarray]:
    """What the models that ship hold, as arrays.

    Returns:
        arrays by name; <run> is the name of a checkpoint that ships.

        - `<run>/content`: E[q k̄] in logits over late queries and the keys of the first half, complex, shape (layers,
          heads, pairs), for models with rotation;
        - `<run>/distance`: E[q k̄] over all queries and keys so far apart, complex, shape (layers, heads, pairs, 128);
        - `<run>/attention/<scaling>/<length>`: the mean weight at every distance over the last queries of texts of that
          length, shape (layers, heads, length);
        - `<run>/previous_token/<layer>/<head>`: the weights of the head that looks most at the token before, in one
          probe, shape (128, 128);
        - `<run>/table`: a learned table, shape (positions, dim), or T5's, in logits, shape (buckets, heads).

    Example:
        >>> sorted(name.split("/")[1] for name in statistics() if name.startswith("full-text-learned-0"))
        ['table']
    """
    with np.load(SHIPPED / "statistics.npz") as opened:
        arrays = dict(opened)
    return {name: one[..., 0] + 1j * one[..., 1] if "/distance" in name else one for name, one in arrays.items()}


def beside(path: Path) -> Path:
    """The file with the values of each window or probe, beside one of results."""
    return path.with_name(path.name.removesuffix(".xz").removesuffix(".json") + ".npz")


@cache
def _exams() -> Results:
    return results(EXAMS)


def exams() -> Results:
    """What the exams of blocks said once, of recall and of a thousand windows of text found, as it ships.

    It is read the first time that it is asked for: whoever changes it changes it for all.
    """
    return _exams()

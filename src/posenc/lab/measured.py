"""The laboratory's measurements, as they ship with posenc-lab; reading them needs no torch.

They are in `data/results.json.xz` and `benchmarks.json.xz`, packed JSON, described by `schema.json` beside them.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posenc._arrays import check_choice
from posenc._extras import lab_folder
from posenc.lab.intervals import Interval, interval

SCHEMA_VERSION = 1
RESULTS, BENCHMARKS = "results.json.xz", "benchmarks.json.xz"  # in `shipped_folder()`
FILES = 40  # window n of the text is from file n modulo FILES


def shipped_folder() -> Path:
    """The folder of the files that ship with posenc-lab.

    Raises:
        ModuleNotFoundError: posenc-lab is not installed.
    """
    return lab_folder("data")


def read_json(path: str | Path) -> Any:
    """The content of a JSON file, which may be packed as .xz.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged or no JSON.
    """
    try:
        content = Path(path).read_bytes()
        return json.loads(lzma.decompress(content) if Path(path).suffix == ".xz" else content)
    except (ValueError, lzma.LZMAError) as error:
        raise ValueError(f"{path} is not a complete JSON file: {error}") from error


class SeedSummary(NamedTuple):
    """One metric over the seeds of a run."""

    mean: float
    min: float
    max: float
    by_seed: dict[int, float]

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.min:.2f} to {self.max:.2f})"


class Results:
    """Measurements of the laboratory, and the runs that they were made on.

    Attributes:
        runs: by name: profile, task, scheme, seed, causal, steps, command, versions, hashes of the text, seconds, and
            the loss of every tenth batch.
        measurements: flat dictionaries; `schema.json` describes their fields.
    """

    def __init__(
        self,
        runs: Mapping[str, Mapping[str, Any]],
        measurements: Sequence[Mapping[str, Any]],
        values: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.runs, self.measurements, self.arrays = dict(runs), list(measurements), dict(values or {})
        self._fields = {field for one in self.measurements for field in one} | set(_OF_RUN)

    def select(self, **filters: Any) -> list[dict[str, Any]]:
        """The measurements that match all filters, each merged with the fields of its run.

        Args:
            filters: values of fields of a measurement (kind, probe, length, scaling, factor, …) or of its run (profile,
                task, scheme, seed, causal). None matches measurements that lack the field.

        Raises:
            ValueError: no measurement has a field of that name.
        """
        unknown = sorted(set(filters) - self._fields)
        if unknown:
            raise ValueError(
                f"filters must name fields among {', '.join(sorted(self._fields))}, got {', '.join(unknown)}"
            )
        of_run = {field: value for field, value in filters.items() if field in _OF_RUN}
        of_measurement = {field: value for field, value in filters.items() if field not in _OF_RUN}
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

    def over_seeds(self, metric: str = "loss", **filters: Any) -> SeedSummary:
        """Mean, minimum and maximum of one metric over the seeds.

        Args:
            metric: "loss" or "accuracy".
            filters: as for `select`, so that one measurement per seed is left.

        Raises:
            ValueError: an unknown metric or field, no match, or several measurements of one seed.
        """
        check_choice("metric", metric, ("loss", "accuracy"))
        by_seed = {seed: one[metric] for seed, one in self._one_per_seed(filters).items()}
        return SeedSummary(sum(by_seed.values()) / len(by_seed), min(by_seed.values()), max(by_seed.values()), by_seed)

    def values(self, **filters: Any) -> tuple[list[int], np.ndarray]:
        """The seeds, sorted, and the metric of every window or probe, shape (seeds, windows).

        Args:
            filters: as for `over_seeds`.

        Raises:
            ValueError: no match, several measurements of one seed, or measurements whose values do not ship.
        """
        found = dict(sorted(self._one_per_seed(filters).items()))
        if any("values" not in one for one in found.values()):
            raise ValueError(f"filters must leave measurements whose values ship, got {filters!r}")
        rows = [self.arrays[one["run"]][one["values"][0] :][: one["values"][1]] for one in found.values()]
        return list(found), np.stack(rows).astype(float)

    def _one_per_seed(self, filters: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        found = self.select(**filters)
        by_seed = {one["seed"]: one for one in found}
        if not found or len(by_seed) != len(found):
            raise ValueError(f"filters must leave one measurement per seed, got {len(found)} of {filters!r}")
        return by_seed

    def interval(self, filters: Mapping[str, Any], baseline: Mapping[str, Any] | None = None) -> Interval:
        """The mean over seeds and windows with its 95 % interval, or that of the paired difference to a baseline.

        Args:
            filters: as for `over_seeds`, in a dictionary.
            baseline: likewise; it is subtracted on the seeds and windows that both have.

        Raises:
            ValueError: as `values` does, or no seed in common.
        """
        seeds, values = self.values(**filters)
        if baseline is not None:
            other_seeds, subtracted = self.values(**baseline)
            common = [seed for seed in seeds if seed in other_seeds]
            if not common:
                raise ValueError(f"baseline must have seeds of {seeds}, got {other_seeds}")
            windows = min(values.shape[1], subtracted.shape[1])
            values = values[[seeds.index(seed) for seed in common], :windows]
            values = values - subtracted[[other_seeds.index(seed) for seed in common], :windows]
        text = self.select(**filters)[0]["probe"] == "text"
        return interval(values, np.arange(values.shape[1]) % FILES if text else None)


_OF_RUN = ("profile", "task", "scheme", "seed", "causal")


def results(path: str | Path | None = None) -> Results:
    """The measurements that ship with posenc-lab, or those in a file.

    Args:
        path: of a JSON file, or one packed as .json.xz; the values of each window or probe are in a file of the same
            name that ends in .npz.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged, holds no results, or is of another version.
    """
    path = shipped_folder() / RESULTS if path is None else Path(path)
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"{path} must hold results of schema version {SCHEMA_VERSION}")
    values = {}
    if beside(path).is_file():
        with np.load(beside(path)) as opened:
            values = dict(opened)
    return Results({run["run"]: run for run in content["runs"]}, content["measurements"], values)


def statistics() -> dict[str, np.ndarray]:
    """Statistics of the trained models that ship, as arrays by name; <run> is the name of a shipped checkpoint.

    - `<run>/content`: E[q k̄] in logits over late queries and the keys of the first half, complex, shape (layers, heads,
      pairs), for rotary models;
    - `<run>/distance`: E[q k̄] over all queries and keys at each distance, complex, shape (layers, heads, pairs, 128);
    - `<run>/attention/<scaling>/<length>`: the mean attention weight at every distance over the last queries of texts
      of that length, shape (layers, heads, length);
    - `<run>/previous_token/<layer>/<head>`: the attention weights in one probe of the head that attends most to the
      previous token, shape (128, 128);
    - `<run>/table`: a learned embedding table, shape (positions, dim), or T5's bias, in logits, shape (buckets, heads).

    Example:
        >>> sorted(name.split("/")[1] for name in statistics() if name.startswith("full-text-learned-0"))
        ['table']
    """
    with np.load(shipped_folder() / "statistics.npz") as opened:
        arrays = dict(opened)
    return {name: one[..., 0] + 1j * one[..., 1] if "/distance" in name else one for name, one in arrays.items()}


def beside(path: Path) -> Path:
    """The file with the values of each window or probe that belongs to a file of results."""
    return path.with_name(path.name.removesuffix(".xz").removesuffix(".json") + ".npz")


@cache
def benchmarks() -> Results:
    """The benchmarks that ship: single-occurrence and repeated copy, recall, and a thousand windows of text.

    The file is read once, and every call returns the same object: do not change it.
    """
    return results(shipped_folder() / BENCHMARKS)

"""Files of the laboratory: checkpoints as safetensors in half precision, everything else as JSON."""

from __future__ import annotations

import json
import lzma
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

try:
    import torch
    from safetensors.torch import save_file
except ModuleNotFoundError as error:
    from posenc._extras import missing

    raise missing(error, "lab") from None

from posenc._arrays import check_choice
from posenc.lab.benchmarks import groups_of
from posenc.lab.corpus import library
from posenc.lab.evaluate import scaled, with_scheme
from posenc.lab.measured import (
    BENCHMARKS,
    RESULTS,
    SCHEMA_VERSION,
    Results,
    beside,
    read_json,
    results,
    shipped_folder,
)
from posenc.lab.runs import Run, benchmarked, planned, shipping
from posenc.lab.statistics import attention_by_distance, capture_attention, mean_products
from posenc.lab.train import learned_at
from posenc.lab.weights import read_checkpoint, shipped
from posenc.transformer import Transformer


@contextmanager
def _atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary file that replaces `path` when done, so that an interruption leaves the old file or the new one."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    yield unfinished
    unfinished.chmod(0o644)
    unfinished.replace(path)


def write_text(path: str | Path, text: str) -> None:
    """Writes a file completely or not at all; packed if its name ends in .xz."""
    content = text.encode()
    with _atomic_write(path) as unfinished:
        unfinished.write_bytes(lzma.compress(content) if Path(path).suffix == ".xz" else content)


def write_json(path: str | Path, content: Any) -> None:
    """Writes a JSON file completely or not at all."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def write_measurements(path: str | Path, measurements: Sequence[Mapping[str, Any]], seconds: float) -> None:
    """Writes measurements as JSON, with their values in an array of half precision in a file beside it."""
    values = [np.asarray(one["values"], np.float16) for one in measurements]
    starts = np.cumsum([0, *map(len, values)]).tolist()
    slices = [[start, len(one)] for start, one in zip(starts[:-1], values, strict=True)]
    records = [dict(one) | {"values": where} for one, where in zip(measurements, slices, strict=True)]
    with _atomic_write(Path(path).with_suffix(".npy")) as unfinished, unfinished.open("wb") as opened:
        np.save(opened, np.concatenate(values))
    write_json(path, {"measuring_seconds": round(seconds, 1), "measurements": records})


def description(run: Run, losses: list[float], seconds: float, wall_seconds: float) -> dict[str, Any]:
    """The record of a training run: how to repeat it, its losses and its time."""
    text = library() if run.task == "text" else None
    return {
        "run": run.name,
        "profile": run.profile,
        "task": run.task,
        "scheme": run.scheme,
        "seed": run.seed,
        "causal": run.causal,
        "steps": run.steps,
        "learning_rate": run.settings.learning_rate,
        "learned_at": learned_at(losses, run.config().vocab_size),
        "command": f"python -m posenc.lab run {run.name}",
        "versions": versions(),
        "text": text and {"train": text.train_hash, "held_out": text.held_out_hash, "missing": list(text.missing)},
        "processor_seconds": round(seconds, 1),
        "wall_seconds": round(wall_seconds, 1),
        "losses": losses,
    }


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    return {
        "python": platform.python_version(),
        "torch": version("torch"),
        "numpy": version("numpy"),
        "machine": platform.machine(),
    }


def save_checkpoint(model: Transformer, run: Run, path: str | Path) -> None:
    """Writes a model whose weights have been rounded to half precision.

    Raises:
        ValueError: a weight is not representable in half precision, and would be changed.
    """
    weights = {name: weight.detach().half().contiguous() for name, weight in model.state_dict().items()}
    changed = [name for name, weight in model.state_dict().items() if not torch.equal(weights[name].to(weight), weight)]
    if changed:
        raise ValueError(f"model must have been rounded to half precision, got other weights in {', '.join(changed)}")
    with _atomic_write(path) as unfinished:
        save_file(weights, unfinished, metadata={"run": run.name})


def load_checkpoint(path: str | Path) -> tuple[Transformer, Run]:
    """The model of a checkpoint, in float32 and in evaluation mode, and its run.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged, or no checkpoint of the laboratory.
    """
    weights, scheme, run = read_checkpoint(path)
    model = Transformer(run.config(), scheme)
    model.load_state_dict({name: torch.from_numpy(weight) for name, weight in weights.items()})
    return model.eval(), run


# ---------------------------------------------------------------------------------------------------------------------
# What ships with posenc-lab


def load(name: str) -> tuple[Transformer, Run]:
    """A trained model that ships with posenc-lab, in float32, and its run.

    Args:
        name: one of `shipped()`, for example "full-text-rope_100-0".

    Raises:
        ValueError: no such checkpoint ships, or it is damaged.
    """
    return load_checkpoint(shipped_folder() / f"{check_choice('name', name, tuple(shipped()))}.safetensors")


def collect(folder: str | Path, into: str | Path | None = None, *, keep: bool = False) -> str:
    """Writes the results and checkpoints of a folder of runs into posenc-lab; returns a line about them.

    Args:
        folder: of finished runs, as `python -m posenc.lab` writes them.
        into: another folder than posenc-lab's.
        keep: whether to keep the results of runs that are not in the folder.

    Raises:
        ValueError: a file is damaged, or there is no finished run.
    """
    folder, into = Path(folder), shipped_folder() if into is None else Path(into)
    names = [run.name for run in planned()]
    runs: dict[str, Any] = {}
    measurements: dict[str, list[Any]] = {}
    if keep and (into / RESULTS).is_file():
        before = results(into / RESULTS)
        runs |= before.runs
        for one in before.measurements:
            measurements.setdefault(one["run"], []).append(one)
    done = [name for name in names if (folder / f"{name}.json").is_file()]
    if not done:
        raise ValueError(f"folder must hold finished runs, got {folder}")
    for name in done:
        measured = read_json(folder / f"{name}.json")
        runs[name] = read_json(folder / f"{name}.trained.json") | {"measuring_seconds": measured["measuring_seconds"]}
        measurements[name] = measured["measurements"]
        if name in shipping():
            save_checkpoint(*load_checkpoint(folder / f"{name}.safetensors"), into / f"{name}.safetensors")
    into.mkdir(parents=True, exist_ok=True)
    there = [name for name in names if name in runs]
    collected = [one for name in there for one in measurements[name]]
    text = _as_lines([runs[name] for name in there], collected)
    write_text(into / RESULTS, text)
    return f"{len(there)} of {len(names)} runs and {len(collected)} measurements are in {into}"


def collect_benchmarks(folder: str | Path, path: str | Path | None = None) -> str:
    """Adds the benchmarks in a folder of runs to those in a file; returns a line about them.

    Checkpoints of `posenc.lab.runs.shipping` are written beside the file.

    Args:
        folder: of runs, as `python -m posenc.lab` writes them.
        path: of the results, as `posenc.lab.measured.results` reads them; None: those that ship.

    Raises:
        ValueError: a file is damaged, or there is nothing to add.
    """
    folder, path = Path(folder), shipped_folder() / BENCHMARKS if path is None else Path(path)
    before = results(path) if path.is_file() else Results({}, [])
    of_run: dict[str, dict[str, list[tuple[Any, np.ndarray]]]] = {}
    for one in before.measurements:
        start, count = one["values"]
        kinds = of_run.setdefault(one["run"], {})
        kinds.setdefault(one["kind"], []).append((one, before.arrays[one["run"]][start : start + count]))
    runs, added = dict(before.runs), 0
    for run in benchmarked():
        for group in groups_of(run):
            record = folder / f"{run.name}.{group}.json"
            if not record.is_file():
                continue
            added += 1
            found, values = read_json(record)["measurements"], np.load(record.with_suffix(".npy"))
            runs[run.name] = read_json(folder / f"{run.name}.trained.json")
            if run.name in shipping():
                checkpoint = path.with_name(f"{run.name}.safetensors")
                save_checkpoint(*load_checkpoint(folder / checkpoint.name), checkpoint)
            parts = [(one, values[one["values"][0] :][: one["values"][1]]) for one in found]
            of_run.setdefault(run.name, {})[found[0]["kind"]] = parts
    if not added:
        raise ValueError(f"folder must hold benchmarks of planned runs, got {folder}")
    names = [run.name for run in benchmarked() if run.name in of_run]
    collected, arrays = [], {}
    for name in names:
        parts = [part for kind in of_run[name].values() for part in kind]
        starts = np.cumsum([0, *(len(values) for _, values in parts)]).tolist()
        collected += [one | {"values": [at, len(values)]} for (one, values), at in zip(parts, starts[:-1], strict=True)]
        arrays[name] = np.concatenate([values for _, values in parts])
    with _atomic_write(beside(path)) as unfinished, unfinished.open("wb") as opened:
        np.savez_compressed(opened, **arrays)  # type: ignore[arg-type]  # its own option has another type
    write_text(path, _as_lines([runs[name] for name in names], collected))
    return f"{added} groups of measurements added: {len(names)} runs and {len(collected)} measurements are in {path}"


ATTENTION_SCALINGS = (
    "default",
    "linear",
    "ntk_aware",
    "ntk_by_parts",
    "yarn",
    "yarn_temperature",
)  # at four times the length
STATISTICS_TEXTS = 200  # of the trained length; a quarter of them for attention at longer lengths


def collect_statistics(path: str | Path | None = None) -> str:
    """Computes and writes what `posenc.lab.measured.statistics` reads; returns a line about it."""
    path = shipped_folder() / "statistics.npz" if path is None else Path(path)
    found: dict[str, np.ndarray] = {}
    for name in shipped():
        model, run = load(name)
        if run.scheme == "learned":
            found[f"{name}/table"] = model.scheme.state_dict()["table"].numpy().astype(np.float16)
        elif run.scheme == "t5":
            found[f"{name}/table"] = (model.scheme.gain * model.scheme.state_dict()["table"]).numpy()
        elif run.scheme_options[0] == "rope":
            found |= {f"{name}/{part}": array for part, array in statistics_of(model, run).items()}
    with _atomic_write(path) as unfinished, unfinished.open("wb") as opened:
        np.savez_compressed(opened, **found)  # type: ignore[arg-type]  # its own option has another type
    return f"{len(found)} arrays of {len({name.split('/')[0] for name in found})} models are in {path}"


def statistics_of(model: Transformer, run: Run) -> dict[str, np.ndarray]:
    """The arrays of a rotary model that `posenc.lab.measured.statistics` returns, without the run's name.

    Complex numbers by distance are stored as pairs of real ones, in half precision.
    """
    trained, task = run.settings.length, run.make_task()
    products = mean_products(model, run, task.probe(trained, STATISTICS_TEXTS).tokens)
    parts = np.stack([products.by_distance.real, products.by_distance.imag], axis=-1)
    found: dict[str, np.ndarray] = {
        "content": products.by_content.astype(np.complex64),
        "distance": parts.astype(np.float16),
    }
    for scaling, times in (("default", 1), *((scaling, 4) for scaling in ATTENTION_SCALINGS)):
        texts = task.probe(times * trained, STATISTICS_TEXTS // 4).tokens
        changed = with_scheme(model, scaled(run, scaling, times))
        weights = attention_by_distance(changed, texts, task.n_scored).astype(np.float16)
        found[f"attention/{scaling}/{times * trained}"] = weights
    if run.task != "text":
        weights = found[f"attention/default/{trained}"]
        layer, head = (int(index) for index in np.unravel_index(weights[..., 1].argmax(), weights.shape[:2]))
        by_layer: dict[int, torch.Tensor] = {}
        tokens = task.probe(trained, 1).tokens
        capture_attention(model, tokens, lambda at, q, k, weights: by_layer.update({at: weights}), 1)
        found[f"previous_token/{layer}/{head}"] = by_layer[layer][0, head].numpy().astype(np.float16)
    return found


def _as_lines(runs: Sequence[Mapping[str, Any]], measurements: Sequence[Mapping[str, Any]]) -> str:
    """Results as JSON with one run or measurement per line, for readable diffs."""
    lists = [",\n".join(json.dumps(one, separators=(",", ":")) for one in each) for each in (runs, measurements)]
    return f'{{"schema_version":{SCHEMA_VERSION},\n"runs":[\n{lists[0]}\n],\n"measurements":[\n{lists[1]}\n]}}\n'

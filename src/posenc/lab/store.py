"""Where the laboratory keeps what it makes: checkpoints as safetensors in half precision, everything else as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

try:
    import torch
    from safetensors import SafetensorError, safe_open
    from safetensors.torch import save_file
except ModuleNotFoundError:
    from posenc._arrays import NEEDS_TORCH

    raise ModuleNotFoundError(NEEDS_TORCH, name="torch") from None

from posenc._arrays import one_of
from posenc.lab.corpus import library
from posenc.lab.measured import SCHEMA_VERSION, SHIPPED, read_json, results
from posenc.lab.runs import SEEDS, Run, planned
from posenc.transformer import Transformer


@contextmanager
def _beside(path: str | Path) -> Iterator[Path]:
    """A place to write beside the file, moved there when done: an interruption leaves the old file or the new one."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    yield unfinished
    unfinished.chmod(0o644)
    unfinished.replace(path)


def write_text(path: str | Path, text: str) -> None:
    """Writes a file whole or not at all."""
    with _beside(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_json(path: str | Path, content: Any) -> None:
    """Writes a JSON file whole or not at all."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def description(run: Run, losses: list[float], seconds: float, wall_seconds: float) -> dict[str, Any]:
    """What is kept of a training run besides its weights: how to repeat it, and what it took."""
    text = library() if run.task == "text" else None
    return {
        "run": run.name,
        "profile": run.profile,
        "task": run.task,
        "scheme": run.scheme,
        "seed": run.seed,
        "causal": run.causal,
        "steps": run.steps,
        "command": f"python -m posenc.lab run {run.name}",
        "versions": versions(),
        "text": text and {"train": text.train_hash, "held_out": text.held_out_hash, "missing": list(text.missing)},
        "processor_seconds": round(seconds, 1),
        "wall_seconds": round(wall_seconds, 1),
        "losses": losses,
    }


def versions() -> dict[str, str]:
    """What a result depends on, besides the code and the text."""
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
    with _beside(path) as unfinished:
        save_file(weights, unfinished, metadata={"run": run.name})


def load_checkpoint(path: str | Path) -> tuple[Transformer, Run]:
    """The model of a checkpoint in float32, ready to be measured, and the run that made it.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or not the laboratory's.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no checkpoint {path}")
    try:
        with safe_open(path, framework="pt") as opened:
            run = Run.from_name((opened.metadata() or {}).get("run", ""))
            weights = {name: opened.get_tensor(name).float() for name in opened.keys()}  # noqa: SIM118
        model = Transformer(run.config(), run.make_scheme())
        model.load_state_dict(weights)
    except (SafetensorError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path} is not a whole checkpoint of the laboratory: {error}") from error
    return model.eval(), run


# ---------------------------------------------------------------------------------------------------------------------
# What ships with the package


def shipped() -> list[str]:
    """The names of the runs whose checkpoints ship with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.safetensors"))


def load(name: str) -> tuple[Transformer, Run]:
    """A trained model that ships with the package, in float32, and the run that made it.

    Args:
        name: one of `shipped()`, as "full-text-rope_100-0".

    Raises:
        ValueError: no such checkpoint ships, or it is damaged.
    """
    return load_checkpoint(SHIPPED / f"{one_of('name', name, tuple(shipped()))}.safetensors")


def collect(folder: str | Path, into: str | Path | None = None, *, keep: bool = False) -> str:
    """Writes what a folder of runs holds to where the package ships it; answers with a line of what that is.

    Args:
        folder: of finished runs, as `python -m posenc.lab` keeps them.
        into: another place than the package's own.
        keep: whether what is there of runs that the folder lacks stays.

    Raises:
        ValueError: a file is damaged, or there is no finished run.
    """
    folder, into = Path(folder), SHIPPED if into is None else Path(into)
    names = [run.name for run in planned()]
    runs: dict[str, Any] = {}
    measurements: dict[str, list[Any]] = {}
    if keep and (into / "results.json").is_file():
        before = results(into / "results.json")
        runs |= before.runs
        for one in before.measurements:
            measurements.setdefault(one["run"], []).append(one)
    done = [name for name in names if (folder / f"{name}.json").is_file()]
    if not done:
        raise ValueError(f"folder must hold finished runs, got {folder}")
    for name in done:
        measured, run = read_json(folder / f"{name}.json"), Run.from_name(name)
        runs[name] = read_json(folder / f"{name}.trained.json") | {"measuring_seconds": measured["measuring_seconds"]}
        measurements[name] = measured["measurements"]
        if run.profile == "full" and run.seed == SEEDS[0]:
            save_checkpoint(*load_checkpoint(folder / f"{name}.safetensors"), into / f"{name}.safetensors")
    into.mkdir(parents=True, exist_ok=True)
    there = [name for name in names if name in runs]
    asked = [one for name in there for one in measurements[name]]
    # One run and one measurement a line: short, and a change shows where it is.
    lists = [
        ",\n".join(json.dumps(one, separators=(",", ":")) for one in each)
        for each in ([runs[name] for name in there], asked)
    ]
    text = f'{{"schema_version":{SCHEMA_VERSION},\n"runs":[\n{lists[0]}\n],\n"measurements":[\n{lists[1]}\n]}}\n'
    write_text(into / "results.json", text)
    return f"{len(there)} of {len(names)} runs and {len(asked)} measurements are in {into}"

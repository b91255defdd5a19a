"""Training and measuring a run, as far as it is not done yet; worker processes import this module."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import torch

from posenc.lab import store
from posenc.lab.benchmarks import GROUPS, groups_of
from posenc.lab.measured import read_json
from posenc.lab.measurements import measurements
from posenc.lab.runs import Run, benchmarked, planned
from posenc.lab.train import train


def carry_out(
    run: Run, folder: Path, groups: Sequence[str] | None = None, progress: bool = True, device: str = "cpu"
) -> str:
    """Trains and measures a run, as far as the folder does not have it; returns a line about it.

    Args:
        run: what to train.
        folder: of the runs.
        groups: of the benchmarks, or "all"; None: all of them for a run that only the benchmarks have, and those of
            `posenc.lab.measurements` for the others.
        progress: whether to show a progress bar.
        device: of torch.
    """
    torch.set_num_threads(1)  # a second thread slows models this small down
    checkpoint, trained_record = folder / f"{run.name}.safetensors", folder / f"{run.name}.trained.json"
    if not (checkpoint.is_file() and trained_record.is_file()):
        began = time.time()
        trained = train(run, run.make_task(), folder=folder, progress=progress, device=device)
        store.save_checkpoint(trained.model, run, checkpoint)
        wall = time.time() - began
        store.write_json(trained_record, store.description(run, trained.losses, trained.seconds, wall))
        (folder / f"{run.name}.state").unlink(missing_ok=True)
    by_benchmarks = groups is not None or (run in benchmarked() and run not in planned())
    for group in groups_of(run) if by_benchmarks else ():
        record = folder / f"{run.name}.{group}.json"
        if (groups is None or group in groups or "all" in groups) and not record.is_file():
            model, _ = store.load_checkpoint(checkpoint)
            began = time.process_time()
            found = list(GROUPS[group](model.to(device), run))
            store.write_measurements(record, found, time.process_time() - began)
    record = folder / f"{run.name}.json"
    if not by_benchmarks and not record.is_file():
        model, _ = store.load_checkpoint(checkpoint)
        began = time.process_time()
        found = list(measurements(model, run))
        store.write_json(record, {"measuring_seconds": round(time.process_time() - began, 1), "measurements": found})
    loss = read_json(trained_record)["losses"][-1]
    return f"{run.name}: last loss {loss:.3f}"

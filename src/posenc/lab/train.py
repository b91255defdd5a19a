"""Training of one run, with the same budget for every scheme; an interruption loses at most 250 steps.

Every batch is drawn from the seed and the number of its step, so a resumed run equals an uninterrupted one. The final
weights are rounded to half precision, in which checkpoints store them, so measurements are of the stored numbers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import NamedTuple

import numpy as np

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional as F
    from tqdm.auto import tqdm
except ModuleNotFoundError as error:
    from posenc._extras import missing

    raise missing(error, "lab") from None

from posenc._arrays import check_int
from posenc.lab._checks import instance
from posenc.lab.corpus import IGNORED, Batch, Task
from posenc.lab.runs import RATES, Profile, Run
from posenc.transformer import Transformer

SAVE_EVERY = 250  # steps


class Trained(NamedTuple):
    """A trained model and its training losses."""

    model: Transformer
    losses: list[float]  # nats, of every tenth batch
    seconds: float  # processor time


def loss_of(model: Transformer, batch: Batch) -> Tensor:
    """Mean cross-entropy over the tokens with a target, in nats."""
    logits = model(batch.tokens)
    return F.cross_entropy(logits.flatten(0, -2), batch.targets.flatten(), ignore_index=IGNORED)


def optimiser_for(model: nn.Module, profile: Profile) -> torch.optim.AdamW:
    """AdamW with weight decay for matrices only."""
    parameters = [one for one in model.parameters() if one.requires_grad]
    groups = [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": profile.weight_decay},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=profile.learning_rate, betas=profile.betas, fused=True)


def learning_rate(step: int, steps: int, profile: Profile) -> float:
    """Linear warm-up, then linear decay to a twentieth of the maximum."""
    if step < profile.warm_up:
        return profile.learning_rate * (step + 1) / profile.warm_up
    left = (steps - step) / max(steps - profile.warm_up, 1)
    return profile.learning_rate * (0.05 + 0.95 * left)


def step(model: Transformer, optimiser: torch.optim.Optimizer, batch: Batch, clip: float) -> Tensor:
    """One optimiser step on a batch, on the model's device; returns the loss before it."""
    device = next(model.parameters()).device
    loss = loss_of(model, Batch(*(part.to(device) for part in batch)))
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimiser.step()
    return loss.detach()


def draw(task: Task, seed: int, number: int, profile: Profile, length: int | None = None) -> Batch:
    """The batch of a step, which depends only on the run's seed and the number of the step."""
    sequences = profile.sequences if length is None else max(profile.sequences * profile.length // length, 1)
    return task.batch(np.random.RandomState([seed, number]), sequences, length or profile.length)


def build(run: Run) -> Transformer:
    """The model of a run before its first step."""
    instance("run", run, Run)
    return Transformer(run.config(), run.make_scheme(), seed=run.seed)


def round_to_half(model: nn.Module) -> None:
    """Rounds every weight to half precision, in place, and keeps its dtype."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half())


def learned_at(losses: Sequence[float], answers: int) -> int | None:
    """The step from which a model's loss stays below half of that of guessing; None if there is none.

    The loss is a moving average of ten records.

    Args:
        losses: of every tenth batch, in nats.
        answers: number of equally likely answers, at least 2.

    Example:
        >>> learned_at([4.2] * 30 + [0.3] * 30, 64)
        360
    """
    means = np.convolve(losses, np.full(10, 0.1), "valid") if len(losses) >= 10 else np.array([])
    above = np.flatnonzero(means >= np.log(check_int("answers", answers, 2)) / 2)
    first = 0 if not above.size else int(above[-1]) + 1
    return None if first >= len(means) else 10 * (first + 10)


def try_rates(run: Run, steps: int) -> dict[float, float]:
    """The loss of a run with each learning rate of `RATES`: the mean over the last hundred of `steps` steps.

    Raises:
        TypeError, ValueError: no run, or no integer of at least 100.
    """
    instance("run", run, Run)
    check_int("steps", steps, 100)
    found = {}
    for rate in RATES:
        model, profile = build(run), replace(run.settings, learning_rate=rate)
        taken = _steps(model, optimiser_for(model, profile), run.make_task(), run.seed, range(steps), steps, profile)
        found[rate] = round(float(np.mean(list(taken)[-100:])), 4)
    return found


def _steps(
    model: Transformer,
    optimiser: torch.optim.Optimizer,
    task: Task,
    seed: int,
    numbers: Iterable[int],
    steps: int,
    profile: Profile,
) -> Iterator[float]:
    """Trains for the steps of these numbers, out of `steps`, and yields each loss."""
    for number in numbers:
        rate = learning_rate(number, steps, profile)
        for group in optimiser.param_groups:
            group["lr"] = rate
        yield step(model, optimiser, draw(task, seed, number, profile), profile.clip).item()


def train(
    run: Run, task: Task, *, folder: str | Path | None = None, progress: bool = True, device: str = "cpu"
) -> Trained:
    """Trains the model of a run.

    Args:
        run: what to train.
        task: of the name in the run.
        folder: where the training state is saved and resumed from; None: nowhere.
        progress: whether to show a progress bar.
        device: of torch, for example "cuda".

    Raises:
        TypeError: an argument of another kind.
        ValueError: another task, or a state in the folder that cannot be read or belongs to another run.
    """
    instance("device", device, str)
    model = build(run).to(device)
    instance("task", task, Task)
    if task.name != run.task:
        raise ValueError(f"task must be {run.task!r} for the run {run.name!r}, got {task.name!r}")
    instance("folder", folder, str, Path, NoneType)
    instance("progress", progress, bool)
    profile, steps = run.settings, run.steps
    optimiser = optimiser_for(model, profile)
    state_file = None if folder is None else Path(folder) / f"{run.name}.state"
    losses: list[float] = []
    first, spent = 0, 0.0
    if state_file is not None and state_file.exists():
        first, losses, spent = _resume(state_file, run, model, optimiser)
    began = time.process_time() - spent
    bar = tqdm(
        range(first, steps), desc=run.name, initial=first, total=steps, unit="step", disable=not progress, mininterval=1
    )
    taken = _steps(model, optimiser, task, run.seed, range(first, steps), steps, profile)
    for number, loss in zip(bar, taken, strict=True):
        if number % 10 == 9 or number == steps - 1:
            losses.append(round(loss, 4))
            bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
        if state_file is not None and number % SAVE_EVERY == SAVE_EVERY - 1 and number < steps - 1:
            _save(state_file, run, number + 1, model, optimiser, losses, time.process_time() - began)
    round_to_half(model)
    model.cpu().eval()
    seconds = time.process_time() - began
    return Trained(model, losses, seconds)


def _save(
    path: Path,
    run: Run,
    steps_done: int,
    model: Transformer,
    optimiser: torch.optim.Optimizer,
    losses: list[float],
    seconds: float,
) -> None:
    """Writes the state to a temporary file and moves it into place, so that an interruption damages nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    torch.save(
        {
            "run": run.name,
            "steps_done": steps_done,
            "model": model.state_dict(),
            "optimiser": optimiser.state_dict(),
            "losses": losses,
            "seconds": seconds,
        },
        unfinished,
    )
    unfinished.replace(path)


def _resume(
    path: Path, run: Run, model: Transformer, optimiser: torch.optim.Optimizer
) -> tuple[int, list[float], float]:
    """Loads a saved state into model and optimiser; returns the number of steps, their losses, and the seconds."""
    try:
        state = torch.load(path, weights_only=True)
        if state["run"] != run.name:
            raise ValueError(f"it belongs to the run {state['run']!r}")
        if not 0 < state["steps_done"] < run.steps:
            raise ValueError(f"{state['steps_done']} of {run.steps} steps cannot have been done")
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        return state["steps_done"], state["losses"], state["seconds"]
    except Exception as error:
        raise ValueError(
            f"{path} cannot be taken up for the run {run.name!r}: {error}; delete it to start anew"
        ) from error

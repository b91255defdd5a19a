"""Training: one run at a time, the same budget for every scheme, and at most 250 steps lost where one is interrupted.

Every batch is drawn from the seed and the number of its step, so a run that goes on from a saved state does exactly
what it would have done without a break. The finished weights are rounded to half precision, in which they are stored:
whatever is measured is measured on the very numbers that a checkpoint holds.
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
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from posenc._arrays import check_int
from posenc.lab._checks import instance
from posenc.lab.corpus import IGNORED, Batch, Task
from posenc.lab.runs import RATES, Profile, Run
from posenc.transformer import Transformer

SAVE_EVERY = 250  # steps; the state of a small model is written in a few milliseconds


class Trained(NamedTuple):
    """A finished run: the model, and what it took."""

    model: Transformer
    losses: list[float]  # nats, of every tenth batch
    seconds: float  # of the processor


def loss_of(model: Transformer, batch: Batch) -> Tensor:
    """Mean cross-entropy in nats over the tokens that are asked for."""
    logits = model(batch.tokens)
    return F.cross_entropy(logits.flatten(0, -2), batch.targets.flatten(), ignore_index=IGNORED)


def optimiser_for(model: nn.Module, profile: Profile) -> torch.optim.AdamW:
    """AdamW that decays matrices and leaves vectors alone."""
    parameters = [one for one in model.parameters() if one.requires_grad]
    groups = [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": profile.weight_decay},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=profile.learning_rate, betas=profile.betas, fused=True)


def learning_rate(step: int, steps: int, profile: Profile) -> float:
    """The learning rate of a step: up on a line, and down on a line to a twentieth."""
    if step < profile.warm_up:
        return profile.learning_rate * (step + 1) / profile.warm_up
    left = (steps - step) / max(steps - profile.warm_up, 1)
    return profile.learning_rate * (0.05 + 0.95 * left)


def step(model: Transformer, optimiser: torch.optim.Optimizer, batch: Batch, clip: float) -> Tensor:
    """One step of the optimiser on one batch, where the model is; answers with the loss before it."""
    device = next(model.parameters()).device
    loss = loss_of(model, Batch(*(part.to(device) for part in batch)))
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimiser.step()
    return loss.detach()


def draw(task: Task, seed: int, number: int, profile: Profile, length: int | None = None) -> Batch:
    """The batch of a step, from the seed of the run and the number of the step alone."""
    sequences = profile.sequences if length is None else max(profile.sequences * profile.length // length, 1)
    return task.batch(np.random.RandomState([seed, number]), sequences, length or profile.length)


def build(run: Run) -> Transformer:
    """The model of a run before its first step."""
    instance("run", run, Run)
    return Transformer(run.config(), run.make_scheme(), seed=run.seed)


def round_to_half(model: nn.Module) -> None:
    """Rounds every weight to half precision, in place, and leaves it in its own dtype."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half())


def learned_at(losses: Sequence[float], answers: int) -> int | None:
    """The step at which a model had learned its task: its loss fell below half of what guessing costs, and stayed.

    Args:
        losses: of every tenth batch, in nats.
        answers: that one could guess among, at least 2.

    Returns:
        the first step after which the mean of ten records was always below; None if it was not.

    Example:
        >>> learned_at([4.2] * 30 + [0.3] * 30, 64)
        360
    """
    means = np.convolve(losses, np.full(10, 0.1), "valid") if len(losses) >= 10 else np.array([])
    above = np.flatnonzero(means >= np.log(check_int("answers", answers, 2)) / 2)
    first = 0 if not above.size else int(above[-1]) + 1
    return None if first >= len(means) else 10 * (first + 10)


def try_rates(run: Run, steps: int) -> dict[float, float]:
    """The loss that a run comes to with each learning rate of `RATES`, in so many steps: the mean of the last hundred.

    Raises:
        TypeError, ValueError: no run, or no whole number of steps from 100.
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
    """Takes the steps of these numbers, of so many in all, and gives each one's loss."""
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
        run: what to train, and with what.
        task: what to train it on, of the name that the run says.
        folder: where the state is kept while it trains; a state that is found there is taken up. None: nowhere.
        progress: whether to show a bar with the loss and the time that is left.
        device: of torch, as "cuda".

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
        first, losses, spent = _take_up(state_file, run, model, optimiser)
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
            _keep(state_file, run, number + 1, model, optimiser, losses, time.process_time() - began)
    round_to_half(model)
    model.cpu().eval()
    seconds = time.process_time() - began
    return Trained(model, losses, seconds)


def _keep(
    path: Path,
    run: Run,
    steps_done: int,
    model: Transformer,
    optimiser: torch.optim.Optimizer,
    losses: list[float],
    seconds: float,
) -> None:
    """Writes the state beside its place and moves it there, so that an interruption leaves the old one or the new."""
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


def _take_up(
    path: Path, run: Run, model: Transformer, optimiser: torch.optim.Optimizer
) -> tuple[int, list[float], float]:
    """Puts a kept state back into model and optimiser; the number of steps done, their losses, seconds spent."""
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

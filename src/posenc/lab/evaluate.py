"""Measuring: the same last tokens at every length, and what each position of a long text costs.

A probe of length n ends with the same tokens for every n, and only the text before them grows. So the value at the
trained length is also what one gets from a longer text by cutting all but its end off: whatever lies above it there
would have been better cut.

A model can be measured with another scheme than it was trained with, as long as that has no weights to learn: other
frequencies, another temperature, other slopes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from posenc._arrays import Array, check_choice, check_int, check_inv_freq, check_positive, describe
from posenc.absolute import relative_positions
from posenc.frequencies import angles, inv_freq, rotations
from posenc.lab._checks import instance
from posenc.lab.corpus import IGNORED, Batch, Task
from posenc.lab.runs import Run
from posenc.lab.train import draw, optimiser_for, step
from posenc.rotary import rotate
from posenc.scaling import mscale
from posenc.schemes import PositionScheme
from posenc.transformer import Transformer

TIMES = (1, 2, 4, 8, 16)  # the trained length
_ENTRIES = 2**25  # of logits or biases that a forward pass may hold at once


class Answers(NamedTuple):
    """What a model answers to one probe.

    Attributes:
        loss: nats per token, mean over the last tokens, those that are the same at every length.
        accuracy: the share of them that the greatest logit names.
        position_loss, position_accuracy: mean at every position over the sequences that are asked there; NaN where
            none is.
        losses, right: of each sequence, loss and accuracy over the last tokens, for `posenc.lab.intervals`.
    """

    loss: float
    accuracy: float
    position_loss: np.ndarray  # (length,)
    position_accuracy: np.ndarray  # (length,)
    losses: np.ndarray  # (sequences,)
    right: np.ndarray  # (sequences,)


def with_scheme(model: Transformer, scheme: PositionScheme) -> Transformer:
    """A model of the same weights, shared, that takes its positions by another scheme.

    Raises:
        TypeError: no model or no scheme.
        ValueError: the scheme has weights of its own, other than those that the model was trained with, or is for
            encoders where the model is a decoder or the reverse.
    """
    instance("model", model, Transformer)
    model.config.check(scheme)
    own, trained = scheme.state_dict(), model.scheme.state_dict()
    foreign = [name for name, weight in own.items() if name not in trained or not torch.equal(weight, trained[name])]
    if foreign:
        raise ValueError(f"scheme must have no weights that the model was not trained with, got {', '.join(foreign)}")
    other = copy.copy(model)
    other._modules = dict(model._modules)  # a copy would share the dictionary that holds the scheme
    other.scheme = scheme
    return other


@torch.inference_mode()
def answers(model: Transformer, probe: Batch, asked: int) -> Answers:
    """What a model answers to a probe, of whose every sequence the last `asked` tokens count.

    Sequences are taken a few at a time, so that long ones fit into the memory.

    Raises:
        TypeError: no model, no batch, or no whole number.
        ValueError: more tokens than the probe has, or some of which it does not ask.
    """
    instance("model", model, Transformer)
    instance("probe", probe, Batch)
    length = probe.tokens.shape[1]
    unasked = probe.targets == IGNORED
    if check_int("asked", asked) > length or bool(unasked[..., -asked:].any()):
        raise ValueError(f"asked must be at most the last tokens that the probe asks for, got {asked}")
    at_once = max(1, _ENTRIES // (length * max(length * model.config.n_heads, model.config.vocab_size)))
    losses, correct, device = [], [], next(model.parameters()).device
    for start in range(0, len(probe.tokens), at_once):
        tokens, targets = (part[start : start + at_once] for part in probe)
        logits = model(tokens.to(device)).cpu()
        each = F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=IGNORED, reduction="none")
        losses.append(each.view(targets.shape))
        correct.append(logits.argmax(dim=-1) == targets)
    loss, right = (torch.cat(found).double().masked_fill(unasked, torch.nan) for found in (losses, correct))
    loss, right = (found.view(len(found), -1) for found in (loss, right))  # one answer for each sequence is one column
    by_position = [values.nanmean(dim=0).numpy() for values in (loss, right)]
    by_sequence = [values[:, -asked:].mean(dim=1).numpy() for values in (loss, right)]
    mean_loss, share = (float(values.mean()) for values in by_sequence)
    return Answers(mean_loss, share, *by_position, *by_sequence)


def measure(
    model: Transformer,
    task: Task,
    lengths: Sequence[int],
    *,
    sequences: int = 32,
    scheme_at: Callable[[int], PositionScheme] | None = None,
) -> dict[int, Answers]:
    """A model's answers to the probes of a task at several lengths.

    Args:
        model: trained.
        task: what to ask.
        lengths: of the probes, in tokens.
        sequences: in a probe.
        scheme_at: the scheme for a probe of a length; None: the model's own at each.

    Returns:
        the answers by length.

    Raises:
        TypeError, ValueError: arguments of another kind, or a length that the task has no probe for.
    """
    instance("task", task, Task)
    instance("lengths", lengths, Sequence)
    if scheme_at is not None and not callable(scheme_at):
        raise TypeError(f"scheme_at must be a function of a length, or None, got {describe(scheme_at)}")
    found = {}
    for length in lengths:
        check_int("lengths", length)
        measured = model if scheme_at is None else with_scheme(model, scheme_at(length))
        found[length] = answers(measured, task.probe(length, sequences), task.asked)
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Other frequencies, other temperatures

# YaRN's bounds in turns. The published 32 suits models trained on thousands of tokens; within 64 or 128 tokens even
# the fastest pair makes but 10 or 20 turns. An eighth of it was chosen beforehand and not tuned.
BOUNDS = {"beta_fast": 4.0, "beta_slow": 1.0}
PUBLISHED_BOUNDS = {"beta_fast": 32.0, "beta_slow": 1.0}

# By the names that results bear: a function of `posenc.scaling`, its arguments, and whether it is told the factor.
_SCALINGS: Mapping[str, tuple[str, Mapping[str, Any], bool]] = {
    "default": ("default", {}, False),
    "linear": ("linear", {}, True),
    "ntk_aware": ("ntk_aware", {}, True),
    "dynamic_ntk": ("dynamic_ntk", {}, False),
    "ntk_by_parts": ("ntk_by_parts", BOUNDS, True),
    "yarn": ("yarn", BOUNDS, True),
    "yarn_paper": ("yarn", BOUNDS | {"ramp": "paper"}, True),
    "yarn_published_bounds": ("yarn", PUBLISHED_BOUNDS, True),
    "yarn_frequencies": ("yarn", BOUNDS | {"attention_factor": 1.0}, True),
    "yarn_temperature": ("default", {}, False),
}
SCALINGS = tuple(_SCALINGS)


def scaled(run: Run, scaling: str, factor: float) -> PositionScheme:
    """The rotary scheme of a run with its frequencies scaled, or its temperature, or both.

    Args:
        run: one of a rotary scheme.
        scaling: one of `SCALINGS`. "yarn" has the released ramp, "yarn_paper" the paper's, both with bounds of 4 turns
            and 1; "ntk_by_parts" is the paper's ramp without the temperature, "yarn_frequencies" the released one.
        factor: s, at least 1. Dynamic NTK follows the length at hand instead.

    Raises:
        TypeError, ValueError: a run of another scheme, an unknown scaling, or a factor below 1.
    """
    check_rotary(run)
    function, options, told = _SCALINGS[check_choice("scaling", scaling, SCALINGS)]
    options, factor = dict(options), _check_factor(factor)
    if told:
        options["factor"] = factor
    if function in ("dynamic_ntk", "ntk_by_parts", "yarn"):
        options["original_max_position_embeddings"] = run.settings.length
    temperature = mscale(factor) if scaling == "yarn_temperature" else None
    return run.make_scheme(scaling=function, scaling_options=options, attention_factor=temperature)


def interpolated(run: Run, factor: float, pairs: Collection[int]) -> PositionScheme:
    """The rotary scheme of a run in which some pairs turn `factor` times more slowly, and the others as trained.

    Args:
        run: one of a rotary scheme.
        factor: s, at least 1.
        pairs: which, by their index; 0 is the fastest.

    Raises:
        TypeError, ValueError: a run of another scheme, a pair that it does not have, or a factor below 1.
    """
    check_rotary(run)
    count = run.settings.head_dim // 2
    chosen, factor = _check_pairs(pairs, count), _check_factor(factor)
    slower = [factor if pair in chosen else 1.0 for pair in range(count)]
    options = {
        "short_factor": slower,
        "long_factor": slower,
        "original_max_position_embeddings": run.settings.length,
        "attention_factor": 1.0,
    }
    return run.make_scheme(scaling="longrope", scaling_options=options)


class ClippedRotary(PositionScheme):
    """RoPE in which some pairs take every distance beyond a limit for the limit: no angle that was not trained.

    Distances within the limit are told as before. Such scores belong to no rotation of queries and keys, so they are
    computed at the logits; queries stand after their keys. With all pairs it is the rule that Su calls ReRoPE.

    Args:
        inv_freq: in radians per token, shape (head_dim/2,), a list or an array.
        pairs: which are clipped, by their index.
        limit: the greatest distance that they tell, in tokens, at least 0.

    Raises:
        TypeError, ValueError: arguments of another kind, frequencies that are negative, or a pair that is not there.

    Source: Su 2023 (kexue.fm/archives/9708) for all pairs at once; choosing pairs is ours.
    """

    injection_point = "query and key"
    causal = True

    def __init__(self, inv_freq: Array, pairs: Collection[int], limit: int) -> None:
        super().__init__()
        self.inv_freq = torch.as_tensor(check_inv_freq(inv_freq))
        self.pairs, self.limit = sorted(_check_pairs(pairs, len(self.inv_freq))), check_int("limit", limit, 0)
        of_pair = torch.zeros(len(self.inv_freq), dtype=torch.bool)
        of_pair[self.pairs] = True
        self._clipped = of_pair.repeat_interleave(2)  # (head_dim,), interleaved

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        distances = -relative_positions(positions, key_positions)  # (queries, keys) or (batch, queries, keys)
        if distances.ndim == 3:
            distances = distances[:, None]  # alike in all heads
        turned = [self._turn(x, at) for x, at in ((q, positions), (k, key_positions))]
        clipped = self._clipped.to(q)
        near = turned[0] @ turned[1].transpose(-1, -2)
        kept = (turned[0] * (1 - clipped)) @ turned[1].transpose(-1, -2)
        # Far away the chosen pairs stand at the limit's angle: the query is turned by it, the key is not turned.
        at_limit = self._turn(q, torch.full_like(positions, self.limit)) * clipped
        far = kept + at_limit @ k.transpose(-1, -2)
        scores = torch.where(distances > self.limit, far, near)
        # The products of the unturned queries and keys are added by attention itself.
        return self._logit_scale(q.shape[-1], k.shape[2]) * (scores - q @ k.transpose(-1, -2))

    def _turn(self, x: Tensor, positions: Tensor) -> Tensor:
        phi = angles(positions, self.inv_freq.to(x.device))  # (length, pairs), or a row for each sequence
        return rotate(x, phi if phi.ndim == 2 else phi[:, None], "interleaved")


def clipped(run: Run, pairs: Collection[int]) -> PositionScheme:
    """The rotary scheme of a run in which some pairs tell no distance beyond the greatest that was trained.

    Args:
        run: one of a rotary scheme.
        pairs: which, by their index; 0 is the fastest.

    Raises:
        TypeError, ValueError: a run of another scheme, or a pair that it does not have.
    """
    check_rotary(run)
    frequencies = inv_freq(run.settings.head_dim, run.scheme_options[1]["base"])
    return ClippedRotary(frequencies, pairs, run.settings.length - 1)


def check_rotary(run: Run) -> None:
    """Refuses what is no run of a rotary scheme."""
    instance("run", run, Run)
    if run.scheme_options[0] != "rope":
        raise ValueError(f"run must be one of a rotary scheme, got {run.name!r}")


def _check_factor(factor: float) -> float:
    if check_positive("factor", factor) < 1:
        raise ValueError(f"factor must be at least 1, got {factor!r}")
    return float(factor)


def _check_pairs(pairs: Collection[int], count: int) -> frozenset[int]:
    if not isinstance(pairs, Collection) or isinstance(pairs, str):
        raise TypeError(f"pairs must be a collection of whole numbers, got {describe(pairs)}")
    for pair in pairs:
        if check_int("pairs", pair, 0) >= count:
            raise ValueError(f"pairs must be below {count}, the pairs of a head, got {pair}")
    return frozenset(pairs)


def unturned(run: Run) -> list[int]:
    """The pairs of a rotary run that completed no turn within the trained length, by their index.

    Raises:
        ValueError: a run of another scheme.
    """
    check_rotary(run)
    made = rotations(run.settings.length, inv_freq(run.settings.head_dim, run.scheme_options[1]["base"]))
    return [pair for pair, count in enumerate(made) if count < 1]


# ---------------------------------------------------------------------------------------------------------------------
# A few steps more


def fine_tuned(
    model: Transformer,
    run: Run,
    task: Task,
    scheme: PositionScheme,
    *,
    length: int,
    stages: Sequence[int],
    learning_rate: float = 5e-4,
) -> Iterator[tuple[int, Transformer]]:
    """A copy of a model, trained for some steps at another length with another scheme, as it is at several stages.

    Batches hold as many tokens as in the run's training, and none of its batches comes again. The learning rate is
    constant, the optimiser new.

    Args:
        model: trained.
        run: its run.
        task: what to train on.
        scheme: one without weights of its own, or with the model's.
        length: of the sequences, in tokens.
        stages: after how many steps it is given, rising from at least 0.
        learning_rate: greater than 0.

    Yields:
        the number of steps, and the copy in float32. It is the same one each time, so measure it before the next
        stage. The model and the scheme given are not changed.

    Raises:
        TypeError, ValueError: arguments of another kind or out of range, or a scheme that `with_scheme` refuses.
    """
    instance("run", run, Run)
    instance("task", task, Task)
    instance("stages", stages, Sequence)
    check_int("length", length)
    if not stages or list(stages) != sorted({check_int("stages", one, 0) for one in stages}):
        raise ValueError(f"stages must be whole numbers that rise, got {stages!r}")
    profile = replace(run.settings, learning_rate=check_positive("learning_rate", learning_rate))
    tuned = copy.deepcopy(with_scheme(model, scheme))
    optimiser = optimiser_for(tuned, profile)
    for number in range(stages[-1] + 1):
        if number in stages:
            yield number, tuned.eval()
        if number < stages[-1]:
            batch = draw(task, run.seed, run.steps + number, profile, length)
            step(tuned.train(), optimiser, batch, profile.clip)


def fine_tune(
    model: Transformer,
    run: Run,
    task: Task,
    scheme: PositionScheme,
    *,
    length: int,
    steps: int,
    learning_rate: float = 5e-4,
) -> Transformer:
    """The copy of a model that `fine_tuned` gives after so many steps."""
    stages = (check_int("steps", steps, 0),)
    [(_, tuned)] = fine_tuned(model, run, task, scheme, length=length, stages=stages, learning_rate=learning_rate)
    return tuned

"""Evaluation of trained models: the same last tokens at every length, and loss by position.

A probe of length n ends with the same tokens for every n; only the context before them grows. So the value at the
trained length is also that of a longer text truncated to it, and a worse value means that truncation would be better.

A model can be evaluated with another scheme than it was trained with, as long as that has no new weights: other
frequencies, another attention temperature, other slopes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from posenc._arrays import (
    Array,
    as_float_array,
    check_choice,
    check_int,
    check_inv_freq,
    check_positive,
    describe,
    device_of,
    namespace,
)
from posenc.absolute import relative_positions
from posenc.frequencies import angles, inv_freq, rotations
from posenc.lab._checks import instance
from posenc.lab.corpus import IGNORED, Batch, Task
from posenc.lab.runs import Run
from posenc.lab.weights import Checkpoint
from posenc.rotary import rotate
from posenc.scaling import mscale
from posenc.schemes import PositionScheme

if TYPE_CHECKING:
    from posenc.transformer import Transformer

TIMES = (1, 2, 4, 8, 16)  # the trained length
_MAX_ENTRIES = 2**25  # of logits or biases in one forward pass


class Answers(NamedTuple):
    """Loss and accuracy of a model on one probe.

    Attributes:
        loss: mean over the scored last tokens, in nats per token.
        accuracy: fraction of them that the maximum logit gets right.
        position_loss, position_accuracy: means at every position over the sequences that are scored there, else NaN.
        losses, accuracies: of each sequence over the scored last tokens, for `posenc.lab.intervals`.
    """

    loss: float
    accuracy: float
    position_loss: np.ndarray  # (length,)
    position_accuracy: np.ndarray  # (length,)
    losses: np.ndarray  # (sequences,)
    accuracies: np.ndarray  # (sequences,)


Model = TypeVar("Model", bound="Transformer | Checkpoint")


def _check_model(model: Transformer | Checkpoint) -> None:
    if not isinstance(model, Checkpoint):
        from posenc.transformer import Transformer

        instance("model", model, Transformer, Checkpoint)


def with_scheme(model: Model, scheme: PositionScheme) -> Model:
    """A model with another position scheme, which shares all weights with the original.

    Args:
        model: a Transformer, or a Checkpoint of arrays.
        scheme: the other.

    Raises:
        TypeError: no model or no scheme.
        ValueError: the scheme has weights that the model was not trained with, or is for encoders where the model is a
            decoder or the reverse.
    """
    _check_model(model)
    config = model.run.config() if isinstance(model, Checkpoint) else model.config
    config.check(scheme)
    own, trained = scheme.state_dict(), model.scheme.state_dict()
    for name, weight in own.items():
        known = trained.get(name)
        if known is None or known.shape != weight.shape or bool((known != weight).any()):
            raise ValueError(f"scheme must have no weights that the model was not trained with, got {name}")
    if isinstance(model, Checkpoint):
        return model._replace(scheme=scheme)
    other = copy.copy(model)
    other._modules = dict(model._modules)  # a copy would share the dictionary that holds the scheme
    other.scheme = scheme
    return other


def _logits(model: Transformer | Checkpoint, tokens: Array) -> np.ndarray:
    if isinstance(model, Checkpoint):
        return model(np.asarray(tokens))
    import torch

    with torch.inference_mode():
        return model(tokens.to(next(model.parameters()).device)).cpu().numpy()  # type: ignore[no-any-return]


def answers(model: Transformer | Checkpoint, probe: Batch, n_scored: int) -> Answers:
    """Loss and accuracy of a model on a probe, over the last `n_scored` tokens of each sequence.

    Args:
        model: a Transformer, or a Checkpoint of arrays.
        probe: tokens and targets.
        n_scored: at most the last tokens with targets.

    Raises:
        TypeError: no model, no batch, or no integer.
        ValueError: more tokens than the probe has, or some that have no target.
    """
    _check_model(model)
    instance("probe", probe, Batch)
    targets = np.asarray(probe.targets)
    ignored = targets == IGNORED
    length = probe.tokens.shape[1]
    if check_int("n_scored", n_scored) > length or ignored[..., -n_scored:].any():
        raise ValueError(f"n_scored must be at most the last tokens with targets in the probe, got {n_scored}")
    config = model.run.config() if isinstance(model, Checkpoint) else model.config
    batch_size = max(1, _MAX_ENTRIES // (length * max(length * config.n_heads, config.vocab_size)))
    losses, correct = np.full(targets.shape, np.nan), np.full(targets.shape, np.nan)
    for start in range(0, len(targets), batch_size):
        part = slice(start, start + batch_size)
        logits = _logits(model, probe.tokens[part])
        logits -= logits.max(axis=-1, keepdims=True)
        wanted = np.where(ignored[part], 0, targets[part])[..., None]
        of_target = np.take_along_axis(logits, wanted, axis=-1)[..., 0]
        losses[part] = np.log(np.exp(logits).sum(axis=-1)) - of_target
        correct[part] = logits.argmax(axis=-1) == targets[part]
    by_position, by_sequence = [], []
    for values in (losses, correct):
        values[ignored] = np.nan
        columns = values.reshape(len(values), -1)  # one answer per sequence is one column
        counts = (~np.isnan(columns)).sum(axis=0)
        with np.errstate(invalid="ignore"):  # 0/0 where nothing is scored
            by_position.append(np.nansum(columns, axis=0) / counts)
        by_sequence.append(columns[:, -n_scored:].mean(axis=1))
    loss, accuracy = (float(values.mean()) for values in by_sequence)
    return Answers(loss, accuracy, *by_position, *by_sequence)


def measure(
    model: Transformer | Checkpoint,
    task: Task,
    lengths: Sequence[int],
    *,
    sequences: int = 32,
    scheme_at: Callable[[int], PositionScheme] | None = None,
) -> dict[int, Answers]:
    """Loss and accuracy of a model on the probes of a task, by length.

    Args:
        model: trained; a Transformer, or a Checkpoint of arrays.
        task: of the probes.
        lengths: of the probes, in tokens.
        sequences: in a probe.
        scheme_at: the scheme to use at a length; None: the model's own.

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
        found[length] = answers(measured, task.probe(length, sequences), task.n_scored)
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Other frequencies and temperatures

# YaRN's bounds in rotations. The published 32 suits models trained on thousands of tokens; within 64 or 128 tokens even
# the fastest pair makes only 10 or 20 rotations. An eighth of it was chosen beforehand and not tuned.
BOUNDS = {"beta_fast": 4.0, "beta_slow": 1.0}
PUBLISHED_BOUNDS = {"beta_fast": 32.0, "beta_slow": 1.0}

# By the names in the results: a function of `posenc.scaling`, its arguments, and whether it takes a factor.
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
        scaling: one of `SCALINGS`. "yarn" has the released ramp, "yarn_paper" the paper's, both with bounds of 4 and 1
            rotations; "ntk_by_parts" is the paper's ramp without the temperature, "yarn_frequencies" the released one.
        factor: s, at least 1. Dynamic NTK follows the length of the sequence instead.

    Raises:
        TypeError, ValueError: a run of another scheme, an unknown scaling, or a factor below 1.
    """
    check_rotary(run)
    function, options, takes_factor = _SCALINGS[check_choice("scaling", scaling, SCALINGS)]
    options, factor = dict(options), _check_factor(factor)
    if takes_factor:
        options["factor"] = factor
    if function in ("dynamic_ntk", "ntk_by_parts", "yarn"):
        options["original_max_position_embeddings"] = run.settings.length
    temperature = mscale(factor) if scaling == "yarn_temperature" else None
    return run.make_scheme(scaling=function, scaling_options=options, attention_factor=temperature)


def interpolated(run: Run, factor: float, pairs: Collection[int]) -> PositionScheme:
    """The rotary scheme of a run with the frequencies of some pairs divided by `factor`.

    Args:
        run: one of a rotary scheme.
        factor: s, at least 1.
        pairs: indices; 0 is the fastest.

    Raises:
        TypeError, ValueError: a run of another scheme, a pair that it does not have, or a factor below 1.
    """
    check_rotary(run)
    count = run.settings.head_dim // 2
    chosen, factor = _check_pairs(pairs, count), _check_factor(factor)
    factors = [factor if pair in chosen else 1.0 for pair in range(count)]
    options = {
        "short_factor": factors,
        "long_factor": factors,
        "original_max_position_embeddings": run.settings.length,
        "attention_factor": 1.0,
    }
    return run.make_scheme(scaling="longrope", scaling_options=options)


class ClippedRotary(PositionScheme):
    """RoPE in which the distance of some pairs is clipped at a limit, so that no unseen angle occurs.

    Such scores come from no rotation of queries and keys, so they are computed at the logits; queries are after their
    keys. With all pairs it is ReRoPE.

    Args:
        inv_freq: in radians per token, shape (head_dim/2,), a list or an array.
        pairs: indices of the clipped pairs.
        limit: maximum distance of these pairs, in tokens, at least 0.

    Raises:
        TypeError, ValueError: arguments of another kind, negative frequencies, or a pair that does not exist.

    Source: Su 2023 (kexue.fm/archives/9708) for all pairs at once; choosing pairs is ours.
    """

    injection_point = "query and key"
    causal = True

    def __init__(self, inv_freq: Array, pairs: Collection[int], limit: int) -> None:
        super().__init__()
        self.inv_freq: list[float] = check_inv_freq(inv_freq).tolist()
        self.pairs, self.limit = sorted(_check_pairs(pairs, len(self.inv_freq))), check_int("limit", limit, 0)

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array:
        xp = namespace(q)
        distances = -relative_positions(positions, key_positions)  # (queries, keys) or (batch, queries, keys)
        if distances.ndim == 3:
            distances = distances[:, None]  # the same in all heads
        rotated_q, rotated_k = self._rotated(q, positions), self._rotated(k, key_positions)
        of_pair = [float(pair in self.pairs) for pair in range(len(self.inv_freq))]
        clipped = xp.repeat(xp.asarray(of_pair, dtype=q.dtype, device=device_of(q)), 2)  # (head_dim,), interleaved
        near = rotated_q @ xp.matrix_transpose(rotated_k)
        # Beyond the limit, the clipped pairs have the limit's angle: rotate the query by it, and not the key.
        at_limit, k_columns = self._rotated(q, xp.full_like(positions, self.limit)) * clipped, xp.matrix_transpose(k)
        far = (rotated_q * (1 - clipped)) @ xp.matrix_transpose(rotated_k) + at_limit @ k_columns
        scores = xp.where(distances > self.limit, far, near)
        # Attention itself adds the products of the unrotated queries and keys.
        return self._logit_scale(q.shape[-1], k.shape[2]) * (scores - q @ k_columns)

    def _rotated(self, x: Array, positions: Array) -> Array:
        frequencies = as_float_array("inv_freq", self.inv_freq, like=positions)
        phi = angles(positions, frequencies)  # (length, pairs), or a row for each sequence
        return rotate(x, phi if phi.ndim == 2 else phi[:, None], "interleaved")


def clipped(run: Run, pairs: Collection[int]) -> PositionScheme:
    """The rotary scheme of a run with the distance of some pairs clipped at the maximum distance in training.

    Args:
        run: one of a rotary scheme.
        pairs: indices; 0 is the fastest.

    Raises:
        TypeError, ValueError: a run of another scheme, or a pair that it does not have.
    """
    check_rotary(run)
    frequencies = inv_freq(run.settings.head_dim, run.scheme_options[1]["base"])
    return ClippedRotary(frequencies, pairs, run.settings.length - 1)


def check_rotary(run: Run) -> None:
    """Raises TypeError or ValueError unless `run` is one of a rotary scheme."""
    instance("run", run, Run)
    if run.scheme_options[0] != "rope":
        raise ValueError(f"run must be one of a rotary scheme, got {run.name!r}")


def _check_factor(factor: float) -> float:
    if check_positive("factor", factor) < 1:
        raise ValueError(f"factor must be at least 1, got {factor!r}")
    return float(factor)


def _check_pairs(pairs: Collection[int], count: int) -> frozenset[int]:
    if not isinstance(pairs, Collection) or isinstance(pairs, str):
        raise TypeError(f"pairs must be a collection of integers, got {describe(pairs)}")
    for pair in pairs:
        if check_int("pairs", pair, 0) >= count:
            raise ValueError(f"pairs must be below {count}, the pairs of a head, got {pair}")
    return frozenset(pairs)


def slow_pairs(run: Run) -> list[int]:
    """The indices of the pairs of a rotary run that make less than one rotation within the trained length.

    Raises:
        ValueError: a run of another scheme.
    """
    check_rotary(run)
    count = rotations(run.settings.length, inv_freq(run.settings.head_dim, run.scheme_options[1]["base"]))
    return np.flatnonzero(count < 1).tolist()


# ---------------------------------------------------------------------------------------------------------------------
# Fine-tuning


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
    """Fine-tunes a copy of a model with another scheme and length, and yields it after several numbers of steps.

    Batches have as many tokens as in training, and repeat none of its batches. The learning rate is constant, the
    optimiser new.

    Args:
        model: trained.
        run: its run.
        task: to train on.
        scheme: one without weights, or with the model's.
        length: of the sequences, in tokens.
        stages: increasing numbers of steps, at least 0.
        learning_rate: greater than 0.

    Yields:
        the number of steps, and the copy in float32. It is one and the same model: evaluate it before the next stage.

    Raises:
        TypeError, ValueError: arguments of another kind or out of range, or a scheme that `with_scheme` refuses.
    """
    from posenc.lab.train import draw, optimiser_for, step

    instance("run", run, Run)
    instance("task", task, Task)
    instance("stages", stages, Sequence)
    check_int("length", length)
    if not stages or list(stages) != sorted({check_int("stages", one, 0) for one in stages}):
        raise ValueError(f"stages must be increasing integers, got {stages!r}")
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
    """The copy of a model that `fine_tuned` yields after `steps` steps."""
    stages = (check_int("steps", steps, 0),)
    [(_, tuned)] = fine_tuned(model, run, task, scheme, length=length, stages=stages, learning_rate=learning_rate)
    return tuned

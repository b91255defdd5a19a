"""The measurements behind `posenc.lab.results()`, for every model.

A measurement is a flat dictionary. All have `run`, `kind`, `probe`, `length`, `loss` (nats per token) and `accuracy`;
the other fields say what was changed, and `posenc_lab/data/schema.json` describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from posenc.lab.corpus import Copy, Task
from posenc.lab.evaluate import (
    SCALINGS,
    TIMES,
    Answers,
    answers,
    clipped,
    fine_tune,
    interpolated,
    measure,
    scaled,
    slow_pairs,
    with_scheme,
)
from posenc.lab.runs import Run
from posenc.schemes import make_scheme
from posenc.transformer import Transformer

Measurement = dict[str, Any]

SEQUENCES = 24  # in a probe
EXTENDED = ("rope_100", "rope_10000")  # with context extension; the other bases are trained for comparison
FIXED_FACTOR = 4.0  # to see what a scaling costs at lengths that need less
FIXED = ("linear", "ntk_aware", "ntk_by_parts", "yarn", "yarn_paper")
HALF = ("default", "linear", "ntk_aware", "yarn", "yarn_paper")  # for blocks of half the probe
TUNED = ("default", "linear", "ntk_aware", "yarn")
TUNING_STEPS = (0, 5, 15, 45)
TUNING_TIMES = 4  # the trained length
TEMPERATURES = (1.0, 1.1, 1.2, 1.4, 1.7, 2.0)


def measurements(model: Transformer, run: Run) -> Iterator[Measurement]:
    """All measurements of a trained model."""
    task, extended = run.make_task(), run.scheme in EXTENDED and run.task in ("text", "copy")
    probes: dict[str, Task] = {run.task: task}
    if run.task == "copy":
        probes["copy_half"] = Copy(period=None)
    for name, probe in probes.items():
        yield from _plain(model, run, name, probe)
        if extended:
            yield from _scalings(model, run, name, probe)
    if extended or (run.scheme == "none" and run.task in ("text", "copy")):
        yield from _temperatures(model, run, task)
    if extended:
        yield from _interventions(model, run, task)
    if run.scheme in EXTENDED and run.profile == "full":
        yield from _fine_tuning(model, run, task)


def _lengths(run: Run) -> list[int]:
    """1 to 16 times the trained length, except for the task that has one length."""
    return [3] if run.task == "order" else [times * run.settings.length for times in TIMES]


def _record(run: Run, kind: str, probe: str, length: int, found: Answers, **fields: Any) -> Measurement:
    return {
        "run": run.name,
        "kind": kind,
        "probe": probe,
        **fields,
        "length": length,
        "loss": round(found.loss, 4),
        "accuracy": round(found.accuracy, 4),
    }


def by_position(run: Run, found: Answers) -> dict[str, list[float | None]]:
    """Loss and accuracy by position, averaged over steps of half the trained length."""
    width = run.settings.length // 2
    curves = {}
    for name, values in (("position_loss", found.position_loss), ("position_accuracy", found.position_accuracy)):
        steps = [values[start : start + width] for start in range(0, len(values), width)]
        known = [step[~np.isnan(step)] for step in steps]
        curves[name] = [round(float(step.mean()), 4) if step.size else None for step in known]
    return curves


def with_table(model: Transformer, run: Run, past_end: str, length: int | None = None) -> Transformer:
    """A model with a learned table that is read in another way past its end.

    Args:
        model: trained.
        run: its run, of the scheme "learned".
        past_end: "clamp" or "interpolate".
        length: positions that the table is interpolated to, at least the trained length is taken; for "interpolate".
    """
    if past_end == "interpolate":
        length = max(length or 0, run.settings.length)
    scheme = run.make_scheme(past_end=past_end, length=length)
    scheme.load_state_dict(model.scheme.state_dict())
    return with_scheme(model, scheme)


def variants(model: Transformer, run: Run) -> dict[str, Callable[[int], Transformer]]:
    """The model for each length, by name: for a learned table both ways past its end, otherwise the model itself."""
    if run.scheme != "learned" or run.task == "order":
        return {"": lambda length: model}
    return {
        "clamp": lambda length: with_table(model, run, "clamp"),
        "interpolate": lambda length: with_table(model, run, "interpolate", length),
    }


def with_logit_factor(model: Transformer, run: Run, factor: float) -> Transformer:
    """The model with all logits multiplied by λ, frequencies as trained."""
    if run.scheme == "none":
        return with_scheme(model, make_scheme("none_with_temperature", factor=factor))
    return with_scheme(model, run.make_scheme(attention_factor=factor**0.5))


def pair_groups(run: Run) -> dict[str, Sequence[int]]:
    """All pairs of a rotary run, the slow ones (less than one rotation in training), and the fast ones."""
    pairs, slow = range(run.settings.head_dim // 2), slow_pairs(run)
    return {"all": pairs, "slow": slow, "fast": [pair for pair in pairs if pair not in slow]}


def _plain(model: Transformer, run: Run, name: str, probe: Task) -> Iterator[Measurement]:
    """The model as trained; a learned table is clamped or interpolated past its end."""
    for variant, model_at in variants(model, run).items():
        for length in _lengths(run):
            sequences = 512 if run.task == "order" else SEQUENCES
            found = answers(model_at(length), probe.probe(length, sequences), probe.n_scored)
            fields = {"past_end": variant} if variant else {}
            curves = {} if run.task == "order" else by_position(run, found)
            yield _record(run, "plain", name, length, found, **fields) | curves


def _scalings(model: Transformer, run: Run, name: str, probe: Task) -> Iterator[Measurement]:
    """Every scaling by the factor that each length needs, and some by a fixed factor."""
    trained = run.settings.length
    for scaling in HALF if name == "copy_half" else SCALINGS:
        for length in _lengths(run):
            if length == trained and scaling != "default":
                continue  # factor 1 changes nothing
            changed = with_scheme(model, scaled(run, scaling, length / trained))
            found = answers(changed, probe.probe(length, SEQUENCES), probe.n_scored)
            fields = {"scaling": scaling, "factor": length / trained}
            yield _record(run, "scaling", name, length, found, **fields) | by_position(run, found)
    if name == "copy_half":
        return
    for scaling in FIXED:
        changed = with_scheme(model, scaled(run, scaling, FIXED_FACTOR))
        lengths = [length for length in _lengths(run)[:-1] if length != FIXED_FACTOR * trained]
        for length, found in measure(changed, probe, lengths, sequences=SEQUENCES).items():
            yield _record(run, "scaling", name, length, found, scaling=scaling, factor=FIXED_FACTOR)


def _temperatures(model: Transformer, run: Run, task: Task) -> Iterator[Measurement]:
    """Logits multiplied by λ, frequencies as trained, at 8 times the trained length."""
    length = 8 * run.settings.length
    for factor in TEMPERATURES:
        found = answers(with_logit_factor(model, run, factor), task.probe(length, SEQUENCES), task.n_scored)
        yield _record(run, "temperature", run.task, length, found, logit_factor=factor)


def _interventions(model: Transformer, run: Run, task: Task) -> Iterator[Measurement]:
    """Some pairs interpolated, or clipped at the trained distance, and the others as trained."""
    trained, pairs = run.settings.length, range(run.settings.head_dim // 2)

    def intervene(operation: str, chosen: str, which: Sequence[int], length: int) -> Measurement:
        scheme = clipped(run, which) if operation == "clip" else interpolated(run, length / trained, which)
        found = answers(with_scheme(model, scheme), task.probe(length, SEQUENCES), task.n_scored)
        fields = {"operation": operation, "chosen": chosen, "pairs": list(which)}
        return _record(run, "intervention", run.task, length, found, **fields)

    for chosen, which in pair_groups(run).items():
        for times in (2, 4, 8):
            for operation in ("interpolate", "clip") if times < 8 else ("interpolate",):  # clipping is costly
                yield intervene(operation, chosen, which, times * trained)
    for cut in range(2, len(pairs), 2):
        yield intervene("clip", f"faster than {cut}", range(cut), 4 * trained)
        yield intervene("clip", f"from {cut}", range(cut, len(pairs)), 4 * trained)


def _fine_tuning(model: Transformer, run: Run, task: Task) -> Iterator[Measurement]:
    """A few steps at four times the trained length, with the frequencies scaled for it."""
    trained, length = run.settings.length, TUNING_TIMES * run.settings.length
    for scaling in TUNED:
        scheme = scaled(run, scaling, TUNING_TIMES)
        for steps in TUNING_STEPS:
            tuned = fine_tune(model, run, task, scheme, length=length, steps=steps)
            for at, found in measure(tuned, task, (trained, length), sequences=SEQUENCES).items():
                fields = {"scaling": scaling, "factor": float(TUNING_TIMES), "steps": steps}
                yield _record(run, "fine_tuning", run.task, at, found, **fields)

"""What is measured on every model of `results()`: one list for all, so that every method gets the same questions.

A measurement is a flat dictionary. All have `run`, `kind`, `probe`, `length`, `loss` (nats per token) and `accuracy`;
the others say what was changed, and stand in `posenc_lab/data/schema.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
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
    unturned,
    with_scheme,
)
from posenc.lab.runs import Run
from posenc.schemes import PositionScheme, make_scheme
from posenc.transformer import Transformer

Measurement = dict[str, Any]

SEQUENCES = 24  # in a probe
EXTENDED = ("rope_100", "rope_10000")  # whose contexts are extended; the other bases are trained for comparison
FIXED_FACTOR = 4.0  # for what a scaling costs where it is not needed
FIXED = ("linear", "ntk_aware", "ntk_by_parts", "yarn", "yarn_paper")
HALF = ("default", "linear", "ntk_aware", "yarn", "yarn_paper")  # for blocks that are said but twice
TUNED = ("default", "linear", "ntk_aware", "yarn")
TUNING_STEPS = (0, 5, 15, 45)
TUNING_TIMES = 4  # the trained length
TEMPERATURES = (1.0, 1.1, 1.2, 1.4, 1.7, 2.0)


def measurements(model: Transformer, run: Run) -> Iterator[Measurement]:
    """Everything that is measured on a trained model, one measurement after another."""
    task, length = run.make_task(), run.settings.length
    for name, probe in _probes(run, task):
        yield from _plain(model, run, name, probe)
        if run.scheme in EXTENDED and run.task in ("text", "copy"):
            yield from _scalings(model, run, name, probe)
    if run.scheme in ("none", *EXTENDED) and run.task in ("text", "copy"):
        yield from _temperatures(model, run, task)
    if run.scheme in EXTENDED and run.task in ("text", "copy"):
        yield from _surgeries(model, run, task, length)
    if run.scheme in EXTENDED and run.profile == "full":
        yield from _fine_tuning(model, run, task, length)


def _probes(run: Run, task: Task) -> Iterator[tuple[str, Task]]:
    """What a model is asked: its task, and for copying also blocks of half the text, which are said but twice."""
    yield run.task, task
    if run.task == "copy":
        yield "copy_half", Copy(period=None)


def _lengths(run: Run) -> list[int]:
    """1 to 16 times the trained length, where a text may be longer at all."""
    if run.task == "order":
        return [3]
    return [times * run.settings.length for times in TIMES]


def _record(run: Run, kind: str, probe: str, length: int, found: Answers, **about: Any) -> Measurement:
    return {
        "run": run.name,
        "kind": kind,
        "probe": probe,
        **about,
        "length": length,
        "loss": round(found.loss, 4),
        "accuracy": round(found.accuracy, 4),
    }


def by_position(run: Run, found: Answers) -> dict[str, list[float | None]]:
    """Loss and accuracy by position, in steps of half the trained length."""
    width = run.settings.length // 2
    curves = {}
    for name, values in (("position_loss", found.position_loss), ("position_accuracy", found.position_accuracy)):
        steps = [values[start : start + width] for start in range(0, len(values), width)]
        known = [step[~np.isnan(step)] for step in steps]
        curves[name] = [round(float(step.mean()), 4) if step.size else None for step in known]
    return curves


def _plain(model: Transformer, run: Run, name: str, probe: Task) -> Iterator[Measurement]:
    """The model as it is; a learned table has no rows past its end, and is clamped or stretched there."""
    lengths = _lengths(run)
    variants: dict[str, Callable[[int], Transformer]] = {"": lambda length: model}
    if run.scheme == "learned" and run.task != "order":
        variants = {
            "clamp": lambda length: with_table(model, run, "clamp", None),
            "interpolate": lambda length: with_table(model, run, "interpolate", length),
        }
    for variant, model_at in variants.items():
        for length in lengths:
            sequences = 512 if run.task == "order" else SEQUENCES
            found = answers(model_at(length), probe.probe(length, sequences), probe.asked)
            about = {"past_end": variant} if variant else {}
            curves = {} if run.task == "order" else by_position(run, found)
            yield _record(run, "plain", name, length, found, **about) | curves


def with_table(model: Transformer, run: Run, past_end: str, length: int | None) -> Transformer:
    """A model of a learned table, which is read past its end in another way.

    Args:
        model: trained.
        run: its run, of the scheme "learned".
        past_end: "clamp" or "interpolate".
        length: positions that the table is stretched over, for "interpolate" alone.
    """
    if past_end == "interpolate":
        length = max(length or 0, run.settings.length)
    scheme = run.make_scheme(past_end=past_end, length=length)
    scheme.load_state_dict(model.scheme.state_dict())
    return with_scheme(model, scheme)


def _scalings(model: Transformer, run: Run, name: str, probe: Task) -> Iterator[Measurement]:
    """Every scaling by what each length needs, and some by a fixed factor, at lengths that need more or less."""
    trained = run.settings.length
    for scaling in HALF if name == "copy_half" else SCALINGS:
        needed = partial(_scaled_to, run, scaling)
        for length, found in measure(model, probe, _lengths(run), sequences=SEQUENCES, scheme_at=needed).items():
            if length == trained and scaling != "default":
                continue  # factor 1 changes nothing
            about = {"scaling": scaling, "factor": length / trained}
            yield _record(run, "scaling", name, length, found, **about) | by_position(run, found)
    if name == "copy_half":
        return
    for scaling in FIXED:
        fixed = scaled(run, scaling, FIXED_FACTOR)
        lengths = [length for length in _lengths(run)[:-1] if length != FIXED_FACTOR * trained]
        found_at = measure(model, probe, lengths, sequences=SEQUENCES, scheme_at=partial(_whatever_the_length, fixed))
        for length, found in found_at.items():
            yield _record(run, "scaling", name, length, found, scaling=scaling, factor=FIXED_FACTOR)


def _scaled_to(run: Run, scaling: str, length: int) -> PositionScheme:
    """The scheme of a run, scaled by what a length needs."""
    return scaled(run, scaling, length / run.settings.length)


def _whatever_the_length(scheme: PositionScheme, length: int) -> PositionScheme:
    return scheme


def _temperatures(model: Transformer, run: Run, task: Task) -> Iterator[Measurement]:
    """Logits multiplied by λ, frequencies as trained, at 8 times the trained length."""
    length = 8 * run.settings.length
    for temperature in TEMPERATURES:
        if run.scheme == "none":
            scheme = make_scheme("none_with_temperature", factor=temperature)
        else:
            scheme = run.make_scheme(attention_factor=temperature**0.5)
        found = answers(with_scheme(model, scheme), task.probe(length, SEQUENCES), task.asked)
        yield _record(run, "temperature", run.task, length, found, sharper=temperature)


def _surgeries(model: Transformer, run: Run, task: Task, trained: int) -> Iterator[Measurement]:
    """Chosen pairs interpolated, or clipped at the trained distance, and all others as trained."""
    pairs = range(run.settings.head_dim // 2)
    slow = unturned(run)
    named: dict[str, Sequence[int]] = {
        "all": pairs,
        "unturned": slow,
        "turned": [pair for pair in pairs if pair not in slow],
    }
    for chosen, which in named.items():
        for length in (2 * trained, 4 * trained, 8 * trained):
            probe = task.probe(length, SEQUENCES)
            changed = {"interpolate": interpolated(run, length / trained, which)}
            if length < 8 * trained:  # clipping computes every score three times
                changed["clip"] = clipped(run, which)
            for operation, scheme in changed.items():
                found = answers(with_scheme(model, scheme), probe, task.asked)
                about = {"operation": operation, "chosen": chosen, "pairs": list(which)}
                yield _record(run, "surgery", run.task, length, found, **about)
    length = 4 * trained
    probe = task.probe(length, SEQUENCES)
    for cut in range(2, len(pairs), 2):
        for chosen, which in (("faster than", range(cut)), ("from", range(cut, len(pairs)))):
            found = answers(with_scheme(model, clipped(run, which)), probe, task.asked)
            about = {"operation": "clip", "chosen": f"{chosen} {cut}", "pairs": list(which)}
            yield _record(run, "surgery", run.task, length, found, **about)


def _fine_tuning(model: Transformer, run: Run, task: Task, trained: int) -> Iterator[Measurement]:
    """A few steps at four times the trained length, with the frequencies scaled for it."""
    length = TUNING_TIMES * trained
    for scaling in TUNED:
        scheme = scaled(run, scaling, TUNING_TIMES)
        for steps in TUNING_STEPS:
            tuned = fine_tune(model, run, task, scheme, length=length, steps=steps)
            for at, found in measure(tuned, task, (trained, length), sequences=SEQUENCES).items():
                about = {"scaling": scaling, "factor": float(TUNING_TIMES), "steps": steps}
                yield _record(run, "fine_tuning", run.task, at, found, **about)

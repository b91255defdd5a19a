"""What is measured on every model of `posenc.lab.measured.exams()`: one list for all, window by window.

A measurement is a flat dictionary. All have `run`, `kind`, `probe`, `length`, `loss` (nats per token) and `values`: the
loss of each window of text, or the share right of each other probe, for `posenc.lab.intervals`; all but those of the
cache have `accuracy`. The other fields say what was changed, and stand in `posenc_lab/data/schema.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional as F

from posenc.frequencies import inv_freq
from posenc.lab.cache import far_guesses, mixed_losses
from posenc.lab.corpus import LONGEST, Batch, Copy, LibraryText, Recall, SaidOnce
from posenc.lab.evaluate import (
    SCALINGS,
    TIMES,
    answers,
    clipped,
    fine_tuned,
    interpolated,
    scaled,
    unturned,
    with_scheme,
)
from posenc.lab.measured import FILES
from posenc.lab.measurements import by_position, with_table
from posenc.lab.runs import SEEDS, Run
from posenc.lab.statistics import HeldWave, learned_minus, mean_products
from posenc.schemes import make_scheme
from posenc.transformer import Transformer

Measurement = dict[str, Any]

WINDOWS = 1000  # of text, for models as they are
SURGERY_WINDOWS = 200  # for what was changed in them
PROBES = 64  # of blocks said once, at each distance and length, and of repeated ones
RECALL_PROBES = 256  # one answer each
DISTANCES = (16, 32, 64, 96, 192, 384, 768, 1536)  # tokens back, where the probe has room
PAIRS = (2, 6, 12)
EXTENDED = ("rope_100", "rope_10000")  # whose contexts are extended
MOST_SCALED = 8  # times the trained length; 16 alone would cost as much as all the others
FIXED_FACTOR = 4.0  # for what a scaling costs where it is not needed
FIXED = ("linear", "ntk_aware", "ntk_by_parts", "yarn", "yarn_paper")
TUNED = ("default", "linear", "ntk_aware", "yarn")
TUNING_STEPS = (15, 45, 200)
TUNING_RATES = (5e-4, 1.5e-3)
TUNING_TIMES = 4  # the trained length
DROPPED_STEPS = (0, 200)
COSTLY = ("transformer_xl", "tener")  # several terms for every query and key: asked up to COSTLY_TIMES the length
COSTLY_TIMES = 4
TEMPERATURES = (1.0, 1.1, 1.2, 1.4, 1.7, 2.0)


class Exam(NamedTuple):
    """What a model is asked at one length."""

    name: str
    probe: Batch
    asked: int  # tokens at the end of it
    about: dict[str, Any]  # what else a measurement says of it


def _exams(run: Run, length: int, changed: bool) -> Iterator[Exam]:
    """What a model is asked at a length: what it was trained on, and of copying both kinds.

    `changed`: a model that is not as it was trained, which is asked less.
    """
    task, block = run.make_task(), run.settings.length // 4
    if isinstance(task, LibraryText):
        yield Exam("text", task.windows(length, SURGERY_WINDOWS if changed else WINDOWS), task.asked, {})
    elif isinstance(task, Recall):
        for distance in DISTANCES:
            for pairs in PAIRS:
                if distance < length:
                    made = Recall(pairs=pairs, distance=distance)
                    about = {"distance": distance, "n_pairs": pairs}
                    yield Exam("recall", made.probe(length, RECALL_PROBES), made.asked, about)
    else:
        repeated = Copy(period=block)
        yield Exam("repeated", repeated.probe(length, PROBES), repeated.asked, {})
        for distance in DISTANCES:
            for distractors in ("random",) if changed else ("random", "disjoint"):
                if distance + block <= length:
                    said = SaidOnce(most_block=block, distance=distance, distractors=distractors)
                    asked = {"distance": distance, "distractors": distractors}
                    yield Exam("said_once", said.probe(length, PROBES), said.asked, asked)


def _ask(
    model: Transformer, run: Run, kind: str, length: int, about: Measurement, changed: bool = True
) -> Iterator[Measurement]:
    """All that a model is asked at a length."""
    for exam in _exams(run, length, changed):
        found = answers(model, exam.probe, exam.asked)
        curves = {} if changed or exam.name in ("said_once", "recall") else by_position(run, found)
        yield {
            "run": run.name,
            "kind": kind,
            "probe": exam.name,
            **exam.about,
            **about,
            "length": length,
            "loss": round(found.loss, 4),
            "accuracy": round(found.accuracy, 4),
            "values": found.losses if exam.name == "text" else found.right,
            **curves,
        }


def _lengths(run: Run) -> list[int]:
    """1 to 16 times the trained length, as far as probes go; fewer for what is costly."""
    most = COSTLY_TIMES if run.scheme in COSTLY else max(TIMES)
    lengths = [times * run.settings.length for times in TIMES if times <= most]
    return [length for length in lengths if length <= LONGEST]


# ---------------------------------------------------------------------------------------------------------------------
# What is asked, in groups that are measured one by one


def plain(model: Transformer, run: Run) -> Iterator[Measurement]:
    """The model as it is; a learned table has no rows past its end, and is clamped or stretched there."""
    variants: dict[str, Callable[[int], Transformer]] = {"": lambda length: model}
    if run.scheme == "learned":
        variants = {
            "clamp": lambda length: with_table(model, run, "clamp", None),
            "interpolate": lambda length: with_table(model, run, "interpolate", length),
        }
    for variant, model_at in variants.items():
        for length in _lengths(run):
            about = {"past_end": variant} if variant else {}
            yield from _ask(model_at(length), run, "plain", length, about, changed=False)


@torch.inference_mode()
def cached(model: Transformer, run: Run) -> Iterator[Measurement]:
    """The model on texts of the trained length, with a cache of what stands before; as a control, of another text."""
    trained, asked = run.settings.length, run.make_task().asked
    near = LibraryText().windows(trained, WINDOWS)
    losses, device = [], next(model.parameters()).device
    for start in range(0, WINDOWS, 64):
        logits = model(near.tokens[start : start + 64].to(device)).cpu()[:, -asked:]
        answers_of = near.targets[start : start + 64, -asked:]
        losses.append(F.cross_entropy(logits.mT, answers_of, reduction="none").double().numpy())
    known, files = np.concatenate(losses), np.arange(WINDOWS) % FILES
    for length in _lengths(run)[1:]:
        windows = LibraryText().windows(length, WINDOWS)
        tokens, targets = windows.tokens.numpy(), windows.targets.numpy()[:, -asked:]
        far = tokens[:, :-trained]
        for past, before in (("own", far), ("another's", np.roll(far, 1, axis=0))):
            texts = np.concatenate([before, tokens[:, -trained:]], axis=1)
            found = [far_guesses(*text, near=trained) for text in zip(texts, targets, strict=True)]
            lengths, shares = (np.stack(each) for each in zip(*found, strict=True))
            values = mixed_losses(known, lengths, shares, files).mean(axis=1)
            yield {
                "run": run.name,
                "kind": "cache",
                "probe": "text",
                "past": past,
                "length": length,
                "loss": round(float(values.mean()), 4),
                "values": values,
            }


def scalings(model: Transformer, run: Run) -> Iterator[Measurement]:
    """Every scaling by what each length needs, and some by a fixed factor, at lengths that need more or less."""
    trained = run.settings.length
    for scaling in SCALINGS:
        for length in _lengths(run):
            if length > MOST_SCALED * trained or (length == trained and scaling != "default"):
                continue  # factor 1 changes nothing
            changed = with_scheme(model, scaled(run, scaling, length / trained))
            about = {"scaling": scaling, "factor": length / trained}
            yield from _ask(changed, run, "scaling", length, about)
    for scaling in FIXED:
        changed = with_scheme(model, scaled(run, scaling, FIXED_FACTOR))
        for times in (1, 2, 8):
            about = {"scaling": scaling, "factor": FIXED_FACTOR}
            yield from _ask(changed, run, "scaling", times * trained, about)


def temperatures(model: Transformer, run: Run) -> Iterator[Measurement]:
    """Logits multiplied by λ, frequencies as trained, at 4 times the trained length."""
    for temperature in TEMPERATURES:
        if run.scheme == "none":
            scheme = make_scheme("none_with_temperature", factor=temperature)
        else:
            scheme = run.make_scheme(attention_factor=temperature**0.5)
        changed, length = with_scheme(model, scheme), 4 * run.settings.length
        yield from _ask(changed, run, "temperature", length, {"sharper": temperature})


def surgeries(model: Transformer, run: Run) -> Iterator[Measurement]:
    """Chosen pairs interpolated, or clipped at the trained distance, and all others as trained."""
    trained, pairs = run.settings.length, range(run.settings.head_dim // 2)
    slow = unturned(run)
    named: dict[str, Sequence[int]] = {
        "all": pairs,
        "unturned": slow,
        "turned": [pair for pair in pairs if pair not in slow],
    }
    cuts = range(2, len(pairs), 2)
    swept = {f"faster than {cut}": range(cut) for cut in cuts} | {f"from {cut}": range(cut, len(pairs)) for cut in cuts}

    def ask(operation: str, chosen: str, which: Sequence[int], length: int) -> Iterator[Measurement]:
        scheme = clipped(run, which) if operation == "clip" else interpolated(run, length / trained, which)
        about = {"operation": operation, "chosen": chosen, "pairs": list(which)}
        yield from _ask(with_scheme(model, scheme), run, "surgery", length, about)

    for chosen, which in named.items():
        for times, operations in ((2, ("interpolate", "clip")), (4, ("interpolate", "clip")), (8, ("interpolate",))):
            for operation in operations:  # clipping computes every score three times
                yield from ask(operation, chosen, which, times * trained)
    for chosen, which in swept.items():
        yield from ask("clip", chosen, which, 4 * trained)


def mean_waves(model: Transformer, run: Run) -> Iterator[Measurement]:
    """The mean wave of chosen pairs held past the trained length, and as controls those of other pairs."""
    trained, layers = run.settings.length, range(run.settings.n_layers)
    pairs = range(run.settings.head_dim // 2)
    frequencies = inv_freq(run.settings.head_dim, run.scheme_options[1]["base"])
    products = mean_products(model, run, LibraryText().windows(trained, SURGERY_WINDOWS).tokens).by_content
    slow, deepest = unturned(run), {layer: learned_minus(products[layer], run) for layer in layers}
    held: dict[str, Mapping[int, Sequence[int]]] = {
        "none": {},
        "learned minus": deepest,
        "learned minus, last layer": {layers[-1]: deepest[layers[-1]]},
        "other slow": {layer: [pair for pair in slow if pair not in deepest[layer]] for layer in layers},
        "fast": {layer: [pair for pair in pairs if pair not in slow] for layer in layers},
        "all": dict.fromkeys(layers, pairs),
    }
    for times in (2, 4):
        length = times * trained
        for chosen, which in held.items():
            scheme = HeldWave(model.scheme, products, frequencies, which, trained)
            about = {"chosen": chosen, "pairs": sorted({pair for layer in which.values() for pair in layer})}
            yield from _ask(with_scheme(model, scheme), run, "mean_wave", length, about)


def tuning(model: Transformer, run: Run) -> Iterator[Measurement]:
    """A few steps at four times the trained length, with the frequencies scaled for it."""
    trained, length = run.settings.length, TUNING_TIMES * run.settings.length
    for scaling in TUNED:
        scheme = scaled(run, scaling, TUNING_TIMES)
        for rate in TUNING_RATES:
            stages = fine_tuned(
                model, run, run.make_task(), scheme, length=length, stages=TUNING_STEPS, learning_rate=rate
            )
            for steps, tuned in stages:
                about = {"scaling": scaling, "factor": float(TUNING_TIMES), "steps": steps, "rate": rate}
                for at in (trained, length):
                    yield from _ask(tuned, run, "fine_tuning", at, about)


def dropped(model: Transformer, run: Run) -> Iterator[Measurement]:
    """The rotation dropped after training, and the model trained on without it at its own length."""
    trained, rate = run.settings.length, TUNING_RATES[1]
    none = make_scheme("none")
    stages = fine_tuned(model, run, run.make_task(), none, length=trained, stages=DROPPED_STEPS, learning_rate=rate)
    for steps, tuned in stages:
        for times in (1, 2, 4, 8):
            yield from _ask(tuned, run, "dropped", times * trained, {"steps": steps, "rate": rate})


_Group = Callable[[Transformer, Run], Iterator[Measurement]]
GROUPS: Mapping[str, _Group] = MappingProxyType(
    {
        "plain": plain,
        "cached": cached,
        "scalings": scalings,
        "temperatures": temperatures,
        "surgeries": surgeries,
        "mean_waves": mean_waves,
        "tuning": tuning,
        "dropped": dropped,
    }
)


def asked_of(run: Run) -> list[str]:
    """The groups of measurements that a run has."""
    if run.task not in ("text", "said_once", "copy", "recall"):
        return []
    extended = run.scheme in EXTENDED and run.task in ("text", "said_once", "copy")
    two_layers = run.profile in ("two_layers", "full")
    found = ["plain"]
    if extended and two_layers and run.task == "text":
        found.append("cached")
    if extended and two_layers:
        found.append("scalings")
    if two_layers and (extended or run.scheme == "none") and run.task in ("text", "said_once"):
        found.append("temperatures")
    if extended and two_layers and run.task != "copy":
        found.append("surgeries")
    if run.task == "text" and extended and (two_layers or run.profile == "four_layers"):
        found.append("mean_waves")
    if extended and two_layers and run.seed in SEEDS and run.task != "copy":
        found += ["tuning", "dropped"]
    return found

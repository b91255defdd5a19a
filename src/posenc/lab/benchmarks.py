"""The measurements behind `posenc.lab.measured.benchmarks()`, for every model, window by window.

A measurement is a flat dictionary. All have `run`, `kind`, `probe`, `length`, `loss` (nats per token) and `values`, for
`posenc.lab.intervals`: the loss of each window of text, or the accuracy on each other probe. All but those of the
n-gram cache have `accuracy`. The other fields say what was changed; `posenc_lab/data/schema.json` describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional as F

from posenc.frequencies import inv_freq
from posenc.lab.cache import cache_predictions, mixed_losses
from posenc.lab.corpus import LONGEST, Batch, Copy, LibraryText, Recall, SingleCopy
from posenc.lab.distance_bias import most_negative_pairs
from posenc.lab.evaluate import (
    SCALINGS,
    TIMES,
    answers,
    clipped,
    fine_tuned,
    interpolated,
    scaled,
    with_scheme,
)
from posenc.lab.measured import FILES
from posenc.lab.measurements import by_position, pair_groups, variants, with_logit_factor
from posenc.lab.runs import SEEDS, Run
from posenc.lab.statistics import ClampedDistanceBias, mean_products
from posenc.schemes import make_scheme
from posenc.transformer import Transformer

Measurement = dict[str, Any]

WINDOWS = 1000  # of text, for models as trained
INTERVENTION_WINDOWS = 200  # for changed ones
PROBES = 64  # of single and of repeated copy, at each distance and length
RECALL_PROBES = 256  # one answer each
DISTANCES = (16, 32, 64, 96, 192, 384, 768, 1536)  # in tokens, as far as the probe has room
PAIRS = (2, 6, 12)
EXTENDED = ("rope_100", "rope_10000")  # with context extension
MAX_SCALED_TIMES = 8  # the trained length; 16 would cost as much as all the others together
FIXED_FACTOR = 4.0  # to see what a scaling costs at lengths that need less
FIXED = ("linear", "ntk_aware", "ntk_by_parts", "yarn", "yarn_paper")
TUNED = ("default", "linear", "ntk_aware", "yarn")
TUNING_STEPS = (15, 45, 200)
TUNING_RATES = (5e-4, 1.5e-3)
TUNING_TIMES = 4  # the trained length
DROPPED_STEPS = (0, 200)
COSTLY = ("transformer_xl", "tener")  # several terms per query and key: measured up to COSTLY_TIMES the length
COSTLY_TIMES = 4
TEMPERATURES = (1.0, 1.1, 1.2, 1.4, 1.7, 2.0)


class Benchmark(NamedTuple):
    """One probe of a model."""

    name: str
    probe: Batch
    n_scored: int  # last tokens of the probe that are scored
    fields: dict[str, Any]  # further fields of the measurement


def _benchmarks(run: Run, length: int, changed: bool) -> Iterator[Benchmark]:
    """The probes of a length: of the run's task, and for copying of both kinds; fewer for a changed model."""
    task, block = run.make_task(), run.settings.length // 4
    if isinstance(task, LibraryText):
        yield Benchmark("text", task.windows(length, INTERVENTION_WINDOWS if changed else WINDOWS), task.n_scored, {})
    elif isinstance(task, Recall):
        for distance in DISTANCES:
            for pairs in PAIRS:
                if distance < length:
                    recall = Recall(pairs=pairs, distance=distance)
                    fields: dict[str, Any] = {"distance": distance, "n_pairs": pairs}
                    yield Benchmark("recall", recall.probe(length, RECALL_PROBES), recall.n_scored, fields)
    else:
        repeated = Copy(period=block)
        yield Benchmark("repeated", repeated.probe(length, PROBES), repeated.n_scored, {})
        for distance in DISTANCES:
            for distractors in ("random",) if changed else ("random", "disjoint"):
                if distance + block <= length:
                    single = SingleCopy(max_block=block, distance=distance, distractors=distractors)
                    fields = {"distance": distance, "distractors": distractors}
                    yield Benchmark("single_copy", single.probe(length, PROBES), single.n_scored, fields)


def _measure(
    model: Transformer, run: Run, kind: str, length: int, fields: Measurement, changed: bool = True
) -> Iterator[Measurement]:
    """All measurements of a model at a length."""
    for benchmark in _benchmarks(run, length, changed):
        found = answers(model, benchmark.probe, benchmark.n_scored)
        curves = {} if changed or benchmark.name in ("single_copy", "recall") else by_position(run, found)
        yield {
            "run": run.name,
            "kind": kind,
            "probe": benchmark.name,
            **benchmark.fields,
            **fields,
            "length": length,
            "loss": round(found.loss, 4),
            "accuracy": round(found.accuracy, 4),
            "values": found.losses if benchmark.name == "text" else found.accuracies,
            **curves,
        }


def _lengths(run: Run) -> list[int]:
    """1 to 16 times the trained length, as far as probes go; fewer for costly schemes."""
    max_times = COSTLY_TIMES if run.scheme in COSTLY else max(TIMES)
    lengths = [times * run.settings.length for times in TIMES if times <= max_times]
    return [length for length in lengths if length <= LONGEST]


# ---------------------------------------------------------------------------------------------------------------------
# Groups of measurements, each a step of its own


def plain(model: Transformer, run: Run) -> Iterator[Measurement]:
    """The model as trained; a learned table is clamped or interpolated past its end."""
    for variant, model_at in variants(model, run).items():
        for length in _lengths(run):
            fields = {"past_end": variant} if variant else {}
            yield from _measure(model_at(length), run, "plain", length, fields, changed=False)


@torch.inference_mode()
def cached(model: Transformer, run: Run) -> Iterator[Measurement]:
    """The model on texts of the trained length with an n-gram cache of the tokens before them, or of another text."""
    trained, n_scored = run.settings.length, run.make_task().n_scored
    near = LibraryText().windows(trained, WINDOWS)
    losses, device = [], next(model.parameters()).device
    for start in range(0, WINDOWS, 64):
        logits = model(near.tokens[start : start + 64].to(device)).cpu()[:, -n_scored:]
        last = near.targets[start : start + 64, -n_scored:]
        losses.append(F.cross_entropy(logits.mT, last, reduction="none").double().numpy())
    known, files = np.concatenate(losses), np.arange(WINDOWS) % FILES
    for length in _lengths(run)[1:]:
        windows = LibraryText().windows(length, WINDOWS)
        tokens, targets = windows.tokens.numpy(), windows.targets.numpy()[:, -n_scored:]
        far = tokens[:, :-trained]
        for past, before in (("own", far), ("another's", np.roll(far, 1, axis=0))):
            texts = np.concatenate([before, tokens[:, -trained:]], axis=1)
            found = [cache_predictions(*text, context=trained) for text in zip(texts, targets, strict=True)]
            lengths, probabilities = (np.stack(each) for each in zip(*found, strict=True))
            values = mixed_losses(known, lengths, probabilities, files).mean(axis=1)
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
    """Every scaling by the factor that each length needs, and some by a fixed factor."""
    trained = run.settings.length
    for scaling in SCALINGS:
        for length in _lengths(run):
            if length > MAX_SCALED_TIMES * trained or (length == trained and scaling != "default"):
                continue  # factor 1 changes nothing
            changed = with_scheme(model, scaled(run, scaling, length / trained))
            fields = {"scaling": scaling, "factor": length / trained}
            yield from _measure(changed, run, "scaling", length, fields)
    for scaling in FIXED:
        changed = with_scheme(model, scaled(run, scaling, FIXED_FACTOR))
        for times in (1, 2, 8):
            fields = {"scaling": scaling, "factor": FIXED_FACTOR}
            yield from _measure(changed, run, "scaling", times * trained, fields)


def temperatures(model: Transformer, run: Run) -> Iterator[Measurement]:
    """Logits multiplied by λ, frequencies as trained, at 4 times the trained length."""
    length = 4 * run.settings.length
    for factor in TEMPERATURES:
        changed = with_logit_factor(model, run, factor)
        yield from _measure(changed, run, "temperature", length, {"logit_factor": factor})


def interventions(model: Transformer, run: Run) -> Iterator[Measurement]:
    """Some pairs interpolated, or clipped at the trained distance, and the others as trained."""
    trained, pairs = run.settings.length, range(run.settings.head_dim // 2)
    cuts = range(2, len(pairs), 2)
    swept = {f"faster than {cut}": range(cut) for cut in cuts} | {f"from {cut}": range(cut, len(pairs)) for cut in cuts}

    def intervene(operation: str, chosen: str, which: Sequence[int], length: int) -> Iterator[Measurement]:
        scheme = clipped(run, which) if operation == "clip" else interpolated(run, length / trained, which)
        fields = {"operation": operation, "chosen": chosen, "pairs": list(which)}
        yield from _measure(with_scheme(model, scheme), run, "intervention", length, fields)

    for chosen, which in pair_groups(run).items():
        for times, operations in ((2, ("interpolate", "clip")), (4, ("interpolate", "clip")), (8, ("interpolate",))):
            for operation in operations:  # clipping computes every score three times
                yield from intervene(operation, chosen, which, times * trained)
    for chosen, which in swept.items():
        yield from intervene("clip", chosen, which, 4 * trained)


def distance_biases(model: Transformer, run: Run) -> Iterator[Measurement]:
    """The distance bias of some pairs clamped past the trained length, with other pairs as controls."""
    trained, layers = run.settings.length, range(run.settings.n_layers)
    frequencies = inv_freq(run.settings.head_dim, run.scheme_options[1]["base"])
    products = mean_products(model, run, LibraryText().windows(trained, INTERVENTION_WINDOWS).tokens).by_content
    all_pairs, slow, fast = pair_groups(run).values()
    negative = {layer: most_negative_pairs(products[layer], frequencies, trained) for layer in layers}
    groups: dict[str, Mapping[int, Sequence[int]]] = {
        "none": {},
        "most negative": negative,
        "most negative, last layer": {layers[-1]: negative[layers[-1]]},
        "other slow": {layer: [pair for pair in slow if pair not in negative[layer]] for layer in layers},
        "fast": dict.fromkeys(layers, fast),
        "all": dict.fromkeys(layers, all_pairs),
    }
    for times in (2, 4):
        length = times * trained
        for chosen, which in groups.items():
            scheme = ClampedDistanceBias(model.scheme, products, frequencies, which, trained)
            fields = {"chosen": chosen, "pairs": sorted({pair for layer in which.values() for pair in layer})}
            yield from _measure(with_scheme(model, scheme), run, "distance_bias", length, fields)


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
                fields = {"scaling": scaling, "factor": float(TUNING_TIMES), "steps": steps, "rate": rate}
                for at in (trained, length):
                    yield from _measure(tuned, run, "fine_tuning", at, fields)


def dropped(model: Transformer, run: Run) -> Iterator[Measurement]:
    """The rotation dropped after training, and the model fine-tuned without it at its trained length."""
    trained, rate = run.settings.length, TUNING_RATES[1]
    none = make_scheme("none")
    stages = fine_tuned(model, run, run.make_task(), none, length=trained, stages=DROPPED_STEPS, learning_rate=rate)
    for steps, tuned in stages:
        for times in (1, 2, 4, 8):
            yield from _measure(tuned, run, "dropped", times * trained, {"steps": steps, "rate": rate})


_Group = Callable[[Transformer, Run], Iterator[Measurement]]
GROUPS: Mapping[str, _Group] = MappingProxyType(
    {
        "plain": plain,
        "cached": cached,
        "scalings": scalings,
        "temperatures": temperatures,
        "interventions": interventions,
        "distance_biases": distance_biases,
        "tuning": tuning,
        "dropped": dropped,
    }
)


def groups_of(run: Run) -> list[str]:
    """The names of the groups of measurements that a run gets."""
    if run.task not in ("text", "single_copy", "copy", "recall"):
        return []
    extended = run.scheme in EXTENDED and run.task in ("text", "single_copy", "copy")
    two_layers = run.profile in ("two_layers", "full")
    found = ["plain"]
    if extended and two_layers and run.task == "text":
        found.append("cached")
    if extended and two_layers:
        found.append("scalings")
    if two_layers and (extended or run.scheme == "none") and run.task in ("text", "single_copy"):
        found.append("temperatures")
    if extended and two_layers and run.task != "copy":
        found.append("interventions")
    if run.task == "text" and extended and (two_layers or run.profile == "four_layers"):
        found.append("distance_biases")
    if extended and two_layers and run.seed in SEEDS and run.task != "copy":
        found += ["tuning", "dropped"]
    return found

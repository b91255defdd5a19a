"""The numbers in model answers and marked samples are those that the published assignments' own cells give."""

import contextlib
import io
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch

from course import question, sources
from course.grade import assignment
from course.private.questions.assignment_5 import METHODS
from course.report import rubrics
from course.submission import source_of
from posenc.lab.corpus import Batch

pytestmark = [pytest.mark.torch, pytest.mark.skipif(question.SEED != "", reason="a variant's numbers are others")]
Names = dict[str, Any]


def run(number: int, *names: str) -> tuple[Names, str]:
    """What some cells of the solved notebook define, and what they print."""
    cells = {cell["id"]: source_of(cell) for cell in sources.source(number)["cells"]}
    defined: Names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for name in ("imports", *names):
            exec(cells[name].partition("\nshow(")[0], defined)
    return defined, printed.getvalue()


def decimals(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d*\.\d+", text)]


def what_a_mask_gives_away() -> Iterable[float]:
    names, printed = run(1, "imports-torch", "q1", "q5-see")
    layers, x = names["layers"], names["x"]
    mixed, swapped = [3, 0, 4, 1, 2, 5], [1, 0, 2, 3, 4, 5]
    for order, count, causal, kept in (
        (mixed, 1, True, [5]),
        (swapped, 1, True, [2, 3, 4, 5]),
        (mixed, 2, False, [*range(6)]),
        (mixed, 2, True, []),
    ):
        change = np.abs(layers(x, count, causal)[order] - layers(x[order], count, causal)).max(axis=-1)
        assert np.flatnonzero(change < 1e-12).tolist() == kept
    return [0.0, *decimals(printed)]


def what_is_unseen() -> Iterable[float]:
    names, _ = run(3, "q1", "q2", "q5", "q7-see")
    _, _, count = names["count_rotations"](64, 10_000, 2048)
    theta = 10_000 ** (-np.arange(0, 64, 2) / 64)
    score = names["decay"](np.arange(2049), theta)
    assert (count, np.flatnonzero(score < 0)[0]) == (21, 725)
    found = [-score.min(), names["new_angles"](theta, 2048, 4096, 0.05).mean(), 0.05]
    for base in (10, 100, 500, 10_000, 1_000_000):
        theta = base ** (-np.arange(0, 32, 2) / 32)
        found += [names["new_angles"](theta, 64, used, 0.05).mean() for used in (128, 256)]
        settings = {"kind": "plain", "profile": "quick", "task": "text", "scheme": f"rope_{base}"}
        losses = [names["measured"].over_seeds(**settings, length=length) for length in (64, 128, 256)]
        found += [number for loss in losses for number in (loss.mean - losses[0].mean, loss.mean, loss.min, loss.max)]
    return found


def what_alibi_uses() -> Iterable[float]:
    names, printed = run(4, "imports-torch", "laboratory", "q1", "q3-see", "q7-see")
    model, task = names["ALIBI"]["text"][0], names["ALIBI"]["text"][1].make_task()
    reaches = [round(names["reach"](slope, 10)) for slope in model.scheme.slopes]
    assert reaches == [18, 46, 115, 280]
    found = [each for slope in model.scheme.slopes for each in (128 * slope, math.exp(-128 * slope))]
    tokens, targets = task.probe(512, 24)
    for kept in (0, 32, 128):
        for seed in range(4):
            replaced, generator = tokens.clone(), torch.Generator().manual_seed(seed)
            replaced[:, : -task.n_scored - kept].random_(0, 128, generator=generator)
            found.append(names["answers"](model, Batch(replaced, targets), task.n_scored).loss)
    return found + decimals(printed)


def what_extension_finds() -> Iterable[float]:
    names, _ = run(5, "laboratory", "q3-see", "q5-see")
    find, rotations, trained = names["accuracy_by_distance"], names["frequencies"].rotations, names["theta"]
    slow = names["frequencies"].inv_freq(32, 100)
    ways = {base: names["halves"](base) for base in (100, 10_000)}
    (parts, _), (_, a) = ways[10_000]["scaled alone"], ways[10_000]["both"]
    found = [1.0, 1.2, 1.25, 1.6, a, a * a]
    found += [each for theta in (trained, parts, slow) for each in rotations(128, theta)]
    near = (32, 64, 96)
    rows = [find(10_000, parts, 1.0, 128, near)]
    assert min(rows[0]) > 0.9  # so that no old distance is misread
    for length, backs in ((256, (*near, 192)), (512, (*near, 192, 384))):
        rows += [find(10_000, *method(32, 1e4, 128, length / 128), length, backs) for method in METHODS.values()]
    rows += [find(10_000, parts, 1.2), *(find(10_000, parts, factor, each=8, skip=4) for factor in (a, 1.2, 1.25))]
    rows += [find(100, *way, *past) for way in ways[100].values() for past in ((128, near), (512, names["BACKS"]))]
    rows.append(find(100, np.where(rotations(128, slow) < 1, slow / 4, slow), a, 512, near))
    return found + [number for row in [*rows, find(10_000, trained, 1.0)] for number in (*row, np.mean(row))]


MEASURED = {1: what_a_mask_gives_away, 3: what_is_unseen, 4: what_alibi_uses, 5: what_extension_finds}
# How far a number may be off beside its rounding: in float64, by sums of rounded losses, by other random tokens, by a
# symbol of 56 that rounding decides otherwise.
SLACK = {1: 1e-9, 3: 6e-3, 4: 1e-3, 5: 1 / 56}


@pytest.mark.parametrize("number", [1, 3, 4, pytest.param(5, marks=pytest.mark.release)])
def test_what_answers_and_samples_report_is_measured(number: int) -> None:
    found = np.array(list(MEASURED[number]()))
    cells = {cell["id"]: source_of(cell) for cell in sources.source(number)["cells"]}
    told = "\n".join(
        text
        for name, rubric in rubrics(assignment(number)).items()
        for text in (cells[name], *rubric["points"], *(one["text"] + one["why"] for one in rubric["samples"]))
    )
    numbers = re.findall(r"\d*\.\d+", told)
    assert len(numbers) > 5

    def measured(number_told: str) -> bool:
        rounding = 0.5001 * 10.0 ** -len(number_told.partition(".")[2])
        return bool(np.abs(found - float(number_told)).min() < rounding + SLACK[number])

    assert [one for one in numbers if not measured(one)] == []

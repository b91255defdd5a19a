"""The bank of wrong answers: each loses points with secret inputs, and is told its likely mistake.

Every answer of the bank is tried in this process; all of them together also go through the sandbox, as submissions
that each hold one answer to every question.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grading.grade import NUMBERS, assignment, grade
from grading.sandbox import Limits
from grading.sources import imports_of
from grading.submission import Submission
from posenc.check._question import Question, Result

pytestmark = pytest.mark.torch
SEEDS = ("one secret", "another secret")


def bank(number: int) -> Any:
    return importlib.import_module(f"tests.grading.wrong_answers_{number}")


def question(number: int, name: str) -> Question:
    return next(question for question in assignment(number).questions if question.name == name)


def listed(kind: str) -> Iterator[Any]:
    for number in NUMBERS:
        for name, answers in getattr(bank(number), kind).items():
            for title, content in answers.items():
                yield pytest.param(number, name, content, id=f"{number} {name} {title}")


def graded(number: int, name: str, source: str, seed: str) -> list[Result]:
    """The results of an answer's cell, executed here."""
    namespace: dict[str, Any] = {"np": np, "torch": torch, "math": math}
    exec(imports_of(number), namespace)
    asked = question(number, name)
    exec(source, namespace)
    return asked.grade(*(namespace[function] for function in asked.names), seed=seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("number", "name", "content"), listed("WRONG"))
def test_a_wrong_answer_loses_points_and_is_told_why(number: int, name: str, content: Any, seed: str) -> None:
    sentence, source = content
    results = graded(number, name, source, seed)
    lost = [result.sentence for result in results if not result.earned]
    assert lost
    if sentence is not None:
        assert any(sentence in told for told in lost), lost


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("number", "name", "source"), listed("PROPERTY_ONLY"))
def test_a_property_alone_earns_nothing(number: int, name: str, source: str, seed: str) -> None:
    assert sum(result.earned for result in graded(number, name, source, seed)) == 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("number", "name", "source"), listed("RIGHT"))
def test_another_right_way_earns_everything(number: int, name: str, source: str, seed: str) -> None:
    results = graded(number, name, source, seed)
    assert sum(result.earned for result in results) == question(number, name).points, results


@pytest.mark.parametrize("number", NUMBERS)
def test_every_question_has_enough_wrong_answers(number: int) -> None:
    names = {question.name for question in assignment(number).questions}
    assert set(bank(number).WRONG) == names
    assert min(len(answers) for answers in bank(number).WRONG.values()) >= 4
    assert sum(len(answers) for answers in bank(number).WRONG.values()) >= 30


@pytest.mark.parametrize("number", NUMBERS)
def test_the_sandbox_gives_the_same_points(number: int) -> None:
    sources = {
        name: [source for _, source in answers.values()] + list(bank(number).RIGHT.get(name, {}).values())
        for name, answers in bank(number).WRONG.items()
    }
    for answers in zip_longest(*sources.values()):
        cells = {name: [source] for name, source in zip(sources, answers, strict=True) if source is not None}
        submission = Submission("bank", Path("bank.ipynb"), number, cells)
        report = grade(submission, assignment(number), imports_of(number), SEEDS[0], Limits())
        here = {name: [r.earned for r in graded(number, name, source, SEEDS[0])] for name, (source,) in cells.items()}
        assert {
            graded.question.name: [result.earned for result in graded.results]
            for graded in report.graded
            if graded.question.name in cells
        } == here

"""The bank of wrong answers: each loses points with secret inputs, and is told its likely mistake.

Before a release, every answer of the bank is tried in this process and in the sandbox.
"""

import contextlib
import io
import linecache
import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from course.grade import NUMBERS, assignment, grade_question, imports_of, packages
from course.private.bank import bank
from course.question import Question
from course.sandbox import Limits, Worker
from posenc.check import Result

pytestmark = pytest.mark.torch
SEED, SANDBOX_SEED = "one secret", "another secret"
# At each change the first answer of a kind to each question, and before a release all.
first_or_all = pytest.mark.parametrize(
    "count", [1, pytest.param(None, marks=pytest.mark.release)], ids=["first", "all"]
)


def question(number: int, name: str) -> Question:
    return next(question for question in assignment(number).questions if question.name == name)


def listed(kind: str) -> list[Any]:
    return [
        pytest.param(number, name, content, id=f"{number} {name} {title}", marks=[pytest.mark.release] * left)
        for number in NUMBERS
        for name, answers in getattr(bank(number), kind).items()
        for place, (title, content) in enumerate(answers.items())
        # a model reads long texts in each of these: at each change every third, and before a release all
        for left in [(number, name) == (5, "q4") and place % 3 > 0]
    ]


def functions_of(number: int, name: str, source: str) -> list[Callable[..., Any]]:
    """What an answer's cell defines, executed here."""
    namespace: dict[str, Any] = {"np": np, "torch": torch, "math": math}
    exec(imports_of(number), namespace)
    cell = f"<{name} {hash(source)}>"
    linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)  # as in a notebook
    exec(compile(source, cell, "exec"), namespace)
    return [namespace[function] for function in question(number, name).names]


@cache
def graded(number: int, name: str, source: str, seed: str = SEED) -> list[Result]:
    """The results of an answer's cell, graded once at each seed however many tests ask for them."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):  # the answer's own
        return question(number, name).grade(*functions_of(number, name, source), seed=seed)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")  # NumPy warns where torch is silent
@pytest.mark.parametrize(("number", "name", "content"), listed("WRONG"))
def test_a_wrong_answer_loses_points_and_is_told_why(number: int, name: str, content: Any) -> None:
    sentence, source = content
    results = graded(number, name, source)
    lost = [result.sentence for result in results if not result.earned]
    assert lost
    if sentence is not None:
        assert any(sentence in told for told in lost), lost


@pytest.mark.parametrize(("number", "name", "source"), listed("PROPERTY_ONLY"))
def test_a_property_alone_earns_nothing(number: int, name: str, source: str) -> None:
    assert sum(result.earned for result in graded(number, name, source)) == 0


@pytest.mark.parametrize(("number", "name", "source"), listed("RIGHT"))
def test_another_right_way_earns_everything(number: int, name: str, source: str) -> None:
    results = graded(number, name, source)
    assert sum(result.earned for result in results) == question(number, name).points, results


@pytest.mark.parametrize(
    ("number", "name"), [pytest.param(n, q.name, id=f"{n} {q.name}") for n in NUMBERS for q in assignment(n).questions]
)
def test_every_question_has_four_wrong_answers(number: int, name: str) -> None:
    assert len(bank(number).WRONG.get(name, {})) >= 4, f"WRONG of bank/assignment_{number}.py has too few"


@pytest.mark.parametrize("number", NUMBERS)
@first_or_all
def test_the_sandbox_grades_the_bank_alike(number: int, count: int | None) -> None:
    given = assignment(number)
    with Worker(packages(given), imports_of(number), Limits()) as worker:
        for one in given.questions:
            wrong = [source for _, source in bank(number).WRONG[one.name].values()][:count]
            right = list(bank(number).RIGHT.get(one.name, {}).values())[:count]
            for source in wrong + right:
                earned = sum(result.earned for result in grade_question(worker, one, [source], SANDBOX_SEED))
                assert (earned == one.points) == (source in right), source

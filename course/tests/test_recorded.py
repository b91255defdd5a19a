"""The installed package holds no solution: recorded values judge as the questions themselves, and answer nothing."""

import math
from importlib import import_module
from typing import Any

import pytest
import torch

from course import recorded
from course.grade import NUMBERS, imports_of
from course.private.bank import bank
from course.question import public_seed
from course.tests.test_wrong_answers import first_or_all, functions_of, graded
from posenc.check import Question

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("bank")]
every_assignment = pytest.mark.parametrize("number", NUMBERS)


def public(number: int) -> dict[str, Question]:
    """The questions of the installed package, by name."""
    module = import_module(f"posenc.check.assignment_{number}")
    return {question.name: question for question in module.ASSIGNMENT.questions}


@every_assignment
def test_the_recording_is_up_to_date(number: int) -> None:
    assert recorded.is_up_to_date(number, imports_of(number)), "run `make assignments`"


@pytest.mark.parametrize(
    ("dtype", "small", "large"),
    [(torch.bfloat16, 0.01, 0.1), (torch.complex64, 1e-5, 1e-3), (torch.float64, 1e-12, 1e-8)],
)
def test_numbers_are_equal_up_to_the_rounding_of_their_dtype(dtype: torch.dtype, small: float, large: float) -> None:
    values = torch.tensor([1.0, -0.001, 0.0, math.inf, -math.inf, math.nan], dtype=torch.float64)
    recording, near, far = ((1e3 * (values + by)).to(dtype) for by in (0, small, large))
    assert recorded.agree({"values": [recording, 1, "a"]}, {"values": [near, 1, "a"]})
    for other in (far, recording[:3], recording[:, None], recording.nan_to_num()):
        assert not recorded.agree(recording, other)


@pytest.mark.filterwarnings("ignore")  # torch warns once, and so of the first of two calls
@every_assignment
@first_or_all
def test_the_installed_check_says_what_the_question_says(number: int, count: int | None) -> None:
    for name, installed in public(number).items():
        wrong = [source for _, source in bank(number).WRONG[name].values()]
        others = [list(getattr(bank(number), kind).get(name, {}).values()) for kind in ("PROPERTY_ONLY", "RIGHT")]
        for source in (source for kind in (wrong, *others) for source in kind[:count]):
            expected = [(r.part.title, r.earned, r.sentence) for r in graded(number, name, source, public_seed())]
            results = installed.grade(*functions_of(number, name, source))
            assert [(r.part.title, r.earned, r.sentence) for r in results] == expected, source


@every_assignment
def test_the_installed_questions_hold_no_function(number: int) -> None:
    waiting: list[Any] = list(public(number).values())
    while waiting:
        item = waiting.pop()
        if isinstance(item, (list, tuple)):
            waiting += item
        elif isinstance(item, dict):
            waiting += item.values()
        elif type(item).__module__.startswith("posenc"):
            waiting += vars(item).values()
        else:
            assert not callable(item), item

"""No points depend on the seed; two of them here, and many by `python -m tests.grading.luck`."""

from __future__ import annotations

import pytest

from grading.grade import NUMBERS
from grading.questions import question
from grading.questions.question import PUBLIC_SEED
from tests.grading.luck import lucky
from tests.grading.test_wrong_answers import SEED

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("bank")]


@pytest.mark.parametrize("number", NUMBERS)
def test_points_do_not_depend_on_the_seed(number: int) -> None:
    assert lucky(number, [SEED, PUBLIC_SEED]) == []  # the public one is test_recorded.py's too


def test_what_depends_on_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = question.Question.grade_part

    def at_random(self, part, answers, seed="public"):  # type: ignore[no-untyped-def]
        return right(self, part, {name: lambda *args: None for name in answers} if seed == "two" else answers, seed)

    monkeypatch.setattr(question.Question, "grade_part", at_random)
    assert len(lucky(4, ["one", "two"])) > 20

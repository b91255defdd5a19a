"""The analysis of a class: the numbers of test theory on classes computed by hand, and a page that does nothing."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pytest

from course import analysis, report, roster
from course.grade import Graded, Report, assignment
from course.submission import Submission
from course.words import visible
from posenc.check._question import Result

pytestmark = pytest.mark.torch
GIVEN = assignment(2)


def one_report(name: str, right: list[bool], sentence: str = "a sign is wrong") -> Report:
    """A report of assignment 2 where whole questions are right or wrong."""
    graded = [
        Graded(one, [Result(part, part.points if good else 0, "" if good else sentence) for part in one.parts])
        for one, good in zip(GIVEN.questions, right, strict=True)
    ]
    return Report(Submission(name, Path()), GIVEN, graded)


def page_of(shown: dict[str, Any]) -> str:
    loader = jinja2.FileSystemLoader(report.HERE)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["visible"] = visible
    return environment.get_template(report.ANALYSIS).render(shown)


@pytest.fixture
def marked() -> list[Report]:
    """Four students: each knows one question less than the one before."""
    number = len(GIVEN.questions)
    return [one_report(name, [k < number - missed for k in range(number)]) for missed, name in enumerate("abcd")]


def test_difficulty_and_discrimination_are_those_of_test_theory(marked: list[Report]) -> None:
    shown = analysis.of(marked, GIVEN)
    weights = np.array([question.points for question in GIVEN.questions], dtype=float)
    right = np.array([[graded.earned for graded in one.graded] for one in marked]) / weights
    for place, asked in enumerate(shown["asked"]):
        assert asked.item.difficulty == pytest.approx(right[:, place].mean())
        others = right @ weights - right[:, place] * weights[place]
        ones, zeros = others[right[:, place] == 1], others[right[:, place] == 0]
        if len(zeros):  # the point-biserial coefficient by its own formula
            p = len(ones) / len(others)
            expected = (ones.mean() - zeros.mean()) / others.std() * np.sqrt(p * (1 - p))
            assert asked.item.discrimination == pytest.approx(expected)
        else:
            assert asked.item.discrimination is None
    points = [one.points for one in marked]
    assert shown["quartiles"] == np.percentile(points, [0, 25, 50, 75, 100]).tolist()
    assert sum(bar["count"] for bar in shown["bars"]) == 4
    assert [bar["count"] for bar in shown["bars"] if bar["least"] == GIVEN.points] == [1]


def test_a_mistake_is_counted_once_for_each_student(marked: list[Report]) -> None:
    marked[3].graded[-1].results = [
        Result(result.part, 0, "", answered=False) for result in marked[3].graded[-1].results
    ]
    last = analysis.of(marked, GIVEN)["asked"][-1]
    assert last.unanswered == 1
    ((sentence, count, where),) = last.mistakes
    assert (sentence, count) == ("a sign is wrong", 2)
    assert where.split("; ") == [part.title for part in GIVEN.questions[-1].parts]


def test_who_handed_in_nothing_moves_no_number(marked: list[Report]) -> None:
    before = analysis.of(marked, GIVEN)
    absent = one_report("e", [False] * len(GIVEN.questions), roster.ABSENT)
    absent.submission.problem = roster.ABSENT
    after = analysis.of([*marked, absent, absent], GIVEN)
    assert after["problems"] == [(roster.ABSENT, 2)]
    assert after | {"problems": []} == before


def test_the_page_shows_it_and_does_nothing(marked: list[Report], tmp_path: Path) -> None:
    marked[1].graded[-1].results = [
        Result(result.part, 0, "<script>alert(1)</script>\x1b") for result in marked[1].graded[-1].results
    ]
    page = page_of(analysis.of(marked, GIVEN))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b" in page
    assert "<script" not in page
    assert not re.search(r"https?:|url\(|src=", page)
    assert page.count("<rect") == GIVEN.points + 1
    assert "default-src 'none'" in page
    assert page_of(analysis.of([], GIVEN)).count("<h2>") == 0


def test_a_question_that_waits_is_left_out_until_all_are_read() -> None:
    given = assignment(4)
    graded = [Graded(one, [Result(part, part.points) for part in one.parts]) for one in given.questions]
    both = [Report(Submission(name, Path()), given, graded) for name in "ab"]
    both[0].hand["q7"] = 2
    shown = analysis.of(both, given)
    assert shown["waiting"] == ["q7"]
    assert [one.item.name for one in shown["asked"]] == [question.name for question in given.questions]
    both[1].hand["q7"] = 1
    shown = analysis.of(both, given)
    assert shown["asked"][-1].item.difficulty == pytest.approx(1.5 / given.hand_graded[0].points)
    assert shown["waiting"] == []


@pytest.mark.parametrize("module", [analysis, roster])
def test_examples_print_what_they_say(module: Any) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0

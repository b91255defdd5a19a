"""Assignments in their pages and the grader: the same words for wrong answers, points for what is exported."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from course.grade import NUMBERS
from course.grade import assignment as assignment_of
from course.private.bank import bank
from tests.book.python.assignments import page_of, try_answers
from tests.book.python.cells import PATIENCE, ROOT, Chapter
from tests.book.site.browser import SITE
from tests.book.site.test_assignment_pages import taken

pytestmark = pytest.mark.torch


# What a page tells otherwise than this machine, by assignment: NumPy's own whole numbers have 32 bits in a page, and
# what is told there asks for np.int64.
DIFFERENCES = {
    1: (
        *("period 2^i", "truth values of a mask"),
        *("these are remainders, not digits", "these are the values of the bits, not 0 and 1"),
    )
}


@pytest.mark.release
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns here of what overflows, and a page's NumPy does not
@pytest.mark.parametrize("number", NUMBERS)
def test_answers_are_told_in_the_page_what_they_are_told_here(browser: Browser, site_url: str, number: int) -> None:
    wrong, right = bank(number).WRONG, bank(number).RIGHT
    answers = {
        name: {title: source for title, (_, source) in told.items()} | right.get(name, {})
        for name, told in wrong.items()
    }
    questions = assignment_of(number).questions
    row = try_answers(browser, site_url, number, questions, answers, DIFFERENCES.get(number, ()))
    assert row["faults"] == []
    assert number != 4 or row["tried"] > 60


@pytest.mark.release
@pytest.mark.parametrize("place", ["http", "disk"])
def test_an_assignment_done_in_the_page_is_graded(
    new_page: Callable[..., Page], site_url: str, tmp_path: Path, place: str
) -> None:
    page = new_page()
    page.set_default_timeout(PATIENCE)
    assignment = Chapter(page, page_of(1)).open(site_url if place == "http" else SITE.as_uri()).start()
    answers = {name: next(iter(told.values())) for name, told in bank(1).RIGHT.items()}
    answers |= {name: bank(1).RIGHT[name]["NumPy"] for name in ("q1", "q2")}
    for name, source in answers.items():
        assignment.type(name, source.strip())
    assignment.run_all()
    for name in answers:
        assert " ✓" in assignment.cell(f"{name}-check").printed
        assert " ✗" not in assignment.cell(f"{name}-check").printed
    taken(assignment, tmp_path).rename(tmp_path / "ada.ipynb")
    command = [sys.executable, "-m", "course", str(tmp_path), "--output", str(tmp_path / "out")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (row,) = csv.DictReader((tmp_path / "out" / "grades.csv").read_text(encoding="utf-8").splitlines())
    read = assignment_of(1).hand_graded
    assert float(row["points"]) == sum(question.points for question in assignment_of(1).questions)
    assert row["waiting for a reader"] == " ".join(question.name for question in read)

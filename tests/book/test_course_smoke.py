"""The course in short: the command grades a right and a wrong notebook in its sandbox, and handouts hold no solution.

`make test-course` has the rest. The copy for students has no course, and so leaves this file out.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

import course.__main__ as command
from course import sources
from course.grade import NUMBERS, assignment, student
from course.private.bank import bank
from tools.notebooks import load

pytestmark = pytest.mark.torch
NUMBER, NAME = 2, "q3"


def test_a_right_and_a_wrong_notebook_are_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submissions, grades = tmp_path / "submissions", tmp_path / "grades"
    submissions.mkdir()
    notebook = sources.source(NUMBER)
    (submissions / "ada.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    sentence, answer = next(pair for pair in bank(NUMBER).WRONG[NAME].values() if pair[0])
    next(cell for cell in notebook["cells"] if cell["id"] == NAME)["source"] = answer
    (submissions / "alan.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    monkeypatch.setattr(command, "KEY", tmp_path / "key")
    monkeypatch.setattr(sys, "argv", ["course", str(submissions), "--output", str(grades)])
    command.main()
    table = (grades / "grades.csv").read_text(encoding="utf-8").splitlines()
    rows = {row["student"]: row for row in csv.DictReader(table)}
    given = assignment(NUMBER)
    assert float(rows["ada"]["points"]) == sum(question.points for question in given.questions)
    assert float(rows["alan"]["points"]) < float(rows["ada"]["points"])
    assert sentence in (grades / "feedback" / "alan.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_handout_holds_no_solution(number: int) -> None:
    source, path = sources.source(number), student(number)
    assert sources.given_away(source, load(path)) == []
    assert sources.dump(sources.student_version(source)) == path.read_text(encoding="utf-8"), "run `make assignments`"

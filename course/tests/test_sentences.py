"""What questions say stands in their catalogue: nothing in the code, and nothing that no question says."""

from __future__ import annotations

import ast
import json

import pytest

from course.grade import NUMBERS
from course.sources import ROOT
from tests.unit.test_words import prose, said

FOLDER = ROOT / "course" / "questions"
MESSAGES = json.loads((FOLDER / "messages.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_no_prose_stands_in_the_code(path):
    assert prose(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("number", NUMBERS)
def test_what_an_assignment_says_is_in_the_catalogue_and_all_of_it_is_said(number):
    code = ast.parse((FOLDER / f"assignment_{number}.py").read_text(encoding="utf-8"))
    groups = MESSAGES[f"assignment_{number}"]
    assert {f"{group}.{what}" for group, texts in groups.items() for what in texts} == set(said(code))


def test_the_catalogue_is_of_these_assignments():
    assert set(MESSAGES) == {f"assignment_{number}" for number in NUMBERS}

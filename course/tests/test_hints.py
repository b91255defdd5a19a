"""Hints unfold in three steps, need nothing but Python, and hold no answer."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from course import sources
from course.grade import NUMBERS, assignment
from course.private.bank import bank
from course.tests.test_wrong_answers import functions_of
from posenc.check import HandGraded, assignment_4
from posenc.check._hints import HINTS, hints_of
from posenc.check._wrong import say

pytestmark = pytest.mark.torch
READER = HandGraded(4, "q7", "an explanation", 3)


def test_every_question_has_three_hints_and_no_other_thing_has() -> None:
    asked = {f"assignment_{number}": [one.name for one in assignment(number).graded] for number in NUMBERS}
    assert {group: list(hints) for group, hints in HINTS.items()} == asked
    assert all(len(hints) == 3 for group in HINTS.values() for hints in group.values())
    first = [hints[0] for group in HINTS.values() for hints in group.values()]
    assert all("?" in text for text in first), "the first step asks back"


def test_hints_unfold(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for steps in ((), (2,), (3,)):
        READER.hint(*steps)
        printed.append(capsys.readouterr().out.splitlines())
    one, two, three = ([line for line in lines if not line.startswith("The next one:")] for lines in printed)
    assert [lines[-1] for lines in printed[:2]] == [f"The next one: check.q7.hint({step})" for step in (2, 3)]
    assert (two[: len(one)], three[: len(two)], printed[2]) == (one, two, three)
    told = " ".join(" ".join(three).split())
    assert all(" ".join(text.split()) in told for text in hints_of(4, "q7"))


@pytest.mark.parametrize("step", [0, 4, -1, True, 1.0, "2", None])
def test_a_step_that_there_is_not_is_refused(step: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(f"hint {step!r}: the hints to q7 go from 1 to 3")):
        READER.hint(step)
    assert capsys.readouterr().out == ""


def test_a_check_that_fails_names_the_hint(capsys: pytest.CaptureFixture[str]) -> None:
    asked, stuck = assignment_4.q2, say("hint.stuck", name="q2")
    for kind, text in (
        ("WRONG", next(iter(bank(4).WRONG["q2"].values()))[1]),
        ("RIGHT", next(iter(bank(4).RIGHT["q2"].values()))),
    ):
        asked(*functions_of(4, "q2", text))
        assert (stuck in capsys.readouterr().out) == (kind == "WRONG")


def squeezed(text: str) -> str:
    return re.sub(r"[\s*]", "", text)


def answers(number: int, name: str) -> Iterator[str]:
    """What the solution's statements compute, and the lines of a model answer."""
    cell = next(cell for cell in sources.source(number)["cells"] if cell["id"] == name)
    text = sources.source_of(cell)
    if sources.is_prose_answer(cell):
        yield from (sentence for sentence in re.split(r"(?<=[.:?])\s", text) if len(sentence) > 24)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign | ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            yield from (ast.unparse(part) for part in parts if len(ast.unparse(part)) > 12)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_hint_holds_the_answer(number: int) -> None:
    for name in HINTS[f"assignment_{number}"]:
        said = squeezed(" ".join(hints_of(number, name)))
        found = list(answers(number, name))
        assert found, name
        assert [text for text in found if squeezed(text) in said] == [], name
        assert "def " not in said

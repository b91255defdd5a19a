"""What questions say is in their catalogue: every key that the code names is there, and no other."""

from __future__ import annotations

import ast

import pytest

from course.grade import NUMBERS
from course.question import PRIVATE, _messages


@pytest.mark.parametrize("number", NUMBERS)
def test_the_catalogue_has_the_keys_that_an_assignment_says_and_no_other(number: int) -> None:
    code = ast.parse((PRIVATE / "questions" / f"assignment_{number}.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(code) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    keys = {ast.literal_eval(call.args[0]) for call in calls if call.func.id == "say"}
    groups = _messages()[f"assignment_{number}"]
    assert keys == {f"{group}.{what}" for group, texts in groups.items() for what in texts}

"""What questions say stands in their catalogue: nothing in the code, and nothing that no question says."""

from __future__ import annotations

import ast
import json
import re

import pytest

from course.grade import NUMBERS
from course.sources import ROOT

FOLDER = ROOT / "course" / "questions"
MESSAGES = json.loads((FOLDER / "messages.json").read_text(encoding="utf-8"))
PROSE = re.compile(r"[^\W\d_]{2,}\W* \W*[^\W\d_]")  # two words with a space between them


def for_programmers(node: ast.AST) -> ast.AST | None:
    """The docstring of a node, or the node if it is an error; a `Wrong` is told to students."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
        return node.body[0]
    if isinstance(node, ast.Raise) and not (node.exc and ast.unparse(node.exc).startswith("Wrong(")):
        return node
    return None


def prose(tree: ast.Module) -> list[str]:
    """The string constants of a module that are prose; in an f-string, what is put in counts as a word."""
    left_out = {id(part) for node in ast.walk(tree) if (top := for_programmers(node)) for part in ast.walk(top)}
    sentences = []
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "word" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        if PROSE.search(text):
            sentences.append(f"line {node.lineno}: {text}")
    return sentences


def keys_used(tree: ast.Module) -> set[str]:
    """The keys of the catalogue in a module's calls of `say`."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return {ast.literal_eval(call.args[0]) for call in calls if call.func.id in ("say", "_say")}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_no_prose_stands_in_the_code(path):
    assert prose(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("number", NUMBERS)
def test_what_an_assignment_says_is_in_the_catalogue_and_all_of_it_is_said(number):
    code = ast.parse((FOLDER / f"assignment_{number}.py").read_text(encoding="utf-8"))
    groups = MESSAGES[f"assignment_{number}"]
    assert {f"{group}.{what}" for group, texts in groups.items() for what in texts} == keys_used(code)


def test_the_catalogue_is_of_these_assignments():
    assert set(MESSAGES) == {f"assignment_{number}" for number in NUMBERS}

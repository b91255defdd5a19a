"""Words of figures stand in their catalogue: none in the code, and none in the catalogue that is never said."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "posenc"
CATALOGUES = {"figures": "words.json"}
PROSE = re.compile(r"[^\W\d_]{2,}\W* \W*[^\W\d_]")  # two words with a space between them
PLACES_OF_TEXT = re.compile("(top|middle|bottom) (left|center|right)")  # Plotly's own
# Functions whose first argument names an argument, for the message of an error.
NAMING = {"_above", "_complex", "_pair", "_some"}


def trees(package: str) -> dict[str, ast.Module]:
    """The modules of a package of posenc, by their names."""
    found = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in (PACKAGE / package).glob("*.py")}
    assert found
    return found


def told_to_programmers(node: ast.AST) -> Iterator[ast.AST]:
    """What of a node is docstring or error message."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
        yield node.body[0]
    elif isinstance(node, ast.Raise):
        yield node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMING:
        yield node.args[0]


def prose(tree: ast.Module) -> list[str]:
    """The string constants of a module that are prose; in an f-string, what is put in counts as a word."""
    left_out = {id(part) for node in ast.walk(tree) for told in told_to_programmers(node) for part in ast.walk(told)}
    found = []
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "word" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        if PROSE.search(text) and not PLACES_OF_TEXT.fullmatch(text):
            found.append(f"line {node.lineno}: {text}")
    return found


def said(tree: ast.Module) -> Iterator[str]:
    """The keys that a module says, as constants in its calls of `_say` and of `_tell`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_say", "_tell"):
            key = node.args[0 if node.func.id == "_say" else 1]
            if isinstance(key, ast.Constant):
                yield from [key.value] if node.func.id == "_say" else (f"{key.value}.finding", f"{key.value}.details")
            else:  # `_tell` itself
                assert ast.unparse(key) in ("f'{function}.finding'", "f'{function}.details'"), ast.unparse(node)


def texts(text: Any) -> Iterator[str]:
    """The strings of a text in a catalogue."""
    if isinstance(text, str):
        yield text
    elif isinstance(text, list):
        for part in text:
            yield from texts(part)
    else:
        for name in {"say", "then", "else"} & set(text):
            yield from texts(text[name])


@pytest.mark.parametrize(
    ("line", "is_prose"),
    [
        ('x = "one word, another"', True),
        ('x = f"{count} tokens"', True),
        ('x = f"{name}: {value}"', True),
        ('x = {"title": ["mean of all"]}', True),
        ('call(name="a b c")', False),
        ('x = "top center"', False),
        ('x = f"{function}.finding"', False),
        ('x = f"<b>{name}</b>"', False),
        ('raise ValueError(f"{name} must be greater than {limit}")', False),
        ('_some("the first exam", exams)', False),
        ('def f():\n    """What it does."""\n    return "what it does"', True),
        ('def f():\n    """What it does."""', False),
    ],
)
def test_prose_is_found(line, is_prose):
    assert bool(prose(ast.parse(line))) == is_prose


@pytest.mark.parametrize("package", CATALOGUES)
def test_no_prose_stands_in_the_code(package):
    assert {name: found for name, tree in trees(package).items() if (found := prose(tree))} == {}


@pytest.mark.parametrize("package", CATALOGUES)
def test_what_is_said_is_in_the_catalogue_and_all_of_it_is_said(package):
    words = json.loads((PACKAGE / package / CATALOGUES[package]).read_text(encoding="utf-8"))
    tables = words.pop("names", {})
    every = {f"{group}.{what}": text for group, group_texts in words.items() for what, text in group_texts.items()}
    assert set(every) == {key for tree in trees(package).values() for key in said(tree)}
    formats = {name for text in every.values() for part in texts(text) for name in re.findall(r"[:|](\w+)", part)}
    assert set(tables) <= formats

"""Words of figures and checks stand in catalogues: none in the code, and none in a catalogue that is never said."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from posenc.figures import _drawing
from posenc.rotary import LAYOUTS
from tests.unit import figure_examples

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "posenc"
CATALOGUES = {"figures": "words.json", "check": "messages.json"}
LEFT_OUT = {"_plain"}  # it runs in the sandbox, too, where it has no catalogue, and names kinds of Python's objects
PROSE = re.compile(r"[^\W\d_]{2,}\W* \W*[^\W\d_]")  # two words with a space between them
PLACES_OF_TEXT = re.compile("(top|middle|bottom) (left|center|right)")  # Plotly's own
# Functions whose first argument names an argument, for the message of an error.
NAMING = {"_above", "_complex", "_pair", "_some"}
SYMBOLS = {"sin", "cos", *LAYOUTS}  # of formulas and of the code
IN_TELL = ("f'{function}.finding'", "f'{function}.details'")  # the only keys that are made, by `_tell` of figures


def trees(package: str) -> dict[str, ast.Module]:
    """The modules of a package of posenc, by their names."""
    paths = [path for path in (PACKAGE / package).glob("*.py") if path.stem not in LEFT_OUT]
    assert len(paths) > 5
    return {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def told_to_programmers(node: ast.AST) -> Iterator[ast.AST]:
    """What of a node is docstring or error message; a `Wrong` is told to students."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
        yield node.body[0]
    elif isinstance(node, ast.Raise) and not (node.exc and ast.unparse(node.exc).startswith("Wrong(")):
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
    """The keys that a module says, as constants in its calls of `say`, of `_say` and, for two, of `_tell`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == "_tell":
            yield from (f"{ast.literal_eval(node.args[1])}.{what}" for what in ("finding", "details"))
        elif node.func.id in ("say", "_say") and ast.unparse(node.args[0]) not in IN_TELL:
            yield ast.literal_eval(node.args[0])


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
        ('raise Wrong("the figure is empty")', True),
        ('raise Wrong(say("figure.empty")) from None', False),
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


# A comment, or a string in its marks; what is put into a template counts as a word.
JS_TOKEN = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL)
# Errors are told to programmers; the rest is names of classes and what a browser is asked.
JS_LEFT_OUT = re.compile(r"new Error\($|class: $|querySelector(?:All)?\($|closest\($|matchMedia\($|transform = $")
# What an explorable's code may hold of words: names in the laboratory's measurements, and the sentence that opens one.
NAMES = {"learned minus", "other slow", "dog bites man"}
CODE = re.compile("[<{=^]")  # of a string that is HTML, JavaScript or a pattern


def prose_in_js(source: str) -> list[str]:
    """The strings of a module in JavaScript that are prose."""
    found = []
    for token in JS_TOKEN.finditer(source):
        text, before = token[0], source[: token.start()]
        if text.startswith("//") or JS_LEFT_OUT.search(before[-30:]) or JS_LEFT_OUT.search(text):
            continue
        if PROSE.search(re.sub(r"\$\{[^}]*\}", "·", text[1:-1])):
            found.append(f"line {before.count(chr(10)) + 1}: {text}")
    return found


@pytest.mark.parametrize(
    ("line", "is_prose"),
    [
        ('words(context, theme, "one word, another", x, y);', True),
        ("const text = `${count} tokens at least`;", True),
        ('const texts = ["mean of all", "mean"];', True),
        ("// a comment of words\nconst x = 'left';", False),
        ("throw new Error(`no ${value} in ${name}`);", False),
        ('element("p", { class: "posenc-slider posenc-compact" });', False),
    ],
)
def test_prose_in_javascript_is_found(line, is_prose):
    assert bool(prose_in_js(line)) == is_prose


def test_no_prose_stands_in_the_explorables_python():
    found = {
        line
        for tree in trees("widgets").values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for line in [node.value]
        if PROSE.search(line) and not CODE.search(line)
    }
    told = {
        part.value
        for tree in trees("widgets").values()
        for node in ast.walk(tree)
        for skipped in told_to_programmers(node)
        for part in ast.walk(skipped)
        if isinstance(part, ast.Constant)
    }
    assert found - told == NAMES


def test_no_prose_stands_in_the_explorables_javascript():
    sources = {path.name: path.read_text(encoding="utf-8") for path in (PACKAGE / "js").glob("*.js")}
    assert len(sources) > 30
    assert {name: found for name, source in sources.items() if (found := prose_in_js(source))} == {}


def blank(text: Any) -> Any:
    """A text without its letters, but with its facts and its marks."""
    if isinstance(text, str):
        return re.sub(r"(\{[^}]*\}|<[^>]*>)|\w", lambda found: found[1] or "·", text)
    if isinstance(text, list):
        return [blank(part) for part in text]
    return {name: blank(part) if name not in ("if", "each") else part for name, part in text.items()}


def shown(drawn: Any, name: str = "") -> Iterator[str]:
    """The words of a figure that a reader may see or hear."""
    if isinstance(drawn, dict):
        for inner, part in drawn.items():
            yield from shown(part, inner)
    elif isinstance(drawn, list | tuple):
        for part in drawn:
            yield from shown(part, name)
    elif isinstance(drawn, str) and name in ("alt", "hovertemplate", "name", "text", "ticktext"):
        yield from re.findall(r"[A-Za-z]{3,}", re.sub(r"<[^>]*>|%\{[^}]*\}", " ", drawn))


def test_another_catalogue_is_another_language(monkeypatch):
    """With a catalogue of blanks, figures say nothing but the names that the examples give them."""
    source = ast.parse(Path(figure_examples.__file__).read_text(encoding="utf-8"))
    given = [node for statement in source.body if isinstance(statement, ast.Assign) for node in ast.walk(statement)]
    strings = [node.value for node in given if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = {word for text in strings for word in re.findall(r"[A-Za-z]{3,}", text)} | SYMBOLS
    monkeypatch.setattr(_drawing, "WORDS", blank(_drawing.WORDS))
    for name, draw in figure_examples.EXAMPLES.items():
        assert set(shown(draw().to_plotly_json())) - names == set(), name

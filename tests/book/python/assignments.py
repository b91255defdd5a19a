"""An assignment in a page: a wrong answer is told there what it is told in a notebook on the machine."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import redirect_stdout
from typing import Any

from playwright.sync_api import Browser

from posenc.check import Question
from posenc.check._alone import libraries
from tests.book.python.cells import Chapter, notebook
from tests.book.site.browser import Watch
from tools.notebooks import joined

Answers = Mapping[str, Mapping[str, str]]  # question -> title -> an answer's cell


# What follows a sentence in brackets is of a machine: rounding, how a library packs a figure, what an error says.
DETAIL = re.compile(r" \((?:largest error|it is|\().*$", re.MULTILINE)


def page_of(number: int) -> str:
    """The name of an assignment's page."""
    return f"assignments/assignment_{number}"


def in_page(question: Question, answers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The answers to a question that a page can run: title, and the cell with its check at its end."""
    for title, source in answers.items() if question.tensors != "only" else ():
        used = libraries([source])
        if "torch" not in used:
            arrays = "" if used else "import numpy\n"  # what names neither gets tensors, where they are
            yield title, f"{arrays}{source}\ncheck.{question.name}({', '.join(question.names)})"


# Runs cells in a notebook of their own, and prints of each what it prints, as a line of JSON.
PROGRAM = """import json
import page_cells
told = []
notebook = page_cells.Notebook(lambda cell, output: told.append(json.loads(output)))
for cell, source in json.loads({imports!r}):
    notebook.run(cell, source)
for cell, source in json.loads({answers!r}):
    told.clear()
    notebook.run(cell, source)
    print(json.dumps("".join(one["text"] for one in told if one.get("stream") == "stdout")))
"""


def program(number: int, answers: list[tuple[str, str]]) -> str:
    """The program for the answers' cells, each with its question's name."""
    cells = notebook(page_of(number))["cells"]
    imports = [(cell["id"], joined(cell["source"])) for cell in cells if cell["id"].startswith("imports")]
    return PROGRAM.format(imports=json.dumps(imports), answers=json.dumps(answers))


def here(source: str) -> list[str]:
    """What the program prints on this machine."""
    with redirect_stdout(io.StringIO()) as printed:
        exec(source, {})
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def try_answers(
    browser: Browser,
    url: str,
    number: int,
    questions: tuple[Question, ...],
    answers: Answers,
    differences: Collection[str] = (),
) -> dict[str, Any]:
    """Put answers, each with its check, to the page's Python; how many there were, and what was told otherwise.

    `differences` are the answers of which that is known, with its reason.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watch = Watch(page)
    chapter = Chapter(page, page_of(number)).open(url).start()
    chapter.run("imports")  # which brings what the checks compare with; nothing that could fail stands before it
    faults, tried = [], 0
    for question in questions:
        given = dict(in_page(question, answers[question.name]))
        source = program(number, [(question.name, cell) for cell in given.values()])
        there = [json.loads(line) for line in chapter.run("imports", source).printed.splitlines()]
        for title, ours, theirs in zip(given, here(source), there, strict=True):
            tried += 1
            same = DETAIL.sub("", ours) == DETAIL.sub("", theirs)
            if not (same or title in differences) or not ours.startswith(question.name):
                faults.append(f"{number} {question.name} {title}\nin the page: {theirs}\nhere: {ours}")
    page.close()
    whole = sum(map(len, answers.values()))
    return {"answers": whole, "tried": tried, "faults": faults + watch.errors + list(watch.foreign)}

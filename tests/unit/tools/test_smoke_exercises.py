"""Trying out a chapter's end: sliders are found and moved, and a wrong solution or a slider that fails is seen."""

from __future__ import annotations

import pytest

from tools.execute import execute
from tools.notebooks import dump
from tools.smoke_exercises import exercises, try_out

STUB = "def double(x):\n    return None"
CHECK = "print('right' if double(2) == 4 else 'not yet: double(2) is 4')"
SLIDER = """
import plotly.graph_objects as go
from ipywidgets import Dropdown, FloatLogSlider, interact

def draw(base, size, kind):
    figure = go.Figure(go.Scatter(x=[1, size], y=[1, base]))
    drawn.append((base, size, kind))
    if kind == "show":
        figure.show()
    else:
        return figure

drawn = []
box = interact(draw, base=FloatLogSlider(10.0, min=0, max=8), size=(1, 9), kind=["show", "return"]).widget
"""


def solved(code: str) -> str:
    return f"<details><summary>Solution</summary>\n\n```python\n{code}\n```\n\n</details>"


def cell(kind: str, source: str, *tags: str, name: str = "an-id") -> dict:
    extra = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {"tags": list(tags)}, "source": source, **extra}


def exercise(solution: str) -> list[dict]:
    return [
        cell("code", STUB, "exercise", name="stub"),
        cell("code", CHECK, "check", name="check"),
        cell("markdown", solution, name="solution"),
    ]


@pytest.mark.parametrize(
    ("solution", "output"),
    [
        ("def double(x):\n    return 2 * x", "right\n"),
        ("def double(x):\n    return 3 * x", "not yet: double(2) is 4\n"),
        ("print('right')\ndef double(x):\n    return x / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_the_solution_takes_the_stubs_place_before_the_check(solution, output):
    tasks = exercises(exercise(solved(solution)))
    assert try_out({}, tasks)["checks"] == {"stub": output}


def test_a_missing_solution_is_seen():
    assert try_out({}, exercises(exercise("no solution")))["checks"] == {"stub": None}


def test_sliders_are_found_and_tried_at_their_ends():
    namespace = {}
    exec(SLIDER, namespace)
    namespace["drawn"].clear()
    sliders = [slider for slider in try_out(namespace, [])["sliders"] if slider["controls"] == ["base", "size", "kind"]]
    assert sliders == [{"controls": ["base", "size", "kind"], "settings": 9, "faults": []}]
    assert namespace["drawn"][0] == (10.0, 5, "show")
    assert set(namespace["drawn"][1:]) == {
        (base, size, kind) for base in (1, 1e8) for size in (1, 9) for kind in ("show", "return")
    }


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("None", "draws 0 figures"),
        ("go.Figure(go.Scatter(y=[1.0, float('inf')]))", "draws a number that is not finite, or none"),
        ("go.Figure()", "draws a number that is not finite, or none"),
        ("1 / (9 - fault)", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_slider_that_fails_is_reported(body, what):
    namespace = {}
    exec(f"from ipywidgets import interactive\nimport plotly.graph_objects as go\n"
         f"box = interactive(lambda fault: {body}, fault=(1, 9))", namespace)  # fmt: skip
    [slider] = [slider for slider in try_out(namespace, [])["sliders"] if slider["controls"] == ["fault"]]
    assert f"{{'fault': 9}}: {what}" in slider["faults"]
    namespace["box"].close()


def test_it_is_done_in_the_kernel_and_leaves_the_notebook_as_it_was(tmp_path):
    cells = [*exercise(solved("def double(x):\n    return x + x")), cell("code", SLIDER, name="slider")]
    path = tmp_path / "a.ipynb"
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(dump(notebook), encoding="utf-8")
    result = execute(path, tries=True)
    assert result.error == ""
    assert result.tried == {
        "checks": {"stub": "right\n"},
        "sliders": [{"controls": ["base", "size", "kind"], "settings": 9, "faults": []}],
    }
    assert [each.id for each in result.notebook.cells] == ["stub", "check", "solution", "slider"]

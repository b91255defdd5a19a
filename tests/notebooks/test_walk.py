"""The walker: it finds sliders and exercises, and sees a wrong solution."""

import json

import pytest

from tests.notebooks.walk import figures, walk

STUB = "def double(x):\n    return None"
CHECK = "print('right' if double(2) == 4 else 'not yet: double(2) is 4')"
SLIDER = """
import plotly.graph_objects as go
from ipywidgets import Dropdown, FloatLogSlider, interact

def draw(base, size, kind):
    figure = go.Figure(go.Scatter(x=[1, size], y=[1, base]))
    if kind == "show":
        figure.show()
    else:
        return figure

interact(draw, base=FloatLogSlider(10.0, min=0, max=8), size=(1, 9), kind=["show", "return"])
"""


def cell(kind: str, source: str, *tags: str) -> dict:
    return {"cell_type": kind, "id": "an-id", "metadata": {"tags": list(tags)}, "source": source}


def notebook(tmp_path, *cells):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    return path


@pytest.mark.parametrize(("factor", "said"), [(2, "right"), (3, "not yet")])
def test_the_solution_replaces_the_stub_before_the_check(tmp_path, factor, said):
    solution = (
        f"<details><summary>Solution</summary>\n\n```python\ndef double(x):\n    return {factor} * x\n```\n\n</details>"
    )
    path = notebook(
        tmp_path,
        cell("code", STUB, "exercise"),
        cell("code", CHECK, "check"),
        cell("markdown", solution),
    )
    [exercise] = walk(path).exercises
    assert exercise.said_on_stub.startswith("not yet")
    assert exercise.said_on_solution.startswith(said)


def test_a_missing_solution_is_seen(tmp_path):
    path = notebook(tmp_path, cell("code", STUB, "exercise"), cell("code", CHECK, "check"))
    [exercise] = walk(path).exercises
    assert exercise.said_on_solution is None


def test_sliders_are_found_and_tried_at_their_ends(tmp_path):
    [slider] = walk(notebook(tmp_path, cell("code", SLIDER))).sliders
    settings = list(slider.settings())
    assert settings[0] == {"base": 10.0, "size": 5, "kind": "show"}
    assert {(s["base"], s["size"], s["kind"]) for s in settings[1:]} == {
        (base, size, kind) for base in (1, 1e8) for size in (1, 9) for kind in ("show", "return")
    }
    for setting in settings:
        [figure] = figures(slider.function, setting)
        assert figure.data[0].y[1] == setting["base"]

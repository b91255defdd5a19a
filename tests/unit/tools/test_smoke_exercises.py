"""Trying out a chapter's end: sliders are found and moved, and a wrong solution or a slider that fails is seen."""

import pytest

from tools.smoke_exercises import exercises, try_out

STUB = "def double(x):\n    return None"
CHECK = "print('right' if double(2) == 4 else 'not yet: double(2) is 4')"


@pytest.mark.parametrize(
    ("solution", "output"),
    [
        ("def double(x):\n    return 2 * x", "right\n"),
        ("def double(x):\n    return 3 * x", "not yet: double(2) is 4\n"),
        ("print('right')\ndef double(x):\n    return x / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_the_solution_takes_the_stubs_place_before_the_check(solution, output):
    folded = f"<details><summary>Solution</summary>\n\n```python\n{solution}\n```\n\n</details>"
    cells = [
        {"cell_type": kind, "id": name, "metadata": {"tags": [name]}, "source": source}
        for kind, name, source in (("code", "exercise", STUB), ("code", "check", CHECK), ("markdown", "fold", folded))
    ]
    assert try_out({}, exercises(cells))["checks"] == {"exercise": output}


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("None", "draws 0 figures"),
        ("go.Figure(go.Scatter(y=[1.0, float('inf')]))", "draws a number that is not finite, or none"),
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

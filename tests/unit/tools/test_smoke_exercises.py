"""Trying out a chapter's end: sliders are found and moved, and one that fails is seen."""

import pytest

from tools.smoke_exercises import try_out


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

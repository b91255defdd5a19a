"""What a prediction asks and takes for true, out of a notebook's cells: no browser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from book._site.pages.predictions import POINTS, prediction

FIGURE = {
    "data": [{"name": "law", "x": [1.0, 10.0, 100.0], "y": [0.0, 1.0, 2.0], "type": "scatter"}],
    "layout": {"xaxis": {"type": "log"}},
}


def cells(kind: str, output: str | dict[str, Any] = "", **asked: Any) -> list[dict[str, Any]]:
    """A question, the cell of its answer and a sentence."""
    predict = {"kind": kind, "hides": ["answer", "after"], "answer": {"cell": "answer", "find": r"is (\S+)"}, **asked}
    shown = (
        {"output_type": "stream", "text": output}
        if isinstance(output, str)
        else {"output_type": "display_data", "data": {"application/vnd.plotly.v1+json": output}}
    )
    return [
        {"cell_type": "markdown", "id": "question", "metadata": {"predict": predict}, "source": "**预测**。什么？"},
        {"cell_type": "code", "id": "answer", "metadata": {}, "source": "", "outputs": [shown]},
        {"cell_type": "markdown", "id": "after", "metadata": {}, "source": ["So it is.\n"]},
    ]


SPAN = {"least": -5, "most": 2000, "unit": "pairs"}
CHOICES = [["few", r"is [0-4]\b"], ["many", r"is [5-9]\b"]]
CURVE: dict[str, Any] = {
    "x": {"least": 1, "most": 100, "label": "m"},
    "y": {"least": 0, "most": 2, "label": "S"},
    "answer": {"cell": "answer", "trace": "law"},
}


@pytest.mark.parametrize(("text", "value"), [("14", 14), ("1,024", 1024), ("-0.5", -0.5), ("−3", -3), ("1e3", 1000)])
def test_number(text: str, value: float) -> None:
    found = prediction(0, cells("number", f"it is {text}\n", **SPAN))
    assert found["truth"] == {"value": value, "text": text.replace("-", "−")}
    assert (found["least"], found["most"], found["unit"]) == (-5, 2000, "pairs")


def test_choice() -> None:
    found = prediction(0, cells("choice", "it is 7\n", choices=CHOICES))
    assert (found["choices"], found["truth"]) == (["few", "many"], 1)


@pytest.mark.parametrize("output", ["one is 1, one is 2\n", "one is 1\nthe next is 2\n"])
def test_bars(output: str) -> None:
    find = r"is (\d).*is (\d)" if "," in output else r"is (\d)"
    asked = {"labels": ["a", "b"], "answer": {"cell": "answer", "find": find}, **SPAN}
    found = prediction(0, cells("bars", output, **asked))
    assert [truth["value"] for truth in found["truth"]] == [1, 2]
    assert found["step"] == 1  # as they are whole numbers


def test_curve_has_points_along_its_axis() -> None:
    found = prediction(0, cells("curve", FIGURE, **CURVE))
    assert found["points"] == pytest.approx(np.geomspace(1, 100, POINTS))
    assert (found["x"]["log"], found["y"]["log"], found["truth"]) == (True, False, 0)


@pytest.mark.parametrize(
    ("notebook", "what"),
    [
        (cells("guess"), "lack or misspell 'guess'"),
        (cells("number", "it is 7"), "lack or misspell 'least'"),
        (cells("number", "it is often", **SPAN), "'often'"),
        (cells("number", "no word", **SPAN), "finds 0 answers"),
        (cells("number", "it is 7, or is 8", **SPAN), "finds 2 answers"),
        (cells("number", "it is 2001", **SPAN), "the answer is 2001, outside of -5 … 2000"),
        (cells("choice", "it is 70", choices=CHOICES), "0 of the choices match"),
        (cells("choice", "it is 7 or is 3", choices=CHOICES), "2 of the choices match"),
        (cells("bars", "it is 7", labels=["a", "b"], **SPAN), "finds 1 numbers for 2 bars"),
        (cells("bars", "a is 7\nb is 8", labels=["b", "a"], **SPAN), "the bar 'b' has the number of the row 'a is 7'"),
        (cells("curve", FIGURE, **{**CURVE, "answer": {"cell": "answer", "trace": "S"}}), "0 traces"),
        (cells("number", "it is 7", hides=["after"], **SPAN), "does not hide 'answer'"),
        (cells("number", "it is 7", hides=["answer", "question"], **SPAN), "'question', which is no later cell"),
        (
            [*cells("number", "it is 7", **SPAN)[:2], {"cell_type": "markdown", "id": "after", "source": "### Seven"}],
            "'after', which has a heading",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(notebook: list[dict[str, Any]], what: str) -> None:
    with pytest.raises(ValueError, match="cell question: ") as refused:
        prediction(0, notebook)
    assert what in str(refused.value)

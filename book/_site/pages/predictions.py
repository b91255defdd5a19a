"""Predictions: what a page asks before it shows something, out of a cell's metadata, and the truth, out of outputs.

The metadata never holds the truth. What does not fit is a ValueError that names the cell.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from tools.notebooks import joined

Cell = dict[str, Any]
PLOTLY = "application/vnd.plotly.v1+json"
POINTS = 17  # of a sketched curve


def output_text(cell: Cell) -> str:
    """Everything that a code cell printed or returned as text."""
    texts = (
        output["text"] if output["output_type"] == "stream" else output.get("data", {}).get("text/plain", "")
        for output in cell["outputs"]
    )
    return "\n".join(map(joined, texts))


def _printed(text: str, asked: dict[str, Any]) -> dict[str, Any]:
    value = float(re.sub(r"[,\s\u202f_]", "", text).replace("−", "-"))
    if not asked["least"] <= value <= asked["most"]:
        raise ValueError(f"the answer is {value:g}, outside of {asked['least']:g} … {asked['most']:g}")
    return {"value": value, "text": text.strip().replace("-", "−")}


def _number(asked: dict[str, Any], cell: Cell) -> dict[str, Any]:
    found = re.findall(asked["answer"]["find"], output_text(cell))
    if len(found) != 1:
        raise ValueError(f"{asked['answer']['find']!r} finds {len(found)} answers instead of one number")
    return {"truth": _printed(found[0], asked)}


def _choice(asked: dict[str, Any], cell: Cell) -> dict[str, Any]:
    right = [place for place, (_, find) in enumerate(asked["choices"]) if re.search(find, output_text(cell))]
    if len(right) != 1:
        raise ValueError(f"{len(right)} of the choices match the output instead of one")
    return {"choices": [shown for shown, _ in asked["choices"]], "truth": right[0]}


def _bars(asked: dict[str, Any], cell: Cell) -> dict[str, Any]:
    labels, printed = asked["labels"], output_text(cell)
    found = list(re.finditer(asked["answer"]["find"], printed))
    texts = [text for match in found for text in match.groups()]
    if len(texts) != len(labels):
        raise ValueError(f"{asked['answer']['find']!r} finds {len(texts)} numbers for {len(labels)} bars")
    for label, match in zip(labels, found, strict=False):  # where one match finds all, its row has no bar's name
        row = printed[: match.end()].rpartition("\n")[2]
        if label not in row and any(row.startswith(other) for other in labels):
            raise ValueError(f"the bar {label!r} has the number of the row {row!r}")
    counts = all(text.strip().isdigit() for text in texts)  # bits, not shares of a bit
    step = 1 if counts else 10 ** math.floor(math.log10((asked["most"] - asked["least"]) / 50))
    return {"labels": labels, "step": step, "truth": [_printed(text, asked) for text in texts]}


def _curve(asked: dict[str, Any], cell: Cell) -> dict[str, Any]:
    """Its truth is the place of a trace in the figure, over which the guess is drawn."""
    [figure] = [output["data"][PLOTLY] for output in cell["outputs"] if PLOTLY in output.get("data", {})]
    names, name = [trace.get("name") for trace in figure["data"]], asked["answer"]["trace"]
    if names.count(name) != 1:
        raise ValueError(f"{names.count(name)} traces of the figure are called {name!r} instead of one")
    trace, layout, axes = figure["data"][names.index(name)], figure["layout"], {}
    for axis in "xy":
        drawn = layout.get(trace.get(f"{axis}axis", axis).replace(axis, f"{axis}axis"), {})
        axes[axis] = {**asked[axis], "log": drawn.get("type") == "log"}
    ruler = np.geomspace if axes["x"]["log"] else np.linspace
    return {
        **axes,
        "points": ruler(asked["x"]["least"], asked["x"]["most"], POINTS).tolist(),
        "truth": names.index(name),
    }


TRUTH = {"number": _number, "choice": _choice, "bars": _bars, "curve": _curve}


def _check_hides(place: int, cells: list[Cell], asked: dict[str, Any]) -> None:
    """What a prediction hides comes after it, has no heading, which the side bar shows, and holds the answer."""
    later = {cell["id"]: cell for cell in cells[place + 1 :]}
    for name in asked["hides"]:
        if name not in later:
            raise ValueError(f"it hides {name!r}, which is no later cell")
        cell = later[name]
        if cell["cell_type"] == "markdown" and re.search(r"^#+ ", joined(cell["source"]), re.MULTILINE):
            raise ValueError(f"it hides {name!r}, which has a heading")
    if asked["answer"]["cell"] not in asked["hides"]:
        raise ValueError(f"it does not hide {asked['answer']['cell']!r}, the cell of its answer")


def prediction(place: int, cells: list[Cell]) -> dict[str, Any]:
    """What the cell at `place` asks, with the truth out of the executed cells; a ValueError says what does not fit."""
    asked = cells[place]["metadata"].get("predict", {})
    try:
        _check_hides(place, cells, asked)
        answering = next(cell for cell in cells if cell["id"] == asked["answer"]["cell"])
        span = {name: asked[name] for name in ("least", "most", "unit") if name in asked}
        return {"kind": asked["kind"], "hides": asked["hides"], **span, **TRUTH[asked["kind"]](asked, answering)}
    except KeyError as missing:
        raise ValueError(f"cell {cells[place]['id']}: its metadata lack or misspell {missing}") from None
    except ValueError as error:
        raise ValueError(f"cell {cells[place]['id']}: {error}") from None

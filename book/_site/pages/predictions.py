"""Predictions: what a page asks before it shows something, out of a cell's metadata, and the truth, out of outputs.

The metadata never holds the truth. What does not fit is a ValueError that names the cell.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

import numpy as np

Cell = dict[str, Any]
PLOTLY = "application/vnd.plotly.v1+json"
POINTS = 17  # of a sketched curve
KINDS = ("number", "choice", "bars", "curve")


def joined(text: str | list[str]) -> str:
    """A notebook's text, which may be stored as a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def output_text(cell: Cell) -> str:
    """Everything that a code cell printed or returned as text."""
    texts = (
        output["text"] if output["output_type"] == "stream" else output.get("data", {}).get("text/plain", "")
        for output in cell["outputs"]
    )
    return "\n".join(map(joined, texts))


def number(text: str) -> float:
    """A printed number: `1,024`, `−0.5`."""
    try:
        return float(re.sub(r"[,\s\u202f_]", "", text).replace("−", "-"))
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None


def _within(value: float, span: dict[str, Any], what: str) -> float:
    if not span["least"] <= value <= span["most"]:
        raise ValueError(f"{what} is {value:g}, outside of {span['least']:g} … {span['most']:g}")
    return value


def _printed(text: str, asked: dict[str, Any]) -> dict[str, Any]:
    value = _within(number(text), asked, "the answer")
    return {"value": value, "text": text.strip().replace("-", "−")}


def _number(asked: dict[str, Any], cell: Cell) -> dict[str, Any]:
    find = asked["answer"]["find"]
    found = [match.groups() for match in re.finditer(find, output_text(cell))]
    if len(found) != 1 or len(found[0]) != 1:
        raise ValueError(f"{find!r} finds {len(found)} answers instead of one number")
    return {"truth": _printed(found[0][0], asked)}


def _choice(asked: dict[str, Any], cell: Cell) -> dict[str, Any]:
    choices, text = asked["choices"], output_text(cell)
    if not 2 <= len(choices) <= 4:
        raise ValueError(f"{len(choices)} choices; two to four are accepted")
    right = [place for place, (_, find) in enumerate(choices) if re.search(find, text)]
    if len(right) != 1:
        raise ValueError(
            f"{len(right)} of the choices match the output instead of one: {[choices[k][0] for k in right]}"
        )
    return {"choices": [shown for shown, _ in choices], "truth": right[0]}


def _bars(asked: dict[str, Any], cell: Cell) -> dict[str, Any]:
    find, labels, printed = asked["answer"]["find"], asked["labels"], output_text(cell)
    found = list(re.finditer(find, printed))
    texts = [text for match in found for text in match.groups()]
    if len(texts) != len(labels):
        raise ValueError(f"{find!r} finds {len(texts)} numbers for {len(labels)} bars")
    for label, match in zip(labels, found, strict=False):  # where one match finds all, its row has no bar's name
        row = printed[: match.end()].rpartition("\n")[2]
        if label not in row and any(row.startswith(other) for other in labels):
            raise ValueError(f"the bar {label!r} has the number of the row {row!r}")
    return {"labels": labels, "truth": [_printed(text, asked) for text in texts]}


def plotly_array(values: Any) -> np.ndarray:
    """A trace's numbers, which Plotly stores as a list or as bytes."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).astype(float)
    return np.asarray(values, dtype=float)


def _figure(cell: Cell) -> dict[str, Any]:
    figures = [output["data"][PLOTLY] for output in cell["outputs"] if PLOTLY in output.get("data", {})]
    if len(figures) != 1:
        raise ValueError(f"the cell of the answer shows {len(figures)} Plotly figures instead of one")
    figure: dict[str, Any] = figures[0]
    return figure


def _is_log(figure: dict[str, Any], trace: dict[str, Any], axis: str) -> bool:
    name = f"{axis}axis" + trace.get(f"{axis}axis", axis)[1:]
    return bool(figure.get("layout", {}).get(name, {}).get("type") == "log")


def _curve(asked: dict[str, Any], cell: Cell) -> dict[str, Any]:
    figure, name = _figure(cell), asked["answer"]["trace"]
    traces = [(place, trace) for place, trace in enumerate(figure["data"]) if trace.get("name") == name]
    if len(traces) != 1:
        raise ValueError(f"{len(traces)} traces of the figure are called {name!r} instead of one")
    place, trace = traces[0]
    log = {axis: _is_log(figure, trace, axis) for axis in "xy"}
    ruler: Callable[..., np.ndarray] = np.geomspace if log["x"] else np.linspace
    x = ruler(asked["x"]["least"], asked["x"]["most"], POINTS)
    ys = plotly_array(trace["y"])
    xs = plotly_array(trace["x"]) if "x" in trace else trace["x0"] + trace["dx"] * np.arange(len(ys))
    near = 1e-9 * np.abs(x).max()
    if xs.min() > x[0] + near or xs.max() < x[-1] - near:
        raise ValueError(f"{name!r} is drawn from {xs.min():g} to {xs.max():g}, not over all of {x[0]:g} … {x[-1]:g}")
    order = np.argsort(xs)
    truth = [_within(float(y), asked["y"], f"{name!r}") for y in np.interp(x, xs[order], ys[order])]
    axes = {axis: {**asked[axis], "log": log[axis]} for axis in "xy"}
    return {**axes, "points": x.tolist(), "truth": truth, "trace": place, "name": name}


TRUTH = {"number": _number, "choice": _choice, "bars": _bars, "curve": _curve}
NEEDED = {
    "number": ("least", "most", "unit"),
    "choice": ("choices",),
    "bars": ("labels", "least", "most", "unit"),
    "curve": ("x", "y"),
}
OF_ANSWER = {"number": "find", "choice": "cell", "bars": "find", "curve": "trace"}


def _check_hides(place: int, cells: list[Cell], hides: list[str], answer: str) -> None:
    """What a prediction hides comes after it, can be hidden, and holds the answer."""
    later = {cell["id"]: cell for cell in cells[place + 1 :]}
    for name in hides:
        if name not in later:
            raise ValueError(f"it hides {name!r}, which is no later cell")
        cell = later[name]
        if cell["cell_type"] == "code" and not cell["outputs"]:
            raise ValueError(f"it hides {name!r}, which has no output")
        if cell["cell_type"] == "markdown" and re.search(r"^#+ ", joined(cell["source"]), re.MULTILINE):
            raise ValueError(f"it hides {name!r}, which has a heading, and headings stand in the side bar")
    if answer not in hides:
        raise ValueError(f"it does not hide {answer!r}, the cell of its answer")


def prediction(place: int, cells: list[Cell]) -> dict[str, Any]:
    """What the cell at `place` asks, with the truth out of the executed cells; a ValueError says what does not fit."""
    cell = cells[place]
    asked = cell["metadata"].get("predict")
    try:
        if asked is None:
            raise ValueError("it is tagged predict, but its metadata asks nothing")
        kind = asked.get("kind")
        if kind not in KINDS:
            raise ValueError(f"it asks for {kind!r}; accepted are {', '.join(KINDS)}")
        missing = [name for name in ("hides", "answer", *NEEDED[kind]) if name not in asked]
        missing += [name for name in ("cell", OF_ANSWER[kind]) if name not in asked.get("answer", {})]
        if missing:
            raise ValueError(f"its metadata lacks {', '.join(dict.fromkeys(missing))}")
        _check_hides(place, cells, asked["hides"], asked["answer"]["cell"])
        answering = next(other for other in cells if other["id"] == asked["answer"]["cell"])
        span = {name: asked[name] for name in ("least", "most", "unit") if name in asked}
        return {"kind": kind, "hides": asked["hides"], **span, **TRUTH[kind](asked, answering)}
    except ValueError as error:
        raise ValueError(f"cell {cell['id']}: {error}") from None

"""Shared by the figures: colours, frames, titles and checks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from posenc._arrays import describe

PALETTE = json.loads((files("posenc") / "js" / "palette.json").read_text(encoding="utf-8"))


def pair_colours(pairs: int) -> list[str]:
    """One colour per pair, from warm for the fastest to cold for the slowest."""
    return sample_colorscale(PALETTE["pairs"], np.linspace(0, 1, pairs) if pairs > 1 else [0.0])


def _at(distances: Sequence[int]) -> dict:
    """The x of a trace; consecutive distances as start and step, which makes pages smaller."""
    distances = np.asarray(distances)
    consecutive = len(distances) > 1 and bool(np.all(np.diff(distances) == 1))
    return {"x0": int(distances[0]), "dx": 1} if consecutive else {"x": distances}


def _drawn(values: np.ndarray) -> np.ndarray:
    """Values rounded to 1/4096, less than a tenth of a pixel, which halves what a page transfers."""
    return np.float32(np.round(values * 4096) / 4096)


def _finish(figure: go.Figure, finding: str, details: str, height: int = 420) -> go.Figure:
    """The finding as title, broken into lines; finding and details as alternative text; and what all figures share."""
    lines = wrap(finding, 75, break_on_hyphens=False)
    return figure.update_layout(
        title={"text": "<br>".join(lines), "x": 0, "xref": "paper", "font": {"size": 16}},
        meta={"alt": f"{finding}. {details}"},
        height=height + 20 * (len(lines) - 1),
        margin={"l": 60, "r": 20, "t": 55 + 20 * len(lines), "b": 55},
        # a legend is placed in heights of the plot: as far below a tall one as below a low one
        legend={"orientation": "h", "y": -60 / (height - 130), "x": 0},
        template="plotly_white",
    )


def _some(name: str, values: Sequence | Mapping) -> Sequence | Mapping:
    """`values`, after checking that they are not empty."""
    if not len(values):
        raise ValueError(f"{name} must hold at least one, got {describe(values)}")
    return values


def _above(name: str, value: float, limit: float) -> None:
    """Checks that `value` is greater than `limit`."""
    if not value > limit:
        raise ValueError(f"{name} must be greater than {limit}, got {describe(value)}")


def _style(k: int, **line: float) -> dict:
    """Line k of several: four colours, then the same dashed, dotted and both."""
    colours, dashes = ("score", "bound", "neutral", "position"), ("solid", "dash", "dot", "dashdot")
    return {"color": PALETTE[colours[k % 4]], "dash": dashes[k // 4 % 4], "width": 2, **line}


def _faded(colour: str, opacity: float) -> str:
    """A colour of the palette with an opacity."""
    return "rgba({}, {}, {}, {})".format(*(int(colour[k : k + 2], 16) for k in (1, 3, 5)), opacity)


def _colour_scale(low: float, high: float) -> dict:
    """The colour scale of heat maps from `low` to `high`; with both signs, 0 is transparent."""
    positive = [[0.5 if low < 0 else 0, _faded(PALETTE["score"], 0)], [1, PALETTE["score"]]]
    negative = [[0, PALETTE["bound"]], [0.5, _faded(PALETTE["bound"], 0)]] if low < 0 else []
    return {"colorscale": negative + positive, "cmin": low, "cmax": high, "colorbar": {"thickness": 10}}


def _numbers_on(figure: go.Figure, shape: tuple[int, int], text: Sequence[str], **trace: object) -> None:
    """Numbers over a heat map, row by row, in a colour that fits dark pages, too."""
    rows, columns = np.indices(shape).reshape(2, -1)
    figure.add_scatter(x=columns, y=rows, text=text, mode="text", hoverinfo="skip", **trace)


def _heat_maps(
    tables: Mapping[str, np.ndarray], columns: int, low: float, high: float, square: bool = True, **traces: object
) -> go.Figure:
    """Tables as panels on one colour scale, first row on top; with both signs, 0 is transparent.

    All have the same rows, named at the left only. `square` cells are for axes with the same units.
    """
    rows = -(-len(tables) // columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=list(tables),
        horizontal_spacing=0.28 / (columns + 1),
        vertical_spacing=0.3 / (rows + 1),
    )
    for k, table in enumerate(tables.values()):
        figure.add_heatmap(z=table, coloraxis="coloraxis", row=k // columns + 1, col=k % columns + 1, **traces)
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False)
    figure.update_xaxes(showgrid=False, zeroline=False)
    for column in range(2, columns + 1):
        figure.update_yaxes(showticklabels=False, col=column)
    if square:
        _keep_shape(figure)
    figure.update_annotations(font_size=12)
    return figure.update_layout(coloraxis=_colour_scale(low, high))


def _keep_shape(figure: go.Figure) -> None:
    """Equal units on both axes of every panel, aligned below its title."""
    figure.update_xaxes(constrain="domain")
    for up in figure.select_yaxes():
        up.update(scaleanchor=up.anchor, constrain="domain", constraintoward="top")


def _planes(titles: Sequence[str], reach: float, across: str, up: str) -> go.Figure:
    """Square panels, two per row, from −reach to reach on both axes."""
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    filled = [
        [{} if row * columns + column < len(titles) else None for column in range(columns)] for row in range(rows)
    ]
    spacing = {"horizontal_spacing": 0.1, "vertical_spacing": 0.16 / rows}
    figure = make_subplots(rows, columns, specs=filled, subplot_titles=list(titles), **spacing)
    figure.update_xaxes(range=[-reach, reach])
    figure.update_yaxes(range=[-reach, reach])
    _keep_shape(figure)
    figure.update_xaxes(title_text=across, row=rows)
    figure.update_yaxes(title_text=up, col=1)
    return figure.update_annotations(font_size=12)


def _arrow(figure: go.Figure, panel: int, tip: np.ndarray, name: str, first: bool, **line: object) -> None:
    """An arrow from the origin of a panel, named once in the legend."""
    figure.add_scatter(
        x=_drawn(np.array([0, tip[0]])),
        y=_drawn(np.array([0, tip[1]])),
        mode="lines+markers",
        line=line,
        marker={"symbol": "arrow", "angleref": "previous", "size": [0, 11], "opacity": 1, "line": {"width": 0}}
        | {"color": line["color"]},
        name=name,
        showlegend=first,
        row=panel // 2 + 1,
        col=panel % 2 + 1,
    )

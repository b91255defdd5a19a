"""The codes before the sinusoids, and the wishes that they keep or break (chapter 03)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc.absolute import normalised
from posenc.analysis import (
    translation_residual,
)
from posenc.figures._drawing import PALETTE, _above, _at, _drawn, _heat_maps, _number, _some, _tell
from posenc.frequencies import angles


def step_sizes(lengths: Sequence[int]) -> go.Figure:
    """Positions divided by the length of the text, one ruler a length, with the first step marked."""
    if min(_some("lengths", lengths)) < 2:
        raise ValueError(f"lengths must all be at least 2, so that there is a step, got {list(lengths)}")
    figure, steps = go.Figure(), []
    for row, length in enumerate(lengths):
        code = normalised(np.arange(length), length, 1)[:, 0]
        steps.append(code[1] - code[0])
        ruler = {"symbol": "line-ns-open", "size": 14, "color": PALETTE["neutral"], "line": {"width": 2}}
        figure.add_scatter(x=_drawn(code), y=[row] * length, mode="markers", marker=ruler, name=f"{length} tokens")
        line = {"color": PALETTE["score"], "width": 5}
        figure.add_scatter(x=_drawn(code[:2]), y=[row, row], mode="lines", line=line, name="one step")
        label = {"text": f"one step: {steps[-1]:.3f}", "showarrow": False, "xanchor": "left", "yshift": 19}
        figure.add_annotation(x=0, y=row, **label)
    figure.update_traces(showlegend=False)
    figure.update_xaxes(title_text="code t/L (share of the text)", range=[-0.02, 1.02])
    figure.update_yaxes(
        title_text="length of the text (tokens)",
        tickvals=list(range(len(lengths))),
        ticktext=[_number(length) for length in lengths],
        range=[len(lengths) - 0.6, -0.7],
        showgrid=False,
        zeroline=False,
    )
    short, long = int(np.argmin(lengths)), int(np.argmax(lengths))
    finding = (
        f"The same step to the next word is {steps[short]:.3f} in a text of {_number(lengths[short])} tokens "
        f"and {steps[long]:.3f} in one of {_number(lengths[long])}"
    )
    every = ", ".join(f"{step:.3f} for {length}" for length, step in zip(lengths, steps, strict=True))
    return _tell(figure, finding, f"Steps of the code t/L: {every} tokens.", height=160 + 60 * len(lengths))


CELLS = 10_000  # a heat map of more keeps 256 levels of colour; one of more than ten times as many leaves pairs out


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{_number(count)} times")


def code_tables(codes: Mapping[str, np.ndarray]) -> go.Figure:
    """Codes as heat maps side by side, positions down and dimensions across, each of shape (length, dim).

    Panels of more than `CELLS` numbers are stored as 256 levels of colour, and from ten times as many on only every
    second (third, …) pair of dimensions is drawn: pairs next to each other look alike. No position is left out, for
    that would make other waves of the fast ones.
    """
    tables = {name: np.asarray(code, dtype=float) for name, code in _some("codes", codes).items()}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or 0 in shape or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(f"codes must all have shape (length, dim) with one length, got shapes {shapes}")
    top = max(np.abs(table).max() for table in tables.values())
    least = -top if min(table.min() for table in tables.values()) < 0 else 0.0
    levels = max(table.size for table in tables.values()) > CELLS
    shown, findings = {}, []
    for name, table in tables.items():
        every = -(-table.size // (10 * CELLS))
        columns = np.flatnonzero(np.arange(table.shape[1]) // 2 % every == 0)
        scaled = (table[:, columns] - least) / ((top - least) or 1)
        shown[name] = (columns, np.uint8(np.round(scaled * 255)) if levels else _drawn(table[:, columns]))
        above = table > (table.max() + table.min()) / 2
        sides = np.count_nonzero(above[1:] != above[:-1], axis=0)  # how often each column changes sides
        findings.append((name, sides[0], sides[-1], len(np.unique(table, axis=0))))
    figure = _heat_maps({name: z for name, (_, z) in shown.items()}, len(shown), least, top)
    for trace, (columns, _) in zip(figure.data, shown.values(), strict=True):
        trace.x = np.int16(columns)
        trace.hovertemplate = "position %{y}, dimension %{x}" + ": %{z:.3f}" * (not levels) + "<extra></extra>"
    if levels:
        ticks = {"tickvals": [0, 127.5, 255], "ticktext": [_number(v, 1) for v in (least, (least + top) / 2, top)]}
        figure.update_layout(coloraxis={"cmin": 0, "cmax": 255, "colorbar": ticks})
    figure.update_xaxes(title_text="dimension")
    if max(len(columns) for columns, _ in shown.values()) <= 8:
        figure.update_xaxes(dtick=1)  # else ticks stand between two dimensions
    figure.update_yaxes(title_text="position (tokens)", col=1)
    length = shapes[0][0]
    ends = [f"{_times(fast)} and the last {_times(slow)}" for _, fast, slow, _ in findings]
    if len(findings) > 1:
        ends = [f"{end} in {name}" for end, (name, *_) in zip(ends, findings, strict=True)]
    finding = f"Over {_number(length)} positions the first column changes sides {'; '.join(ends)}"
    rows = ", ".join(f"{_number(different)} in {name}" for name, _, _, different in findings)
    details = f"The sides are above and below the middle of a panel's values. Different rows: {rows}."
    return _tell(figure, finding, details, height=640 if length > 128 else 420)


def distance_maps(codes: Mapping[str, np.ndarray], title: str | None = None) -> go.Figure:
    """How different the codes of every two positions are, one map a code, divided by its greatest distance.

    Each code has shape (length, dim). Where equal distances look equal, a map has one colour along each diagonal. The
    finding is the title; with a title given, readers judge for themselves and only the alternative text tells it.
    """
    tables = {name: np.asarray(code, dtype=float) for name, code in _some("codes", codes).items()}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or shape[0] < 3 or shape[0] != shapes[0][0] or 0 in shape for shape in shapes):
        raise ValueError(f"codes must all have shape (length, dim) with one length of 3 or more, got shapes {shapes}")
    maps, equal, varying = {}, [], []
    for name, table in tables.items():
        apart = np.linalg.norm(table[:, None] - table, axis=-1)  # (length, length)
        maps[name] = _drawn(apart / (apart.max() or 1))
        spread = float(translation_residual(table))
        if spread < 1e-9:
            equal.append(name)
        else:
            varying.append(f"in {name} they vary by {spread:.0%}")
    columns = min(2, len(maps))
    rows = -(-len(maps) // columns)
    figure = _heat_maps(maps, columns, 0.0, 1.0, hovertemplate="%{y} and %{x}: %{z:.2f}<extra></extra>")
    figure.update_layout(coloraxis_colorbar={"tickvals": [0, 0.5, 1], "ticktext": ["0", "½", "greatest"]})
    figure.update_xaxes(title_text="position s", row=rows)
    figure.update_yaxes(title_text="position t (tokens)", col=1)
    finding = "; ".join(([f"Equal distances look equal in {' and '.join(equal)}"] if equal else []) + varying)
    details = f"Maps of {_number(shapes[0][0])} positions; the spread of a distance is a share of its mean."
    finding = finding[0].upper() + finding[1:]
    if title is not None:
        finding, details = title, f"{finding}. {details}"
    return _tell(figure, finding, details, height=100 + 290 * rows)


def wave_and_dial(speed: float, steps: int) -> go.Figure:
    """A hand that turns at a speed in radians a token, and its sine: the longest and the shortest step of the sine.

    The steps begin at position 0. The hand's own steps are all the same.
    """
    _above("speed", speed, 0)
    _above("steps", steps, 1)
    at = np.arange(steps + 1)
    across, up = np.cos(speed * at), np.sin(speed * at)
    rises = np.abs(np.diff(up))
    chord = np.hypot(across[1] - across[0], up[1] - up[0])
    figure = make_subplots(
        1,
        2,
        shared_yaxes=True,
        column_widths=[0.4, 0.6],
        horizontal_spacing=0.04,
        subplot_titles=("the hand", "its shadow, the sine"),
    )
    smooth = np.linspace(0, 2 * np.pi, 121)
    thin = {"mode": "lines", "showlegend": False, "hoverinfo": "skip"}
    grey = {"color": PALETTE["neutral"], "width": 1}
    figure.add_scatter(x=_drawn(np.cos(smooth)), y=_drawn(np.sin(smooth)), name="turn", line=grey, **thin, row=1, col=1)
    fine = np.linspace(0, steps, 30 * steps + 1)
    figure.add_scatter(x=_drawn(fine), y=_drawn(np.sin(speed * fine)), name="wave", line=grey, **thin, row=1, col=2)
    dots = {"mode": "markers", "showlegend": False, "marker": {"color": PALETTE["position"], "size": 7}}
    for column, x in ((1, across), (2, at)):
        name = ("hand", "sine")[column - 1]
        hover = "position %{customdata}<extra></extra>"
        figure.add_scatter(
            x=_drawn(x), y=_drawn(up), customdata=at, hovertemplate=hover, name=name, **dots, row=1, col=column
        )
    for name, k, colour in (("longest", rises.argmax(), "score"), ("shortest", rises.argmin(), "bound")):
        line = {"color": PALETTE[colour], "width": 5}
        figure.add_scatter(
            x=_drawn(across[k : k + 2]),
            y=_drawn(up[k : k + 2]),
            mode="lines",
            line=line,
            name="step",
            showlegend=False,
            row=1,
            col=1,
        )
        label = f"{name} step of the sine, {k} to {k + 1}: {rises[k]:.2f}"
        run = {"color": PALETTE[colour], "width": 2, "dash": "dot"}
        figure.add_scatter(x=[k, k + 1], y=_drawn(up[[k, k]]), line=run, name="run", **thin, row=1, col=2)
        figure.add_scatter(x=[k + 1, k + 1], y=_drawn(up[k : k + 2]), mode="lines", line=line, name=label, row=1, col=2)
    figure.update_yaxes(range=[-1.2, 1.2], tickvals=[-1, 0, 1])
    figure.update_yaxes(title_text="sine", scaleanchor="x", constrain="domain", row=1, col=1)
    figure.update_xaxes(title_text="cosine", range=[-1.2, 1.2], tickvals=[-1, 0, 1], constrain="domain", row=1, col=1)
    figure.update_xaxes(title_text="position (tokens)", row=1, col=2)
    figure.update_annotations(font_size=12)
    finding = (
        f"Every step of the hand is {chord:.2f} long; the steps of its shadow run from "
        f"{rises.min():.2f} to {rises.max():.2f}"
    )
    return _tell(figure, finding, f"The hand turns by {speed:g} radians a token; {_number(steps)} steps are drawn.")


def returns(speeds: Mapping[str, Sequence[float]], reach: int) -> go.Figure:
    """How far the code of each position is from that of position 0, for dials of several lists of speeds.

    A list of speeds, in radians a token, is the code of their sines and cosines. Distances are divided by the root of
    the number of dials. The nearest position that is not 0 is marked.
    """
    _above("reach", reach, 1)
    lists = {name: np.asarray(values, dtype=float) for name, values in _some("speeds", speeds).items()}
    if any(values.ndim != 1 or not len(values) for values in lists.values()):
        raise ValueError(f"speeds must all be lists of one number or more, got {dict(speeds)}")
    figure = make_subplots(
        len(lists),
        1,
        shared_xaxes=True,
        vertical_spacing=0.24 / len(lists),
        subplot_titles=list(lists),
    )
    at, found, told = np.arange(reach + 1), [], []
    for row, (name, values) in enumerate(lists.items(), 1):
        apart = np.sqrt(np.mean(2 - 2 * np.cos(angles(at, values)), axis=-1))
        nearest = 1 + int(apart[1:].argmin())
        found.append(f"{_number(nearest)} ({name})")
        told.append(f"{apart[nearest]:.4f} ({name})")
        line, dot = {"color": PALETTE["score"], "width": 1}, {"color": PALETTE["position"], "size": 9}
        figure.add_scatter(**_at(at), y=_drawn(apart), line=line, name=name, mode="lines", row=row, col=1)
        figure.add_scatter(
            x=[nearest], y=_drawn(apart[[nearest]]), marker=dot, mode="markers", name="nearest", row=row, col=1
        )
    figure.update_traces(showlegend=False)
    figure.update_yaxes(range=[-0.15, 2.1], tickvals=[0, 1, 2])
    figure.update_yaxes(title_text="distance / √dials", row=(len(lists) + 1) // 2)
    figure.update_xaxes(title_text="position (tokens)", row=len(lists))
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    finding = f"Of the next {_number(reach)} positions, the one with the nearest code: {', '.join(found)}"
    return _tell(figure, finding, f"How near, divided by the root of the number of dials: {', '.join(told)}.",
                 height=130 + 130 * len(lists))  # fmt: skip

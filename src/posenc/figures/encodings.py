"""Tables of encodings, and distances between their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from posenc._numbers import number, percent, significant
from posenc.absolute import normalised
from posenc.analysis import translation_residual
from posenc.figures._drawing import PALETTE, _drawn, _finish, _heat_maps, _some


def step_sizes(lengths: Sequence[int]) -> go.Figure:
    """Normalised positions: one ruler per length, with the first step marked."""
    if min(_some("lengths", lengths)) < 2:
        raise ValueError(f"lengths must all be at least 2, so that there is a step, got {list(lengths)}")
    figure, steps = go.Figure(), []
    for row, length in enumerate(lengths):
        positions = normalised(np.arange(length), length, 1)[:, 0]
        steps.append(positions[1] - positions[0])
        ruler = {"symbol": "line-ns-open", "size": 14, "color": PALETTE["neutral"], "line": {"width": 2}}
        name = f"{length} tokens"
        figure.add_scatter(x=_drawn(positions), y=[row] * length, mode="markers", marker=ruler, name=name)
        line = {"color": PALETTE["score"], "width": 5}
        figure.add_scatter(x=_drawn(positions[:2]), y=[row, row], mode="lines", line=line, name="one step")
        label = {"text": f"one step: {steps[-1]:.3f}", "showarrow": False, "xanchor": "left", "yshift": 19}
        figure.add_annotation(x=0, y=row, **label)
    figure.update_traces(showlegend=False)
    figure.update_xaxes(title_text="normalised position m/N", range=[-0.02, 1.02])
    figure.update_yaxes(
        title_text="sequence length (tokens)",
        tickvals=list(range(len(lengths))),
        ticktext=[number(length) for length in lengths],
        range=[len(lengths) - 0.6, -0.7],
        showgrid=False,
        zeroline=False,
    )
    every = sorted(zip(lengths, steps, strict=True))
    (short, large), (long, small) = every[0], every[-1]
    finding = f"One step is {large:.3f} in {number(short)} tokens and {small:.3f} in {number(long)} tokens"
    details = ", ".join(f"{step:.3f} for {number(length)}" for length, step in every)
    return _finish(figure, finding, f"Steps of m/N: {details} tokens.", height=160 + 60 * len(lengths))


CELLS = 10_000  # a heat map of more keeps 256 levels of colour; one of more than ten times as many leaves pairs out


def encoding_tables(codes: Mapping[str, np.ndarray]) -> go.Figure:
    """Encodings as heat maps side by side, positions down and dimensions across, each of shape (length, dim).

    Panels of more than `CELLS` numbers are stored as 256 levels, and from ten times as many on with every second
    (third, …) dimension pair only. Positions are never dropped, which would alias fast pairs.
    """
    tables = {name: np.asarray(code, dtype=float) for name, code in _some("codes", codes).items()}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or 0 in shape or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(f"codes must all have shape (length, dim) with one length, got shapes {shapes}")
    top = max(np.abs(table).max() for table in tables.values())
    low = -top if min(table.min() for table in tables.values()) < 0 else 0.0
    levels = max(table.size for table in tables.values()) > CELLS
    shown, crossings, distinct = {}, [], []
    for name, table in tables.items():
        every = -(-table.size // (10 * CELLS))
        columns = np.flatnonzero(np.arange(table.shape[1]) // 2 % every == 0)
        scaled = (table[:, columns] - low) / ((top - low) or 1)
        shown[name] = (columns, np.uint8(np.round(scaled * 255)) if levels else _drawn(table[:, columns]))
        above = table > (table.max() + table.min()) / 2
        crossed = np.count_nonzero(above[1:] != above[:-1], axis=0)  # (dim,)
        first, last = ({0: "never", 1: "once"}.get(count, f"{count} times") for count in (crossed[0], crossed[-1]))
        crossings.append(f"{first} and the last {last}" + f" ({name})" * (len(tables) > 1))
        distinct.append(f"{len(np.unique(table, axis=0))} ({name})")
    figure = _heat_maps({name: z for name, (_, z) in shown.items()}, len(shown), low, top, square=False)
    for trace, (columns, _) in zip(figure.data, shown.values(), strict=True):
        trace.x = np.int16(columns)
        trace.hovertemplate = f"position %{{y}}, dimension %{{x}}{'' if levels else ': %{z:.3f}'}<extra></extra>"
    values = np.unique(np.concatenate([table.ravel() for table in tables.values()]))
    if not levels and len(values) == 2 and values[0] == low:  # two values are two colours, with none between
        (_, first), *_, (_, last) = figure.layout.coloraxis.colorscale
        quarters = low + (top - low) * np.array([0.25, 0.75])  # the middles of the two
        ticks = {"tickvals": quarters, "ticktext": [significant(value) for value in values]}
        scale = [[0, first], [0.5, first], [0.5, last], [1, last]]
        figure.update_layout(coloraxis={"colorscale": scale, "colorbar": ticks})
    elif levels:
        ticks = {"tickvals": [0, 127.5, 255], "ticktext": [number(v, 1) for v in (low, (low + top) / 2, top)]}
        figure.update_layout(coloraxis={"cmin": 0, "cmax": 255, "colorbar": ticks})
    figure.update_xaxes(title_text="dimension")
    if max(len(columns) for columns, _ in shown.values()) <= 8:
        figure.update_xaxes(dtick=1)  # else ticks stand between two dimensions
    figure.update_yaxes(title_text="position (tokens)", col=1)
    length = shapes[0][0]
    finding = f"Over {number(length)} positions the first column crosses mid-range {'; '.join(crossings)}"
    details = f"Mid-range is the middle of a panel's values. Distinct rows: {', '.join(distinct)}."
    return _finish(figure, finding, details, height=640 if length > 128 else 420)


def distance_maps(codes: Mapping[str, np.ndarray], title: str | None = None) -> go.Figure:
    """Distances between the encodings of every two positions, one map each, divided by its maximum.

    Each encoding has shape (length, dim). A translation-invariant one has one colour per diagonal. With a `title`, only
    the alternative text has the finding.
    """
    tables = {name: np.asarray(code, dtype=float) for name, code in _some("codes", codes).items()}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or shape[0] < 3 or shape[0] != shapes[0][0] or 0 in shape for shape in shapes):
        raise ValueError(f"codes must all have shape (length, dim) with one length of 3 or more, got shapes {shapes}")
    maps, variations = {}, {}
    for name, table in tables.items():
        distances = np.linalg.norm(table[:, None] - table, axis=-1)  # (length, length)
        maps[name] = _drawn(distances / (distances.max() or 1))
        variations[name] = float(translation_residual(table))
    columns = min(2, len(maps))
    rows = -(-len(maps) // columns)
    figure = _heat_maps(maps, columns, 0.0, 1.0, hovertemplate="%{y} and %{x}: %{z:.2f}<extra></extra>")
    figure.update_layout(coloraxis_colorbar={"tickvals": [0, 0.5, 1], "ticktext": ["0", "½", "max"]})
    figure.update_xaxes(title_text="position n", row=rows)
    figure.update_yaxes(title_text="position m (tokens)", col=1)
    invariant = [name for name, variation in variations.items() if variation < 1e-9]
    varying = [f"{percent(variation)} ({name})" for name, variation in variations.items() if variation >= 1e-9]
    parts = [f"exact for {' and '.join(invariant)}"] * bool(invariant)
    parts += [f"distances at one offset vary by {', '.join(varying)}"] * bool(varying)
    finding = f"Translation invariance: {'; '.join(parts)}"
    details = f"Maps of {shapes[0][0]} positions, each over its maximum; variation is the coefficient of variation."
    if title is not None:
        finding, details = title, f"{finding}. {details}"
    return _finish(figure, finding, details, height=100 + 290 * rows)

"""Tables of encodings, and distances between their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from posenc._numbers import significant
from posenc.absolute import normalised
from posenc.analysis import (
    translation_residual,
)
from posenc.figures._drawing import (
    PALETTE,
    _above,
    _drawn,
    _each,
    _heat_maps,
    _number,
    _say,
    _some,
    _style,
    _tell,
    _title,
)


def step_sizes(lengths: Sequence[int]) -> go.Figure:
    """Normalised positions: one ruler per length, with the first step marked."""
    if min(_some("lengths", lengths)) < 2:
        raise ValueError(f"lengths must all be at least 2, so that there is a step, got {list(lengths)}")
    figure, steps = go.Figure(), []
    for row, length in enumerate(lengths):
        code = normalised(np.arange(length), length, 1)[:, 0]
        steps.append(code[1] - code[0])
        ruler = {"symbol": "line-ns-open", "size": 14, "color": PALETTE["neutral"], "line": {"width": 2}}
        name = _say("step_sizes.ruler", length=length)
        figure.add_scatter(x=_drawn(code), y=[row] * length, mode="markers", marker=ruler, name=name)
        line = {"color": PALETTE["score"], "width": 5}
        figure.add_scatter(x=_drawn(code[:2]), y=[row, row], mode="lines", line=line, name=_say("step_sizes.step"))
        label = {"text": _say("step_sizes.label", step=steps[-1]), "showarrow": False, "xanchor": "left", "yshift": 19}
        figure.add_annotation(x=0, y=row, **label)
    figure.update_traces(showlegend=False)
    figure.update_xaxes(title_text=_say("step_sizes.across"), range=[-0.02, 1.02])
    figure.update_yaxes(
        title_text=_say("axes.length"),
        tickvals=list(range(len(lengths))),
        ticktext=[_number(length) for length in lengths],
        range=[len(lengths) - 0.6, -0.7],
        showgrid=False,
        zeroline=False,
    )
    short, long = int(np.argmin(lengths)), int(np.argmax(lengths))
    ends = {"short": lengths[short], "step": steps[short], "long": lengths[long], "last_step": steps[long]}
    texts = _each(length=lengths, step=steps)
    return _tell(figure, "step_sizes", height=160 + 60 * len(lengths), texts=texts, **ends)


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
    least = -top if min(table.min() for table in tables.values()) < 0 else 0.0
    levels = max(table.size for table in tables.values()) > CELLS
    shown, told = {}, []
    for name, table in tables.items():
        every = -(-table.size // (10 * CELLS))
        columns = np.flatnonzero(np.arange(table.shape[1]) // 2 % every == 0)
        scaled = (table[:, columns] - least) / ((top - least) or 1)
        shown[name] = (columns, np.uint8(np.round(scaled * 255)) if levels else _drawn(table[:, columns]))
        above = table > (table.max() + table.min()) / 2
        sides = np.count_nonzero(above[1:] != above[:-1], axis=0)  # how often each column changes sides
        different = len(np.unique(table, axis=0))
        told.append({"name": name, "fast": sides[0], "slow": sides[-1], "different": different})
    figure = _heat_maps({name: z for name, (_, z) in shown.items()}, len(shown), least, top, square=False)
    for trace, (columns, _) in zip(figure.data, shown.values(), strict=True):
        trace.x = np.int16(columns)
        value = "" if levels else "%{z:.3f}"
        trace.hovertemplate = _say("encoding_tables.hover", position="%{y}", dimension="%{x}", value=value)
    values = np.unique(np.concatenate([table.ravel() for table in tables.values()]))
    if not levels and len(values) == 2 and values[0] == least:  # two values are two colours, with none between
        (_, low), *_, (_, high) = figure.layout.coloraxis.colorscale
        quarters = least + (top - least) * np.array([0.25, 0.75])  # the middles of the two
        ticks = {"tickvals": quarters, "ticktext": [significant(value) for value in values]}
        scale = [[0, low], [0.5, low], [0.5, high], [1, high]]
        figure.update_layout(coloraxis={"colorscale": scale, "colorbar": ticks})
    elif levels:
        ticks = {"tickvals": [0, 127.5, 255], "ticktext": [_number(v, 1) for v in (least, (least + top) / 2, top)]}
        figure.update_layout(coloraxis={"cmin": 0, "cmax": 255, "colorbar": ticks})
    figure.update_xaxes(title_text=_say("encoding_tables.across"))
    if max(len(columns) for columns, _ in shown.values()) <= 8:
        figure.update_xaxes(dtick=1)  # else ticks stand between two dimensions
    figure.update_yaxes(title_text=_say("axes.position"), col=1)
    length = shapes[0][0]
    facts = {"length": length, "codes": told, "count": len(told)}
    return _tell(figure, "encoding_tables", height=640 if length > 128 else 420, **facts)


def distance_maps(codes: Mapping[str, np.ndarray], title: str | None = None) -> go.Figure:
    """Distances between the encodings of every two positions, one map each, divided by its maximum.

    Each encoding has shape (length, dim). A translation-invariant one has one colour per diagonal. With a `title`, only
    the alternative text has the finding.
    """
    tables = {name: np.asarray(code, dtype=float) for name, code in _some("codes", codes).items()}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or shape[0] < 3 or shape[0] != shapes[0][0] or 0 in shape for shape in shapes):
        raise ValueError(f"codes must all have shape (length, dim) with one length of 3 or more, got shapes {shapes}")
    maps, spreads = {}, {}
    for name, table in tables.items():
        apart = np.linalg.norm(table[:, None] - table, axis=-1)  # (length, length)
        maps[name] = _drawn(apart / (apart.max() or 1))
        spreads[name] = float(translation_residual(table))
    columns = min(2, len(maps))
    rows = -(-len(maps) // columns)
    hover = _say("distance_maps.hover", one="%{y}", other="%{x}", distance="%{z:.2f}")
    figure = _heat_maps(maps, columns, 0.0, 1.0, hovertemplate=hover)
    ticks = {"tickvals": [0, 0.5, 1], "ticktext": ["0", "½", _say("distance_maps.greatest")]}
    figure.update_layout(coloraxis_colorbar=ticks)
    figure.update_xaxes(title_text=_say("distance_maps.across"), row=rows)
    figure.update_yaxes(title_text=_say("distance_maps.up"), col=1)
    equal = _each(name=[name for name, spread in spreads.items() if spread < 1e-9])
    varying = [{"name": name, "spread": spread} for name, spread in spreads.items() if spread >= 1e-9]
    finding = _say("distance_maps.finding", equal=equal, varying=varying)
    details = _say("distance_maps.details", length=shapes[0][0])
    finding = finding[0].upper() + finding[1:]
    if title is not None:
        finding, details = title, _say("alternative.text", finding=finding, details=details)
    return _title(figure, finding, details, height=100 + 290 * rows)


def similarity_by_distance(frequencies: Mapping[str, Sequence[float]], reach: int) -> go.Figure:
    """Cosine similarity of encodings against distance: the mean of cos(Δθ) over a list of frequencies θ.

    Distances from 1 to `reach`, a power of ten, on a logarithmic axis. Each point is a mean over one of twelve
    intervals per decade, so that curves show the trend without ripples. The title has means over decades.
    """
    lists = {name: np.asarray(values, dtype=float) for name, values in _some("frequencies", frequencies).items()}
    if any(values.ndim != 1 or not len(values) for values in lists.values()):
        raise ValueError(f"frequencies must all be lists of one number or more, got {dict(frequencies)}")
    _above("reach", reach, 9)
    tens = round(np.log10(reach))
    if reach != 10**tens:
        raise ValueError(f"reach must be a power of ten, got {reach}")
    at = np.arange(1, reach + 1)
    edges = np.unique(np.round(np.geomspace(1, reach, 12 * tens + 1)).astype(int))  # the first of each stretch
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1))  # of the first and the last distance of each
    starts = [10**ten for ten in range(tens)]
    figure, told = go.Figure(), []
    for k, (name, values) in enumerate(lists.items()):
        alike = np.zeros(reach)
        for speed in values:
            alike += np.cos(at * speed) / len(values)
        means = np.add.reduceat(alike[:-1], edges[:-1] - 1) / np.diff(edges)
        falls = [alike[start - 1 : 10 * start - 1].mean() for start in starts]
        figure.add_scatter(x=_drawn(middles), y=_drawn(means), mode="lines", name=name, line=_style(k))
        told.append({"name": name, "falls": _each(value=falls)})
    figure.update_xaxes(type="log", title_text=_say("similarity_by_distance.across"))
    figure.update_yaxes(title_text=_say("similarity_by_distance.up"))
    return _tell(figure, "similarity_by_distance", height=460, starts=_each(start=starts), codes=told)

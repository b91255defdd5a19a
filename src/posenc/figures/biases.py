"""Biases on the scores (chapter 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from posenc.figures._drawing import PALETTE, _at, _drawn, _each, _heat_maps, _say, _some, _style, _tell


def biases_by_distance(distances: Sequence[int], biases: Mapping[str, Sequence[float]]) -> go.Figure:
    """What each bias adds to a logit at each distance, less what it adds at the first of them."""
    distances = np.asarray(_some("distances", distances))
    figure, told = go.Figure(), []
    for k, (name, bias) in enumerate(_some("biases", biases).items()):
        values = np.asarray(bias, dtype=float)
        if values.shape != distances.shape or not np.isfinite(values).all():
            raise ValueError(f"biases[{name!r}] must be {len(distances)} finite numbers, got shape {values.shape}")
        fall = values - values[0]
        told.append(fall[-1])
        figure.add_scatter(**_at(distances), y=_drawn(fall), mode="lines", name=name, line=_style(k))
    figure.update_xaxes(title_text=_say("axes.query_minus_key"))
    figure.update_yaxes(title_text=_say("biases_by_distance.up"))
    changes = _each(name=biases, change=told)
    return _tell(figure, "biases_by_distance", first=distances[0], last=distances[-1], changes=changes)


def learned_biases(distances: Sequence[int], heads: np.ndarray) -> go.Figure:
    """A learned bias of every head against distance; from the dotted line on each head has one number for all.

    `heads` has shape (heads, distances). Distance 0 has no place on the axis of logarithms and is not drawn.
    """
    distances, heads = np.asarray(_some("distances", distances)), np.asarray(heads, dtype=float)
    if heads.ndim != 2 or heads.shape[1] != len(distances) or not len(heads) or not np.isfinite(heads).all():
        raise ValueError(f"heads must be finite, shape (heads, {len(distances)}), got shape {heads.shape}")
    away = distances > 0
    moves = np.flatnonzero(np.any(heads[:, 1:] != heads[:, :-1], axis=0))
    level = distances[moves[-1] + 1] if len(moves) else distances[0]
    figure, peaks = go.Figure(), []
    for k, head in enumerate(heads):
        peaks.append(distances[head.argmax()])
        name = _say("learned_biases.head", number=k + 1)
        figure.add_scatter(x=distances[away], y=_drawn(head[away]), mode="lines", name=name, line=_style(k))
    if level > 0:
        figure.add_vline(x=level, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(title_text=_say("axes.query_minus_key"), type="log", dtick=1)
    figure.update_yaxes(title_text=_say("learned_biases.up"))
    count, of_heads = len(heads), {"first": heads[:, 0], "greatest": heads.max(axis=1), "last": heads[:, -1]}
    told = _each(number=range(1, count + 1), peak=peaks, **of_heads)
    ends = {"nearest": distances[0], "farthest": distances[-1]}
    return _tell(figure, "learned_biases", heads=told, count=count, level=level, **ends)


def reaches(lengths: Sequence[int], nearest: Mapping[str, Sequence[float]]) -> go.Figure:
    """How many of the nearest keys hold half of a query's attention, against the length of the text."""
    lengths = np.asarray(_some("lengths", lengths), dtype=float)
    figure, told, growth = go.Figure(), {}, {}
    for k, (name, counts) in enumerate(_some("nearest", nearest).items()):
        counts = np.asarray(counts, dtype=float)
        if counts.shape != lengths.shape or not np.all((counts > 0) & (counts <= lengths)):
            raise ValueError(f"nearest[{name!r}] must be {len(lengths)} numbers of keys, none above the length")
        told[name] = {"name": name, "least": counts[0], "most": counts[-1]}
        growth[name] = counts[-1] / counts[0]
        figure.add_scatter(x=lengths, y=counts, mode="lines+markers", name=name, line=_style(k))
    half = {"mode": "lines", "name": _say("reaches.half"), "line": _style(2, width=1, dash="dot")}
    figure.add_scatter(x=lengths[[0, -1]], y=lengths[[0, -1]] / 2, **half)
    figure.update_xaxes(title_text=_say("axes.length"), type="log", dtick=1)
    figure.update_yaxes(title_text=_say("reaches.up"), type="log", dtick=1)
    ends = dict.fromkeys([min(growth, key=growth.__getitem__), max(growth, key=growth.__getitem__)])
    others = [one for name, one in told.items() if name not in ends]
    extremes = [told[name] for name in ends]
    return _tell(figure, "reaches", short=lengths[0], long=lengths[-1], extremes=extremes, others=others)


def bias_maps(maps: Mapping[str, np.ndarray]) -> go.Figure:
    """What each method adds for every query and key, queries down and keys across; later keys are left out.

    Each map has shape (tokens, tokens). What counts is whether a diagonal, which is one distance, has one colour.
    """
    drawn, told = {}, []
    for name, table in _some("maps", maps).items():
        values = np.asarray(table, dtype=float)
        past = np.tril(np.ones(values.shape[-2:], dtype=bool)) if values.ndim > 1 else None
        if past is None or values.shape != past.shape[:1] * 2 or not np.isfinite(values[past]).all():
            raise ValueError(f"maps[{name!r}] must be square and finite up to its diagonal, got shape {values.shape}")
        change = max(float(np.ptp(np.diagonal(values, -distance))) for distance in range(len(values)))
        told.append({"name": name, "change": change})
        drawn[name] = np.where(past, values, np.nan)
    reach = max(float(np.nanmax(np.abs(values))) for values in drawn.values()) or 1.0
    panels = {name: _drawn(values) for name, values in drawn.items()}
    figure = _heat_maps(panels, min(2, len(panels)), -reach, reach, hoverongaps=False)
    figure.update_xaxes(title_text=_say("axes.key"), row=-(-len(panels) // 2))
    figure.update_yaxes(title_text=_say("axes.query"), col=1)
    return _tell(figure, "bias_maps", height=130 + 260 * -(-len(panels) // 2), changes=told)

"""Biases on the scores (chapter 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from posenc.figures._drawing import PALETTE, _at, _drawn, _heat_maps, _number, _some, _style, _tell


def biases_by_distance(distances: Sequence[int], biases: Mapping[str, Sequence[float]]) -> go.Figure:
    """What each bias adds to a logit at each distance, less what it adds at the first of them."""
    distances = np.asarray(_some("distances", distances))
    figure, told = go.Figure(), []
    for k, (name, bias) in enumerate(_some("biases", biases).items()):
        values = np.asarray(bias, dtype=float)
        if values.shape != distances.shape or not np.isfinite(values).all():
            raise ValueError(f"biases[{name!r}] must be {len(distances)} finite numbers, got shape {values.shape}")
        fall = values - values[0]
        told.append(f"{_number(fall[-1], 1)} ({name})")
        figure.add_scatter(**_at(distances), y=_drawn(fall), mode="lines", name=name, line=_style(k))
    figure.update_xaxes(title_text="distance, query minus key (tokens)")
    figure.update_yaxes(title_text="change of the logit")
    finding = f"From distance {_number(distances[0])} to {_number(distances[-1])} logits change by {', '.join(told)}"
    return _tell(figure, finding, "Content apart, and for one head of each method.")


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
        peaks.append(_number(distances[head.argmax()]))
        figure.add_scatter(x=distances[away], y=_drawn(head[away]), mode="lines", name=f"head {k + 1}", line=_style(k))
    if level > 0:
        figure.add_vline(x=level, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(title_text="distance, query minus key (tokens)", type="log", dtick=1)
    figure.update_yaxes(title_text="bias (logits)")
    finding = (
        f"The learned bias is greatest at distance {', '.join(peaks)} (heads 1 to {len(heads)}), "
        f"and one number for all distances from {_number(level)} on"
    )
    details = "; ".join(
        f"head {k}: {_number(head[0], 1)} at {_number(distances[0])}, {_number(head.max(), 1)} at most, "
        f"{_number(head[-1], 1)} at {_number(distances[-1])}"
        for k, head in enumerate(heads, 1)
    )
    return _tell(figure, finding, f"On an axis of logarithms. {details}.")


def reaches(lengths: Sequence[int], nearest: Mapping[str, Sequence[float]]) -> go.Figure:
    """How many of the nearest keys hold half of a query's attention, against the length of the text."""
    lengths = np.asarray(_some("lengths", lengths), dtype=float)
    figure, told, growth = go.Figure(), {}, {}
    for k, (name, counts) in enumerate(_some("nearest", nearest).items()):
        counts = np.asarray(counts, dtype=float)
        if counts.shape != lengths.shape or not np.all((counts > 0) & (counts <= lengths)):
            raise ValueError(f"nearest[{name!r}] must be {len(lengths)} numbers of keys, none above the length")
        told[name] = f"from {_number(counts[0])} keys to {_number(counts[-1])} ({name})"
        growth[name] = counts[-1] / counts[0]
        figure.add_scatter(x=lengths, y=counts, mode="lines+markers", name=name, line=_style(k))
    half = {"mode": "lines", "name": "half of the text", "line": _style(2, width=1, dash="dot")}
    figure.add_scatter(x=lengths[[0, -1]], y=lengths[[0, -1]] / 2, **half)
    figure.update_xaxes(title_text="length of the text (tokens)", type="log", dtick=1)
    figure.update_yaxes(title_text="keys with half of the attention", type="log", dtick=1)
    ends = dict.fromkeys([min(growth, key=growth.__getitem__), max(growth, key=growth.__getitem__)])
    finding = (
        f"As texts grow from {_number(lengths[0])} to {_number(lengths[-1])} tokens, half of the attention spreads "
        + " or ".join(told[name] for name in ends)
    )
    others = "".join(f"; {text}" for name, text in told.items() if name not in ends)
    return _tell(figure, finding, f"Both axes are logarithmic; all keys match the query equally well{others}.")


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
        told.append(f"{_number(change, 1)} ({name})")
        drawn[name] = np.where(past, values, np.nan)
    reach = max(float(np.nanmax(np.abs(values))) for values in drawn.values()) or 1.0
    panels = {name: _drawn(values) for name, values in drawn.items()}
    figure = _heat_maps(panels, min(2, len(panels)), -reach, reach, hoverongaps=False)
    figure.update_xaxes(title_text="key", row=-(-len(panels) // 2))
    figure.update_yaxes(title_text="query", col=1)
    finding = f"At one distance the bias differs from query to query by up to {', '.join(told)}"
    details = "Queries down, keys across, later keys left blank: each diagonal is one distance."
    return _tell(figure, finding, details, height=130 + 260 * -(-len(panels) // 2))

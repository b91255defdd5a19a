"""Biases on the scores (chapter 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import describe
from posenc._numbers import number
from posenc.figures._drawing import (
    PALETTE,
    _at,
    _drawn,
    _faded,
    _finish,
    _heat_maps,
    _some,
    _style,
)

_WIDEST = 6  # numbers of a vector that a panel has room for


def biases_by_distance(distances: Sequence[int], biases: Mapping[str, Sequence[float]]) -> go.Figure:
    """Each bias on the logits against distance, minus its value at the first distance."""
    distances = np.asarray(_some("distances", distances))
    figure, changes = go.Figure(), []
    for k, (name, bias) in enumerate(_some("biases", biases).items()):
        values = np.asarray(bias, dtype=float)
        if values.shape != distances.shape or not np.isfinite(values).all():
            raise ValueError(f"biases[{name!r}] must be {len(distances)} finite numbers, got shape {values.shape}")
        relative = values - values[0]
        changes.append(f"{number(relative[-1], 1)} ({name})")
        figure.add_scatter(**_at(distances), y=_drawn(relative), mode="lines", name=name, line=_style(k))
    figure.update_xaxes(title_text="distance Δ (tokens)")
    figure.update_yaxes(title_text=f"logit bias, relative to Δ = {distances[0]}")
    ends = f"from distance {number(distances[0])} to {number(distances[-1])}"
    return _finish(figure, f"Change of the logit bias {ends}: {', '.join(changes)}", "One head of each method.")


def learned_biases(distances: Sequence[int], heads: np.ndarray) -> go.Figure:
    """A learned bias of every head against distance; from the dotted line on, each head has one value.

    `heads` has shape (heads, distances). Distance 0 has no position on the logarithmic axis and is not drawn.
    """
    distances, heads = np.asarray(_some("distances", distances)), np.asarray(heads, dtype=float)
    if heads.ndim != 2 or heads.shape[1] != len(distances) or not len(heads) or not np.isfinite(heads).all():
        raise ValueError(f"heads must be finite, shape (heads, {len(distances)}), got shape {heads.shape}")
    away = distances > 0
    moves = np.flatnonzero(np.any(heads[:, 1:] != heads[:, :-1], axis=0))
    level = distances[moves[-1] + 1] if len(moves) else distances[0]
    figure, peaks, ranges = go.Figure(), [], []
    for k, head in enumerate(heads):
        name = f"head {k + 1}"
        peaks.append(number(distances[head.argmax()]))
        first, high, last = (number(value, 1) for value in (head[0], head.max(), head[-1]))
        ranges.append(f"{name}: {first} at {distances[0]}, maximum {high}, {last} at {number(distances[-1])}")
        figure.add_scatter(x=distances[away], y=_drawn(head[away]), mode="lines", name=name, line=_style(k))
    if level > 0:
        figure.add_vline(x=level, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(title_text="distance Δ (tokens)", type="log", dtick=1)
    figure.update_yaxes(title_text="logit bias")
    finding = (
        f"The learned bias has its maximum at distance {', '.join(peaks)} (heads 1 to {len(heads)}) "
        f"and is constant from distance {number(level)} on"
    )
    return _finish(figure, finding, f"On a logarithmic axis. {'; '.join(ranges)}.")


def attention_reach(lengths: Sequence[int], nearest: Mapping[str, Sequence[float]]) -> go.Figure:
    """The number of nearest keys with half of the attention weight, against sequence length."""
    lengths = np.asarray(_some("lengths", lengths), dtype=float)
    figure, ranges, growth = go.Figure(), {}, {}
    for k, (name, counts) in enumerate(_some("nearest", nearest).items()):
        counts = np.asarray(counts, dtype=float)
        if counts.shape != lengths.shape or not np.all((counts > 0) & (counts <= lengths)):
            raise ValueError(f"nearest[{name!r}] must be {len(lengths)} numbers of keys, none above the length")
        ranges[name] = f"from {number(counts[0])} to {number(counts[-1])} ({name})"
        growth[name] = counts[-1] / counts[0]
        figure.add_scatter(x=lengths, y=counts, mode="lines+markers", name=name, line=_style(k))
    half = {"mode": "lines", "name": "half of all keys", "line": _style(2, width=1, dash="dot")}
    figure.add_scatter(x=lengths[[0, -1]], y=lengths[[0, -1]] / 2, **half)
    figure.update_xaxes(title_text="sequence length (tokens)", type="log", dtick=1)
    figure.update_yaxes(title_text="nearest keys with half of the weight", type="log", dtick=1)
    slowest, fastest = min(growth, key=growth.__getitem__), max(growth, key=growth.__getitem__)
    finding = (
        f"From {number(lengths[0])} to {number(lengths[-1])} tokens, the number of nearest keys with half of the "
        f"weight grows {' or '.join(ranges[name] for name in dict.fromkeys([slowest, fastest]))}"
    )
    others = "".join(f"; {text}" for name, text in ranges.items() if name not in (slowest, fastest))
    return _finish(figure, finding, f"Both axes are logarithmic; all keys match the query equally well{others}.")


def bias_maps(maps: Mapping[str, np.ndarray]) -> go.Figure:
    """The bias of each method for every query (down) and key (across); later keys are grey.

    Each map has shape (tokens, tokens). A relative bias has one colour per diagonal.
    """
    drawn, changes = {}, []
    for name, table in _some("maps", maps).items():
        values = np.asarray(table, dtype=float)
        past = np.tril(np.ones(values.shape[-2:], dtype=bool)) if values.ndim > 1 else None
        if past is None or values.shape != past.shape[:1] * 2 or not np.isfinite(values[past]).all():
            raise ValueError(f"maps[{name!r}] must be square and finite up to its diagonal, got shape {values.shape}")
        change = max(float(np.ptp(np.diagonal(values, -distance))) for distance in range(len(values)))
        changes.append(f"{number(change, 1)} ({name})")
        drawn[name] = np.where(past, values, np.nan)
    reach = max(float(np.nanmax(np.abs(values))) for values in drawn.values()) or 1.0
    panels = {name: _drawn(values) for name, values in drawn.items()}
    columns = len(panels) if len(panels) < 4 else 2
    rows = -(-len(panels) // columns)
    figure = _heat_maps(panels, columns, -reach, reach, hoverongaps=False)
    grey = [[end, _faded(PALETTE["neutral"], 0.3)] for end in (0, 1)]
    for k, values in enumerate(panels.values()):  # 0 has no colour, so a masked key needs one
        masked = {"z": np.where(np.isnan(values), 1.0, np.nan), "colorscale": grey, "showscale": False}
        place = {"row": k // columns + 1, "col": k % columns + 1}
        figure.add_heatmap(**masked, hoverinfo="skip", hoverongaps=False, **place)
        corner = {"x": len(values) - 0.6, "y": 0, "xanchor": "right", "showarrow": False, "font_size": 11}
        figure.add_annotation(text="masked", **corner, **place)
    figure.update_xaxes(title_text="key", row=rows)
    figure.update_yaxes(title_text="query", col=1)
    finding = f"At one distance, values vary from query to query by up to {', '.join(changes)}"
    details = "Queries down, keys across, masked keys grey: each diagonal is one distance."
    return _finish(figure, finding, details, height=130 + 260 * rows)


def transformer_xl_terms(
    q: Sequence[float], k: Sequence[float], r: Sequence[float], u: Sequence[float], v: Sequence[float]
) -> go.Figure:
    """The products of vectors in Transformer-XL's terms, number by number, for one query and one key.

    `q` and `k` are query and key, `r` the vector of their distance, `u` and `v` the learned vectors instead of the
    query; all have the same few numbers.
    """
    vectors = {name: np.asarray(x, dtype=float) for name, x in {"q": q, "k": k, "r": r, "u": u, "v": v}.items()}
    for name, x in vectors.items():
        if x.ndim != 1 or not 0 < len(x) <= _WIDEST or x.shape != vectors["q"].shape or not np.isfinite(x).all():
            raise ValueError(f"{name} must be 1 to {_WIDEST} finite numbers, as many as q, got {describe(x)}")
    colours = {"q": "query", "k": "key", "r": "position", "u": "neutral", "v": "neutral"}
    pairs = {
        ("q", "k"): "(a) content–content",
        ("q", "r"): "(b) content–distance",
        ("u", "k"): "(c) global content",
        ("v", "r"): "(d) global position",
    }
    width, titles = len(vectors["q"]), list(pairs.values())
    figure = make_subplots(2, 2, subplot_titles=titles, horizontal_spacing=0.06, vertical_spacing=0.16)
    products = [float(vectors[a] @ vectors[b]) for a, b in pairs]
    for panel, (pair, product) in enumerate(zip(pairs, products, strict=True)):
        place = {"row": panel // 2 + 1, "col": panel % 2 + 1}
        for up, name in zip((1, 0), pair, strict=True):
            figure.add_bar(
                x=np.arange(width),
                y=np.full(width, 0.8),
                base=up,
                width=0.92,
                marker_color=PALETTE[colours[name]],
                text=[number(x, 1) for x in vectors[name]],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": "white", "size": 13},
                customdata=vectors[name],
                name=name,
                hoverinfo="skip",
                **place,
            )
            label = {"text": name, "showarrow": False, "xanchor": "right"}
            figure.add_annotation(x=-0.65, y=up + 0.4, **label, **place)
        total = {"text": f"= {number(product, 2)}", "showarrow": False, "xanchor": "left"}
        figure.add_annotation(x=width - 0.35, y=0.9, **total, **place)
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False}
    figure.update_xaxes(range=[-1.3, width + 0.9], fixedrange=True, **bare)
    figure.update_xaxes(title_text="dimension", row=2)
    figure.update_yaxes(range=[-0.15, 1.95], fixedrange=True, **bare)
    figure.update_yaxes(title_text="two vectors", col=1)
    figure.update_layout(barmode="overlay", showlegend=False)
    figure.update_annotations(font_size=12)
    terms = ", ".join(number(product, 2) for product in products)
    finding = f"Four terms make up one score: {terms}; their sum is {number(sum(products), 2)}"
    details = (
        "Each panel has two vectors, one above the other, and their dot product: q·k and q·r, with the query q, the "
        "content key k and the vector r of the distance; below them u·k and v·r, with learned vectors u and v that are "
        "the same for every query."
    )
    return _finish(figure, finding, details, height=380)

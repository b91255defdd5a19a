"""Scores against distance, and their decay (chapter 08)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc.analysis import (
    decay,
    decay_law,
    decay_logarithm,
    expected_score,
)
from posenc.figures._drawing import (
    PALETTE,
    _at,
    _colour_scale,
    _drawn,
    _each,
    _finish,
    _heat_maps,
    _say,
    _some,
    _tell,
    pair_colours,
)
from posenc.frequencies import angles, inv_freq


def pair_cosines(distances: Sequence[int], dim: int, base: float, pairs: Sequence[int]) -> go.Figure:
    """cos(m·θ_i) of a few pairs against distance, one row each, and below them the mean over all pairs."""
    frequencies, colours = inv_freq(dim, base), pair_colours(dim // 2)
    cosines = np.cos(angles(distances, frequencies))  # (distances, dim/2)
    mean = cosines.mean(axis=-1)
    names = [_say("pair_cosines.pair", pair=i, tokens=2 * np.pi / frequencies[i]) for i in pairs]
    figure = make_subplots(
        len(pairs) + 1,
        1,
        shared_xaxes=True,
        vertical_spacing=0.045,
        subplot_titles=[*names, _say("pair_cosines.mean", pairs=dim // 2)],
    )
    for row, i in enumerate(pairs, 1):
        figure.add_scatter(
            **_at(distances),
            y=_drawn(cosines[:, i]),
            line={"color": colours[i], "width": 1.5},
            name=names[row - 1],
            showlegend=False,
            row=row,
            col=1,
        )
    figure.add_scatter(
        **_at(distances),
        y=_drawn(mean),
        line={"color": PALETTE["score"], "width": 2},
        name=_say("axes.mean"),
        showlegend=False,
        row=len(pairs) + 1,
        col=1,
    )
    figure.update_yaxes(range=[-1.1, 1.1], tickvals=[-1, 0, 1])
    figure.update_xaxes(title_text=_say("axes.distance"), row=len(pairs) + 1, col=1)
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    late = mean[3 * len(mean) // 4 :].mean()
    finding = _say("pair_cosines.finding", late=late)
    return _finish(figure, finding, _say("pair_cosines.alt", finding=finding, last=distances[-1]), height=640)


def cosine_map(length: int, dim: int, base: float) -> go.Figure:
    """cos(m·θ_i) of every pair at every distance m < `length` as a heat map; below, the mean over the pairs."""
    distances = np.arange(length)
    cosines = np.cos(angles(distances, inv_freq(dim, base))).T  # (dim/2, distances)
    mean = cosines.mean(axis=0)
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.68, 0.32])
    figure.add_heatmap(z=_drawn(cosines), coloraxis="coloraxis", name=_say("cosine_map.cosine"), row=1, col=1)
    line = {"color": PALETTE["score"], "width": 2}
    figure.add_scatter(
        **_at(distances), y=_drawn(mean), line=line, name=_say("cosine_map.mean"), showlegend=False, row=2, col=1
    )
    figure.update_yaxes(title_text=_say("axes.pair"), autorange="reversed", showgrid=False, zeroline=False, row=1)
    figure.update_yaxes(title_text=_say("cosine_map.mean"), range=[-0.1, 1.1], row=2)
    figure.update_xaxes(showgrid=False, row=1)
    figure.update_xaxes(title_text=_say("axes.distance"), row=2)
    bar = {"thickness": 10, "len": 0.66, "y": 1, "yanchor": "top", "title": _say("cosine_map.cosine")}
    figure.update_layout(coloraxis=_colour_scale(-1, 1) | {"colorbar": bar})
    late = mean[3 * length // 4 :].mean()
    return _tell(figure, "cosine_map", height=560, pairs=dim // 2, last=length - 1, late=late)


def pairs_used(products: Mapping[str, np.ndarray], fast: int) -> go.Figure:
    """The learned distance bias of every pair in every head of trained models, |E[q k̄]|: a heat map per model.

    Args:
        products: by name of the model, E[q k̄] in logits, complex, shape (layers, heads, pairs).
        fast: number of fast pairs, ended by a dotted line; the title has their fraction of each layer.
    """
    loud = {name: np.abs(found) for name, found in _some("products", products).items()}
    pairs = {found.shape[-1] for found in loud.values() if found.ndim == 3}
    if len(pairs) != 1 or any(found.ndim != 3 for found in loud.values()) or not 0 < fast < min(pairs):
        shapes = [found.shape for found in loud.values()]
        raise ValueError(f"products must be (layers, heads, pairs), with more pairs than {fast!r}, got {shapes}")
    tables = {name: _drawn(found.reshape(-1, found.shape[-1])) for name, found in loud.items()}
    figure = _heat_maps(tables, 1, 0, max(table.max() for table in tables.values()), square=False)
    for k, found in enumerate(loud.values()):
        layers, heads, _ = found.shape
        names = [_say("pairs_used.head", layer=a + 1, head=b + 1) for a in range(layers) for b in range(heads)]
        figure.update_yaxes(tickvals=np.arange(len(names)), ticktext=names, row=k + 1, col=1)
    figure.add_vline(fast - 0.5, line={"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"})
    figure.update_xaxes(title_text=_say("axes.pair"), row=len(tables))
    figure.update_yaxes(title_text=_say("pairs_used.up"), row=1)
    figure.update_layout(coloraxis_colorbar_title=_say("pairs_used.logits"))
    told = []
    for name, found in loud.items():
        shares = found[..., :fast].sum(axis=(1, 2)) / found.sum(axis=(1, 2))
        told.append({"name": name, "layers": _each(layer=range(1, len(shares) + 1), share=shares)})
    return _tell(figure, "pairs_used", height=110 + 250 * len(tables), models=told, fast=fast)


def decay_and_law(distances: Sequence[int], dim: int, base: float) -> go.Figure:
    """S(m), its law and, from 10 tokens to base/10, the logarithm, on a logarithmic axis of distance."""
    distances = np.asarray(distances)
    score, law = decay(distances, inv_freq(dim, base)), decay_law(distances, base)
    smooth = np.unique(np.geomspace(1, len(distances), 600).astype(int)) - 1  # a smooth curve needs no more
    straight = distances[smooth][(distances[smooth] >= 10) & (distances[smooth] <= base / 10)]
    figure = go.Figure()
    line = {"color": PALETTE["score"], "width": 1.2}
    figure.add_scatter(**_at(distances), y=_drawn(score), name=_say("axes.mean"), line=line)
    line = {"color": PALETTE["neutral"], "width": 2.5}
    figure.add_scatter(x=distances[smooth], y=_drawn(law[smooth]), name=_say("decay_and_law.law"), line=line)
    figure.add_scatter(
        x=straight,
        y=_drawn(decay_logarithm(straight, base)),
        name=_say("decay_and_law.logarithm"),
        line={"color": PALETTE["bound"], "width": 2.5, "dash": "dot"},
    )
    figure.update_xaxes(type="log", title_text=_say("axes.distance"))
    figure.update_yaxes(title_text=_say("axes.mean"), range=[-0.5, 1.05])
    fall = 1 / np.log(base) * np.log(10)
    finding = _say("decay_and_law.finding", fall=fall)
    apart = np.abs(score - law)[distances >= 10].max()
    return _finish(figure, finding, _say("decay_and_law.alt", finding=finding, apart=apart))


def scores_in_attention(
    distances: Sequence[int], measured: dict[str, tuple[Sequence[float], Sequence[float], float]], dim: int, base: float
) -> go.Figure:
    """Mean and standard deviation of attention scores by distance, measured (points) and exact (lines).

    `measured` maps a name to (means, standard deviations, correlation of q and k); scores are unscaled dot products.
    """
    figure, frequencies = go.Figure(), inv_freq(dim, base)
    every = np.arange(min(distances), max(distances) + 1)
    endings = []
    for (name, (means, spreads, correlation)), colour in zip(
        measured.items(), (PALETTE["score"], PALETTE["bound"]), strict=True
    ):
        mean, _ = expected_score(every, frequencies, correlation)
        exact = _say("scores_in_attention.exact", name=name)
        figure.add_scatter(**_at(every), y=_drawn(mean), mode="lines", name=exact, line={"color": colour})
        figure.add_scatter(
            x=distances,
            y=means,
            name=_say("scores_in_attention.measured", name=name),
            mode="markers",
            marker={"color": colour, "size": 8},
            error_y={"array": spreads, "thickness": 1.2},
        )
        ends = {"mean": means[0], "last_mean": means[-1], "spread": spreads[0], "last_spread": spreads[-1]}
        endings.append({"name": name, **ends})
    figure.update_xaxes(type="log", title_text=_say("axes.distance"))
    figure.update_yaxes(title_text=_say("scores_in_attention.up"))
    finding = _say("scores_in_attention.finding")
    facts = {"first": distances[0], "last": distances[-1], "endings": endings}
    return _finish(figure, finding, _say("scores_in_attention.alt", finding=finding, **facts))


def decay_for_bases(distances: Sequence[int], dim: int, bases: Sequence[float]) -> go.Figure:
    """S(m) for several bases, one panel each, on the same axes."""
    columns = 2
    names = [_say("decay_for_bases.base", base=base) for base in bases]
    figure = make_subplots(
        -(-len(bases) // columns),
        columns,
        shared_xaxes=True,
        shared_yaxes=True,
        subplot_titles=names,
        vertical_spacing=0.09,
        horizontal_spacing=0.05,
    )
    below = {}
    for k, base in enumerate(bases):
        score = decay(distances, inv_freq(dim, base))
        below[base] = np.flatnonzero(score < 0)
        figure.add_scatter(
            **_at(distances),
            y=_drawn(score),
            name=names[k],
            showlegend=False,
            line={"color": PALETTE["score"], "width": 1.2},
            row=k // columns + 1,
            col=k % columns + 1,
        )
    figure.update_xaxes(type="log")
    figure.update_yaxes(range=[-1.05, 1.05], tickvals=[-1, 0, 1])
    figure.update_xaxes(title_text=_say("axes.distance"), row=-(-len(bases) // columns))
    figure.update_annotations(font_size=12)
    first = [{"base": base, "at": distances[at[0]]} for base, at in below.items() if at.size]
    never = _each(base=[base for base, at in below.items() if not at.size])
    finding = _say("decay_for_bases.finding")
    alt = _say("decay_for_bases.alt", finding=finding, first=first, last=distances[-1], never=never)
    return _finish(figure, finding, alt, height=620)

"""Scores against distance, and their decay (chapter 08)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc.analysis import (
    decay,
    decay_law,
    decay_logarithm,
    expected_score,
)
from posenc.figures._drawing import PALETTE, _at, _drawn, _finish, pair_colours
from posenc.frequencies import angles, inv_freq


def waves(distances: Sequence[int], dim: int, base: float, pairs: Sequence[int]) -> go.Figure:
    """cos(m·θ_i) of a few pairs against distance, one row each, and below them the mean over all pairs."""
    frequencies, colours = inv_freq(dim, base), pair_colours(dim // 2)
    cosines = np.cos(angles(distances, frequencies))  # (distances, dim/2)
    mean = cosines.mean(axis=-1)
    names = [f"pair {i}: one turn in {2 * np.pi / frequencies[i]:,.0f} tokens".replace(",", "\u202f") for i in pairs]
    figure = make_subplots(
        len(pairs) + 1,
        1,
        shared_xaxes=True,
        vertical_spacing=0.045,
        subplot_titles=[*names, f"mean over all {dim // 2} pairs"],
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
        name="S(m)",
        showlegend=False,
        row=len(pairs) + 1,
        col=1,
    )
    figure.update_yaxes(range=[-1.1, 1.1], tickvals=[-1, 0, 1])
    figure.update_xaxes(title_text="distance m (tokens)", row=len(pairs) + 1, col=1)
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    late = mean[3 * len(mean) // 4 :].mean()
    finding = f"No single wave fades; their mean falls from 1 to about {late:.1f}"
    return _finish(figure, finding, f"{finding} by {distances[-1]} tokens.", height=640)


def decay_and_law(distances: Sequence[int], dim: int, base: float) -> go.Figure:
    """S(m), its law and, from 10 tokens to base/10, its logarithm, against distance on a logarithmic axis."""
    distances = np.asarray(distances)
    score, law = decay(distances, inv_freq(dim, base)), decay_law(distances, base)
    smooth = np.unique(np.geomspace(1, len(distances), 600).astype(int)) - 1  # a smooth curve needs no more
    straight = distances[smooth][(distances[smooth] >= 10) & (distances[smooth] <= base / 10)]
    figure = go.Figure()
    figure.add_scatter(**_at(distances), y=_drawn(score), name="S(m)", line={"color": PALETTE["score"], "width": 1.2})
    figure.add_scatter(
        x=distances[smooth], y=_drawn(law[smooth]), name="law", line={"color": PALETTE["neutral"], "width": 2.5}
    )
    figure.add_scatter(
        x=straight,
        y=_drawn(decay_logarithm(straight, base)),
        name="logarithm",
        line={"color": PALETTE["bound"], "width": 2.5, "dash": "dot"},
    )
    figure.update_xaxes(type="log", title_text="distance m (tokens)")
    figure.update_yaxes(title_text="S(m)", range=[-0.5, 1.05])
    fall = 1 / np.log(base) * np.log(10)
    finding = f"On a logarithmic axis the mean falls in a straight line: {fall:.2f} for every tenfold distance"
    apart = np.abs(score - law)[distances >= 10].max()
    return _finish(figure, finding, f"{finding}. S(m) stays within {apart:.2f} of its law from 10 tokens on.")


def scores_in_attention(
    distances: Sequence[int], measured: dict[str, tuple[Sequence[float], Sequence[float], float]], dim: int, base: float
) -> go.Figure:
    """Mean and spread of attention scores by distance, measured in a layer (points) and exact (lines).

    `measured` maps a name to (means, standard deviations, correlation of q and k); scores are plain dot products.
    """
    figure, frequencies = go.Figure(), inv_freq(dim, base)
    every = np.arange(min(distances), max(distances) + 1)
    endings = []
    for (name, (means, spreads, correlation)), colour in zip(
        measured.items(), (PALETTE["score"], PALETTE["bound"]), strict=True
    ):
        mean, _ = expected_score(every, frequencies, correlation)
        figure.add_scatter(
            **_at(every), y=_drawn(mean), mode="lines", name=f"{name}: exact mean", line={"color": colour}
        )
        figure.add_scatter(
            x=distances,
            y=means,
            name=f"{name}: measured mean ± spread",
            mode="markers",
            marker={"color": colour, "size": 8},
            error_y={"array": spreads, "thickness": 1.2},
        )
        endings.append(f"{name}: mean {means[0]:.0f} to {means[-1]:.0f}, spread {spreads[0]:.0f} to {spreads[-1]:.0f}")
    figure.update_xaxes(type="log", title_text="distance m (tokens)")
    figure.update_yaxes(title_text="score q·k after rotation")
    title = "Only the mean of aligned queries and keys decays"
    alt = f"{title}. From {distances[0]} to {distances[-1]} tokens, " + "; ".join(endings) + "."
    return _finish(figure, title, alt)


def decay_for_bases(distances: Sequence[int], dim: int, bases: Sequence[float]) -> go.Figure:
    """S(m) for several bases, one panel each, all on the same axes."""
    columns = 2
    names = [f"base {base:,.0f}".replace(",", "\u202f") for base in bases]
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
    figure.update_xaxes(title_text="distance m (tokens)", row=-(-len(bases) // columns))
    figure.update_annotations(font_size=12)
    first = [f"base {base:g} at {distances[at[0]]}" for base, at in below.items() if at.size]
    never = [f"{base:g}" for base, at in below.items() if not at.size]
    finding = "A small base falls faster and then rings; a large one falls slowly"
    alt = (
        f"{finding}. S(m) first drops below zero: {', '.join(first)}; never by {distances[-1]} for {', '.join(never)}."
    )
    return _finish(figure, finding, alt, height=620)

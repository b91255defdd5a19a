"""Scores against distance, and their decay (chapter 08)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._numbers import number
from posenc.analysis import decay, decay_law, decay_logarithm, expected_score
from posenc.figures._drawing import (
    PALETTE,
    _at,
    _colour_scale,
    _drawn,
    _finish,
    _heat_maps,
    _some,
    pair_colours,
)
from posenc.frequencies import angles, inv_freq


def pair_cosines(distances: Sequence[int], dim: int, base: float, pairs: Sequence[int]) -> go.Figure:
    """cos(m·θ_i) of a few pairs against distance, one row each, and below them the mean over all pairs."""
    frequencies, colours = inv_freq(dim, base), pair_colours(dim // 2)
    cosines = np.cos(angles(distances, frequencies))  # (distances, dim/2)
    mean = cosines.mean(axis=-1)
    names = [f"pair {i}: wavelength {number(2 * np.pi / frequencies[i])} tokens" for i in pairs]
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
        name="S(Δ)",
        showlegend=False,
        row=len(pairs) + 1,
        col=1,
    )
    figure.update_yaxes(range=[-1.1, 1.1], tickvals=[-1, 0, 1])
    figure.update_xaxes(title_text="distance Δ (tokens)", row=len(pairs) + 1, col=1)
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    late = mean[3 * len(mean) // 4 :].mean()
    finding = f"No single cosine decays; their mean falls from 1 to about {number(late, 1)}"
    return _finish(figure, finding, f"Distances up to {number(distances[-1])} tokens.", height=640)


def cosine_map(length: int, dim: int, base: float) -> go.Figure:
    """cos(m·θ_i) of every pair at every distance m < `length` as a heat map; below, the mean over the pairs."""
    distances = np.arange(length)
    cosines = np.cos(angles(distances, inv_freq(dim, base))).T  # (dim/2, distances)
    mean = cosines.mean(axis=0)
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.68, 0.32])
    figure.add_heatmap(z=_drawn(cosines), coloraxis="coloraxis", name="cosine", row=1, col=1)
    line = {"color": PALETTE["score"], "width": 2}
    figure.add_scatter(**_at(distances), y=_drawn(mean), line=line, name="mean", showlegend=False, row=2, col=1)
    figure.update_yaxes(title_text="dimension pair i", autorange="reversed", showgrid=False, zeroline=False, row=1)
    figure.update_yaxes(title_text="mean", range=[-0.1, 1.1], row=2)
    figure.update_xaxes(showgrid=False, row=1)
    figure.update_xaxes(title_text="distance Δ (tokens)", row=2)
    bar = {"thickness": 10, "len": 0.66, "y": 1, "yanchor": "top", "title": "cosine"}
    figure.update_layout(coloraxis=_colour_scale(-1, 1) | {"colorbar": bar})
    late = mean[3 * length // 4 :].mean()
    finding = f"No row decays; the mean of all {dim // 2} falls from 1 to about {number(late, 1)}"
    details = (
        "Each row is one dimension pair, from the highest frequency (top) to the lowest, each column a distance, from "
        f"0 to {number(length - 1)} tokens. The top rows oscillate fastest, the bottom rows stay near 1, and the waves "
        "between them fan out."
    )
    return _finish(figure, finding, details, height=560)


def pairs_used(heads: Mapping[str, np.ndarray], fast: int) -> go.Figure:
    """Which pairs trained heads use: a heat map with a row per head, as percentages of the row's sum.

    Args:
        heads: by name, how much of each pair there is, at least 0, shape (pairs,).
        fast: number of fast pairs, ended by a dotted line.
    """
    rows = [np.asarray(row, dtype=float) for row in _some("heads", heads).values()]
    if any(row.ndim != 1 or row.shape != rows[0].shape or row.min() < 0 or row.sum() == 0 for row in rows):
        raise ValueError(f"heads must have numbers of as many pairs each, got {[row.shape for row in rows]}")
    if not 0 < fast < len(rows[0]):
        raise ValueError(f"fast must be from 1 to {len(rows[0]) - 1}, got {fast!r}")
    percentages = 100 * np.stack([row / row.sum() for row in rows])  # (heads, pairs)
    figure = _heat_maps({"": _drawn(percentages)}, 1, 0, percentages.max(), square=False)
    figure.update_yaxes(tickvals=np.arange(len(rows)), ticktext=list(heads), title_text="head")
    figure.add_vline(fast - 0.5, line={"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"})
    figure.update_xaxes(title_text="dimension pair i")
    figure.update_layout(coloraxis_colorbar_title="%")
    of_fast = percentages[:, :fast].sum(axis=1)
    low, high = number(of_fast.min()), number(of_fast.max())
    finding = f"The {fast} fastest pairs have {low} to {high} % of a head's total"
    of_each = "; ".join(f"{name}: {number(value)} %" for name, value in zip(heads, of_fast, strict=True))
    details = f"Pairs from the highest frequency to the lowest; left of the dotted line {of_each}."
    return _finish(figure, finding, details, height=170 + 24 * len(rows))


def decay_and_law(distances: Sequence[int], dim: int, base: float) -> go.Figure:
    """S(m), its law and, from 10 tokens to base/10, the logarithm, on a logarithmic axis of distance."""
    distances = np.asarray(distances)
    score, law = decay(distances, inv_freq(dim, base)), decay_law(distances, base)
    smooth = np.unique(np.geomspace(1, len(distances), 600).astype(int)) - 1  # a smooth curve needs no more
    straight = distances[smooth][(distances[smooth] >= 10) & (distances[smooth] <= base / 10)]
    figure = go.Figure()
    line = {"color": PALETTE["score"], "width": 1.2}
    figure.add_scatter(**_at(distances), y=_drawn(score), name="S(Δ)", line=line)
    line = {"color": PALETTE["neutral"], "width": 2.5}
    figure.add_scatter(x=distances[smooth], y=_drawn(law[smooth]), name="law", line=line)
    figure.add_scatter(
        x=straight,
        y=_drawn(decay_logarithm(straight, base)),
        name="logarithm",
        line={"color": PALETTE["bound"], "width": 2.5, "dash": "dot"},
    )
    figure.update_xaxes(type="log", title_text="distance Δ (tokens)")
    figure.update_yaxes(title_text="S(Δ)", range=[-0.5, 1.05])
    finding = f"On a logarithmic axis the mean falls linearly, by {np.log(10) / np.log(base):.2f} per decade"
    error = np.abs(score - law)[distances >= 10].max()
    return _finish(figure, finding, f"S(Δ) stays within {error:.2f} of its law from 10 tokens on.")


def scores_in_attention(
    distances: Sequence[int], measured: dict[str, tuple[Sequence[float], Sequence[float], float]], dim: int, base: float
) -> go.Figure:
    """Mean and standard deviation of attention scores by distance, measured (points) and exact (lines).

    `measured` maps a name to (means, standard deviations, correlation of q and k); scores are unscaled dot products.
    """
    figure, frequencies = go.Figure(), inv_freq(dim, base)
    every = np.arange(min(distances), max(distances) + 1)
    ranges = []
    for (name, (means, deviations, correlation)), colour in zip(
        measured.items(), (PALETTE["score"], PALETTE["bound"]), strict=True
    ):
        mean, _ = expected_score(every, frequencies, correlation)
        exact = {"name": f"{name}: exact mean", "line": {"color": colour}}
        figure.add_scatter(**_at(every), y=_drawn(mean), mode="lines", **exact)
        figure.add_scatter(
            x=distances,
            y=means,
            name=f"{name}: measured mean ± std",
            mode="markers",
            marker={"color": colour, "size": 8},
            error_y={"array": deviations, "thickness": 1.2},
        )
        of_mean, of_std = (f"{number(each[0])} to {number(each[-1])}" for each in (means, deviations))
        ranges.append(f"{name}: mean {of_mean}, standard deviation {of_std}")
    figure.update_xaxes(type="log", title_text="distance Δ (tokens)")
    figure.update_yaxes(title_text="score q·k after rotation")
    finding = "Only the mean score of correlated queries and keys decays"
    return _finish(figure, finding, f"From {distances[0]} to {distances[-1]} tokens, {'; '.join(ranges)}.")


def decay_for_bases(distances: Sequence[int], dim: int, bases: Sequence[float]) -> go.Figure:
    """S(m) for several bases, one panel each, on the same axes."""
    columns = 2
    names = [f"base {number(base)}" for base in bases]
    figure = make_subplots(
        -(-len(bases) // columns),
        columns,
        shared_xaxes=True,
        shared_yaxes=True,
        subplot_titles=names,
        vertical_spacing=0.09,
        horizontal_spacing=0.05,
    )
    negative = []
    for k, base in enumerate(bases):
        score = decay(distances, inv_freq(dim, base))
        below = np.flatnonzero(score < 0)
        negative.append(f"{names[k]}: {number(distances[below[0]]) if len(below) else 'never'}")
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
    figure.update_xaxes(title_text="distance Δ (tokens)", row=-(-len(bases) // columns))
    figure.update_annotations(font_size=12)
    finding = "With a small base S(Δ) falls fast and then oscillates; with a large one it falls slowly"
    details = f"First distance, up to {number(distances[-1])}, where S(Δ) is negative: {'; '.join(negative)}."
    return _finish(figure, finding, details, height=620)

"""Positions that are learned or counted (chapter 13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import describe
from posenc._numbers import number, percent
from posenc.figures._drawing import PALETTE, _at, _colour_scale, _drawn, _faded, _finish, _some, _style


def induction_circuit(text: str) -> go.Figure:
    """An induction circuit: how two layers of attention continue a text whose last word has occurred once before.

    Rows from top to bottom: the words; for each, the previous word, which the first layer attends to; the answer. Lines
    lead from each word to the next, and from the match of the last word to the answer.
    """
    words = text.split()
    last = len(words) - 1
    if last < 1 or words[:-1].count(words[-1]) != 1:
        raise ValueError(f"text must end with a word that occurs once before, got {text!r}")
    found = words.index(words[-1]) + 1  # the position after the last word's first copy
    if found == last:
        raise ValueError(f"text must have a word between the last one and its copy, got {text!r}")
    figure = go.Figure()
    for colour, dash, edges in (
        ("score", "solid", [(n - 1, 2, n, 1) for n in range(1, last + 1)]),
        ("bound", "dot", [(found, 1, last, 0)]),
    ):
        x = [value for start, _, end, _ in edges for value in (start, end, None)]
        y = [value for _, start, _, end in edges for value in (start - 0.2, end + 0.2, None)]
        line = {"color": PALETTE[colour], "width": 2, "dash": dash}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")
    notes = ["", *(f"after<br>{word}" for word in words[:-1])]
    notes[found] = f"<b>{notes[found]}</b>"
    for level, row in ((2, [f"<b>{word}</b>" for word in words]), (1, notes)):
        figure.add_scatter(x=list(range(len(row))), y=[level] * len(row), text=row, mode="text", hoverinfo="skip")
    answer = f"<b>{words[found]}</b>"
    figure.add_scatter(x=[last], y=[0], text=[answer], mode="text", hoverinfo="skip")
    levels = {"tickvals": [2, 1, 0], "ticktext": ["tokens", "layer 1", "layer 2"]}
    bare = {"showgrid": False, "zeroline": False}
    figure.update_yaxes(title_text="layer", range=[-0.3, 2.3], **levels, **bare)
    figure.update_xaxes(title_text="position →", range=[-0.5, last + 0.5], showticklabels=False, **bare)
    figure.update_traces(showlegend=False)
    finding = f"Layer 1 copies the previous token; layer 2 attends to the token after the first “{words[-1]}”"
    pairs = "; ".join(f"{word} comes after {before}" for word, before in zip(words[1:], words[:-1], strict=True))
    details = (
        f"Layer 1, previous-token head: {pairs}. Layer 2, induction head: the last token, {words[-1]}, attends to "
        f"{words[found]} and predicts {words[found]}."
    )
    return _finish(figure, finding, details, height=330)


def position_from_weight(share: Sequence[float], code: np.ndarray, weights: np.ndarray) -> go.Figure:
    """From the attention weight on the first token to a previous-token head: three rows, all by position.

    `share` is that weight, shape (positions,), `code` the encoding made of it, shape (positions, dim), `weights` has
    shape (positions, positions), queries first.
    """
    share, code, weights = (np.asarray(part, dtype=float) for part in (share, code, weights))
    count = len(_some("share", share))
    if code.ndim != 2 or len(code) != count or weights.shape != (count, count):
        raise ValueError(
            f"code and weights must be of {count} positions, as share is, got shapes {code.shape} and {weights.shape}"
        )
    steps = [
        "layer 1, attention: weight on the BOS token",
        "layer 1, MLP: sinusoids of that weight",
        "layer 2, attention: weight on each key",
    ]
    figure = make_subplots(3, 1, shared_xaxes=True, vertical_spacing=0.09, subplot_titles=steps)
    figure.add_bar(**_at(range(count)), y=_drawn(share), marker_color=PALETTE["score"], row=1, col=1)
    for row, table in ((2, code), (3, weights)):
        figure.add_heatmap(z=_drawn(table.T), coloraxis="coloraxis", row=row, col=1)
    figure.update_yaxes(showgrid=False, zeroline=False)
    for row, title in enumerate(("weight", "dimension", "key"), 1):
        figure.update_yaxes(title_text=title, row=row)
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_xaxes(title_text="position (tokens)", row=3)
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    figure.update_layout(coloraxis=_colour_scale(-1, 1), coloraxis_showscale=False, showlegend=False, bargap=0.2)
    finding = "Without a positional encoding: the weight on BOS gives the position, layer 2 finds the previous token"
    details = (
        f"Positions 0 to {count - 1}, {code.shape[1]} dimensions. "
        f"Each token’s weight on the previous one is at least {np.diagonal(weights, -1).min():.2f}."
    )
    return _finish(figure, finding, details, height=600)


def accuracy_by_length(
    lengths: Sequence[int], measured: Mapping[str, np.ndarray], trained: int, choices: int
) -> go.Figure:
    """Accuracy of each model by sequence length.

    `measured` maps a model's name to accuracies, shape (seeds, lengths): a line through the means, a dot per seed.
    `trained` is the trained length; the dotted line is guessing among `choices`.
    """
    lengths, figure, means, ranges = np.asarray(_some("lengths", lengths)), go.Figure(), [], []
    for k, (name, values) in enumerate(_some("measured", measured).items()):
        accuracies, style = np.atleast_2d(values).astype(float), _style(k)
        if accuracies.ndim != 2 or accuracies.shape[1] != len(lengths) or not np.isfinite(accuracies).all():
            raise ValueError(
                f"measured[{name!r}] must be finite, of shape (seeds, {len(lengths)}), got shape {accuracies.shape}"
            )
        mean, one = accuracies.mean(axis=0), {"name": name, "legendgroup": name}
        figure.add_scatter(x=lengths, y=_drawn(mean), mode="lines", line=style, **one)
        dots = {"color": style["color"], "size": 6, "symbol": ("circle", "diamond", "square")[k % 3]}
        for seed in accuracies:
            figure.add_scatter(x=lengths, y=_drawn(seed), mode="markers", marker=dots, showlegend=False, **one)
        means.append(f"{percent(mean[-1])} ({name})")
        extremes = zip(accuracies.min(axis=0), accuracies.max(axis=0), lengths, strict=True)
        ranges.append(f"{name}: {', '.join(f'{percent(a)} to {percent(b)} at {number(n)}' for a, b, n in extremes)}")
    grey = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
    figure.add_hline(y=1 / choices, line=grey)
    figure.add_vline(x=trained, line=grey | {"dash": "dash"})
    label = {"showarrow": False, "yanchor": "bottom", "font_size": 11}
    guess = {"x": 1, "xref": "paper", "xanchor": "right", "y": 1 / choices}
    figure.add_annotation(text="uniform guess", **guess, **label)
    top = {"x": np.log10(trained), "y": 1, "yref": "paper"}  # annotations count in powers of ten
    figure.add_annotation(text="trained length", **top, **label)
    figure.update_xaxes(type="log", tickvals=lengths, ticktext=[number(length) for length in lengths])
    figure.update_xaxes(title_text="sequence length (cards)")
    figure.update_yaxes(title_text="accuracy", range=[-0.03, 1.05])
    finding = f"Accuracy among {number(lengths[-1])} cards after training on {number(trained)}: {', '.join(means)}"
    details = f"Minimum and maximum over the seeds. {'; '.join(ranges)}. A uniform guess has {percent(1 / choices)}."
    return _finish(figure, finding, details)


def previous_token_weights(places: Sequence[int], weights: Mapping[str, Sequence[float]]) -> go.Figure:
    """The attention weight on the previous token at every position, for a few models."""
    places, figure, changes, ranges = np.asarray(_some("places", places)), go.Figure(), [], []
    quarter = -(-len(places) // 4)
    for k, (name, weight) in enumerate(_some("weights", weights).items()):
        weight = np.asarray(weight, dtype=float)
        if weight.shape != places.shape or not np.isfinite(weight).all():
            raise ValueError(f"weights[{name!r}] must be {len(places)} finite numbers, got shape {weight.shape}")
        changes.append(f"{weight[:quarter].mean():.2f} → {weight[-quarter:].mean():.2f} ({name})")
        ranges.append(f"{name}: {weight.min():.2f} to {weight.max():.2f}")
        figure.add_scatter(**_at(places), y=_drawn(weight), mode="lines", name=name, line=_style(k))
    figure.update_xaxes(title_text="query position (tokens)")
    figure.update_yaxes(title_text="weight on the previous token", range=[0, 1])
    finding = f"Weight on the previous token, first → last quarter of the positions: {', '.join(changes)}"
    return _finish(figure, finding, f"Over all positions, {'; '.join(ranges)}.")


def decoded_positions(places: Sequence[int], readings: Mapping[str, np.ndarray]) -> go.Figure:
    """Positions decoded from a model against true positions: the median and the middle four fifths.

    A reading has shape (samples, positions) and is greater than 0. The dotted line is perfect decoding.
    """
    places, figure, ranges = np.asarray(_some("places", places), dtype=float), go.Figure(), []
    if places.ndim != 1 or not np.all(places > 0):
        raise ValueError(f"places must all be greater than 0, got {describe(places)}")
    for k, (name, samples) in enumerate(_some("readings", readings).items()):
        decoded = np.asarray(samples, dtype=float)
        if decoded.ndim != 2 or decoded.shape[1] != len(places) or not len(decoded) or not np.all(decoded > 0):
            raise ValueError(
                f"readings[{name!r}] must be greater than 0, of shape (samples, {len(places)}), "
                f"got shape {decoded.shape}"
            )
        low, middle, high = np.quantile(decoded, [0.1, 0.5, 0.9], axis=0)
        ranges.append(f"{number(low[-1])} to {number(high[-1])} ({name})")
        style, one = _style(k, width=1.5), {"legendgroup": name, "name": name}
        band = {"x": np.concatenate([places, places[::-1]]), "y": _drawn(np.concatenate([high, low[::-1]]))}
        figure.add_scatter(
            **band, mode="lines", fill="toself", fillcolor=_faded(style["color"], 0.2), line=style | {"width": 1},
            showlegend=False, hoverinfo="skip", **one,
        )  # fmt: skip
        figure.add_scatter(x=places, y=_drawn(middle), mode="lines", line=style, **one)
    ends = places[[0, -1]]
    exact = {"color": PALETTE["neutral"], "width": 3, "dash": "dot"}
    figure.add_scatter(x=ends, y=ends, mode="lines", line=exact, name="exact")
    ticks = [10**power for power in range(6)]
    ticks = sorted({*(tick for tick in ticks if 2 * ends[0] <= tick <= ends[-1] / 2), *ends.tolist()})
    figure.update_xaxes(title_text="position (tokens)")
    figure.update_yaxes(title_text="decoded position (tokens)")
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(type="log", tickvals=ticks, ticktext=[number(tick) for tick in ticks])
    finding = f"Middle 80\u00a0% of the decodings of position {number(ends[-1])}: {', '.join(ranges)}"
    return _finish(figure, finding, "Both axes are logarithmic. Lines are medians, bands hold the middle 80\u00a0%.")

"""Places that are learned, or counted where no code is (chapter 13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from posenc._arrays import said
from posenc.figures._drawing import PALETTE, _at, _drawn, _faded, _number, _say, _some, _style, _tell


def looking_back(places: Sequence[int], weights: Mapping[str, Sequence[float]]) -> go.Figure:
    """The weight that a token pays to the one before it, at every place, for a few models."""
    places, figure, told = np.asarray(_some("places", places)), go.Figure(), []
    quarter = -(-len(places) // 4)
    for k, (name, weight) in enumerate(_some("weights", weights).items()):
        paid = np.asarray(weight, dtype=float)
        if paid.shape != places.shape or not np.isfinite(paid).all():
            raise ValueError(f"weights[{name!r}] must be {len(places)} finite numbers, got shape {paid.shape}")
        first, last = paid[:quarter].mean(), paid[-quarter:].mean()
        told.append({"name": name, "first": first, "last": last, "least": paid.min(), "greatest": paid.max()})
        figure.add_scatter(**_at(places), y=_drawn(paid), mode="lines", name=name, line=_style(k))
    figure.update_xaxes(title_text=_say("looking_back.across"))
    figure.update_yaxes(title_text=_say("looking_back.up"), range=[0, 1])
    return _tell(figure, "looking_back", models=told)


def places_read(places: Sequence[int], readings: Mapping[str, np.ndarray]) -> go.Figure:
    """Places as they are read off a model, against where the token stands: the median, and the middle four fifths.

    A reading has shape (samples, places) and is greater than 0. On the dotted line a place is read as it is.
    """
    places, figure, told = np.asarray(_some("places", places), dtype=float), go.Figure(), []
    if places.ndim != 1 or not np.all(places > 0):
        raise ValueError(f"places must all be greater than 0, got {said(places)}")
    for k, (name, samples) in enumerate(_some("readings", readings).items()):
        read = np.asarray(samples, dtype=float)
        if read.ndim != 2 or read.shape[1] != len(places) or not len(read) or not np.all(read > 0):
            raise ValueError(
                f"readings[{name!r}] must be greater than 0, of shape (samples, {len(places)}), got shape {read.shape}"
            )
        low, middle, high = np.quantile(read, [0.1, 0.5, 0.9], axis=0)
        told.append({"name": name, "low": low[-1], "high": high[-1]})
        style, one = _style(k), {"legendgroup": name, "name": name}
        band = {"x": np.concatenate([places, places[::-1]]), "y": _drawn(np.concatenate([high, low[::-1]]))}
        figure.add_scatter(
            **band, mode="lines", fill="toself", fillcolor=_faded(style["color"], 0.2), line={"width": 0},
            showlegend=False, hoverinfo="skip", **one,
        )  # fmt: skip
        figure.add_scatter(x=places, y=_drawn(middle), mode="lines", line=style, **one)
    ends = places[[0, -1]]
    exact = {"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"}
    figure.add_scatter(x=ends, y=ends, mode="lines", line=exact, name=_say("places_read.exact"))
    ticks = [10**power for power in range(6)]
    ticks = sorted({*(tick for tick in ticks if 2 * ends[0] <= tick <= ends[-1] / 2), *ends.tolist()})
    figure.update_xaxes(title_text=_say("places_read.across"))
    figure.update_yaxes(title_text=_say("places_read.up"))
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(type="log", tickvals=ticks, ticktext=[_number(tick) for tick in ticks])
    return _tell(figure, "places_read", last=ends[-1], readings=told)

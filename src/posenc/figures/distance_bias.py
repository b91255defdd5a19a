"""Chapter 09: distance and attention dilution apart, and the learned distance bias."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from posenc._arrays import describe
from posenc._numbers import number
from posenc.figures._drawing import PALETTE, _above, _drawn, _finish, _some, _style

_COPIES = 4  # of a half, drawn behind each other; the label says how many there are


def distance_and_dilution(length: int, conditions: Mapping[str, tuple[int, int]]) -> go.Figure:
    """Texts whose first half is moved farther away, or counts several times: one row per condition.

    `conditions` maps a name to (tokens by which the first half is moved, times that it counts).
    """
    _above("length", length, 1)
    half, figure, changes = length // 2, go.Figure(), []
    for row, (name, condition) in enumerate(_some("conditions", conditions).items()):
        if len(condition) != 2 or condition[0] < 0 or condition[1] < 1:
            raise ValueError(
                f"conditions[{name!r}] must be tokens of at least 0 and times of at least 1, got {describe(condition)}"
            )
        gap, times = condition
        place = f"{number(gap)} tokens farther away" if gap else "in place"
        counted = f", each key counted {number(times)} times" if times > 1 else ""
        changes.append(f"{name}: the first half is {place}{counted}")
        boxes = [("second half", half, 0, "score")]
        boxes += [("first half", -gap, copy, "bound") for copy in reversed(range(min(times, _COPIES)))]
        for label, start, copy, colour in boxes:
            lift, shift = -0.07 * copy, 0.02 * length * copy
            left, right = start - shift, start + half - shift
            figure.add_scatter(
                x=[left, right, right, left, left],
                y=[row + lift + y for y in (-0.18, -0.18, 0.18, 0.18, -0.18)],
                mode="lines",
                fill="toself",
                fillcolor=PALETTE[colour],
                line={"color": "white", "width": 1},
                name=label,
                legendgroup=label,
                showlegend=row == 0 and copy == 0,
                hoverinfo="skip",
            )
        if times > 1:
            text = f"each key counts {number(times)} times"
            figure.add_annotation(x=half / 2, y=row + 0.33, text=text, showarrow=False)
        if gap:
            middle = (-gap + half + half) / 2
            figure.add_annotation(x=middle, y=row, text=f"gap of {number(gap)} tokens", showarrow=False)
    figure.update_xaxes(title_text="position given to the model (tokens)", showgrid=False, zeroline=False)
    ticks = {"tickvals": list(range(len(conditions))), "ticktext": list(conditions)}
    figure.update_yaxes(
        title_text="intervention",
        autorange="reversed",
        showgrid=False,
        zeroline=False,
        automargin=True,
        **ticks,
    )
    finding = f"The text stays the same, two halves of {half} tokens; each intervention changes one thing"
    return _finish(figure, finding, f"{'; '.join(changes)}.", height=140 + 80 * len(conditions))


def distance_biases(trained: int, biases: Mapping[str, np.ndarray]) -> go.Figure:
    """The content-independent logit at distances 0, 1, 2, …, within and past the trained length."""
    figure, extremes, edges = go.Figure(), [], []
    for k, (name, values) in enumerate(_some("biases", biases).items()):
        bias = np.asarray(values, dtype=float)
        if bias.ndim != 1 or len(bias) <= trained or not np.isfinite(bias).all():
            raise ValueError(f"biases[{name!r}] must be more than {trained} finite numbers, got {describe(values)}")
        lowest, high = int(bias[:trained].argmin()), bias[trained:].max()
        extremes.append(f"{name} {number(bias[lowest], 1)} at distance {lowest}, then {number(high, 1)}")
        edges.append(f"{name} {number(bias[trained - 1], 1)}")
        figure.add_scatter(x0=0, dx=1, y=_drawn(bias), mode="lines", name=name, line=_style(k))
    last = max(len(values) for values in biases.values()) - 1
    figure.add_vrect(x0=trained, x1=last, fillcolor=PALETTE["neutral"], opacity=0.14, line_width=0)
    for x, text in ((trained / 2, "trained distances"), ((trained + last) / 2, "unseen distances")):
        figure.add_annotation(x=x, y=1.06, yref="paper", text=text, showarrow=False)
    figure.update_xaxes(title_text="distance Δ (tokens)")
    figure.update_yaxes(title_text="distance bias (logits)")
    finding = f"Minimum within {trained} tokens and maximum beyond: {'; '.join(extremes)}"
    return _finish(figure, finding, f"At the last trained distance: {', '.join(edges)}.", height=440)

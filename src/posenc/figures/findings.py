"""The picture of the findings page. Not among the names of `posenc.figures`, so that no chapter depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import describe
from posenc._numbers import number
from posenc.figures._drawing import PALETTE, _drawn, _finish, _some

Line = tuple[Sequence[float], float, str]
_COLOURS = ("score", "bound", "neutral", "position", "query")
_GAP = 4  # pixels between a line and its name


def losses_and_biases(
    context: int, losses: Mapping[str, Line], biases: Mapping[str, Line], step: int = 1024, every: int = 64
) -> go.Figure:
    """Loss by position above the distance bias by distance, on one axis of tokens within and past the trained length.

    A line is its values, the token at which its name is written, and on which side, "top left" or "bottom center". One
    with fewer values than the first of its panel ends where that ends, and so begins later.

    Args:
        context: the trained length in tokens.
        losses: by name, each value the mean over `step` tokens.
        biases: by names of `losses`, in logits, at distances 0, `every`, 2 `every`, …
        step: how many tokens a loss is averaged over.
        every: how many tokens are between two biases.
    """
    titles = ["loss by position", "distance bias by distance"]
    figure = make_subplots(
        2, 1, shared_xaxes=True, row_heights=[0.58, 0.42], vertical_spacing=0.11, subplot_titles=titles
    )
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    styles = {
        name: {"color": PALETTE[_COLOURS[k % len(_COLOURS)]], "width": 2}
        for k, name in enumerate(_some("losses", losses))
    }
    if unknown := [name for name in _some("biases", biases) if name not in styles]:
        raise ValueError(f"biases must be among the losses, which are {', '.join(losses)}, got {unknown[0]!r}")
    ends = []
    for row, (lines, width, start) in enumerate(((losses, step, step / 2), (biases, every, 0.0)), 1):
        longest = len(next(iter(lines.values()))[0])
        said = []
        for name, (values, token, side) in lines.items():
            y = np.asarray(values, dtype=float)
            if y.ndim != 1 or not 1 < len(y) <= longest or not np.isfinite(y).all():
                raise ValueError(
                    f"the values of {name!r} must be 2 to {longest} finite numbers, got {describe(values)}"
                )
            first = start + (longest - len(y)) * width
            at = {"x0": first, "dx": width, "y": _drawn(y), "mode": "lines", "line": styles[name]}
            figure.add_scatter(**at, name=name, showlegend=False, row=row, col=1)
            height = float(np.interp(token, first + width * np.arange(len(y)), y))
            up, along = side.split()
            apart = {"xanchor": {"left": "right", "right": "left"}.get(along, along), "showarrow": False}
            apart |= {"yanchor": "bottom" if up == "top" else "top", "yshift": _GAP if up == "top" else -_GAP}
            figure.add_annotation(x=token, y=height, text=name, **apart, row=row, col=1)
            said.append(f"{name} {number(y[-1], 2 if row == 1 else 1)}")
        ends.append(", ".join(said))
    dotted = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
    figure.add_vline(x=context, line=dotted, row="all", col=1)
    figure.add_annotation(x=context, y=1, yref="paper", yanchor="bottom", text="trained length", showarrow=False)
    last = step * len(next(iter(losses.values()))[0])
    ticks = range(0, last + 1, context // 2)
    figure.update_xaxes(range=[0, 1.01 * last], tickvals=list(ticks), ticktext=[number(tick) for tick in ticks])
    figure.update_xaxes(title_text="tokens", row=2)
    figure.update_yaxes(title_text="nats per token", rangemode="tozero", row=1)
    figure.update_yaxes(title_text="logits", row=2)
    finding = f"Loss in the last {number(step)} tokens: {ends[0]}"
    details = f"Bias at the largest distance: {ends[1]}. The trained length is {number(context)} tokens."
    return _finish(figure, finding, details, height=600)

"""Biases on the scores (chapter 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from posenc.figures._drawing import _at, _drawn, _number, _some, _style, _tell


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

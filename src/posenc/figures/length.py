"""Length extrapolation, context extension and the settings of real models (chapters 09 to 11 and 15)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import describe
from posenc._numbers import SUPERSCRIPTS, number
from posenc.analysis import decay_law, fingerprint, fit_scores
from posenc.figures._drawing import (
    PALETTE,
    _above,
    _colour_scale,
    _drawn,
    _faded,
    _finish,
    _heat_maps,
    _numbers_on,
    _some,
    _style,
    pair_colours,
)
from posenc.frequencies import inv_freq, rotations
from posenc.scaling import Scaled


def _rows(panels: Sequence[str], lengths: Sequence[int]) -> go.Figure:
    """Panels below each other, against sequence length in powers of two.

    The part of a panel's name after the colon is the name of its axis.
    """
    titles = [panel.partition(": ")[0] for panel in panels]
    figure = make_subplots(
        len(titles), 1, shared_xaxes=True, vertical_spacing=0.18 / len(titles), subplot_titles=titles
    )
    for row, panel in enumerate(panels, 1):
        figure.update_yaxes(title_text=panel.partition(": ")[2] or panel, row=row)
    figure.update_xaxes(type="log", tickvals=list(lengths), ticktext=[number(length) for length in lengths])
    figure.update_xaxes(title_text="sequence length (tokens)", row=len(titles))
    return figure.update_annotations(font_size=12, x=0, xanchor="left")


def _checked(measured: Mapping[str, Mapping[str, np.ndarray]], lengths: Sequence[int]) -> dict:
    """Measurements by panel and name as arrays (seeds, lengths), after checking them."""
    found = {panel: {k: np.atleast_2d(v).astype(float) for k, v in each.items()} for panel, each in measured.items()}
    for panel, each in _some("measured", found).items():
        for name, values in _some(f"measured[{panel!r}]", each).items():
            if values.ndim != 2 or values.shape[1] != len(lengths) or not np.isfinite(values).all():
                raise ValueError(
                    f"measured[{panel!r}][{name!r}] must be finite, of shape (seeds, {len(lengths)}), "
                    f"got shape {values.shape}"
                )
    return found


def metrics_by_length(lengths: Sequence[int], measured: Mapping[str, Mapping[str, np.ndarray]]) -> go.Figure:
    """Loss or accuracy of models on the same last tokens of ever longer texts, from the trained length on.

    `measured` maps the name of a panel to models and their values, shape (seeds, lengths): lines through the means, a
    dot per seed. Dotted lines are texts truncated to the trained length, as means.
    """
    found = _checked(measured, _some("lengths", lengths))
    figure, changes, ranges = _rows(list(found), lengths), [], []
    for row, (panel, each) in enumerate(found.items(), 1):
        for k, (name, values) in enumerate(each.items()):
            mean, style = values.mean(axis=0), _style(k)
            shown = {"name": name, "legendgroup": name, "row": row, "col": 1}
            figure.add_scatter(x=list(lengths), y=_drawn(mean), mode="lines", line=style, showlegend=row == 1, **shown)
            dots = {"color": style["color"], "size": 6, "symbol": ("circle", "diamond", "square")[k % 3]}
            for seed in values:
                figure.add_scatter(
                    x=list(lengths), y=_drawn(seed), mode="markers", marker=dots, showlegend=False, **shown
                )
            extremes = zip(values.min(axis=0), values.max(axis=0), strict=True)
            ranges.append(f"{panel}, {name}: {', '.join(f'{low:.2f} to {high:.2f}' for low, high in extremes)}")
        for k, (name, values) in enumerate(each.items()):
            figure.add_scatter(
                x=[lengths[0], lengths[-1]],
                y=_drawn(values.mean(axis=0)[[0, 0]]),
                mode="lines",
                line=_style(k, width=1.5, dash="dot"),
                name=f"{name}, truncated to {number(lengths[0])} tokens",
                legendgroup=name,
                showlegend=row == 1,
                row=row,
                col=1,
            )
        mean = next(iter(each.values())).mean(axis=0)
        changes.append(f"{panel.split(':')[0]} {mean[0]:.2f} → {mean[1]:.2f} → {mean[-1]:.2f}")
    model = next(iter(next(iter(found.values()))))
    first, second, last = map(number, (*lengths[:2], lengths[-1]))
    finding = f"At {first}, {second} and {last} tokens ({model}): {'; '.join(changes)}"
    details = f"Over the seeds, at {', '.join(map(number, lengths))} tokens: {'; '.join(ranges)}."
    return _finish(figure, finding, details, height=110 + 200 * len(found))


def loss_past_context(context: int, step: int, losses: Mapping[str, Sequence[float]]) -> go.Figure:
    """Loss by position within and past the trained length, each value the mean over `step` tokens."""
    _above("step", step, 0)
    figure, before, after = go.Figure(), [], []
    first = context // step
    for k, (name, values) in enumerate(_some("losses", losses).items()):
        loss = np.asarray(values, dtype=float)
        if loss.ndim != 1 or len(loss) <= first or not np.isfinite(loss).all():
            raise ValueError(f"losses[{name!r}] must be more than {first} finite numbers, got {describe(values)}")
        before.append(f"{name} {number(loss[:first].mean(), 2)}")
        after.append(f"{name} {number(loss[-1], 2)}")
        figure.add_scatter(x0=step / 2, dx=step, y=_drawn(loss), mode="lines", name=name, line=_style(k))
    figure.add_vline(x=context, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.add_annotation(x=context, y=1.06, yref="paper", text="trained length", showarrow=False)
    figure.update_xaxes(title_text="position (tokens)")
    figure.update_yaxes(title_text="loss (nats per token)")
    finding = f"Loss in the last {number(step)} tokens: {', '.join(after)}"
    return _finish(figure, finding, f"Mean over the first {number(context)} tokens: {', '.join(before)}.")


def fitted_scores(targets: np.ndarray, dim: int, base: float, min_rotations: Sequence[float]) -> go.Figure:
    """The size of scores that were fitted to targets, within the fitted range and up to twice as far.

    One line per value of `min_rotations`: the fit uses only pairs that make at least that many rotations. Each point is
    the maximum size within 1/64 of the trained length.
    """
    length, theta = len(_some("targets", targets)), inv_freq(dim, base)
    width = max(1, length // 64)
    at = np.arange(2 * length // width) * width
    figure, beyond, within = go.Figure(), [], []
    for k, minimum in enumerate(_some("min_rotations", min_rotations)):
        fit = fit_scores(targets, theta, min_rotations=minimum)
        size = np.abs(fingerprint(np.arange(len(at) * width), fit.inv_freq) @ fit.coefficients)
        name = f"all {len(theta)} pairs"
        if minimum:
            name = f"{len(fit.inv_freq)} pairs with at least {minimum:g} rotations"
        y = np.float32(size.reshape(len(at), width).max(axis=1))
        figure.add_scatter(x=at, y=y, mode="lines", name=name, line=_style(k))
        far = float(fit.past_range)
        reached = f"10{str(int(np.log10(far))).translate(SUPERSCRIPTS)}" if far > 1000 else f"{far:.2f}"
        beyond.append(f"{reached} ({name})")
        within.append(f"{float(fit.in_range):.2f} ({name})")
    figure.add_vline(x=length, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(title_text="distance Δ (tokens)")
    figure.update_yaxes(type="log", title_text="maximum |score|", exponentformat="power")
    finding = f"Beyond the {number(length)} fitted distances |score| reaches {', '.join(beyond)}"
    return _finish(figure, finding, f"Maximum of |score| within them: {'; '.join(within)}.", height=440)


def excess_loss_by_angle(costs: Mapping[str, tuple[np.ndarray, np.ndarray]], unit: str) -> go.Figure:
    """Excess loss when distant tokens have a given angle of one pair, against the angle as a fraction of a rotation.

    `costs` maps the name of a pair to (increasing fractions from 0 to 1, excess losses). The title has the maxima,
    without pairs whose maximum is below a fifth of the largest.
    """
    figure, peaks = go.Figure(), []
    for k, (name, pair) in enumerate(_some("costs", costs).items()):
        at, cost = (np.asarray(values, dtype=float) for values in pair)
        if at.shape != cost.shape or at.ndim != 1 or not np.isfinite(cost).all() or at.min() < 0 or at.max() > 1:
            raise ValueError(
                f"costs[{name!r}] must be fractions of a rotation and finite losses, one of each, got {describe(pair)}"
            )
        marker = {"size": 8, "symbol": ("circle", "diamond", "square")[k % 3], "color": _style(k)["color"]}
        round_at, round_cost = np.append(at, at[0] + 1), np.append(cost, cost[0])  # the circle closes
        drawn = {"x": _drawn(round_at), "y": _drawn(round_cost), "marker": marker, "line": _style(k)}
        figure.add_scatter(**drawn, mode="lines+markers", name=name)
        peaks.append((cost.max(), at[cost.argmax()]))
    figure.add_vrect(x0=0.5, x1=1, fillcolor=PALETTE["neutral"], opacity=0.14, line_width=0)
    for x, sign in ((0.25, "positive"), (0.75, "negative")):
        figure.add_annotation(x=x, y=1.08, yref="paper", text=f"sine {sign}", showarrow=False)
    ticks = {"tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", "¼", "½", "¾", "1"]}
    figure.update_xaxes(title_text="angle of the distant tokens (rotations)", range=[-0.03, 1.03], **ticks)
    figure.update_yaxes(title_text=f"excess loss ({unit})")
    largest = max(peaks)[0]
    where = [at for cost, at in peaks if cost >= largest / 5 or largest <= 0]
    ends = " to ".join(f"{at:.2f}" for at in sorted({min(where), max(where)}))
    finding = f"The excess loss peaks at {ends} of a rotation; the sine of the angle has its minimum at 0.75"
    maxima = "; ".join(f"{name} {cost:.2f}" for name, (cost, _) in zip(costs, peaks, strict=True))
    details = f"The angle of one pair is changed alone. Maximum excess loss in {unit}: {maxima}."
    return _finish(figure, finding, details, height=440)


def scaling_ratios(dim: int, base: float, trained_length: int, methods: Mapping[str, Scaled]) -> go.Figure:
    """The ratio of each scaled frequency to the original, against the rotations that the pair makes in training."""
    theta = inv_freq(dim, base)
    made = rotations(trained_length, theta)
    figure, unchanged, ends = go.Figure(), [], []
    for k, (name, scaled) in enumerate(_some("methods", methods).items()):
        frequencies = np.asarray(scaled.inv_freq)
        if frequencies.shape != theta.shape:
            raise ValueError(f"methods[{name!r}] must have {len(theta)} frequencies, got shape {frequencies.shape}")
        ratios = frequencies / theta
        unchanged.append(f"{np.count_nonzero(np.isclose(ratios, 1, rtol=1e-6))} ({name})")
        ends.append(f"{name} {ratios[0]:.3g} to {ratios[-1]:.3g}")
        figure.add_scatter(x=np.float32(made), y=_drawn(ratios), mode="lines", name=name, line=_style(k))
    line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
    figure.add_vline(x=1, line=line)
    label = {"text": "one rotation", "showarrow": False, "xanchor": "left", "xshift": 4}
    figure.add_annotation(x=0, yref="paper", y=0.85, **label)  # annotations count in powers of ten
    across = f"rotations within {number(trained_length)} tokens"
    figure.update_xaxes(type="log", autorange="reversed", title_text=across)
    figure.update_yaxes(title_text="scaled / original frequency", rangemode="tozero")
    details = (
        f"Scaled over original frequency, first to last pair: {', '.join(ends)}. "
        f"{np.count_nonzero(made < 1)} pairs make less than one rotation within {number(trained_length)} tokens."
    )
    return _finish(figure, f"Pairs with unchanged frequency, of {len(theta)}: {', '.join(unchanged)}", details)


def scores_by_cache(asked: int, scores: Mapping[str, Sequence[float]]) -> go.Figure:
    """Scores at distances 0, 1, 2, … of a head that attends `asked` tokens back, by how keys are cached."""
    figure, peaks, maxima = go.Figure(), [], []
    for k, (name, values) in enumerate(_some("scores", scores).items()):
        values = np.asarray(values, dtype=float)
        if values.ndim != 1 or len(values) <= asked or not np.isfinite(values).all():
            raise ValueError(f"scores[{name!r}] must be more than {asked} finite numbers, got {describe(values)}")
        figure.add_scatter(x0=0, dx=1, y=_drawn(values), mode="lines", name=name, line=_style(k))
        peaks.append(f"{number(values.argmax())} ({name})")
        maxima.append(f"{number(values.max(), 2)} ({name})")
    figure.add_vline(x=asked, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(title_text="distance Δ (tokens)")
    figure.update_yaxes(title_text="score (at most 1)")
    finding = f"Maximum score of a head that attends {number(asked)} tokens back: at distance {', '.join(peaks)}"
    return _finish(figure, finding, f"Maximum scores: {', '.join(maxima)}.")


def over_seeds(
    at: Sequence[float],
    panels: Mapping[str, Mapping[str, Sequence[Sequence[float]]]],
    across: str,
    up: str,
    reference: tuple[str, Sequence[float]],
    bands: str | None = None,
) -> go.Figure:
    """Values of methods at a few settings, one panel per model: means within bands.

    `panels` maps models to methods, and each method to (mean, min, max) at every setting; `reference` is (name, value
    per panel) of a line to compare with; `bands` describes lines and bands, if not means over seeds and ranges.
    """
    at, (name_of_reference, levels) = np.asarray(_some("at", at), dtype=float), reference
    if len(levels) != len(_some("panels", panels)):
        raise ValueError(f"reference must have {len(panels)} values, one per panel, got {describe(levels)}")
    figure = make_subplots(len(panels), 1, shared_xaxes=True, vertical_spacing=0.1, subplot_titles=list(panels))
    ranges = []
    for row, ((panel, methods), level) in enumerate(zip(panels.items(), levels, strict=True), 1):
        ends = {}
        for k, (name, values) in enumerate(_some(f"panels[{panel!r}]", methods).items()):
            mean, low, high = np.array([list(value)[:3] for value in values], dtype=float).reshape(-1, 3).T
            if mean.shape != at.shape or not np.isfinite([mean, low, high]).all():
                raise ValueError(f"panels[{panel!r}][{name!r}] must be {len(at)} times three finite numbers")
            ends[name], style = mean[-1], _style(k)
            band = {"x": np.concatenate([at, at[::-1]]), "y": _drawn(np.concatenate([high, low[::-1]]))}
            unnamed = {"legendgroup": name, "showlegend": False, "hoverinfo": "skip", "row": row, "col": 1}
            filled = {"fill": "toself", "fillcolor": _faded(style["color"], 0.15), "line": {"width": 0}}
            figure.add_scatter(**band, **filled, mode="lines", name=name, **unnamed)
            one = {"legendgroup": name, "showlegend": row == 1, "row": row, "col": 1}
            figure.add_scatter(x=at, y=_drawn(mean), mode="lines+markers", name=name, line=style, **one)
        line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
        one = {"legendgroup": name_of_reference, "showlegend": row == 1, "row": row, "col": 1}
        figure.add_scatter(x=at[[0, -1]], y=[level] * 2, mode="lines", name=name_of_reference, line=line, **one)
        lowest, highest = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
        extremes = f"from {number(ends[lowest], 2)} ({lowest}) to {number(ends[highest], 2)} ({highest})"
        ranges.append(f"{extremes}, {name_of_reference} {number(level, 2)} ({panel})")
    if bands:
        marker = {"symbol": "square", "size": 12, "color": _faded(PALETTE["neutral"], 0.3)}
        name = "<br>".join(wrap(bands, 40))  # a legend breaks no lines
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name, row=1, col=1)
    figure.update_xaxes(type="log" if at[0] > 0 else "linear", tickvals=at, ticktext=[f"{value:g}" for value in at])
    figure.update_xaxes(title_text=across, row=len(panels))
    figure.update_yaxes(title_text=up)
    figure.update_annotations(font_size=12)
    finding = f"At {at[-1]:g} {across}, {up}: {'; '.join(ranges)}"
    details = bands or "Lines are means over the seeds, bands reach from their minimum to their maximum."
    return _finish(figure, finding, details, height=150 + 230 * len(panels))


def _whole(name: str) -> str:
    """A name with no-break spaces."""
    return name.replace(" ", "\u00a0")


def benchmarks(
    measured: Mapping[str, Mapping[str, Sequence[float]]], lower_is_better: Collection[str] = ()
) -> go.Figure:
    """Positional encodings (down) on several benchmarks (across) as a heat map: means and ranges over the seeds.

    `measured` maps a benchmark, "name: unit", to encodings and their values, one per seed; `lower_is_better` names
    benchmarks whose minimum is best. A column's colours go from its worst mean to its best. The best mean is bold, and
    so is every encoding that has a seed at least as good as the worst seed of the best.
    """
    found = {
        benchmark: {name: np.asarray(values, dtype=float) for name, values in each.items()}
        for benchmark, each in _some("measured", measured).items()
    }
    names = list(_some("the first benchmark", next(iter(found.values()))))
    for benchmark, each in found.items():
        if list(each) != names or any(v.ndim != 1 or not v.size or not np.isfinite(v).all() for v in each.values()):
            raise ValueError(f"measured[{benchmark!r}] must have finite values of {names}, got {describe(each)}")
    if not set(lower_is_better) <= set(found):
        raise ValueError(f"lower_is_better must name benchmarks of measured, got {list(lower_is_better)}")
    titles = [benchmark.partition(": ")[0] for benchmark in found]
    shape = len(names), len(found)
    colours, written, level, firsts, ranges = np.zeros(shape), np.empty(shape, object), [], [], []
    for column, (benchmark, each) in enumerate(found.items()):
        sign = -1 if benchmark in lower_is_better else 1
        means = sign * np.array([values.mean() for values in each.values()])
        best = names[int(means.argmax())]
        tied = {name for name, values in each.items() if max(sign * values) >= min(sign * each[best])}
        level.append(tied)
        colours[:, column] = (means - means.min()) / (np.ptp(means) or 1.0)
        firsts.append(f"{_whole(best)} ({titles[column]})")
        each_range = []
        for row, (name, values) in enumerate(each.items()):
            mean, span = f"{values.mean():.2f}", f"{values.min():.2f}–{values.max():.2f}"
            mean = f"<b>{mean}</b>" if name in tied else mean
            written[row, column] = f"{mean}<br><span style='font-size:8px'>{span}</span>"
            each_range.append(f"{name} {values.mean():.2f} ({span})")
        better = "lower" if sign < 0 else "higher"
        ranges.append(f"{benchmark} ({better} is better): {', '.join(each_range)}")
    figure = go.Figure(go.Heatmap(z=_drawn(colours), coloraxis="coloraxis", hoverinfo="skip", opacity=0.6))
    _numbers_on(figure, shape, list(written.flat), showlegend=False, textfont_size=12)
    across = [title.replace(", ", ",<br>") for title in titles]
    bare = {"showgrid": False, "zeroline": False, "automargin": True}
    figure.update_xaxes(tickvals=list(range(shape[1])), ticktext=across, tickangle=0, tickfont_size=10, **bare)
    figure.update_xaxes(title_text="benchmark")
    figure.update_yaxes(tickvals=list(range(shape[0])), ticktext=names, tickfont_size=11, **bare)
    figure.update_yaxes(title_text="positional encoding", range=[shape[0] - 0.5, -0.5])
    everywhere = len(set(names).intersection(*level)) or "none"
    finding = f"Best or tied on every benchmark: {everywhere} of {len(names)}. Best means: {'; '.join(firsts)}"
    details = f"Means, with the ranges over the seeds: {'; '.join(ranges)}."
    _finish(figure, finding, details, height=130 + 36 * len(names))
    return figure.update_layout(coloraxis=_colour_scale(0, 1) | {"showscale": False})


def scheme_comparison(schemes: Sequence[str], verdicts: np.ndarray) -> go.Figure:
    """Pairwise comparison of schemes over all benchmarks: a row against each column.

    `verdicts` is antisymmetric: 1 where the row's scheme is ahead in some benchmark and behind in none, −1 where the
    column's is, else 0.
    """
    table = np.asarray(verdicts)
    count = len(_some("schemes", schemes))
    if table.shape != (count, count) or not np.isin(table, (-1, 0, 1)).all() or (table != -table.T).any():
        raise ValueError(f"verdicts must be {count} × {count} of −1, 0 and 1, antisymmetric, got {describe(verdicts)}")
    figure = go.Figure()
    tied, neutral = (table == 0) & ~np.eye(count, dtype=bool), PALETTE["neutral"]
    kinds = (
        ("better", table == 1, {"symbol": "circle", "size": 13, "color": PALETTE["score"]}),
        ("worse", table == -1, {"symbol": "x-thin", "size": 8, "line_color": neutral}),
        ("neither", tied, {"symbol": "circle-open", "size": 9, "color": neutral}),
    )
    for name, cells, marker in kinds:
        rows, columns = np.nonzero(cells)
        marker = {"line": {"width": 1.5, "color": marker.pop("line_color", None)}, **marker}
        figure.add_scatter(x=columns, y=rows, mode="markers", name=name, marker=marker)
    named = {"tickvals": list(range(count)), "ticktext": list(schemes), "zeroline": False, "automargin": True}
    figure.update_yaxes(title_text="this encoding, compared with …", range=[count - 0.5, -0.5], **named)
    figure.update_xaxes(title_text="… this one", range=[-0.5, count - 0.5], tickangle=-90, **named)
    worse = [", ".join(s for s, cell in zip(schemes, row, strict=True) if cell == 1) or "none" for row in table]
    ordered = f"{int((table == 1).sum())} of {count * (count - 1) // 2} pairs of encodings have an order"
    details = "; ".join(f"{scheme} is better than {others}" for scheme, others in zip(schemes, worse, strict=True))
    finding = f"{ordered}: one is ahead on some benchmark and behind on none"
    _finish(figure, finding, f"{details}.", height=300 + 34 * count)
    return figure.update_layout(legend_y=-0.34, margin_b=150)


def copy_accuracy_by_distance(
    distances: Sequence[int], measured: Mapping[str, Sequence[float]], trained: int, symbols: int
) -> go.Figure:
    """Copy accuracy of models against the distance of the answer, at one sequence length.

    `trained` is the maximum distance in training, `symbols` the number of equally likely guesses.
    """
    distances = np.asarray(_some("distances", distances))
    figure, at_end, every = go.Figure(), {}, []
    for k, (name, values) in enumerate(_some("measured", measured).items()):
        values = np.asarray(values, dtype=float)
        if values.shape != distances.shape or not np.isfinite(values).all():
            raise ValueError(f"measured[{name!r}] must be {len(distances)} finite numbers, got {describe(values)}")
        at_end[name] = values[-1]
        every.append(f"{name} {', '.join(f'{value:.2f}' for value in values)}")
        figure.add_scatter(x=distances, y=_drawn(values), mode="lines+markers", name=name, line=_style(k))
    figure.add_hline(y=1 / symbols, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.add_vline(x=trained, line={"color": PALETTE["neutral"], "width": 1, "dash": "dash"})
    label = {"text": "maximum in training", "showarrow": False, "font_size": 11}
    label |= {"x": np.log10(trained), "y": 1}  # annotations count in powers of ten
    figure.add_annotation(yref="paper", yanchor="bottom", **label)
    figure.update_xaxes(type="log", tickvals=distances, ticktext=[number(one) for one in distances])
    figure.update_xaxes(title_text="distance to the answer (tokens)")
    figure.update_yaxes(title_text="copy accuracy", range=[-0.03, 1.05])
    worst, best = min(at_end, key=at_end.__getitem__), max(at_end, key=at_end.__getitem__)
    finding = (
        f"Copy accuracy at distance {number(distances[-1])} after training up to {number(trained)}: "
        f"from {at_end[worst]:.2f} ({_whole(worst)}) to {at_end[best]:.2f} ({_whole(best)})"
    )
    details = f"At {', '.join(map(number, distances))} tokens: {'; '.join(every)}. Uniform guess: {1 / symbols:.3f}."
    return _finish(figure, finding, details)


def accuracy_maps(
    panels: Mapping[str, np.ndarray], methods: Sequence[str], at: Sequence[int], across: str, chance: float
) -> go.Figure:
    """Accuracies of methods (down) at a few settings (across), as heat maps one below the other, with the numbers.

    Args:
        panels: by name, shares from 0 to 1, shape (methods, at).
        methods: the names of the rows.
        at: the settings, for example distances.
        across: what these are, with their unit.
        chance: the share that guessing gets right.
    """
    shape = (len(_some("methods", methods)), len(_some("at", at)))
    tables = {name: np.asarray(table, dtype=float) for name, table in _some("panels", panels).items()}
    for name, values in tables.items():
        if values.shape != shape or not (0 <= values.min() <= values.max() <= 1):
            raise ValueError(f"panels[{name!r}] must be shares from 0 to 1 of shape {shape}, got {describe(values)}")
    figure = _heat_maps({name: _drawn(values) for name, values in tables.items()}, 1, 0, 1, square=False)
    ranges, every = [], []
    for row, (name, values) in enumerate(tables.items(), 1):
        written = [f"{value:.2f}" for value in values.ravel()]
        _numbers_on(figure, shape, written, row=row, col=1, showlegend=False)
        last = values[:, -1]
        ranges.append(f"{last.min():.2f} to {last.max():.2f}{f' ({name})' if name else ''}")
        lines = (
            f"{method} {', '.join(f'{v:.2f}' for v in line)}" for method, line in zip(methods, values, strict=True)
        )
        every.append(f"{name}: {'; '.join(lines)}" if name else "; ".join(lines))
    figure.update_yaxes(tickvals=np.arange(shape[0]), ticktext=list(methods), title_text="method", automargin=True)
    figure.update_xaxes(tickvals=np.arange(shape[1]), ticktext=[number(one) for one in at])
    figure.update_xaxes(title_text=across, row=len(panels))
    figure.update_layout(coloraxis_showscale=False)
    finding = f"Accuracies at {number(at[-1])}: {', '.join(ranges)}"
    details = f"Accuracy at {', '.join(map(number, at))} {across}. {'. '.join(every)}. Chance: {chance:.3f}."
    _finish(figure, finding, details, height=130 + (50 + 26 * shape[0]) * len(panels))
    return figure.update_layout(margin_t=figure.layout.margin.t + 20)  # a panel has a title, too


def rotations_by_model(models: Mapping[str, tuple[int, Sequence[float]]]) -> go.Figure:
    """The rotations of every pair of a few models within the trained length, one row per model.

    A model is (trained length in tokens, frequencies in radians per token, fast pairs first).
    """
    figure, incomplete, ranges = go.Figure(), [], []
    for row, (name, (length, frequencies)) in enumerate(_some("models", models).items()):
        made = np.asarray(rotations(length, frequencies))
        pairs, below = len(made), np.count_nonzero(made < 1)
        incomplete.append((below / pairs, f"{below} of {pairs} ({_whole(name)})"))
        ranges.append(f"{name} {number(made[0])} to {made[-1]:.2g} rotations in {number(length)} tokens")
        figure.add_scatter(
            x=np.float32(made),
            y=[row] * pairs,
            mode="markers",
            marker={"color": pair_colours(pairs), "size": 12, "symbol": "line-ns-open", "line_width": 1},
            name=name,
            showlegend=False,
        )
    for at, words in ((1, "one rotation"), (0.25, "a quarter")):
        figure.add_vline(x=at, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
        place = {"yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False, "font_size": 11}
        # annotations count in powers of ten
        figure.add_annotation(x=np.log10(at), text=words, xanchor="right" if at == 1 else "left", **place)
    across = "rotations within the trained length"
    figure.update_xaxes(type="log", autorange="reversed", title_text=across, exponentformat="power", dtick=1)
    figure.update_yaxes(
        tickvals=list(range(len(models))),
        ticktext=list(models),
        range=[len(models) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
        title_text="model",
    )
    fewest, most = (end(incomplete, key=lambda one: one[0])[1] for end in (min, max))
    finding = f"Pairs with less than one rotation within the trained length: from {fewest} to {most}"
    return _finish(figure, finding, f"First to last pair: {'; '.join(ranges)}.", height=150 + 30 * len(models))


def _together(places: Mapping[str, tuple[float, float]]) -> dict[tuple[float, float], list[str]]:
    """Names by position, joined where they would overlap on a plane of two logarithmic axes."""
    groups: dict[tuple[float, float], list[str]] = {}
    for name, place in places.items():
        near = (at for at in groups if _apart(at, place).max() < 0.15)
        groups.setdefault(next(near, tuple(place)), []).append(name)
    return groups


def _apart(one: tuple[float, float], other: tuple[float, float]) -> np.ndarray:
    """Distance of two points on a plane of two logarithmic axes, in powers of ten."""
    return np.abs(np.log10(np.divide(one, other)))


_PLANES = np.array([[236, 520], [630, 530]])  # pixels across and up, on a phone and on a page
_SIDES = [" ".join((up, along)) for up in ("middle", "top", "bottom") for along in ("left", "right", "center")]
_SIDES.remove("middle center")


def _box(at: np.ndarray, text: str, side: str) -> np.ndarray:
    """The pixels (left, bottom), (right, top) of a name beside a marker, as plotly.js places text of size 11."""
    up, along = side.split()
    lines = text.split("<br>")
    size = np.array([5.6 * max(map(len, lines)), 11 + 14.3 * (len(lines) - 1)])
    sign = np.array([{"left": -1, "center": 0, "right": 1}[along], {"bottom": -1, "middle": 0, "top": 1}[up]])
    middle = at + sign * (6.6 + size / 2)
    return np.array([middle - size / 2, middle + size / 2])


def _shared(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The overlap of boxes of shape (…, 2 corners, 2)."""
    low = np.maximum(one[..., 0, :], other[..., 0, :])
    return np.clip(np.minimum(one[..., 1, :], other[..., 1, :]) - low, 0, None).prod(axis=-1)


def _sides(
    names: Sequence[tuple[np.ndarray, str, str]], lines: Sequence[tuple[np.ndarray, float]], tries: int = 60
) -> list[str]:
    """Sides of the markers on which their names overlap each other, markers and lines least.

    A name is its marker's position, from 0 to 1 across and up, its text and the preferred side; a line is its ends and
    the weight of a pixel of it. From several starts, names move one after another to the side with the least overlap,
    on a phone and on a page.
    """
    alone = np.array([[float(side != preferred) for side in _SIDES] for _, _, preferred in names])
    both = np.zeros(2 * alone.shape)  # (names, sides, names, sides)
    for plane in _PLANES:
        places = plane * [at for at, _, _ in names]
        texts = (text for _, text, _ in names)
        boxes = np.array([[_box(at, text, side) for side in _SIDES] for at, text in zip(places, texts, strict=True)])
        dots = _shared(boxes[:, :, None], np.stack([places - 4.5, places + 4.5], axis=1))
        alone += 3 * dots.sum(axis=-1) + _shared(boxes, boxes) - _shared(boxes, np.array([[-6, 0], plane + [10, 0]]))
        both += 3 * _shared(boxes[:, :, None, None], boxes)
        for ends, weight in lines:
            way = np.linspace(*(plane * ends), 200)
            inside = ((boxes[:, :, None, 0] <= way) & (way <= boxes[:, :, None, 1])).all(axis=-1).mean(axis=-1)
            alone += weight * np.linalg.norm(way[-1] - way[0]) * inside
    every, rng = np.arange(len(names)), np.random.default_rng(0)
    both[every, :, every, :] = 0
    best: tuple[float, list[int]] | None = None
    for begin in (alone.argmin(axis=1), *rng.integers(len(_SIDES), size=(tries, len(names)))):
        chosen, before = begin.copy(), None
        while not np.array_equal(chosen, before):
            before = chosen.copy()
            for k in every:
                chosen[k] = np.argmin(alone[k] + both[k][:, every, chosen].sum(axis=-1))
        cost = alone[every, chosen].sum() + both[every[:, None], chosen[:, None], every, chosen].sum() / 2
        if best is None or cost < best[0]:
            best = float(cost), chosen.tolist()
    assert best is not None
    return [_SIDES[k] for k in best[1]]


def context_and_wavelength(
    trained: Mapping[str, tuple[int, float]], allowed: Mapping[str, tuple[int, float]]
) -> go.Figure:
    """Context length against the wavelength of the slowest pair, in training and as a configuration allows.

    Both arguments map a model to (tokens, wavelength in tokens). A line joins the two points of a model in both; models
    of unknown trained length are in `allowed` only.
    """
    every = np.array([*_some("trained", trained).values(), *allowed.values()], dtype=float)
    if not (every > 0).all():
        raise ValueError(f"lengths and wavelengths must be greater than 0, got {every.min()}")
    figure = go.Figure()
    ends = np.array([every[:, 0].min() / 12, every[:, 0].max() * 20])  # names have room at either side
    low, high = min(every[:, 1].min() / 4, ends[0]), every[:, 1].max() * 3
    corners = np.log10([[ends[0], low], [ends[1], high]])

    def within(places: Sequence[tuple[float, float]]) -> np.ndarray:
        return (np.log10(places) - corners[0]) / (corners[1] - corners[0])

    crossed = [(within(ends.repeat(2).reshape(2, 2)), 20.0)]
    for name in (name for name in allowed if name in trained):
        way = np.array([trained[name], allowed[name]], dtype=float)
        crossed.append((within(way), 1.0))
        line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
        figure.add_scatter(x=way[:, 0], y=way[:, 1], mode="lines", line=line, name=name, showlegend=False)
    line = {"color": PALETTE["bound"], "width": 2}
    figure.add_scatter(x=ends, y=ends, mode="lines", line=line, name="diagonal: slowest pair makes one rotation")
    far = {name: place for name, place in allowed.items() if place[0] > 2 * trained.get(name, (0,))[0]}
    near = {name: place for name, place in allowed.items() if name not in far}
    dots, circles = _together(trained), _together(far | near)
    texts = ["<br>".join(names) for names in dots.values()]
    texts += ["<br>".join(name for name in names if name in far) for names in circles.values()]
    preferred = ["middle left"] * len(dots) + ["middle right"] * len(circles)
    sides = _sides(list(zip(within([*dots, *circles]), texts, preferred, strict=True)), crossed)
    for groups, of, name, symbol, colour in (
        (dots, slice(len(dots)), "trained length", "circle", "score"),
        (circles, slice(len(dots), None), "configured length", "circle-open", "position"),
    ):
        figure.add_scatter(
            x=[at[0] for at in groups],
            y=[at[1] for at in groups],
            text=texts[of],
            textposition=sides[of],
            cliponaxis=False,
            textfont={"size": 11},
            mode="markers+text",
            marker={"color": PALETTE[colour], "size": 9, "symbol": symbol},
            name=name,
        )
    figure.update_xaxes(type="log", title_text="context length (tokens)", range=corners[:, 0])
    figure.update_yaxes(type="log", title_text="wavelength of the slowest pair (tokens)", range=corners[:, 1])
    made = sorted((length / wave, name) for name, (length, wave) in trained.items())
    complete = sum(rotated >= 1 for rotated, _ in made) or "None"
    (fewest, first), (most, last) = made[0], made[-1]
    finding = (
        f"{complete} of {len(made)} slowest pairs made a full rotation within the trained length: "
        f"{fewest:.2g} ({_whole(first)}) to {most:.2g} ({_whole(last)})"
    )
    pairs = "; ".join(f"{name} {number(length)} and {number(wave)}" for name, (length, wave) in trained.items())
    return _finish(figure, finding, f"Trained length and slowest wavelength in tokens: {pairs}.", height=690)


def min_scores(length: int, lowest: Mapping[float, float]) -> go.Figure:
    """The minimum of S(m) from 0 to a length, by base, and the smooth law at that length.

    `lowest` maps each base to the minimum of `posenc.analysis.decay`; a base passes if it is not negative.
    """
    bases = np.array(sorted(_some("lowest", lowest)), dtype=float)
    _above("the smallest base", float(bases[0]), 1)
    minima = np.array([lowest[base] for base in sorted(lowest)])
    passing = minima >= 0
    figure = go.Figure()
    law = [float(decay_law(length, base)) for base in bases]
    line = {"color": PALETTE["neutral"], "width": 2}
    name = f"law at {number(length)}"
    figure.add_scatter(x=bases, y=_drawn(np.array(law)), mode="lines", line=line, name=name)
    for which, name, colour, symbol in ((passing, "passes", "score", "circle"), (~passing, "fails", "bound", "x")):
        marker = {"color": PALETTE[colour], "symbol": symbol, "size": 7}
        figure.add_scatter(x=bases[which], y=_drawn(minima[which]), mode="markers", marker=marker, name=name)
    figure.add_hline(y=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.update_yaxes(title_text=f"min S(Δ) up to {number(length)}")
    later = bases[~passing & (bases > bases[passing][0])] if passing.any() else bases[:0]
    ticks: list[float] = []  # as many as have room, first those that the title names
    for base in (*bases[passing][:1], *later[-1:], bases[-1], bases[0], *bases[np.log10(bases) % 1 == 0]):
        if all(abs(np.log(base / tick)) > np.log(bases[-1] / bases[0]) / 5 for tick in ticks):
            ticks.append(float(base))
    figure.update_xaxes(type="log", title_text="base", tickvals=ticks, ticktext=[number(tick) for tick in ticks])
    details = f"Of {len(bases)} bases from {number(bases[0])} to {number(bases[-1])}, {passing.sum()} pass"
    if passing.any():
        larger = f"{len(later)} larger ones fail, the last {number(later[-1])}" if len(later) else "so do all above it"
        finding = f"base {number(bases[passing][0])} is the first that passes, and {larger}"
        details += f"; the law rises monotonically from {law[0]:.2f} to {law[-1]:.2f}"
    else:
        finding = "S(Δ) becomes negative for each of these bases"
    return _finish(figure, f"Up to {number(length)} tokens {finding}", f"{details}.")

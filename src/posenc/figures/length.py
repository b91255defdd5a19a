"""Texts longer than those of training: what fails, what mends it, and what real models chose (chapters 09 to 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, groupby

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import said
from posenc.analysis import (
    decay_law,
    fingerprint,
    fit_scores,
)
from posenc.figures._drawing import PALETTE, _above, _drawn, _faded, _number, _some, _style, _tell, pair_colours
from posenc.frequencies import inv_freq, turns
from posenc.scaling import Scaled


def _rows(panels: Sequence[str], lengths: Sequence[int]) -> go.Figure:
    """Panels one under another, all over the length of the text in powers of two.

    What follows the colon in the name of a panel is the name of its axis.
    """
    titles = [panel.partition(": ")[0] for panel in panels]
    figure = make_subplots(
        len(titles), 1, shared_xaxes=True, vertical_spacing=0.18 / len(titles), subplot_titles=titles
    )
    for row, panel in enumerate(panels, 1):
        figure.update_yaxes(title_text=panel.partition(": ")[2] or panel, row=row)
    figure.update_xaxes(type="log", tickvals=list(lengths), ticktext=[_number(length) for length in lengths])
    figure.update_xaxes(title_text="length of the text (tokens)", row=len(titles))
    return figure.update_annotations(font_size=12, x=0, xanchor="left")


def _in_full(measured: Mapping[str, Mapping[str, np.ndarray]], lengths: Sequence[int]) -> dict:
    """Measurements by panel and name as arrays (seeds, lengths), after checking that they are."""
    found = {panel: {k: np.atleast_2d(v).astype(float) for k, v in each.items()} for panel, each in measured.items()}
    for panel, each in _some("measured", found).items():
        for name, values in _some(f"measured[{panel!r}]", each).items():
            if values.ndim != 2 or values.shape[1] != len(lengths) or not np.isfinite(values).all():
                raise ValueError(
                    f"measured[{panel!r}][{name!r}] must be finite, of shape (seeds, {len(lengths)}), "
                    f"got shape {values.shape}"
                )
    return found


def cliffs(lengths: Sequence[int], measured: Mapping[str, Mapping[str, np.ndarray]]) -> go.Figure:
    """What models reach on the same last tokens of ever longer texts, the first length that of their training.

    `measured` maps the name of a panel to models and their values, shape (seeds, lengths): a line through the means,
    a dot for each seed. The dotted line is the text cut to the first length, mean of the first model.
    """
    found = _in_full(measured, _some("lengths", lengths))
    figure, told, ends = _rows(list(found), lengths), [], []
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
            spans = [
                f"{low:.2f} to {high:.2f}" for low, high in zip(values.min(axis=0), values.max(axis=0), strict=True)
            ]
            ends.append(f"{panel}, {name}: {', '.join(spans)}")
        first = next(iter(each.values())).mean(axis=0)
        cut = {"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"}
        figure.add_scatter(
            x=[lengths[0], lengths[-1]],
            y=_drawn(first[[0, 0]]),
            mode="lines",
            line=cut,
            name=f"cut to the last {_number(lengths[0])} tokens",
            showlegend=row == 1,
            row=row,
            col=1,
        )
        told.append(f"{panel.split(':')[0]} {first[0]:.2f} → {first[1]:.2f} → {first[-1]:.2f}")
    finding = (
        f"From {_number(lengths[0])} to {_number(lengths[1])} and to {_number(lengths[-1])} tokens "
        f"({next(iter(next(iter(found.values()))))}): {'; '.join(told)}"
    )
    return _tell(figure, finding, f"Over the seeds, at {', '.join(map(str, lengths))} tokens: {'; '.join(ends)}.",
                 height=110 + 200 * len(found))  # fmt: skip


def suspects(lengths: Sequence[int], measured: Mapping[str, Mapping[str, np.ndarray]]) -> go.Figure:
    """Two causes apart and together, and what they should explain, against the length that they stand for.

    `measured` maps the name of a panel to causes and their values at each length. The last is the real thing, drawn as
    dots; the title has what each reaches at the last length.
    """
    found = _in_full(measured, _some("lengths", lengths))
    figure, told, every = _rows(list(found), lengths), [], []
    for row, (panel, each) in enumerate(found.items(), 1):
        for k, (name, values) in enumerate(each.items()):
            real = k == len(each) - 1
            style = _style(k) if k < 2 else {"color": PALETTE["position" if k == 2 else "neutral"], "width": 2}
            marker = {"color": style["color"], "size": 9 if real else 6, "symbol": "x" if real else "circle"}
            figure.add_scatter(
                x=list(lengths),
                y=_drawn(values.mean(axis=0)),
                mode="markers" if real else "lines+markers",
                line=style,
                marker=marker,
                name=name,
                legendgroup=name,
                showlegend=row == 1,
                row=row,
                col=1,
            )
            every.append(f"{panel}, {name}: {', '.join(f'{value:.2f}' for value in values.mean(axis=0))}")
        ends = ", ".join(f"{name} {values.mean(axis=0)[-1]:.2f}" for name, values in each.items())
        told.append(f"{panel.split(':')[0]}: {ends}")
    finding = f"Standing for {_number(lengths[-1])} tokens. {'; '.join(told)}"
    return _tell(figure, finding, f"At {', '.join(map(str, lengths))} tokens, {'; '.join(every)}.",
                 height=110 + 230 * len(found))  # fmt: skip


def fitted_scores(targets: np.ndarray, dim: int, base: float, least_turns: Sequence[float]) -> go.Figure:
    """The size of scores fitted to targets at distances below their number, drawn to twice that.

    One line for each of `least_turns`: only pairs of so many turns and more are fitted with. Each point is the greatest
    size within a sixty-fourth of the trained length.
    """
    length, theta = len(_some("targets", targets)), inv_freq(dim, base)
    width = max(1, length // 64)
    at = np.arange(2 * length // width) * width
    figure, told, every = go.Figure(), [], []
    for k, least in enumerate(_some("least_turns", least_turns)):
        fit = fit_scores(targets, theta, least_turns=least)
        size = np.abs(fingerprint(np.arange(len(at) * width), fit.inv_freq) @ fit.coefficients)
        greatest = size.reshape(len(at), width).max(axis=1)
        name = f"the {len(fit.inv_freq)} pairs of {least:g} turns and more" if least else f"all {len(theta)} pairs"
        figure.add_scatter(x=at, y=np.float32(greatest), mode="lines", name=name, line=_style(k))
        beyond = float(fit.past_range)
        said = f"10 to the power {np.floor(np.log10(beyond)):.0f}" if beyond > 1000 else f"{beyond:.2f}"
        told.append(f"{name} reach {said}")
        every.append(f"{name}: {float(fit.in_range):.2f} within")
    figure.add_vline(x=length, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(title_text="distance m (tokens)")
    figure.update_yaxes(type="log", title_text="greatest size of the score", exponentformat="power")
    finding = f"Fitted below {_number(length)}, and past it: {', '.join(told)}"
    return _tell(figure, finding, f"Greatest size of the score: {'; '.join(every)}.", height=440)


def costs_on_the_circle(costs: Mapping[str, tuple[np.ndarray, np.ndarray]], unit: str) -> go.Figure:
    """What it costs that far words stand at an angle of one pair, against that angle as a share of a turn.

    `costs` maps the name of a pair to (shares of a turn from 0 to 1, rising; costs). The title says where they are
    greatest, and leaves out pairs that cost less than a fifth of the dearest one.
    """
    figure, peaks, every = go.Figure(), [], []
    for k, (name, pair) in enumerate(_some("costs", costs).items()):
        at, cost = (np.asarray(values, dtype=float) for values in pair)
        if at.shape != cost.shape or at.ndim != 1 or not np.isfinite(cost).all() or at.min() < 0 or at.max() > 1:
            raise ValueError(
                f"costs[{name!r}] must be shares of a turn and finite costs, one of each, got {said(pair)}"
            )
        marker = {"size": 8, "symbol": ("circle", "diamond", "square")[k % 3], "color": _style(k)["color"]}
        round_at, round_cost = np.append(at, at[0] + 1), np.append(cost, cost[0])  # the circle closes
        drawn = {"x": _drawn(round_at), "y": _drawn(round_cost), "marker": marker, "line": _style(k)}
        figure.add_scatter(**drawn, mode="lines+markers", name=name)
        peaks.append((cost.max(), at[cost.argmax()]))
        every.append(f"{name} up to {cost.max():.2f}")
    figure.add_vrect(x0=0.5, x1=1, fillcolor=PALETTE["neutral"], opacity=0.14, line_width=0)
    for x, text in ((0.25, "sine positive"), (0.75, "sine negative")):
        figure.add_annotation(x=x, y=1.08, yref="paper", text=text, showarrow=False)
    ticks = {"tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", "¼", "½", "¾", "1"]}
    figure.update_xaxes(title_text="where the far words stand on the circle (turns)", range=[-0.03, 1.03], **ticks)
    figure.update_yaxes(title_text=f"cost ({unit})")
    dearest = max(peaks)[0]
    peaks = [where for cost, where in peaks if cost >= dearest / 5 or dearest <= 0]
    span = f"{min(peaks):.2f} to {max(peaks):.2f}" if min(peaks) < max(peaks) else f"{peaks[0]:.2f}"
    finding = f"Moved in one pair alone, far words cost most at {span} of a turn; the sine is least at 0.75"
    return _tell(figure, finding, f"Costs in {unit}: {'; '.join(every)}.", height=440)


def repairs(measured: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> go.Figure:
    """What every change of a trained model reaches, a dot for each seed.

    `measured` maps a panel to models, each of which maps the changes to values of the seeds. The first change is what
    the others are measured against, drawn as a line as well.
    """
    found = {
        panel: {model: {change: np.asarray(values, dtype=float) for change, values in each.items()}
                for model, each in models.items()}
        for panel, models in _some("measured", measured).items()
    }  # fmt: skip
    changes = list(next(iter(next(iter(found.values())).values())))
    for panel, models in found.items():
        for model, each in models.items():
            if list(each) != changes or any(v.ndim != 1 or not np.isfinite(v).all() for v in each.values()):
                raise ValueError(
                    f"measured[{panel!r}][{model!r}] must have finite values of {changes}, got {said(each)}"
                )
    titles = [panel.partition(": ")[0] for panel in found]
    figure = make_subplots(len(found), 1, subplot_titles=titles, vertical_spacing=0.26 / len(found))
    told, every = [], []
    for row, (panel, models) in enumerate(found.items(), 1):
        nearer: list[str] = []
        for k, (model, each) in enumerate(models.items()):
            lift, colour = (0.17 if k % 2 else -0.17), _style(k)["color"]
            at = [place + lift for place, change in enumerate(changes) for _ in each[change]]
            values = np.concatenate([each[change] for change in changes])
            symbol = ("circle-open", "diamond-open")[k % 2]
            marker = {"color": colour, "size": 9, "symbol": symbol, "line": {"width": 2}}
            shown = {"name": model, "legendgroup": model, "showlegend": row == 1, "row": row, "col": 1}
            figure.add_scatter(x=_drawn(values), y=at, mode="markers", marker=marker, **shown)
            figure.add_vline(
                x=float(each[changes[0]].mean()), line={"color": colour, "width": 1, "dash": "dot"}, row=row, col=1
            )
            means = {change: each[change].mean() for change in changes}
            nearest = min(changes[1:], key=lambda change: abs(means[change] - means[changes[0]]))
            nearer.append(f"{nearest} {means[nearest]:.2f} ({model})")
            every.append(f"{panel}, {model}: " + ", ".join(f"{change} {means[change]:.2f}" for change in changes))
        told.append(f"on {titles[row - 1]} {' and '.join(nearer)}")
        figure.update_xaxes(title_text=panel.partition(": ")[2] or panel, row=row)
    figure.update_yaxes(tickvals=list(range(len(changes))), ticktext=changes, range=[len(changes) - 0.5, -0.5])
    figure.update_yaxes(title_text="what was changed", zeroline=False, automargin=True)
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    finding = f"Nearest to “{changes[0]}” comes {', '.join(told)}"
    return _tell(figure, finding, f"Means over the seeds. {'. '.join(every)}.",
                 height=120 + (60 + 34 * len(changes)) * len(found))  # fmt: skip


def scaling_ratios(dim: int, base: float, trained_length: int, methods: Mapping[str, Scaled]) -> go.Figure:
    """What each method leaves of each frequency, against the turns that the pair made in training."""
    theta = inv_freq(dim, base)
    made = turns(trained_length, theta)
    figure, kept, ends = go.Figure(), [], []
    for k, (name, scaled) in enumerate(_some("methods", methods).items()):
        frequencies = np.asarray(scaled.inv_freq)
        if frequencies.shape != theta.shape:
            raise ValueError(f"methods[{name!r}] must have {len(theta)} frequencies, got shape {frequencies.shape}")
        ratios = frequencies / theta
        kept.append(f"{np.count_nonzero(np.isclose(ratios, 1, rtol=1e-6))} by {name}")
        ends.append(f"{name} {ratios[0]:.3g} to {ratios[-1]:.3g}")
        figure.add_scatter(x=np.float32(made), y=_drawn(ratios), mode="lines", name=name, line=_style(k))
    line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
    figure.add_vline(x=1, line=line)
    label = {"text": "one turn", "showarrow": False, "xanchor": "left", "xshift": 4, "yref": "paper", "y": 0.85}
    figure.add_annotation(x=0, **label)  # annotations count in powers of ten
    figure.update_xaxes(type="log", autorange="reversed", title_text=f"turns within {_number(trained_length)} tokens")
    figure.update_yaxes(title_text="frequency kept (ratio to the original)", rangemode="tozero")
    still = np.count_nonzero(made < 1)
    finding = f"How many of the {len(theta)} pairs are left as they were: {', '.join(kept)}"
    details = (
        f"What is kept of the fastest and of the slowest pair: {', '.join(ends)}. {still} pairs had not turned once"
    )
    return _tell(figure, finding, f"{details} in {_number(trained_length)} tokens.")


def over_seeds(
    at: Sequence[float],
    panels: Mapping[str, Mapping[str, Sequence[Sequence[float]]]],
    across: str,
    up: str,
    reference: tuple[str, Sequence[float]],
    bands: str = "Lines are means over the seeds, bands reach from the least to the greatest.",
) -> go.Figure:
    """What each method reaches at a few settings, a panel each model: a mean, in a band around it.

    `panels` maps models to methods, and each method to (mean, least, greatest) at every setting; `reference` names a
    value that the methods are compared with, and has it for each panel; `bands` says what lines and bands are.
    """
    at, (name_of_reference, levels) = np.asarray(_some("at", at), dtype=float), reference
    if len(levels) != len(_some("panels", panels)):
        raise ValueError(f"reference must have {len(panels)} values, one a panel, got {said(levels)}")
    figure = make_subplots(len(panels), 1, shared_xaxes=True, vertical_spacing=0.1, subplot_titles=list(panels))
    told = []
    for row, ((panel, methods), level) in enumerate(zip(panels.items(), levels, strict=True), 1):
        ends = {}
        for k, (name, values) in enumerate(_some(f"panels[{panel!r}]", methods).items()):
            mean, least, greatest = np.array([list(value)[:3] for value in values], dtype=float).reshape(-1, 3).T
            if mean.shape != at.shape or not np.isfinite([mean, least, greatest]).all():
                raise ValueError(f"panels[{panel!r}][{name!r}] must be {len(at)} times three finite numbers")
            ends[name], style = mean[-1], _style(k)
            band = {"x": np.concatenate([at, at[::-1]]), "y": _drawn(np.concatenate([greatest, least[::-1]]))}
            unnamed = {"legendgroup": name, "showlegend": False, "hoverinfo": "skip", "row": row, "col": 1}
            filled = {"fill": "toself", "fillcolor": _faded(style["color"], 0.15), "line": {"width": 0}}
            figure.add_scatter(**band, **filled, mode="lines", name=name, **unnamed)
            one = {"legendgroup": name, "showlegend": row == 1, "row": row, "col": 1}
            figure.add_scatter(x=at, y=_drawn(mean), mode="lines+markers", name=name, line=style, **one)
        line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
        one = {"legendgroup": name_of_reference, "showlegend": row == 1, "row": row, "col": 1}
        figure.add_scatter(x=at[[0, -1]], y=[level] * 2, mode="lines", name=name_of_reference, line=line, **one)
        low, high = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
        told.append(
            f"{_number(ends[low], 2)} ({low}) to {_number(ends[high], 2)} ({high}), {name_of_reference} "
            f"{_number(level, 2)} ({panel})"
        )
    figure.update_xaxes(type="log" if at[0] > 0 else "linear", tickvals=at, ticktext=[f"{value:g}" for value in at])
    figure.update_xaxes(title_text=across, row=len(panels))
    figure.update_yaxes(title_text=up)
    figure.update_annotations(font_size=12)
    finding = f"At {at[-1]:g} {across}, {up} from {'; from '.join(told)}"
    return _tell(figure, finding, bands, height=150 + 230 * len(panels))


def _whole(name: str) -> str:
    """A name that no title breaks into two lines."""
    return name.replace(" ", "\u00a0")


def exams(measured: Mapping[str, Mapping[str, Sequence[float]]], less_is_better: Sequence[str] = ()) -> go.Figure:
    """What every scheme reaches in several exams, a panel each: a dot for each seed.

    `measured` maps an exam, "its name: the axis", to schemes and the values of their seeds; `less_is_better` names
    those where the least is the best. Drawn full: the scheme of the best mean, and those whose seeds overlap with its.
    """
    found = {
        exam: {scheme: np.asarray(values, dtype=float) for scheme, values in each.items()}
        for exam, each in _some("measured", measured).items()
    }
    schemes = list(_some("the first exam", next(iter(found.values()))))
    for exam, each in found.items():
        if list(each) != schemes or any(v.ndim != 1 or not len(v) or not np.isfinite(v).all() for v in each.values()):
            raise ValueError(f"measured[{exam!r}] must have finite values of {schemes}, got {said(each)}")
    if not set(less_is_better) <= set(found):
        raise ValueError(f"less_is_better must name exams of measured, got {list(less_is_better)}")
    titles = [exam.partition(": ")[0] for exam in found]
    figure = make_subplots(len(found), 1, subplot_titles=titles, vertical_spacing=0.33 / len(found))
    everywhere, firsts, every = set(schemes), [], []
    for row, (exam, each) in enumerate(found.items(), 1):
        sign = 1 if exam in less_is_better else -1
        best = min(each, key=lambda scheme: sign * each[scheme].mean())
        level = [scheme for scheme in schemes if (sign * each[scheme]).min() <= (sign * each[best]).max()]
        everywhere &= set(level)
        firsts.append(f"{_whole(best)} ({titles[row - 1]})")
        groups = (
            ("first or level", [s for s in schemes if s in level], "score", "circle"),
            ("behind", [s for s in schemes if s not in level], "neutral", "circle-open"),
        )
        for name, which, colour, symbol in groups:
            figure.add_scatter(
                x=_drawn(np.concatenate([np.empty(0), *(each[scheme] for scheme in which)])),
                y=[schemes.index(scheme) for scheme in which for _ in each[scheme]],
                mode="markers",
                marker={"color": PALETTE[colour], "size": 8, "symbol": symbol, "line": {"width": 1.5}},
                name=name,
                showlegend=False,  # a key that stays close to a tall figure on a phone stands below it
                row=row,
                col=1,
            )
        spans = [f"{scheme} {values.min():.2f} to {values.max():.2f}" for scheme, values in each.items()]
        every.append(f"{exam}: {', '.join(spans)}")
        direction = "less is better" if exam in less_is_better else "more is better"
        figure.update_xaxes(title_text=f"{exam.partition(': ')[2] or exam}, {direction}", row=row)
    figure.update_yaxes(tickvals=list(range(len(schemes))), ticktext=schemes, range=[len(schemes) - 0.4, -0.6])
    figure.update_yaxes(title_text="position code", zeroline=False, automargin=True)
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    key = f"<span style='color:{PALETTE['score']}'>●</span> first or level   ○ behind"
    below = {"xref": "paper", "yref": "paper", "x": 0, "y": 0, "xanchor": "left", "yanchor": "top", "yshift": -48}
    figure.add_annotation(text=key, showarrow=False, font_size=12, **below)
    leading = f"{len(everywhere)} of {len(schemes)}" if everywhere else f"None of {len(schemes)}"
    finding = f"{leading} is first, or level with the first, in every exam. The best means: {'; '.join(firsts)}"
    _tell(figure, finding, f"Over the seeds, {'; '.join(every)}.",
          height=140 + (66 + 15 * len(schemes)) * len(found))  # fmt: skip
    return figure.update_layout(margin_t=figure.layout.margin.t + 20, margin_b=80)  # a title above, the key below


def copying_by_distance(
    distances: Sequence[int], measured: Mapping[str, Sequence[float]], trained: int, symbols: int
) -> go.Figure:
    """What share each model copies right against how far back the answer stands, in texts of one length.

    `trained` is the greatest distance of training, `symbols` among how many one would have to guess.
    """
    distances = np.asarray(_some("distances", distances))
    figure, told = go.Figure(), []
    for k, (name, shares) in enumerate(_some("measured", measured).items()):
        shares = np.asarray(shares, dtype=float)
        if shares.shape != distances.shape or not np.isfinite(shares).all():
            raise ValueError(f"measured[{name!r}] must be {len(distances)} finite numbers, got {said(shares)}")
        told.append((shares[-1], name, shares))
        figure.add_scatter(x=distances, y=_drawn(shares), mode="lines+markers", name=name, line=_style(k))
    figure.add_hline(y=1 / symbols, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.add_vline(x=trained, line={"color": PALETTE["neutral"], "width": 1, "dash": "dash"})
    label = {"text": "farthest in training", "showarrow": False, "xanchor": "left", "xshift": 4, "yref": "paper"}
    figure.add_annotation(x=np.log10(trained), y=0.055, yanchor="bottom", **label)  # annotations count in powers of ten
    figure.update_xaxes(type="log", tickvals=distances, ticktext=[_number(one) for one in distances])
    figure.update_xaxes(title_text="how far back the answer stands (tokens)")
    figure.update_yaxes(title_text="share copied right", range=[-0.03, 1.05])
    (least, worst, _), (most, best, _) = min(told, key=lambda one: one[0]), max(told, key=lambda one: one[0])
    finding = (
        f"Looking {_number(distances[-1])} tokens back, after training with answers at most {_number(trained)} back: "
        f"from {least:.2f} right ({_whole(worst)}) to {most:.2f} ({_whole(best)})"
    )
    spans = "; ".join(f"{name} {', '.join(f'{share:.2f}' for share in shares)}" for _, name, shares in told)
    places = ", ".join(map(_number, distances))
    return _tell(figure, finding, f"At {places} tokens: {spans}. Guessing: {1 / symbols:.3f}")


def pairs_by_model(models: Mapping[str, tuple[int, Sequence[float]]]) -> go.Figure:
    """The turns that every pair of a few models makes within the trained length, a row a model.

    A model is its trained length in tokens and its frequencies in radians a token, fast pairs first.
    """
    figure, short, told = go.Figure(), [], []
    for row, (name, (length, frequencies)) in enumerate(_some("models", models).items()):
        made = np.asarray(turns(length, frequencies))
        pairs, still = len(made), np.count_nonzero(made < 1)
        short.append((still / pairs, f"{still} of {pairs} ({_whole(name)})"))
        told.append(f"{name} {_number(made[0])} to {made[-1]:.2g} turns in {_number(length)} tokens")
        figure.add_scatter(
            x=np.float32(made),
            y=[row] * pairs,
            mode="markers",
            marker={"color": pair_colours(pairs), "size": 6},
            name=name,
            showlegend=False,
        )
    for at, words in ((1, "one turn"), (0.25, "a quarter")):
        figure.add_vline(x=at, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
        place = {"yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False, "font_size": 11}
        # annotations count in powers of ten
        figure.add_annotation(x=np.log10(at), text=words, xanchor="right" if at == 1 else "left", **place)
    figure.update_xaxes(type="log", autorange="reversed", title_text="turns within the trained length")
    figure.update_yaxes(
        tickvals=list(range(len(models))),
        ticktext=list(models),
        range=[len(models) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
        title_text="model",
    )
    least, most = (end(short, key=lambda one: one[0])[1] for end in (min, max))
    finding = f"Pairs that make less than one turn within the trained length: from {least} to {most}"
    return _tell(figure, finding, f"Fastest to slowest pair: {'; '.join(told)}.", height=150 + 30 * len(models))


def _together(places: Mapping[str, tuple[float, float]]) -> dict[tuple[float, float], list[str]]:
    """Names by place, of which those that would lie on each other on a plane of two logarithmic axes share one."""
    groups: dict[tuple[float, float], list[str]] = {}
    for name, place in places.items():
        near = (at for at in groups if np.abs(np.log10(np.divide(at, place))).max() < 0.1)
        groups.setdefault(next(near, tuple(place)), []).append(name)
    return groups


def _decade(place: tuple[float, float]) -> int:
    return int(np.log10(place[1]))


def model_plane(trained: Mapping[str, tuple[int, float]], allowed: Mapping[str, tuple[int, float]]) -> go.Figure:
    """Length against the wavelength of the slowest pair: as trained, and where a configuration allows more.

    Both map a model to (tokens, wavelength in tokens); models of `allowed` are in `trained`, and a line joins the two.
    """
    if not set(allowed) <= set(_some("trained", trained)):
        raise ValueError(f"allowed must name models of trained, got {sorted(set(allowed) - set(trained))}")
    every = np.array([*trained.values(), *allowed.values()], dtype=float)
    if not (every > 0).all():
        raise ValueError(f"lengths and wavelengths must be greater than 0, got {every.min()}")
    figure, ends = go.Figure(), np.array([every[:, 0].min() / 2, every[:, 0].max() * 12])
    for name, place in allowed.items():
        way = np.array([trained[name], place], dtype=float)
        line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
        figure.add_scatter(x=way[:, 0], y=way[:, 1], mode="lines", line=line, name=name, showlegend=False)
    line = {"color": PALETTE["bound"], "width": 2}
    figure.add_scatter(x=ends, y=ends, mode="lines", line=line, name="diagonal: the slowest pair makes one turn")
    far = {name: place for name, place in allowed.items() if place[0] > 2 * trained[name][0]}
    near = {name: place for name, place in allowed.items() if name not in far}
    for places, name, symbol, colour in (
        (trained, "as trained", "circle", "score"),
        (far | near, "as the configuration allows", "circle-open", "position"),
    ):
        groups = _together(places)
        beside: dict[tuple[float, float], str] = {}
        for _, row in groupby(sorted(groups, key=lambda at: (_decade(at), at)), key=_decade):
            beside |= zip(row, cycle(("bottom center", "top center")), strict=False)  # names keep clear of each other
        figure.add_scatter(
            x=[at[0] for at in groups],
            y=[at[1] for at in groups],
            text=["<br>".join(n for n in names if places is trained or n in far) for names in groups.values()],
            textposition=[beside[at] if places is trained else "middle right" for at in groups],
            cliponaxis=False,
            textfont={"size": 11},
            mode="markers+text",
            marker={"color": PALETTE[colour], "size": 9, "symbol": symbol},
            name=name,
        )
    figure.update_xaxes(type="log", title_text="length (tokens)", range=np.log10(ends))
    low, high = min(every[:, 1].min() / 4, ends[0]), every[:, 1].max() * 3
    figure.update_yaxes(type="log", title_text="wavelength of the slowest pair (tokens)", range=np.log10([low, high]))
    made = sorted((length / wave, name) for name, (length, wave) in trained.items())
    turned = sum(share >= 1 for share, _ in made)
    finding = (
        f"{turned or 'None'} of {len(made)} slowest pairs made a full turn within the trained length: "
        f"{made[0][0]:.2g} ({_whole(made[0][1])}) to {made[-1][0]:.2g} ({_whole(made[-1][1])})"
    )
    told = "; ".join(f"{name} {_number(length)} and {_number(wave)}" for name, (length, wave) in trained.items())
    return _tell(figure, finding, f"Trained length and slowest wavelength in tokens: {told}.", height=520)


def lowest_scores(length: int, lowest: Mapping[float, float]) -> go.Figure:
    """The lowest S(m) from 0 to a length, base by base, and the value of the smooth law at that length.

    `lowest` maps each base to the least of `posenc.analysis.decay`; it passes where that is not below 0.
    """
    bases = np.array(sorted(_some("lowest", lowest)), dtype=float)
    _above("the least base", float(bases[0]), 1)
    least = np.array([lowest[base] for base in sorted(lowest)])
    passing = least >= 0
    figure = go.Figure()
    law = [float(decay_law(length, base)) for base in bases]
    line = {"color": PALETTE["neutral"], "width": 2}
    figure.add_scatter(x=bases, y=_drawn(np.array(law)), mode="lines", line=line, name=f"law at {_number(length)}")
    for which, name, colour, symbol in ((passing, "passes", "score", "circle"), (~passing, "fails", "bound", "x")):
        marker = {"color": PALETTE[colour], "symbol": symbol, "size": 7}
        figure.add_scatter(x=bases[which], y=_drawn(least[which]), mode="markers", marker=marker, name=name)
    figure.add_hline(y=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.update_xaxes(type="log", title_text="base")
    figure.update_yaxes(title_text=f"lowest S(m) up to {_number(length)}")
    told = f"Of {len(bases)} bases from {_number(bases[0])} to {_number(bases[-1])}, {passing.sum()} pass"
    if not passing.any():
        return _tell(figure, f"Up to {_number(length)} tokens S falls below 0 for each of these bases", f"{told}.")
    first = bases[passing][0]
    later = bases[~passing & (bases > first)]
    finding = f"Up to {_number(length)} tokens base {_number(first)} is the first that passes, " + (
        f"and {len(later)} larger ones fail, the last {_number(later[-1])}" if len(later) else "and so do all above it"
    )
    return _tell(figure, finding, f"{told}; the law rises from {law[0]:.2f} to {law[-1]:.2f} without a break.")

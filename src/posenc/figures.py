"""The book's Plotly figures: each a function from data to a figure, drawn from this package's own results.

Every title states the finding and takes its numbers from the data; `layout.meta["alt"]` says the same in words for a
reader who does not see the picture. Colours come from the palette that the explorables use and can be told apart on a
light and on a dark page; heat maps fade out where they have nothing to show, on either.

Which of them stands for which figure that the source notes have lost is listed in tests/lost_figures.toml.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import product
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from posenc.absolute import normalised, shift_matrix, sinusoidal
from posenc.analysis import (
    FourTerms,
    decay,
    decay_law,
    decay_logarithm,
    expected_score,
    kernel_asymmetry,
    kernel_residual,
    offset_kernel,
    pairs_reaching,
    translation_residual,
)
from posenc.frequencies import angles, inv_freq, turns, wavelengths
from posenc.rotary import pair_scores, rotate
from posenc.scaling import Scaled

PALETTE = json.loads((files("posenc") / "js" / "palette.json").read_text(encoding="utf-8"))


def pair_colours(pairs: int) -> list[str]:
    """One colour a pair on the book's scale, warm for the fastest to cold for the slowest."""
    return sample_colorscale(PALETTE["pairs"], np.linspace(0, 1, pairs) if pairs > 1 else [0.0])


def _at(distances: Sequence[int]) -> dict:
    """Where a trace stands; consecutive distances are named by their first, which spares a page the list of them."""
    distances = np.asarray(distances)
    consecutive = len(distances) > 1 and bool(np.all(np.diff(distances) == 1))
    return {"x0": int(distances[0]), "dx": 1} if consecutive else {"x": distances}


def _drawn(values: np.ndarray) -> np.ndarray:
    """Values as a page stores them: to 1/4096, less than a tenth of a pixel here, which halves what it transfers."""
    return np.float32(np.round(values * 4096) / 4096)


def _finish(figure: go.Figure, title: str, alt: str, height: int = 420) -> go.Figure:
    return figure.update_layout(
        title={"text": title, "x": 0, "xref": "paper", "font": {"size": 16}},
        meta={"alt": alt},
        height=height,
        margin={"l": 60, "r": 20, "t": 70, "b": 55},
        legend={"orientation": "h", "y": -0.2, "x": 0},
        template="plotly_white",
    )


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


# ---------------------------------------------------------------------------------------------------------------------
# What the figures below share

CELLS = 10_000  # a heat map of more keeps 256 levels of colour; one of more than ten times as many leaves pairs out


def _some(name: str, values: Sequence | Mapping) -> Sequence | Mapping:
    """`values`, after checking that there are any."""
    if not len(values):
        raise ValueError(f"{name} must hold at least one, got {values!r}")
    return values


def _above(name: str, value: float, limit: float) -> None:
    """Refuses a `value` that is not greater than `limit`."""
    if not value > limit:
        raise ValueError(f"{name} must be greater than {limit}, got {value!r}")


def _pairs_of(dim: int, pairs: Sequence[int]) -> Sequence[int]:
    """`pairs`, after checking that there are any and that a code of this width has them."""
    if not all(0 <= i < dim // 2 for i in _some("pairs", pairs)):
        raise ValueError(f"pairs must be between 0 and {dim // 2 - 1}, the last of dim = {dim}, got {list(pairs)}")
    return pairs


def _number(value: float, digits: int = 0) -> str:
    """A number as titles print it: a thin space between thousands, a real minus, and never −0."""
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace(",", "\u202f").replace("-", "−")


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{_number(count)} times")


def _tell(figure: go.Figure, finding: str, details: str, height: int = 420) -> go.Figure:
    """`_finish` for a finding of any length: the title is broken into lines, the alternative text adds the details."""
    lines = wrap(finding, 75, break_on_hyphens=False)
    _finish(figure, "<br>".join(lines), f"{finding}. {details}", height + 20 * (len(lines) - 1))
    # a legend is placed in heights of the plot: as far below a tall one as below a low one
    return figure.update_layout(margin_t=55 + 20 * len(lines), legend_y=-60 / (height - 130))


def _style(k: int, **line: float) -> dict:
    """Line k of several: three colours, then the same dashed, dotted and both."""
    colours, dashes = (PALETTE["score"], PALETTE["bound"], PALETTE["neutral"]), ("solid", "dash", "dot", "dashdot")
    return {"color": colours[k % 3], "dash": dashes[k // 3 % 4], "width": 2, **line}


def _faded(colour: str, opacity: float) -> str:
    """A colour of the palette that lets so much of the page through."""
    return f"rgba({', '.join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5))}, {opacity})"


def _colour_scale(least: float, most: float) -> dict:
    """The scale of colours of heat maps from `least` to `most`. Where values have both signs, 0 has no colour."""
    positive = [[0.5 if least < 0 else 0, _faded(PALETTE["score"], 0)], [1, PALETTE["score"]]]
    negative = [[0, PALETTE["bound"]], [0.5, _faded(PALETTE["bound"], 0)]] if least < 0 else []
    return {"colorscale": negative + positive, "cmin": least, "cmax": most, "colorbar": {"thickness": 10}}


def _heat_maps(
    tables: Mapping[str, np.ndarray], columns: int, least: float, most: float, **traces: object
) -> go.Figure:
    """Tables as panels on one scale of colours, first row on top. Where values have both signs, 0 has no colour."""
    rows = -(-len(tables) // columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=list(tables),
        horizontal_spacing=0.28 / (columns + 1),
        vertical_spacing=0.3 / (rows + 1),
    )
    for k, table in enumerate(tables.values()):
        figure.add_heatmap(z=table, coloraxis="coloraxis", row=k // columns + 1, col=k % columns + 1, **traces)
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False)
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_annotations(font_size=12)
    return figure.update_layout(coloraxis=_colour_scale(least, most))


def _planes(titles: Sequence[str], reach: float, across: str, up: str) -> go.Figure:
    """Square panels, two a row, from −reach to reach on both axes."""
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    filled = [
        [{} if row * columns + column < len(titles) else None for column in range(columns)] for row in range(rows)
    ]
    spacing = {"horizontal_spacing": 0.1, "vertical_spacing": 0.16 / rows}
    figure = make_subplots(rows, columns, specs=filled, subplot_titles=list(titles), **spacing)
    figure.update_xaxes(range=[-reach, reach], constrain="domain")
    figure.update_yaxes(range=[-reach, reach], constrain="domain")
    for number in ("", *range(2, len(titles) + 1)):
        figure.layout[f"yaxis{number}"].scaleanchor = f"x{number}"
    figure.update_xaxes(title_text=across, row=rows)
    figure.update_yaxes(title_text=up, col=1)
    return figure.update_annotations(font_size=12)


def _arrow(figure: go.Figure, panel: int, tip: np.ndarray, name: str, first: bool, **line: object) -> None:
    """An arrow from the origin of a panel, named once in the legend."""
    figure.add_scatter(
        x=_drawn(np.array([0, tip[0]])),
        y=_drawn(np.array([0, tip[1]])),
        mode="lines+markers",
        line=line,
        marker={"symbol": "arrow", "angleref": "previous", "size": [0, 11], "opacity": 1, "line": {"width": 0}}
        | {"color": line["color"]},
        name=name,
        showlegend=first,
        row=panel // 2 + 1,
        col=panel % 2 + 1,
    )


# ---------------------------------------------------------------------------------------------------------------------
# No code, and the early codes


def word_orders(
    first: Sequence[str], first_weights: np.ndarray, second: Sequence[str], second_weights: np.ndarray
) -> go.Figure:
    """Attention weights of the same words in two orders, queries down and keys across, as `attention` answers them.

    A word that occurs twice is taken to be moved without overtaking itself.
    """
    if sorted(_some("first", first)) != sorted(second) or list(first) == list(second):
        raise ValueError(f"second must hold the words of first in another order, got {list(second)} and {list(first)}")
    tables = []
    for name, words, weights in (("first", first, first_weights), ("second", second, second_weights)):
        tables.append(np.asarray(weights, dtype=float))
        if tables[-1].shape != (len(words), len(words)):
            raise ValueError(f"{name}_weights must be {len(words)} × {len(words)}, got shape {tables[-1].shape}")
    moved = np.empty(len(first), dtype=int)  # where in the first order each word of the second stands
    moved[np.argsort(second, kind="stable")] = np.argsort(first, kind="stable")
    change = np.abs(tables[1] - tables[0][np.ix_(moved, moved)]).max()
    titles = [f"“{' '.join(words)}”" for words in (first, second)]
    panels = {title: _drawn(table) for title, table in zip(titles, tables, strict=True)}
    figure = _heat_maps(panels, 2, 0.0, 1.0, opacity=0.6)  # pale enough for the numbers on it
    for column, (words, table) in enumerate(zip((first, second), tables, strict=True), 1):
        at = np.array(list(product(range(len(words)), repeat=2)))
        text = [f"{weight:.2f}" for weight in table.ravel()]
        hidden = {"hoverinfo": "skip", "showlegend": False}
        figure.add_scatter(x=at[:, 1], y=at[:, 0], text=text, mode="text", row=1, col=column, **hidden)
        ticks = {"tickvals": list(range(len(words))), "ticktext": list(words), "col": column}
        figure.update_xaxes(title_text="key", **ticks)
        figure.update_yaxes(title_text="query" if column == 1 else None, side=("left", "right")[column - 1], **ticks)
    finding = "Another order moves the weights with their words and changes none"
    if change > 1e-5:  # float32 in, two digits out
        finding = f"Another order of the same words changes the weights, by up to {change:.2f}"
    details = [
        f"{query} looks at {words[row.argmax()]} most, {row.max():.2f}"
        for words, table in zip((first, second), tables, strict=True)
        for query, row in zip(words, table, strict=True)
    ]
    figure.update_layout(coloraxis_showscale=False)
    return _tell(figure, finding, f"In {titles[0]} and then in {titles[1]}: {'; '.join(details)}.", height=380)


def step_sizes(lengths: Sequence[int]) -> go.Figure:
    """Positions divided by the length of the text, one ruler a length, with the first step marked."""
    if min(_some("lengths", lengths)) < 2:
        raise ValueError(f"lengths must all be at least 2, so that there is a step, got {list(lengths)}")
    figure, steps = go.Figure(), []
    for row, length in enumerate(lengths):
        code = normalised(np.arange(length), length, 1)[:, 0]
        steps.append(code[1] - code[0])
        ruler = {"symbol": "line-ns-open", "size": 14, "color": PALETTE["neutral"], "line": {"width": 2}}
        figure.add_scatter(x=_drawn(code), y=[row] * length, mode="markers", marker=ruler, name=f"{length} tokens")
        line = {"color": PALETTE["score"], "width": 5}
        figure.add_scatter(x=_drawn(code[:2]), y=[row, row], mode="lines", line=line, name="one step")
        label = {"text": f"one step: {steps[-1]:.3f}", "showarrow": False, "xanchor": "left", "yshift": 19}
        figure.add_annotation(x=0, y=row, **label)
    figure.update_traces(showlegend=False)
    figure.update_xaxes(title_text="code t/L (share of the text)", range=[-0.02, 1.02])
    figure.update_yaxes(
        title_text="length of the text (tokens)",
        tickvals=list(range(len(lengths))),
        ticktext=[_number(length) for length in lengths],
        range=[len(lengths) - 0.6, -0.7],
        showgrid=False,
        zeroline=False,
    )
    short, long = int(np.argmin(lengths)), int(np.argmax(lengths))
    finding = (
        f"The same step to the next word is {steps[short]:.3f} in a text of {_number(lengths[short])} tokens "
        f"and {steps[long]:.3f} in one of {_number(lengths[long])}"
    )
    every = ", ".join(f"{step:.3f} for {length}" for length, step in zip(lengths, steps, strict=True))
    return _tell(figure, finding, f"Steps of the code t/L: {every} tokens.", height=160 + 60 * len(lengths))


def code_tables(codes: Mapping[str, np.ndarray]) -> go.Figure:
    """Codes as heat maps side by side, positions down and dimensions across, each of shape (length, dim).

    Panels of more than `CELLS` numbers are stored as 256 levels of colour, and from ten times as many on only every
    second (third, …) pair of dimensions is drawn: pairs next to each other look alike. No position is left out, for
    that would make other waves of the fast ones.
    """
    tables = {name: np.asarray(code, dtype=float) for name, code in _some("codes", codes).items()}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or 0 in shape or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(f"codes must all have shape (length, dim) with one length, got shapes {shapes}")
    top = max(np.abs(table).max() for table in tables.values())
    least = -top if min(table.min() for table in tables.values()) < 0 else 0.0
    levels = max(table.size for table in tables.values()) > CELLS
    shown, findings = {}, []
    for name, table in tables.items():
        every = -(-table.size // (10 * CELLS))
        columns = np.flatnonzero(np.arange(table.shape[1]) // 2 % every == 0)
        scaled = (table[:, columns] - least) / ((top - least) or 1)
        shown[name] = (columns, np.uint8(np.round(scaled * 255)) if levels else _drawn(table[:, columns]))
        above = table > (table.max() + table.min()) / 2
        sides = np.count_nonzero(above[1:] != above[:-1], axis=0)  # how often each column changes sides
        findings.append((name, sides[0], sides[-1], len(np.unique(table, axis=0))))
    figure = _heat_maps({name: z for name, (_, z) in shown.items()}, len(shown), least, top)
    for trace, (columns, _) in zip(figure.data, shown.values(), strict=True):
        trace.x = np.int16(columns)
        trace.hovertemplate = "position %{y}, dimension %{x}" + ": %{z:.3f}" * (not levels) + "<extra></extra>"
    if levels:
        ticks = {"tickvals": [0, 127.5, 255], "ticktext": [_number(v, 1) for v in (least, (least + top) / 2, top)]}
        figure.update_layout(coloraxis={"cmin": 0, "cmax": 255, "colorbar": ticks})
    figure.update_xaxes(title_text="dimension")
    if max(len(columns) for columns, _ in shown.values()) <= 8:
        figure.update_xaxes(dtick=1)  # else ticks stand between two dimensions
    figure.update_yaxes(title_text="position (tokens)", col=1)
    length = shapes[0][0]
    ends = [f"{_times(fast)} and the last {_times(slow)}" for _, fast, slow, _ in findings]
    if len(findings) > 1:
        ends = [f"{end} in {name}" for end, (name, *_) in zip(ends, findings, strict=True)]
    finding = f"Over {_number(length)} positions the first column changes sides {'; '.join(ends)}"
    rows = ", ".join(f"{_number(different)} in {name}" for name, _, _, different in findings)
    details = f"The sides are above and below the middle of a panel's values. Different rows: {rows}."
    return _tell(figure, finding, details, height=640 if length > 128 else 420)


# ---------------------------------------------------------------------------------------------------------------------
# Sinusoids


def wavelength_ladder(dim: int, base: float) -> go.Figure:
    """Tokens in one turn of each pair, on a logarithmic axis, with both ends labelled."""
    _above("base", base, 1)  # else no wave is longer than the first
    lengths = wavelengths(inv_freq(dim, base))
    pairs = len(lengths)
    figure = go.Figure()
    figure.add_scatter(
        **_at(range(pairs)),
        y=np.float32(lengths),
        mode="markers",
        marker={"color": pair_colours(pairs), "size": 6},
        showlegend=False,
        hovertemplate="pair %{x}: one turn in %{y:.4g} tokens<extra></extra>",
    )
    for i, anchor, shift in ((0, "left", -14), (pairs - 1, "right", 14)):
        text = f"pair {i}: {_number(lengths[i], 2 if i == 0 else 0)} tokens"
        place = {"xanchor": anchor, "yshift": shift, "showarrow": False}
        figure.add_annotation(x=i, y=np.log10(lengths[i]), text=text, **place)  # annotations count in powers of ten
    figure.update_xaxes(title_text="pair i")
    figure.update_yaxes(type="log", title_text="wavelength 2π/θ (tokens)")
    end = 2 * np.pi * base
    finding = (
        f"Each wave is the same factor longer than the one before: from {_number(lengths[0], 2)} tokens "
        f"to {_number(lengths[-1])}, short of 2π·base = {_number(end)}"
    )
    factor = f"{lengths[1] / lengths[0]:.4f}" if pairs > 1 else "no second pair"
    return _tell(figure, finding, f"Width {dim}, base {base:g}: {pairs} pairs on a straight line, factor {factor}.")


def chirps(positions: Sequence[int], dim: int, base: float, pairs: int) -> go.Figure:
    """The sines of a few positions read across the first pairs, sin(t·θ_i) against i, one panel each."""
    _above("base", base, 1)
    _pairs_of(dim, [pairs - 1])
    columns = 2 if len(_some("positions", positions)) > 1 else 1
    rows, names = -(-len(positions) // columns), [f"position {k}" for k in positions]
    figure = make_subplots(
        rows,
        columns,
        shared_xaxes=True,
        shared_yaxes=True,
        subplot_titles=names,
        vertical_spacing=0.25 / rows,
        horizontal_spacing=0.05,
    )
    crossings = []
    for k, position in enumerate(positions):
        sines = sinusoidal(position, dim, base, "half")[:pairs]  # the sines come first
        turning = np.sign(sines)[sines != 0]
        crossings.append(np.count_nonzero(turning[1:] != turning[:-1]))
        where = {"row": k // columns + 1, "col": k % columns + 1}
        line = {"color": PALETTE["score"], "width": 2}
        figure.add_scatter(**_at(range(pairs)), y=_drawn(sines), name=names[k], line=line, showlegend=False, **where)
    figure.update_yaxes(range=[-1.1, 1.1], tickvals=[-1, 0, 1])
    figure.update_yaxes(title_text="sin(t·θ)", col=1)
    figure.update_xaxes(title_text="pair i", row=rows)
    figure.update_annotations(font_size=12)
    finding = (
        f"Read across its pairs, a position is no wave but a chirp that slows down: positions "
        f"{', '.join(map(str, positions))} cross zero {', '.join(map(str, crossings))} times"
    )
    return _tell(figure, finding, f"The first {pairs} pairs of width {dim}, base {base:g}.", height=230 + 130 * rows)


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosine of the angle between rows."""
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


def added_code(embeddings: np.ndarray, codes: np.ndarray, scales: Mapping[str, float]) -> go.Figure:
    """How like its word and how like its code the sum of both is, for embeddings multiplied by each scale.

    Both arrays have shape (words, dim); a bar is the mean cosine over the words.
    """
    words, codes = np.asarray(embeddings, dtype=float), np.asarray(codes, dtype=float)
    if words.ndim != 2 or words.shape != codes.shape or not len(words):
        raise ValueError(f"embeddings and codes must both be (words, dim), got shapes {words.shape} and {codes.shape}")
    if not all(scale > 0 for scale in _some("scales", scales).values()):
        raise ValueError(f"scales must be greater than 0, got {dict(scales)!r}")
    figure, code_norm = go.Figure(), np.linalg.norm(codes, axis=-1).mean()
    norms = [np.linalg.norm(scale * words, axis=-1).mean() for scale in scales.values()]
    kept = [_cosines(scale * words + codes, words).mean() for scale in scales.values()]
    told = [_cosines(scale * words + codes, codes).mean() for scale in scales.values()]
    names = [f"{name}<br>length {norm:.3g}" for name, norm in zip(scales, norms, strict=True)]
    for name, cosines, colour in (("its word", kept, "score"), ("its position’s code", told, "bound")):
        figure.add_bar(
            x=names,
            y=_drawn(np.array(cosines)),
            text=[f"{cosine:.2f}" for cosine in cosines],
            textposition="outside",
            marker={"color": PALETTE[colour], "line": {"width": 0}},
            name=f"cosine with {name}",
        )
    figure.update_xaxes(title_text="embeddings before the sum", title_standoff=5)
    figure.update_yaxes(title_text="cosine similarity with the sum", range=[min(0, *kept, *told), 1.1])
    finding = (
        f"Added to words of length {', '.join(f'{norm:.3g}' for norm in norms)}, a code of length {code_norm:.3g} "
        f"leaves a cosine of {', '.join(f'{cosine:.2f}' for cosine in kept)} with the word"
    )
    details = "; ".join(f"{name}: {a:.2f} and {b:.2f}" for name, a, b in zip(scales, kept, told, strict=True))
    _tell(figure, finding, f"Cosine of the sum with word and code: {details}.", height=450)
    return figure.update_layout(barmode="group", legend_y=-0.3, margin_b=85)


def frequency_roles(length: int, dim: int, base: float) -> go.Figure:
    """How far each pair turns within a length, and what pairs that turn so far add to φ(m), the mean of cos(m·θ_i)."""
    _above("length", length, 1)
    _above("base", base, 1)
    theta, distances = inv_freq(dim, base), np.arange(length)
    pairs, colours, far = len(theta), pair_colours(len(theta)), angles(length - 1, theta)
    ends = [pairs_reaching(theta, length, node) for node in (2 * np.pi, np.pi, np.pi / 2)]
    names, dashes = ("a turn and more", "π to 2π", "π/2 to π", "less than π/2"), ("solid", "dash", "dot", "solid")
    groups = zip([0, *ends], [*ends, pairs], names, dashes, strict=True)
    titles = (f"angle reached at distance {length - 1}", "what pairs of each kind add to φ(m)")
    figure = make_subplots(2, 1, subplot_titles=titles, vertical_spacing=0.17, row_heights=[0.55, 0.45])
    points = {"mode": "markers", "marker": {"color": colours, "size": 6}, "showlegend": False, "name": "angle"}
    figure.add_scatter(**_at(range(pairs)), y=np.float32(far), **points, row=1, col=1)
    for node, name in ((np.pi / 2, "π/2"), (np.pi, "π"), (2 * np.pi, "2π")):
        line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
        ends_at = {"x": [0, pairs - 1], "y": [node, node], "text": ["", name], "textposition": "middle right"}
        figure.add_scatter(**ends_at, mode="lines+text", line=line, showlegend=False, name=name, row=1, col=1)
    for first, last, name, dash in groups:
        if first < last:
            added = decay(distances, theta[first:last]) * (last - first) / pairs
            line = {"color": colours[(first + last - 1) // 2], "width": 2, "dash": dash}
            name = f"{name}: {last - first} pairs"
            figure.add_scatter(**_at(distances), y=_drawn(added), name=name, line=line, row=2, col=1)
    whole = decay(distances, theta)
    line = {"color": PALETTE["score"], "width": 2, "dash": "dash"}
    figure.add_scatter(**_at(distances), y=_drawn(whole), name="φ(m), all pairs", line=line, row=2, col=1)
    figure.update_yaxes(type="log", title_text="radians", row=1)
    figure.update_yaxes(title_text="φ(m)", row=2)
    figure.update_xaxes(title_text="pair i", range=[-0.03 * pairs, 1.08 * pairs], row=1)
    figure.update_xaxes(title_text="distance m (tokens)", row=2)
    figure.update_annotations(font_size=12)
    finding = (
        f"Within {_number(length)} tokens {ends[0]} of {pairs} pairs turn once and more, and {pairs - ends[2]} do not "
        "reach a quarter turn"
    )
    return _tell(figure, finding, f"φ falls from 1 to {whole[-1]:.2f}; the fastest pair turns by {theta[0]:.2f} "
                 "radians a token, less than π, so that no pair aliases.", height=720)  # fmt: skip


def shifted_hands(position: float, offset: float, dim: int, base: float, pairs: Sequence[int]) -> go.Figure:
    """The (sin, cos) hands of a few pairs before and after a shift, which turns each clockwise by its own angle."""
    _above("offset", offset, 0)
    theta, colours = inv_freq(dim, base), pair_colours(dim // 2)
    before = sinusoidal(position, dim, base).reshape(-1, 2)  # (dim/2, 2): sine across, cosine up
    after = (shift_matrix(offset, dim, base) @ before.reshape(-1)).reshape(-1, 2)
    turned = angles(offset, theta)
    names = [f"pair {i}: by {_number(turned[i], 2)} radians" for i in _pairs_of(dim, pairs)]
    figure = _planes(names, 1.15, "sin", "cos")
    for panel, i in enumerate(pairs):
        _arrow(figure, panel, before[i], f"position {position:g}", panel == 0, color=PALETTE["neutral"], width=2)
        _arrow(figure, panel, after[i], f"position {position + offset:g}", panel == 0, color=colours[i], width=3)
        # the way from one to the other, a whole turn at most
        way = np.linspace(0, min(offset, 2 * np.pi / theta[i]), 40)
        way = 0.55 * sinusoidal(position + way, dim, base).reshape(40, -1, 2)[:, i]  # (40, 2)
        line = {"color": colours[i], "width": 1.5, "dash": "dot"}
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": False, "hoverinfo": "skip"}
        figure.add_scatter(x=_drawn(way[:, 0]), y=_drawn(way[:, 1]), mode="lines", line=line, name="turn", **where)
    figure.update_xaxes(tickvals=[-1, 0, 1])
    figure.update_yaxes(tickvals=[-1, 0, 1])
    fast, slow = min(pairs), max(pairs)
    finding = (
        f"A shift by {offset:g} tokens turns every hand clockwise: pair {fast} by {_number(turned[fast], 2)} radians"
        + (f", pair {slow} by {turned[slow]:.2g}" if slow != fast else "")
    )
    details = f"From position {position:g} to {position + offset:g}, sine across and cosine up. {'; '.join(names)}."
    return _tell(figure, finding, details, height=150 + 280 * -(-len(pairs) // 2))


def inner_products(reach: int, dims: Sequence[int], base: float) -> go.Figure:
    """S(k), the inner product of two codes over dim/2, against their offset k, both ways, for several widths."""
    _above("reach", reach, 1)
    columns = min(2, len(_some("dims", dims)))
    rows, names = -(-len(dims) // columns), [f"d = {dim}" for dim in dims]
    figure = make_subplots(
        rows,
        columns,
        shared_xaxes=True,
        shared_yaxes=True,
        subplot_titles=names,
        vertical_spacing=0.2 / rows,
        horizontal_spacing=0.05,
    )
    offsets, rises, told = np.arange(-reach, reach + 1), [], []
    for k, dim in enumerate(dims):
        score = decay(offsets, inv_freq(dim, base))
        rising = np.flatnonzero(np.diff(score[reach:]) > 0)
        rises.append(str(rising[0] if rising.size else reach))
        told.append(f"{score[-1]:.2f} for d = {dim}")
        line, where = {"color": PALETTE["score"], "width": 1.5}, {"row": k // columns + 1, "col": k % columns + 1}
        figure.add_scatter(**_at(offsets), y=_drawn(score), name=names[k], line=line, showlegend=False, **where)
    figure.update_yaxes(range=[-0.6, 1.05])
    figure.update_yaxes(title_text="S(k)", col=1)
    figure.update_xaxes(title_text="offset k (tokens)", row=rows)
    figure.update_annotations(font_size=12)
    finding = (
        f"Products of two codes are the same on both sides and fall steadily until distance {', '.join(rises)} "
        f"(d = {', '.join(map(str, dims))})"
    )
    return _tell(figure, finding, f"1 at offset 0; at {reach} tokens {', '.join(told)}.", height=200 + 160 * rows)


# ---------------------------------------------------------------------------------------------------------------------
# After the projections


def products_through_weights(
    offsets: Sequence[int], positions: Sequence[int], dim: int, base: float, weights: Mapping[str, np.ndarray | None]
) -> go.Figure:
    """p·W·p′ against the offset, one panel for each W (None: no matrix), one line for each position of the query.

    Lines that lie on each other say that the product knows the offset alone. Offsets are −n … n in this order.
    """
    offsets = np.asarray(offsets)
    if len(offsets) < 3 or np.any(offsets != -offsets[::-1]) or len(_some("positions", positions)) < 2:
        raise ValueError(f"offsets must be −n … n and positions two or more, got {offsets} and {list(positions)}")
    rows = len(_some("weights", weights))
    figure = make_subplots(rows, 1, shared_xaxes=True, subplot_titles=list(weights), vertical_spacing=0.2 / rows)
    finding, told = [], []
    for row, (name, weight) in enumerate(weights.items(), 1):
        kernel = offset_kernel(offsets, positions, dim, base, weight)  # (positions, offsets)
        free, sides = float(kernel_residual(kernel)), float(kernel_asymmetry(kernel))
        finding.append(f"{free:.0%} ({name})")
        told.append(f"{name}: {sides:.2f} standard deviations between left and right")
        for k, (position, line) in enumerate(zip(positions, kernel, strict=True)):
            figure.add_scatter(
                **_at(offsets),
                y=_drawn(line),
                line=_style(k, width=7 - 2.75 * min(k, 2)),  # lines on each other all show
                name=f"from position {position}",
                showlegend=row == 1,
                row=row,
                col=1,
            )
    figure.update_yaxes(title_text="p·W·p′")
    figure.update_xaxes(title_text="offset Δ, key minus query (tokens)", row=rows)
    figure.update_annotations(font_size=12)
    title = f"How much of the product depends on where the pair stands: {', '.join(finding)}"
    return _tell(figure, title, f"Width {dim}, base {base:g}. {'; '.join(told)}.", height=170 + 160 * rows)


def score_terms(terms: FourTerms) -> go.Figure:
    """The four terms of (x_t + p_t)·W·(x_s + p_s) as heat maps on one scale, as `analysis.four_terms` answers."""
    names = ("(a) word and word", "(b) word and position", "(c) position and word", "(d) position and position")
    tables = {name: np.asarray(term, dtype=float) for name, term in zip(names, terms, strict=True)}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or 0 in shape or shape != shapes[0] for shape in shapes):
        raise ValueError(f"terms must all have shape (queries, keys), got shapes {shapes}")
    queries, keys = shapes[0]
    offsets = (np.arange(keys) - np.arange(queries)[:, None]).ravel() + queries - 1
    free = []
    for table in tables.values():  # the share of its variance that is left within diagonals, as a standard deviation
        means = np.bincount(offsets, table.ravel()) / np.bincount(offsets)
        free.append(np.sqrt(np.var(table.ravel() - means[offsets]) / (np.var(table) or 1)))
    top = max(np.abs(table).max() for table in tables.values())
    figure = _heat_maps({name: _drawn(table) for name, table in tables.items()}, 2, -top, top)
    figure.update_xaxes(title_text="key s (token)", row=2)
    figure.update_yaxes(title_text="query t (token)", col=1)
    finding = "How much each term varies where the offset stays the same, in shares of its spread: " + ", ".join(
        f"({letter}) {share:.0%}" for letter, share in zip("abcd", free, strict=True)
    )
    spreads = ", ".join(f"{name}: {table.std():.2f}" for name, table in tables.items())
    return _tell(figure, finding, f"Standard deviations of the terms: {spreads}.", height=640)


# ---------------------------------------------------------------------------------------------------------------------
# Rotation, longer contexts, biases


def rotated_pairs(
    q: Sequence[float], k: Sequence[float], query_position: float, key_position: float, base: float
) -> go.Figure:
    """Query and key pair by pair as arrows in the plane, where they were (dotted) and turned by their positions."""
    q, k = np.asarray(q, dtype=float), np.asarray(k, dtype=float)
    if q.ndim != 1 or q.shape != k.shape or not len(q):
        raise ValueError(f"q and k must both have shape (dim,), got shapes {q.shape} and {k.shape}")
    theta = inv_freq(len(q), base)
    shares = pair_scores(q, k, angles(query_position - key_position, theta))  # (dim/2,)
    names = [f"pair {i}: {_number(share, 2)} of the score" for i, share in enumerate(shares)]
    figure = _planes(
        names, 1.1 * max(np.hypot(*x.reshape(-1, 2).T).max() for x in (q, k)), "first of the pair", "second"
    )
    drawn = (("query", q, query_position, "score"), ("key", k, key_position, "bound"))
    for name, x, position, colour in drawn:
        turned = rotate(x, angles(position, theta)).reshape(-1, 2)
        for i, (before, after) in enumerate(zip(x.reshape(-1, 2), turned, strict=True)):
            line = {"color": PALETTE[colour], "width": 1.5, "dash": "dot"}
            _arrow(figure, i, before, f"{name} before", i == 0, **line)
            _arrow(figure, i, after, f"{name} at {position:g}", i == 0, color=PALETTE[colour], width=3)
    distance, score = f"{query_position - key_position:g}".replace("-", "−"), _number(shares.sum(), 2)
    finding = f"Turned by their positions, query and key have the score {score} wherever m − n is {distance}"
    if len(theta) > 1:
        finding = (
            f"Each pair turns in its own plane; where m − n is {distance} the {len(theta)} add up to the score {score}"
        )
    turns_told = ", ".join(f"{_number(angle, 2)}" for angle in angles(query_position, theta))
    details = f"Pairs turn the query by {turns_told} radians. {'; '.join(names)}."
    return _tell(figure, finding, details, height=150 + 280 * -(-len(theta) // 2))


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


# ---------------------------------------------------------------------------------------------------------------------
# What can be told of the order of words


def orders_seen(readings: Mapping[str, np.ndarray]) -> go.Figure:
    """What each reader gets from every order of the same words: orders that it cannot tell apart are one dot.

    A dot's area is the number of its orders. Each reading has shape (orders, numbers) and is drawn along the two
    directions in which it varies most; two orders are told apart if any number differs by more than 10⁻⁹.
    """
    tables = {name: np.asarray(table, dtype=float) for name, table in _some("readings", readings).items()}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or shape[0] != shapes[0][0] or min(shape) < 2 for shape in shapes):
        raise ValueError(f"readings must all have shape (orders, two numbers or more) alike, got shapes {shapes}")
    total, counts, points = shapes[0][0], {}, {}
    for name, table in tables.items():
        same = np.abs(table[:, None] - table).max(axis=-1) < 1e-9  # (orders, orders)
        first = ~np.tril(same, -1).any(axis=-1)
        counts[name] = same[first].sum(axis=-1)
        centred = table - table.mean(axis=0)
        main = np.linalg.svd(centred, full_matrices=False)[2][:2]  # (2, numbers)
        main *= np.sign(main[[0, 1], np.abs(main).argmax(axis=-1)])[:, None]  # the sign is free: the largest is up
        points[name] = (centred @ main.T)[first]
    columns = min(2, len(tables))
    rows = -(-len(tables) // columns)
    titles = [f"{name}<br>{len(of)} of {total}" for name, of in counts.items()]
    figure = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=0.3 / rows, horizontal_spacing=0.12)
    for panel, name in enumerate(tables):
        where = {"row": panel // columns + 1, "col": panel % columns + 1}
        marker = {"size": _drawn(4 * np.sqrt(counts[name])), "color": PALETTE["position"], "opacity": 0.6}
        figure.add_scatter(
            x=_drawn(points[name][:, 0]),
            y=_drawn(points[name][:, 1]),
            mode="markers+text" if len(counts[name]) <= 10 else "markers",
            text=[str(count) for count in counts[name]],
            hovertemplate="orders here: %{text}<extra></extra>",
            marker=marker | {"line": {"width": 0}},
            name=name,
            showlegend=False,
            **where,
        )
        reach = np.abs(points[name]).max(axis=0)
        across, up = 1.25 * np.where(reach > 1e-9, reach, 1.0)
        figure.update_xaxes(range=[-across, across], **where)
        figure.update_yaxes(range=[-up, up], **where)
    figure.update_xaxes(nticks=6, tickangle=0, zeroline=False)
    figure.update_yaxes(nticks=6, zeroline=False)
    figure.update_xaxes(title_text="main direction", row=rows)
    figure.update_yaxes(title_text="second", col=1)
    figure.update_annotations(font_size=12)
    finding = f"Orders told apart, of {total}: {', '.join(f'{len(of)} ({name})' for name, of in counts.items())}"
    shares = "; ".join(
        f"{name}: {len(of)} of {' or '.join(str(count) for count in sorted(set(of.tolist())))}"
        for name, of in counts.items()
    )
    return _tell(figure, finding, f"Dots, and the number of orders on each: {shares}.", height=120 + 290 * rows)


def training_losses(losses: Mapping[str, Sequence[float]], every: int, chance: float) -> go.Figure:
    """Losses of models in training, each the loss of a batch every so many steps, against what guessing costs."""
    _above("every", every, 0)
    _above("chance", chance, 0)
    figure, told, steps = go.Figure(), [], 0
    for k, (name, values) in enumerate(_some("losses", losses).items()):
        values = np.asarray(values, dtype=float)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError(f"losses[{name!r}] must be finite numbers, at least one, got {values!r}")
        at = every * np.arange(1, len(values) + 1)
        steps = max(steps, int(at[-1]))
        told.append(f"{values[-5:].mean():.2f} ({name})")
        figure.add_scatter(x=at, y=_drawn(values), mode="lines", name=name, line=_style(k))
    line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
    figure.add_hline(y=chance, line=line)
    label = {"text": f"guessing: {chance:.3f}", "showarrow": False, "xanchor": "right", "xref": "paper", "yshift": -12}
    figure.add_annotation(x=1, y=chance, **label)
    figure.update_xaxes(title_text="step of the optimiser", rangemode="tozero")
    figure.update_yaxes(title_text="loss of a batch (nats)", rangemode="tozero")
    finding = f"Where the loss ends after {_number(steps)} steps: {', '.join(told)}"
    return _tell(figure, finding, f"Means of the last five values; a model that guesses pays {chance:.3f} nats.")


# ---------------------------------------------------------------------------------------------------------------------
# Attention itself


def gathering(
    words: Sequence[str], weights: Sequence[float], values: np.ndarray, query: int, names: Sequence[str]
) -> go.Figure:
    """What the word at place `query` gathers: arcs as wide as its weights, weighted values under the words, their sum.

    `weights` is one row of attention weights, shape (words,); `values` has shape (words, value_dim), and `names` says
    what each of its columns stands for. What the word keeps of its own has a weight and no arc.
    """
    weights, values, count = np.asarray(weights, dtype=float), np.asarray(values, dtype=float), len(words)
    if weights.shape != (count,) or values.shape != (count, len(_some("names", names))):
        raise ValueError(
            f"weights must have shape ({count},) and values ({count}, {len(names)}), as there are {count} words and "
            f"{len(names)} names, got shapes {weights.shape} and {values.shape}"
        )
    if not np.all(weights >= 0):
        raise ValueError(f"weights must be at least 0, got {weights}")
    if not 0 <= query < count:
        raise ValueError(f"query must be between 0 and {count - 1}, the place of a word, got {query!r}")
    taken = weights[:, None] * values  # (words, value_dim)
    total = taken.sum(axis=0)  # (value_dim,)
    figure = make_subplots(
        2,
        2,
        specs=[[{}, None], [{}, {}]],
        column_widths=[count, 1],
        row_heights=[0.5, 0.5],
        horizontal_spacing=0.07,
        vertical_spacing=0.03,
    )
    half = np.linspace(0, np.pi, 33)
    for place, weight in enumerate(weights):
        if not weight or place == query:
            continue
        x = (place + query) / 2 + (place - query) / 2 * np.cos(half)  # from the word to the one that gathers
        y = np.sin(half) * np.sqrt(abs(place - query))
        line = {"color": _faded(PALETTE["score"], 0.75), "width": max(0.5, 22 * weight), "simplify": False}
        name = f"{words[place]}: {weight:.2f}"
        figure.add_scatter(x=_drawn(x), y=_drawn(y), mode="lines", line=line, name=name, row=1, col=1)
    for places, colour in (([p for p in range(count) if p != query], "key"), ([query], "query")):
        text = [f"<b>{words[place]}</b><br>{weights[place]:.2f}" for place in places]
        font = {"color": PALETTE[colour], "size": 12}
        label = {"x": places, "y": [-0.1] * len(places), "text": text, "textposition": "bottom center"}
        figure.add_scatter(**label, mode="text", textfont=font, hoverinfo="skip", row=1, col=1)
    scale = max(np.abs(taken).max(), np.abs(total).max()) or 1.0
    least = -scale if min(taken.min(), total.min()) < 0 else 0.0
    for column, table in ((1, taken.T), (2, total[:, None])):
        figure.add_heatmap(z=_drawn(table), coloraxis="coloraxis", opacity=0.6, hoverinfo="skip", row=2, col=column)
        at = np.array(list(product(range(len(names)), range(table.shape[1]))))
        text = [_number(value, 2) for value in table.ravel()]
        figure.add_scatter(x=at[:, 1], y=at[:, 0], text=text, mode="text", hoverinfo="skip", row=2, col=column)
    figure.update_layout(coloraxis=_colour_scale(least, scale) | {"showscale": False})
    figure.update_traces(showlegend=False, selector={"type": "scatter"})
    top = np.sqrt(max(query, count - 1 - query, 1))
    figure.update_xaxes(range=[-0.5, count - 0.5], showticklabels=False, showgrid=False, zeroline=False, col=1)
    figure.update_yaxes(range=[-0.5 * top, 1.1 * top], visible=False, row=1)
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, row=2)
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=list(names), row=2, col=1)
    figure.update_yaxes(title_text="what is handed over", row=2, col=1)
    figure.update_yaxes(showticklabels=False, row=2, col=2)
    figure.update_xaxes(title_text="weight × value of each word", row=2, col=1)
    figure.update_xaxes(title_text="sum", showticklabels=False, showgrid=False, zeroline=False, row=2, col=2)
    most, largest = int(weights.argmax()), int(np.abs(total).argmax())
    source = "itself" if most == query else f"“{words[most]}”"
    finding = (
        f"“{words[query]}” listens most to {source}, with weight {weights[most]:.2f}, and what it gathers is mostly "
        f"{names[largest]}, {_number(total[largest], 2)}"
    )
    listened = ", ".join(f"{word} {weight:.2f}" for word, weight in zip(words, weights, strict=True))
    gathered = ", ".join(f"{name} {_number(value, 2)}" for name, value in zip(names, total, strict=True))
    return _tell(figure, finding, f"Weights: {listened}. Sum of the weighted values: {gathered}.", height=440)


def attention_maps(words: Sequence[str], tables: Mapping[str, np.ndarray], query: int) -> go.Figure:
    """Attention weights in per cent, queries down and keys across; the row of the word at place `query` is framed.

    Where a weight is exactly 0, as under a mask, the cell is empty.
    """
    count = len(_some("words", words))
    maps = {name: np.asarray(table, dtype=float) for name, table in _some("tables", tables).items()}
    for name, table in maps.items():
        if table.shape != (count, count):
            raise ValueError(f"tables[{name!r}] must be {count} × {count}, got shape {table.shape}")
    if not 0 <= query < count:
        raise ValueError(f"query must be between 0 and {count - 1}, the place of a word, got {query!r}")
    columns = min(2, len(maps))
    figure = _heat_maps({name: _drawn(table) for name, table in maps.items()}, columns, 0.0, 1.0, opacity=0.6)
    told, rows = [], []
    for k, (name, table) in enumerate(maps.items()):
        at = np.argwhere(table > 0)
        text = [f"{100 * table[i, j]:.0f}" for i, j in at]
        where = {"row": k // columns + 1, "col": k % columns + 1}
        hidden = {"hoverinfo": "skip", "showlegend": False}
        figure.add_scatter(x=at[:, 1], y=at[:, 0], text=text, mode="text", **hidden, **where)
        x, y = [-0.5, count - 0.5, count - 0.5, -0.5, -0.5], query + np.array([-0.5, -0.5, 0.5, 0.5, -0.5])
        frame = {"color": PALETTE["query"], "width": 2}
        figure.add_scatter(x=x, y=y, mode="lines", line=frame, **hidden, **where)
        ticks = {"tickvals": list(range(count)), "ticktext": list(words), **where}
        figure.update_xaxes(title_text="key", tickangle=0, tickfont_size=10, **ticks)
        first = k % columns == 0
        figure.update_yaxes(title_text="query" if first else None, showticklabels=first, **ticks)
        most = int(table[query].argmax())
        told.append(f"“{words[most]}” {name} ({table[query, most]:.0%})")
        listened = ", ".join(f"{word} {weight:.0%}" for word, weight in zip(words, table[query], strict=True))
        rows.append(f"{name}: {listened}")
    figure.update_layout(coloraxis_showscale=False)
    finding = f"“{words[query]}” listens most to " + ", ".join(told)
    return _tell(figure, finding, f"Its weights {'; '.join(rows)}.", height=120 + 290 * -(-len(maps) // columns))


def score_widths(
    widths: Sequence[int], measured: Mapping[str, tuple[Sequence[float], Sequence[float]]], keys: int
) -> go.Figure:
    """Spread of attention scores, and the number of words that a query listens to, against the width of q and k.

    `measured` maps a name to (standard deviations of the scores, exp of the entropies of the weights), of which
    independent entries of variance 1 give the spread √width undivided, and 1 divided by √width: the thin lines.
    """
    widths = np.asarray(_some("widths", widths))
    _above("keys", keys, 1)
    figure = make_subplots(
        1, 2, subplot_titles=("spread of the scores", f"listened to, of {keys}"), horizontal_spacing=0.12
    )
    told, spread = [], []
    exact = {"mode": "lines", "line": {"color": PALETTE["neutral"], "width": 1}, "hoverinfo": "skip"}
    for name, line in (("√d", np.sqrt(widths)), ("1", np.ones(len(widths)))):
        ends = {"text": [*[""] * (len(widths) - 1), name], "textposition": "top left", "showlegend": False}
        figure.add_scatter(x=widths, y=_drawn(line), **exact | ends | {"mode": "lines+text"}, row=1, col=1)
    for k, (name, pair) in enumerate(_some("measured", measured).items()):
        arrays = [np.asarray(values, dtype=float) for values in pair]
        if len(arrays) != 2 or any(a.shape != widths.shape or not np.isfinite(a).all() for a in arrays):
            raise ValueError(f"measured[{name!r}] must be two rows of {len(widths)} finite numbers, got {pair!r}")
        spreads, listened = arrays
        style = {"name": name, "line": _style(k), "marker": {"size": 8, "color": _style(k)["color"]}}
        figure.add_scatter(x=widths, y=_drawn(spreads), **style, mode="markers", showlegend=False, row=1, col=1)
        figure.add_scatter(x=widths, y=_drawn(listened), **style, mode="lines+markers", row=1, col=2)
        told.append(f"{listened[0]:.1f} and {listened[-1]:.1f} ({name})")
        spread.append(f"{spreads[0]:.2f} and {spreads[-1]:.2f} ({name})")
    figure.update_xaxes(type="log", tickvals=widths, title_text="width d of q and k")
    ticks = [2**power for power in range(int(np.log2(widths[-1])) // 2 + 1)]
    figure.update_yaxes(type="log", tickvals=ticks, title_text="standard deviation of q·k", row=1, col=1)
    figure.update_yaxes(range=[0, keys], row=1, col=2)
    figure.update_annotations(font_size=12)
    ends = f"{widths[0]} and at {_number(widths[-1])}"
    finding = f"Of {keys} words a query listens, at width {ends}, to {', '.join(told)}"
    return _tell(figure, finding, f"Spread of the scores at width {ends}: {', '.join(spread)}.")


# ---------------------------------------------------------------------------------------------------------------------
# What a code must do


def distance_maps(codes: Mapping[str, np.ndarray], title: str | None = None) -> go.Figure:
    """How different the codes of every two positions are, one map a code, divided by its greatest distance.

    Each code has shape (length, dim). Where equal distances look equal, a map has one colour along each diagonal. The
    finding is the title; with a title given, readers judge for themselves and only the alternative text tells it.
    """
    tables = {name: np.asarray(code, dtype=float) for name, code in _some("codes", codes).items()}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or shape[0] < 3 or shape[0] != shapes[0][0] or 0 in shape for shape in shapes):
        raise ValueError(f"codes must all have shape (length, dim) with one length of 3 or more, got shapes {shapes}")
    maps, equal, varying = {}, [], []
    for name, table in tables.items():
        apart = np.linalg.norm(table[:, None] - table, axis=-1)  # (length, length)
        maps[name] = _drawn(apart / (apart.max() or 1))
        spread = float(translation_residual(table))
        if spread < 1e-9:
            equal.append(name)
        else:
            varying.append(f"in {name} they vary by {spread:.0%}")
    columns = min(2, len(maps))
    rows = -(-len(maps) // columns)
    figure = _heat_maps(maps, columns, 0.0, 1.0, hovertemplate="%{y} and %{x}: %{z:.2f}<extra></extra>")
    figure.update_layout(coloraxis_colorbar={"tickvals": [0, 0.5, 1], "ticktext": ["0", "½", "greatest"]})
    figure.update_xaxes(title_text="position s", row=rows)
    figure.update_yaxes(title_text="position t (tokens)", col=1)
    finding = "; ".join(([f"Equal distances look equal in {' and '.join(equal)}"] if equal else []) + varying)
    details = f"Maps of {_number(shapes[0][0])} positions; the spread of a distance is a share of its mean."
    finding = finding[0].upper() + finding[1:]
    if title is not None:
        finding, details = title, f"{finding}. {details}"
    return _tell(figure, finding, details, height=100 + 290 * rows)


def wave_and_dial(speed: float, steps: int) -> go.Figure:
    """A hand that turns at a speed in radians a token, and its sine: the longest and the shortest step of the sine.

    The steps begin at position 0. The hand's own steps are all the same.
    """
    _above("speed", speed, 0)
    _above("steps", steps, 1)
    at = np.arange(steps + 1)
    across, up = np.cos(speed * at), np.sin(speed * at)
    rises = np.abs(np.diff(up))
    chord = np.hypot(across[1] - across[0], up[1] - up[0])
    figure = make_subplots(
        1,
        2,
        shared_yaxes=True,
        column_widths=[0.4, 0.6],
        horizontal_spacing=0.04,
        subplot_titles=("the hand", "its shadow, the sine"),
    )
    smooth = np.linspace(0, 2 * np.pi, 121)
    thin = {"mode": "lines", "showlegend": False, "hoverinfo": "skip"}
    grey = {"color": PALETTE["neutral"], "width": 1}
    figure.add_scatter(x=_drawn(np.cos(smooth)), y=_drawn(np.sin(smooth)), name="turn", line=grey, **thin, row=1, col=1)
    fine = np.linspace(0, steps, 30 * steps + 1)
    figure.add_scatter(x=_drawn(fine), y=_drawn(np.sin(speed * fine)), name="wave", line=grey, **thin, row=1, col=2)
    dots = {"mode": "markers", "showlegend": False, "marker": {"color": PALETTE["position"], "size": 7}}
    for column, x in ((1, across), (2, at)):
        name = ("hand", "sine")[column - 1]
        hover = "position %{customdata}<extra></extra>"
        figure.add_scatter(
            x=_drawn(x), y=_drawn(up), customdata=at, hovertemplate=hover, name=name, **dots, row=1, col=column
        )
    for name, k, colour in (("longest", rises.argmax(), "score"), ("shortest", rises.argmin(), "bound")):
        line = {"color": PALETTE[colour], "width": 5}
        figure.add_scatter(
            x=_drawn(across[k : k + 2]),
            y=_drawn(up[k : k + 2]),
            mode="lines",
            line=line,
            name="step",
            showlegend=False,
            row=1,
            col=1,
        )
        label = f"{name} step of the sine, {k} to {k + 1}: {rises[k]:.2f}"
        run = {"color": PALETTE[colour], "width": 2, "dash": "dot"}
        figure.add_scatter(x=[k, k + 1], y=_drawn(up[[k, k]]), line=run, name="run", **thin, row=1, col=2)
        figure.add_scatter(x=[k + 1, k + 1], y=_drawn(up[k : k + 2]), mode="lines", line=line, name=label, row=1, col=2)
    figure.update_yaxes(range=[-1.2, 1.2], tickvals=[-1, 0, 1])
    figure.update_yaxes(title_text="sine", scaleanchor="x", constrain="domain", row=1, col=1)
    figure.update_xaxes(title_text="cosine", range=[-1.2, 1.2], tickvals=[-1, 0, 1], constrain="domain", row=1, col=1)
    figure.update_xaxes(title_text="position (tokens)", row=1, col=2)
    figure.update_annotations(font_size=12)
    finding = (
        f"Every step of the hand is {chord:.2f} long; the steps of its shadow run from "
        f"{rises.min():.2f} to {rises.max():.2f}"
    )
    return _tell(figure, finding, f"The hand turns by {speed:g} radians a token; {_number(steps)} steps are drawn.")


def returns(speeds: Mapping[str, Sequence[float]], reach: int) -> go.Figure:
    """How far the code of each position is from that of position 0, for dials of several lists of speeds.

    A list of speeds, in radians a token, is the code of their sines and cosines. Distances are divided by the root of
    the number of dials. The nearest position that is not 0 is marked.
    """
    _above("reach", reach, 1)
    lists = {name: np.asarray(values, dtype=float) for name, values in _some("speeds", speeds).items()}
    if any(values.ndim != 1 or not len(values) for values in lists.values()):
        raise ValueError(f"speeds must all be lists of one number or more, got {dict(speeds)}")
    figure = make_subplots(
        len(lists),
        1,
        shared_xaxes=True,
        vertical_spacing=0.24 / len(lists),
        subplot_titles=list(lists),
    )
    at, found, told = np.arange(reach + 1), [], []
    for row, (name, values) in enumerate(lists.items(), 1):
        apart = np.sqrt(np.mean(2 - 2 * np.cos(angles(at, values)), axis=-1))
        nearest = 1 + int(apart[1:].argmin())
        found.append(f"{_number(nearest)} ({name})")
        told.append(f"{apart[nearest]:.4f} ({name})")
        line, dot = {"color": PALETTE["score"], "width": 1}, {"color": PALETTE["position"], "size": 9}
        figure.add_scatter(**_at(at), y=_drawn(apart), line=line, name=name, mode="lines", row=row, col=1)
        figure.add_scatter(
            x=[nearest], y=_drawn(apart[[nearest]]), marker=dot, mode="markers", name="nearest", row=row, col=1
        )
    figure.update_traces(showlegend=False)
    figure.update_yaxes(range=[-0.15, 2.1], tickvals=[0, 1, 2])
    figure.update_yaxes(title_text="distance / √dials", row=(len(lists) + 1) // 2)
    figure.update_xaxes(title_text="position (tokens)", row=len(lists))
    figure.update_annotations(font_size=12, x=0, xanchor="left")
    finding = f"Of the next {_number(reach)} positions, the one with the nearest code: {', '.join(found)}"
    return _tell(figure, finding, f"How near, divided by the root of the number of dials: {', '.join(told)}.",
                 height=130 + 130 * len(lists))  # fmt: skip

"""Sinusoids: their tables, waves and products, and what weights make of those (chapters 04 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc.absolute import shift_matrix, sinusoidal
from posenc.analysis import (
    FourTerms,
    decay,
    kernel_asymmetry,
    kernel_residual,
    offset_kernel,
    pairs_reaching,
)
from posenc.figures._drawing import (
    PALETTE,
    _above,
    _arrow,
    _at,
    _drawn,
    _heat_maps,
    _number,
    _planes,
    _some,
    _style,
    _tell,
    pair_colours,
)
from posenc.frequencies import angles, inv_freq, wavelengths


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


def _pairs_of(dim: int, pairs: Sequence[int]) -> Sequence[int]:
    """`pairs`, after checking that there are any and that a code of this width has them."""
    if not all(0 <= i < dim // 2 for i in _some("pairs", pairs)):
        raise ValueError(f"pairs must be between 0 and {dim // 2 - 1}, the last of dim = {dim}, got {list(pairs)}")
    return pairs


def _grid(titles: Sequence[str], spacing: float) -> tuple[go.Figure, int, list[dict[str, int]]]:
    """Panels on common axes, two in a row; how many rows they make, and where each stands.

    `spacing` is the height between two rows as a share of one.
    """
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    shared = {"shared_xaxes": True, "shared_yaxes": True, "horizontal_spacing": 0.05}
    figure = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=spacing / rows, **shared)
    return figure, rows, [{"row": k // columns + 1, "col": k % columns + 1} for k in range(len(titles))]


def chirps(positions: Sequence[int], dim: int, base: float, pairs: int) -> go.Figure:
    """The sines of a few positions read across the first pairs, sin(t·θ_i) against i, one panel each."""
    _above("base", base, 1)
    _pairs_of(dim, [pairs - 1])
    names = [f"position {k}" for k in _some("positions", positions)]
    figure, rows, places = _grid(names, 0.25)
    crossings = []
    for k, position in enumerate(positions):
        sines = sinusoidal(position, dim, base, "half")[:pairs]  # the sines come first
        turning = np.sign(sines)[sines != 0]
        crossings.append(np.count_nonzero(turning[1:] != turning[:-1]))
        line = {"color": PALETTE["score"], "width": 2}
        figure.add_scatter(
            **_at(range(pairs)), y=_drawn(sines), name=names[k], line=line, showlegend=False, **places[k]
        )
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
    names = [f"d = {dim}" for dim in _some("dims", dims)]
    figure, rows, places = _grid(names, 0.2)
    offsets, rises, told = np.arange(-reach, reach + 1), [], []
    for k, dim in enumerate(dims):
        score = decay(offsets, inv_freq(dim, base))
        rising = np.flatnonzero(np.diff(score[reach:]) > 0)
        rises.append(str(rising[0] if rising.size else reach))
        told.append(f"{score[-1]:.2f} for d = {dim}")
        line = {"color": PALETTE["score"], "width": 1.5}
        figure.add_scatter(**_at(offsets), y=_drawn(score), name=names[k], line=line, showlegend=False, **places[k])
    figure.update_yaxes(range=[-0.6, 1.05])
    figure.update_yaxes(title_text="S(k)", col=1)
    figure.update_xaxes(title_text="offset k (tokens)", row=rows)
    figure.update_annotations(font_size=12)
    finding = (
        f"Products of two codes are the same on both sides and fall steadily until distance {', '.join(rises)} "
        f"(d = {', '.join(map(str, dims))})"
    )
    return _tell(figure, finding, f"1 at offset 0; at {reach} tokens {', '.join(told)}.", height=200 + 160 * rows)


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
        free, sides = float(kernel_residual(kernel)) ** 2, float(kernel_asymmetry(kernel))
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
    title = f"How much of the product’s variance comes from where the pair stands: {', '.join(finding)}"
    return _tell(figure, title, f"Width {dim}, base {base:g}. {'; '.join(told)}.", height=170 + 160 * rows)


def _told_by_offset(table: np.ndarray) -> float:
    """The share of a table's variance that lies between its diagonals: 1 where each holds one value all along."""
    queries, keys = table.shape
    offsets = (np.arange(keys) - np.arange(queries)[:, None]).ravel() + queries - 1
    means = np.bincount(offsets, table.ravel()) / np.bincount(offsets)
    return float(1 - np.var(table.ravel() - means[offsets]) / (np.var(table) or 1))


def score_terms(terms: FourTerms) -> go.Figure:
    """The four terms of (x_t + p_t)·W·(x_s + p_s) as heat maps on one scale, as `analysis.four_terms` answers."""
    names = ("(a) word, word", "(b) word, place", "(c) place, word", "(d) place, place")
    tables = {name: np.asarray(term, dtype=float) for name, term in zip(names, terms, strict=True)}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or 0 in shape or shape != shapes[0] for shape in shapes):
        raise ValueError(f"terms must all have shape (queries, keys), got shapes {shapes}")
    free = [1 - _told_by_offset(table) for table in tables.values()]
    top = max(np.abs(table).max() for table in tables.values())
    figure = _heat_maps({name: _drawn(table) for name, table in tables.items()}, 2, -top, top)
    figure.update_xaxes(title_text="key s (token)", row=2)
    figure.update_yaxes(title_text="query t (token)", col=1)
    finding = "How much of each term’s variance the offset leaves unexplained: " + ", ".join(
        f"({letter}) {share:.0%}" for letter, share in zip("abcd", free, strict=True)
    )
    spreads = ", ".join(f"{name}: {table.std():.2f}" for name, table in tables.items())
    return _tell(figure, finding, f"Standard deviations of the terms: {spreads}.", height=640)


def position_maps(
    length: int, dim: int, base: float, weights: Mapping[str, np.ndarray | None], trained: int | None = None
) -> go.Figure:
    """p_tᵀ·W·p_s for every place t of the query and s of the key, a heat map for each W (None: no matrix).

    A map that holds one value along every diagonal knows the offset alone. Each is drawn over its own greatest value.
    With `trained`, dotted lines part the positions that training showed from the others.
    """
    _above("length", length, 1)
    if trained is not None and not 1 < trained < length - 1:
        raise ValueError(f"trained must be greater than 1 and less than length − 1 = {length - 1}, got {trained!r}")
    codes = sinusoidal(np.arange(length), dim, base)
    maps, told, further = {}, [], []
    for name, weight in _some("weights", weights).items():
        table = codes @ (np.eye(dim) if weight is None else np.asarray(weight, dtype=float)) @ codes.T
        told.append(f"{_told_by_offset(table[:trained, :trained]):.0%} ({name})")
        if trained is not None:
            further.append(f"{_told_by_offset(table[trained:, trained:]):.0%}")
        maps[name] = table / (np.abs(table).max() or 1)
    step = 1 + length // 200  # a page needs no more than some hundred rows
    drawn = {name: _drawn(table[::step, ::step]) for name, table in maps.items()}
    figure = _heat_maps(drawn, min(2, len(maps)), -1, 1, x0=0, dx=step, y0=0, dy=step)
    rows = -(-len(maps) // 2)
    if trained is not None:
        line = {"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"}
        figure.add_vline(trained - step / 2, line=line)
        figure.add_hline(trained - step / 2, line=line)
    figure.update_xaxes(title_text="key at s (token)", row=rows)
    figure.update_yaxes(title_text="query at t (token)", col=1)
    finding = f"The offset alone explains this much of a map’s variance: {', '.join(told)}"
    details = f"Width {dim}, base {base:g}, positions 0 to {length - 1}, each map over its greatest value."
    if trained is not None:
        finding = f"Up to position {trained - 1}, the offset explains {', '.join(told)} of a map’s variance"
        finding += f"; from {trained} on {', '.join(further)}"
    return _tell(figure, finding, details, height=110 + 300 * rows)

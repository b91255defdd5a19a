"""Sinusoidal encodings: waves and inner products, alone and through projections (chapters 04 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._numbers import number, percent
from posenc.absolute import shift_matrix, sinusoidal
from posenc.analysis import (
    FourTerms,
    decay,
    kernel_asymmetry,
    kernel_residual,
    offset_kernel,
    pairs_reaching,
)
from posenc.bias import TransformerXLTerms
from posenc.figures._drawing import (
    PALETTE,
    _above,
    _arrow,
    _at,
    _colour_scale,
    _drawn,
    _finish,
    _heat_maps,
    _numbers_on,
    _planes,
    _some,
    _style,
    pair_colours,
)
from posenc.frequencies import angles, inv_freq, wavelengths


def wavelength_ladder(dim: int, base: float) -> go.Figure:
    """The wavelength of each pair in tokens, on a logarithmic axis, with both ends labelled."""
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
        hovertemplate="pair %{x}: wavelength %{y:.4g} tokens<extra></extra>",
    )
    for i, anchor, shift in ((0, "left", -14), (pairs - 1, "right", 14)):
        text = f"pair {i}: {number(lengths[i], 0 if i else 2)} tokens"
        place = {"xanchor": anchor, "yshift": shift, "showarrow": False}
        figure.add_annotation(x=i, y=np.log10(lengths[i]), text=text, **place)  # annotations count in powers of ten
    figure.update_xaxes(title_text="dimension pair i")
    figure.update_yaxes(type="log", title_text="wavelength 2π/θ (tokens)")
    finding = (
        f"Wavelengths grow by a constant factor, from {number(lengths[0], 2)} tokens to {number(lengths[-1])}, "
        f"short of 2π·base = {number(2 * np.pi * base)}"
    )
    factor = f", factor {lengths[1] / lengths[0]:.4f}" if pairs > 1 else ""
    details = f"d = {dim}, base {number(base)}: {pairs} pairs on a straight line{factor}."
    return _finish(figure, finding, details)


def _pairs_of(dim: int, pairs: Sequence[int]) -> Sequence[int]:
    """`pairs`, after checking that there are any and that an encoding of this dimension has them."""
    if not all(0 <= i < dim // 2 for i in _some("pairs", pairs)):
        raise ValueError(f"pairs must be between 0 and {dim // 2 - 1}, the last of dim = {dim}, got {list(pairs)}")
    return pairs


def _grid(titles: Sequence[str], spacing: float) -> tuple[go.Figure, int, list[dict[str, int]]]:
    """Panels on common axes, two in a row, the number of rows, and the row and column of each.

    `spacing` is the height between two rows as a fraction of one.
    """
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    shared = {"shared_xaxes": True, "shared_yaxes": True, "horizontal_spacing": 0.14}
    figure = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=spacing / rows, **shared)
    return figure, rows, [{"row": k // columns + 1, "col": k % columns + 1} for k in range(len(titles))]


def chirps(positions: Sequence[int], dim: int, base: float, pairs: int) -> go.Figure:
    """The sines of a few positions over the first pairs, sin(t·θ_i) against i, one panel each."""
    _above("base", base, 1)
    _pairs_of(dim, [pairs - 1])
    names = [f"position {position}" for position in _some("positions", positions)]
    figure, rows, places = _grid(names, 0.25)
    crossings = []
    for k, position in enumerate(positions):
        sines = sinusoidal(position, dim, base, "half-split")[:pairs]  # the sines come first
        signs = np.sign(sines)[sines != 0]
        crossings.append(np.count_nonzero(signs[1:] != signs[:-1]))
        line = {"color": PALETTE["score"], "width": 2}
        figure.add_scatter(
            **_at(range(pairs)), y=_drawn(sines), name=names[k], line=line, showlegend=False, **places[k]
        )
    figure.update_yaxes(range=[-1.1, 1.1], tickvals=[-1, 0, 1])
    figure.update_yaxes(title_text="sin(m·θ)", col=1)
    figure.update_xaxes(title_text="dimension pair i", row=rows)
    figure.update_annotations(font_size=12)
    at, times = (", ".join(map(str, values)) for values in (positions, crossings))
    finding = f"Across its pairs, a position is a chirp of falling frequency: positions {at} cross zero {times} times"
    details = f"The first {pairs} pairs of d = {dim}, base {number(base)}."
    return _finish(figure, finding, details, height=230 + 130 * rows)


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosine of the angle between rows."""
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


def added_encoding(embeddings: np.ndarray, codes: np.ndarray, scales: Mapping[str, float]) -> go.Figure:
    """Cosine similarity of the sum with the embedding and with the encoding, for embeddings times each scale.

    Both arrays have shape (words, dim); a bar is the mean over the words.
    """
    words, codes = np.asarray(embeddings, dtype=float), np.asarray(codes, dtype=float)
    if words.ndim != 2 or words.shape != codes.shape or not len(words):
        raise ValueError(f"embeddings and codes must both be (words, dim), got shapes {words.shape} and {codes.shape}")
    if not all(scale > 0 for scale in _some("scales", scales).values()):
        raise ValueError(f"scales must be greater than 0, got {dict(scales)!r}")
    figure, code_norm = go.Figure(), np.linalg.norm(codes, axis=-1).mean()
    norms = [np.linalg.norm(scale * words, axis=-1).mean() for scale in scales.values()]
    of_embedding = [_cosines(scale * words + codes, words).mean() for scale in scales.values()]
    of_encoding = [_cosines(scale * words + codes, codes).mean() for scale in scales.values()]
    bars = [f"{name}<br>norm {norm:.3g}" for name, norm in zip(scales, norms, strict=True)]
    for name, cosines, colour in (("embedding", of_embedding, "score"), ("encoding", of_encoding, "bound")):
        figure.add_bar(
            x=bars,
            y=_drawn(np.array(cosines)),
            text=[number(cosine, 2) for cosine in cosines],
            textposition="outside",
            marker={"color": PALETTE[colour], "line": {"width": 0}},
            name=f"cosine with the {name}",
        )
    figure.update_xaxes(title_text="embeddings before the sum", title_standoff=5)
    lowest = min(0, *of_embedding, *of_encoding)
    figure.update_yaxes(title_text="cosine similarity with the sum", range=[lowest, 1.1])
    finding = (
        f"Added to embeddings of norm {', '.join(f'{norm:.3g}' for norm in norms)}, an encoding of norm "
        f"{code_norm:.3g} leaves a cosine of {', '.join(number(x, 2) for x in of_embedding)} with the embedding"
    )
    cosines = zip(scales, of_embedding, of_encoding, strict=True)
    details = "; ".join(f"{name}: {number(first, 2)} and {number(second, 2)}" for name, first, second in cosines)
    _finish(figure, finding, f"Cosine of the sum with embedding and encoding: {details}.", height=450)
    return figure.update_layout(barmode="group", legend_y=-0.3, margin_b=85)


def frequency_roles(length: int, dim: int, base: float) -> go.Figure:
    """The rotation of each pair within a length, and the contributions to S(m) of pairs by rotation."""
    _above("length", length, 1)
    _above("base", base, 1)
    theta, distances = inv_freq(dim, base), np.arange(length)
    pairs, colours, far = len(theta), pair_colours(len(theta)), angles(length - 1, theta)
    ends = [pairs_reaching(theta, length, node) for node in (2 * np.pi, np.pi, np.pi / 2)]
    ranges = ("2π and more", "π to 2π", "π/2 to π", "less than π/2")
    groups = zip([0, *ends], [*ends, pairs], ranges, ("solid", "dash", "dot", "solid"), strict=True)
    titles = (f"angle at distance {length - 1}", "contribution of each group to S(Δ)")
    figure = make_subplots(2, 1, subplot_titles=titles, vertical_spacing=0.17, row_heights=[0.55, 0.45])
    points = {"mode": "markers", "marker": {"color": colours, "size": 6}, "showlegend": False, "name": "angle"}
    figure.add_scatter(**_at(range(pairs)), y=np.float32(far), **points, row=1, col=1)
    for node, name in ((np.pi / 2, "π/2"), (np.pi, "π"), (2 * np.pi, "2π")):
        line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
        ends_at = {"x": [0, pairs - 1], "y": [node, node], "text": ["", name], "textposition": "middle right"}
        figure.add_scatter(**ends_at, mode="lines+text", line=line, showlegend=False, name=name, row=1, col=1)
    for first, last, reached, dash in groups:
        if first < last:
            added = decay(distances, theta[first:last]) * (last - first) / pairs
            line = {"color": colours[(first + last - 1) // 2], "width": 2, "dash": dash}
            name = f"{reached}: {last - first} pairs"
            figure.add_scatter(**_at(distances), y=_drawn(added), name=name, line=line, row=2, col=1)
    whole = decay(distances, theta)
    line = {"color": PALETTE["score"], "width": 2, "dash": "dash"}
    figure.add_scatter(**_at(distances), y=_drawn(whole), name="S(Δ), all pairs", line=line, row=2, col=1)
    figure.update_yaxes(type="log", title_text="radians", row=1)
    figure.update_yaxes(title_text="S(Δ)", row=2)
    figure.update_xaxes(title_text="dimension pair i", range=[-0.03 * pairs, 1.08 * pairs], row=1)
    figure.update_xaxes(title_text="distance Δ (tokens)", row=2)
    figure.update_annotations(font_size=12)
    finding = (
        f"Within {number(length)} tokens {ends[0]} of {pairs} pairs make at least one full rotation, "
        f"and {pairs - ends[2]} less than a quarter"
    )
    details = (
        f"S(Δ) falls from 1 to {number(whole[-1], 2)}; the highest frequency is {theta[0]:.2f} radians per token, "
        "less than π, so that no pair aliases."
    )
    return _finish(figure, finding, details, height=720)


def shifted_pairs(position: float, offset: float, dim: int, base: float, pairs: Sequence[int]) -> go.Figure:
    """The (cos, sin) vectors of a few pairs before and after a shift, which rotates each by its own angle."""
    _above("offset", offset, 0)
    theta, colours = inv_freq(dim, base), pair_colours(dim // 2)
    encoding = sinusoidal(position, dim, base)
    shifted = shift_matrix(offset, dim, base) @ encoding
    before, after = (x.reshape(-1, 2)[:, ::-1] for x in (encoding, shifted))  # (dim/2, 2): cosine across, sine up
    rotated = [number(angle, 2) for angle in angles(offset, theta)]
    names = [f"pair {i}: by {rotated[i]} radians" for i in _pairs_of(dim, pairs)]
    figure = _planes(names, 1.15, "cos", "sin")
    for panel, i in enumerate(pairs):
        start, end = f"position {position:g}", f"position {position + offset:g}"
        _arrow(figure, panel, before[i], start, panel == 0, color=PALETTE["neutral"], width=2)
        _arrow(figure, panel, after[i], end, panel == 0, color=colours[i], width=3)
        # the arc from one to the other, one full rotation at most
        steps = np.linspace(0, min(offset, 2 * np.pi / theta[i]), 40)
        arc = 0.55 * sinusoidal(position + steps, dim, base).reshape(40, -1, 2)[:, i, ::-1]  # (40, 2)
        line = {"color": colours[i], "width": 1.5, "dash": "dot"}
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": False, "hoverinfo": "skip"}
        figure.add_scatter(x=_drawn(arc[:, 0]), y=_drawn(arc[:, 1]), mode="lines", line=line, name="rotation", **where)
    figure.update_xaxes(tickvals=[-1, 0, 1])
    figure.update_yaxes(tickvals=[-1, 0, 1])
    fast, slow = min(pairs), max(pairs)
    other = f", pair {slow} by {offset * theta[slow]:.2g}" if slow != fast else ""
    finding = (
        f"A shift by {offset:g} tokens rotates every pair anticlockwise: pair {fast} by {rotated[fast]} radians{other}"
    )
    details = f"From position {position:g} to {position + offset:g}, cosine across and sine up. {'; '.join(names)}."
    return _finish(figure, finding, details, height=150 + 280 * -(-len(pairs) // 2))


def inner_products(reach: int, dims: Sequence[int], base: float) -> go.Figure:
    """S(k), the inner product of two encodings over dim/2, against the offset k, for several widths."""
    _above("reach", reach, 1)
    names = [f"d = {dim}" for dim in _some("dims", dims)]
    figure, rows, places = _grid(names, 0.2)
    offsets, monotonic, ends = np.arange(-reach, reach + 1), [], []
    for k, dim in enumerate(dims):
        score = decay(offsets, inv_freq(dim, base))
        rising = np.flatnonzero(np.diff(score[reach:]) > 0)
        monotonic.append(str(rising[0] if rising.size else reach))
        ends.append(f"{number(score[-1], 2)} for {names[k]}")
        line = {"color": PALETTE["score"], "width": 1.5}
        figure.add_scatter(**_at(offsets), y=_drawn(score), name=names[k], line=line, showlegend=False, **places[k])
    figure.update_yaxes(range=[-0.6, 1.05])
    figure.update_yaxes(title_text="S(Δ)", col=1)
    figure.update_xaxes(title_text="distance Δ (tokens)", row=rows)
    figure.update_annotations(font_size=12)
    finding = (
        "Dot products of two encodings are even in Δ and decrease monotonically up to distance "
        f"{', '.join(monotonic)} (d = {', '.join(map(str, dims))})"
    )
    return _finish(figure, finding, f"1 at Δ = 0; at {reach} tokens {', '.join(ends)}.", height=200 + 160 * rows)


def projected_sum(words: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> go.Figure:
    """From a word and its encoding to the score, the query's (top) and the key's, as tables of numbers.

    `words` and `codes` have shape (2, dim), the query first; `weights`, W_Q and W_K, (2, dim, dim), act on columns.
    """
    x, p, w = (np.asarray(each, dtype=float) for each in (words, codes, weights))
    if x.ndim != 2 or len(x) != 2 or p.shape != x.shape or w.shape != (*x.shape, x.shape[1]):
        raise ValueError(
            "words, codes and weights must have shapes (2, dim), (2, dim) and (2, dim, dim), "
            f"got {x.shape}, {p.shape} and {w.shape}"
        )
    dim, sums = x.shape[1], x + p
    after = (w @ sums[..., None])[..., 0]  # query and key, (2, dim)
    titles = ["x", "+ p", "= x + p", "W<sub>Q</sub>", "query", "x", "+ p", "= x + p", "W<sub>K</sub>", "key"]
    figure = make_subplots(
        2,
        5,
        column_widths=[1, 1, 1, dim, 1],
        horizontal_spacing=0.045,
        vertical_spacing=0.16,
        subplot_titles=titles,
    )
    for k in (0, 1):
        for column, values in enumerate((x[k], p[k], sums[k], w[k], after[k]), 1):
            table = values.reshape(dim, -1)
            place = {"row": k + 1, "col": column}
            figure.add_heatmap(z=_drawn(table), coloraxis="coloraxis", xgap=1, ygap=1, hoverinfo="skip", **place)
            text = [number(value, 0 if column == 4 and value == round(value) else 1) for value in table.flat]
            _numbers_on(figure, table.shape, text, textfont={"size": 11}, showlegend=False, **place)
    high = max(float(np.abs(each).max()) for each in (x, p, sums, w, after))
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False)
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, autorange="reversed")
    figure.update_xaxes(title_text="column", row=2, col=4)
    figure.update_yaxes(title_text="query", row=1, col=1)
    figure.update_yaxes(title_text="key", row=2, col=1)
    figure.update_annotations(font_size=11)
    figure.update_layout(coloraxis=_colour_scale(-high, high), coloraxis_showscale=False)
    between = w[0].T @ w[1]
    score, content, position = (
        number(value, 2) for value in (after[0] @ after[1], x[0] @ between @ x[1], p[0] @ between @ p[1])
    )
    finding = f"q·k is {score}; embeddings alone would give {content}, positional encodings alone {position}"
    details = []
    for name, *vectors in zip(("Query", "Key"), x, p, after, strict=True):
        embedding, encoding, product = (", ".join(number(value, 1) for value in vector) for vector in vectors)
        details.append(f"{name}: embedding x {embedding}; encoding p {encoding}; their sum times the matrix {product}.")
    return _finish(figure, finding, " ".join(details), height=430)


def products_through_weights(
    offsets: Sequence[int], positions: Sequence[int], dim: int, base: float, weights: Mapping[str, np.ndarray | None]
) -> go.Figure:
    """p·W·p′ against distance, one panel per W (None: the identity), one line per position of the query.

    Lines coincide if the product depends on distance alone. Offsets are Δ = m − n, from −n to n.
    """
    offsets = np.asarray(offsets)
    if len(offsets) < 3 or np.any(offsets != -offsets[::-1]) or len(_some("positions", positions)) < 2:
        raise ValueError(f"offsets must be −n … n and positions two or more, got {offsets} and {list(positions)}")
    rows = len(_some("weights", weights))
    figure = make_subplots(rows, 1, shared_xaxes=True, subplot_titles=list(weights), vertical_spacing=0.2 / rows)
    residuals, asymmetries = [], []
    for row, (name, weight) in enumerate(weights.items(), 1):
        kernel = offset_kernel(-offsets, positions, dim, base, weight)  # (positions, offsets)
        residuals.append(f"{percent(float(kernel_residual(kernel)) ** 2)} ({name})")
        asymmetries.append(f"{name}: {float(kernel_asymmetry(kernel)):.2f}")
        for k, (position, line) in enumerate(zip(positions, kernel, strict=True)):
            figure.add_scatter(
                **_at(offsets),
                y=_drawn(line),
                line=_style(k, width=7 - 2.75 * min(k, 2)),  # lines on each other all show
                name=f"query at {position}",
                showlegend=row == 1,
                row=row,
                col=1,
            )
    figure.update_yaxes(title_text="p·W·p′")
    figure.update_xaxes(title_text="distance Δ = m − n (tokens)", row=rows)
    figure.update_annotations(font_size=12)
    finding = f"Variance of the product that Δ does not explain: {', '.join(residuals)}"
    details = f"d = {dim}, base {number(base)}. Difference between Δ and −Δ, in standard deviations: "
    return _finish(figure, finding, f"{details}{'; '.join(asymmetries)}.", height=170 + 160 * rows)


def _explained_by_offset(table: np.ndarray) -> float:
    """The fraction of a table's variance between its diagonals: 1 if each is constant."""
    queries, keys = table.shape
    offsets = (np.arange(keys) - np.arange(queries)[:, None]).ravel() + queries - 1
    means = np.bincount(offsets, table.ravel()) / np.bincount(offsets)
    return float(1 - np.var(table.ravel() - means[offsets]) / (np.var(table) or 1))


FLAG = np.array([[0.0, 0.0], [0.0, 1.0], [0.45, 0.8], [0.0, 0.6]])  # (points, 2): a staff and its cloth


def rotated_and_mapped(weights: Mapping[str, np.ndarray], angle: float) -> go.Figure:
    """A flag rotated by an angle, in radians, then mapped by W, and the reverse: one panel per W.

    `weights` are matrices of shape (2, 2) that act on columns, like the rotation, which is anticlockwise.
    """
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    orders: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name, weight in _some("weights", weights).items():
        matrix = np.asarray(weight, dtype=float)
        if matrix.shape != (2, 2):
            raise ValueError(f"weights[{name!r}] must have shape (2, 2), got shape {matrix.shape}")
        orders[name] = FLAG @ (matrix @ rotation).T, FLAG @ (rotation @ matrix).T
    figure, gaps = _planes(list(orders), 1.0, "first coordinate", "second coordinate"), {}
    figure.update_xaxes(showticklabels=False, dtick=1)
    figure.update_yaxes(dtick=1)  # its numbers say how large a panel's flags are
    styles = (
        ("rotated, then W", {"color": PALETTE["score"], "width": 5}),
        ("W, then rotated", {"color": PALETTE["bound"], "width": 2, "dash": "dash"}),
    )
    for panel, (name, both) in enumerate(orders.items()):
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": panel == 0, "mode": "lines"}
        for (legend, line), flag in zip(styles, both, strict=True):
            figure.add_scatter(x=_drawn(flag[:, 0]), y=_drawn(flag[:, 1]), name=legend, line=line, **where)
        reach = 1.15 * float(np.abs(both).max())  # only shapes are compared, within a panel
        figure.update_xaxes(range=[-reach, reach], row=where["row"], col=where["col"])
        figure.update_yaxes(range=[-reach, reach], row=where["row"], col=where["col"])
        gaps[name] = float(np.linalg.norm(both[0] - both[1], axis=1).max())
    commuting = ", ".join(name for name, gap in gaps.items() if gap < 1e-9)
    finding = f"The order does not matter for {commuting}" if commuting else "The order matters for all of them"
    if commuting and max(gaps.values()) >= 1e-9:
        finding += "; for the others it does"
    distances = ", ".join(f"{gap:.2f} ({name})" for name, gap in gaps.items())
    details = f"A flag is rotated by {number(angle, 2)} radians. Maximum distance between the two flags: {distances}."
    return _finish(figure, finding, details, height=150 + 230 * -(-len(gaps) // 2))


def block_maps(weights: Mapping[str, np.ndarray]) -> go.Figure:
    """Matrices as heat maps with the pairs' diagonal blocks framed, each divided by its maximum.

    The finding is the fraction of squared norm in blocks aI + bJ (`analysis.pairwise_weight`, interleaved).
    """
    tables: dict[str, np.ndarray] = {}
    for name, weight in _some("weights", weights).items():
        tables[name] = np.asarray(weight, dtype=float)
        if (
            tables[name].ndim != 2
            or len(set(tables[name].shape)) != 1
            or len(tables[name]) % 2
            or not tables[name].any()
        ):
            shape = tables[name].shape
            raise ValueError(f"weights[{name!r}] must be square, of even size and not all 0, got shape {shape}")
    drawn = {name: _drawn(table / np.abs(table).max()) for name, table in tables.items()}
    columns = min(3, len(tables))
    figure = _heat_maps(drawn, columns, -1, 1, xgap=1, ygap=1)
    fractions = []
    for k, (name, table) in enumerate(tables.items()):
        pairs = len(table) // 2
        own = table.reshape(pairs, 2, pairs, 2)[np.arange(pairs), :, np.arange(pairs), :]  # (pairs, 2, 2)
        a, b = (own[:, 0, 0] + own[:, 1, 1]) / 2, (own[:, 1, 0] - own[:, 0, 1]) / 2
        fractions.append(f"{percent(2 * float(np.sum(a**2 + b**2)) / float(np.sum(table**2)))} ({name})")
        panel = "" if k == 0 else k + 1
        corners = np.array([-0.5, 1.5])
        for pair in range(pairs):
            (x0, x1), line = corners + 2 * pair, {"color": PALETTE["neutral"], "width": 2}
            where = {"xref": f"x{panel}", "yref": f"y{panel}", "x0": x0, "x1": x1, "y0": x0, "y1": x1}
            figure.add_shape(type="rect", line=line, **where)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    rows = -(-len(tables) // columns)
    figure.update_xaxes(title_text="column", row=rows)
    figure.update_yaxes(title_text="row", col=1)
    figure.update_layout(coloraxis_showscale=False)
    finding = f"Fraction of a matrix’s squared norm in blocks aI + bJ: {', '.join(fractions)}"
    details = "Frames mark the block of each pair with itself. Each matrix is drawn over its own maximum."
    return _finish(figure, finding, details, height=110 + 230 * rows)


def score_terms(terms: FourTerms | TransformerXLTerms) -> go.Figure:
    """The four terms of a score as heat maps, each on its own scale, which its title has.

    The terms are those of (x_m + p_m)·W·(x_n + p_n) from `analysis.four_terms`, or those of Transformer-XL and TENER
    for one head from `bias.tener`.
    """
    names = ["(a) content–content", "(b) content–position", "(c) position–content", "(d) position–position"]
    if isinstance(terms, TransformerXLTerms):
        names = ["(a) content–content", "(b) content–distance", "(c) global content", "(d) global position"]
    tables = {name: np.asarray(term, dtype=float) for name, term in zip(names, terms, strict=True)}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or 0 in shape or shape != shapes[0] for shape in shapes):
        raise ValueError(f"terms must all have shape (queries, keys), got shapes {shapes}")
    tops = [float(np.abs(table).max()) or 1.0 for table in tables.values()]
    titles = [f"{name}<br>colours ±{top:.3g}" for name, top in zip(names, tops, strict=True)]
    figure = _heat_maps(dict(zip(titles, map(_drawn, tables.values()), strict=True)), 2, -1, 1)
    for k, (trace, top) in enumerate(zip(figure.data, tops, strict=True)):
        trace.coloraxis = f"coloraxis{k + 1 if k else ''}"
        figure.update_layout({trace.coloraxis: _colour_scale(-top, top) | {"showscale": k == 0}})
    signs = {"tickvals": [-tops[0], 0, tops[0]], "ticktext": ["−", "0", "+"]}  # of every panel
    figure.update_layout(coloraxis_colorbar=signs)
    figure.update_xaxes(title_text="key position n", row=2)
    figure.update_yaxes(title_text="query position m", col=1)
    residuals = [f"{name[:3]} {percent(1 - _explained_by_offset(table))}" for name, table in tables.items()]
    deviations = ", ".join(f"{name}: {table.std():.2f}" for name, table in tables.items())
    finding = f"Variance of each term that the distance does not explain: {', '.join(residuals)}"
    return _finish(figure, finding, f"Standard deviations of the terms: {deviations}.", height=640)


def position_maps(
    length: int, dim: int, base: float, weights: Mapping[str, np.ndarray | None], trained: int | None = None
) -> go.Figure:
    """p_mᵀ·W·p_n for all positions m of the query and n of the key, a heat map per W (None: the identity).

    A map with constant diagonals depends on the offset alone. Each is divided by its maximum. With `trained`, dotted
    lines separate trained positions from the others.
    """
    _above("length", length, 1)
    if trained is not None and not 1 < trained < length - 1:
        raise ValueError(f"trained must be greater than 1 and less than length − 1 = {length - 1}, got {trained!r}")
    codes = sinusoidal(np.arange(length), dim, base)
    maps, within, further = {}, [], []
    for name, weight in _some("weights", weights).items():
        table = codes @ (np.eye(dim) if weight is None else np.asarray(weight, dtype=float)) @ codes.T
        within.append(f"{percent(_explained_by_offset(table[:trained, :trained]))} ({name})")
        further.append(percent(_explained_by_offset(table[trained or 0 :, trained or 0 :])))
        maps[name] = table / (np.abs(table).max() or 1)
    step = 1 + length // 200  # a page needs no more than some hundred rows
    drawn = {name: _drawn(table[::step, ::step]) for name, table in maps.items()}
    figure = _heat_maps(drawn, min(2, len(maps)), -1, 1, x0=0, dx=step, y0=0, dy=step)
    rows = -(-len(maps) // 2)
    if trained is not None:
        line = {"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"}
        figure.add_vline(trained - step / 2, line=line)
        figure.add_hline(trained - step / 2, line=line)
    figure.update_xaxes(title_text="key position n", row=rows)
    figure.update_yaxes(title_text="query position m", col=1)
    finding = f"Variance of a map that the distance explains: {', '.join(within)}"
    if trained is not None:
        finding += f" up to position {trained - 1}, and {', '.join(further)} from {trained} on"
    details = f"d = {dim}, base {number(base)}, positions 0 to {length - 1}, each map over its maximum."
    return _finish(figure, finding, details, height=110 + 300 * rows)

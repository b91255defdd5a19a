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
from posenc.bias import TransformerXLTerms
from posenc.figures._drawing import (
    PALETTE,
    _above,
    _arrow,
    _at,
    _colour_scale,
    _drawn,
    _each,
    _heat_maps,
    _number,
    _numbers_on,
    _planes,
    _say,
    _some,
    _style,
    _tell,
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
        hovertemplate=_say("wavelength_ladder.hover", pair="%{x}", tokens="%{y:.4g}"),
    )
    for i, anchor, shift in ((0, "left", -14), (pairs - 1, "right", 14)):
        text = _say("wavelength_ladder.end", pair=i, tokens=lengths[i])
        place = {"xanchor": anchor, "yshift": shift, "showarrow": False}
        figure.add_annotation(x=i, y=np.log10(lengths[i]), text=text, **place)  # annotations count in powers of ten
    figure.update_xaxes(title_text=_say("axes.pair"))
    figure.update_yaxes(type="log", title_text=_say("wavelength_ladder.up"))
    facts = {"shortest": lengths[0], "longest": lengths[-1], "end": 2 * np.pi * base, "pairs": pairs}
    factor = lengths[1] / lengths[0] if pairs > 1 else None
    return _tell(figure, "wavelength_ladder", dim=dim, base=base, factor=factor, **facts)


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
    shared = {"shared_xaxes": True, "shared_yaxes": True, "horizontal_spacing": 0.14}
    figure = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=spacing / rows, **shared)
    return figure, rows, [{"row": k // columns + 1, "col": k % columns + 1} for k in range(len(titles))]


def chirps(positions: Sequence[int], dim: int, base: float, pairs: int) -> go.Figure:
    """The sines of a few positions over the first pairs, sin(t·θ_i) against i, one panel each."""
    _above("base", base, 1)
    _pairs_of(dim, [pairs - 1])
    names = [_say("chirps.panel", position=position) for position in _some("positions", positions)]
    figure, rows, places = _grid(names, 0.25)
    crossings = []
    for k, position in enumerate(positions):
        sines = sinusoidal(position, dim, base, "half-split")[:pairs]  # the sines come first
        turning = np.sign(sines)[sines != 0]
        crossings.append(np.count_nonzero(turning[1:] != turning[:-1]))
        line = {"color": PALETTE["score"], "width": 2}
        figure.add_scatter(
            **_at(range(pairs)), y=_drawn(sines), name=names[k], line=line, showlegend=False, **places[k]
        )
    figure.update_yaxes(range=[-1.1, 1.1], tickvals=[-1, 0, 1])
    figure.update_yaxes(title_text=_say("chirps.up"), col=1)
    figure.update_xaxes(title_text=_say("axes.pair"), row=rows)
    figure.update_annotations(font_size=12)
    chirps = _each(position=positions, crossings=crossings)
    return _tell(figure, "chirps", height=230 + 130 * rows, chirps=chirps, pairs=pairs, dim=dim, base=base)


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
    kept = [_cosines(scale * words + codes, words).mean() for scale in scales.values()]
    told = [_cosines(scale * words + codes, codes).mean() for scale in scales.values()]
    bars = _each(name=scales, length=norms, kept=kept, told=told)
    names = [_say("added_encoding.bar", **bar) for bar in bars]
    for of_word, cosines, colour in ((True, kept, "score"), (False, told, "bound")):
        figure.add_bar(
            x=names,
            y=_drawn(np.array(cosines)),
            text=[f"{cosine:.2f}" for cosine in cosines],
            textposition="outside",
            marker={"color": PALETTE[colour], "line": {"width": 0}},
            name=_say("added_encoding.cosine", of_word=of_word),
        )
    figure.update_xaxes(title_text=_say("added_encoding.across"), title_standoff=5)
    figure.update_yaxes(title_text=_say("added_encoding.up"), range=[min(0, *kept, *told), 1.1])
    _tell(figure, "added_encoding", height=450, bars=bars, length_of_code=code_norm)
    return figure.update_layout(barmode="group", legend_y=-0.3, margin_b=85)


def frequency_roles(length: int, dim: int, base: float) -> go.Figure:
    """The rotation of each pair within a length, and the contributions to S(m) of pairs by rotation."""
    _above("length", length, 1)
    _above("base", base, 1)
    theta, distances = inv_freq(dim, base), np.arange(length)
    pairs, colours, far = len(theta), pair_colours(len(theta)), angles(length - 1, theta)
    ends = [pairs_reaching(theta, length, node) for node in (2 * np.pi, np.pi, np.pi / 2)]
    kinds = ("turn", "half", "quarter", "less")
    groups = zip([0, *ends], [*ends, pairs], kinds, ("solid", "dash", "dot", "solid"), strict=True)
    titles = (_say("frequency_roles.angles", distance=length - 1), _say("frequency_roles.added"))
    figure = make_subplots(2, 1, subplot_titles=titles, vertical_spacing=0.17, row_heights=[0.55, 0.45])
    points = {"mode": "markers", "marker": {"color": colours, "size": 6}, "showlegend": False}
    points |= {"name": _say("frequency_roles.angle")}
    figure.add_scatter(**_at(range(pairs)), y=np.float32(far), **points, row=1, col=1)
    for node, name in ((np.pi / 2, "π/2"), (np.pi, "π"), (2 * np.pi, "2π")):
        line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
        ends_at = {"x": [0, pairs - 1], "y": [node, node], "text": ["", name], "textposition": "middle right"}
        figure.add_scatter(**ends_at, mode="lines+text", line=line, showlegend=False, name=name, row=1, col=1)
    for first, last, kind, dash in groups:
        if first < last:
            added = decay(distances, theta[first:last]) * (last - first) / pairs
            line = {"color": colours[(first + last - 1) // 2], "width": 2, "dash": dash}
            name = _say("frequency_roles.group", reached=kind, pairs=last - first)
            figure.add_scatter(**_at(distances), y=_drawn(added), name=name, line=line, row=2, col=1)
    whole = decay(distances, theta)
    line = {"color": PALETTE["score"], "width": 2, "dash": "dash"}
    name = _say("frequency_roles.all")
    figure.add_scatter(**_at(distances), y=_drawn(whole), name=name, line=line, row=2, col=1)
    figure.update_yaxes(type="log", title_text=_say("frequency_roles.radians"), row=1)
    figure.update_yaxes(title_text=_say("frequency_roles.up"), row=2)
    figure.update_xaxes(title_text=_say("axes.pair"), range=[-0.03 * pairs, 1.08 * pairs], row=1)
    figure.update_xaxes(title_text=_say("axes.distance"), row=2)
    figure.update_annotations(font_size=12)
    facts = {"length": length, "turned": ends[0], "pairs": pairs, "short": pairs - ends[2]}
    return _tell(figure, "frequency_roles", height=720, end=whole[-1], fastest=theta[0], **facts)


def shifted_pairs(position: float, offset: float, dim: int, base: float, pairs: Sequence[int]) -> go.Figure:
    """The (cos, sin) vectors of a few pairs before and after a shift, which rotates each by its own angle."""
    _above("offset", offset, 0)
    theta, colours = inv_freq(dim, base), pair_colours(dim // 2)
    code = sinusoidal(position, dim, base)
    moved = shift_matrix(offset, dim, base) @ code
    before, after = (hands.reshape(-1, 2)[:, ::-1] for hands in (code, moved))  # (dim/2, 2): cosine across, sine up
    turned = angles(offset, theta)
    names = [_say("shifted_pairs.pair", pair=i, angle=turned[i]) for i in _pairs_of(dim, pairs)]
    figure = _planes(names, 1.15, "cos", "sin")
    places = [_say("shifted_pairs.position", position=at) for at in (position, position + offset)]
    for panel, i in enumerate(pairs):
        _arrow(figure, panel, before[i], places[0], panel == 0, color=PALETTE["neutral"], width=2)
        _arrow(figure, panel, after[i], places[1], panel == 0, color=colours[i], width=3)
        # the way from one to the other, a whole turn at most
        way = np.linspace(0, min(offset, 2 * np.pi / theta[i]), 40)
        way = 0.55 * sinusoidal(position + way, dim, base).reshape(40, -1, 2)[:, i, ::-1]  # (40, 2)
        line = {"color": colours[i], "width": 1.5, "dash": "dot"}
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": False, "hoverinfo": "skip"}
        where["name"] = _say("shifted_pairs.turn")
        figure.add_scatter(x=_drawn(way[:, 0]), y=_drawn(way[:, 1]), mode="lines", line=line, **where)
    figure.update_xaxes(tickvals=[-1, 0, 1])
    figure.update_yaxes(tickvals=[-1, 0, 1])
    fast, slow = min(pairs), max(pairs)
    facts = {"offset": offset, "fast": fast, "angle": turned[fast], "slow": slow, "slow_angle": turned[slow]}
    facts |= {"position": position, "after": position + offset, "pairs": _each(name=names)}
    return _tell(figure, "shifted_pairs", height=150 + 280 * -(-len(pairs) // 2), **facts)


def inner_products(reach: int, dims: Sequence[int], base: float) -> go.Figure:
    """S(k), the inner product of two encodings over dim/2, against the offset k, for several widths."""
    _above("reach", reach, 1)
    names = [_say("inner_products.panel", dim=dim) for dim in _some("dims", dims)]
    figure, rows, places = _grid(names, 0.2)
    offsets, told = np.arange(-reach, reach + 1), []
    for k, dim in enumerate(dims):
        score = decay(offsets, inv_freq(dim, base))
        rising = np.flatnonzero(np.diff(score[reach:]) > 0)
        told.append({"dim": dim, "rise": rising[0] if rising.size else reach, "end": score[-1]})
        line = {"color": PALETTE["score"], "width": 1.5}
        figure.add_scatter(**_at(offsets), y=_drawn(score), name=names[k], line=line, showlegend=False, **places[k])
    figure.update_yaxes(range=[-0.6, 1.05])
    figure.update_yaxes(title_text=_say("inner_products.up"), col=1)
    figure.update_xaxes(title_text=_say("inner_products.across"), row=rows)
    figure.update_annotations(font_size=12)
    return _tell(figure, "inner_products", height=200 + 160 * rows, widths=told, reach=reach)


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
    sides = [_say("projected_sum.query"), _say("projected_sum.key")]
    names = [_say("projected_sum.word"), _say("projected_sum.code"), _say("projected_sum.sum")]
    matrices = [_say("projected_sum.w0"), _say("projected_sum.w1")]
    figure = make_subplots(
        2,
        5,
        column_widths=[1, 1, 1, dim, 1],
        horizontal_spacing=0.045,
        vertical_spacing=0.16,
        subplot_titles=[name for k in (0, 1) for name in (*names, matrices[k], sides[k])],
    )
    for k in (0, 1):
        for column, values in enumerate((x[k], p[k], sums[k], w[k], after[k]), 1):
            table = values.reshape(dim, -1)
            place = {"row": k + 1, "col": column}
            figure.add_heatmap(z=_drawn(table), coloraxis="coloraxis", xgap=1, ygap=1, hoverinfo="skip", **place)
            text = [_number(value, 0 if column == 4 and value == round(value) else 1) for value in table.flat]
            _numbers_on(figure, table.shape, text, textfont={"size": 11}, showlegend=False, **place)
    most = max(float(np.abs(each).max()) for each in (x, p, sums, w, after))
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False)
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, autorange="reversed")
    figure.update_xaxes(title_text=_say("projected_sum.across"), row=2, col=4)
    figure.update_yaxes(title_text=_say("projected_sum.of_query"), row=1, col=1)
    figure.update_yaxes(title_text=_say("projected_sum.of_key"), row=2, col=1)
    figure.update_annotations(font_size=11)
    figure.update_layout(coloraxis=_colour_scale(-most, most), coloraxis_showscale=False)
    between = w[0].T @ w[1]
    places = p[0] @ between @ p[1]
    facts = {"score": after[0] @ after[1], "words": x[0] @ between @ x[1], "places": places}
    sides_told = _each(name=sides, word=map(_list, x), code=map(_list, p), after=map(_list, after))
    return _tell(figure, "projected_sum", height=430, **facts, sides=sides_told)


def _list(values: np.ndarray) -> str:
    """Numbers as an alternative text names them."""
    return ", ".join(_number(value, 1) for value in values)


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
    told = []
    for row, (name, weight) in enumerate(weights.items(), 1):
        kernel = offset_kernel(-offsets, positions, dim, base, weight)  # (positions, offsets)
        free, sides = float(kernel_residual(kernel)) ** 2, float(kernel_asymmetry(kernel))
        told.append({"name": name, "free": free, "sides": sides})
        for k, (position, line) in enumerate(zip(positions, kernel, strict=True)):
            figure.add_scatter(
                **_at(offsets),
                y=_drawn(line),
                line=_style(k, width=7 - 2.75 * min(k, 2)),  # lines on each other all show
                name=_say("products_through_weights.line", position=position),
                showlegend=row == 1,
                row=row,
                col=1,
            )
    figure.update_yaxes(title_text=_say("products_through_weights.up"))
    figure.update_xaxes(title_text=_say("products_through_weights.across"), row=rows)
    figure.update_annotations(font_size=12)
    return _tell(figure, "products_through_weights", height=170 + 160 * rows, dim=dim, base=base, weights=told)


def _told_by_offset(table: np.ndarray) -> float:
    """The fraction of a table's variance between its diagonals: 1 if each is constant."""
    queries, keys = table.shape
    offsets = (np.arange(keys) - np.arange(queries)[:, None]).ravel() + queries - 1
    means = np.bincount(offsets, table.ravel()) / np.bincount(offsets)
    return float(1 - np.var(table.ravel() - means[offsets]) / (np.var(table) or 1))


FLAG = np.array([[0.0, 0.0], [0.0, 1.0], [0.45, 0.8], [0.0, 0.6]])  # (points, 2): a staff and its cloth


def rotated_and_mapped(weights: Mapping[str, np.ndarray], angle: float) -> go.Figure:
    """A flag rotated by an angle, in radians, then mapped by W, and the reverse: one panel per W.

    `weights` are matrices of shape (2, 2) that act on columns, like the rotation, which is counterclockwise.
    """
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    ways: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name, weight in _some("weights", weights).items():
        matrix = np.asarray(weight, dtype=float)
        if matrix.shape != (2, 2):
            raise ValueError(f"weights[{name!r}] must have shape (2, 2), got shape {matrix.shape}")
        ways[name] = FLAG @ (matrix @ turn).T, FLAG @ (turn @ matrix).T
    figure, apart = _planes(list(ways), 1.0, _say("rotated_and_mapped.across"), _say("rotated_and_mapped.up")), {}
    figure.update_xaxes(showticklabels=False, dtick=1)
    figure.update_yaxes(dtick=1)  # its numbers say how large a panel's flags are
    styles = (
        (_say("rotated_and_mapped.turned_first"), {"color": PALETTE["score"], "width": 5}),
        (_say("rotated_and_mapped.mapped_first"), {"color": PALETTE["bound"], "width": 2, "dash": "dash"}),
    )
    for panel, (name, both) in enumerate(ways.items()):
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": panel == 0, "mode": "lines"}
        for (legend, line), flag in zip(styles, both, strict=True):
            figure.add_scatter(x=_drawn(flag[:, 0]), y=_drawn(flag[:, 1]), name=legend, line=line, **where)
        reach = 1.15 * float(np.abs(both).max())  # only shapes are compared, within a panel
        figure.update_xaxes(range=[-reach, reach], row=where["row"], col=where["col"])
        figure.update_yaxes(range=[-reach, reach], row=where["row"], col=where["col"])
        apart[name] = float(np.linalg.norm(both[0] - both[1], axis=1).max())
    same = [name for name, gap in apart.items() if gap < 1e-9]
    facts = {"same": _each(name=same), "any": len(same), "all": len(same) == len(apart), "angle": angle}
    facts["apart"] = _each(name=apart, gap=apart.values())
    return _tell(figure, "rotated_and_mapped", height=150 + 230 * -(-len(apart) // 2), **facts)


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
    shares = []
    for k, table in enumerate(tables.values()):
        pairs = len(table) // 2
        own = table.reshape(pairs, 2, pairs, 2)[np.arange(pairs), :, np.arange(pairs), :]  # (pairs, 2, 2)
        a, b = (own[:, 0, 0] + own[:, 1, 1]) / 2, (own[:, 1, 0] - own[:, 0, 1]) / 2
        shares.append(2 * float(np.sum(a**2 + b**2)) / float(np.sum(table**2)))
        number = "" if k == 0 else k + 1
        corners = np.array([-0.5, 1.5])
        for pair in range(pairs):
            (x0, x1), line = corners + 2 * pair, {"color": PALETTE["neutral"], "width": 2}
            where = {"xref": f"x{number}", "yref": f"y{number}", "x0": x0, "x1": x1, "y0": x0, "y1": x1}
            figure.add_shape(type="rect", line=line, **where)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    rows = -(-len(tables) // columns)
    figure.update_xaxes(title_text=_say("block_maps.across"), row=rows)
    figure.update_yaxes(title_text=_say("block_maps.up"), col=1)
    figure.update_layout(coloraxis_showscale=False)
    return _tell(figure, "block_maps", height=110 + 230 * rows, maps=_each(name=tables, share=shares))


def score_terms(terms: FourTerms | TransformerXLTerms) -> go.Figure:
    """The four terms of a score as heat maps, each on its own scale, which its title has.

    The terms are those of (x_m + p_m)·W·(x_n + p_n) from `analysis.four_terms`, or those of Transformer-XL and TENER
    for one head from `bias.tener`.
    """
    if isinstance(terms, TransformerXLTerms):
        names = [_say("score_terms.relative_a"), _say("score_terms.relative_b")]
        names += [_say("score_terms.relative_c"), _say("score_terms.relative_d")]
    else:
        names = [_say("score_terms.absolute_a"), _say("score_terms.absolute_b")]
        names += [_say("score_terms.absolute_c"), _say("score_terms.absolute_d")]
    tables = {name: np.asarray(term, dtype=float) for name, term in zip(names, terms, strict=True)}
    shapes = [table.shape for table in tables.values()]
    if any(len(shape) != 2 or 0 in shape or shape != shapes[0] for shape in shapes):
        raise ValueError(f"terms must all have shape (queries, keys), got shapes {shapes}")
    free = [1 - _told_by_offset(table) for table in tables.values()]
    tops = [float(np.abs(table).max()) or 1.0 for table in tables.values()]
    panels = _each(name=tables, top=tops, broken=["<br>" in name for name in tables])
    titles = [_say("score_terms.panel", **panel) for panel in panels]
    figure = _heat_maps(dict(zip(titles, map(_drawn, tables.values()), strict=True)), 2, -1, 1)
    for number, (trace, top) in enumerate(zip(figure.data, tops, strict=True)):
        trace.coloraxis = f"coloraxis{number + 1 if number else ''}"
        figure.update_layout({trace.coloraxis: _colour_scale(-top, top) | {"showscale": number == 0}})
    signs = {"tickvals": [-tops[0], 0, tops[0]], "ticktext": ["−", "0", "+"]}  # of every panel
    figure.update_layout(coloraxis_colorbar=signs)
    figure.update_xaxes(title_text=_say("score_terms.across"), row=2)
    figure.update_yaxes(title_text=_say("score_terms.up"), col=1)
    names = [name.replace("<br>", " ") for name in tables]
    told = _each(letter="abcd", name=names, share=free, spread=[table.std() for table in tables.values()])
    return _tell(figure, "score_terms", height=640, terms=told)


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
    maps, told = {}, []
    for name, weight in _some("weights", weights).items():
        table = codes @ (np.eye(dim) if weight is None else np.asarray(weight, dtype=float)) @ codes.T
        further = None if trained is None else _told_by_offset(table[trained:, trained:])
        told.append({"name": name, "share": _told_by_offset(table[:trained, :trained]), "further": further})
        maps[name] = table / (np.abs(table).max() or 1)
    step = 1 + length // 200  # a page needs no more than some hundred rows
    drawn = {name: _drawn(table[::step, ::step]) for name, table in maps.items()}
    figure = _heat_maps(drawn, min(2, len(maps)), -1, 1, x0=0, dx=step, y0=0, dy=step)
    rows = -(-len(maps) // 2)
    if trained is not None:
        line = {"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"}
        figure.add_vline(trained - step / 2, line=line)
        figure.add_hline(trained - step / 2, line=line)
    figure.update_xaxes(title_text=_say("position_maps.across"), row=rows)
    figure.update_yaxes(title_text=_say("position_maps.up"), col=1)
    facts = {"trained": trained, "last_trained": None if trained is None else trained - 1}
    facts |= {"dim": dim, "base": base, "last": length - 1, "maps": told}
    return _tell(figure, "position_maps", height=110 + 300 * rows, **facts)

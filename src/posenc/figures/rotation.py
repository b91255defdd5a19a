"""Queries and keys that turn: by matrices, by complex numbers and in a model (chapters 05 to 07)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import describe
from posenc.figures._drawing import (
    PALETTE,
    _above,
    _arrow,
    _at,
    _drawn,
    _each,
    _heat_maps,
    _number,
    _planes,
    _say,
    _some,
    _style,
    _tell,
    pair_colours,
)
from posenc.frequencies import angles, inv_freq
from posenc.rotary import layout_permutation, pair_scores, plane_rotations, rotate, rotation_matrix


def rotated_pairs(
    q: Sequence[float], k: Sequence[float], query_position: float, key_position: float, base: float
) -> go.Figure:
    """Query and key pair by pair as arrows in the plane, unrotated (dotted) and rotated by their positions."""
    q, k = np.asarray(q, dtype=float), np.asarray(k, dtype=float)
    if q.ndim != 1 or q.shape != k.shape or not len(q):
        raise ValueError(f"q and k must both have shape (dim,), got shapes {q.shape} and {k.shape}")
    theta = inv_freq(len(q), base)
    shares = pair_scores(q, k, angles(query_position - key_position, theta), "interleaved")  # (dim/2,)
    names = [_say("rotated_pairs.adds", pair=i, share=share) for i, share in enumerate(shares)]
    reach = 1.1 * max(np.hypot(*x.reshape(-1, 2).T).max() for x in (q, k))
    figure = _planes(names, reach, _say("rotated_pairs.across"), _say("rotated_pairs.up"))
    drawn = ((_say("axes.query"), q, query_position, "query"), (_say("axes.key"), k, key_position, "key"))
    for name, x, position, colour in drawn:
        turned = rotate(x, angles(position, theta), "interleaved").reshape(-1, 2)
        for i, (before, after) in enumerate(zip(x.reshape(-1, 2), turned, strict=True)):
            line = {"color": PALETTE[colour], "width": 1.5, "dash": "dot"}
            _arrow(figure, i, before, _say("rotated_pairs.before", name=name), i == 0, **line)
            at = _say("rotated_pairs.after", name=name, position=position)
            _arrow(figure, i, after, at, i == 0, color=PALETTE[colour], width=3)
    facts = {"pairs": len(theta), "distance": query_position - key_position, "score": shares.sum()}
    facts |= {"turns": _each(angle=angles(query_position, theta)), "names": _each(name=names)}
    return _tell(figure, "rotated_pairs", height=150 + 280 * -(-len(theta) // 2), **facts)


def _pair(name: str, value: Sequence[float]) -> np.ndarray:
    """`value`, after checking that it is a pair of finite numbers."""
    pair = np.asarray(value, dtype=float)
    if pair.shape != (2,) or not np.isfinite(pair).all():
        raise ValueError(f"{name} must be two finite numbers, got {describe(value)}")
    return pair


def eight_terms(q: Sequence[float], k: Sequence[float], theta: float, distance: int, reach: int) -> go.Figure:
    """The eight terms of a rotated pair's score as both positions grow, two per panel, and their sums."""
    _above("reach", reach, 1)
    (q1, q2), (k1, k2) = _pair("q", q), _pair("k", k)
    at = np.arange(reach + 1)  # of the key
    phi, psi = (at + distance) * theta, at * theta
    cosines, sines = np.cos(phi) * np.cos(psi), np.sin(phi) * np.sin(psi)
    query_sine, key_sine = np.sin(phi) * np.cos(psi), np.cos(phi) * np.sin(psi)
    panels = {
        "q₁k₁": (q1 * k1 * cosines, q1 * k1 * sines),
        "q₂k₂": (q2 * k2 * cosines, q2 * k2 * sines),
        "q₁k₂": (q1 * k2 * query_sine, -q1 * k2 * key_sine),
        "q₂k₁": (-q2 * k1 * query_sine, q2 * k1 * key_sine),
    }
    sums = [first + second for first, second in panels.values()]
    names = [_say("eight_terms.panel", name=name, sum=total[0]) for name, total in zip(panels, sums, strict=True)]
    layout = {"shared_xaxes": True, "shared_yaxes": "all", "vertical_spacing": 0.12, "horizontal_spacing": 0.06}
    figure = make_subplots(2, 2, subplot_titles=names, **layout)
    for panel, (terms, total) in enumerate(zip(panels.values(), sums, strict=True)):
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": panel == 0}
        names_of_terms = (_say("eight_terms.one"), _say("eight_terms.other"))
        for name, term, dash in zip(names_of_terms, terms, ("dash", "dot"), strict=True):
            line = {"color": PALETTE["neutral"], "width": 1.5, "dash": dash}
            figure.add_scatter(**_at(at), y=_drawn(term), mode="lines", name=name, line=line, **where)
        line = {"color": PALETTE["score"], "width": 3}
        figure.add_scatter(**_at(at), y=_drawn(total), mode="lines", name=_say("eight_terms.both"), line=line, **where)
    figure.update_xaxes(title_text=_say("eight_terms.across"), row=2)
    figure.update_yaxes(title_text=_say("eight_terms.up"), col=1)
    figure.update_annotations(font_size=12)
    greatest = max(np.ptp(term) for terms in panels.values() for term in terms)
    facts = {"greatest": greatest, "score": sum(total[0] for total in sums), "distance": distance, "reach": reach}
    return _tell(figure, "eight_terms", height=520, names=_each(name=names), **facts)


def cosine_and_sine_parts(q: Sequence[float], k: Sequence[float], theta: float, reach: int) -> go.Figure:
    """The score of a rotated pair against m − n: its even cosine part and its odd sine part."""
    _above("reach", reach, 0)
    (q1, q2), (k1, k2) = _pair("q", q), _pair("k", k)
    offsets = np.arange(-reach, reach + 1)
    cosine, sine = (q1 * k1 + q2 * k2) * np.cos(offsets * theta), (q1 * k2 - q2 * k1) * np.sin(offsets * theta)
    score = cosine + sine
    near = np.flatnonzero(np.abs(offsets * theta) <= np.pi)  # within half a turn of distance 0
    peak = near[np.argmax(score[near])]
    figure = _two_parts(offsets, cosine, sine)
    figure.update_yaxes(title_text=_say("cosine_and_sine_parts.up"))
    facts = {"cosine": cosine[reach], "at": offsets[peak], "peak": score[peak]}
    return _tell(figure, "cosine_and_sine_parts", reach=reach, after=score[-1], before=score[0], **facts)


def _two_parts(offsets: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> go.Figure:
    """A score against m − n and the two parts of its sum."""
    figure = go.Figure()
    for name, part, line in (
        (_say("cosine_and_sine_parts.agreement"), cosine, {"color": PALETTE["neutral"], "width": 2, "dash": "dash"}),
        (_say("cosine_and_sine_parts.side"), sine, {"color": PALETTE["bound"], "width": 2, "dash": "dot"}),
        (_say("cosine_and_sine_parts.sum"), cosine + sine, {"color": PALETTE["score"], "width": 3}),
    ):
        figure.add_scatter(**_at(offsets), y=_drawn(part), mode="lines+markers", marker_size=5, name=name, line=line)
    figure.add_vline(x=0, line={"color": PALETTE["neutral"], "width": 1})
    return figure.update_xaxes(title_text=_say("axes.m_minus_n"))


def _products(products: Sequence[complex], frequencies: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """A head's products q k̄ and its frequencies, after checking that they are one per pair."""
    both = np.asarray(products, dtype=complex), np.asarray(frequencies, dtype=float)
    if both[0].ndim != 1 or both[0].shape != both[1].shape or not len(both[0]):
        raise ValueError(
            f"products and frequencies must both have shape (pairs,), got {both[0].shape}, {both[1].shape}"
        )
    return both


def head_cosine_and_sine_parts(products: Sequence[complex], frequencies: Sequence[float], reach: int) -> go.Figure:
    """The content-independent logit of a head against m − n, over all pairs: cosine parts and sine parts.

    `products` are E[q k̄] of each pair: the real part is that of the cosine, minus the imaginary part that of the sine.
    """
    _above("reach", reach, 0)
    products, frequencies = _products(products, frequencies)
    offsets = np.arange(-reach, reach + 1)
    turned = np.multiply.outer(offsets, frequencies)  # (offsets, pairs)
    cosine, sine = np.cos(turned) @ products.real, np.sin(turned) @ -products.imag
    figure, score = _two_parts(offsets, cosine, sine), cosine + sine
    figure.update_yaxes(title_text=_say("head_cosine_and_sine_parts.up"))
    facts = {"alone": offsets[cosine.argmax()], "at": offsets[score.argmax()], "peak": score.max()}
    facts |= {"here": score[reach], "pairs": len(products)}
    return _tell(figure, "head_cosine_and_sine_parts", **facts)


def pair_peaks(
    products: Sequence[complex], frequencies: Sequence[float], pairs: Sequence[int], reach: int
) -> go.Figure:
    """Contributions of single pairs of a head to a score against m − n, with their maxima marked."""
    _above("reach", reach, 0)
    products, frequencies = _products(products, frequencies)
    figure, told, offsets = go.Figure(), [], np.linspace(-reach, reach, 40 * reach + 1)
    for k, pair in enumerate(_some("pairs", pairs)):
        if not 0 <= pair < len(products):
            raise ValueError(f"pairs must be from 0 to {len(products) - 1}, got {describe(pair)}")
        size, peak = abs(products[pair]), -np.angle(products[pair]) / frequencies[pair]
        wave = (products[pair] * np.exp(1j * frequencies[pair] * offsets)).real
        name, style = _say("pair_peaks.pair", pair=pair), _style(k)
        figure.add_scatter(x=_drawn(offsets), y=_drawn(wave), name=name, mode="lines", line=style)
        if abs(peak) <= reach:
            marker = {"color": style["color"], "size": 11, "symbol": "diamond"}
            figure.add_scatter(x=[peak], y=[size], name=name, mode="markers", marker=marker, showlegend=False)
        told.append({"pair": pair, "size": size, "peak": peak})
    figure.add_vline(x=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.update_xaxes(title_text=_say("axes.m_minus_n"))
    figure.update_yaxes(title_text=_say("pair_peaks.up"))
    peaks = [each["peak"] for each in told]
    return _tell(figure, "pair_peaks", least=min(peaks), most=max(peaks), count=len(told), each=told)


def matrices_between_rotations(
    query_weights: np.ndarray, key_weights: np.ndarray, query_position: float, key_position: float, base: float
) -> go.Figure:
    """The matrix between query and key content, if embeddings are rotated (top) or queries and keys (bottom).

    Weights act on columns, shape (dim, dim). The finding is how much the product changes when both positions grow.
    """
    w_q, w_k = np.asarray(query_weights, dtype=float), np.asarray(key_weights, dtype=float)
    if w_q.ndim != 2 or w_q.shape != w_k.shape or w_q.shape[0] != w_q.shape[1]:
        raise ValueError(f"query_weights and key_weights must both be square, got shapes {w_q.shape} and {w_k.shape}")
    frequencies = inv_freq(len(w_q), base)

    def chains(move: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
        at_m, at_n = (
            rotation_matrix(angles(p + move, frequencies), "interleaved") for p in (query_position, key_position)
        )
        return [at_m.T, w_q.T @ w_k, at_n], [w_q.T, at_m.T @ at_n, w_k]

    words, projected = chains(0)
    names = [
        _say("matrices_between_rotations.at_m"),
        _say("matrices_between_rotations.weights"),
        _say("matrices_between_rotations.at_n"),
    ]
    names += [
        _say("matrices_between_rotations.query"),
        _say("matrices_between_rotations.met"),
        _say("matrices_between_rotations.key"),
    ]
    most = max(np.abs(each).max() for each in (*words, *projected))
    panels = {name: _drawn(matrix) for name, matrix in zip(names, [*words, *projected], strict=True)}
    figure = _heat_maps(panels, 3, -most, most, xgap=1, ygap=1)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    figure.layout.coloraxis.colorbar.update(orientation="h", y=-0.12, yanchor="top", len=0.8)
    figure.update_xaxes(title_text=_say("matrices_between_rotations.across"), row=2)
    figure.update_yaxes(title_text=_say("matrices_between_rotations.up"), col=1)
    changes = [
        np.abs(np.linalg.multi_dot(later) - np.linalg.multi_dot(now)).max()
        for now, later in zip((words, projected), chains(1), strict=True)
    ]
    facts = {"words": changes[0], "projected": changes[1], "m": query_position, "n": key_position}
    return _tell(figure, "matrices_between_rotations", height=520, **facts)


def shifted_outputs(shifts: Sequence[int], changes: Mapping[str, Sequence[float]]) -> go.Figure:
    """Relative change of a layer's outputs when all positions are shifted."""
    shifts = np.asarray(_some("shifts", shifts))
    figure, told = go.Figure(), []
    for k, (name, change) in enumerate(_some("changes", changes).items()):
        values = np.asarray(change, dtype=float)
        if values.shape != shifts.shape or not np.isfinite(values).all():
            raise ValueError(f"changes[{name!r}] must be {len(shifts)} finite numbers, got shape {values.shape}")
        told.append({"name": name, "change": values[-1]})
        line = _style(k, width=3 if k == 0 else 2)
        figure.add_scatter(
            x=shifts, y=_drawn(100 * values), mode="lines+markers", name=name, line=line, cliponaxis=False
        )
    figure.update_xaxes(type="log", dtick=1, title_text=_say("shifted_outputs.across"))
    figure.update_yaxes(title_text=_say("shifted_outputs.up"), ticksuffix="\u00a0%", rangemode="tozero")
    return _tell(figure, "shifted_outputs", last=shifts[-1], changes=told)


def _labelled(figure: go.Figure, panel: int, at: Sequence[float], text: str, colour: str) -> None:
    """A label beside a point of a panel, away from the origin."""
    across = "right" if at[0] >= 0 else "left"
    figure.add_annotation(
        x=float(at[0]),
        y=float(at[1]),
        text=text,
        showarrow=False,
        xanchor="left" if across == "right" else "right",
        yanchor="bottom" if at[1] >= 0 else "top",
        font={"color": colour, "size": 14},
        row=panel // 2 + 1,
        col=panel % 2 + 1,
    )


def _complex(name: str, value: complex) -> complex:
    """`value` as a complex number, after checking that it is finite and not 0."""
    number = complex(value)
    if not (np.isfinite(number) and number):
        raise ValueError(f"{name} must be a complex number other than 0, got {describe(value)}")
    return number


def _written(number: complex, digits: int = 0) -> str:
    """A complex number as prose writes it: 4 − 3i."""
    real, imaginary = _number(number.real, digits), _number(abs(number.imag), digits)
    below = round(number.imag, digits) < 0
    return _say("conjugate_product.number", real=real, imaginary=imaginary, below=below)


def conjugate_product(q: complex, k: complex, digits: int = 0) -> go.Figure:
    """Query and key as arrows, and both times k̄, which rotates the key onto the real axis."""
    q, k = _complex("q", q), _complex("k", k)
    product, square = q * k.conjugate(), abs(k) ** 2
    titles = [_say("conjugate_product.both"), _say("conjugate_product.times")]
    figure = _planes(titles, 1.0, _say("axes.real"), _say("axes.imaginary"))
    legends = (_say("axes.query"), _say("axes.key"))
    for panel, pair in enumerate(((q, k), (product, square + 0j))):
        # a square that holds the origin and both tips
        ends = np.array([0, *pair])
        middle = complex((ends.real.min() + ends.real.max()) / 2, (ends.imag.min() + ends.imag.max()) / 2)
        reach = 0.72 * max(np.ptp(ends.real), np.ptp(ends.imag))
        figure.update_xaxes(range=[middle.real - reach, middle.real + reach], row=1, col=panel + 1)
        figure.update_yaxes(range=[middle.imag - reach, middle.imag + reach], row=1, col=panel + 1)
        names = (("q", "k"), ("qk̄", "kk̄"))[panel]
        for number, name, legend, colour in zip(pair, names, legends, ("query", "key"), strict=True):
            tip = np.array([number.real, number.imag])
            _arrow(figure, panel, tip, legend, panel == 0, color=PALETTE[colour], width=3)
            _labelled(figure, panel, tip, name, PALETTE[colour])
        # the angle from the key to the query
        start, turned = np.angle(pair[1]), np.angle(product)
        arc = 0.5 * reach * np.exp(1j * (start + np.linspace(0, turned, 30)))
        figure.add_scatter(
            x=_drawn(arc.real),
            y=_drawn(arc.imag),
            mode="lines",
            line={"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"},
            name=_say("conjugate_product.angle"),
            showlegend=False,
            hoverinfo="skip",
            row=1,
            col=panel + 1,
        )
    for name, to in ((_say("axes.real"), product.real), (_say("axes.imaginary"), 1j * product.imag)):
        line = {"color": PALETTE["score"], "width": 1.5, "dash": "dash"}
        x, y = [product.real, complex(to).real], [product.imag, complex(to).imag]
        figure.add_scatter(x=x, y=y, mode="lines", line=line, name=name, showlegend=False, row=1, col=2)
    facts = {name: _written(value, digits) for name, value in (("product", product), ("q", q), ("k", k))}
    facts |= {"angle": np.angle(product), "square": _number(square, digits)}
    return _tell(figure, "conjugate_product", height=380, **facts)


def score_wave(products: Mapping[str, complex], theta: float, reach: int) -> go.Figure:
    """Re[qk̄·e^{i(m−n)θ}] against m − n for one pair: a dot per token, ±|qk̄| and the peak."""
    _above("theta", theta, 0)
    _above("reach", reach, 1)
    offsets, smooth = np.arange(-reach, reach + 1), np.linspace(-reach, reach, 40 * reach + 1)
    figure, told = go.Figure(), []
    for j, (name, value) in enumerate(_some("products", products).items()):
        product = _complex(f"products[{name!r}]", value)
        size, peak, colour = abs(product), -np.angle(product) / theta, _style(j)
        figure.add_scatter(
            x=smooth, y=_drawn((product * np.exp(1j * theta * smooth)).real), name=name, line=colour, hoverinfo="skip"
        )
        figure.add_scatter(
            **_at(offsets),
            y=_drawn((product * np.exp(1j * theta * offsets)).real),
            mode="markers",
            marker={"color": colour["color"], "size": 6},
            name=_say("score_wave.tokens", name=name),
            showlegend=False,
        )
        figure.add_scatter(
            x=[peak, peak, 0],
            y=[0, size, size],
            mode="lines",
            line={"color": colour["color"], "width": 1, "dash": "dot"},
            name=_say("score_wave.peak", name=name),
            showlegend=False,
            hoverinfo="skip",
        )
        figure.add_annotation(
            x=peak,
            y=size,
            text=f"<b>{name}</b>",
            showarrow=False,
            xanchor="right" if peak < 0 else "left",
            yshift=12,
            font={"color": colour["color"]},
        )
        told.append({"name": name, "size": size, "at": peak, "start": product.real})
    figure.add_hline(y=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.add_vline(x=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.update_xaxes(title_text=_say("axes.m_minus_n"), showgrid=False)
    figure.update_yaxes(title_text=_say("score_wave.up"), showgrid=False)
    return _tell(figure, "score_wave", theta=theta, products=told)


def paths_in_planes(step: np.ndarray, x: Sequence[float], steps: int) -> go.Figure:
    """Eigenvalues of an orthogonal matrix, and the path of x under its powers, in coordinates and in its planes."""
    _above("steps", steps, 1)
    basis, planes = plane_rotations(np.asarray(step, dtype=float))
    x = np.asarray(x, dtype=float)
    if x.shape != (len(basis),):
        raise ValueError(f"x must have shape ({len(basis)},), got {x.shape}")
    eigenvalues = np.exp(1j * np.concatenate([planes, -planes, np.zeros(len(basis) % 2)]))
    walked = np.stack([np.linalg.matrix_power(step, m) @ x for m in range(steps + 1)])  # (steps + 1, dim)
    seen = walked @ basis
    turned = [_say("paths_in_planes.plane", plane=j, angle=abs(angle)) for j, angle in enumerate(planes)]
    names = [_say("paths_in_planes.eigenvalues"), _say("axes.coordinates", first=0, second=1), *turned]
    reach = 1.15 * max(1.0, *(np.hypot(*seen[0, 2 * j : 2 * j + 2]) for j in range(len(planes))))
    reach = max(reach, 1.15 * float(np.abs(walked[:, :2]).max()))
    figure = _planes(names, reach, _say("paths_in_planes.across"), _say("paths_in_planes.up"))
    colours = pair_colours(len(planes))
    figure.update_yaxes(title_text=_say("axes.imaginary"), row=1, col=1)
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 120))
    thin = {"color": PALETTE["neutral"], "width": 1}
    rounds = [(0, 1.0), *((2 + j, float(np.hypot(*seen[0, 2 * j : 2 * j + 2]))) for j in range(len(planes)))]
    for panel, radius in rounds:
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": False, "hoverinfo": "skip"}
        y = _drawn(radius * circle.imag)
        name = _say("paths_in_planes.circle")
        figure.add_scatter(x=_drawn(radius * circle.real), y=y, mode="lines", line=thin, name=name, **where)
    on_plane = [*range(len(planes)), *range(len(planes)), *([None] * (len(basis) % 2))]
    figure.add_scatter(
        x=_drawn(eigenvalues.real),
        y=_drawn(eigenvalues.imag),
        mode="markers",
        marker={"size": 11, "color": [PALETTE["neutral"] if j is None else colours[j] for j in on_plane]},
        name=names[0],
        showlegend=False,
        row=1,
        col=1,
    )
    ways = [(1, walked[:, :2], PALETTE["score"], True)]
    ways += [(2 + j, seen[:, 2 * j : 2 * j + 2], colours[j], False) for j in range(len(planes))]
    for panel, way, colour, joined in ways:
        figure.add_scatter(
            x=_drawn(way[:, 0]),
            y=_drawn(way[:, 1]),
            mode="lines+markers" if joined else "markers",
            line={"color": colour, "width": 0.7},
            marker={"size": 5, "color": colour},
            name="Rᵐx",
            showlegend=False,
            row=panel // 2 + 1,
            col=panel % 2 + 1,
        )
    facts = {"planes": _each(angle=np.abs(planes), name=turned), "steps": steps}
    return _tell(figure, "paths_in_planes", height=150 + 250 * -(-len(names) // 2), **facts)


def shifted_encodings(codes: Mapping[str, np.ndarray], at: Sequence[int]) -> go.Figure:
    """Contents in the plane at every position, one panel per encoding, before and after a step of one token.

    An encoding has shape (contents, length), complex. `at` has one position per content, before the last. Lines join
    the origin with the points there and one token later.
    """
    at, changes = np.asarray(at, dtype=int), {}
    for name, code in _some("codes", codes).items():
        if np.ndim(code) != 2 or len(code) != len(at) or not 0 <= at.min() <= at.max() < np.shape(code)[1] - 1:
            raise ValueError(f"codes[{name!r}] must have {len(at)} rows that reach beyond {at}, got {np.shape(code)}")
    reach = 1.1 * max(float(np.abs(code).max()) for code in codes.values())
    figure = _planes(list(codes), reach, _say("axes.real"), _say("axes.imaginary"))
    for panel, (name, code) in enumerate(codes.items()):
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": panel == 0}
        points, marker = np.ravel(code), {"size": 5, "color": PALETTE["neutral"]}
        cloud = {"x": _drawn(points.real), "y": _drawn(points.imag), "mode": "markers", "marker": marker}
        figure.add_scatter(**cloud, name=_say("shifted_encodings.every"), hoverinfo="skip", **where)
        before, after = (code[np.arange(len(at)), at + step] for step in (0, 1))
        lines = ((_say("shifted_encodings.before"), before, {"color": PALETTE["bound"], "dash": "dash"}),)
        lines += ((_say("shifted_encodings.after"), after, {"color": PALETTE["score"], "dash": "solid"}),)
        for legend, corners, line in lines:
            way = np.concatenate([[0], corners, [0]])
            drawn = {"x": _drawn(way.real), "y": _drawn(way.imag), "mode": "lines+markers", "marker_size": 8}
            figure.add_scatter(**drawn, name=legend, line=line | {"width": 2}, **where)
        products = [np.outer(corners, corners.conj()).real for corners in (before, after)]
        changes[name] = np.abs(products[1] - products[0]).max()
    told = _each(name=changes, change=changes.values())
    return _tell(figure, "shifted_encodings", height=400, changes=told, positions=_each(position=at))


def complex_powers(factors: Mapping[str, complex], steps: int) -> go.Figure:
    """The powers 1, z, z², … of complex numbers: on a circle if |z| is 1, otherwise on a spiral."""
    _above("steps", steps, 1)
    figure, sizes, reach = _planes([""], 1.0, _say("axes.real"), _say("axes.imaginary")), [], 1.0
    for j, (name, value) in enumerate(_some("factors", factors).items()):
        factor = _complex(f"factors[{name!r}]", value)
        path = np.exp(np.log(factor) * np.linspace(0, steps, 12 * steps + 1))
        size = abs(factor) ** steps
        reach = max(reach, float(np.abs(path).max()))
        where = {"row": 1, "col": 1}
        style = _style(j)
        figure.add_scatter(x=_drawn(path.real), y=_drawn(path.imag), mode="lines", line=style, name=name, **where)
        whole = path[::12]
        marker = {"size": 6, "color": style["color"]}
        dots = {"x": _drawn(whole.real), "y": _drawn(whole.imag), "mode": "markers", "marker": marker}
        figure.add_scatter(**dots, name=_say("complex_powers.steps", name=name), showlegend=False, **where)
        sizes.append({"name": name, "size": size})
    figure.update_xaxes(range=[-1.1 * reach, 1.1 * reach])
    figure.update_yaxes(range=[-1.1 * reach, 1.1 * reach])
    return _tell(figure, "complex_powers", height=480, steps=steps, sizes=sizes)


def rotation_matrices(position: float, dim: int, base: float) -> go.Figure:
    """The rotation matrix of one position in both layouts, whose entries show the dimension pairs."""
    maps = {
        layout: rotation_matrix(angles(position, inv_freq(dim, base)), layout)
        for layout in ("interleaved", "half-split")
    }
    filled = {layout: np.count_nonzero(matrix) for layout, matrix in maps.items()}
    partner = {layout.partition("-")[0]: int(np.flatnonzero(matrix[0])[-1]) for layout, matrix in maps.items()}
    figure = _heat_maps(
        {name: _drawn(matrix) for name, matrix in maps.items()}, 2, -1, 1, xgap=1, ygap=1, hoverongaps=False
    )
    figure.layout.coloraxis.colorbar.update(orientation="h", y=-0.24, yanchor="top", len=0.8)
    figure.update_xaxes(title_text=_say("rotation_matrices.across"), dtick=1)
    figure.update_yaxes(dtick=1)
    figure.update_yaxes(title_text=_say("rotation_matrices.up"), col=1)
    facts = {"filled": filled["interleaved"], "entries": dim * dim, "pairs": dim // 2, "position": position}
    return _tell(figure, "rotation_matrices", height=410, **facts, **partner)


def dimension_permutation(dim: int) -> go.Figure:
    """The permutation of dimensions from the interleaved (top) to the half-split layout (bottom)."""
    order = layout_permutation(dim)  # the place in half, in turn, is taken by this dimension
    figure = go.Figure()
    for pair, colour in enumerate(pair_colours(dim // 2)):
        for member, dash in ((0, "solid"), (1, "dash")):
            start = 2 * pair + member
            figure.add_scatter(
                x=[start, order.index(start)],
                y=[1, 0],
                mode="lines+markers+text",
                text=[str(start)] * 2,
                textposition=["top center", "bottom center"],
                line={"color": colour, "width": 2.5, "dash": dash},
                marker={"size": 9, "color": colour},
                name=_say("dimension_permutation.pair", pair=pair),
                showlegend=member == 0,
            )
    figure.update_xaxes(title_text=_say("dimension_permutation.across"), dtick=1, showgrid=False, zeroline=False)
    rows = [_say("dimension_permutation.half"), _say("dimension_permutation.interleaved")]
    figure.update_yaxes(tickvals=[0, 1], ticktext=rows, range=[-0.35, 1.35], showgrid=False, zeroline=False)
    figure.update_yaxes(title_text=_say("dimension_permutation.up"))
    return _tell(figure, "dimension_permutation", height=380, dim=dim, half=dim // 2, order=_each(dimension=order))


def cumulative_losses(tokens: Sequence[str], losses: Mapping[str, Sequence[float]]) -> go.Figure:
    """Cumulative loss of a text up to each token, in nats, for several readings of one checkpoint."""
    figure, told, shown = go.Figure(), [], [{" ": "␣", "\n": "⏎"}.get(token, token) for token in tokens]
    for k, (name, costs) in enumerate(_some("losses", losses).items()):
        costs = np.asarray(costs, dtype=float)
        if costs.shape != (len(tokens),):
            raise ValueError(f"losses[{name!r}] must have one number a token, {len(tokens)}, got shape {costs.shape}")
        sums = np.cumsum(costs)
        told.append({"name": name, "sum": sums[-1]})
        words = [_say("cumulative_losses.token", token=t, cost=cost) for t, cost in zip(shown, costs, strict=True)]
        hover = _say("cumulative_losses.hover", token="%{text}", sum="%{y:.0f}")
        style = {"mode": "lines", "line": _style(k, width=2.5), "hovertemplate": hover}
        figure.add_scatter(x0=1, dx=1, y=_drawn(sums), name=name, text=words, **style)
    figure.update_xaxes(title_text=_say("cumulative_losses.across"))
    figure.update_yaxes(title_text=_say("cumulative_losses.up"), rangemode="tozero")
    first = [float(costs[0]) for costs in losses.values()]
    alike = bool(len(first) > 1 and np.ptp(first) < 1e-6)
    return _tell(figure, "cumulative_losses", height=400, readings=told, alike=alike, text="".join(shown))


def angle_errors(positions: Sequence[int], formats: Mapping[str, Callable[[np.ndarray], np.ndarray]]) -> go.Figure:
    """Maximum error of any pair's angle when frequencies, positions and products are rounded, by position."""
    at, theta = np.asarray(positions), inv_freq(128)
    exact, figure, told = angles(at, theta), go.Figure(), []
    for k, (name, rounded) in enumerate(_some("formats", formats).items()):
        product = np.asarray(rounded(rounded(at)[:, None] * rounded(theta)), dtype=float)
        error = np.abs(product - exact).max(axis=-1)  # (positions,)
        told.append({"name": name, "error": error[-1]})
        figure.add_scatter(x=at, y=np.where(error > 0, error, np.nan), name=name, mode="lines", line=_style(k))
    figure.add_hline(1, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(type="log", title_text=_say("axes.position"))
    figure.update_yaxes(type="log", title_text=_say("angle_errors.up"), exponentformat="power")
    return _tell(figure, "angle_errors", last=at[-1], formats=told, pairs=len(theta), base=10_000)


def mistakes_and_tests(caught: Mapping[str, Sequence[bool]], tests: Sequence[str]) -> go.Figure:
    """Which test catches which mistake: a row per mistake, a column per test, a full dot where it does."""
    table = np.array([list(row) for row in _some("caught", caught).values()], dtype=bool)
    if table.shape != (len(caught), len(tests)):
        raise ValueError(f"caught must have {len(tests)} answers for each mistake, got shape {table.shape}")
    figure = go.Figure()
    full = {"symbol": "circle", "size": 15, "color": PALETTE["score"]}
    empty = {"symbol": "circle-open", "size": 9, "color": PALETTE["neutral"]}
    notices, passes = _say("mistakes_and_tests.notices"), _say("mistakes_and_tests.passes")
    for name, cells, marker in ((notices, table, full), (passes, ~table, empty)):
        rows, columns = np.nonzero(cells)
        figure.add_scatter(x=columns, y=rows, mode="markers", name=name, marker=marker)
    figure.update_yaxes(tickvals=np.arange(len(caught)), ticktext=list(caught), automargin=True)
    figure.update_yaxes(title_text=_say("mistakes_and_tests.up"), range=[len(caught) - 0.5, -0.5], zeroline=False)
    across = _say("mistakes_and_tests.across")
    figure.update_xaxes(tickvals=np.arange(len(tests)), ticktext=list(tests), title_text=across, tickangle=-90)
    figure.update_xaxes(range=[-0.5, len(tests) - 0.5], side="top", zeroline=False)
    counts = {name: int(count) for name, count in zip(tests, table.sum(axis=0), strict=True)}
    most = max(counts, key=lambda name: counts[name])
    hits = [_each(test=[t for t, hit in zip(tests, row, strict=True) if hit]) for row in table]
    facts = {"most": most, "catches": counts[most], "first": tests[0], "first_catches": counts[tests[0]]}
    facts |= {"count": len(caught), "mistakes": _each(name=caught, tests=hits, caught=table.any(axis=1))}
    _tell(figure, "mistakes_and_tests", height=300 + 34 * len(caught), **facts)
    top = {"title_y": 0.93, "title_yanchor": "top"}  # above the names of the tests
    return figure.update_layout(margin_t=figure.layout.margin.t + 150, legend_y=-0.04, **top)

"""Rotated queries and keys: by matrices, by complex numbers and in a model (chapters 05 to 07)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import describe
from posenc._numbers import number
from posenc.figures._drawing import (
    PALETTE,
    _above,
    _arrow,
    _at,
    _drawn,
    _finish,
    _heat_maps,
    _planes,
    _some,
    _style,
    pair_colours,
)
from posenc.frequencies import angles, inv_freq
from posenc.rotary import layout_permutation, plane_rotations, rotation_matrix


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
    names = [f"{name}: {number(total[0], 3)}" for name, total in zip(panels, sums, strict=True)]
    layout = {"shared_xaxes": True, "shared_yaxes": "all", "vertical_spacing": 0.12, "horizontal_spacing": 0.06}
    figure = make_subplots(2, 2, subplot_titles=names, **layout)
    for panel, (terms, total) in enumerate(zip(panels.values(), sums, strict=True)):
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": panel == 0}
        for name, term, dash in zip(("first term", "second term"), terms, ("dash", "dot"), strict=True):
            line = {"color": PALETTE["neutral"], "width": 1.5, "dash": dash}
            figure.add_scatter(**_at(at), y=_drawn(term), mode="lines", name=name, line=line, **where)
        line = {"color": PALETTE["score"], "width": 3}
        figure.add_scatter(**_at(at), y=_drawn(total), mode="lines", name="their sum", line=line, **where)
    figure.update_xaxes(title_text="key position n (tokens)", row=2)
    figure.update_yaxes(title_text="term of the score", col=1)
    figure.update_annotations(font_size=12)
    largest = number(max(np.ptp(term) for terms in panels.values() for term in terms), 2)
    score = number(sum(total[0] for total in sums), 3)
    finding = (
        f"At a fixed distance, the terms vary by up to {largest}, but the two in each panel have a constant sum; "
        f"all eight add up to {score}"
    )
    details = f"The query stays {distance} tokens after the key, which moves from 0 to {reach}. Sums of two terms: "
    return _finish(figure, finding, f"{details}{'; '.join(names)}.", height=520)


def cosine_and_sine_parts(q: Sequence[float], k: Sequence[float], theta: float, reach: int) -> go.Figure:
    """The score of a rotated pair against m − n: its even cosine part and its odd sine part."""
    _above("reach", reach, 0)
    (q1, q2), (k1, k2) = _pair("q", q), _pair("k", k)
    offsets = np.arange(-reach, reach + 1)
    cosine, sine = (q1 * k1 + q2 * k2) * np.cos(offsets * theta), (q1 * k2 - q2 * k1) * np.sin(offsets * theta)
    score = cosine + sine
    near = np.flatnonzero(np.abs(offsets * theta) <= np.pi)  # within half a rotation of distance 0
    peak = near[np.argmax(score[near])]
    figure = _two_parts(offsets, cosine, sine)
    figure.update_yaxes(title_text="score of one pair")
    finding = (
        f"The cosine component is even, {number(cosine[reach], 2)} at Δ = 0; "
        f"with the sine component the score peaks at Δ = {number(offsets[peak])}, with {number(score[peak], 2)}"
    )
    ends = f"at {reach} the score is {number(score[-1], 2)}, at −{reach} {number(score[0], 2)}"
    return _finish(figure, finding, f"The sine component is odd, 0 at Δ = 0; {ends}.")


def _two_parts(offsets: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> go.Figure:
    """A score against m − n and its two components."""
    figure = go.Figure()
    for name, part, line in (
        ("cosine component", cosine, {"color": PALETTE["neutral"], "width": 2, "dash": "dash"}),
        ("sine component", sine, {"color": PALETTE["bound"], "width": 2, "dash": "dot"}),
        ("their sum, the score", cosine + sine, {"color": PALETTE["score"], "width": 3}),
    ):
        figure.add_scatter(**_at(offsets), y=_drawn(part), mode="lines+markers", marker_size=5, name=name, line=line)
    figure.add_vline(x=0, line={"color": PALETTE["neutral"], "width": 1})
    return figure.update_xaxes(title_text="distance Δ = m − n (tokens)")


def _products(products: Sequence[complex], frequencies: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """A head's products q k̄ and its frequencies, after checking that they are one per pair."""
    both = np.asarray(products, dtype=complex), np.asarray(frequencies, dtype=float)
    if both[0].ndim != 1 or both[0].shape != both[1].shape or not len(both[0]):
        raise ValueError(
            f"products and frequencies must both have shape (pairs,), got {both[0].shape}, {both[1].shape}"
        )
    return both


def pair_peaks(
    products: Sequence[complex], frequencies: Sequence[float], pairs: Sequence[int], reach: int
) -> go.Figure:
    """Contributions of single pairs of a head to a score against m − n, with their maxima marked."""
    _above("reach", reach, 0)
    products, frequencies = _products(products, frequencies)
    figure, peaks, marks, offsets = go.Figure(), [], [], np.linspace(-reach, reach, 40 * reach + 1)
    for k, pair in enumerate(_some("pairs", pairs)):
        if not 0 <= pair < len(products):
            raise ValueError(f"pairs must be from 0 to {len(products) - 1}, got {describe(pair)}")
        size, peak = abs(products[pair]), -np.angle(products[pair]) / frequencies[pair]
        wave = (products[pair] * np.exp(1j * frequencies[pair] * offsets)).real
        name, style = f"pair {pair}", _style(k)
        figure.add_scatter(x=_drawn(offsets), y=_drawn(wave), name=name, mode="lines", line=style)
        if abs(peak) <= reach:
            marker = {"color": style["color"], "size": 11, "symbol": "diamond"}
            figure.add_scatter(x=[peak], y=[size], name=name, mode="markers", marker=marker, showlegend=False)
        peaks.append(peak)
        marks.append(f"{name} at Δ = {number(peak, 2)} with {number(size, 2)}")
    figure.add_vline(x=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.update_xaxes(title_text="distance Δ = m − n (tokens)")
    figure.update_yaxes(title_text="distance bias (logits)")
    low, high = number(min(peaks), 2), number(max(peaks), 2)
    finding = f"{len(peaks)} pairs of one head have their peaks, marked, between Δ = {low} and {high}"
    return _finish(figure, finding, f"{'; '.join(marks)}.")


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

    embeddings, projected = chains(0)
    names = ["R(m)ᵀ", "times W<sub>Q</sub>ᵀ W<sub>K</sub>", "times R(n)"]
    names += ["W<sub>Q</sub>ᵀ", "times R(m)ᵀ R(n)", "times W<sub>K</sub>"]
    high = max(np.abs(each).max() for each in (*embeddings, *projected))
    panels = {name: _drawn(matrix) for name, matrix in zip(names, [*embeddings, *projected], strict=True)}
    figure = _heat_maps(panels, 3, -high, high, xgap=1, ygap=1)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    figure.layout.coloraxis.colorbar.update(orientation="h", y=-0.12, yanchor="top", len=0.8)
    figure.update_xaxes(title_text="column", row=2)
    figure.update_yaxes(title_text="row", col=1)
    top, bottom = (
        number(np.abs(np.linalg.multi_dot(later) - np.linalg.multi_dot(now)).max(), 2)
        for now, later in zip((embeddings, projected), chains(1), strict=True)
    )
    finding = (
        f"One token later, the product of the upper row changes by up to {top}, that of the lower row by {bottom}: "
        "there the rotations combine"
    )
    details = (
        f"Above, embeddings are rotated, at m = {query_position:g} and n = {key_position:g}, and a full matrix "
        "separates the rotations. Below, query and key are rotated, and the rotations combine into a block-diagonal "
        "matrix."
    )
    return _finish(figure, finding, details, height=520)


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
    converted = complex(value)
    if not (np.isfinite(converted) and converted):
        raise ValueError(f"{name} must be a complex number other than 0, got {describe(value)}")
    return converted


def _text(value: complex, digits: int = 0) -> str:
    """A complex number as prose writes it: 4 − 3i."""
    sign = "−" if round(value.imag, digits) < 0 else "+"
    return f"{number(value.real, digits)} {sign} {number(abs(value.imag), digits)}i"


def conjugate_product(q: complex, k: complex, digits: int = 0) -> go.Figure:
    """Query and key as arrows, and both times k̄, which rotates the key onto the real axis."""
    q, k = _complex("q", q), _complex("k", k)
    product, square = q * k.conjugate(), abs(k) ** 2
    figure = _planes(["query and key", "both times k̄"], 1.0, "real part", "imaginary part")
    for panel, pair in enumerate(((q, k), (product, square + 0j))):
        # a square that holds the origin and both tips
        ends = np.array([0, *pair])
        middle = complex((ends.real.min() + ends.real.max()) / 2, (ends.imag.min() + ends.imag.max()) / 2)
        reach = 0.72 * max(np.ptp(ends.real), np.ptp(ends.imag))
        figure.update_xaxes(range=[middle.real - reach, middle.real + reach], row=1, col=panel + 1)
        figure.update_yaxes(range=[middle.imag - reach, middle.imag + reach], row=1, col=panel + 1)
        names = (("q", "k"), ("qk̄", "kk̄"))[panel]
        for value, name, legend in zip(pair, names, ("query", "key"), strict=True):
            tip = np.array([value.real, value.imag])
            _arrow(figure, panel, tip, legend, panel == 0, color=PALETTE[legend], width=3)
            _labelled(figure, panel, tip, name, PALETTE[legend])
        # the angle from the key to the query
        start, angle = np.angle(pair[1]), np.angle(product)
        arc = 0.5 * reach * np.exp(1j * (start + np.linspace(0, angle, 30)))
        figure.add_scatter(
            x=_drawn(arc.real),
            y=_drawn(arc.imag),
            mode="lines",
            line={"color": PALETTE["neutral"], "width": 1.5, "dash": "dot"},
            name="angle",
            showlegend=False,
            hoverinfo="skip",
            row=1,
            col=panel + 1,
        )
    for name, to in (("real part", product.real), ("imaginary part", 1j * product.imag)):
        line = {"color": PALETTE["score"], "width": 1.5, "dash": "dash"}
        x, y = [product.real, complex(to).real], [product.imag, complex(to).imag]
        figure.add_scatter(x=x, y=y, mode="lines", line=line, name=name, showlegend=False, row=1, col=2)
    finding = f"Multiplied by k̄, the key is on the real axis and the query at qk̄ = {_text(product, digits)}"
    details = (
        f"q is {_text(q, digits)}, k is {_text(k, digits)}, kk̄ is {number(square, digits)}. "
        f"From the key to the query the angle is {number(np.angle(product), 2)} radians before and after."
    )
    return _finish(figure, finding, details, height=380)


def score_wave(products: Mapping[str, complex], theta: float, reach: int) -> go.Figure:
    """Re[qk̄·e^{i(m−n)θ}] against m − n for one pair: a dot per token, ±|qk̄| and the peak."""
    _above("theta", theta, 0)
    _above("reach", reach, 1)
    offsets, smooth = np.arange(-reach, reach + 1), np.linspace(-reach, reach, 40 * reach + 1)
    figure, peaks, starts = go.Figure(), [], []
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
            name=f"{name}, whole tokens",
            showlegend=False,
        )
        figure.add_scatter(
            x=[peak, peak, 0],
            y=[0, size, size],
            mode="lines",
            line={"color": colour["color"], "width": 1, "dash": "dot"},
            name=f"{name}, peak",
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
        peaks.append(f"{number(size, 2)} at Δ = {number(peak, 1)}")
        starts.append(f"{number(product.real, 2)} ({name})")
    figure.add_hline(y=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.add_vline(x=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.update_xaxes(title_text="distance Δ = m − n (tokens)", showgrid=False)
    figure.update_yaxes(title_text="score", showgrid=False)
    finding = f"|qk̄| is the height of the score’s peak, the phase of qk̄ sets its distance: {', '.join(peaks)}"
    details = f"The pair rotates by {theta:g} radians per token; at Δ = 0 the score is {', '.join(starts)}."
    return _finish(figure, finding, details)


def paths_in_planes(step: np.ndarray, x: Sequence[float], steps: int) -> go.Figure:
    """Eigenvalues of an orthogonal matrix, and the path of x under its powers, in coordinates and in its planes."""
    _above("steps", steps, 1)
    basis, planes = plane_rotations(np.asarray(step, dtype=float))
    x = np.asarray(x, dtype=float)
    if x.shape != (len(basis),):
        raise ValueError(f"x must have shape ({len(basis)},), got {x.shape}")
    eigenvalues = np.exp(1j * np.concatenate([planes, -planes, np.zeros(len(basis) % 2)]))
    walked = np.stack([np.linalg.matrix_power(step, m) @ x for m in range(steps + 1)])  # (steps + 1, dim)
    projected = walked @ basis
    rotations = [f"plane {j}: {abs(angle):.2f} rad" for j, angle in enumerate(planes)]
    names = ["eigenvalues", "coordinates 0 and 1", *rotations]
    reach = 1.15 * max(1.0, *(np.hypot(*projected[0, 2 * j : 2 * j + 2]) for j in range(len(planes))))
    reach = max(reach, 1.15 * float(np.abs(walked[:, :2]).max()))
    figure = _planes(names, reach, "first axis", "second axis")
    colours = pair_colours(len(planes))
    figure.update_yaxes(title_text="imaginary part", row=1, col=1)
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 120))
    thin = {"color": PALETTE["neutral"], "width": 1}
    circles = [(0, 1.0), *((2 + j, float(np.hypot(*projected[0, 2 * j : 2 * j + 2]))) for j in range(len(planes)))]
    for panel, radius in circles:
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": False, "hoverinfo": "skip"}
        y = _drawn(radius * circle.imag)
        figure.add_scatter(x=_drawn(radius * circle.real), y=y, mode="lines", line=thin, name="circle", **where)
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
    paths = [(1, walked[:, :2], PALETTE["score"], True)]
    paths += [(2 + j, projected[:, 2 * j : 2 * j + 2], colours[j], False) for j in range(len(planes))]
    for panel, path, colour, joined in paths:
        figure.add_scatter(
            x=_drawn(path[:, 0]),
            y=_drawn(path[:, 1]),
            mode="lines+markers" if joined else "markers",
            line={"color": colour, "width": 0.7},
            marker={"size": 5, "color": colour},
            name="Rᵐx",
            showlegend=False,
            row=panel // 2 + 1,
            col=panel % 2 + 1,
        )
    by = " and ".join(f"{abs(angle):.2f}" for angle in planes)
    finding = f"A tangled path in two coordinates is a rotation in each plane of the matrix, by {by} radians per step"
    details = f"The path of a vector over {steps} steps. {'; '.join(rotations)}; what remains is fixed."
    return _finish(figure, finding, details, height=150 + 250 * -(-len(names) // 2))


def shifted_encodings(codes: Mapping[str, np.ndarray], at: Sequence[int]) -> go.Figure:
    """Contents in the plane at every position, one panel per encoding, before and after a step of one token.

    An encoding has shape (contents, length), complex. `at` has one position per content, before the last. Lines join
    the origin with the points there and one token later.
    """
    at, changes = np.asarray(at, dtype=int), []
    for name, code in _some("codes", codes).items():
        if np.ndim(code) != 2 or len(code) != len(at) or not 0 <= at.min() <= at.max() < np.shape(code)[1] - 1:
            raise ValueError(f"codes[{name!r}] must have {len(at)} rows that reach beyond {at}, got {np.shape(code)}")
    reach = 1.1 * max(float(np.abs(code).max()) for code in codes.values())
    figure = _planes(list(codes), reach, "real part", "imaginary part")
    for panel, (name, code) in enumerate(codes.items()):
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": panel == 0}
        points, marker = np.ravel(code), {"size": 5, "color": PALETTE["neutral"]}
        cloud = {"x": _drawn(points.real), "y": _drawn(points.imag), "mode": "markers", "marker": marker}
        figure.add_scatter(**cloud, name="all contents at all positions", hoverinfo="skip", **where)
        before, after = (code[np.arange(len(at)), at + step] for step in (0, 1))
        lines = (("one of each content", before, {"color": PALETTE["bound"], "dash": "dash"}),)
        lines += (("the same, one token later", after, {"color": PALETTE["score"], "dash": "solid"}),)
        for legend, corners, line in lines:
            path = np.concatenate([[0], corners, [0]])
            drawn = {"x": _drawn(path.real), "y": _drawn(path.imag), "mode": "lines+markers", "marker_size": 8}
            figure.add_scatter(**drawn, name=legend, line=line | {"width": 2}, **where)
        products = [np.outer(corners, corners.conj()).real for corners in (before, after)]
        changes.append(f"{number(np.abs(products[1] - products[0]).max(), 2)} ({name})")
    details = (
        f"Lines join the origin with the contents at {', '.join(map(str, at))}, and with the same one token later. "
        "Where no product changes, the shape rotates as a whole."
    )
    return _finish(figure, f"One token later, dot products change by up to {', '.join(changes)}", details, height=400)


def complex_powers(factors: Mapping[str, complex], steps: int) -> go.Figure:
    """The powers 1, z, z², … of complex numbers: on a circle if |z| is 1, otherwise on a spiral."""
    _above("steps", steps, 1)
    figure, sizes, reach = _planes([""], 1.0, "real part", "imaginary part"), [], 1.0
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
        figure.add_scatter(**dots, name=f"{name}, whole steps", showlegend=False, **where)
        sizes.append(f"{number(size, 2)} ({name})")
    figure.update_xaxes(range=[-1.1 * reach, 1.1 * reach])
    figure.update_yaxes(range=[-1.1 * reach, 1.1 * reach])
    finding = f"After {steps} steps the magnitude 1 has become {', '.join(sizes)}"
    return _finish(figure, finding, "Powers of complex numbers, starting from 1.", height=480)


def rotation_matrices(position: float, dim: int, base: float) -> go.Figure:
    """The rotation matrix of one position in both layouts, whose entries show the dimension pairs."""
    maps = {
        layout: rotation_matrix(angles(position, inv_freq(dim, base)), layout)
        for layout in ("interleaved", "half-split")
    }
    filled = np.count_nonzero(maps["interleaved"])
    partners = ", ".join(f"{np.flatnonzero(matrix[0])[-1]} ({layout})" for layout, matrix in maps.items())
    figure = _heat_maps(
        {name: _drawn(matrix) for name, matrix in maps.items()}, 2, -1, 1, xgap=1, ygap=1, hoverongaps=False
    )
    figure.layout.coloraxis.colorbar.update(orientation="h", y=-0.24, yanchor="top", len=0.8)
    figure.update_xaxes(title_text="input dimension", dtick=1)
    figure.update_yaxes(dtick=1)
    figure.update_yaxes(title_text="output dimension", col=1)
    finding = f"{filled} of {dim * dim} entries are not zero in either layout; dimension 0 is paired with {partners}"
    details = f"Both matrices rotate {dim // 2} pairs by the angles of position {position:g}; the rest is zero."
    return _finish(figure, finding, details, height=410)


def dimension_permutation(dim: int) -> go.Figure:
    """The permutation of dimensions from the interleaved (top) to the half-split layout (bottom)."""
    order = layout_permutation(dim)  # index in the half-split layout → dimension
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
                name=f"pair {pair}",
                showlegend=member == 0,
            )
    figure.update_xaxes(title_text="index in the vector", dtick=1, showgrid=False, zeroline=False)
    rows = {"tickvals": [0, 1], "ticktext": ["half-split", "interleaved"]}
    figure.update_yaxes(title_text="layout", range=[-0.35, 1.35], showgrid=False, zeroline=False, **rows)
    finding = (
        f"P takes {dim} dimensions from the interleaved to the half-split layout: "
        "the first members of all pairs, then the second ones"
    )
    details = (
        f"The half-split layout holds, in order, dimensions {', '.join(map(str, order))}. Solid lines are first "
        f"members, dashed lines second ones; the members of a pair end up {dim // 2} indices apart."
    )
    return _finish(figure, finding, details, height=380)


def cumulative_losses(tokens: Sequence[str], losses: Mapping[str, Sequence[float]]) -> go.Figure:
    """Cumulative loss of a text up to each token, in nats, for several readings of one checkpoint."""
    figure, totals, shown = go.Figure(), [], [{" ": "␣", "\n": "⏎"}.get(token, token) for token in tokens]
    for k, (name, values) in enumerate(_some("losses", losses).items()):
        values = np.asarray(values, dtype=float)
        if values.shape != (len(tokens),):
            raise ValueError(
                f"losses[{name!r}] must have one number per token, {len(tokens)}, got shape {values.shape}"
            )
        sums = np.cumsum(values)
        totals.append(f"{number(sums[-1])} nats ({name})")
        labels = [f"“{token}” {loss:.2f}" for token, loss in zip(shown, values, strict=True)]
        style = {"mode": "lines", "line": _style(k, width=2.5), "hovertemplate": "%{text}, so far %{y:.0f}"}
        figure.add_scatter(x0=1, dx=1, y=_drawn(sums), name=name, text=labels, **style)
    figure.update_xaxes(title_text="position of the predicted token")
    figure.update_yaxes(title_text="cumulative loss (nats)", rangemode="tozero")
    first = [float(values[0]) for values in losses.values()]
    equal = "; only its first token’s loss is the same" if len(first) > 1 and np.ptp(first) < 1e-6 else ""
    details = f"The text: {''.join(shown)}. Sums from its beginning, in nats."
    return _finish(figure, f"Loss of the whole text: {', '.join(totals)}{equal}", details, height=400)


def losses_by_position(losses: Mapping[str, np.ndarray]) -> go.Figure:
    """Mean loss by the number of tokens before the predicted one, in bins that double, for several versions of a model.

    `losses` maps the name of a version to losses in nats, shape (texts, tokens), the first of a token with one before.
    """
    figure, last, ranges = go.Figure(), [], []
    for k, (name, values) in enumerate(_some("losses", losses).items()):
        values = np.asarray(values, dtype=float)
        if values.ndim != 2 or values.size == 0 or values.shape != np.shape(next(iter(losses.values()))):
            raise ValueError(f"losses[{name!r}] must have shape (texts, tokens), alike for all, got {values.shape}")
        tokens = values.shape[1]
        edges = [
            *(2**j for j in range(tokens.bit_length())),
            tokens + 1,
        ]  # the first of each bin, and one past the last
        means = np.array([values[:, a - 1 : b - 1].mean() for a, b in zip(edges, edges[1:], strict=False)])
        middles = np.sqrt([a * (b - 1) for a, b in zip(edges, edges[1:], strict=False)])
        hover = "%{x:.0f} tokens before: %{y:.2f} nats"
        style = {"mode": "lines+markers", "line": _style(k, width=2.5), "hovertemplate": hover}
        figure.add_scatter(x=_drawn(middles), y=_drawn(means), name=name, **style)
        last.append(f"{means[-1]:.1f} ({name})")
        ranges.append(f"{name}: {', '.join(f'{mean:.1f}' for mean in means)}")
    ticks = edges[:-1]
    figure.update_xaxes(type="log", title_text="tokens before the predicted one", tickvals=ticks, ticktext=ticks)
    figure.update_yaxes(title_text="loss (nats per token)", rangemode="tozero")
    finding = f"Loss after {number(edges[-2])} to {number(tokens)} tokens, in nats: {', '.join(last)}"
    details = (
        f"Means over {len(values)} texts, in bins that begin at {', '.join(map(number, ticks))}. {'; '.join(ranges)}."
    )
    return _finish(figure, finding, details, height=400)


def angle_errors(positions: Sequence[int], formats: Mapping[str, Callable[[np.ndarray], np.ndarray]]) -> go.Figure:
    """Maximum error of any pair's angle when frequencies, positions and products are rounded, by position."""
    at, theta = np.asarray(positions), inv_freq(128)
    exact, figure, largest = angles(at, theta), go.Figure(), []
    for k, (name, rounded) in enumerate(_some("formats", formats).items()):
        product = np.asarray(rounded(rounded(at)[:, None] * rounded(theta)), dtype=float)
        error = np.abs(product - exact).max(axis=-1)  # (positions,)
        largest.append(f"{error[-1]:.2g} ({name})")
        figure.add_scatter(x=at, y=np.where(error > 0, error, np.nan), name=name, mode="lines", line=_style(k))
    figure.add_hline(1, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(type="log", title_text="position (tokens)")
    figure.update_yaxes(type="log", title_text="angle error (radians)", exponentformat="power")
    finding = f"Largest angle error at position {number(at[-1])}, in radians: {', '.join(largest)}"
    details = f"The maximum over {len(theta)} pairs, base {number(10_000)}; the dotted line is one radian."
    return _finish(figure, finding, details)


def mistakes_and_tests(caught: Mapping[str, Sequence[bool]], tests: Sequence[str]) -> go.Figure:
    """Which test catches which mistake: a row per mistake, a column per test, a full dot where it does."""
    table = np.array([list(row) for row in _some("caught", caught).values()], dtype=bool)
    if table.shape != (len(caught), len(tests)):
        raise ValueError(f"caught must have {len(tests)} answers for each mistake, got shape {table.shape}")
    figure = go.Figure()
    full = {"symbol": "circle", "size": 15, "color": PALETTE["score"]}
    empty = {"symbol": "circle-open", "size": 9, "color": PALETTE["neutral"]}
    for name, cells, marker in (("detected", table, full), ("missed", ~table, empty)):
        rows, columns = np.nonzero(cells)
        figure.add_scatter(x=columns, y=rows, mode="markers", name=name, marker=marker)
    figure.update_yaxes(tickvals=np.arange(len(caught)), ticktext=list(caught), automargin=True)
    figure.update_yaxes(title_text="mistake", range=[len(caught) - 0.5, -0.5], zeroline=False)
    figure.update_xaxes(tickvals=np.arange(len(tests)), ticktext=list(tests), title_text="test", tickangle=-90)
    figure.update_xaxes(range=[-0.5, len(tests) - 0.5], side="top", zeroline=False)
    counts = {name: int(count) for name, count in zip(tests, table.sum(axis=0), strict=True)}
    best, first = max(counts, key=counts.__getitem__), tests[0]
    finding = f"Of {len(caught)} mistakes the test “{best}” detects most, {counts[best]}"
    finding += f"; “{first}” detects {counts[first]}" if best != first else ""
    detected = [", ".join(f"“{t}”" for t, hit in zip(tests, row, strict=True) if hit) or "none" for row in table]
    details = "; ".join(f"{name}: detected by {by}" for name, by in zip(caught, detected, strict=True))
    _finish(figure, finding, f"{details}.", height=300 + 34 * len(caught))
    top = {"title_y": 0.93, "title_yanchor": "top"}  # above the names of the tests
    return figure.update_layout(margin_t=figure.layout.margin.t + 150, legend_y=-0.04, **top)

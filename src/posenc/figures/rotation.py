"""Queries and keys that turn: by matrices, by complex numbers and in a model (chapters 05 to 07)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import said
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
from posenc.frequencies import angles, inv_freq
from posenc.rotary import LAYOUTS, pair_scores, plane_rotations, rotate, rotation_matrix


def rotated_pairs(
    q: Sequence[float], k: Sequence[float], query_position: float, key_position: float, base: float
) -> go.Figure:
    """Query and key pair by pair as arrows in the plane, where they were (dotted) and turned by their positions."""
    q, k = np.asarray(q, dtype=float), np.asarray(k, dtype=float)
    if q.ndim != 1 or q.shape != k.shape or not len(q):
        raise ValueError(f"q and k must both have shape (dim,), got shapes {q.shape} and {k.shape}")
    theta = inv_freq(len(q), base)
    shares = pair_scores(q, k, angles(query_position - key_position, theta))  # (dim/2,)
    names = [f"pair {i} adds {_number(share, 2)}" for i, share in enumerate(shares)]
    figure = _planes(
        names, 1.1 * max(np.hypot(*x.reshape(-1, 2).T).max() for x in (q, k)), "first of the pair", "second"
    )
    drawn = (("query", q, query_position, "query"), ("key", k, key_position, "key"))
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


def _pair(name: str, value: Sequence[float]) -> np.ndarray:
    """`value`, after checking that it is a pair of finite numbers."""
    pair = np.asarray(value, dtype=float)
    if pair.shape != (2,) or not np.isfinite(pair).all():
        raise ValueError(f"{name} must be two finite numbers, got {said(value)}")
    return pair


def eight_terms(q: Sequence[float], k: Sequence[float], theta: float, distance: int, reach: int) -> go.Figure:
    """The eight terms of a rotated pair's score as query and key move on together, two a panel, and their sums."""
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
    names = [f"{name}: {_number(total[0], 3)}" for name, total in zip(panels, sums, strict=True)]
    layout = {"shared_xaxes": True, "shared_yaxes": "all", "vertical_spacing": 0.12, "horizontal_spacing": 0.06}
    figure = make_subplots(2, 2, subplot_titles=names, **layout)
    for panel, (terms, total) in enumerate(zip(panels.values(), sums, strict=True)):
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": panel == 0}
        for name, term, dash in zip(("one term", "the other"), terms, ("dash", "dot"), strict=True):
            line = {"color": PALETTE["neutral"], "width": 1.5, "dash": dash}
            figure.add_scatter(**_at(at), y=_drawn(term), mode="lines", name=name, line=line, **where)
        line = {"color": PALETTE["score"], "width": 3}
        figure.add_scatter(**_at(at), y=_drawn(total), mode="lines", name="both together", line=line, **where)
    figure.update_xaxes(title_text="key's position n (tokens)", row=2)
    figure.update_yaxes(title_text="part of the score", col=1)
    figure.update_annotations(font_size=12)
    greatest = max(np.ptp(term) for terms in panels.values() for term in terms)
    score = _number(sum(total[0] for total in sums), 3)
    finding = (
        f"As query and key move on together, single terms swing by up to {_number(greatest, 2)}; two by two they "
        f"stand still, and all eight make {score}"
    )
    apart = f"The query stays {_number(distance)} tokens after the key, which moves from 0 to {_number(reach)}"
    return _tell(figure, finding, f"{apart}. What two terms make: {'; '.join(names)}.", height=520)


def agreement_and_side(q: Sequence[float], k: Sequence[float], theta: float, reach: int) -> go.Figure:
    """The score of a rotated pair against m − n: its cosine part, the same on both sides, and its sine part."""
    _above("reach", reach, 0)
    (q1, q2), (k1, k2) = _pair("q", q), _pair("k", k)
    offsets = np.arange(-reach, reach + 1)
    cosine, sine = (q1 * k1 + q2 * k2) * np.cos(offsets * theta), (q1 * k2 - q2 * k1) * np.sin(offsets * theta)
    score = cosine + sine
    near = np.flatnonzero(np.abs(offsets * theta) <= np.pi)  # within half a turn of distance 0
    peak = near[np.argmax(score[near])]
    figure = go.Figure()
    for name, part, line in (
        ("agreement: the cosine part", cosine, {"color": PALETTE["neutral"], "width": 2, "dash": "dash"}),
        ("side: the sine part", sine, {"color": PALETTE["bound"], "width": 2, "dash": "dot"}),
        ("their sum, the score", score, {"color": PALETTE["score"], "width": 3}),
    ):
        figure.add_scatter(**_at(offsets), y=_drawn(part), mode="lines+markers", marker_size=5, name=name, line=line)
    figure.add_vline(x=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.update_xaxes(title_text="m − n (tokens)")
    figure.update_yaxes(title_text="score of one pair")
    finding = (
        f"The cosine part is {_number(cosine[reach], 2)} at distance 0 and the same on both sides; with the sine part "
        f"the score peaks at {_number(offsets[peak])}, with {_number(score[peak], 2)}"
    )
    sides = f"at {_number(reach)} the score is {_number(score[-1], 2)}, at −{_number(reach)} {_number(score[0], 2)}"
    return _tell(figure, finding, f"The sine part is 0 at distance 0; {sides}.")


def shifted_outputs(shifts: Sequence[int], changes: Mapping[str, Sequence[float]]) -> go.Figure:
    """By how much the outputs of a layer change, as a share of their size, when all positions move on."""
    shifts = np.asarray(_some("shifts", shifts))
    figure, told = go.Figure(), []
    for k, (name, change) in enumerate(_some("changes", changes).items()):
        values = np.asarray(change, dtype=float)
        if values.shape != shifts.shape or not np.isfinite(values).all():
            raise ValueError(f"changes[{name!r}] must be {len(shifts)} finite numbers, got shape {values.shape}")
        told.append(f"{_number(100 * values[-1])}% ({name})")
        line = _style(k, width=3 if k == 0 else 2)
        figure.add_scatter(x=shifts, y=_drawn(values), mode="lines+markers", name=name, line=line, cliponaxis=False)
    figure.update_xaxes(type="log", dtick=1, title_text="all positions moved on by (tokens)")
    figure.update_yaxes(title_text="change of the output", tickformat=".0%", rangemode="tozero")
    finding = f"All positions moved on by {_number(shifts[-1])}: outputs change by {', '.join(told)}"
    return _tell(figure, finding, "Root mean square of the change over that of the outputs, against the shift.")


def _labelled(figure: go.Figure, panel: int, at: Sequence[float], text: str, colour: str) -> None:
    """Words beside a point of a panel, on the far side from its origin."""
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
        raise ValueError(f"{name} must be a complex number other than 0, got {said(value)}")
    return number


def _written(number: complex, digits: int = 0) -> str:
    """A complex number as prose writes it: 4 − 3i."""
    sign = "−" if round(number.imag, digits) < 0 else "+"
    return f"{_number(number.real, digits)} {sign} {_number(abs(number.imag), digits)}i"


def conjugate_product(q: complex, k: complex, digits: int = 0) -> go.Figure:
    """Query and key as arrows, and both times k̄, which lays the key on the real axis and the query at qk̄."""
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
        for number, name, legend, colour in zip(pair, names, ("query", "key"), ("query", "key"), strict=True):
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
    finding = f"Times k̄ the key lies on the real axis, and the query at qk̄ = {_written(product, digits)}"
    details = (
        f"q is {_written(q, digits)}, k is {_written(k, digits)}; from the key to the query it is "
        f"{_number(np.angle(product), 2)} radians before and after; kk̄ is {_number(square, digits)}."
    )
    return _tell(figure, finding, details, height=380)


def score_wave(products: Mapping[str, complex], theta: float, reach: int) -> go.Figure:
    """Re[qk̄·e^{i(m−n)θ}] against m − n for one pair: a dot a token, ±|qk̄|, the peak, and the slope at 0."""
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
        rise = np.array([-1.0, 1.0]) * reach / 12
        figure.add_scatter(
            x=rise,
            y=_drawn(product.real - theta * product.imag * rise),
            mode="lines",
            line={"color": PALETTE["neutral"], "width": 3},
            name="slope at 0",
            showlegend=j == 0,
            hoverinfo="skip",
        )
        told.append(f"{_number(size, 2)} at {_number(peak, 1)}\u00a0tokens")
    figure.add_hline(y=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.add_vline(x=0, line={"color": PALETTE["neutral"], "width": 1})
    figure.update_xaxes(title_text="m − n (tokens)", showgrid=False)
    figure.update_yaxes(title_text="score", showgrid=False)
    finding = f"The size of qk̄ is how high the score rises, its phase where: to {', to '.join(told)}"
    starts = "; ".join(
        f"for {name} it is {_number(complex(value).real, 2)} at distance 0, with the slope "
        f"{_number(-theta * complex(value).imag, 2)} a token"
        for name, value in products.items()
    )
    return _tell(figure, finding, f"The pair turns by {theta:g} radians a token; {starts}.")


def path_in_coordinates(step: np.ndarray, x: Sequence[float], steps: int) -> go.Figure:
    """The way of x under the powers of a matrix, in its first four coordinates, two a panel."""
    _above("steps", steps, 1)
    step, x = np.asarray(step, dtype=float), np.asarray(x, dtype=float)
    if x.ndim != 1 or len(x) < 4 or step.shape != (len(x), len(x)):
        raise ValueError(f"x must have four numbers or more and step as many rows, got {x.shape} and {step.shape}")
    walked = np.stack([np.linalg.matrix_power(step, m) @ x for m in range(steps + 1)])  # (steps + 1, dim)
    names = ["coordinates 0 and 1", "coordinates 2 and 3"]
    figure = _planes(names, 1.1 * float(np.abs(walked[:, :4]).max()), "first", "second")
    for panel in (0, 1):
        way = walked[:, 2 * panel : 2 * panel + 2]
        figure.add_scatter(
            x=_drawn(way[:, 0]),
            y=_drawn(way[:, 1]),
            mode="lines+markers",
            line={"color": PALETTE["score"], "width": 0.7},
            marker={"size": 5, "color": PALETTE["score"]},
            name="Rᵐx",
            showlegend=False,
            row=1,
            col=panel + 1,
        )
    lengths = np.hypot(*walked[:, :2].T)
    finding = (
        f"{_number(steps)} steps of one matrix, and no circle in sight: in two coordinates the vector is between "
        f"{_number(lengths.min(), 2)} and {_number(lengths.max(), 2)} long"
    )
    return _tell(figure, finding, "The points of the path, joined in their order, fill both panels.", height=380)


def paths_in_planes(step: np.ndarray, x: Sequence[float], steps: int) -> go.Figure:
    """Eigenvalues of an orthogonal matrix, and the way of x under its powers: in two coordinates and in its planes."""
    _above("steps", steps, 1)
    basis, planes = plane_rotations(np.asarray(step, dtype=float))
    x = np.asarray(x, dtype=float)
    if x.shape != (len(basis),):
        raise ValueError(f"x must have shape ({len(basis)},), got {x.shape}")
    eigenvalues = np.exp(1j * np.concatenate([planes, -planes, np.zeros(len(basis) % 2)]))
    walked = np.stack([np.linalg.matrix_power(step, m) @ x for m in range(steps + 1)])  # (steps + 1, dim)
    seen = walked @ basis
    names = ["eigenvalues", "coordinates 0 and 1"]
    names += [f"plane {j}: {_number(abs(angle), 2)} rad" for j, angle in enumerate(planes)]
    reach = 1.15 * max(1.0, *(np.hypot(*seen[0, 2 * j : 2 * j + 2]) for j in range(len(planes))))
    reach = max(reach, 1.15 * float(np.abs(walked[:, :2]).max()))
    figure, colours = _planes(names, reach, "along a", "along b"), pair_colours(len(planes))
    figure.update_yaxes(title_text="imaginary part", row=1, col=1)
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 120))
    thin = {"color": PALETTE["neutral"], "width": 1}
    rounds = [(0, 1.0), *((2 + j, float(np.hypot(*seen[0, 2 * j : 2 * j + 2]))) for j in range(len(planes)))]
    for panel, radius in rounds:
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": False, "hoverinfo": "skip"}
        y = _drawn(radius * circle.imag)
        figure.add_scatter(x=_drawn(radius * circle.real), y=y, mode="lines", line=thin, name="circle", **where)
    on_plane = [*range(len(planes)), *range(len(planes)), *([None] * (len(basis) % 2))]
    figure.add_scatter(
        x=_drawn(eigenvalues.real),
        y=_drawn(eigenvalues.imag),
        mode="markers",
        marker={"size": 11, "color": [PALETTE["neutral"] if j is None else colours[j] for j in on_plane]},
        name="eigenvalues",
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
    finding = (
        "What is a tangle in two coordinates is plain turns in the planes of the matrix, by "
        f"{' and '.join(_number(abs(angle), 2) for angle in planes)} radians a step"
    )
    details = f"The path of a vector over {steps} steps. {'; '.join(names[2:])}; the rest, if any, stays."
    return _tell(figure, finding, details, height=150 + 250 * -(-len(names) // 2))


def moved_on(codes: Mapping[str, np.ndarray], at: Sequence[int]) -> go.Figure:
    """Contents of the plane at every position, a panel a code, and one point of each before and after one step.

    A code has shape (contents, length), complex. `at` holds a position of each content, before the last one. Lines
    join the origin with the points there, and with those one token on.
    """
    at, changes = np.asarray(at, dtype=int), {}
    for name, code in _some("codes", codes).items():
        if np.ndim(code) != 2 or len(code) != len(at) or not 0 <= at.min() <= at.max() < np.shape(code)[1] - 1:
            raise ValueError(f"codes[{name!r}] must have {len(at)} rows that reach beyond {at}, got {np.shape(code)}")
    reach = 1.1 * max(float(np.abs(code).max()) for code in codes.values())
    figure = _planes(list(codes), reach, "real part", "imaginary part")
    for panel, (name, code) in enumerate(codes.items()):
        where = {"row": panel // 2 + 1, "col": panel % 2 + 1, "showlegend": panel == 0}
        points, marker = np.ravel(code), {"size": 5, "color": PALETTE["neutral"]}
        cloud = {"x": _drawn(points.real), "y": _drawn(points.imag), "mode": "markers", "marker": marker}
        figure.add_scatter(**cloud, name="every content at every position", hoverinfo="skip", **where)
        before, after = (code[np.arange(len(at)), at + step] for step in (0, 1))
        lines = (("one of each content", before, {"color": PALETTE["bound"], "dash": "dash"}),)
        lines += (("the same points, one token on", after, {"color": PALETTE["score"], "dash": "solid"}),)
        for legend, corners, line in lines:
            way = np.concatenate([[0], corners, [0]])
            drawn = {"x": _drawn(way.real), "y": _drawn(way.imag), "mode": "lines+markers", "marker_size": 8}
            figure.add_scatter(**drawn, name=legend, line=line | {"width": 2}, **where)
        products = [np.outer(corners, corners.conj()).real for corners in (before, after)]
        changes[name] = _number(np.abs(products[1] - products[0]).max(), 2)
    told = ", ".join(f"{change} ({name})" for name, change in changes.items())
    finding = f"One token on, dot products change by up to {told}"
    joined = f"Lines join the origin with the contents at {', '.join(map(str, at))}, and with the same one token on"
    return _tell(figure, finding, f"{joined}. Where no product changes, the shape they make turns as a whole.", 400)


def powers(factors: Mapping[str, complex], steps: int) -> go.Figure:
    """The powers 1, z, z², … of a few complex numbers: a circle where |z| is 1, otherwise a spiral."""
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
        sizes.append(f"{_number(size, 2)} ({name})")
    figure.update_xaxes(range=[-1.1 * reach, 1.1 * reach])
    figure.update_yaxes(range=[-1.1 * reach, 1.1 * reach])
    finding = f"After {steps} steps a length of 1 has become {', '.join(sizes)}"
    return _tell(figure, finding, "Powers of complex numbers, from 1 at the right.", height=480)


def rotation_maps(position: float, dim: int, base: float) -> go.Figure:
    """The rotation of one position as a matrix in either layout, whose entries show which dimensions make a pair."""
    maps = {layout: rotation_matrix(angles(position, inv_freq(dim, base)), layout) for layout in LAYOUTS}
    filled = {layout: np.count_nonzero(matrix) for layout, matrix in maps.items()}
    partner = {layout: int(np.flatnonzero(matrix[0])[-1]) for layout, matrix in maps.items()}
    figure = _heat_maps(
        {name: _drawn(matrix) for name, matrix in maps.items()}, 2, -1, 1, xgap=1, ygap=1, hoverongaps=False
    )
    figure.layout.coloraxis.colorbar.update(orientation="h", y=-0.24, yanchor="top", len=0.8)
    figure.update_xaxes(title_text="dimension before", dtick=1, constrain="domain")
    figure.update_yaxes(title_text="after", dtick=1, col=1)
    for number in ("", 2):
        figure.layout[f"yaxis{number}"].update(scaleanchor=f"x{number}", dtick=1, constrain="domain")
    finding = (
        f"{filled['interleaved']} of {dim * dim} entries are not zero in either layout: interleaved turns dimension 0 "
        f"with {partner['interleaved']}, half turns it with {partner['half']}"
    )
    details = f"Both matrices turn {dim // 2} pairs by the angles of position {position:g}; the rest is zero."
    return _tell(figure, finding, details, height=410)


def losses_so_far(tokens: Sequence[str], losses: Mapping[str, Sequence[float]]) -> go.Figure:
    """What a text has cost a model up to each token, in nats, under several readings of one file."""
    figure, told, shown = go.Figure(), [], [{" ": "␣", "\n": "⏎"}.get(token, token) for token in tokens]
    for k, (name, costs) in enumerate(_some("losses", losses).items()):
        costs = np.asarray(costs, dtype=float)
        if costs.shape != (len(tokens),):
            raise ValueError(f"losses[{name!r}] must have one number a token, {len(tokens)}, got shape {costs.shape}")
        sums = np.cumsum(costs)
        told.append(f"{_number(sums[-1])} nats read as {name}")
        words = [f"“{token}” {cost:.2f}" for token, cost in zip(shown, costs, strict=True)]
        style = {"mode": "lines", "line": _style(k, width=2.5), "hovertemplate": "%{text}, so far %{y:.0f}"}
        figure.add_scatter(x0=1, dx=1, y=_drawn(sums), name=name, text=words, **style)
    figure.update_xaxes(title_text="position of the token that is asked for")
    figure.update_yaxes(title_text="loss so far (nats)", rangemode="tozero")
    first = [float(costs[0]) for costs in losses.values()]
    alike = len(first) > 1 and np.ptp(first) < 1e-6
    finding = f"The text costs {', '.join(told)}" + ("; only its first token costs the same" if alike else "")
    return _tell(figure, finding, f"The text: {''.join(shown)}. Sums from its beginning, in nats.", height=400)


def angle_errors(positions: Sequence[int], formats: Mapping[str, Callable[[np.ndarray], np.ndarray]]) -> go.Figure:
    """Greatest error of any pair's angle where frequencies, positions and products are rounded, by position."""
    at, theta = np.asarray(positions), inv_freq(128)
    exact, figure, told = angles(at, theta), go.Figure(), []
    for k, (name, rounded) in enumerate(_some("formats", formats).items()):
        product = np.asarray(rounded(rounded(at)[:, None] * rounded(theta)), dtype=float)
        error = np.abs(product - exact).max(axis=-1)  # (positions,)
        told.append(f"{error[-1]:.2g} in {name}")
        figure.add_scatter(x=at, y=np.where(error > 0, error, np.nan), name=name, mode="lines", line=_style(k))
    figure.add_hline(1, line={"color": PALETTE["neutral"], "width": 1, "dash": "dot"})
    figure.update_xaxes(type="log", title_text="position (tokens)")
    figure.update_yaxes(type="log", title_text="error of the angle (radians)", exponentformat="power")
    finding = f"At position {_number(at[-1])} an angle is wrong by up to {', '.join(told)} (radians)"
    return _tell(figure, finding, "The worst of 64 pairs, base 10\u202f000; the dotted line is one radian.", height=420)


def mistakes_and_tests(caught: Mapping[str, Sequence[bool]], tests: Sequence[str]) -> go.Figure:
    """Which test notices which mistake: a row for each mistake, a column for each test, a full dot where it does."""
    table = np.array([list(row) for row in _some("caught", caught).values()], dtype=bool)
    if table.shape != (len(caught), len(tests)):
        raise ValueError(f"caught must have {len(tests)} answers for each mistake, got shape {table.shape}")
    figure = go.Figure()
    full = {"symbol": "circle", "size": 15, "color": PALETTE["score"]}
    empty = {"symbol": "circle-open", "size": 9, "color": PALETTE["neutral"]}
    for name, cells, marker in (("notices it", table, full), ("lets it pass", ~table, empty)):
        rows, columns = np.nonzero(cells)
        figure.add_scatter(x=columns, y=rows, mode="markers", name=name, marker=marker)
    figure.update_yaxes(tickvals=np.arange(len(caught)), ticktext=list(caught), title_text="mistake", automargin=True)
    figure.update_yaxes(range=[len(caught) - 0.5, -0.5], zeroline=False)
    figure.update_xaxes(tickvals=np.arange(len(tests)), ticktext=list(tests), title_text="test", tickangle=-90)
    figure.update_xaxes(range=[-0.5, len(tests) - 0.5], side="top", zeroline=False)
    counts = {name: int(count) for name, count in zip(tests, table.sum(axis=0), strict=True)}
    most = max(counts, key=lambda name: counts[name])
    finding = f"Of {len(caught)} mistakes the test “{most}” catches most, {counts[most]}" + (
        f"; “{tests[0]}” catches {counts[tests[0]]}" if most != tests[0] else ""
    )
    details = "; ".join(
        f"{name}: caught by {', '.join(t for t, hit in zip(tests, row, strict=True) if hit) or 'none'}"
        for name, row in zip(caught, table, strict=True)
    )
    _tell(figure, finding, f"{details}.", height=300 + 34 * len(caught))
    top = {"title_y": 0.93, "title_yanchor": "top"}  # above the names of the tests
    return figure.update_layout(margin_t=figure.layout.margin.t + 150, legend_y=-0.04, **top)

"""Positions with rows and columns (chapter 16)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._numbers import number
from posenc.figures._drawing import PALETTE, _drawn, _finish, _heat_maps, _keep_shape, _some, pair_colours

# A photograph of the cat Chelsea by Stéfan van der Walt (CC0), from scikit-image, cropped and made smaller.
PHOTOGRAPH, ROWS, COLUMNS = "chelsea.jpg", 8, 12


def photograph(panels: Mapping[str, tuple[int, Sequence[tuple[int, int]]]]) -> go.Figure:
    """A photograph of a cat in patches, 8 rows by up to 12 columns, numbered in raster order.

    A panel is (columns of patches, cut off at the right; marked patches as (row, column), first that of the query).
    """
    image = b64encode((files("posenc") / "figures" / PHOTOGRAPH).read_bytes()).decode()
    for name, (columns, marked) in _some("panels", panels).items():
        inside = [0 <= row < ROWS and 0 <= column < columns for row, column in _some(f"panels[{name!r}]", marked)]
        if not 1 <= columns <= COLUMNS or not all(inside):
            raise ValueError(
                f"panels[{name!r}] must be up to {COLUMNS} columns and (row, column) within {ROWS} × {columns}, "
                f"got {columns} and {list(marked)}"
            )
    widths = [columns for columns, _ in panels.values()]
    figure = make_subplots(1, len(panels), subplot_titles=list(panels), column_widths=widths, horizontal_spacing=0.06)
    findings = []
    for k, (name, (columns, marked)) in enumerate(panels.items(), 1):
        rows, across = np.indices((ROWS, columns)).reshape(2, -1)
        position = {(row, column): row * columns + column for row, column in zip(rows, across, strict=True)}
        figure.add_layout_image(
            {"source": f"data:image/jpeg;base64,{image}", "layer": "below", "sizing": "stretch"}
            | {"x": -0.5, "y": -0.5, "sizex": COLUMNS, "sizey": ROWS},
            row=1,
            col=k,
        )
        figure.add_scatter(
            x=across,
            y=rows,
            text=[str(one) for one in position.values()],
            mode="text",
            textfont={"color": "white", "size": 9},
            hoverinfo="skip",
            showlegend=False,
            row=1,
            col=k,
        )
        for edge in np.arange(1, columns) - 0.5:
            figure.add_vline(x=edge, line={"color": "white", "width": 0.5}, row=1, col=k)
        for edge in np.arange(1, ROWS) - 0.5:
            figure.add_hline(y=edge, line={"color": "white", "width": 0.5}, row=1, col=k)
        for which, (row, column) in enumerate(marked):
            kind = "key" if which else "query"
            for line in ({"color": "white", "width": 5}, {"color": PALETTE[kind], "width": 3}):
                figure.add_scatter(
                    x=column + 0.42 * np.array([-1, 1, 1, -1, -1]),
                    y=row + 0.42 * np.array([-1, -1, 1, 1, -1]),
                    mode="lines",
                    line=line,
                    name=kind,
                    showlegend=k == 1 and which < 2 and line["width"] == 3,
                    row=1,
                    col=k,
                )
        figure.update_xaxes(range=[-0.5, columns - 0.5], row=1, col=k)
        query, *keys = (position[row, column] for row, column in marked)
        findings.append(f"{name}: query at position {query}, key at {' and '.join(map(str, keys)) or 'none'}")
    figure.update_xaxes(showgrid=False, zeroline=False, title_text="column")
    figure.update_yaxes(range=[ROWS - 0.5, -0.5], showgrid=False, zeroline=False)
    figure.update_yaxes(title_text="row", col=1)
    _keep_shape(figure)
    figure.update_annotations(font_size=12)
    details = "A photograph of a cat cut into patches, numbered row by row from 0; query and keys are outlined."
    return _finish(figure, "; ".join(findings), details, 430 if len(panels) == 1 else 330)


def patch_maps(
    maps: Mapping[str, np.ndarray], query: tuple[int, int], offsets: Sequence[tuple[int, int]] = ((0, 1), (1, 0))
) -> go.Figure:
    """Scores or weights of one query patch with every patch of an image, for several encodings.

    Each map has shape (rows, columns); `query` is (row, column). The title states the values at `offsets` from it,
    (rows down, columns to the right), which must be patches of the image: without them, its neighbours.
    """
    row, column = query
    shapes = {np.shape(table) for table in _some("maps", maps).values()}
    if len(shapes) != 1 or any(len(shape) != 2 for shape in shapes):
        raise ValueError(f"maps must all have one shape (rows, columns), got {sorted(shapes)}")
    rows, columns = next(iter(shapes))
    neighbours = tuple(map(tuple, offsets)) == ((0, 1), (1, 0))
    others = [(row + down, column + right) for down, right in _some("offsets", offsets)]
    if not all(0 <= r < rows and 0 <= c < columns for r, c in [query, *others]):
        beside = "a patch to the right and one below" if neighbours else f"patches at {list(offsets)} from it"
        raise ValueError(f"query must have {beside} in {rows} × {columns}, got {query}")
    tables = {name: np.asarray(table, dtype=float) for name, table in maps.items()}
    for name, table in tables.items():
        if not np.isfinite(table).all():
            raise ValueError(f"maps[{name!r}] must be finite numbers, got {table[~np.isfinite(table)][0]}")
    reach = max(float(np.abs(table).max()) for table in tables.values()) or 1.0
    low = -reach if min(float(table.min()) for table in tables.values()) < 0 else 0.0
    panels = {name.replace(", ", ",<br>"): _drawn(table) for name, table in tables.items()}  # narrow ones have no room
    across = min(2, len(panels))
    figure = _heat_maps(panels, across, low, reach)
    for k in range(len(panels)):
        for line in ({"color": "white", "width": 5}, {"color": PALETTE["query"], "width": 2}):  # a rim, then the mark
            figure.add_scatter(
                x=column + 0.5 * np.array([-1, 1, 1, -1, -1]),
                y=row + 0.5 * np.array([-1, -1, 1, 1, -1]),
                mode="lines",
                line=line,
                name="query",
                showlegend=False,
                row=k // across + 1,
                col=k % across + 1,
            )
    figure.update_xaxes(range=[-0.5, columns - 0.5])
    figure.update_yaxes(range=[rows - 0.5, -0.5])
    figure.update_xaxes(title_text="column", row=-(-len(panels) // across))
    figure.update_yaxes(title_text="row", col=1)
    values = ", ".join(
        f"{' and '.join(number(table[at], 2) for at in others)} ({name})" for name, table in tables.items()
    )
    where = "The patch to the right of the query and the one below"
    if not neighbours:
        where = f"At (rows, columns) {' and '.join(map(str, offsets))} from the query"
    details = f"An image of {rows} by {columns} patches; the query, marked, is at row {row}, column {column}, from 0."
    height = 130 + round(80 + 170 * min(1, rows / columns)) * -(-len(panels) // across)
    return _finish(figure, f"{where}: {values}", details, height)


def pairs_by_axis(rules: Mapping[str, tuple[Sequence[int], Sequence[float]]], axes: Sequence[str]) -> go.Figure:
    """The wavelength of each pair along its axis, one row per method and axis.

    A rule is (axis of each pair, counted from 0; frequencies in radians per position).
    """
    figure, labels, shortest = go.Figure(), [], []
    for name, (followed, frequencies) in _some("rules", rules).items():
        followed, waves = np.asarray(followed), 2 * np.pi / np.asarray(frequencies, dtype=float)
        if followed.shape != waves.shape or not np.isfinite(waves).all() or not (waves > 0).all():
            raise ValueError(
                f"rules[{name!r}] must have an axis and a positive frequency for each pair, "
                f"got {len(followed)} and {len(waves)}"
            )
        if missing := [axis for k, axis in enumerate(axes) if not np.any(followed == k)]:
            raise ValueError(f"rules[{name!r}] must have a pair for each of {', '.join(axes)}, got none for {missing}")
        colours = np.array(pair_colours(len(waves)))
        per_axis = []
        for k, axis in enumerate(axes):
            its = followed == k
            figure.add_scatter(
                x=np.float32(waves[its]),
                y=[len(labels)] * int(its.sum()),
                mode="markers",
                marker={"color": colours[its].tolist(), "size": 7},
                name=f"{name}: {axis}",
                showlegend=False,
            )
            per_axis.append(f"{axis} {number(waves[its].min())}")
            labels.append(f"{name}: {axis}")
        shortest.append(f"{', '.join(per_axis)} ({name})")
    figure.update_xaxes(type="log", title_text="wavelength (positions)")
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[len(labels) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
        automargin=True,
        title_text="method and axis",
    )
    finding = f"Shortest wavelength of each axis: {'; '.join(shortest)}"
    return _finish(figure, finding, "One dot per dimension pair, in the row of its axis.", 150 + 30 * len(labels))

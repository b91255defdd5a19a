"""Which cell of its notebook a part of a page comes from, and what the cell's execution gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from tools import execute

Cell = dict[str, Any]
LINES_A_CELL = 10_000  # myst-nb numbers the lines of a notebook so: line 3 of the first cell is 10 003


def cells_of(app: Sphinx) -> list[Cell]:
    """The cells of the notebook that is read now, as it is stored; none where it is no notebook."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return []
    cells: list[Cell] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def executed(app: Sphinx) -> list[Cell]:
    """The same cells with all that their execution gave, figures included."""
    return list(execute.cached(Path(app.env.doc2path(app.env.docname))).cells)


def cell_of(node: nodes.Element) -> int | None:
    """The index of the cell that a node comes from."""
    if "cell_index" in node:
        return int(node["cell_index"])
    return node.line // LINES_A_CELL - 1 if node.line else None


def parts_of(doctree: nodes.document, index: int) -> list[nodes.Element]:
    """The outermost nodes that come from a cell without a heading, in order."""
    places = [doctree, *doctree.findall(nodes.section)]
    return [
        child
        for place in places
        for child in place.children
        if isinstance(child, nodes.Element) and not isinstance(child, (nodes.title, nodes.section))
        if cell_of(child) == index
    ]


def wrap(parts: list[nodes.Element], box: nodes.Element) -> nodes.Element:
    """Put neighbouring nodes into a box that stands where they stood."""
    place = parts[0].parent
    place.insert(place.index(parts[0]), box)
    for part in parts:
        place.remove(part)
    box += parts
    return box

"""Which cell of its notebook a part of a page comes from, and what the cell's execution gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

Cell = dict[str, Any]
LINES_A_CELL = 10_000  # myst-nb numbers the lines of a notebook so: line 3 of the first cell is 10 003


def executed(app: Sphinx) -> list[Cell]:
    """The cells of the notebook that is read now, with their outputs; none where it is no notebook."""
    name = app.env.docname
    if Path(app.env.doc2path(name)).suffix != ".ipynb":
        return []
    # myst-nb has just written it there
    path = Path(app.outdir).parent / "jupyter_execute" / f"{name}.ipynb"
    cells: list[Cell] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


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

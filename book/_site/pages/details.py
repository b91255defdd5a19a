"""Folds: deeper sections under their heading and a line, and code that is not there to be read. Under a chapter's title
stand how long it takes and the switch for code.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from book._site.outputs.cells import Cell, cell_of, cells_of
from book._site.pages.predict import WORDS
from tools import reading
from tools.execute import chapters
from tools.notebooks import code_cells

CODE_FOLD = '<details class="posenc-code"><summary>{code}</summary>'
CODE_SWITCH = """<fieldset class="posenc-code-switch posenc-live"><legend>{name}</legend>
<label><input type="radio" name="posenc-code" value="essential" checked>{essential}</label>
<label><input type="radio" name="posenc-code" value="all">{all}</label></fieldset>"""


def fold(section: nodes.section) -> None:
    """Put a section into `<details>` whose summary is its heading and its first paragraph, a line."""
    line = section.children[1]
    summary = nodes.inline("", "", *line.children, classes=["posenc-deeper-line"])
    section.remove(line)
    section.insert(0, nodes.raw("", '<details class="posenc-deeper"><summary>', format="html"))
    section.insert(2, [summary, nodes.raw("", "</summary>", format="html")])
    section += nodes.raw("", "</details>", format="html")


def fold_deeper(app: Sphinx, doctree: nodes.document) -> None:
    """Fold each section whose heading's cell is tagged."""
    cells = cells_of(app)
    deeper = {k for k, cell in enumerate(cells) if reading.DEEPER in cell["metadata"].get("tags", [])}
    for section in list(doctree.findall(nodes.section)):
        if cell_of(section) in deeper and isinstance(section.children[0], nodes.title):
            fold(section)


def fold_code(app: Sphinx, doctree: nodes.document) -> None:
    """Fold a chapter's code but for what is there to be read, and leave out what only sets it up."""
    if Path(app.env.doc2path(app.env.docname)) not in chapters():
        return
    cells = cells_of(app)
    shown = {cell["id"]: is_shown for cell, is_shown in code_cells(cells)}
    for place in [box for box in doctree.findall(nodes.container) if "cell_input" in box["classes"]]:
        cell, name = place.parent, cells[place.parent["cell_index"]]["id"]
        if name not in shown:
            cell.remove(place)
            if not cell.children:
                cell.parent.remove(cell)
        elif not shown[name]:
            cell.insert(0, nodes.raw("", CODE_FOLD.format(code=WORDS["code"]["name"]), format="html"))
            cell.insert(2, nodes.raw("", "</details>", format="html"))
    if not all(shown.values()):
        title = next(iter(doctree.findall(nodes.title)))
        switch = CODE_SWITCH.format(**WORDS["code"])
        title.parent.insert(title.parent.index(title) + 1, nodes.raw("", switch, format="html"))


def time_of(path: Path, cells: list[Cell]) -> str:
    """The words on a chapter's reading time."""
    short, whole = (round(each(path).minutes) for each in (reading.of_spine, reading.of_whole))
    deeper = any(reading.DEEPER in cell["metadata"].get("tags", []) for cell in cells)
    kind = "short" if short == whole else "deeper" if deeper else "exercises"
    words: str = WORDS["reading"][kind].format(short=short, whole=whole)
    return words


def say_time(app: Sphinx, doctree: nodes.document) -> None:
    """Put the reading time under a chapter's title."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix == ".ipynb" and path.name[:2].isdigit():
        title = next(iter(doctree.findall(nodes.title)))
        paragraph = nodes.paragraph("", time_of(path, cells_of(app)), classes=["posenc-reading"])
        title.parent.insert(title.parent.index(title) + 1, paragraph)


def setup(app: Sphinx) -> None:
    """Register the hooks, after the tables of contents have been collected; and the script that opens folds."""
    app.connect("doctree-read", fold_code, priority=550)  # before predictions close what is left
    app.connect("doctree-read", fold_deeper, priority=700)
    app.connect("doctree-read", say_time, priority=700)
    app.add_js_file("posenc/details.js", priority=105, loading_method="defer")  # before what draws inside of folds

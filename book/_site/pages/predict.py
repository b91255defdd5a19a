"""Predictions on the page: the question, and what stays closed until the reader has guessed.

The page's HTML has everything open, as paper and a browser without JavaScript show it. Elsewhere the style sheet closes
what waits for a guess, and `predict.js` opens it.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from jinja2 import Environment, FileSystemLoader
from sphinx.application import Sphinx
from sphinx.util import logging

from book._site.outputs.cells import cells_of, executed, parts_of, wrap
from book._site.outputs.plotly_figure import script_json
from book._site.pages import predictions
from book._site.pages.translate import translated, translator
from book._site.words import words

HERE = Path(__file__).parent
FORM = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True).get_template("predict.html")
WORDS = words("pages")
SHOWN = ("unit", "choices", "labels", "x", "y")  # of a question, what has texts
# Who has chosen so sees everything from the first paint on.
SHOW_ALL = """try {
  if (localStorage.getItem("posenc-show-all") === "true") document.documentElement.classList.add("posenc-all");
} catch { /* refused */ }"""

logger = logging.getLogger(__name__)


def _raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def _close(parts: list[nodes.Element], cell: str) -> nodes.Element:
    """Put what gives a question's answer away into a box that stays closed until then."""
    return wrap(parts, nodes.container(classes=["posenc-awaits", f"posenc-awaits-{cell}"]))


def hide(doctree: nodes.document, cells: list[predictions.Cell], question: str, hides: list[str]) -> None:
    """Close a code cell's output (all of it if its code is folded) and all of a Markdown cell, with a word before."""
    for index, cell in enumerate(cells):
        if cell["id"] not in hides:
            continue
        if cell["cell_type"] == "code":
            shown = next(node for node in doctree.findall(nodes.container) if node.get("cell_index") == index)
            parts = [node for node in shown.children if "cell_output" in node.get("classes", ())]
            if "cell_input" not in shown.children[0].get("classes", ()):
                parts = [shown]  # its code is not there to be read
        else:
            parts = parts_of(doctree, index)
        box = _close(parts, question)
        note = _raw(f'<p class="posenc-await-note">{escape(WORDS["await"])}</p>')
        box.parent.insert(box.parent.index(box), note)


def shown(value: float, digits: int = 6) -> str:
    """A number as it is read, in so many significant digits."""
    return f"{float(f'{value:.{digits}g}'):,.9f}".rstrip("0").rstrip(".").replace("-", "−")


def ask(doctree: nodes.document, index: int, cell: str, question: dict[str, Any], page: str) -> None:
    """Put the form under the question, the paragraph before the cell's fold, and close the fold with the rest."""
    parts = parts_of(doctree, index)
    first = next(k for k, part in enumerate(parts) if isinstance(part, nodes.raw) and "<details" in part.astext())
    parts[first - 1]["ids"].append(f"predict-{cell}-question")
    box = wrap(parts[first - 1 :], nodes.container(classes=["posenc-predict"], ids=[f"predict-{cell}"]))
    data = script_json({**question, "cell": cell, "page": page})
    script = f'<script type="application/json" class="posenc-question">{data}</script>'
    unit = question.get("unit", "")
    form = FORM.render(**question, cell=cell, words=WORDS, shown=shown, after=unit if unit in ("", "°") else f" {unit}")
    box.insert(1, _raw(script + form))
    _close(parts[first:], cell)


def predict(app: Sphinx, doctree: nodes.document) -> None:
    """Prepare each prediction of a page; one that does not fit is a warning, which is an error of the build."""
    asking = [k for k, cell in enumerate(cells_of(app)) if "predict" in cell["metadata"].get("tags", [])]
    cells = executed(app) if asking else []
    if asking:
        app.env.note_dependency(str(HERE / "predict.html"))
    for index in asking:
        name = cells[index]["id"]
        try:
            question = predictions.prediction(index, cells)
        except ValueError as error:
            logger.warning(f"{error}", location=app.env.docname, type="posenc", subtype="predict")
            continue
        question |= translated({part: question[part] for part in SHOWN if part in question}, translator(app, doctree))
        ask(doctree, index, name, question, app.env.docname)
        hide(doctree, cells, name, question["hides"])


def page_head(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Bring the script to pages that ask something."""
    if doctree and any("posenc-predict" in node["classes"] for node in doctree.findall(nodes.container)):
        context["metatags"] = context.get("metatags", "") + f"\n<script>{SHOW_ALL}</script>"
        app.add_js_file("posenc/predict.js", priority=106, loading_method="defer", fetchpriority="high")


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-read", predict, priority=600)
    app.connect("html-page-context", page_head)

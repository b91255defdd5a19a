"""Predictions on the page: the question, and what stays closed until the reader has guessed.

The page's HTML has everything open, as paper and a browser without JavaScript show it. A script in the head marks the
page before anything is drawn, and the style sheet closes what is marked; `predict.js` builds the questions.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from book._site.outputs.cells import cells_of, executed, parts_of, wrap
from book._site.outputs.plotly_figure import script_json
from book._site.pages import predictions

WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
# Should predict.js itself be missing, nothing stays closed.
CLOSE = """document.documentElement.classList.add("posenc-guessing");
addEventListener("load", () => {
  if (!window.posencPredict) document.documentElement.classList.remove("posenc-guessing");
});"""

logger = logging.getLogger(__name__)


def _raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def _close(parts: list[nodes.Element], cell: str) -> None:
    """Put what gives a question's answer away into a box that stays closed until then."""
    wrap(parts, nodes.container(classes=["posenc-awaits", f"posenc-awaits-{cell}"]))


def _say_so(box: nodes.Element) -> None:
    """A word before what is closed."""
    note = _raw(f'<p class="posenc-await-note">{escape(WORDS["await"])}</p>')
    box.parent.insert(box.parent.index(box), note)


def hide(doctree: nodes.document, cells: list[predictions.Cell], question: str, hides: list[str]) -> None:
    """Close a code cell's output and all of a Markdown cell, with one word for those that follow each other."""
    before: int | None = None
    for index, cell in enumerate(cells):
        if cell["id"] not in hides:
            continue
        if cell["cell_type"] == "code":
            shown = next(node for node in doctree.findall(nodes.container) if node.get("cell_index") == index)
            parts = [node for node in shown.children if "cell_output" in node.get("classes", ())]
        else:
            parts = parts_of(doctree, index)
        _close(parts, question)
        if cell["cell_type"] == "code" or before != index - 1:
            _say_so(parts[0].parent)
        before = index


def ask(doctree: nodes.document, index: int, cell: str, question: dict[str, Any], page: str) -> None:
    """Mark the question's cell for predict.js, and close its fold with the rest."""
    parts = parts_of(doctree, index)
    first = next(k for k, part in enumerate(parts) if isinstance(part, nodes.raw) and "<details" in part.astext())
    place = next(k for k, part in enumerate(parts) if "Predict." in part.astext())
    box = wrap(parts[place:], nodes.container(classes=["posenc-predict"], ids=[f"predict-{cell}"]))
    data = script_json({**question, "cell": cell, "page": page})
    box.insert(first - place, _raw(f'<script type="application/json" class="posenc-question">{data}</script>'))
    _close(parts[first:], cell)


def predict(app: Sphinx, doctree: nodes.document) -> None:
    """Prepare each prediction of a page; one that does not fit is a warning, which is an error of the build."""
    asking = [k for k, cell in enumerate(cells_of(app)) if "predict" in cell["metadata"].get("tags", [])]
    cells = executed(app) if asking else []
    hidden: set[str] = set()
    for index in asking:
        cell = cells[index]
        try:
            question = predictions.prediction(index, cells)
            if twice := hidden & set(question["hides"]):
                raise ValueError(f"cell {cell['id']}: it hides {min(twice)!r}, which an earlier question hides")
            hidden |= set(question["hides"])
            ask(doctree, index, cell["id"], question, app.env.docname)
        except ValueError as error:
            logger.warning(f"{error}", location=app.env.docname, type="posenc", subtype="predict")
            continue
        hide(doctree, cells, cell["id"], question["hides"])


def page_head(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Close before the first paint, and bring words and script, on pages that ask something."""
    if doctree is None or app.builder.format != "html":
        return
    if not any("posenc-predict" in node["classes"] for node in doctree.findall(nodes.container)):
        return
    words = f'<script type="application/json" id="posenc-words">{script_json(WORDS)}</script>'
    context["metatags"] = context.get("metatags", "") + f"\n<script>{CLOSE}</script>\n{words}"
    app.add_js_file("posenc/predict.js", priority=106, loading_method="defer", fetchpriority="high")


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-read", predict, priority=600)
    app.connect("html-page-context", page_head)

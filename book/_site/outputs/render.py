"""How the outputs of notebook cells become HTML: Plotly figures, explorables and `interact` cells."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx
from sphinx.util import logging

from book._site.outputs.plotly_figure import PLOTLY, plotly_html
from book._site.words import words
from tools.notebooks import TABLE

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WORDS = words("outputs")

# Marks that stay with what they open or close, those of Chinese too.
OPENING, CLOSING = "([“‘（【《「『", ".,;:!?)]”’。，、；：！？）】》」』"

logger = logging.getLogger(__name__)


def _raw(html: str, *classes: str) -> nodes.raw:
    # not the class "text_html": the theme paints those light in dark mode
    return nodes.raw("", html, format="html", classes=["output", *classes])


class OwnOutput:
    """Renders Plotly's JSON and tables, which myst-nb does not know."""

    mime_priority_overrides = [("*", PLOTLY, 4), ("*", TABLE, 4)]

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        """The figure or table, or None for another MIME type."""
        if data.mime_type == TABLE:
            return [nodes.raw("", data.string, format="html")]
        return [_raw(plotly_html(data.content, WORDS["needs_script"]))] if data.mime_type == PLOTLY else None


class WidgetOutput:
    """Renders what can be shown of a widget without a kernel.

    An explorable brings its own HTML, so its widget view is dropped. An `interact` cell is shown at its opening
    setting, out of the widget states that execution stores in the notebook.
    """

    mime_priority_overrides: list[tuple[str, str, int]] = []

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        """The nodes for a widget view, or None for another MIME type."""
        if data.mime_type != WIDGET_VIEW:
            return None
        widgets = renderer.renderer.nb_client.nb_metadata.get("widgets", {})
        states = widgets.get(WIDGET_STATE, {}).get("state", {})
        model = states.get(data.content["model_id"])
        if model is None:
            renderer.logger.warning("the notebook holds no state for this widget", subtype="widget", line=data.line)
            return []
        if model["model_module"] == "anywidget":
            return []  # the bundle's text/html, the explorable, is chosen instead
        if "widget-interact" in model["state"].get("_dom_classes", ()):
            return _interact_nodes(renderer, data, model, states)
        renderer.logger.warning(
            f"a {model['model_name']} cannot be shown on a page without a kernel", subtype="widget", line=data.line
        )
        return []


def _opening_value(state: dict[str, Any]) -> str:
    if "_options_labels" in state:
        index = state.get("index")
        return str(WORDS["interact"]["values"]["none"]) if index is None else str(state["_options_labels"][index])
    value = state.get("value")
    if isinstance(value, bool):
        return str(WORDS["interact"]["values"]["on" if value else "off"])
    return f"{value:,.7g}".replace(",", "\u202f") if isinstance(value, (int, float)) else str(value)


def _interact_nodes(
    renderer: NbElementRenderer, data: MimeData, model: dict[str, Any], states: dict[str, Any]
) -> list[nodes.Element]:
    children = [states[reference.removeprefix("IPY_MODEL_")] for reference in model["state"]["children"]]
    controls = [child["state"] for child in children if child["state"].get("description")]
    outputs = [
        output for child in children if child["model_name"] == "OutputModel" for output in child["state"]["outputs"]
    ]
    drawn: list[nodes.Element] = []
    for output in outputs:
        if output["output_type"] == "stream":
            drawn += renderer.render_stdout(output, data.cell_metadata, data.cell_index or 0, data.line or 0)
        elif output["output_type"] == "error":
            renderer.logger.warning(f"interact failed: {output['evalue']}", subtype="widget", line=data.line)
        else:
            mime_type = next(m for m in (PLOTLY, TABLE, "text/html", "text/plain") if m in output["data"])
            drawn += renderer.render_mime_type(MimeData(mime_type, output["data"][mime_type], line=data.line))
    if not drawn:
        renderer.logger.warning("this interact cell stored no opening output", subtype="widget", line=data.line)
    settings = "".join(
        f"<li>{escape(control['description'])} <b>{escape(_opening_value(control))}</b></li>" for control in controls
    )
    box = nodes.container(classes=["posenc-interact"])
    box += _raw(f'<ul class="posenc-settings" aria-label="{escape(WORDS["interact"]["setting"])}">{settings}</ul>')
    box += drawn
    box += nodes.paragraph("", WORDS["interact"]["run"], classes=["posenc-run"])
    return [box]


def _text(node: nodes.Node | None) -> str:
    return node.astext() if isinstance(node, nodes.Text) else ""


def keep_marks_with_formulas(app: Sphinx, doctree: nodes.document) -> None:
    """Bind a formula in the text to the bracket before it and to the full stop after it.

    A browser breaks the line on either side of a set formula whatever stands there, a word joiner too.
    """
    for formula in list(doctree.findall(nodes.math)):
        place = formula.parent
        at = next(k for k, node in enumerate(place) if node is formula)  # equal texts are one to list.index
        before, after = (_text(place[k]) if 0 <= k < len(place) else "" for k in (at - 1, at + 1))
        rest, end = before.rstrip(OPENING), after.lstrip(CLOSING)
        opening, closing = before[len(rest) :], after[: len(after) - len(end)]
        if not opening and not closing:
            continue
        place[at] = nodes.inline("", "", classes=["posenc-whole"])
        place[at] += [part for part in (nodes.Text(opening), formula, nodes.Text(closing)) if part.astext()]
        if opening:
            place[at - 1] = nodes.Text(rest)
        if closing:
            place[at + 1] = nodes.Text(end)


def speak(app: Sphinx, doctree: nodes.document) -> None:
    """Give explorables the page's words for readers without JavaScript: a notebook is executed in English."""
    if app.config.language == "en":
        return
    from posenc.widgets import EXPLORABLES

    words = {cls.module: cls.without_script() for cls in EXPLORABLES}
    for html in list(doctree.findall(nodes.raw)):
        if found := re.search(r'class="posenc-explorable" data-module="(\w+)"', html.astext()):
            html[:] = [nodes.Text(re.sub("<noscript>.*?</noscript>", lambda _: words[found[1]], html.astext()))]


def drop_empty_outputs(app: Sphinx, doctree: nodes.document) -> None:
    """Drop what is only an empty line, printed between two tables for notebooks, and an empty box on a page."""
    for block in [one for one in doctree.findall(nodes.literal_block) if not one.astext().strip()]:
        block.parent.remove(block)


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-read", drop_empty_outputs)
    app.connect("doctree-read", speak)
    app.connect("doctree-read", keep_marks_with_formulas)

"""Texts of a notebook that are in none of Sphinx's catalogues, so that they can be translated like its paragraphs.

They are the summaries of folds, which Markdown writes as HTML, and what a prediction shows of a cell's metadata.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import locale
from sphinx.application import Sphinx
from sphinx.util.i18n import docname_to_domain

SUMMARY = re.compile(r"(?<=<summary>)[^<]+(?=</summary>)")


def translator(app: Sphinx, doctree: nodes.document) -> Callable[[str], str]:
    """What translates a text of the page that is read now; where Sphinx collects messages, it joins them instead."""
    docname = app.env.docname
    if app.builder.name == "gettext":

        def collect(text: str) -> str:
            message = nodes.paragraph(text, text)
            message.source, message.line = app.env.doc2path(docname), 0
            doctree.append(message)
            return text

        return collect
    folders: list[str | None] = [str(Path(app.srcdir, folder)) for folder in app.config.locale_dirs]
    catalogue, _ = locale.init(folders, app.config.language, docname_to_domain(docname, app.config.gettext_compact))
    return lambda text: catalogue.gettext(text) if text else text  # of nothing, gettext has the catalogue's head


def translated(words: Any, translate: Callable[[str], str]) -> Any:
    """The same with every text in it translated."""
    if isinstance(words, dict):
        return {name: translated(part, translate) for name, part in words.items()}
    if isinstance(words, list):
        return [translated(part, translate) for part in words]
    return translate(words) if isinstance(words, str) else words


def translate_summaries(app: Sphinx, doctree: nodes.document) -> None:
    """Translate what stands in a `<summary>`."""
    translate = translator(app, doctree)
    for html in list(doctree.findall(nodes.raw)):
        if SUMMARY.search(html.astext()):
            html[:] = [nodes.Text(SUMMARY.sub(lambda summary: translate(summary[0]), html.astext()))]


def setup(app: Sphinx) -> None:
    """Register the hook, before the site adds folds of its own."""
    app.connect("doctree-read", translate_summaries, priority=400)

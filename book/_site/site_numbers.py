"""The number of a chapter before its title, from its file's name: heading, side bar, browser title, links, search."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

CHAPTER = re.compile(r"notebooks/(\d\d)_\w+")
BEFORE_TITLES_ARE_COLLECTED = 400  # Sphinx's own collector has 500


def number_of(docname: str) -> str:
    """The two digits of a chapter, "" for any other page."""
    match = CHAPTER.fullmatch(docname)
    return match[1] if match else ""


def number_title(app: Sphinx, doctree: nodes.document) -> None:
    """Write the number into the page's title, from which Sphinx makes all others; its anchor stays."""
    if number := number_of(app.env.docname):
        title = next(doctree.findall(nodes.title))
        title.insert(0, nodes.Text(f"{number} "))


def setup(app: Sphinx) -> None:
    """Register the hook."""
    app.connect("doctree-read", number_title, priority=BEFORE_TITLES_ARE_COLLECTED)

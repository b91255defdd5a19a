"""Numbers in the pages: a chapter's before its title, and long ones, which no line may break.

A chapter's number comes from its file's name, and stands in heading, side bar, browser title, links and search.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

CODE = (nodes.literal, nodes.math, nodes.math_block, nodes.raw, nodes.FixedTextElement)
THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
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


def keep_together(_app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    """Put a narrow space that no line breaks at between the thousands of 10 000."""
    for text in list(doctree.findall(nodes.Text)):
        kept = THOUSANDS.sub("\u202f", text)
        if kept != text and not isinstance(text.parent, CODE):
            text.parent.replace(text, nodes.Text(kept))


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-resolved", keep_together, priority=950)  # after what looks for words in the text
    app.connect("doctree-read", number_title, priority=BEFORE_TITLES_ARE_COLLECTED)

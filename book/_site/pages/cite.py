"""A BibTeX entry at the end of each chapter, once the repository has an address (`make address`)."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx

from book._site.reference.directives import ROOT
from book._site.words import words
from tools.address import site

CHAPTER = re.compile(r"notebooks/(\d\d)_\w+")
FOLD = """<details><summary>{name}</summary>
<div class="highlight-bibtex notranslate"><div class="highlight"><pre>{entry}</pre></div></div></details>
"""


def entry(page: str, title: str, url: str) -> str:
    """The entry of a chapter, of the edition that CITATION.cff describes."""
    book = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    number = CHAPTER.fullmatch(page)[1]  # type: ignore[index]
    fields = {
        "author": " and ".join(f"{{{author['name']}}}" for author in book["authors"]),
        "title": f"{{{title.removeprefix(number).strip()}}}",
        "booktitle": f"{{{book['title']}}}",
        "chapter": number,
        "year": str(book["date-released"])[:4],
        "note": f"Version {book['version']}",
        "url": f"{site(url)}/{page}.html",
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@incollection{{turn_by_turn_{number},\n{lines}}}"


def add(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Put it under a chapter, folded."""
    url = app.config.html_theme_options.get("repository_url")
    if url and CHAPTER.fullmatch(pagename):
        title = app.env.titles[pagename].astext()
        context["body"] += FOLD.format(name=words("pages")["cite"], entry=escape(entry(pagename, title, url)))


def setup(app: Sphinx) -> None:
    """Register the hook."""
    app.connect("html-page-context", add)

"""Short Markdown as HTML, for what is put on a finished page; and its words, from backlinks.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

WORDS = json.loads((Path(__file__).parent / "backlinks.json").read_text(encoding="utf-8"))


class Snippet(nodes.General, nodes.Element):
    """HTML of the site's own on a page, in `html`. It holds no text: neither search nor outline finds a word in it."""


def _math(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return rf'<span class="math notranslate nohighlight">\({escape(tokens[index].content)}\)</span>'


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin)
    parser.add_render_rule("math_inline", _math)
    return parser


def inline_html(markdown: str) -> str:
    """One paragraph of Markdown with formulas, as Sphinx would write it for MathJax."""
    return str(_parser().renderInline(" ".join(markdown.split())))


def to_root(pagename: str) -> str:
    """The way from a page to the root of the site."""
    return "../" * pagename.count("/")


def chapter_of(pagename: str) -> str:
    """The number of a chapter's page; empty for any other."""
    folder, _, name = pagename.rpartition("/")
    return name[:2] if folder == "notebooks" and name[:2].isdigit() else ""


def _write(translator: HTML5Translator, node: Snippet) -> None:
    translator.body.append(node["html"])


def _leave(translator: HTML5Translator, node: Snippet) -> None:
    """It has no content."""


def setup(app: Sphinx) -> None:
    """Register the node and the script that closes what it opens."""
    app.add_node(Snippet, html=(_write, _leave))
    app.add_js_file("posenc/backlinks.js", loading_method="defer")

"""A mark at the heading of each section that a claim names: how many claims it settles, and on a click which."""

from __future__ import annotations

from collections import defaultdict
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book._site.reference.directives import CLAIMS, VERDICTS
from book._site.reference.snippets import WORDS, Snippet, chapter_of, inline_html, to_root
from book.claims import evidence


def claims_of(chapter: str) -> dict[str, list[Any]]:
    """The claims that are told in each section of a chapter, by the section's anchor."""
    found = defaultdict(list)
    for claim in evidence.load_manifest():
        if claim.chapter == chapter and claim.section:
            found[claim.section].append(claim)
    return found


def _line(claim: Any, page: str) -> str:
    verdict = f'<a href="{page}#{claim.id.lower()}">{claim.id} {VERDICTS[claim.verdict]}</a>'
    return f'<li class="posenc-verdict-{claim.verdict.lower()}">{inline_html(claim.sentence)} {verdict}</li>'


def mark(claims: list[Any], title: str, pagename: str) -> str:
    """The mark as HTML: a fold, so that it opens without a script; `title` is the section's, to be heard."""
    words = WORDS["mark"]
    page = f"{to_root(pagename)}book/claims.html"
    count = words["count"][len(claims) != 1].format(count=len(claims))
    more = words["all"].format(chapter=claims[0].chapter)
    return (
        f'<details class="posenc-aside"><summary>{count}<span class="posenc-heard">'
        f"{escape(words['of'].format(title=title))}</span></summary>"
        f'<div class="posenc-card"><ul>{"".join(_line(claim, page) for claim in claims)}</ul>'
        f'<p><a href="{page}?chapter={claims[0].chapter}">{more}</a></p></div></details>'
    )


def note_claims(app: Sphinx, doctree: nodes.document) -> None:
    """A chapter is read again when a claim changes."""
    if chapter_of(app.env.docname):
        for path in CLAIMS.glob("manifest/*.toml"):
            app.env.note_dependency(str(path))


def put_marks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Each mark before its heading, outside of it and of a fold that has the heading as its summary.

    Only now: what has read the page by now takes a section's first part for its title.
    """
    told = claims_of(chapter_of(docname))
    for section in list(doctree.findall(nodes.section)):
        claims = next((told[name] for name in (section.get("slug"), *section["ids"]) if name in told), None)
        if claims:
            [title, *_] = section.findall(nodes.title)
            section.insert(0, Snippet(html=mark(claims, title.astext(), docname)))
            section["classes"].append("posenc-marked")


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-read", note_claims)
    app.connect("doctree-resolved", put_marks, priority=900)

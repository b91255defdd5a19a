"""The first use of a glossary's term in a chapter leads to its entry, and shows it where the reader points.

Without a script it is an ordinary link. With one, backlinks.js shows the entry's sentence beside the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

from book._site.reference.glossary import ROOT, Term, terms_of
from book._site.reference.snippets import WORDS, Snippet, chapter_of, inline_html, to_root

GLOSSARY = ROOT / "book" / "glossary.md"
# In the glossary, but in running prose mostly everyday words, or what every student knows, or what chapter 01 is about:
# a line under them would be met too often and say too little.
PLAIN = {
    "base",
    "accuracy",
    "agreement",
    "angle",
    "attention",
    "batch",
    "bias",
    "buffer",
    "checkpoint",
    "concatenation",
    "configuration",
    "copying",
    "counting",
    "dial",
    "direction",
    "door",
    "explorable",
    "factor",
    "hand",
    "key",
    "layer",
    "layout",
    "loss",
    "packing",
    "padding",
    "pair",
    "plane",
    "position",
    "radian",
    "ramp",
    "scale",
    "scaling",
    "score",
    "section",
    "seed",
    "side",
    "slope",
    "spread",
    "surgery",
    "temperature",
    "token",
    "turn",
    "uniqueness",
    "value",
    "weight",
    "window",
}
OUTSIDE = (nodes.title, nodes.reference, nodes.literal, nodes.math, nodes.raw, nodes.FixedTextElement, nodes.table)
EXERCISE = re.compile(r"Exercise\b")
FOLD = re.compile(r"<(/?)details\b")


@cache
def _terms(changed: int) -> tuple[tuple[Term, re.Pattern[str]], ...]:
    found = [term for term in terms_of(GLOSSARY) if term.name not in PLAIN]
    return tuple((term, pattern(term)) for term in sorted(found, key=lambda term: -len(term.name)))


def pattern(term: Term) -> re.Pattern[str]:
    """How a term is written in a text: its name or its plural, small or, if its name begins so, with a capital."""
    words = [word.strip() for word in term.name.split(",")]
    forms = {form for word in words for form in (word, f"{word}s", re.sub("y$", "ies", word))}
    if term.said.casefold() in {form.casefold() for form in forms}:
        forms.add(term.said)
    either = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    # a name with a capital of its own, RoPE or FIRE, is written no other way
    flags = re.IGNORECASE if term.name.islower() else re.NOFLAG
    return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])", flags)


def running_texts(doctree: nodes.document) -> Iterator[tuple[str, nodes.Text]]:
    """The texts of a chapter's prose, each with its section: no heading, link, code, formula, exercise or fold."""
    depth = 0
    for node in list(doctree.findall()):
        if isinstance(node, nodes.raw):
            depth += sum(-1 if end else 1 for end in FOLD.findall(node.astext()))
        if not isinstance(node, nodes.Text) or depth or not node.parent:
            continue
        above = list(_above(node))
        sections = [each for each in above if isinstance(each, nodes.section)]
        if any(isinstance(each, OUTSIDE) for each in above) or not any(isinstance(e, nodes.paragraph) for e in above):
            continue
        if any("cell_output" in each.get("classes", ()) for each in above):
            continue
        if sections and not any(EXERCISE.match(each.next_node(nodes.title).astext()) for each in sections):
            yield str(sections[0].get("slug") or sections[0]["ids"][0]), node


def _above(node: nodes.Node) -> Iterator[nodes.Element]:
    while node.parent is not None:
        node = node.parent
        yield node


def card(term: Term, pagename: str) -> str:
    """The entry's sentence, shown beside the word and read after it."""
    entry = f"{to_root(pagename)}book/glossary.html#{term.anchor}"
    return (
        f'<div class="posenc-card posenc-gloss-card" id="gloss-{term.anchor}" hidden><p><strong>{escape(term.name)}'
        f'</strong> <span lang="zh">{escape(term.zh)}</span></p><p>{inline_html(term.definition)}</p>'
        f'<p><a href="{entry}" tabindex="-1">{WORDS["gloss"]["entry"]}</a></p></div>'
    )


def _link(term: Term, words: str, pagename: str) -> Snippet:
    entry = f"{to_root(pagename)}book/glossary.html#{term.anchor}"
    return Snippet(
        html=f'<a class="posenc-gloss" href="{entry}" aria-describedby="gloss-{term.anchor}">{escape(words)}</a>'
    )


def put_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Mark the first use of each term, unless that is in the section that explains it."""
    if not chapter_of(docname):
        return
    waiting = list(_terms(GLOSSARY.stat().st_mtime_ns))
    name = docname.rpartition("/")[2]
    met: list[Term] = []
    for section, text in running_texts(doctree):
        hits = []
        for term, written in waiting:
            hit = written.search(text)
            if hit and not any(hit.start() < end and start < hit.end() for start, end, _ in hits):
                hits.append((hit.start(), hit.end(), term))
        waiting = [(term, written) for term, written in waiting if all(term is not hit[2] for hit in hits)]
        hits = sorted((hit for hit in hits if hit[2].see != f"{name}#{section}"), key=lambda hit: hit[0])
        parts: list[nodes.Node] = []
        done = 0
        for start, end, term in hits:
            parts += [nodes.Text(text[done:start]), _link(term, text[start:end], docname)]
            done = end
        if hits:
            text.parent.replace(text, [*parts, nodes.Text(text[done:])])
            met += [term for _, _, term in hits]
    if met:
        [first, *_] = doctree.findall(nodes.section)
        first += Snippet(html="".join(card(term, docname) for term in met))


def note_glossary(app: Sphinx, doctree: nodes.document) -> None:
    """A chapter is read again when the glossary changes."""
    if chapter_of(app.env.docname):
        app.env.note_dependency(str(GLOSSARY))


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-read", note_glossary)
    app.connect("doctree-resolved", put_terms, priority=890)

"""The first use of a glossary's term in a chapter leads to its entry; terms.js shows the entry's sentence beside it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache

from docutils import nodes
from sphinx.application import Sphinx

from book._site.reference.directives import WORDS
from book._site.reference.glossary import ROOT, Term, terms_of

GLOSSARY = ROOT / "book" / "glossary.md"
# In the glossary, but in running prose mostly everyday words, or what every student knows, or what chapter 01 is about:
# a line under them would be met too often and say too little.
PLAIN = """
base bucket buffer configuration key layout loss packing padding query ramp score slope token truncation value
"""
OUTSIDE = (nodes.title, nodes.reference, nodes.literal, nodes.math, nodes.raw, nodes.FixedTextElement, nodes.table)
FOLD = re.compile(r"<(/?)details\b")


@cache
def _terms(changed: int) -> tuple[tuple[Term, re.Pattern[str]], ...]:
    found = [term for term in terms_of(GLOSSARY) if term.name not in PLAIN.split()]
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
        if not isinstance(node, nodes.Text) or depth:
            continue
        above = list(_above(node))
        sections = [each for each in above if isinstance(each, nodes.section)]
        prose = any(isinstance(each, nodes.paragraph) for each in above)
        output = any("cell_output" in each.get("classes", ()) for each in above)
        exercise = any(each["ids"][0].startswith("exercise-") for each in sections)  # in every language
        if sections and prose and not output and not exercise and not any(isinstance(each, OUTSIDE) for each in above):
            yield str(sections[0].get("slug") or sections[0]["ids"][0]), node


def _above(node: nodes.Node) -> Iterator[nodes.Element]:
    while node.parent is not None:
        node = node.parent
        yield node


def link_terms(doctree: nodes.document, docname: str) -> list[Term]:
    """Link the first use of each term, unless that is in the section that explains it; these terms."""
    waiting = list(_terms(GLOSSARY.stat().st_mtime_ns))
    folder, _, name = docname.rpartition("/")
    linked: list[Term] = []
    for section, text in running_texts(doctree):
        hits: list[tuple[int, int, Term]] = []
        for term, written in waiting:
            hit = written.search(text)
            if hit and not any(hit.start() < end and start < hit.end() for start, end, _ in hits):
                hits.append((hit.start(), hit.end(), term))
        waiting = [(term, written) for term, written in waiting if all(term is not hit[2] for hit in hits)]
        parts: list[nodes.Node] = []
        done = 0
        for start, end, term in sorted(hits, key=lambda hit: hit[0]):
            if term.see != f"{name}#{section}":
                entry = f"{'../' * docname.count('/')}book/glossary.html#{term.anchor}"
                link = nodes.reference("", text[start:end], refuri=entry, classes=["posenc-gloss"])
                parts += [nodes.Text(text[done:start]), link]
                linked.append(term)
                done = end
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[done:])])
    return linked


def cards(terms: Collection[Term], glossary: nodes.document, docname: str) -> Iterator[nodes.container]:
    """The glossary's sentences on terms, hidden until terms.js shows one."""
    says = {
        entry["ids"][0]: entry[1] for entry in glossary.findall(nodes.container) if "posenc-term" in entry["classes"]
    }
    for term in terms:
        head = nodes.paragraph("", "", nodes.strong("", term.name), nodes.Text(f" {term.zh}"))
        entry = f"{'../' * docname.count('/')}book/glossary.html#{term.anchor}"
        foot = nodes.paragraph("", "", nodes.reference("", WORDS["glossary"]["entry"], refuri=entry))
        body = [head, says[term.anchor].deepcopy(), foot]
        yield nodes.container("", *body, ids=[f"gloss-{term.anchor}"], classes=["posenc-gloss-card"])


def put_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link a chapter's terms, and add their cards at its end, in a build that has the glossary."""
    if "book/glossary" not in app.env.found_docs:
        return
    if re.match(r"notebooks/\d\d_", docname) and (terms := link_terms(doctree, docname)):
        doctree.next_node(nodes.section).extend(cards(terms, app.env.get_doctree("book/glossary"), docname))


def note_glossary(app: Sphinx, doctree: nodes.document) -> None:
    """A chapter is read again when the glossary changes."""
    if re.match(r"notebooks/\d\d_", app.env.docname):
        app.env.note_dependency(str(GLOSSARY))


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-read", note_glossary)
    app.connect("doctree-resolved", put_terms, priority=890)
    app.add_js_file("posenc/terms.js", loading_method="defer")

"""What the search looks through: the book's places, each a section, an entry of the glossary, a question or a claim.

Sphinx's own index knows pages only. This one stands beside it on the search page, where search.js asks it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from book._site.outputs.plotly_figure import script_json
from book._site.pages.numbers import number_of
from book._site.pages.search import SearchEnglishAndChinese
from book._site.reference.glossary import terms_of
from book._site.reference.terms import GLOSSARY

LANGUAGE = SearchEnglishAndChinese({})
ENTRIES = {"posenc-term", "posenc-answer", "posenc-claim"}
KINDS = (  # of pages, by how their names begin
    ("notebooks/assignments/", "assignment"),
    ("notebooks/common_mistakes", "mistakes"),
    ("book/glossary", "glossary"),
    ("book/questions", "questions"),
    ("book/claims", "claims"),
    ("book/about_the_notes", "notes"),
    ("book/package", "package"),
)
SCRIPT = "posenc/places.js"


@dataclass
class Place:
    """Something that a search can lead to: its own text is what stands in no place below it."""

    anchor: str
    title: str
    words: dict[str, int] = field(default_factory=dict)


def kind_of(docname: str) -> str:
    """What sort of page it is, by which its places are ranked."""
    if number_of(docname):
        return "chapter"
    return next((kind for start, kind in KINDS if docname.startswith(start)), "page")


def words_of(text: str) -> list[str]:
    """The stems of a text's words; numbers without gaps between their digits, and names also in their parts."""
    text = re.sub(r"(?<=\d)[ ,\u202f](?=\d{3}\b)", "", text)
    text += " " + " ".join(name.replace("_", " ") for name in re.findall(r"\w+_\w+", text))
    return [LANGUAGE.stem(word.lower()) for word in LANGUAGE.split(text)]


def _own_texts(node: nodes.Element) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif isinstance(child, nodes.raw) and 'lang="zh"' in child.astext():
            yield re.sub(r"<[^>]*>", " ", child.astext())
        elif not isinstance(child, (nodes.section, nodes.title, nodes.raw)) and not _is_entry(child):
            yield from _own_texts(child)


def _is_entry(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and bool(ENTRIES & set(node["classes"]))


def _title(node: nodes.Element) -> str:
    if isinstance(node, nodes.section):
        return node.next_node(nodes.title).astext()
    if "posenc-slug" in node:
        return str(node["posenc-slug"])
    return str(node["ids"][0]).upper()


def places_of(doctree: nodes.document) -> list[Place]:
    """The places of a page, the page itself first, without an anchor."""
    places: list[Place] = []
    for node in doctree.findall(lambda node: isinstance(node, nodes.section) or _is_entry(node)):
        title = _title(node)
        anchor = "" if not places else str(node.get("slug") or node["ids"][0])
        texts = [title, *_own_texts(node)]
        places.append(Place(anchor, title, dict(Counter(words_of("\n".join(texts))))))
    return places


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note the places of a page when it is read."""
    _noted(app.env)[app.env.docname] = places_of(doctree)


def _noted(env: BuildEnvironment) -> dict[str, list[Place]]:
    if not hasattr(env, "posenc_places"):
        env.posenc_places = {}  # type: ignore[attr-defined]
    places: dict[str, list[Place]] = env.posenc_places  # type: ignore[attr-defined]
    return places


def purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is read again."""
    _noted(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment) -> None:
    """Take over what another process has read."""
    _noted(env).update({name: _noted(other)[name] for name in docnames if name in _noted(other)})


def index(noted: dict[str, list[Place]]) -> dict[str, Any]:
    """What search.js asks: pages, places, in which places a word stands and how often, and the glossary's terms."""
    pages, places = [], []
    words: dict[str, list[int]] = defaultdict(list)
    number: dict[tuple[str, str], int] = {}
    for page, (docname, of_page) in enumerate(sorted(noted.items())):
        pages.append({"name": docname, "title": of_page[0].title if of_page else docname, "kind": kind_of(docname)})
        for place in of_page:
            number[docname, place.anchor] = len(places)
            for word, count in place.words.items():
                words[word] += [len(places), count]
            row = asdict(place) | {"page": page, "length": sum(place.words.values())}
            places.append({**row, "words": sorted(set(words_of(place.title)))})
    terms = []
    for term in terms_of(GLOSSARY):
        notebook, _, anchor = term.see.partition("#")
        explained = number.get((f"notebooks/{notebook}", anchor), number.get((f"notebooks/{notebook}", "")))
        entry = number.get(("book/glossary", term.anchor))
        name = term.name.casefold()
        short = [other for other in term.elsewhere if name.startswith(other.casefold())]
        other_names = [other for other in term.elsewhere if " " in other]
        names = [term.name, *short, *other_names, *([term.said] if term.said.casefold().startswith(name) else [])]
        terms.append({"names": names, "zh": term.zh, "explained": explained, "entry": entry})
    return {"pages": pages, "places": places, "words": words, "terms": terms}


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the index, as a script, which a page from disk can load too."""
    if exception is None and app.builder.format == "html":
        path = Path(app.outdir) / "_static" / SCRIPT
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"window.posencPlaces = {script_json(index(_noted(app.env)))};\n", encoding="utf-8")


def load(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load it on the search page only."""
    if pagename == "search":
        app.add_js_file(SCRIPT)
        app.add_js_file("posenc/search.js")


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-read", collect, priority=900)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)

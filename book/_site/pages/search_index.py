"""What the search looks through: the book's places, each a section, an entry of the glossary, a question or a claim.

Sphinx's own index knows pages only. This one stands beside it on the search page, where search.js asks it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

from book._site.outputs.plotly_figure import script_json
from book._site.reference.glossary import terms_of
from book._site.reference.terms import GLOSSARY

Found = tuple[dict[str, Any], Counter[str]]  # a place, and its words
ENGLISH = SearchEnglish({})
stem = cache(ENGLISH.stem)  # 20 times as many words as different ones
ENTRIES = {"posenc-term", "posenc-answer", "posenc-claim"}
# How much a find counts, by how its page's name begins.
WEIGHTS = (
    (r"notebooks/\d\d_", 1.0),
    (r"notebooks/common_mistakes|book/glossary", 0.35),
    (r"book/questions", 0.3),
    (r"book/package", 0.25),
    (r"notebooks/assignments/|book/claims", 0.2),
    (r"", 0.4),
)


def _bigrams(run: re.Match[str]) -> str:
    """Each two characters that follow one another, or the only one."""
    characters = run[0]
    return f" {' '.join(map(''.join, pairwise(characters))) or characters} "


def words_of(text: str) -> list[str]:
    """The stems of the words that a search asks for; numbers without gaps, names also in parts, Chinese in bigrams."""
    text = re.sub(r"(?<=\d)[ ,\u202f](?=\d{3}\b)", "", text)
    text += " " + " ".join(name.replace("_", " ") for name in re.findall(r"\w+_\w+", text))
    words = map(str.lower, ENGLISH.split(re.sub(r"[\u4e00-\u9fff]+", _bigrams, text)))
    return [stem(word) for word in words if word not in ENGLISH.stopwords]


def _is_place(node: nodes.Node) -> bool:
    is_entry = isinstance(node, nodes.container) and bool(ENTRIES & set(node["classes"]))
    return is_entry or isinstance(node, nodes.section)


def _own_texts(node: nodes.Element) -> Iterator[str]:
    """What stands in a place and in no place below it."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif isinstance(child, nodes.raw) and any(mark in child.astext() for mark in ('lang="zh"', "posenc-table")):
            yield re.sub(r"<[^>]*>", " ", child.astext())
        elif not isinstance(child, (nodes.title, nodes.raw, nodes.math, nodes.math_block)) and not _is_place(child):
            yield from _own_texts(child)


def _title(node: nodes.Element) -> str:
    if isinstance(node, nodes.section):
        return node.next_node(nodes.title).astext()
    return str(node.get("posenc-slug") or node["ids"][0].upper())  # a claim has no title but its number


def places_of(page: str, doctree: nodes.document) -> list[Found]:
    """The places of a page, with the words of each."""
    weight = next(weight for name, weight in WEIGHTS if re.match(name, page))
    places = []
    found = list(doctree.findall(_is_place))
    for node in found:
        title = _title(node)
        words = Counter(words_of("\n".join([title, *_own_texts(node)])))
        anchor, above = "", ""  # of the page itself
        if node is not found[0]:
            anchor, above = f"#{node.get('slug') or node['ids'][0]}", f"{_title(found[0])} › "
        place = {"page": page, "anchor": anchor, "title": above + title, "weight": weight}
        places.append((place | {"titled": sorted(set(words_of(title))), "length": words.total()}, words))
    return places


def index(pages: dict[str, list[Found]]) -> dict[str, Any]:
    """What search.js asks: places, in which of them a word stands and how often, and the glossary's terms."""
    places: list[dict[str, Any]] = []
    words: dict[str, list[int]] = defaultdict(list)  # the way from place to place, and minus how often, if not once
    last: Counter[str] = Counter()
    number: dict[str, int] = {}
    for place, counts in chain.from_iterable(pages[page] for page in sorted(pages)):
        for word, count in counts.items():
            words[word] += [len(places) - last[word], *([-count] if count > 1 else [])]
            last[word] = len(places)
        number[place["page"] + place["anchor"]] = len(places)
        places.append(place)
    terms = []
    for term in terms_of(GLOSSARY):
        see = f"notebooks/{term.see}"
        explained = number.get(see, number.get(see.partition("#")[0]))
        # names in other code are found as words; phrases and short forms, such as "ntk", are names of the term
        others = [name for name in term.elsewhere if " " in name or term.name.casefold().startswith(name.casefold())]
        entry = number.get(f"book/glossary#{term.anchor}")
        terms.append({"names": [term.name, *others], "zh": term.zh, "explained": explained, "entry": entry})
    return {"places": places, "words": words, "terms": terms}


def note(app: Sphinx, doctree: nodes.document) -> None:
    """Keep a page's places with what Sphinx remembers of it."""
    app.env.metadata[app.env.docname]["places"] = places_of(app.env.docname, doctree)


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the index, as a script, which a page from disk can load too."""
    if exception is None and app.builder.format == "html":
        path = Path(app.outdir) / "_static" / "posenc" / "places.js"
        path.parent.mkdir(exist_ok=True)
        places = index({name: app.env.metadata[name]["places"] for name in app.env.found_docs})
        path.write_text(f"window.posencPlaces = {script_json(places)};\n", encoding="utf-8")


def load(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Load it on the search page only."""
    if pagename == "search":
        app.add_js_file("posenc/places.js")
        app.add_js_file("posenc/search.js")


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("doctree-read", note, priority=999)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)

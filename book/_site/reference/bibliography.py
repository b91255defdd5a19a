"""Papers that a docstring names, as "Su et al. 2021": links to their entries in the bibliography.

Of several papers by one author in one year, it is the one whose title, in quotes, or address follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docutils import nodes
from pybtex.database import parse_file
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole

BIBLIOGRAPHY = Path(__file__).resolve().parents[2] / "references.bib"
PAGE = "book/references"  # where the bibliography stands, with each paper's key as its anchor
NAMED = re.compile(r"\b([A-Z][\w-]+)(\s+et\s+al\.|\s+and\s+[A-Z][\w-]+)?,?\s+((?:19|20)\d\d)\b")
FOLLOWS = re.compile(r'(?:,\s+"([^"]+)"|\s+\(([\w./]+)\))')


@dataclass(frozen=True)
class Paper:
    """An entry of the bibliography; `year` without the letter that tells apart papers of one author and year."""

    key: str
    authors: tuple[str, ...]
    year: str
    title: str
    url: str

    def is_named(self, first: str, others: str, year: str) -> bool:
        """Whether this is who is named, and when: `others` is "", "and" with a name, or "et al."."""
        named = [first, *others.split()[1:]]
        same = self.authors[0] == first and len(self.authors) > 2 if "al." in others else list(self.authors) == named
        return same and self.year == year


@cache
def papers() -> tuple[Paper, ...]:
    """All entries of the bibliography."""
    found = []
    for key, entry in parse_file(str(BIBLIOGRAPHY), bib_format="bibtex").entries.items():
        authors = tuple(" ".join(person.last_names).strip("{}") for person in entry.persons["author"])
        title = re.sub(r"[{}]", "", entry.fields["title"])
        found.append(Paper(key, authors, entry.fields["year"][:4], title, entry.fields.get("url", "")))
    return tuple(found)


def meant(named: re.Match[str]) -> list[Paper]:
    """Which papers of the bibliography it can be: none, one, or several where nothing that follows decides."""
    first, others, year = named.groups(default="")
    found = [paper for paper in papers() if paper.is_named(first, others, year)]
    more = FOLLOWS.match(named.string, named.end())
    if len(found) < 2 or not more:
        return found
    title, address = (" ".join((words or "").split()) for words in more.groups())
    return [paper for paper in found if (address in paper.url if address else paper.title.startswith(title))]


def with_sources(text: str) -> str:
    """A docstring in which the papers that it names have their keys beside them, in backticks as names of code have."""

    def marked(named: re.Match[str]) -> str:
        found = meant(named)
        return f"`{' '.join(named[0].split())} <{found[0].key}>`" if len(found) == 1 else named[0]

    return NAMED.sub(marked, text)


class Source(ReferenceRole):
    """`` :source:`Su et al. 2021 <su2021roformer>` ``: a link to the paper's entry, with its title as a hint."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The link; the page is read again when the bibliography changes."""
        self.env.note_dependency(str(BIBLIOGRAPHY))
        [title] = [paper.title for paper in papers() if paper.key == self.target]
        address = f"{self.env.app.builder.get_relative_uri(self.env.docname, PAGE)}#{self.target}"
        return [nodes.reference(self.rawtext, self.title, internal=True, refuri=address, reftitle=title)], []


def setup(app: Sphinx) -> None:
    """Register the role."""
    app.add_role("source", Source())

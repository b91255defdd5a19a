"""The glossary, the questions and the page about the source notes: MyST directives, and a reader of their sources.

`term` is an entry of the glossary, `term-finder` the ways to look one up, `question` a question with its answer folded
under it; `notes-verdicts` counts the verdicts on what the source notes say, and `notes-say` shows some of it. The
reader (`terms_of`, `questions_of`, `sections_of`) knows what a page's source says without Sphinx: the finder is made
from it, and tests compare it with the package and the chapters.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book._site.reference.directives import CLAIMS, ROOT, VERDICTS
from book.claims import evidence

NOTEBOOKS = ROOT / "notebooks"
DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,})\{(?P<kind>[\w-]+)\} *(?P<title>[^\n]*)\n(?P<body>.*?)^(?P=fence)$", re.M | re.S
)
OPTION = re.compile(r":(?P<name>[\w-]+): *(?P<value>.*)")
CODE = re.compile(r"(?P<name>[a-z]\w*(?:\.\w+)+)(?:\((?:(?P<argument>\w+)=?)?(?P<value>\"[^\"]*\")?\))?")


# ---- what the sources say -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """An entry of the glossary, as it is written."""

    name: str
    group: str
    definition: str
    zh: str
    see: str  # a notebook without its ending, "#", an anchor
    symbol: str = ""
    code: tuple[str, ...] = ()  # names in posenc, perhaps with an argument or its value in brackets
    elsewhere: tuple[str, ...] = ()  # names in other code; one with a space in it is a phrase
    said: str = ""  # the word for it in the section that explains it, where that is another

    @property
    def symbols(self) -> list[str]:
        """Its symbols one by one, each with its dollar signs."""
        return re.findall(r"\$[^$]+\$|[^,\s]+", self.symbol)

    @property
    def anchor(self) -> str:
        """The identifier of its card."""
        return nodes.make_id(self.name)


@dataclass(frozen=True)
class Question:
    """A question of the page of questions, as it is written."""

    text: str
    group: str
    answer: str

    @property
    def anchor(self) -> str:
        """The identifier of its answer."""
        return nodes.make_id(self.text)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def directives_of(page: Path, kind: str) -> list[tuple[str, str, dict[str, str], str]]:
    """Group, title, options and content of every directive of a kind on a page, in their order."""
    found = []
    group = ""
    for part in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)[1:]:
        group = part.partition("\n")[0].strip()
        for match in DIRECTIVE.finditer(part):
            if match["kind"] == kind:
                options, content = {}, []
                for line in match["body"].splitlines():
                    option = OPTION.fullmatch(line)
                    if option and not content:
                        options[option["name"]] = option["value"].strip()
                    elif line or content:
                        content.append(line)
                found.append((group, match["title"].strip(), options, "\n".join(content)))
    return found


def terms_of(page: Path) -> list[Term]:
    """The entries of a glossary."""
    return [
        Term(
            name=title,
            group=group,
            definition=content,
            zh=options["zh"],
            see=options["see"],
            symbol=options.get("symbol", ""),
            code=_listed(options.get("code", "")),
            elsewhere=_listed(options.get("elsewhere", "")),
            said=options.get("said", ""),
        )
        for group, title, options, content in directives_of(page, "term")
    ]


def questions_of(page: Path) -> list[Question]:
    """The questions of a page."""
    return [Question(title, group, content) for group, title, _, content in directives_of(page, "question")]


@cache
def _sections(notebook: Path, changed: int) -> dict[str, tuple[str, str]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    text = re.sub(r"^(`{3,}).*?^\1$", "", "\n\n".join(texts), flags=re.M | re.S)
    headings = list(re.finditer(r"^(#+) +(.+?)\s*$", text, flags=re.M))
    found = {}
    for number, heading in enumerate(headings):
        later = (
            after.start() for after in headings[number + 1 :] if len(after[1]) <= len(heading[1]) or heading[1] == "#"
        )
        found[default_slugify(heading[2])] = (heading[2], text[heading.start() : next(later, len(text))])
    return found


def sections_of(notebook: str) -> dict[str, tuple[str, str]]:
    """Title and text of every section of a notebook, by its anchor; the title's own ends where the first begins."""
    path = NOTEBOOKS / f"{notebook}.ipynb"
    return _sections(path, path.stat().st_mtime_ns)


def _link_to(see: str) -> str:
    """Markdown of a link to a section of a notebook: the chapter's number and the section's title."""
    notebook, _, anchor = see.partition("#")
    title = sections_of(notebook).get(anchor, (anchor,))[0]
    return f"[{notebook[:2]} {title}](../notebooks/{notebook}.ipynb#{anchor})"


def _shown(name: str) -> str:
    """Markdown of a name met elsewhere: code, or a phrase."""
    return name if " " in name else f"`{name}`"


# ---- directives ------------------------------------------------------------------------------------------------------


class _Marked(SphinxDirective):
    """A directive whose content is Markdown, and that can be linked to."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def _markdown(self, text: str, css: str) -> nodes.container:
        box = nodes.container(classes=[css])
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), self.content_offset, box)
        return box

    def _inline(self, text: str, css: str) -> nodes.inline:
        [paragraph] = self._markdown(text, css).children
        return nodes.inline("", "", *paragraph.children, classes=[css])

    def _target(self, node: nodes.Element, anchor: str, title: str) -> None:
        node["ids"] = [anchor]
        node["posenc-slug"] = title
        node["classes"].append("posenc-slugged")


class TermDirective(_Marked):
    """An entry: its name, 中文 and symbol; a sentence; its names in posenc and elsewhere; where it is explained."""

    option_spec = dict.fromkeys(("zh", "symbol", "code", "elsewhere", "see", "said"), directives.unchanged)

    def run(self) -> list[nodes.Node]:
        """The card."""
        name = self.arguments[0]
        card = nodes.container(classes=["posenc-term"])
        self._target(card, nodes.make_id(name), name)
        head = nodes.paragraph(classes=["posenc-term-head"])
        head += nodes.reference("", name, refuri=f"#{nodes.make_id(name)}", classes=["posenc-term-name"])
        if symbol := self.options.get("symbol"):
            head += self._inline(symbol, "posenc-term-symbol")
        head += nodes.raw("", f'<span class="posenc-term-zh" lang="zh">{self.options["zh"]}</span>', format="html")
        card += head
        card += self._markdown("\n".join(self.content), "posenc-term-says")
        foot = nodes.bullet_list(classes=["posenc-term-foot"])
        if codes := _listed(self.options.get("code", "")):
            foot += self._line(
                "in posenc ", [part for code in codes for part in (nodes.Text(", "), self._code(code))][1:]
            )
        if names := self.options.get("elsewhere"):
            foot += self._line(
                "elsewhere ", [self._inline(", ".join(map(_shown, _listed(names))), "posenc-term-names")]
            )
        foot += self._line("explained in ", [self._inline(_link_to(self.options["see"]), "posenc-term-see")])
        card += foot
        self.env.note_dependency(str(NOTEBOOKS / f"{self.options['see'].partition('#')[0]}.ipynb"))
        return [card]

    def _line(self, label: str, content: list[nodes.Node]) -> nodes.list_item:
        return nodes.list_item("", nodes.paragraph("", "", nodes.emphasis("", label), *content))

    def _code(self, code: str) -> nodes.Node:
        """A name of the package, linked to its reference where that is in the book."""
        match = CODE.fullmatch(code)
        if match is None:
            raise self.error(f"{code!r} is no name of the package")
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=f"posenc.{match['name']}", refwarn=False, refexplicit=True
        )
        link["refdoc"] = self.env.docname
        link += nodes.literal("", code)
        return link


class TermFinder(_Marked):
    """Folded lists of all entries of the page: by name, by symbol, by their names elsewhere, in Chinese."""

    required_arguments = 0
    has_content = False

    def run(self) -> list[nodes.Node]:
        """The four lists."""
        terms = terms_of(Path(self.env.doc2path(self.env.docname)))
        names = [(term.name, term) for term in terms]
        chinese = [(term.zh, term) for term in terms]
        symbols = [(symbol, term) for term in terms for symbol in term.symbols]
        elsewhere = [(_shown(name), term) for term in terms for name in term.elsewhere]
        found = [
            *self._fold("All terms, A to Z", sorted(names, key=lambda pair: pair[0].casefold())),
            *self._fold("By symbol", symbols),
            *self._fold("By a name met elsewhere", sorted(elsewhere, key=lambda pair: pair[0].strip("`").casefold())),
            *self._fold("中文", sorted(chinese, key=lambda pair: pair[0])),
        ]
        return [nodes.container("", *found, classes=["posenc-finder"])]

    def _fold(self, title: str, pairs: list[tuple[str, Term]]) -> list[nodes.Node]:
        box = nodes.bullet_list(classes=["posenc-finder-list"])
        for text, term in pairs:
            link = nodes.reference("", "", self._inline(text, "posenc-finder-name"), refuri=f"#{term.anchor}")
            rest = "" if text == term.name else f" {term.name}"
            box += nodes.list_item("", nodes.paragraph("", "", link, nodes.Text(rest)))
        return [nodes.raw("", f"<details><summary>{title}</summary>", format="html"), box, _end_of_fold()]


def _end_of_fold() -> nodes.raw:
    return nodes.raw("", "</details>", format="html")


class QuestionDirective(_Marked):
    """```{question} Why …?``` with the answer as its content, folded; its code is folded once more."""

    def run(self) -> list[nodes.Node]:
        """A fold; a link to it opens it, because its anchor is in what is folded."""
        text = self.arguments[0]
        answer = self._markdown("\n".join(self.content), "posenc-answer")
        for code in list(answer.findall(nodes.literal_block)):
            place = code.parent.index(code)
            begin = nodes.raw("", "<details><summary>The lines that show it</summary>", format="html")
            code.parent[place : place + 1] = [begin, code, _end_of_fold()]
        self._target(answer, nodes.make_id(text), text)
        return [
            nodes.raw("", "<details><summary>", format="html"),
            self._inline(text, "posenc-question"),
            nodes.raw("", "</summary>", format="html"),
            answer,
            _end_of_fold(),
        ]


class NotesVerdicts(SphinxDirective):
    """```{notes-verdicts} 002``` counts the verdicts on what one note says; without a number, on what all say."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A bar of verdicts over a list of them."""
        for path in CLAIMS.glob("manifest/*.toml"):
            self.env.note_dependency(str(path))
        note = self.arguments[0] if self.arguments else ""
        asked = {note} if note else set(evidence.NOTES)
        counts = Counter(claim.verdict for claim in evidence.load_manifest() if asked & set(claim.source))
        if not counts:
            raise self.error(f"no claim of a note {note!r}")
        total = sum(counts.values())
        words = ", ".join(f"{counts[name]} {text}" for name, text in VERDICTS.items() if counts[name])
        parts = "".join(
            f'<span class="posenc-verdict-{name.lower()}" style="flex-grow:{counts[name]}"></span>'
            for name in VERDICTS
            if counts[name]
        )
        bar = f'<div class="posenc-shares" role="img" aria-label="{total} claims: {words}">{parts}</div>'
        row = nodes.bullet_list(classes=["posenc-verdicts", "posenc-verdicts-of-notes"])
        for name, text in VERDICTS.items():
            if counts[name]:
                item = nodes.list_item(classes=[f"posenc-verdict-{name.lower()}"])
                item += nodes.paragraph("", "", nodes.strong("", str(counts[name])), nodes.Text(f" {text}"))
                row += item
        line = nodes.paragraph(
            "", "", nodes.strong("", str(total)), nodes.Text(" claims"), classes=["posenc-shares-total"]
        )
        return [line, nodes.raw("", bar, format="html"), row]


class NotesSay(_Marked):
    """```{notes-say} 002``` with numbers of claims as its content: what note 002 says, sorted by whether it holds."""

    def run(self) -> list[nodes.Node]:
        """Two lists, each sentence with its verdict, which leads to its card."""
        note = self.arguments[0]
        claims = {claim.id: claim for claim in evidence.load_manifest()}
        lists: dict[bool, list[str]] = {True: [], False: []}
        for claim_id in " ".join(self.content).split():
            claim = claims.get(claim_id)
            if claim is None or note not in claim.source:
                raise self.error(f"note {note} does not make the claim {claim_id}")
            told = f"- {claim.sentence} [{VERDICTS[claim.verdict]}](claims.md#{claim_id.lower()})"
            lists[claim.verdict == "TRUE"].append(told)
        found: list[nodes.Node] = []
        for holds, title in ((True, "It says rightly"), (False, "It is worth a second look where it says")):
            if lists[holds]:
                found += [
                    nodes.paragraph("", "", nodes.strong("", title)),
                    self._markdown("\n".join(lists[holds]), "said"),
                ]
        return [nodes.container("", *found, classes=["posenc-notes-say"])]


def register_slugs(app: Sphinx, doctree: nodes.document) -> None:
    """Let other pages link to a term or a question as to a heading, and be warned where it is missing."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for box in doctree.findall(nodes.container):
        if "posenc-slugged" in box["classes"]:
            slugs[box["ids"][0]] = (box.line, box["ids"][0], box["posenc-slug"])


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("term", TermDirective)
    app.add_directive("term-finder", TermFinder)
    app.add_directive("question", QuestionDirective)
    app.add_directive("notes-verdicts", NotesVerdicts)
    app.add_directive("notes-say", NotesSay)
    app.connect("doctree-read", register_slugs)

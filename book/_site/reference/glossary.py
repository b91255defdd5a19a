"""The glossary, the questions and the counts of the source notes: MyST directives, and a reader of their sources.

`term` is an entry of the glossary, `term-finder` the ways to look one up, `question` a question with its answer folded
under it; `notes-verdicts` counts the verdicts on what the source notes say. The reader (`terms_of`, `sections_of`)
knows what a page's source says without Sphinx: the finder is made from it, and tests compare it with the package and
the chapters.
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
from jinja2 import Template
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book._site.reference.directives import CLAIMS, ROOT, TEMPLATES, VERDICTS, WrittenDirective
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


def _term(name: str, group: str, options: dict[str, str], definition: str) -> Term:
    lists = {key: _listed(options.get(key, "")) for key in ("code", "elsewhere")}
    return Term(name, group, definition, **{**options, **lists})  # type: ignore[arg-type]


def terms_of(page: Path) -> list[Term]:
    """The entries of a glossary."""
    return [_term(title, group, options, content) for group, title, options, content in directives_of(page, "term")]


@cache
def sections_of(notebook: str) -> dict[str, tuple[str, str]]:
    """Title and text of every section of a notebook, by its anchor; the title's own ends where the first begins."""
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
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


def _link_to(see: str) -> str:
    """Markdown of a link to a section of a notebook: the chapter's number and the section's title."""
    notebook, _, anchor = see.partition("#")
    title = sections_of(notebook).get(anchor, (anchor,))[0]
    return f"[{notebook[:2]} {title}](../notebooks/{notebook}.ipynb#{anchor})"


def _shown(name: str) -> str:
    """Markdown of a name met elsewhere: code, or a phrase."""
    return name if " " in name else f"`{name}`"


# ---- directives ------------------------------------------------------------------------------------------------------

CARD = Template(
    """\
<a class="posenc-term-name" href="#{{ term.anchor }}">{{ term.name }}</a> {{ term.symbol }}
<span class="posenc-term-zh" lang="zh">{{ term.zh }}</span>

{{ term.definition }}

{% if codes %}
- *in posenc* {{ codes }}
{% endif %}
{% if names %}
- *elsewhere* {{ names }}
{% endif %}
- *explained in* {{ see }}
""",
    trim_blocks=True,
)


class TermDirective(WrittenDirective):
    """An entry: its name, 中文 and symbol; a sentence; its names in posenc and elsewhere; where it is explained."""

    required_arguments = 1
    option_spec = dict.fromkeys(("zh", "symbol", "code", "elsewhere", "see", "said"), directives.unchanged)

    def run(self) -> list[nodes.Node]:
        """The card."""
        term = _term(self.arguments[0], "", self.options, "\n".join(self.content))
        self.env.note_dependency(str(NOTEBOOKS / f"{term.see.partition('#')[0]}.ipynb"))
        text = CARD.render(
            term=term,
            codes=", ".join(f"{{py:obj}}`{code} <posenc.{CODE.fullmatch(code)['name']}>`" for code in term.code),
            names=", ".join(map(_shown, term.elsewhere)),
            see=_link_to(term.see),
        )
        card = self.box("posenc-term", text)
        for part, css in zip(card.children, ("posenc-term-head", "posenc-term-says", "posenc-term-foot"), strict=True):
            part["classes"].append(css)
        self.link_target(card, term.anchor, term.name)
        return [card]


class TermFinder(WrittenDirective):
    """Folded lists of all entries of the page: by name, by symbol, by their names elsewhere, in Chinese."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        """The four lists."""
        terms = terms_of(Path(self.env.doc2path(self.env.docname)))
        lists = {
            "All terms, A to Z": sorted(((term.name, term) for term in terms), key=_letters),
            "By symbol": [(symbol, term) for term in terms for symbol in term.symbols],
            "By a name met elsewhere": sorted(
                ((_shown(name), term) for term in terms for name in term.elsewhere), key=_letters
            ),
            "中文": sorted(((term.zh, term) for term in terms), key=_letters),
        }
        found = self.box("posenc-finder", FINDER.render(lists=lists))
        for each in found.findall(nodes.bullet_list):
            each["classes"].append("posenc-finder-list")
        return [found]


FINDER = Template(
    """\
{% for title, entries in lists.items() %}
<details><summary>{{ title }}</summary>

{% for name, term in entries %}
- <a href="#{{ term.anchor }}">{{ name }}</a>{{ " " + term.name if name != term.name }}
{% endfor %}

</details>

{% endfor %}
""",
    trim_blocks=True,
)


def _letters(entry: tuple[str, Term]) -> str:
    return entry[0].strip("`").casefold()


class QuestionDirective(WrittenDirective):
    """```{question} Why …?``` with the answer as its content, folded; its code is folded once more."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A fold; a link to it opens it, because its anchor is in what is folded."""
        [question] = self.markdown(self.arguments[0])
        answer = self.box("posenc-answer", "\n".join(self.content))
        for code in list(answer.findall(nodes.literal_block)):
            place = code.parent.index(code)
            code.parent[place : place + 1] = _fold([nodes.Text("The lines that show it")], code)
        self.link_target(answer, nodes.make_id(self.arguments[0]), self.arguments[0])
        return _fold([nodes.inline("", "", *question.children, classes=["posenc-question"])], answer)


def _fold(summary: list[nodes.Node], content: nodes.Node) -> list[nodes.Node]:
    begin, between, end = (
        nodes.raw("", html, format="html") for html in ("<details><summary>", "</summary>", "</details>")
    )
    return [begin, *summary, between, content, end]


SHARES = TEMPLATES.from_string("""\
<p class="posenc-shares-total"><strong>{{ shares | sum(attribute=1) }}</strong> claims</p>
<div class="posenc-shares" role="img" aria-label="{{ shares | sum(attribute=1) }} claims: {{ words }}">
{% for name, count in shares %}
<span class="posenc-verdict-{{ name.lower() }}" style="flex-grow:{{ count }}"></span>
{% endfor %}
</div>
<ul class="posenc-verdicts posenc-verdicts-of-notes">
{% for name, count in shares %}
<li class="posenc-verdict-{{ name.lower() }}"><p><strong>{{ count }}</strong> {{ verdicts[name] }}</p></li>
{% endfor %}
</ul>""")


class NotesVerdicts(SphinxDirective):
    """```{notes-verdicts} 002``` counts the verdicts on what one note says; without a number, on what all say."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A bar of verdicts over a list of them."""
        for path in CLAIMS.glob("manifest/*.toml"):
            self.env.note_dependency(str(path))
        asked = set(self.arguments or evidence.NOTES)
        counts = Counter(claim.verdict for claim in evidence.load_manifest() if asked & set(claim.said_by))
        shares = [(name, counts[name]) for name in VERDICTS if counts[name]]
        words = ", ".join(f"{count} {VERDICTS[name]}" for name, count in shares)
        return [nodes.raw("", SHARES.render(shares=shares, words=words, verdicts=VERDICTS), format="html")]


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("term", TermDirective)
    app.add_directive("term-finder", TermFinder)
    app.add_directive("question", QuestionDirective)
    app.add_directive("notes-verdicts", NotesVerdicts)

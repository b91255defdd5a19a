"""MyST directives: `explorable` puts a live explorable on a prose page, `claims` lists the tested claims.

`claims-kept` counts how many of their verdicts the tests keep; `doctor` is the form of the doctor for configurations.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book._site.outputs.plotly_figure import script_json
from book.claims import evidence

ROOT = Path(__file__).resolve().parents[3]
CLAIMS = ROOT / "book" / "claims"

VERDICTS = {
    "TRUE": "true",
    "COND": "true under a condition",
    "MISL": "misleading",
    "FALSE": "false",
    "UNTESTED": "not tested here",
}
KINDS = {
    "executable": "a test runs it",
    "misprint": "a misprint, with nothing to run",
    "literature": "rests on what others measured",
    "untestable": "no test here can settle it",
}


class AnyTrait(dict[str, Callable[[str], Any]]):
    """An option specification that accepts every name: which traits exist is the widget's to say."""

    def __bool__(self) -> bool:
        return True  # an empty one would mean that the directive takes no options

    def __missing__(self, name: str) -> Callable[[str], Any]:
        return _trait_value


def _trait_value(text: str) -> Any:
    """A JSON value (`500`, `true`, `[1, 2]`); anything else is taken as the string it is."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


class Explorable(SphinxDirective):
    """```{explorable} DecayExplorer``` with one option for each trait that is to differ: `:base: 500`."""

    required_arguments = 1
    option_spec = AnyTrait()

    def run(self) -> list[nodes.Node]:
        """The same HTML as the widget gives in a notebook."""
        from posenc import widgets  # here: a fault in the package belongs to the page that needs it

        widget = getattr(widgets, self.arguments[0])(**self.options)
        return [nodes.raw("", widget.to_html(), format="html")]


class Doctor(SphinxDirective):
    """```{doctor}```: the form of the doctor for configurations, which js/doctor.js brings to life."""

    def run(self) -> list[nodes.Node]:
        """The form, whose buttons serve once the script has come; and what each level says."""
        from posenc._sentences import catalogue

        table = catalogue("doctor")
        words = {name: escape(text) for name, text in table["page"].items()}
        examples = "".join(
            f'<button type="button" data-example disabled>{escape(one["label"])}</button>' for one in table["examples"]
        )
        levels = "".join(
            f'<li class="posenc-doctor-{name.replace(" ", "-")}"><strong class="posenc-doctor-verdict">'
            f"{escape(name)}</strong>: {escape(meaning)}.</li>"
            for name, meaning in table["levels"].items()
        )
        html = f"""<form id="doctor-form">
<label for="doctor-text">{words["label"]}</label>
<textarea id="doctor-text" name="text" rows="12" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
<div class="posenc-doctor-row"><label for="doctor-length">{words["length"]}</label>
<input id="doctor-length" name="length" inputmode="numeric" autocomplete="off" placeholder="{words["all"]}">
<button type="submit" disabled>{words["button"]}</button></div>
<div class="posenc-doctor-row"><p>{words["examples"]}</p>{examples}</div>
<p role="status"></p>
</form>
<noscript><p>{words["without_script"]}</p></noscript>
<div id="doctor-answer"></div>
<ul class="posenc-doctor-list">{levels}</ul>"""
        return [nodes.raw("", html, format="html")]


def formula_words(markdown: str) -> str:
    r"""What a reader may type to find the formulas in a text: both θ and theta for \theta, and no braces."""

    def letter(match: re.Match[str]) -> str:
        try:
            return unicodedata.lookup(f"GREEK SMALL LETTER {match[1].upper()}")
        except KeyError:
            return f" {match[1]} "

    formulas = " ".join(re.findall(r"\$([^$]+)\$", markdown))
    formulas = re.sub(r"\\(?:mathrm|mathbf|text|operatorname)\b|[{}]", "", formulas)
    spelt = re.sub(r"(?<=[^\W_])\\(?=[A-Za-z])", " ", formulas)
    readings = (re.sub(r"\\([A-Za-z]+)", letter, formulas), re.sub(r"\\(?=[A-Za-z])", "", spelt))
    both = [" ".join(re.sub(r"\\.", " ", reading).split()) for reading in readings]
    return " ".join(dict.fromkeys(both))


def claim_filter(verdicts: Mapping[str, int], kinds: Mapping[str, int], chapters: Mapping[str, tuple[str, int]]) -> str:
    """The counts by verdict and kind as HTML, around the controls that claims.js brings to life."""
    html = '<form id="claim-filter" role="search" aria-label="Filter the claims">'
    for group, legend, counts, names in (
        ("verdict", "Verdicts", verdicts, VERDICTS),
        ("kind", "How they are decided", kinds, KINDS),
    ):
        boxes = "".join(
            f'<li class="posenc-{group}-{name.lower()}"><label>'
            f'<input type="checkbox" name="{group}" value="{name.lower()}" hidden> '
            f"<strong>{count}</strong> {names[name]}</label></li>"
            for name, count in counts.items()
            if count
        )
        html += f'<fieldset><legend>{legend}</legend><ul class="posenc-verdicts">{boxes}</ul></fieldset>'
    options = "".join(
        f'<option value="{number}">{escape(title)} ({count})</option>' for title, (number, count) in chapters.items()
    )
    return f"""{html}<div class="posenc-claim-fields" hidden>
<label>Words <input type="search" name="words" autocomplete="off" spellcheck="false"></label>
<label>Chapter <select name="chapter"><option value="">all chapters</option>{options}</select></label>
<button type="reset">Show all</button></div>
<p id="claim-count" role="status">{sum(verdicts.values())} claims</p></form>"""


class _OfClaims(SphinxDirective):
    """A directive that says something of the claims of book/claims/manifest/."""

    def _note_dependencies(self) -> None:
        for path in sorted(CLAIMS.rglob("*")):
            if path.suffix in {".py", ".toml"}:
                self.env.note_dependency(str(path))

    def _markdown(self, text: str, css: str) -> nodes.Node:
        box = nodes.container(classes=[css])
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), self.content_offset, box)
        return box


class ClaimsKept(_OfClaims):
    """```{claims-kept}```: whose the claims are, what a test notices of an exchanged verdict, and what it does not."""

    def run(self) -> list[nodes.Node]:
        """Two paragraphs, each number counted now."""
        self._note_dependencies()
        claims = evidence.load_manifest()
        ours = sum(claim.source == (evidence.OURS,) for claim in claims)
        exchanged, unnoticed = len(evidence.exchanges()), evidence.unnoticed()
        kinds = " or ".join(f"“{KINDS[kind]}”" for kind in KINDS if any(claim.kind == kind for claim in unnoticed))
        where = f", all on the {len({claim.id for claim in unnoticed})} cards that say {kinds}" if unnoticed else ""
        run = [claim.verdict for claim in claims if claim.kind == "executable"]
        of_cases, of_readings = run.count("COND"), run.count("MISL") + run.count("FALSE")
        text = f"""\
Of the {len(claims)} claims here the notes make {len(claims) - ours}. The other {ours} are ours: they settle some of
those, or follow from one.

**What the tests keep.** Exchange each verdict for each of the others, one at a time: of {exchanged} exchanges the tests
let {len(unnoticed)} pass{where}. What no test keeps is which question to ask. On the {of_cases} cards *true under a
condition* that can be run we chose the conditions to try, on the {of_readings} *misleading* and *false* the weaker
readings. Both stand on the card, with what came of them."""
        return [self._markdown(text, "posenc-claims-kept")]


class Claims(_OfClaims):
    """```{claims}```: a card for each claim of book/claims/manifest/, and how many of each verdict and kind."""

    def run(self) -> list[nodes.Node]:
        """The summary and the cards, each figure computed now."""
        self._note_dependencies()
        claims = evidence.load_manifest()
        return [self._summary(claims), *(self._card(claim, evidence.evaluate(claim.id)) for claim in claims)]

    def _summary(self, claims: list[Any]) -> nodes.Node:
        """How many claims of each verdict and kind; with JavaScript the counts are the labels of a filter."""
        words = {claim.id.lower(): formula_words(f"{claim.sentence} {claim.note}") for claim in claims}
        chapters = sorted({(claim.chapter, claim.title) for claim in claims})
        html = claim_filter(
            {name: [claim.verdict for claim in claims].count(name) for name in VERDICTS},
            {name: [claim.kind for claim in claims].count(name) for name in KINDS},
            {title: (chapter, [claim.chapter for claim in claims].count(chapter)) for chapter, title in chapters},
        )
        data = script_json({name: text for name, text in words.items() if text})
        html += f'<script type="application/json" id="claim-formulas">{data}</script>'
        return nodes.raw("", html, format="html")

    def _card(self, claim: Any, found: evidence.Evidence) -> nodes.Node:
        anchor = claim.id.lower()
        kept = (f"posenc-{name}-{getattr(claim, name).lower()}" for name in ("verdict", "kind", "chapter"))
        card = nodes.container(ids=[anchor], classes=["posenc-claim", *kept])
        head = nodes.paragraph(classes=["posenc-claim-head"])
        # the number links to its own card, so that a reader can pass the address on
        head += nodes.reference("", claim.id, refuri=f"#{anchor}", classes=["posenc-claim-id"])
        head += nodes.inline("", VERDICTS[claim.verdict], classes=["posenc-claim-verdict"])
        card += head
        card += self._markdown(claim.sentence, "posenc-claim-sentence")
        card += self._markdown(claim.note, "posenc-claim-note")
        if found.tried:
            card += self._markdown(found.tried, "posenc-claim-tried")
        if found.figure:
            card += self._markdown(found.figure, "posenc-claim-figure")
        foot = nodes.paragraph(classes=["posenc-claim-foot"])
        source = "" if claim.source != (evidence.OURS,) else "ours, no note says it · "
        foot += nodes.Text(f"{KINDS[claim.kind]} · {source}{'told in ' if claim.link else 'told here only'}")
        if claim.link:
            foot += nodes.reference("", claim.title, refuri="../" * self.env.docname.count("/") + claim.link)
        card += foot
        return card


def register_claim_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Let other pages link to a card as to a heading, `claims.md#c105`, and be warned where it is missing."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for card in doctree.findall(nodes.container):
        if "posenc-claim" in card["classes"]:
            slugs[card["ids"][0]] = (card.line, card["ids"][0], card["ids"][0].upper())


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("explorable", Explorable)
    app.add_directive("claims", Claims)
    app.add_directive("claims-kept", ClaimsKept)
    app.add_directive("doctor", Doctor)
    app.connect("doctree-read", register_claim_anchors)

"""Two MyST directives: `explorable` puts a live explorable on a prose page, `claims` lists the tested claims."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = ROOT / "tests" / "claims"

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


def evidence_module() -> ModuleType:
    """The module tests/claims/evidence.py, which evaluates the claims' figures."""
    if str(CLAIMS) not in sys.path:
        sys.path.insert(0, str(CLAIMS))
    return importlib.import_module("evidence")


class Claims(SphinxDirective):
    """```{claims}```: a card for each claim of tests/claims/manifest/, and how many of each verdict and kind."""

    def run(self) -> list[nodes.Node]:
        """The summary and the cards, each figure computed now."""
        evidence = evidence_module()
        for path in sorted(CLAIMS.rglob("*")):
            if path.suffix in {".py", ".toml"}:
                self.env.note_dependency(str(path))
        claims = evidence.load_manifest()
        return [self._summary(claims), *(self._card(claim, evidence.evaluate(claim.id).figure) for claim in claims)]

    def _summary(self, claims: list[Any]) -> nodes.Node:
        summary = nodes.container()
        for attribute, names, css in (("verdict", VERDICTS, "verdict"), ("kind", KINDS, "kind")):
            row = nodes.bullet_list(classes=["posenc-verdicts"])
            for name, words in names.items():
                count = sum(getattr(claim, attribute) == name for claim in claims)
                if count:
                    item = nodes.list_item(classes=[f"posenc-{css}-{name.lower()}"])
                    item += nodes.paragraph("", "", nodes.strong("", str(count)), nodes.Text(f" {words}"))
                    row += item
            summary += row
        return summary

    def _markdown(self, text: str, css: str) -> nodes.Node:
        box = nodes.container(classes=[css])
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), self.content_offset, box)
        return box

    def _card(self, claim: Any, figure: str) -> nodes.Node:
        anchor = claim.id.lower()
        card = nodes.container(ids=[anchor], classes=["posenc-claim", f"posenc-verdict-{claim.verdict.lower()}"])
        head = nodes.paragraph(classes=["posenc-claim-head"])
        # the number links to its own card, so that a reader can pass the address on
        head += nodes.reference("", claim.id, refuri=f"#{anchor}", classes=["posenc-claim-id"])
        head += nodes.inline("", VERDICTS[claim.verdict], classes=["posenc-claim-verdict"])
        card += head
        card += self._markdown(claim.sentence, "posenc-claim-sentence")
        card += self._markdown(claim.note, "posenc-claim-note")
        if figure:
            card += self._markdown(figure, "posenc-claim-figure")
        foot = nodes.paragraph(classes=["posenc-claim-foot"])
        foot += nodes.Text(KINDS[claim.kind])
        if claim.link:
            up = "../" * self.env.docname.count("/")
            foot += nodes.Text(" · told in ")
            foot += nodes.reference("", claim.title, refuri=up + claim.link)
        else:
            foot += nodes.Text(f" · belongs to {claim.title}, which is not written yet")
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
    app.connect("doctree-read", register_claim_anchors)

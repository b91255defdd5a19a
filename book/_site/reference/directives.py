"""MyST directives for prose pages: `explorable`, `plot`, `claims`, and `doctor`, the form for configurations."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from jinja2 import Environment
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book._site.outputs.plotly_figure import plotly_html
from book._site.words import words
from book.claims import evidence

ROOT = Path(__file__).resolve().parents[3]
CLAIMS = ROOT / "book" / "claims"
TEMPLATES = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)

WORDS = words("reference")
VERDICTS, KINDS = WORDS["verdicts"], WORDS["kinds"]
NOTES = {note: WORDS["note"].format(note=note) for note in evidence.NOTES} | {evidence.OURS: WORDS["ours"]}


class WrittenDirective(SphinxDirective):
    """A directive that writes Markdown, and what it makes can be linked to."""

    final_argument_whitespace = True
    has_content = True

    def markdown(self, text: str) -> list[nodes.Node]:
        """The nodes of a text."""
        box = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), self.content_offset, box)
        return box.children

    def box(self, css: str, text: str) -> nodes.container:
        """A text in a box of a class."""
        return nodes.container("", *self.markdown(text), classes=css.split())

    @staticmethod
    def link_target(node: nodes.Element, anchor: str, title: str) -> None:
        """Give a node an address, as a heading has one."""
        node["ids"], node["posenc-slug"] = [anchor], title


def register_slugs(app: Sphinx, doctree: nodes.document) -> None:
    """Let other pages link to what a directive made, `glossary.md#rope`, and be warned where it is missing."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for node in doctree.findall(nodes.Element):
        if "posenc-slug" in node:
            slugs[node["ids"][0]] = (node.line, node["ids"][0], node["posenc-slug"])


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


class Living(WrittenDirective):
    """```{living} FrequencyBank``` with `:moves: distance`: a small picture that moves and leads to the link in it.

    Other options are as an explorable's. Its scripts come only when it nears the viewport.
    """

    required_arguments = 1
    option_spec = AnyTrait()

    def run(self) -> list[nodes.Node]:
        """The picture, out of reach of keyboard and pointer, and the link."""
        from posenc import widgets

        moves = self.options.pop("moves")
        figure = getattr(widgets, self.arguments[0])(**self.options).to_html()
        figure = re.sub(' style=".*?"', "", figure, count=1)
        figure = re.sub(r"(?<=<)figure|(?<=</)figure", "div", figure)
        small = f'inert class="posenc-explorable posenc-small" data-moves="{moves}"'
        figure = figure.replace('class="posenc-explorable"', small)
        box = self.box("posenc-living", "\n".join(self.content))
        box.insert(0, nodes.raw("", figure, format="html"))
        return [box]


class Plot(SphinxDirective):
    """```{plot}``` around Python that makes `figure`, one of `posenc.figures`: drawn as in a chapter."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The same HTML as a chapter's output has."""
        made: dict[str, Any] = {}
        exec("\n".join(self.content), made)
        figure = json.loads(made["figure"].to_json())
        return [nodes.raw("", plotly_html(figure, words("outputs")["needs_script"]), format="html")]


DOCTOR = TEMPLATES.from_string("""\
<form id="doctor-form">
<label for="doctor-text">{{ page.label }}</label>
<textarea id="doctor-text" name="text" rows="12" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
<div class="posenc-doctor-row"><label for="doctor-length">{{ page.length }}</label>
<input id="doctor-length" name="length" inputmode="numeric" autocomplete="off" placeholder="{{ page.all }}">
<button type="submit" disabled>{{ page.button }}</button></div>
<div class="posenc-doctor-row"><p>{{ page.examples }}</p>
{% for one in examples %}
<button type="button" data-example disabled>{{ one.label }}</button>
{% endfor %}
</div>
<p role="status"></p>
</form>
<noscript><p>{{ page.without_script }}</p></noscript>
<div id="doctor-answer"></div>
<ul class="posenc-doctor-list">
{% for name, meaning in levels.items() %}
<li class="posenc-doctor-{{ name.replace(" ", "-") }}">
<strong class="posenc-doctor-verdict">{{ names.levels[name] }}</strong>: {{ meaning }}.</li>
{% endfor %}
</ul>""")


class Doctor(SphinxDirective):
    """```{doctor}```: the form of the doctor for configurations, which js/doctor.js brings to life."""

    def run(self) -> list[nodes.Node]:
        """The form, whose buttons serve once the script has come; and what each level says."""
        from posenc._sentences import catalogue

        return [nodes.raw("", DOCTOR.render(catalogue("doctor")), format="html")]


# With JavaScript the counts are the labels of a filter.
FILTER = TEMPLATES.from_string("""\
<form id="claim-filter" role="search" aria-label="{{ filter.name }}">
{% for group, legend, names, counts in groups %}
<fieldset><legend>{{ legend }}</legend><ul class="posenc-verdicts">
{% for name, words in names.items() if counts[name] %}
<li class="posenc-{{ group }}-{{ name.lower() }}"><label>
<input type="checkbox" name="{{ group }}" value="{{ name.lower() }}" hidden>
<strong>{{ counts[name] }}</strong> {{ words }}</label></li>
{% endfor %}
</ul></fieldset>
{% endfor %}
<div class="posenc-claim-fields" hidden>
<label>{{ filter.words }} <input type="search" name="words" autocomplete="off" spellcheck="false"></label>
<label>{{ filter.chapter }} <select name="chapter"><option value="">{{ filter.all }}</option>
{% for (number, title), count in chapters %}
<option value="{{ number }}">{{ title }} ({{ count }})</option>
{% endfor %}
</select></label>
<button type="reset">{{ filter.reset }}</button></div>
<p id="claim-count" role="status">{{ filter.total.format(count=total) }}</p></form>""")


class Claims(WrittenDirective):
    """```{claims}```: a card for each claim of book/claims/manifest/, and how many of each verdict and kind."""

    def run(self) -> list[nodes.Node]:
        """The summary and the cards, each figure computed now."""
        for path in [*CLAIMS.rglob("*.py"), *CLAIMS.rglob("*.toml")]:
            self.env.note_dependency(str(path))
        claims = evidence.load_manifest()
        summary = FILTER.render(
            groups=[
                ("verdict", WORDS["filter"]["verdicts"], VERDICTS, Counter(claim.verdict for claim in claims)),
                ("kind", WORDS["filter"]["kinds"], KINDS, Counter(claim.kind for claim in claims)),
                ("note", WORDS["filter"]["notes"], NOTES, Counter(note for claim in claims for note in claim.said_by)),
            ],
            chapters=sorted(Counter((claim.chapter, claim.title) for claim in claims).items()),
            total=len(claims),
            filter=WORDS["filter"],
        )
        return [nodes.raw("", summary, format="html"), *map(self._card, claims)]

    def _card(self, claim: Any) -> nodes.Node:
        anchor, found = claim.id.lower(), evidence.evaluate(claim.id)
        kept = (f"posenc-{name}-{getattr(claim, name).lower()}" for name in ("verdict", "kind", "chapter"))
        card = nodes.container(classes=["posenc-claim", *kept, *(f"posenc-note-{note}" for note in claim.said_by)])
        self.link_target(card, anchor, claim.id)
        card["ids"] += [number.lower() for number in claim.also]
        head = nodes.paragraph(classes=["posenc-claim-head"])
        # the number links to its own card, so that a reader can pass the address on
        head += nodes.reference("", ", ".join(claim.ids), refuri=f"#{anchor}", classes=["posenc-claim-id"])
        head += nodes.inline("", VERDICTS[claim.verdict], classes=["posenc-claim-verdict"])
        card += head
        texts = {"sentence": claim.sentence, "note": claim.note, "tried": found.tried, "figure": found.figure}
        quoted = "\n\n".join(f"**{note}** {words}" for note, words in claim.original.items())
        texts = {"original language-zh": quoted, **texts}
        card += [self.box(f"posenc-claim-{name}", text) for name, text in texts.items() if text]
        foot = nodes.paragraph(classes=["posenc-claim-foot"])
        source = "" if claim.original else WORDS["card"]["ours"]
        foot += nodes.Text(f"{KINDS[claim.kind]} · {source}{WORDS['card']['told' if claim.link else 'only']}")
        if claim.link:
            foot += nodes.reference("", claim.title, refuri="../" * self.env.docname.count("/") + claim.link)
        card += foot
        return card


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("explorable", Explorable)
    app.add_directive("living", Living)
    app.add_directive("plot", Plot)
    app.add_directive("claims", Claims)
    app.add_directive("doctor", Doctor)
    app.connect("doctree-read", register_slugs)

"""The map: the MyST directive `map`, which shows every scheme of `posenc.schemes` and `posenc.scaling` on one page.

Their descriptions are in map.toml, what is counted and measured in `map_facts`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from docutils import nodes
from jinja2 import Environment
from sphinx.application import Sphinx

from book._site.reference.directives import ROOT, WrittenDirective
from book._site.words import words
from book.claims import evidence

SAYS = words("reference")["map"]
UNFIXED = ("default", "dynamic_ntk")  # scalings that change nothing at the trained length
MARKDOWN = Environment(trim_blocks=True, lstrip_blocks=True)
POINTS = MARKDOWN.from_string("""\
:::::{grid} 1 2 4 4
:gutter: 2
:class-container: map-points

{% for point in points %}
::::{grid-item-card} {{ point.station }}
:class-card: map-{{ point.anchor }}

**[{{ point.title }}](#{{ point.anchor }})**

{{ point.enters }}

{% for label, anchor in point.schemes %}
[{{ label }}](the_map.md#{{ anchor }}){{ " ·" if not loop.last }}
{% endfor %}
::::

{% endfor %}
:::::
""")
CARD = MARKDOWN.from_string("""\
{{ words.says }}

${{ words.formula }}$

<dl>
{% for name, value in facts.items() %}
<div><dt>{{ name }}</dt><dd>{{ value }}</dd></div>
{% endfor %}
</dl>

{% if reach %}
<table>
<thead><tr><th scope="col">{{ says.length }}</th>
{%- for time in times %}<th scope="col">{{ time }}</th>{% endfor %}</tr></thead>
{% for label, rows in reach %}
<tbody><tr><th scope="rowgroup" colspan="5">{{ label }}</th></tr>
{% for measure, cells in rows.items() %}
<tr><th scope="row">{{ measure }}</th>
{% for cell in cells %}
{% if cell %}
<td style="--lost:{{ "%.2f" % cell.lost }}">{{ "%.2f" % cell.mean }}
<small>{{ "%.2f–%.2f" % (cell.minimum, cell.maximum) }}</small></td>
{% else %}
<td>–</td>
{% endif %}
{% endfor %}
</tr>
{% endfor %}
</tbody>
{% endfor %}
</table>

{% endif %}
`{{ name }}` · [{{ words.chapter }} {{ chapter[1] }}](../notebooks/{{ chapter[0] }}.ipynb)
{{- " · " ~ says.unmeasured if not reach }}
""")
CURVE = MARKDOWN.from_string("""\
<svg viewBox="0 0 200 52" aria-hidden="true">
{% for x, y in dots %}<circle cx="{{ "%.1f" % (4 + 192 * x) }}" cy="{{ "%.1f" % (46 - 36 * y) }}" r="1.7"/>{% endfor %}
</svg>""")


def ordered(known: Iterable[str], words: Iterable[str]) -> list[str]:
    """Names in the order of map.toml; the build stops if only one of map.toml and the package has a name."""
    if unknown := set(known) ^ set(words):
        raise ValueError(f"map.toml must have words for the schemes and scalings of posenc, see {sorted(unknown)}")
    return list(words)


def grouped(number: int) -> str:
    """A whole number, its thousands parted by narrow spaces."""
    return f"{number:,}".replace(",", "\u202f")


def cost_rows(name: str) -> dict[str, str]:
    """The costs on a scheme's card."""
    from book._site.reference.map_facts import cost

    found = cost(name)
    percent = f"{100 * found.share:.0f}" if found.share > 0.1 else f"{100 * found.share:.2g}"
    which = SAYS["by_content" if found.by_content else "by_position"]
    bias = f"{SAYS['bytes'].format(mebibytes=round(found.bias / 2**20))}<small>{which}</small>"
    return {
        SAYS["parameters"]: grouped(found.parameters) if found.parameters else SAYS["none"],
        SAYS["work"]: SAYS["share"].format(percent=percent) if found.share else SAYS["none"],
        SAYS["bias"]: bias if found.bias else SAYS["none"],
    }


class Map(WrittenDirective):
    """```{map} points```, `scalings`, or the name of an injection point: a part of the map."""

    required_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        """The diagram, or the cards of an injection point or of the scalings."""
        from book._site.reference.map_facts import SCHEMES, WORDS

        for folder in ("src/posenc", "book/_site/reference"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in {".py", ".json", ".toml"}:
                    self.env.note_dependency(str(path))
        part, schemes = self.arguments[0], ordered(SCHEMES, WORDS["schemes"])
        at = {point: [name for name in schemes if SCHEMES[name].injection_point == point] for point in WORDS["points"]}
        if part == "points":
            points = [
                words | {"schemes": [(WORDS["schemes"][name]["label"], nodes.make_id(name)) for name in at[point]]}
                for point, words in WORDS["points"].items()
            ]
            return self.markdown(POINTS.render(points=points))
        if part == "scalings":
            return self._scalings()
        return [self._scheme(name, f"map-{WORDS['points'][part]['anchor']}") for name in at[part]]

    def _scheme(self, name: str, css: str) -> nodes.section:
        from book._site.reference.map_facts import WORDS, reach

        words = WORDS["schemes"][name]
        measured = [reach(key) for key in words.get("reach", ())]
        return self._card(nodes.make_id(name), name, words, css, facts=cost_rows(name), reach=measured)

    def _scalings(self) -> list[nodes.Node]:
        from book._site.reference.map_facts import WORDS, pairs, scaling_reach, who
        from posenc.schemes import SCALINGS

        found: list[nodes.Node] = []
        for name in ordered(SCALINGS, WORDS["scalings"]):
            words, changed = WORDS["scalings"][name], pairs(name)
            example = SAYS["example"].format(model=words.get("model", "Llama-2-7b-hf"), length=words["length"])
            facts = {
                SAYS["pairs"]: f"{changed.words}{CURVE.render(dots=changed.dots)}<small>{example}</small>",
                SAYS["factor"]: f"{changed.attention_factor:.4g}",
                SAYS["models"]: ", ".join(who().get(name, [SAYS["no_model"]])),
            }
            anchor, first = nodes.make_id(f"scaling-{name}"), "1×" if name in UNFIXED else "1×, s = 4"
            card = self._card(anchor, name, words, "map-scaling", facts=facts, reach=scaling_reach(name), first=first)
            found.append(card)
        return found

    def _card(
        self, anchor: str, name: str, words: dict[str, Any], css: str, first: str = "1×", **parts: Any
    ) -> nodes.section:
        times = (first, "2×", "4×", "16×")
        chapter = evidence.PAGES[words["chapter"]].stem, evidence.CHAPTERS[words["chapter"]]
        text = CARD.render(name=name, says=SAYS, words=words, chapter=chapter, times=times, **parts)
        card = nodes.section("", nodes.title("", words["label"]), *self.markdown(text), classes=["map-card", css])
        self.link_target(card, anchor, words["label"])
        return card


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("map", Map)

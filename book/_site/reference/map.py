"""The map: the MyST directive `map`, which puts every scheme of `posenc.schemes` and `posenc.scaling` on one page.

What it says of them is in `map_facts`; a scheme that has no words there stops the build.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book._site.outputs.assets import FOLDER, _copy
from book._site.reference.directives import ROOT
from book._site.reference.map_facts import (
    DOORS,
    FACTOR,
    MEASURES,
    NARROW,
    RISE,
    SCALINGS,
    SCHEMES,
    SHAPE,
    SHOWN,
    Reach,
    Words,
    average,
    cost,
    extra_dimensions,
    grouped,
    pairs,
    reach,
    scaling_reach,
    sides_alike,
    who,
)
from book.claims import evidence

CARDS = "book/the_map"  # the page that has them; another page of book/ may show the diagram


# ---- numbers and small drawings -------------------------------------------------------------------------------------


def _about(number: float) -> str:
    """A number to two digits, in words where it is large."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.2g}{NARROW}{unit}" if number < 100 * size else f"{number / size:.0f}{NARROW}{unit}"
    return f"{number:.0f}"


def _times(number: float) -> str:
    return "stands still" if number == float("inf") else f"×{number:.3g}"


def _door_drawing(door: str) -> str:
    """An open door, or the triangle of a mask with a drop below it."""
    if door != "none":
        return (
            '<svg class="map-drawing" viewBox="0 0 64 56" aria-hidden="true" focusable="false">'
            '<path class="map-frame" d="M20 53V5h26v48M8 53h52"/>'
            '<path class="map-leaf" d="M20 5l17 7v44l-17-3z"/><circle class="map-knob" cx="33" cy="33" r="1.6"/>'
            '<path class="map-arrow" d="M64 30H45m6-5-6 5 6 5"/></svg>'
        )
    size, cells = 8, []
    for row in range(5):
        for column in range(5):
            css = "map-seen" if column <= row else "map-unseen"
            cells.append(
                f'<rect class="{css}" x="{10 + 9 * column}" y="{1 + 9 * row}" width="{size}" height="{size}"/>'
            )
    drop = '<path class="map-drop" d="M14 47c3 3.6 4 4.6 4 6a4 4 0 0 1-8 0c0-1.4 1-2.4 4-6z"/>'
    head = '<svg class="map-drawing" viewBox="0 0 64 58" aria-hidden="true" focusable="false">'
    return f"{head}{''.join(cells)}{drop}</svg>"


def _doors(page: str) -> str:
    """The diagram: the way of a token through attention, and at each door the schemes, whose cards are on `page`."""
    from posenc.schemes import SCHEMES as classes

    stations = []
    for door, (anchor, station, title, enters) in DOORS.items():
        chips = "".join(
            f'<li><a href="{page}#{_anchor(name)}">{escape(SCHEMES[name].label)}</a></li>'
            for name in _ordered(classes)
            if classes[name].injection_point == door
        )
        stations.append(
            f'<li class="map-door map-{anchor}"><p class="map-station">{station}</p>{_door_drawing(door)}'
            f'<p class="map-name"><a href="{page}#{anchor}">{title}</a></p>'
            f'<p class="map-enters">{enters}</p><ul class="map-chips">{chips}</ul></li>'
        )
    return (
        '<figure class="map-doors" aria-labelledby="map-caption"><ol>' + "".join(stations) + "</ol>"
        '<figcaption id="map-caption">The way of a word through attention, and the three doors by which its position '
        "can come in: at the input, at the query and key, at the logits. With all three shut, the causal mask still "
        "leaks it. Each name leads to its card.</figcaption></figure>"
    )


def _ordered(names: Iterable[str]) -> list[str]:
    """Names in the order in which this page tells them; one that it does not know stops the build."""
    names, order = list(names), list(SCHEMES)
    unknown = set(names) ^ set(order)
    if unknown:
        raise ValueError(f"map.toml must have words for the schemes of posenc.schemes and no others: {sorted(unknown)}")
    return sorted(names, key=order.index)


def _anchor(name: str) -> str:
    return nodes.make_id(name)


def _cell(values: list[float] | None, start: list[float], worse: int) -> str:
    """Mean and range over the seeds, shaded by how much is lost against the start."""
    if values is None:
        return '<td class="map-blank">not measured</td>'
    mean = average(values)
    lost = max(0.0, worse * (mean - average(start))) / (2 if worse > 0 else 1)
    spread = f"<small>{min(values):.2f}–{max(values):.2f}</small>"
    spread += f'<span class="map-paper">±{(max(values) - min(values)) / 2:.2f}</span>'
    return f'<td style="--lost:{min(1.0, lost):.2f}">{mean:.2f}{spread}</td>'


def _reach_table(found: Sequence[Reach], first: str, caption: str) -> str:
    heads = "".join(f'<th scope="col">{first if time == 1 else f"{time}×"}</th>' for time in SHOWN)
    bodies = []
    for one in found:
        rows = []
        for measure, words in MEASURES.items():
            columns = one.rows[measure]
            if not any(columns):
                rows.append(f'<tr><th scope="row">{words}</th><td class="map-blank" colspan="4">not measured</td></tr>')
                continue
            cells = "".join(_cell(column, one.start[measure], 1 if measure == "text" else -1) for column in columns)
            rows.append(f'<tr><th scope="row">{words}</th>{cells}</tr>')
        told = one.label + (f": loss holds to {one.holds}×" if one.holds > 1 else ": loss rises past 1×")
        told += "" if one.learned_to_copy else "; hardly learned to copy"
        head = f'<tr class="map-run"><th scope="rowgroup" colspan="5">{escape(told)}</th></tr>'
        bodies.append(f"<tbody>{head}{''.join(rows)}</tbody>")
    return (
        f'<table class="map-reach"><caption>{escape(caption)}</caption><thead><tr><th scope="col">text of</th>{heads}'
        f"</tr></thead>{''.join(bodies)}</table>"
    )


def _terms(rows: Mapping[str, str]) -> str:
    return (
        '<dl class="map-cost">'
        + "".join(f"<div><dt>{key}</dt><dd>{value}</dd></div>" for key, value in rows.items())
        + "</dl>"
    )


def cost_rows(name: str) -> dict[str, str]:
    """What a card says of a scheme's cost, by its headings."""
    from posenc.schemes import SCHEMES as classes

    found, once = cost(name), classes[name].injection_point == "input"
    percent = 100 * found.share
    share = f"{percent:.2g}" if percent < 100 else grouped(percent)
    growth = "once" if once else "growing" if found.grows else "any length"
    work = f"{share} % of attention<small>{_about(found.work)} a token, {growth}</small>"
    fused = "yes" if found.fused else "bias as its mask"
    if features := SCHEMES[name].features:
        name_of_it = features.replace("_", "_<wbr>")  # a long name breaks where its words end
        fused += f"<small>or {extra_dimensions(features)} more dimensions: <code>{name_of_it}</code></small>"
    whose = "for each sequence" if found.for_each_sequence else "for all sequences"
    models = "both" if found.causal is None else "decoders" if found.causal else "encoders"
    if found.causal is None and sides_alike(name):
        models += "<small>an encoder cannot tell a text from its mirror image</small>"
    return {
        "Parameters": grouped(found.parameters) if found.parameters else "none",
        "Extra work": work if found.work else "none",
        "Bias in memory": f"{grouped(found.bias / 2**20)} MiB a layer<small>{whose}</small>" if found.bias else "none",
        "Fused attention": fused,
        "Decoder, encoder": models,
    }


def _curve(name: str) -> str:
    """How many times more slowly each pair turns, from the fastest to the slowest, on a logarithmic scale."""
    import math

    from posenc.figures._drawing import pair_colours

    slower = pairs(name).slower
    width, height, top = 200, 52, max(4.0, *(s for s in slower if s != float("inf")))
    points, colours = [], pair_colours(len(slower))
    for index, (times, colour) in enumerate(zip(slower, colours, strict=True)):
        x = 4 + (width - 8) * index / (len(slower) - 1)
        if times == float("inf"):
            points.append(f'<path d="M{x:.1f} 5v5" stroke="{colour}"/>')
        else:
            y = height - 6 - (height - 12) * math.log(times) / math.log(top)
            points.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.7" fill="{colour}"/>')
    words = escape(f"{SCALINGS[name].label}: {slowing(name)}")
    return (
        f'<svg class="map-curve" viewBox="0 0 {width} {height}" role="img" aria-label="{words}">'
        f'<path class="map-axis" d="M2 {height - 6}H{width - 2}"/>{"".join(points)}</svg>'
    )


def slowing(name: str) -> str:
    """What happens to fast and slow pairs, in words."""
    slower = pairs(name).slower
    kept = sum(abs(times - 1) < 1e-9 for times in slower)
    still = slower.count(float("inf"))
    said = f"slower: fastest pair {_times(slower[0])}, slowest {_times(slower[-1])}"
    said += f"; {kept} of {len(slower)} as trained"
    return said + (f", {still} still" if still else "")


# ---- the directive --------------------------------------------------------------------------------------------------


class Map(SphinxDirective):
    """```{map} doors```, `reading`, `scalings`, or the name of a door: a part of the map."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The diagram, or the cards of a door or of the scalings."""
        for folder in ("src/posenc", "book/_site"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in {".py", ".json", ".toml"}:
                    self.env.note_dependency(str(path))
        part = self.arguments[0]
        if part == "doors":
            page = "" if self.env.docname == CARDS else "the_map.html"
            return [nodes.raw("", _doors(page), format="html")]
        if part == "reading":
            return self._parsed(reading())
        if part == "scalings":
            return [self._scaling_card(name) for name in _scalings()]
        from posenc.schemes import SCHEMES as classes

        if part not in DOORS:
            raise self.error(f"map must be one of doors, reading, scalings, {', '.join(DOORS)}, got {part}")
        return [self._scheme_card(name) for name in _ordered(classes) if classes[name].injection_point == part]

    def _parsed(self, text: str) -> list[nodes.Node]:
        box = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), self.content_offset, box)
        return box.children

    def _card(self, anchor: str, name: str, words: Words, css: str) -> nodes.section:
        card = nodes.section(ids=[anchor], names=[anchor], classes=["map-card", css])
        card += nodes.title("", words.label)
        self.state.document.note_explicit_target(card, card)
        says = nodes.container(classes=["map-says"])
        says += self._parsed(words.says)
        formula = nodes.paragraph("", "", nodes.math("", words.formula), classes=["map-formula"])
        return card.__iadd__([says, formula, self._foot(name, words)])

    def _foot(self, name: str, words: Words) -> nodes.paragraph:
        """The name in the package, and the chapter, linked once it is written."""
        foot = nodes.paragraph(classes=["map-foot"])
        foot += [nodes.literal("", name), nodes.Text(" · ")]
        page = next(evidence.NOTEBOOKS.glob(f"{words.chapter}_*.ipynb"), None)
        title = f"{words.chapter} {evidence.CHAPTERS[words.chapter]}"
        if page and f"notebooks/{page.stem}" in self.env.found_docs:
            up = "../" * self.env.docname.count("/")
            foot += nodes.reference("", title, refuri=f"{up}notebooks/{page.stem}.html")
        else:
            foot += nodes.Text(f"chapter {title}")
        return foot

    def _scheme_card(self, name: str) -> nodes.section:
        from posenc.schemes import SCHEMES as classes

        card = self._card(_anchor(name), name, SCHEMES[name], f"map-{DOORS[classes[name].injection_point].anchor}")
        if name == "rope":
            models = [model for models in who().values() for model in models]
            card += self._who(
                f"All {len(models)} models of `posenc.configs`; the [scalings](#scalings-of-rope) say which."
            )
        card += nodes.raw("", _terms(cost_rows(name)), format="html")
        if found := reach(name):
            card += nodes.raw("", _reach_table(found, "1×", "Reach, measured"), format="html")
        else:
            card["classes"].append("map-bare")
            card += nodes.paragraph("", "Reach: not measured here.", classes=["map-unmeasured"])
        return card

    def _who(self, text: str) -> nodes.container:
        return nodes.container("", *self._parsed(text), classes=["map-who"])

    def _scaling_card(self, name: str) -> nodes.section:
        card = self._card(_anchor(f"scaling-{name}"), name, SCALINGS[name], "map-scaling")
        if models := who().get(name):
            card += self._who(", ".join(f"`{model}`" for model in models))
        found = pairs(name)
        rows = {
            "Pairs": f"{slowing(name)}{_curve(name)}<small>{escape(found.example)}</small>",
            "Attention factor": f"{found.attention_factor:.4g}",
        }
        card += nodes.raw("", _terms(rows), format="html")
        if measured := scaling_reach(name):
            first = "1×" if name in ("default", "dynamic_ntk") else f"1×, by {FACTOR}"
            card += nodes.raw("", _reach_table(measured, first, "Reach, measured"), format="html")
        else:
            card["classes"].append("map-bare")
            card += nodes.paragraph("", "Reach: not measured here.", classes=["map-unmeasured"])
        return card


def _scalings() -> tuple[str, ...]:
    from posenc.schemes import SCALINGS as known

    if set(known) != set(SCALINGS):
        raise ValueError(f"map.toml must have words for the scalings {known} and no others")
    return tuple(SCALINGS)


def reading() -> str:
    """How to read a card, with the sizes that its numbers were taken at."""
    from posenc.lab.evaluate import BOUNDS, PUBLISHED_BOUNDS, TIMES
    from posenc.lab.runs import PROFILES, SEEDS

    large, small = PROFILES["full"], PROFILES["quick"]
    return f"""
- **Costs** are counted on the package, for a model {SHAPE.width} wide with {SHAPE.heads} heads of {SHAPE.head_dim} and
  {grouped(SHAPE.length)} tokens, in float32. *Parameters* are one set for all layers. *Extra work* is what the scheme
  adds in one layer: every number that the package writes, and for a product of matrices its multiplications and
  additions, in parts of the two products that attention itself takes; *growing* is what grows with the text. *Fused
  attention* never stores the scores, so that a bias has to be handed to it, or made on the way by a kernel that knows
  how.
- **Reach** was measured on small models, the mean over {len(SEEDS)} seeds, and the least and the greatest below it
  (on paper ± half of their difference). They were trained on {large.length} tokens, or where it says *small model* on
  {small.length}, and read {", ".join(map(str, SHOWN[:-1]))} and {SHOWN[-1]} times that. Compare within a model: the
  small one loses more everywhere. *Loss* is in nats per byte of held-out text; it *holds* as long as it has risen by at
  most {RISE}, which was also measured at {" and ".join(f"{time}×" for time in TIMES if time not in SHOWN)}, without a
  column here. *Copy* is the share of symbols copied right, *near* from a quarter of the trained length back, *far* from
  half of the whole text back. The stronger a cell's colour, the more is lost against the model as trained at 1×.
- **Scalings** were tried on two models with RoPE without any further training, each by the factor that the length
  asks for. By parts and YaRN had the upper bound of {BOUNDS["beta_fast"]:.0f} turns in place of
  {PUBLISHED_BOUNDS["beta_fast"]:.0f}: no pair makes so many in {large.length} tokens. The column *1×, by {FACTOR}* is
  the trained length scaled by {FACTOR} all the same.
""".strip()


def register_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Let other pages link to a card as to a heading, `the_map.md#rope`."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for card in doctree.findall(nodes.section):
        if "map-card" in card["classes"]:
            slugs[card["ids"][0]] = (card.line, card["ids"][0], card[0].astext())


def add_style(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """The map's own style sheet, where its diagram is."""
    if doctree is not None and any('class="map-doors"' in node.astext() for node in doctree.findall(nodes.raw)):
        app.add_css_file(f"{FOLDER}/map.css")


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Copy the style sheet, with the book's colours."""
    if exception or app.builder.format != "html":
        return
    palette = json.loads((ROOT / "src" / "posenc" / "js" / "palette.json").read_text(encoding="utf-8"))
    colours = "".join(f"--map-{name}:{value};" for name, value in palette.items() if isinstance(value, str))
    target = Path(app.outdir) / "_static" / FOLDER / "map.css"
    _copy(Path(__file__).with_name("map.css"), target)
    target.write_text(f":root{{{colours}}}\n{target.read_text(encoding='utf-8')}", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("map", Map)
    app.connect("doctree-read", register_anchors)
    app.connect("html-page-context", add_style)
    app.connect("build-finished", finish)

"""The roads through the book, from paths.toml: the MyST directive `road`, reading times, and what paths.js needs.

Without JavaScript a road is a list of links. With it, pages are marked as read, on the reader's own machine.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from book._site.outputs.assets import FOLDER
from book._site.reference.directives import ROOT
from posenc._sentences import say
from tools import reading
from tools.notebooks import joined, load

HERE = Path(__file__).resolve().parent
PATHS = HERE / "paths.toml"
WORDS = json.loads((HERE / "paths.json").read_text(encoding="utf-8"))
SUMMARY = "What we now know"  # the section of every chapter with which a stop that leaves something out ends


# ---- stops ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stop:
    """A page to read from its top, the heading where one leaps to its summary, what to see, and pictures to stop at."""

    page: str
    until: str = ""  # all of the spine without it
    what: str = ""
    looks: tuple[tuple[str, str], ...] = ()  # name of an explorable, and a step of its story or ""


@dataclass(frozen=True)
class Week:
    """What a course does in a week: chapters, and perhaps an assignment."""

    goal: str
    pages: tuple[str, ...]
    assignment: str = ""


@dataclass(frozen=True)
class Road:
    """A road by its name: stops, or weeks."""

    name: str
    title: str
    page: str
    stops: tuple[Stop, ...] = ()
    weeks: tuple[Week, ...] = ()

    @property
    def pages(self) -> list[str]:
        """The pages in the order in which they are read."""
        weekly = [[*week.pages, *filter(None, [week.assignment])] for week in self.weeks]
        return [stop.page for stop in self.stops] + [page for pages in weekly for page in pages]


def roads(path: Path = PATHS) -> dict[str, Road]:
    """All roads, by name."""
    by_name = {}
    for name, road in tomllib.loads(path.read_text(encoding="utf-8")).items():
        stops = tuple(
            Stop(
                stop["page"],
                stop.get("until", ""),
                stop["what"],
                tuple((look, step) for look, step in stop["looks"]),
            )
            for stop in road.get("stops", ())
        )
        weeks = tuple(
            Week(week["goal"], tuple(week["pages"]), week.get("assignment", "")) for week in road.get("weeks", ())
        )
        by_name[name] = Road(name, road["title"], road["page"], stops, weeks)
        if len(set(by_name[name].pages)) < len(by_name[name].pages):
            raise ExtensionError(f"{path.name}: the road {name} comes to a page twice: {by_name[name].pages}")
    return by_name


# ---- times ----------------------------------------------------------------------------------------------------------


def notebook_of(page: str) -> Path:
    """The file of a page that is a notebook."""
    return ROOT / f"{page}.ipynb"


def cells_of(stop: Stop) -> list[dict[str, Any]]:
    """The cells of a stop; ExtensionError where the chapter's spine has no such heading, or no summary."""
    cells = list(reading.spine(load(notebook_of(stop.page))["cells"]))
    if not stop.until:
        return cells
    places = {}
    for place, cell in enumerate(cells):
        heading = reading.HEADING.match(joined(cell["source"])) if cell["cell_type"] == "markdown" else None
        if heading:
            places[default_slugify(heading["title"].strip())] = place
    for anchor in (stop.until, default_slugify(SUMMARY)):
        if anchor not in places:
            raise ExtensionError(f"paths.toml: {stop.page} has no section {anchor} in its spine")
    last = places[default_slugify(SUMMARY)]
    following = min(place for place in places.values() if place > last)
    return cells[: places[stop.until]] + cells[last:following]


def minutes(stop: Stop) -> float:
    """How long a stop takes to read, by tools/reading.py, its code passed over."""
    return replace(reading.reading(cells_of(stop), folded=False), lines=0).minutes


def in_words(total: float) -> str:
    """Minutes as text, with hours from one on."""
    hours, rest = divmod(round(total), 60)
    return say(WORDS["hours" if hours else "minutes"], {"hours": hours, "minutes": rest})


# ---- the pictures ---------------------------------------------------------------------------------------------------


def look_at(stop: Stop, name: str, step: str) -> tuple[str, str]:
    """What a picture of a stop is called, and its address within the page; ExtensionError for one that is not there."""
    from posenc.widgets import EXPLORABLES  # here: a fault in the package belongs to the page that needs it

    classes = {cls.__name__: cls for cls in EXPLORABLES}
    cells = load(notebook_of(stop.page))["cells"]
    cell = next((one["id"] for one in cells if f"import {name}" in joined(one["source"])), None)
    if cell is None:
        raise ExtensionError(f"paths.toml: {stop.page} does not show {name}")
    words = classes[name].catalogue
    anchor = classes[name].module.replace("_", "-")
    if not step:
        return say(WORDS["look_opening"], {"title": words["title"]}), f"cell-{cell}"
    labels = {each["name"]: each["label"] for each in words["story"]}
    if step not in labels:
        raise ExtensionError(f"paths.toml: {name} has the steps {', '.join(labels)}, not {step}")
    return say(WORDS["look_step"], {"title": words["title"], "step": labels[step]}), f"{anchor}:story={step}"


# ---- the directive --------------------------------------------------------------------------------------------------


def _link(text: str, page: str, anchor: str = "") -> str:
    """Markdown of a link from a page in book/; an empty text is the title of the page or section."""
    return f"[{text}](../{page}.ipynb{f'#{anchor}' if anchor else ''})"


def _time(text: str) -> str:
    return f"*{text}*"


def stop_in_words(stop: Stop) -> str:
    """A stop as Markdown."""
    lines = [f"{_link('', stop.page)} · {_time(in_words(minutes(stop)))}", "", stop.what, ""]
    if stop.until:
        facts = {"heading": _link("", stop.page, stop.until), "summary": _link("", stop.page, default_slugify(SUMMARY))}
        lines.append(f"- {say(WORDS['read_until'], facts)}")
    else:
        lines.append(f"- {WORDS['read_spine']}")
    for name, step in stop.looks:
        title, anchor = look_at(stop, name, step)
        lines.append(f'- {WORDS["look"]}: <a href="../{stop.page}.html#{anchor}">{title}</a>')
    return "\n".join(lines)


def week_in_words(number: int, week: Week) -> str:
    """A week as Markdown."""
    short = [reading.of_spine(notebook_of(page)).minutes for page in week.pages]
    lines = [f"**{say(WORDS['week'], {'number': number})}.** {week.goal}", ""]
    for page, spine in zip(week.pages, short, strict=True):
        whole = reading.of_whole(notebook_of(page)).minutes
        time = say(WORDS["chapter_time"], {"short": round(spine), "whole": round(whole)})
        lines.append(f"- {_link('', page)} · {_time(time)}")
    if week.assignment:
        lines.append(f"- {_link('', week.assignment)}")
    return "\n".join(lines)


def in_all(road: Road) -> str:
    """The whole time: of all stops, or of all chapters of a course. Who adds up what the list says gets the same."""
    times = [minutes(stop) for stop in road.stops]
    times += [reading.of_spine(notebook_of(page)).minutes for week in road.weeks for page in week.pages]
    facts = {"count": len(times), "time": in_words(sum(map(round, times)))}
    return say(WORDS["all_chapters" if road.weeks else "all_stops"], facts)


class RoadDirective(SphinxDirective):
    """```{road} two_hours```: the stops of a road or the weeks of a course, each with its computed time."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A box for progress, the list, and the whole time."""
        road = roads()[self.arguments[0]]
        for path in (PATHS, HERE / "paths.json", *map(notebook_of, road.pages)):
            self.env.note_dependency(str(path))
        entries = [stop_in_words(stop) for stop in road.stops]
        entries += [week_in_words(number, week) for number, week in enumerate(road.weeks, 1)]
        box = nodes.raw("", f'<div class="posenc-road" data-road="{road.name}"></div>', format="html")
        listed = nodes.enumerated_list(classes=["posenc-stops"])
        for entry in entries:
            item = nodes.list_item()
            self.state.nested_parse(StringList(entry.splitlines(), source=self.env.docname), self.content_offset, item)
            listed += item
        time = nodes.paragraph()
        time += nodes.Text(in_all(road))
        return [time, box, listed]


# ---- what the pages need --------------------------------------------------------------------------------------------


def check_anchors(app: Sphinx, env: BuildEnvironment) -> None:
    """Stop the build at a page or section that the book does not have; minutes() and look_at() see to the rest."""
    for road in roads().values():
        for page in (road.page, *road.pages):
            if page not in env.found_docs:
                raise ExtensionError(f"paths.toml: the book has no page {page}")
        for stop in road.stops:
            if stop.until and stop.until not in env.metadata[stop.page].get("myst_slugs", {}):
                raise ExtensionError(f"paths.toml: {stop.page} has no section {stop.until}")


def add_script(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The script on the roads' own pages and on every page that a road comes to."""
    known = {page for road in roads().values() for page in (road.page, *road.pages)}
    if pagename in known:
        app.add_js_file(f"{FOLDER}/paths.js", loading_method="defer")


def write_script(app: Sphinx, exception: Exception | None) -> None:
    """The script, with the roads and its words before it, and its style sheet."""
    if exception or app.builder.format != "html":
        return
    titles = {page: title.astext() for page, title in app.env.titles.items()}
    data = {
        road.name: {
            "title": road.title,
            "page": road.page,
            "stops": [[page, titles[page]] for page in road.pages],
            "until": {stop.page: stop.until for stop in road.stops if stop.until},
        }
        for road in roads().values()
    }
    folder = Path(app.outdir) / "_static" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    script = (HERE / "paths.js").read_text(encoding="utf-8")
    given = {"roads": data, "summary": {"id": default_slugify(SUMMARY), "title": SUMMARY}, "words": WORDS}
    brought = f"window.posencRoads = {json.dumps(given, ensure_ascii=False)};\n"
    (folder / "paths.js").write_text(brought + script, encoding="utf-8")
    (folder / "paths.css").write_bytes((HERE / "paths.css").read_bytes())


def setup(app: Sphinx) -> None:
    """Register the directive and the hooks."""
    app.add_directive("road", RoadDirective)
    app.connect("env-check-consistency", check_anchors)
    app.connect("html-page-context", add_script)
    app.connect("build-finished", write_script)

"""The plans for those who teach, from plans.toml: the MyST directive `plan`, with times for reading."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from book._site.reference.directives import ROOT
from posenc._sentences import say
from tools import reading

PLANS = ROOT / "course" / "plans.toml"
TOLD = tomllib.loads(PLANS.read_text(encoding="utf-8"))
WORDS = TOLD["words"]


@dataclass(frozen=True)
class Session:
    """What a class does in one sitting: its chapters, and steps as (minutes, what)."""

    chapters: tuple[str, ...]
    steps: tuple[tuple[int, str], ...]

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return sum(minutes for minutes, _ in self.steps)


@dataclass(frozen=True)
class Week:
    """A week of a plan."""

    goal: str
    sessions: tuple[Session, ...]
    assignments: tuple[str, ...] = ()

    @property
    def chapters(self) -> list[str]:
        """The chapters to read before."""
        return [chapter for session in self.sessions for chapter in session.chapters]


def plans() -> dict[str, list[Week]]:
    """The weeks of every plan, by its name. A week's review comes first in its first session."""
    found = {}
    for name, plan in TOLD["plans"].items():
        weeks = []
        for week in plan["weeks"]:
            steps = [
                [tuple(step) for chapter in chapters for step in TOLD["chapters"][chapter]["steps"]]
                for chapters in week["sessions"]
            ]
            steps[0][:0] = [tuple(week["review"])] if "review" in week else []
            sessions = [Session(tuple(ch), tuple(st)) for ch, st in zip(week["sessions"], steps, strict=True)]
            weeks.append(Week(week["goal"], tuple(sessions), tuple(week.get("assignments", ()))))
        found[name] = weeks
    return found


def notebook_of(chapter: str) -> Path:
    """The file of a chapter."""
    return ROOT / "notebooks" / f"{chapter}.ipynb"


def minutes(chapter: str) -> float:
    """The time that a chapter's spine takes to read."""
    return reading.of_spine(notebook_of(chapter)).minutes


def in_words(total: float) -> str:
    """Minutes as hours and minutes."""
    hours, rest = divmod(round(total), 60)
    return say(WORDS["hours"], {"hours": hours, "minutes": rest})


def week_in_words(number: int, week: Week) -> list[str]:
    """A week as lines of Markdown."""
    time = round(sum(map(minutes, week.chapters)))
    lines = [f"**{say(WORDS['week'], {'number': number})}.** {week.goal}", ""]
    lines += [f"*{say(WORDS['before'], {'minutes': time})}*", ""]
    for chapter in week.chapters:
        alone = say(WORDS["chapter"], {"minutes": round(minutes(chapter))})
        goal = f"{WORDS['goal']}: {TOLD['chapters'][chapter]['goal']}"
        lines.append(f"- [](../notebooks/{chapter}.ipynb) · *{alone}* · {goal}")
    for place, session in enumerate(week.sessions, start=1):
        key = "session" if len(week.sessions) > 1 else "session_alone"
        lines += ["", f"*{say(WORDS[key], {'number': place, 'minutes': session.minutes})}*", ""]
        lines += [f"- {say(WORDS['chapter'], {'minutes': time})}: {what}" for time, what in session.steps]
    if week.assignments:
        links = ", ".join(f"[](../notebooks/assignments/{name}.ipynb)" for name in week.assignments)
        lines += ["", f"{WORDS['assignments']}: {links}"]
    return lines


class PlanDirective(SphinxDirective):
    """```{plan} six_weeks```: the weeks of a plan."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The list of weeks, and the whole time."""
        weeks = plans()[self.arguments[0]]
        chapters = [chapter for week in weeks for chapter in week.chapters]
        for path in (PLANS, *map(notebook_of, chapters)):
            self.env.note_dependency(str(path))
        sessions = [session for week in weeks for session in week.sessions]
        times = {
            "class_time": in_words(sum(session.minutes for session in sessions)),
            "reading_time": in_words(sum(map(minutes, chapters))),
        }
        lines = [say(WORDS["whole"], {"sessions": len(sessions), **times}), ""]
        for number, week in enumerate(weeks, start=1):
            lines += [*week_in_words(number, week), ""]
        told_here = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.env.docname), self.content_offset, told_here)
        return [told_here]


def setup(app: Any) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("plan", PlanDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

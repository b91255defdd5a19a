"""Run a chapter's cells in one namespace, as a reader does, without a kernel.

It keeps what the browser and nbval cannot show: the functions behind the
chapter's own sliders, and what the checking cell of an exercise says before and
after the solution is put in.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import IPython.display
import ipywidgets
import plotly.graph_objects as go
from ipywidgets.widgets.widget_float import _BoundedFloat, _BoundedLogFloat
from ipywidgets.widgets.widget_int import _BoundedInt
from ipywidgets.widgets.widget_selection import _Selection

from tools.notebooks import joined, load, tags

SOLUTION = re.compile(r"<summary>\s*Solution.*?```python\n(.*?)\n```", re.DOTALL)


@dataclass
class Exercise:
    """An exercise with a checking cell, and what the check said."""

    stub: str
    said_on_stub: str
    said_on_solution: str | None


@dataclass
class Walk:
    """What running a chapter's cells gave."""

    sliders: list[Slider] = field(default_factory=list)
    exercises: list[Exercise] = field(default_factory=list)


@dataclass
class Slider:
    """A function behind ``interact`` and its controls."""

    function: Callable[..., Any]
    controls: dict[str, ipywidgets.Widget]

    def settings(self) -> Iterator[dict[str, Any]]:
        """The opening setting, then every combination of the controls' ends."""
        yield {name: control.value for name, control in self.controls.items()}
        ends = [ends_of(control) for control in self.controls.values()]
        for values in itertools.product(*ends):
            yield dict(zip(self.controls, values, strict=True))


def ends_of(control: ipywidgets.Widget) -> list[Any]:
    """The ends of a slider; every choice of a selection or a checkbox."""
    if isinstance(control, ipywidgets.fixed):
        return [control.value]
    if isinstance(control, ipywidgets.Checkbox):
        return [False, True]
    if isinstance(control, _Selection):
        return [value for _, value in control._options_full]
    if isinstance(control, _BoundedLogFloat):
        return [control.base**control.min, control.base**control.max]
    if isinstance(control, (_BoundedInt, _BoundedFloat)):
        return [control.min, control.max]
    raise TypeError(f"no ends known for a {type(control).__name__}: add them here")


@contextlib.contextmanager
def shown() -> Iterator[list[Any]]:
    """Collect what is displayed instead of displaying it."""
    seen: list[Any] = []

    def display(*things: Any, **_: Any) -> None:
        seen.extend(things)

    with (
        patch.object(go.Figure, "show", lambda figure, *_, **__: seen.append(figure)),
        patch.object(go.Figure, "_ipython_display_", lambda figure: seen.append(figure)),
        patch.object(IPython.display, "display", display),
    ):
        yield seen


def figures(function: Callable[..., Any], setting: dict[str, Any]) -> list[go.Figure]:
    """The figures that ``function`` shows or returns at ``setting``."""
    with shown() as seen, contextlib.redirect_stdout(io.StringIO()):
        seen.append(function(**setting))
    return [thing for thing in seen if isinstance(thing, go.Figure)]


def solution_after(cells: list[dict], place: int) -> str | None:
    """The code of the folded solution between ``place`` and the next exercise."""
    for cell in cells[place + 1 :]:
        if "exercise" in tags(cell):
            return None
        if cell["cell_type"] == "markdown":
            match = SOLUTION.search(joined(cell["source"]))
            if match:
                return match[1]
    return None


def walk(path: Path) -> Walk:
    """Run the cells of the notebook at ``path`` in order; the solutions stay in the namespace."""
    result = Walk()
    namespace: dict[str, Any] = {"__name__": "__main__"}

    def capture(function: Callable[..., Any] | None = None, **controls: Any) -> Any:
        if function is None:
            return lambda decorated: capture(decorated, **controls)
        box = ipywidgets.interactive(function, **controls)
        names = [control._kwarg for control in box.kwargs_widgets]
        result.sliders.append(Slider(function, dict(zip(names, box.kwargs_widgets, strict=True))))
        return function

    def execute(cell: dict, source: str) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, f"{path.name}, cell {cell['id']}", "exec"), namespace)
        return printed.getvalue()

    cells = load(path)["cells"]
    stub = None
    with shown(), patch.object(ipywidgets, "interact", capture), contextlib.chdir(path.parent):
        for place, cell in enumerate(cells):
            if cell["cell_type"] != "code":
                continue
            said = execute(cell, joined(cell["source"]))
            if "exercise" in tags(cell):
                stub = place
            if "check" in tags(cell) and stub is not None:
                solution = solution_after(cells, stub)
                right = None
                if solution is not None:
                    execute(cells[stub], solution)
                    right = execute(cell, joined(cell["source"]))
                result.exercises.append(Exercise(cells[stub]["id"], said, right))
                stub = None
    return result

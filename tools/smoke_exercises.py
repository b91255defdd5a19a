"""Try out what a chapter leaves to its reader: its exercises with their solutions, and its sliders at their ends.

`tools.execute` runs this in a chapter's own kernel, once its last cell has run: the state is that which a reader has
who has come to the end. What it gives is kept beside the executed notebook, and the tests read it there.
"""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

from tools.notebooks import joined, tags

SOLUTION = re.compile(r"<summary>\s*Solution.*?```python\n(.*?)\n```", re.DOTALL)


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


def exercises(cells: list[dict]) -> list[dict[str, Any]]:
    """The exercises that have a checking cell: the ids of both cells, the folded solution, and the check's source."""
    tasks: list[dict[str, Any]] = []
    stub = None
    for place, cell in enumerate(cells):
        if "exercise" in tags(cell):
            stub = place
        if "check" in tags(cell) and stub is not None:
            names = {"stub": cells[stub]["id"], "check": cell["id"]}
            tasks.append({**names, "solution": solution_after(cells, stub), "source": joined(cell["source"])})
            stub = None
    return tasks


def ends_of(control: Any) -> list[Any]:
    """The ends of a slider; every choice of a selection or a checkbox."""
    import ipywidgets
    from ipywidgets.widgets.widget_float import _BoundedFloat, _BoundedLogFloat
    from ipywidgets.widgets.widget_int import _BoundedInt
    from ipywidgets.widgets.widget_selection import _Selection

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


def settings(controls: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The present setting, then every combination of the controls' ends."""
    yield {name: control.value for name, control in controls.items()}
    for values in itertools.product(*(ends_of(control) for control in controls.values())):
        yield dict(zip(controls, values, strict=True))


@contextlib.contextmanager
def shown() -> Iterator[list[Any]]:
    """Collect what is displayed instead of displaying it."""
    import IPython.display
    import plotly.graph_objects as go

    seen: list[Any] = []

    def display(*things: Any, **_: Any) -> None:
        seen.extend(things)

    with (
        patch.object(go.Figure, "show", lambda figure, *_, **__: seen.append(figure)),
        patch.object(go.Figure, "_ipython_display_", lambda figure: seen.append(figure)),
        patch.object(IPython.display, "display", display),
    ):
        yield seen


def figures(function: Callable[..., Any], setting: dict[str, Any]) -> list[Any]:
    """The figures that ``function`` shows or returns at ``setting``."""
    import plotly.graph_objects as go

    with shown() as seen, contextlib.redirect_stdout(io.StringIO()):
        seen.append(function(**setting))
    return [thing for thing in seen if isinstance(thing, go.Figure)]


def all_finite(figure: Any) -> bool:
    """Whether every number that the figure draws is finite, and there is one."""
    import numpy as np

    values = [
        np.asarray(trace[axis], dtype=float).ravel()
        for trace in figure.data
        for axis in ("x", "y", "z")
        if axis in trace and trace[axis] is not None and np.asarray(trace[axis]).dtype.kind in "iuf"
    ]
    return bool(values) and all(math.isfinite(v) for array in values for v in array)


def fault(function: Callable[..., Any], setting: dict[str, Any]) -> str:
    """What is wrong with the figure that a slider draws at a setting, or ``""``."""
    try:
        drawn = figures(function, setting)
    except Exception as error:  # it is reported, and a test fails on it
        return f"{type(error).__name__}: {error}"
    if len(drawn) != 1:
        return f"draws {len(drawn)} figures"
    return "" if all_finite(drawn[0]) else "draws a number that is not finite, or none"


def check_output(solution: str, check: str, namespace: dict[str, Any]) -> str:
    """What a check prints once a solution has run, or how that failed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, shown():
        try:
            exec(compile(solution, "<solution>", "exec"), namespace)
            printed.truncate(0)
            printed.seek(0)
            exec(compile(check, "<check>", "exec"), namespace)
        except Exception as error:  # as above
            return f"{printed.getvalue()}{type(error).__name__}: {error}"
    return printed.getvalue()


def try_out(namespace: dict[str, Any], tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """What a chapter's sliders draw at their ends, and what each check says once the solution took the stub's place."""
    import ipywidgets

    # not isinstance, which asks the thing: torch holds one that answers with a warning
    boxes = [thing for thing in gc.get_objects() if issubclass(type(thing), ipywidgets.interactive)]
    sliders = []
    for box in (box for box in boxes if box.comm is not None):  # one that was closed has none
        controls = {control._kwarg: control for control in box.kwargs_widgets}
        tried = [(setting, fault(box.f, setting)) for setting in settings(controls)]
        faults = [f"{setting}: {what}" for setting, what in tried if what]
        sliders.append({"controls": list(controls), "settings": len(tried), "faults": faults})
    checks = {
        each["stub"]: each["solution"] and check_output(each["solution"], each["source"], namespace) for each in tasks
    }
    return {"sliders": sliders, "checks": checks}

"""What each cell of the chapters gave when the book was built is what is stored in it, by nbval's own rules.

`pytest --nbval notebooks` says the same of a run of its own. Here no chapter runs again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbFile, coalesce_streams

from tools.execute import cached, chapters
from tools.notebooks import load

CELLS = [
    pytest.param(path, cell["id"], id=f"{path.stem}: {cell['id']}")
    for path in chapters()
    for cell in load(path)["cells"]
    if cell["cell_type"] == "code"
]


def differences(session: pytest.Session, path: Path, executed: NotebookNode) -> dict[str, str]:
    """How the outputs of each cell of an executed notebook differ from those stored at `path`; "" where they agree."""
    given = {cell.id: cell.outputs for cell in executed.cells if cell.cell_type == "code"}
    found = {}
    for item in IPyNbFile.from_parent(session, path=path).collect():
        outputs = (coalesce_streams(each) for each in (given[item.cell.id], item.cell.outputs))
        alike = not item.options["check"] or item.compare_outputs(*outputs)
        found[item.cell.id] = "" if alike else "\n".join(item.comparison_traceback)
    return found


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Callable[[Path], dict[str, str]]:
    """The differences of a chapter, from its one execution."""
    return cache(lambda path: differences(request.session, path, cached(path)))


@pytest.mark.parametrize(("path", "name"), CELLS)
def test_its_output_is_the_stored_one(path: Path, name: str, found: Callable[[Path], dict[str, str]]) -> None:
    difference = found(path)[name]
    assert not difference, f"{difference}\nTo store what it prints now: python -m tools.execute notebooks/{path.name}"

"""nbval as it comes: a wrong digit fails, a figure does not, whether it runs the cells itself or is given a run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import nbformat.v4 as v4
import pytest

from tests.book.nbval.test_stored_outputs import differences
from tools.execute import execute
from tools.notebooks import clean, dump

ROOT = Path(__file__).resolve().parents[3]
# Source, stored text, and whether the cell should pass.
CELLS = [
    ("print(1 / 3)", "0.3333333333333333\n", True),
    ("print(1 / 3)", "0.3333333333333334\n", False),
    ("print('more')", "", False),
    ("None", "less\n", False),
    ("import plotly.graph_objects as go\ngo.Figure()", "", True),
    ("from IPython.display import HTML\nHTML('<b>x</b>')", "", True),
    ("from ipywidgets import interact\ninteract(lambda x: print(x), x=(0, 10));", "", True),
    ("None", "", True),
]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """A notebook that stores those texts, and an execution of it; the cleaner has tagged what it shows."""
    path = tmp_path_factory.mktemp("nbval") / "compared.ipynb"
    cells = [v4.new_code_cell(source, id=f"cell-{k}") for k, (source, *_) in enumerate(CELLS)]
    nbformat.write(v4.new_notebook(cells=cells), path)
    executed = execute(path).notebook
    notebook = clean(executed)
    for cell, (_, text, _) in zip(notebook["cells"], CELLS, strict=True):
        cell["outputs"] = [v4.new_output("stream", text=text)] if text else []
    path.write_text(dump(notebook), encoding="utf-8")
    return path, executed


@pytest.mark.release
def test_texts_are_compared_strictly_and_figures_are_left_out(compared: tuple[Path, dict]) -> None:
    options = ["--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "-v"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", ROOT / "pyproject.toml", compared[0]],
        cwd=compared[0].parent,
        capture_output=True,
        text=True,
    )
    outcomes = re.findall(r"Cell \d+ (PASSED|FAILED)", result.stdout)
    assert outcomes == ["PASSED" if passes else "FAILED" for *_, passes in CELLS], result.stdout + result.stderr


def test_an_execution_is_compared_alike(compared: tuple[Path, dict], request: pytest.FixtureRequest) -> None:
    path, executed = compared
    found = differences(request.session, path, executed)
    assert [not words for words in found.values()] == [passes for *_, passes in CELLS], found

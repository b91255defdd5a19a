"""nbval as the book sets it up: a wrong digit fails, a figure or a widget does not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat.v4 as v4

from tools.notebooks import dump

ROOT = Path(__file__).resolve().parents[2]
# Source, stored text, and whether the cell should pass.
CELLS = [
    ("print(1 / 3)", "0.3333333333333333\n", True),
    ("print(1 / 3)", "0.3333333333333334\n", False),
    ("print('more')", "", False),
    ("import plotly.graph_objects as go\ngo.Figure()", "", True),
    ("from IPython.display import HTML\nHTML('<b>x</b>')", "", True),
    ("from ipywidgets import interact\ninteract(lambda x: print(x), x=(0, 10));", "", True),
    ("None", "", True),
]


def test_texts_are_compared_strictly_and_figures_are_left_out(tmp_path):
    cells = []
    for count, (source, text, _) in enumerate(CELLS, start=1):
        outputs = [v4.new_output("stream", text=text)] if text else []
        cells.append(v4.new_code_cell(source, execution_count=count, outputs=outputs))
    path = tmp_path / "compared.ipynb"
    path.write_text(dump(v4.new_notebook(cells=cells)), encoding="utf-8")
    options = ["--nbval", "--nbval-current-env", "-p", "tests.nbval_comparison", "-p", "no:cacheprovider", "-v"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", ROOT / "pyproject.toml", f"--rootdir={tmp_path}", path],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    outcomes = re.findall(r"Cell \d+ (PASSED|FAILED)", result.stdout)
    assert outcomes == ["PASSED" if passes else "FAILED" for *_, passes in CELLS], result.stdout

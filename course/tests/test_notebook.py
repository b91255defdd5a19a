"""The public checks in a kernel: who will fail alone is told so, and what the grader overlooks costs nothing."""

import os

import nbformat
import pytest

from course.grade import ROOT
from posenc.check._wrong import say
from tools.execute import CELL_TIMEOUT, Client

pytestmark = pytest.mark.torch

SCALED = """
def scaled(positions, theta):
    return positions * theta
"""
# What each cell holds, and what the check at its end then prints.
CELLS = {
    "what is left over costs nothing": (
        f"import sympy as sp\nfrom IPython.display import display as show\nfrom posenc import figures\n{SCALED}"
        "show('done')\ndisplay('done')\ncheck.q1(scaled)",
        "q1: 2 of 2 points",
    ),
    "a helper of another cell": (
        SCALED.replace("positions * theta", "helper(positions, theta)") + "check.q1(scaled)",
        "its cell does not define helper",
    ),
    "posenc's own function": (
        "from posenc.rotary import rotate as scaled\ncheck.q1(scaled)",
        "this function is posenc.rotary's own",
    ),
    "posenc inside": (
        "from posenc.rotary import rotation_matrix\ndef scaled(positions, theta):\n"
        "    return rotation_matrix(positions[:, None] * theta)\ncheck.q1(scaled)",
        "it uses posenc, which an answer may not use",
    ),
    "an exception": (
        "def scaled(positions, theta):\n    raise KeyError('here')\ncheck.q1(scaled)",
        "it raised KeyError at line 2: `raise KeyError('here')` ('here')",
    ),
    "under a decorator": (f"@torch.no_grad(){SCALED}check.q1(scaled)", "q1: 2 of 2 points"),
    "made by vmap": (
        "def one(p, theta):\n    return p * theta\nscaled = torch.vmap(one, (0, None))\ncheck.q1(scaled)",
        "q1: 2 of 2 points",
    ),
    "another slip beside a star import": (
        "from math import *" + SCALED.replace("positions * theta", "sqrt(1) * positions[9, 9, 9]") + "check.q1(scaled)",
        "it raised IndexError",
    ),
    "a conjugate that waits": (
        "def scaled(positions, theta):\n    return torch.complex(positions * theta, positions).conj().real\n"
        "check.q1(scaled)",
        "q1: 2 of 2 points",
    ),
    "IPython's own lines": (
        f"torch.stack?\nfiles = !ls\nhelp(torch.stack){SCALED}check.q1(scaled)",
        "q1: 2 of 2 points",
    ),
    "ready-made attention": (
        "from posenc.check import assignment_1 as check\ndef attention(q, k, v, causal):\n"
        "    return torch.nn.functional.scaled_dot_product_attention(q, k, v), q\ncheck.q1(attention)",
        say("cell.attention"),
    ),
}


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What each cell prints, in a kernel of its own."""
    notebook = nbformat.v4.new_notebook()
    setting = [
        "import math\nimport numpy as np\nimport torch\nfrom types import SimpleNamespace\n"
        "from course.tests.toys import SCALED\ncheck = SimpleNamespace(q1=SCALED.public())",
        "import functools\ndef helper(positions, theta):\n    return positions * theta",
    ]
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in (*setting, *(cell for cell, _ in CELLS.values()))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        Client(notebook, timeout=CELL_TIMEOUT, kernel_name="python3").execute()
    outputs = ("".join(out.get("text", "") for out in cell.outputs) for cell in notebook.cells[len(setting) :])
    return dict(zip(CELLS, outputs, strict=True))


@pytest.mark.parametrize("name", CELLS)
def test_a_check_says_what_the_grader_will(printed: dict[str, str], name: str) -> None:
    assert CELLS[name][1] in printed[name], printed[name]

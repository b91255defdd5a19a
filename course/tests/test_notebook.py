"""The public checks in a kernel: who will fail alone is told so, and what the grader overlooks costs nothing."""

from __future__ import annotations

import nbformat
import pytest

from posenc.check._wrong import say
from tools.execute import CELL_TIMEOUT, Client

pytestmark = pytest.mark.torch

ROTATION = """
def rotation(positions, theta):
    turned = positions * theta
    cos, sin = torch.cos(turned), torch.sin(turned)
    return torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
"""
# What each cell holds, and what the check at its end then prints.
CELLS = {
    "right": (f"{ROTATION}check.q1(rotation)", "q1: 2 of 2 points"),
    "what is left over costs nothing": (
        f"import sympy as sp\nfrom IPython.display import display as show\nfrom posenc import figures\n{ROTATION}"
        "show('done')\ndisplay('done')\ncheck.q1(rotation)",
        "q1: 2 of 2 points",
    ),
    "a magic": (f"%time 1\n{ROTATION}check.q1(rotation)", "q1: 2 of 2 points"),
    "a helper of another cell": (
        ROTATION.replace("positions * theta", "helper(positions, theta)") + "check.q1(rotation)",
        "its cell does not define helper",
    ),
    "an import of another cell": (
        ROTATION.replace("positions * theta", "functools.reduce(torch.mul, (positions, theta))") + "check.q1(rotation)",
        "its cell does not define functools",
    ),
    "posenc's own function": (
        "from posenc.rotary import rotate as rotation\ncheck.q1(rotation)",
        "this function is posenc.rotary's own",
    ),
    "posenc inside": (
        "from posenc.rotary import rotation_matrix\ndef rotation(positions, theta):\n"
        "    return rotation_matrix(positions[:, None] * theta)\ncheck.q1(rotation)",
        "it uses posenc, which an answer may not use",
    ),
    "another name": (ROTATION.replace("rotation", "turn") + "check.q1(turn)", "does not define the function rotation"),
    "a changed input": (
        ROTATION.replace("positions * theta", "positions.mul_(theta)") + "check.q1(rotation)",
        say("cell.changed"),
    ),
    "an exception": (
        "def rotation(positions, theta):\n    raise KeyError('here')\ncheck.q1(rotation)",
        "it raised KeyError at line 2: `raise KeyError('here')` ('here')",
    ),
    "not answered": (
        "def rotation(positions, theta):\n    raise NotImplementedError()\ncheck.q1(rotation)",
        "q1: not answered yet (2 points)",
    ),
    "under a decorator": (f"@torch.no_grad(){ROTATION}check.q1(rotation)", "q1: 2 of 2 points"),
    "made by vmap": (
        "def one(p, theta):\n    c, s = torch.cos(p * theta), torch.sin(p * theta)\n"
        "    return torch.stack([torch.stack([c, -s]), torch.stack([s, c])])\n"
        "rotation = torch.vmap(one, (0, None))\ncheck.q1(rotation)",
        "q1: 2 of 2 points",
    ),
    "cached, with a helper of another cell": (
        "@functools.cache" + ROTATION.replace("positions * theta", "helper(positions, theta)") + "check.q1(rotation)",
        "its cell does not define functools, helper",
    ),
    "another slip beside a star import": (
        "from math import *"
        + ROTATION.replace("positions * theta", "sqrt(1) * positions[9, 9, 9]")
        + "check.q1(rotation)",
        "it raised IndexError",
    ),
    "another slip beside an unused import": (
        f"import sympy{ROTATION.replace('positions * theta', 'positions[9, 9, 9]')}check.q1(rotation)",
        "it raised IndexError",
    ),
    "a conjugate that waits": (
        "def rotation(positions, theta):\n    z = torch.exp(-1j * positions * theta).conj()\n"
        "    return torch.stack([torch.stack([z.real, -z.imag], -1), torch.stack([z.imag, z.real], -1)], -2)\n"
        "check.q1(rotation)",
        "q1: 2 of 2 points",
    ),
    "IPython's own lines": (
        f"torch.stack?\nfiles = !ls\nhelp(torch.stack){ROTATION}check.q1(rotation)",
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
        "import math\nimport numpy as np\nimport torch\nfrom posenc.check import assignment_2 as check",
        "import functools\ndef helper(positions, theta):\n    return positions * theta",
    ]
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in (*setting, *(cell for cell, _ in CELLS.values()))]
    Client(notebook, timeout=CELL_TIMEOUT, kernel_name="python3").execute()
    outputs = ("".join(out.get("text", "") for out in cell.outputs) for cell in notebook.cells[len(setting) :])
    return dict(zip(CELLS, outputs, strict=True))


@pytest.mark.parametrize("name", CELLS)
def test_a_check_says_what_the_grader_will(printed: dict[str, str], name: str) -> None:
    assert CELLS[name][1] in printed[name], printed[name]

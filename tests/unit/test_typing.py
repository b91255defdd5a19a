"""Mistakes that a type checker finds: unknown names, a pair for one tensor, a string for an array."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.release]
PROGRAM = """
import torch
from posenc import Rope, rotate, sinusoidal

rope, q = Rope(64), torch.ones(1, 8, 16, 64)
right: torch.Tensor = rotate(q, [[1.0] * 32], "interleaved")
Rope(64, layout="half")
rope.rotate(q).swapaxis(1, 2)
one: torch.Tensor = rope(q, q)
sinusoidal([0, 1], 8, layout="interleave")
rotate("q", [1.0])
"""


def test_mypy_finds_planted_mistakes_and_no_other(tmp_path):
    path = tmp_path / "planted.py"
    path.write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "", path.name], cwd=tmp_path, capture_output=True, text=True
    )
    lines = [int(line.split(":")[1]) for line in run.stdout.splitlines() if ": error:" in line]
    assert lines == [7, 8, 9, 10, 11], run.stdout

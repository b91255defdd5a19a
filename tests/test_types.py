"""mypy, strictly, on the package's ground floor; pyproject.toml says which files and how."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.torch
def test_mypy_finds_nothing():
    command = [sys.executable, "-m", "mypy", "--no-error-summary"]
    result = subprocess.run(command, cwd=Path(__file__).resolve().parents[1], capture_output=True, text=True)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")

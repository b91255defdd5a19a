"""Runs the tests of one module on wrong copies of it; prints what each run came to, as JSON.

    python -m tests.mutants.run MODULE

The libraries are imported once, before posenc is, and each copy has a process of its own, forked from there: a new
Python for each would take ten times as long.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import hypothesis.strategies  # noqa: F401
import nbformat  # noqa: F401
import numpy  # noqa: F401
import playwright.sync_api  # noqa: F401
import pytest
import scipy.special  # noqa: F401
import scipy.stats  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "posenc"
UNCHANGED = "unchanged"
NOT_RUN = 99
OPTIONS = [
    "-x", "-q", "--no-header", "--tb=no", "--assert=plain", "-m", "not torch", "-p", "no:cacheprovider",
    "-p", "no:groups", "--hypothesis-profile=mutants",
]  # fmt: skip


def mutants(module: str) -> list[dict[str, str]]:
    """The changes that are listed for a module."""
    return tomllib.loads((ROOT / "tests" / "mutants" / f"{module}.toml").read_text(encoding="utf-8"))["mutant"]


def outcome(module: str, change: dict[str, str] | None, folder: Path) -> tuple[int, str]:
    """pytest's exit status on a copy with one change, and what it printed."""
    shutil.copytree(SOURCE, folder / "posenc", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "posenc" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    if change:
        if source.count(change["find"]) != 1:
            return -1, f"{change['find']!r} is in {path.name} {source.count(change['find'])} times, not once"
        path.write_text(source.replace(change["find"], change["replace"]), encoding="utf-8")
    printed = folder / "printed.txt"
    child = os.fork()
    if child == 0:
        status = NOT_RUN
        try:
            with printed.open("w") as file, contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
                sys.path.insert(0, str(folder))
                status = pytest.main([*OPTIONS, f"tests/test_{module}.py"])
                assert Path(sys.modules["posenc"].__file__).parent == folder / "posenc"
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, printed.read_text(encoding="utf-8")


def main() -> None:
    """Run every copy, the unchanged one first."""
    module = sys.argv[1]
    os.chdir(ROOT)
    found = {}
    for change in [None, *mutants(module)]:
        with tempfile.TemporaryDirectory() as folder:
            found[change["name"] if change else UNCHANGED] = outcome(module, change, Path(folder))
    print(json.dumps(found))


if __name__ == "__main__":
    main()

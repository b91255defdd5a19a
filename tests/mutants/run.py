"""Runs the tests of one module on wrong copies of it; prints what each run came to, as JSON.

    python -m tests.mutants.run MODULE

The libraries are imported once, before posenc is, and each copy has a process of its own, forked from there: a new
Python for each would take ten times as long. A wrong copy meets the quickest tests first, by the times that the
unchanged one took.
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
NOT_NEEDED = shutil.ignore_patterns("__pycache__", "lab", "js", "widgets")  # which no module of the list imports
OPTIONS = [
    "-x", "-q", "--no-header", "--tb=no", "--assert=plain", "-m", "not torch", "-p", "no:cacheprovider",
    "-p", "no:groups", "--hypothesis-profile=mutants",
]  # fmt: skip


def mutants(module: str) -> list[dict[str, str]]:
    """The changes that are listed for a module."""
    return tomllib.loads((ROOT / "tests" / "mutants" / f"{module}.toml").read_text(encoding="utf-8"))["mutant"]


class QuickestFirst:
    """A plugin of pytest that keeps the seconds of each test in a file, and goes by them where the file is there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, float] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.spent: dict[str, float] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.known.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.spent[report.nodeid] = self.spent.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        if not self.known:
            self.path.write_text(json.dumps(self.spent), encoding="utf-8")


def outcome(module: str, change: dict[str, str] | None, folder: Path, seconds: Path) -> tuple[int, str]:
    """pytest's exit status on a copy with one change, and what it printed."""
    shutil.copytree(SOURCE, folder / "posenc", ignore=NOT_NEEDED)
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
                status = pytest.main([*OPTIONS, f"tests/test_{module}.py"], plugins=[QuickestFirst(seconds)])
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
    with tempfile.TemporaryDirectory() as kept:
        for change in [None, *mutants(module)]:
            with tempfile.TemporaryDirectory() as folder:
                name = change["name"] if change else UNCHANGED
                found[name] = outcome(module, change, Path(folder), Path(kept) / "seconds.json")
    print(json.dumps(found))


if __name__ == "__main__":
    main()

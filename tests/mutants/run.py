"""Runs the tests of one module on wrong copies of it; prints what each run came to, as JSON.

    python -m tests.mutants.run LIST [--torch]

LIST names a file beside this one: `rotary` lists changes of src/posenc/rotary.py. A change meets the module's tests
that need no torch or, with --torch and where the list says `torch = true`, those that do.

The libraries are imported once, before posenc is, and each copy has a process of its own, forked from there: a new
Python for each would take ten times as long. A wrong copy meets the quickest tests first, by the times that the
unchanged one took.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "tests" / "mutants"
SOURCE = ROOT / "src" / "posenc"
UNCHANGED = "unchanged"
NOT_RUN = 99
OPTIONS = [
    "-x", "-q", "--no-header", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:groups",
    "--hypothesis-profile=mutants",
]  # fmt: skip
LIBRARIES = ["hypothesis.strategies", "nbformat", "numpy", "playwright.sync_api", "scipy.special", "scipy.stats"]


@dataclass(frozen=True)
class Subject:
    """One list of changes, and what is to notice them."""

    name: str
    torch: bool = False

    @property
    def mutants(self) -> list[dict]:
        """The changes that this run is about."""
        listed = tomllib.loads((LISTS / f"{self.name}.toml").read_text(encoding="utf-8"))["mutant"]
        return [mutant for mutant in listed if mutant.get("torch", False) == self.torch]

    @property
    def libraries(self) -> list[str]:
        """What the tests import besides the package."""
        return LIBRARIES + ["torch"] * self.torch

    @property
    def tests(self) -> list[str]:
        """What is to notice a change, and to pass without one."""
        return [f"tests/test_{self.name}.py", "-m", "torch" if self.torch else "not torch"]

    def copy(self, folder: Path) -> None:
        """The package under `folder`, without what no module of the lists imports."""
        shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__", "lab", "js", "widgets"))


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


def outcome(subject: Subject, change: dict | None, folder: Path, seconds: Path) -> tuple[int, str]:
    """pytest's exit status on a copy with one change, and what it printed."""
    subject.copy(folder / "posenc")
    if change:
        path = folder / "posenc" / f"{subject.name}.py"
        source = path.read_text(encoding="utf-8")
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
                status = pytest.main([*OPTIONS, *subject.tests], plugins=[QuickestFirst(seconds)])
                assert Path(sys.modules["posenc"].__file__).parent == folder / "posenc"
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, printed.read_text(encoding="utf-8")


@cache
def outcomes(name: str, torch: bool = False) -> dict[str, tuple[int, str]]:
    """What the runs of one list came to, by the name of the change, in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["OPENBLAS_NUM_THREADS"] = "1"  # the other core is busy with other tests
    command = [sys.executable, "-m", "tests.mutants.run", name, *["--torch"] * torch]
    result = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


def main() -> None:
    """Run every copy, the unchanged one first."""
    subject = Subject(sys.argv[1], torch="--torch" in sys.argv[2:])
    os.chdir(ROOT)
    for library in subject.libraries:
        import_module(library)
    found = {}
    with tempfile.TemporaryDirectory() as kept:
        for change in [None, *subject.mutants]:
            with tempfile.TemporaryDirectory() as folder:
                name = change["name"] if change else UNCHANGED
                found[name] = outcome(subject, change, Path(folder), Path(kept) / "seconds.json")
    print(json.dumps(found))


if __name__ == "__main__":
    main()

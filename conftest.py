"""What every test run shares: groups and their counts, marks, and what runs in which process.

A group is a folder of tests: `unit` and `book/site` below tests/, `course`, `release`.
"""

from __future__ import annotations

import json
import os
import platform
import re
import socket
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from hypothesis import Phase, settings
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.book.site.browser import launch
from tools.notebooks import compared_cells

ROOT = Path(__file__).resolve().parent
OUTCOMES = ("passed", "failed", "skipped", "xfailed", "xpassed", "rerun")
# These need a test to have been left out on purpose, which continuous integration does not accept.
NOT_RUN = ("skipped", "xfailed", "xpassed")
LONGEST_FIRST = ("release", "course", "book/jupyterlab", "book/site", "unit", "book/notebooks")
LONGEST_NAME = 200  # characters of one parameter of a test
# Groups that run chapters or look at the site built from them, and chapters use torch; so does the grader.
NEED_TORCH = {"book/nbval", "book/site", "book/jupyterlab", "course"}

# A file with this mark may import torch; where torch is left out, it is not even read.
ALL_TORCH = re.compile(r"^pytestmark = .*pytest\.mark\.torch", re.MULTILINE)

# In a public copy of the repository there are no answers, and what needs them is not even read.
PRIVATE = ROOT / "course" / "private"
NEEDS_PRIVATE = re.compile(r"^(from|import) course\.(private|tests)\b", re.MULTILINE)

# The machine may be slow or shared: time is measured by `make bench`, not here. The same examples everywhere, as
# Hypothesis takes them of its own accord where CI is set.
settings.register_profile("book", deadline=None, derandomize=True, max_examples=30, database=None)
# Whether a wrong implementation fails, not which is the smallest input on which it does (release/mutants).
settings.register_profile(
    "mutants", deadline=None, derandomize=True, max_examples=12, database=None, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("book")


def group_of(nodeid: str) -> str:
    """The group of a test by its node id.

    >>> [group_of(f"{path}::test") for path in ("tests/book/site/x.py", "tests/unit/check/x.py", "course/tests/x.py")]
    ['book/site', 'unit', 'course']
    """
    first, second, *rest = PurePosixPath(nodeid.partition("::")[0]).parts
    if first != "tests":
        return first
    return f"book/{rest[0]}" if second == "book" else second


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what needs the course's answers where they are not, and whole files that import torch, without it."""
    if not PRIVATE.is_dir() and collection_path.is_relative_to(ROOT):
        if ROOT / "course" / "tests" in (collection_path, *collection_path.parents):
            return True
        if collection_path.suffix == ".py" and NEEDS_PRIVATE.search(collection_path.read_text(encoding="utf-8")):
            return True
    if "not torch" not in config.getoption("markexpr") or not collection_path.is_relative_to(ROOT):
        return None
    place = collection_path.relative_to(ROOT).as_posix()
    marked = collection_path.suffix == ".py" and ALL_TORCH.search(collection_path.read_text(encoding="utf-8"))
    left_out = bool(marked) or place.removeprefix("tests/") in NEED_TORCH
    return True if left_out else None


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name what is long by its beginning and its length: a test's name goes through every process and log."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST_NAME:
        return None  # as pytest names it
    return f"{argname} {ascii(val[:20])} of {len(val)}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what executes chapters, before ``-m`` chooses; and say what is to run in one process, with several of them.

    A file's tests share what is dear, unless a mark of their own parts them. What takes longest comes first, so that
    no process is left with it at the end.
    """
    if not PRIVATE.is_dir():
        items[:] = [item for item in items if item.get_closest_marker("answers") is None]
    for item in items:
        if group_of(item.nodeid) in NEED_TORCH:
            item.add_marker(pytest.mark.torch)
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    groups = (*LONGEST_FIRST, *sorted({group_of(item.nodeid) for item in items} - set(LONGEST_FIRST)))
    items.sort(key=lambda item: groups.index(group_of(item.nodeid)))


@pytest.fixture(autouse=True)
def numbers_printed_as_before() -> Iterator[None]:
    """What a test executes of a notebook may set how numbers are printed; the next test sees nothing of it."""
    with np.printoptions():  # restores on leaving
        yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_printoptions(profile="default")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright, started once: it cannot be started twice in one thread."""

    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A headless Chromium; what a test opens in it is its own."""

    with launch(playwright) as running:
        yield running


class Groups:
    """Counts outcomes and seconds by group; writes _build/report/tests.json."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: Counter[str] = Counter()
        self.again: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one test: by its call, or by a set-up or tear-down that did not pass."""
        group = group_of(report.nodeid)
        self.seconds[group] += report.duration
        if report.when == "call" or not report.passed:
            outcome = report.outcome
            if hasattr(report, "wasxfail"):
                outcome = "xpassed" if report.passed else "xfailed"
            self.counts[group][outcome] += 1
            if outcome == "rerun":
                self.again.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count a file that could not be collected, or that asked to be skipped."""
        if not report.passed:
            self.counts[group_of(report.nodeid)][report.outcome] += 1

    def not_run(self) -> int:
        """How many tests were skipped or expected to fail."""
        return sum(count[outcome] for count in self.counts.values() for outcome in NOT_RUN)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run in continuous integration in which a test was left out."""
        if os.environ.get("CI") and self.not_run() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the counts and write them down."""
        if not self.counts:
            return
        write = terminalreporter.write_line
        terminalreporter.section("groups")
        write(f"{'group':14}{'run':>7}" + "".join(f"{name:>9}" for name in OUTCOMES) + "   seconds")
        report = {}
        for group in sorted(self.counts):
            count = self.counts[group]
            run = sum(count.values()) - count["skipped"]
            row = "".join(f"{count[name]:9}" for name in OUTCOMES)
            write(f"{group:14}{run:7}{row}{self.seconds[group]:10.1f}")
            report[group] = {"run": run, **{name: count[name] for name in OUTCOMES}}
            report[group]["seconds"] = round(self.seconds[group], 1)
        cells = {}
        if "book/nbval" in self.counts:
            cells = {path.name: compared_cells(path) for path in sorted(ROOT.glob("notebooks/*.ipynb"))}
            compared = ", ".join(f"{name} {count}" for name, count in cells.items())
            write(f"Cells whose printed text was compared: {compared}")
        for nodeid in self.again:
            write(f"Its browser did not answer, and it was run again: {nodeid}", yellow=True)
        if os.environ.get("CI") and self.not_run():
            write(f"{self.not_run()} tests were left out, which is a failure here.", red=True)
        folder = ROOT / "_build" / "report"
        folder.mkdir(parents=True, exist_ok=True)
        summary = {"python": platform.python_version(), "groups": report, "compared_cells": cells}
        text = json.dumps(summary, indent=2) + "\n"
        (folder / "tests.json").write_text(text, encoding="utf-8")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Count in the process that reports, not in the workers."""
    # What pytest-rerunfailures tells the main process before each test would wait 40 ms for the one before (Nagle).
    if hasattr(config, "failures_db") and hasattr(config, "workerinput"):
        config.failures_db.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Groups(), "groups")

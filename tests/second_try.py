"""A browser that does not answer: its test gets one second try in a fresh one, counted in the open. A pytest plugin.

Now and then Chromium stops answering for good, and many of Playwright's calls have no time limit. A test that takes
longer than `PATIENCE` has its Chromium killed, so that the call fails. Such a test, or one in which Playwright's own
time limit ran out, is told as "hung" and run once more, with everything that it stands on set up anew. What hangs
twice fails.
"""

from __future__ import annotations

import threading
from contextlib import suppress

import psutil
import pytest
from _pytest.runner import runtestprotocol
from playwright.sync_api import TimeoutError

PATIENCE = 200.0  # seconds; the longest test of this kind takes a fifth of that


def _kill_browser() -> None:
    """End Playwright's driver, the one process between this one and Chromium, and all that it started."""
    for child in psutil.Process().children():
        if "playwright" in child.exe():
            for process in [*child.children(recursive=True), child]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()


def _attempt(item: pytest.Item, nextitem: pytest.Item | None) -> tuple[list[pytest.TestReport], bool]:
    """The reports of one try, and whether the browser did not answer."""
    killed = threading.Event()

    def kill() -> None:
        killed.set()
        _kill_browser()

    timer = threading.Timer(PATIENCE, kill)
    timer.start()
    item.stash[_OUT_OF_TIME] = False
    try:
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    finally:
        timer.cancel()
    return reports, killed.is_set() or item.stash[_OUT_OF_TIME]


_OUT_OF_TIME = pytest.StashKey[bool]()


def _tear_down(item: pytest.Item) -> None:
    """End every fixture, those of the file and of the session too."""
    with suppress(Exception):  # what was killed cannot be closed; the reports of the try say what failed
        item.session._setupstate.teardown_exact(None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    """Note whether Playwright's time limit ran out."""
    if call.excinfo is not None and call.excinfo.errisinstance(TimeoutError):
        item.stash[_OUT_OF_TIME] = True
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test that drives a browser, twice if need be."""
    if "browser" not in getattr(item, "fixturenames", ()):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports, hung = _attempt(item, nextitem)
    if hung:
        first = next((report for report in reports if report.failed), reports[-1])
        first.outcome = "hung"  # type: ignore[assignment]
        item.ihook.pytest_runtest_logreport(report=first)
        _tear_down(item)
        reports, hung = _attempt(item, nextitem)
        if hung:
            _tear_down(item)  # the tests after it shall have a living browser
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show a first try that hung as what it was."""
    return ("hung", "H", "HUNG, tried again") if report.outcome == "hung" else None  # type: ignore[comparison-overlap]

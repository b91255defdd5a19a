"""How much of the package is covered is told by those tests alone that can tell it: to be watched takes twice the time.

pytest-cov watches, line by line, all that happens in every process from its start to its end. Here it watches the
collection, when the package is imported, and of each test function as many tests as bring a value of a parameter that
none before it brought; none that Hypothesis repeats a hundred times, and none marked `unwatched`. What is not watched
can only be missing from the share that is covered, so that the share is at least what is told.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

import pytest
from coverage import Coverage


class Watching:
    """A plugin of pytest that stops coverage, where it runs, but for the tests that are to be watched."""

    def __init__(self, of_interest: Callable[[pytest.Item], bool]) -> None:
        self.of_interest = of_interest
        self.watched: set[str] = set()  # node ids
        self.coverage: Coverage | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Choose what is watched."""
        met: set[tuple[str, str, int]] = set()
        for item in filter(self.of_interest, session.items):
            repeated = getattr(getattr(item, "function", None), "is_hypothesis_test", False)
            if repeated or item.get_closest_marker("unwatched"):
                continue
            given = item.callspec.params if hasattr(item, "callspec") else {"": None}
            values = {(item.nodeid.partition("[")[0], name, id(value)) for name, value in given.items()}
            if not values <= met:
                self.watched.add(item.nodeid)
            met |= values

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Stop coverage; pytest-cov, which started it, saves and tells what it saw."""
        self.coverage = Coverage.current()
        if self.coverage:
            self.coverage.stop()
        return (yield)

    @contextmanager
    def watching(self, item: pytest.Item) -> Iterator[None]:
        """Have coverage watch, if it is to watch this test."""
        if self.coverage is None or item.nodeid not in self.watched:
            yield
            return
        self.coverage.start()
        try:
            yield
        finally:
            self.coverage.stop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch what a test makes before it begins."""
        with self.watching(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch the test itself."""
        with self.watching(item):
            return (yield)

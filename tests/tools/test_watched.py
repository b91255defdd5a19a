"""Which tests coverage watches, and that it watches nothing else."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.watched import Watching


def item(nodeid: str, repeated: bool = False, marks: str = "", **params: object) -> SimpleNamespace:
    """What is asked of one of pytest's items."""
    given = {"callspec": SimpleNamespace(params=params)} if params else {}
    function = SimpleNamespace(is_hypothesis_test=repeated)
    return SimpleNamespace(nodeid=nodeid, function=function, get_closest_marker=lambda name: name == marks, **given)


def test_every_value_of_a_parameter_is_watched_once():
    product = [item(f"a::f[{x}-{y}]", x=x, y=y) for x in "pqr" for y in (False, True)]
    others = [
        item("a::g"),
        item("a::h", repeated=True),
        item("a::i", marks="unwatched"),
        item("a::k[p]", x="p"),
        item("left out::f"),
    ]
    watching = Watching(lambda item: item.nodeid.startswith("a::"))
    watching.pytest_collection_finish(SimpleNamespace(items=product + others))
    assert watching.watched == {"a::f[p-False]", "a::f[p-True]", "a::f[q-False]", "a::f[r-False]", "a::g", "a::k[p]"}


class Heard(list):
    """A stand-in for coverage, which notes what it is told."""

    def start(self) -> None:
        self.append("start")

    def stop(self) -> None:
        self.append("stop")


def fail(heard: list[str], expected: list[str]) -> None:
    """What a test does that fails, with coverage told so much."""
    assert heard == expected
    raise ValueError("failed")


def test_coverage_runs_while_a_watched_test_does_and_no_longer():
    watching = Watching(lambda item: True)
    watching.coverage, watching.watched = Heard(), {"a::f"}
    for name, heard in (("a::g", []), ("a::f", ["start", "stop"])):
        with pytest.raises(ValueError, match="failed"), watching.watching(item(name)):
            fail(watching.coverage, heard[:1])
        assert watching.coverage == heard


def test_without_coverage_nothing_is_started():
    watching = Watching(lambda item: True)
    watching.watched = {"a::f"}
    with watching.watching(item("a::f")):
        assert watching.coverage is None

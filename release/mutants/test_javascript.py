"""Wrong arithmetic in JavaScript, which the comparison with Python must notice; test_python.py has Python's.

js.toml lists changes of modules in src/posenc/js, each with the test that is to fail on it. That test is called here
with the arithmetic of a changed copy, at one set of its parameters after the other until it fails; without the change
it passes there. (That it passes at all of them is tested where it stands, on the same text of the modules.)
"""

from __future__ import annotations

import itertools
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import settings

from posenc.widgets import _base
from tests.book.site.browser import ROOT
from tests.js.node import JAVASCRIPT, Exports, Node, ThrownError

MUTANTS = tomllib.loads((ROOT / "release" / "mutants" / "js.toml").read_text(encoding="utf-8"))["mutant"]


def sources(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules of arithmetic that a folder holds, each with all that it imports."""
    with monkeypatch.context() as patch:
        patch.setattr(_base, "_JS", folder)
        return [_base.bundle.__wrapped__(path.name) for path in sorted(folder.glob("arithmetic*.js"))]


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    """A process of Node.js."""
    running = Node()
    yield running
    running.close()


@pytest.fixture(scope="module")
def arithmetic(node: Node) -> Exports:
    """The unchanged modules."""
    return node.load([_base.bundle(path.name) for path in sorted(JAVASCRIPT.glob("arithmetic*.js"))])


@pytest.fixture
def changed(node, tmp_path, monkeypatch) -> Callable[[dict[str, str]], Exports]:
    """The arithmetic of a copy of src/posenc/js with one change; the copy loads, or the test ends here."""

    def load(mutant: dict[str, str]) -> Exports:
        copy = tmp_path / "js"
        shutil.copytree(ROOT / "src" / "posenc" / "js", copy)
        assert sources(copy, monkeypatch) == sources(ROOT / "src" / "posenc" / "js", monkeypatch)
        path = copy / f"{mutant['module']}.js"
        source = path.read_text(encoding="utf-8")
        assert source.count(mutant["find"]) == 1, f"{mutant['find']!r} is not once in {path.name}"
        path.write_text(source.replace(mutant["find"], mutant["replace"]), encoding="utf-8")
        return node.load(sources(copy, monkeypatch))

    return load


@contextmanager
def few_examples() -> Iterator[None]:
    """Whether a wrong copy fails, not which is the smallest example on which it does."""
    settings.load_profile("mutants")
    try:
        yield
    finally:
        settings.load_profile("book")


@cache
def calls(test: str) -> list[Callable[[Exports], None]]:
    """The test by this node id, with each set of its parameters."""
    file, _, name = test.partition("::")
    function = getattr(import_module(".".join(Path(file).with_suffix("").parts)), name)
    marks = (
        [mark for mark in function.pytestmark if mark.name == "parametrize"] if hasattr(function, "pytestmark") else []
    )
    choices = []
    for mark in marks:
        names, values = mark.args
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        choices.append([dict(zip(names, value if len(names) > 1 else [value], strict=True)) for value in values])
    return [
        lambda arithmetic, chosen=chosen: function(arithmetic, **{k: v for one in chosen for k, v in one.items()})
        for chosen in itertools.product(*choices)
    ]


def failure(call: Callable[[Exports], None], copy: Exports) -> Exception | None:
    """What a test says of the numbers, or what the changed module throws."""
    try:
        call(copy)
    except AssertionError as said:
        return said
    except ThrownError as thrown:
        return thrown
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_it_is_noticed(changed, arithmetic, mutant):
    copy, noticed = changed(mutant), None
    with few_examples():
        for call in calls(mutant["test"]):
            if noticed := failure(call, copy):
                break
        call(arithmetic)  # which passes what the change fails
    assert noticed is not None, "no test failed"

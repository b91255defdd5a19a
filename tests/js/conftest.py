"""What Node.js has loaded, once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from posenc.widgets import bundle
from tests.js.node import JAVASCRIPT, Exports, node


@pytest.fixture(scope="session")
def module_of() -> Callable[..., Exports]:
    """What modules of src/posenc/js export, loaded once."""
    return cache(lambda *files: node().load([bundle(file) for file in files]))


@pytest.fixture
def arithmetic(module_of: Callable[..., Exports]) -> Exports:
    """All that js/arithmetic*.js export."""
    return module_of(*sorted(path.name for path in JAVASCRIPT.glob("arithmetic*.js")))


@pytest.fixture
def drawing(module_of: Callable[..., Exports]) -> Exports:
    """What js/drawing.js exports."""
    return module_of("drawing.js")


@pytest.fixture
def doctor(module_of: Callable[..., Exports]) -> Exports:
    """What js/diagnose.js exports."""
    return module_of("diagnose.js")

"""Array libraries, for tests of what is the same in all of them."""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

LIBRARIES = {"numpy": (), "torch": pytest.mark.torch, "jax.numpy": pytest.mark.release}


@pytest.fixture(params=[pytest.param(name, marks=marks) for name, marks in LIBRARIES.items()])
def xp(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """NumPy, torch, and JAX in double precision; neither of the last two is imported where its mark leaves it out."""
    if request.param == "jax.numpy":
        with import_module("jax").enable_x64(True):
            yield import_module("jax.numpy")
    else:
        yield import_module(request.param)


@pytest.fixture
def torch() -> ModuleType:
    """torch, for a file that is collected without it as well."""
    return import_module("torch")

"""The examples in docstrings, run as they stand."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

from posenc import Rope

pytestmark = pytest.mark.torch
SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_print_what_they_say(module):
    found = doctest.testmod(import_module(module))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize(
    "module",
    ["frequencies", "absolute", "rotary", "scaling", "rope", "attention", "bias", "analysis", "configs", "schemes"],
)
def test_every_public_function_has_an_example(module):
    public = made_in(module, inspect.isfunction)
    assert public
    assert [name for name, function in public.items() if ">>> " not in function.__doc__] == []


def test_every_method_of_rope_has_an_example():
    methods = {name: one.__doc__ for name, one in inspect.getmembers(Rope, inspect.isroutine) if name[0] != "_"}
    assert len(methods) > 6
    assert [name for name, told in methods.items() if ">>> " not in told] == []


def test_every_scheme_has_an_example():
    assert [name for name, scheme in made_in("schemes", inspect.isclass).items() if ">>> " not in scheme.__doc__] == []


def made_in(module, kind):
    """The public functions, or classes, that a module or its parts define, by name."""
    found = inspect.getmembers(import_module(f"posenc.{module}"), kind)
    return {name: one for name, one in found if one.__module__.startswith(f"posenc.{module}") and name[0] != "_"}

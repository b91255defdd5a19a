"""The examples in docstrings, run as they stand."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

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
def test_every_public_function_and_scheme_has_an_example(module):
    kind = inspect.isclass if module == "schemes" else inspect.isfunction
    found = inspect.getmembers(import_module(f"posenc.{module}"), kind)
    public = [one for name, one in found if one.__module__.startswith(f"posenc.{module}") and name[0] != "_"]
    assert public
    assert [one.__name__ for one in public if ">>> " not in one.__doc__] == []

"""The package's reference: every public name is there with its docstring, and docstrings become what they mean."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from book._site.reference.package import MODULES, PAGES, parts, public_names, to_rst
from tests.book.site.browser import ROOT
from tests.book.site.test_site_pages import parsed

PUBLIC = [(part, name) for module in MODULES for part in parts(module) for name in public_names(part)]
every_module = pytest.mark.parametrize("module", MODULES)


# ---- what is public ------------------------------------------------------------------------------------------------


def test_every_module_of_the_package_is_here() -> None:
    folder = ROOT / "src" / "posenc"
    found = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert {name for name in found if not name.startswith("_")} == set(MODULES)


@every_module
def test_names_are_those_that_the_module_exports(module: str) -> None:
    for part in parts(module):
        found = importlib.import_module(part)
        if hasattr(found, "__all__"):
            assert set(public_names(part)) == set(found.__all__)
        own = {
            name
            for name, value in vars(found).items()
            if not name.startswith("_")
            and (inspect.isfunction(value) or inspect.isclass(value))
            and value.__module__ == part
        }
        assert own <= set(public_names(part))
        assert public_names(part), part


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, name in PUBLIC if not name.isupper()])
def test_every_function_and_class_is_documented(module: str, name: str) -> None:
    value = getattr(importlib.import_module(module), name)
    text = vars(value).get("__doc__") if inspect.isclass(value) else inspect.getdoc(value)
    assert text, f"{module}.{name} has no docstring"
    assert not text.startswith(f"{name}("), f"{module}.{name} has only the signature that Python gives it"


def test_a_docstring_is_not_misread() -> None:
    text = """Scores |i − j|·2^x_ of Su et al. 2021.

    a   `rate`*2

Args:
    rate: `a
        b`, *not* in Su 2021.

>>> rate_ * 2
"""
    assert to_rst(text).split("\n") == [
        r"Scores \|i − j\|·2^x\_ of `Su et al. 2021 <../references.html#su2021roformer>`__.",
        "",
        *(".. code-block:: none", "", "    a   `rate`*2", ""),
        *("Args:", r"    rate: ``a b``, \*not\* in Su 2021.", "", ">>> rate_ * 2", ""),
    ]


# ---- the pages -----------------------------------------------------------------------------------------------------


@every_module
def test_every_name_has_an_entry_on_the_page_of_its_module(module: str, built_site: Path) -> None:
    page = parsed(built_site / PAGES / f"{module}.html")
    names = {f"{part}.{name}" for part in parts(module) for name in public_names(part)}
    assert names <= page.ids
    assert {f"module-{part}" for part in parts(module)} <= page.ids


def test_the_contents_link_to_every_function_and_class(built_site: Path) -> None:
    addresses = parsed(built_site / f"{PAGES}.html").addresses
    for module in MODULES:
        wanted = [f"{part}.{name}" for part in parts(module) for name in public_names(part) if not name.isupper()]
        assert {f"package/{module}.html#{full}" for full in wanted} <= set(addresses)


@every_module
def test_every_entry_has_words(module: str, built_site: Path) -> None:
    """Functions, classes and their methods: a docstring was found, and its sections were understood."""
    page = BeautifulSoup((built_site / PAGES / f"{module}.html").read_text(encoding="utf-8"), "html.parser")
    entries = page.select("dl.py:not(.data)")
    assert entries
    for entry in entries:
        anchor, text = entry.dt.get("id"), entry.dd.get_text().strip()
        assert text, f"{anchor} says nothing"
        for left in ("Args:", "``", ":py:", "\\|", ".. "):
            assert left not in text, f"{anchor}: {left} is shown as it is written"

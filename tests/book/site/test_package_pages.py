"""The package's reference: every public name is there with its docstring, and docstrings become what they mean."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from book._site.reference.bibliography import NAMED, meant
from book._site.reference.package import MODULES, PAGES, Name, parts, public_names
from tests.book.site.browser import ROOT
from tests.book.site.test_site_pages import Html

PUBLIC = [name for module in MODULES for part in parts(module) for name in public_names(part)]
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
            assert {name.name for name in public_names(part)} == set(found.__all__)
        own = {
            name
            for name, value in vars(found).items()
            if not name.startswith("_")
            and (inspect.isfunction(value) or inspect.isclass(value))
            and value.__module__ == part
        }
        assert own <= {name.name for name in public_names(part)}
        assert public_names(part), part


@pytest.mark.parametrize("name", [name for name in PUBLIC if name.kind != "data"], ids=lambda name: name.full)
def test_every_function_and_class_is_documented(name: Name) -> None:
    value = getattr(importlib.import_module(name.module), name.name)
    text = vars(value).get("__doc__") if inspect.isclass(value) else inspect.getdoc(value)
    assert text, f"{name.full} has no docstring"
    assert not text.startswith(f"{name.name}("), f"{name.full} has only the signature that Python gives it"


# ---- the pages -----------------------------------------------------------------------------------------------------


@every_module
def test_every_name_has_an_entry_on_the_page_of_its_module(module: str, built_site: Path) -> None:
    page = Html(built_site / PAGES / f"{module}.html")
    names = {name.full for part in parts(module) for name in public_names(part)}
    assert names <= page.ids
    assert {f"module-{part}" for part in parts(module)} <= page.ids


def test_the_contents_link_to_every_function_and_class(built_site: Path) -> None:
    addresses = Html(built_site / f"{PAGES}.html").addresses
    for module in MODULES:
        wanted = [name.full for part in parts(module) for name in public_names(part) if name.kind != "data"]
        assert {f"package/{module}.html#{full}" for full in wanted} <= set(addresses)


@every_module
def test_every_entry_has_words(module: str, new_page: Callable[..., Page], site_url: str) -> None:
    """Functions, classes and their methods: a docstring was found, and its sections were understood."""
    page = new_page()
    page.goto(f"{site_url}/{PAGES}/{module}.html")
    entries = page.locator("dl.py").evaluate_all(
        "(all) => all.map((one) => [one.querySelector('dt').id, one.querySelector('dd').textContent.trim()])"
    )
    assert entries
    for anchor, text in entries:
        assert text, f"{anchor} says nothing"
        for left in ("Args:", "``", ":py:", ":sub:", ":sup:", ".. "):
            assert left not in text, f"{anchor}: {left} is shown as it is written"


def test_papers_of_the_bibliography_are_links(built_site: Path) -> None:
    linked = 0
    for module in MODULES:
        page = (built_site / PAGES / f"{module}.html").read_text(encoding="utf-8")
        rest, links = re.subn(r'<a [^>]*href="../references.html#\w+"[^>]*>[^<]*</a>', "", page)
        text = re.sub(r"\s+", " ", re.sub("<[^>]*>", "", rest.partition("<article")[2])).replace("&quot;", '"')
        assert [named[0] for named in NAMED.finditer(text) if meant(named)] == [], module
        linked += links
    assert linked > 50


def test_chapters_link_to_the_reference(built_site: Path) -> None:
    """Wrong links are warnings of the build; here is that there are some, and that they lead to entries."""
    linked = {
        address.partition("#")[2]
        for path in (built_site / "notebooks").glob("*.html")
        for address in Html(path).addresses
        if f"{PAGES}/" in address and "#" in address
    }
    assert {"posenc.frequencies.inv_freq", "posenc.rope.Rope"} <= linked
    assert linked <= set().union(*(Html(built_site / PAGES / f"{module}.html").ids for module in MODULES))

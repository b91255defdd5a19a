"""The package's reference: every public name is there with its docstring, and docstrings become what they mean."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest
import site_package
from playwright.sync_api import Page
from site_package import MODULES, PAGES, Name, parts, public_names, to_rst

from tests.site.browser import ROOT
from tests.site.test_site_pages import Html

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


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("SIGNIFICANT_BITS", '``"bfloat16": 8``, ``"float16": 11``, ``"float32": 24``'),
        ("LAYOUTS", '``"interleaved"``, ``"half"``'),
    ],
)
def test_a_constant_shows_its_values(name: str, shown: str) -> None:
    [found] = {one.name: one for one in PUBLIC if one.name == name}.values()
    assert site_package._entry(found)[2].strip() == shown


# ---- docstrings ----------------------------------------------------------------------------------------------------


def rst(text: str, own: tuple[str, ...] = ()) -> str:
    return "\n".join(to_rst(text.splitlines(), "posenc.rotary", set(own))).strip()


def test_names_become_links_where_they_have_an_entry() -> None:
    assert rst("As `rotate` does.") == "As :py:obj:`rotate <posenc.rotary.rotate>` does."
    assert rst("`posenc.frequencies.angles`") == ":py:obj:`posenc.frequencies.angles <posenc.frequencies.angles>`"
    assert rst("`posenc.scaling`") == ":py:mod:`posenc.scaling <posenc.scaling>`"
    assert rst("`scaling`") == ":py:mod:`scaling <posenc.scaling>`"
    assert rst("`rotary`") == "``rotary``"  # on its own page a word for something else
    assert rst("`rotate(x, table)`") == ":py:obj:`rotate(x, table) <posenc.rotary.rotate>`"
    assert rst("`rotate` and `dim`", own=("rotate",)) == "``rotate`` and ``dim``"


def test_code_over_two_lines_stays_one_name() -> None:
    assert rst("Call `python -m\nposenc.lab` and `dim`\nor `base`.") == (
        "Call ``python -m posenc.lab`` and ``dim``\nor ``base``."
    )


@pytest.mark.parametrize(
    ("text", "set_as"),
    [
        ("θ_i = base^(−2i/d)", r"θ\ :sub:`i` = base\ :sup:`−2i/d`"),
        ("M_{a+b} = M_a·M_b", r"M\ :sub:`a+b` = M\ :sub:`a`\ ·M\ :sub:`b`"),
        ("x_tᵀ·W", r"x\ :sub:`t`\ ᵀ·W"),
        ("2^53 and more, 10^−4", r"2\ :sup:`53` and more, 10\ :sup:`−4`"),
        ("head_dim and w_q", "head_dim and w_q"),
        ("(*positions.shape, dim) of |i − j|", r"(\*positions.shape, dim) of \|i − j\|"),
    ],
)
def test_indices_and_exponents_are_set(text: str, set_as: str) -> None:
    assert rst(text, own=("w_q",)) == set_as


def test_a_formula_stands_by_itself_and_a_section_is_left_to_napoleon() -> None:
    text = "Turned.\n\n    φ = m·θ_i\n\nWords.\n\nArgs:\n    x: shape (dim,).\n        More.\n\nSource: here."
    assert rst(text).splitlines() == [
        *("Turned.", "", "", ".. parsed-literal::", "   :class: posenc-formula", ""),
        *(r"    \ φ = m·θ\ :sub:`i`", "", "Words.", ""),
        *("Args:", "    x: shape (dim,).", "        More.", "", "Source: here."),
    ]


def test_columns_keep_their_places() -> None:
    text = "Methods.\n\n    linear     by s, x_i\n    longrope   by a list"
    assert rst(text).splitlines()[-2:] == [r"    \ linear     by s, x_i", "    longrope   by a list"]


def test_an_example_is_shown_as_it_stands() -> None:
    text = "Args:\n    x: shape (dim,).\n\n>>> f(2**3, *x_i)\n[8]\n>>> g_1\n\nWords."
    assert rst(text).splitlines()[-6:] == ["", ">>> f(2**3, *x_i)", "[8]", ">>> g_1", "", "Words."]


def test_only_names_of_the_package_are_missed() -> None:
    def lost(target: str) -> object:
        node = {"refdomain": "py", "reftarget": target}
        return site_package.leave_foreign_names(None, None, node, "shown")  # type: ignore[arg-type]

    assert lost("TypeError") == "shown"
    assert lost("posenc.rotary.none_such") is None

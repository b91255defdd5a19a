"""The package's reference: every public name is there with its docstring, and docstrings become what they mean."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from book._site.reference import package
from book._site.reference.bibliography import NAMED, meant, with_sources
from book._site.reference.package import MODULES, PAGES, Name, parts, public_names, to_rst
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


# Of each name as code: the letters between which it goes on with a next line, and which are no place to break.
BROKEN = """() => [...document.querySelectorAll('.bd-article :is(code, dt.sig, h1)')].flatMap((name) => {
  const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT), letter = document.createRange(), broken = [];
  let before = null, last = '';
  while (walker.nextNode()) {
    for (let k = 0; k < walker.currentNode.length; k++) {
      letter.setStart(walker.currentNode, k);
      letter.setEnd(walker.currentNode, k + 1);
      const [box] = letter.getClientRects(), next = letter.toString();
      const below = box && before && box.top > before.top + before.height * 0.6;
      if (below && /\\w/.test(last.replace('_', '')) && /[a-z0-9_]/.test(next)) broken.push(name.textContent);
      if (box) before = box;
      last = next;
    }
  }
  return broken;
})"""


@pytest.mark.release
@every_module
def test_a_phone_breaks_names_between_their_words(module: str, new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page(width=360, height=740)
    page.goto(f"{site_url}/{PAGES}/{module}.html")
    assert page.evaluate(BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".prev-next-title wbr").count() > 0


@pytest.mark.release
@every_module
def test_names_and_columns_are_not_wider_than_their_place(
    module: str, new_page: Callable[..., Page], site_url: str
) -> None:
    page = new_page(width=1280, height=800)
    page.goto(f"{site_url}/{PAGES}/{module}.html")
    places = page.locator(".bd-sidebar-secondary, div.posenc-formula pre, .bd-article table")
    assert places.evaluate_all("(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length") == 0
    assert page.locator("#pst-page-toc-nav code").count() > 0


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("SIGNIFICANT_BITS", '``"bfloat16": 8``, ``"float16": 11``, ``"float32": 24``'),
        ("LAYOUTS", '``"interleaved"``, ``"half"``'),
    ],
)
def test_a_constant_shows_its_values(name: str, shown: str) -> None:
    [found] = {one.name: one for one in PUBLIC if one.name == name}.values()
    assert package._entry(found)[2].strip() == shown


# ---- docstrings ----------------------------------------------------------------------------------------------------


def rst(text: str, own: tuple[str, ...] = (), class_: str = "") -> str:
    return "\n".join(to_rst(text.splitlines(), "posenc.rotary", set(own), class_)).strip()


def test_names_become_links_where_they_have_an_entry() -> None:
    assert rst("As `rotate` does.") == "As :py:obj:`rotate <posenc.rotary.rotate>` does."
    assert rst("`posenc.frequencies.angles`") == ":py:obj:`posenc.frequencies.angles <posenc.frequencies.angles>`"
    assert rst("`posenc.scaling`") == ":py:mod:`posenc.scaling <posenc.scaling>`"
    assert rst("`scaling`") == ":py:mod:`scaling <posenc.scaling>`"
    assert rst("`rotary`") == "``rotary``"  # on its own page a word for something else
    assert rst("`rotate(x, table)`") == ":py:obj:`rotate(x, table) <posenc.rotary.rotate>`"
    assert rst("`rotate` and `dim`", own=("rotate",)) == "``rotate`` and ``dim``"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Su et al. 2021, equation (15)", "`Su et al. 2021 <su2021roformer>`, equation (15)"),
        ("as Peng et al.\n    2023 has it", "as `Peng et al. 2023 <peng2023yarn>` has it"),
        ("DeepSeek-AI 2024", "`DeepSeek-AI 2024 <deepseek2024v2>`"),
        ("Chiang and Cholak 2022", "`Chiang and Cholak 2022 <chiang2022limitation>`"),
        ("Su 2021 (kexue.fm/archives/8823)", "`Su 2021 <su2021entropy>` (kexue.fm/archives/8823)"),
        (
            'Chi et al. 2023, "Dissecting Transformer\n    Length"',
            '`Chi et al. 2023 <chi2023dissecting>`, "Dissecting Transformer\n    Length"',
        ),
        ("Chi et al. 2023, section 3", "Chi et al. 2023, section 3"),  # there are two
        ("Chiang et al. 2022, Su and Lu 2021, in June 2021", "Chiang et al. 2022, Su and Lu 2021, in June 2021"),
    ],
)
def test_a_paper_has_its_key_beside_it_where_it_is_clear_which(text: str, marked: str) -> None:
    assert with_sources(text) == marked


def test_a_paper_becomes_a_link() -> None:
    lines = to_rst(["Source: Su et al. 2021."], "posenc.rotary", set())
    assert lines == ["Source: :source:`Su et al. 2021 <su2021roformer>`.", ""]


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


def test_members_become_links_within_their_class() -> None:
    assert rst("`to`") == "``to``"
    assert rst("`to`", class_="posenc.rotary.RotaryTable") == ":py:obj:`to <posenc.rotary.RotaryTable.to>`"
    assert rst("`RotaryTable.to`") == ":py:obj:`RotaryTable.to <posenc.rotary.RotaryTable.to>`"


def test_a_formula_stands_by_itself_and_a_section_is_left_to_napoleon() -> None:
    text = "Turned.\n\n    φ = m·θ_i\n\nWords.\n\nArgs:\n    x: shape (dim,).\n        More.\n\nSource: here."
    assert rst(text).splitlines() == [
        *("Turned.", "", "", ".. container:: posenc-formula", ""),
        *("   .. parsed-literal::", "", r"      \ φ = m·θ\ :sub:`i`", "", "Words.", ""),
        *("Args:", "    x: shape (dim,).", "        More.", "", "Source: here."),
    ]


def test_two_columns_become_a_table_of_what_is_named_and_what_it_means() -> None:
    text = "M.\n\n    base, dim   by s, x_i\n    a list      by `rotate`\n    f(x)        one\n                word"
    assert rst(text).splitlines()[2:] == [
        *("", ".. list-table::", "   :class: posenc-columns", "   :stub-columns: 1", ""),
        *("   * - ``base``, ``dim``", r"     - by s, x\ :sub:`i`"),
        *("   * - a list", "     - by :py:obj:`rotate <posenc.rotary.rotate>`"),
        *("   * - ``f(x)``", "     - one word"),
    ]


def test_of_three_columns_the_first_line_is_a_header() -> None:
    lines = rst("M.\n\n    x     one    two\n    few   here   there").splitlines()
    assert "   :header-rows: 1" in lines
    assert lines[-6:] == ["   * - x", "     - one", "     - two", "   * - ``few``", "     - here", "     - there"]


def test_a_drawing_keeps_its_places() -> None:
    rows = ["[q_0, q_1]       [q_0,   ·]", "[q_2, q_3]   →   [q_2, q_3]"]
    text = "D.\n\n" + "\n".join(f"    {row}" for row in rows)
    assert rst(text).splitlines()[-2:] == [rf"   \ {row}" for row in rows]
    assert ".. parsed-literal::" in rst(text)


def test_lines_that_go_on_set_in_become_a_list_of_definitions() -> None:
    text = "D.\n\n    base: the dictionary, else\n        none.\n    dim (half): what x_i says."
    assert rst(text).splitlines()[3:] == [
        *("base", "    the dictionary, else none.", "", "dim (half)", r"    what x\ :sub:`i` says."),
    ]


def test_an_example_may_be_set_in() -> None:
    assert rst("Words.\n\n    >>> f(2)\n    3\n\nMore.").splitlines()[2:] == [">>> f(2)", "3", "", "More."]


def test_names_may_break_between_their_words() -> None:
    code = '<code><span class="pre">a.b_c(d,TheEnd)</span></code>'
    broken = '<code><span class="pre">a.<wbr>b_<wbr>c(<wbr>d,<wbr>The<wbr>End)</span></code>'
    assert package.let_break(f"<h1>posenc.lab</h1> a.b {code}") == f"<h1>posenc.<wbr>lab</h1> a.b {broken}"


def test_an_example_is_shown_as_it_stands() -> None:
    text = "Args:\n    x: shape (dim,).\n\n>>> f(2**3, *x_i)\n[8]\n>>> g_1\n\nWords."
    assert rst(text).splitlines()[-6:] == ["", ">>> f(2**3, *x_i)", "[8]", ">>> g_1", "", "Words."]


def test_only_names_of_the_package_are_missed() -> None:
    def lost(target: str) -> object:
        node = {"refdomain": "py", "reftarget": target}
        return package.leave_foreign_names(None, None, node, "shown")  # type: ignore[arg-type]

    assert lost("TypeError") == "shown"
    assert lost("posenc.rotary.none_such") is None

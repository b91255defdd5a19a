"""The book's typeface: it comes with the site and has every character that the pages show."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import Page

from book._site.style import font
from tests.book.site.browser import ROOT, SITE, scroll_through
from tests.book.site.visit import Visit

BUDGET = 60_000  # bytes of the face on one page
CHAPTER = "notebooks/07_rope_in_code"
# Source Sans has none of these. They stand in a few places, and the reader's own faces have them.
LACKING = set("⌈⌉⌊⌋≪∓∎⏎␣◥")

FAMILIES = """(selectors) => selectors.map((selector) => (
  getComputedStyle(document.querySelector(selector)).fontFamily.split(',')[0].replaceAll('"', '')
))"""


@cache
def face(name: str) -> TTFont:
    return TTFont(SITE / "_static" / "posenc" / name)


def lacks(text: str, name: str = "face.woff2") -> set[str]:
    """The characters of a text that a face has not, without Chinese, its notes' 𝜃 and 𝑘, and what cannot be seen."""
    seen = {one for one in text if not one.isspace() and unicodedata.category(one) != "Cf" and one < "\U0001d400"}
    ours = {one for one in seen if unicodedata.east_asian_width(one) not in "WF"}
    return {one for one in ours if ord(one) not in face(name).getBestCmap()} - LACKING


# ---- the files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", font.FACES)
def test_face_goes_by_the_books_name_under_its_licence(name: str, built_site: Path) -> None:
    """Its licence wants a changed face to have another name, and to bring the copyright and the licence along."""
    names = {record.nameID: record.toUnicode() for record in face(name)["name"].names}
    assert {names[number] for number in (1, 4)} == {font.FAMILY}
    assert not any("Source" in text for number, text in names.items() if number in (1, 3, 4, 6, 16))
    assert "Adobe" in names[0]
    assert "Open Font License" in names[13]
    assert "Open Font License" in (built_site / "_static" / "posenc" / "face-licence.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "catalogue", sorted((ROOT / "src" / "posenc" / "js").glob("*.json")), ids=lambda path: path.stem
)
def test_face_has_what_the_explorables_say(catalogue: Path, built_site: Path) -> None:
    assert lacks(catalogue.read_text(encoding="utf-8")) == set()


# ---- what one visit to each page notes ------------------------------------------------------------------------------


def test_page_has_the_face_from_the_site(visited: Visit) -> None:
    assert "normal 400 700" in visited.light["faces"]
    assert 0 < visited.weight["face_bytes"] <= BUDGET + 2_000  # with what HTTP says of each file


def test_face_has_what_the_page_shows(visited: Visit) -> None:
    assert set("aeiou") < set(visited.characters)
    assert lacks(visited.characters) == set()


def test_page_from_disk_has_the_face(full_visit: Visit) -> None:
    assert "normal 400 700" in full_visit.from_disk["faces"]


# ---- on the page ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chapter(kept: Page) -> Page:
    scroll_through(kept)
    return kept


def test_all_but_code_is_set_in_the_face(chapter: Page) -> None:
    text = [
        "article p",
        "article h1",
        "article h2",
        "article h3",
        "td",
        "figcaption",
        "nav.bd-links a",
        "#pst-page-toc-nav a",
    ]
    explorable = [".posenc-finding", ".posenc-explorable-view input[type='text']", ".posenc-explorable-view button"]
    for place in [*text, *explorable]:
        assert chapter.evaluate(FAMILIES, [place]) == [font.FAMILY], place
    assert font.FAMILY not in chapter.evaluate(FAMILIES, ["pre", "p code"])
    plotted = "getComputedStyle(document.querySelector('.posenc-canvas .xtick text')).fontFamily"
    assert chapter.evaluate(plotted).startswith(f'"{font.FAMILY}"')

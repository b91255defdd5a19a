"""The marks at the chapters' headings: how many claims each section settles, and which, with and without a script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docutils import nodes
from playwright.sync_api import Page, expect

from book._site.reference.backlinks import claims_of, mark, put_marks
from book._site.reference.directives import VERDICTS
from tests.book.site.browser import chapters

CHAPTER = "notebooks/08_multi_frequency_decay"
SECTION = "who-decays"
TOLD = claims_of("08")[SECTION]
CHAPTERS = [name for name in chapters() if re.match(r"notebooks/\d\d_", name)]


def mark_of(page: Page, section: str = SECTION):
    return page.locator(f"section#{section} > .posenc-aside")


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_section_that_a_claim_names_has_its_mark_before_its_heading(name: str, built_site: Path):
    text = (built_site / name).read_text(encoding="utf-8")
    parts = re.split(r'<details class="posenc-aside">', text)
    found = []
    for before, part in zip(parts, parts[1:], strict=False):
        anchors = re.findall(r'<section\b[^>]*\bid="([^"]+)"', before)
        found.append((anchors[-1], re.findall(r"claims\.html#(c\d{3})", part.partition("</details>")[0])))
    told = claims_of(name.removeprefix("notebooks/")[:2])
    assert dict(found) == {section: [claim.id.lower() for claim in claims] for section, claims in told.items()}
    assert len(found) == len(told)


@pytest.mark.release
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_it_opens_to_the_claims_and_stays_on_the_screen(width: int, theme: str, kept_in):
    page = kept_in(width, 800, theme)
    found = mark_of(page)
    summary = found.locator("summary")
    expect(summary).to_have_text(f"{len(TOLD)} claims, put to the test, in “Who decays?”")
    box, heading = summary.bounding_box(), page.locator(f"section#{SECTION} > h2").bounding_box()
    assert box["x"] + box["width"] <= width
    assert abs(box["y"] - heading["y"]) < 20
    summary.click()
    card = found.locator(".posenc-card")
    expect(card).to_be_visible()
    expect(card.locator("li")).to_have_count(len(TOLD))
    for line, claim in zip(card.locator("li a").all(), TOLD, strict=True):
        expect(line).to_have_text(f"{claim.id} {VERDICTS[claim.verdict]}")
    shown = card.bounding_box()
    assert shown["x"] >= 0
    assert shown["x"] + shown["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_escape_and_a_click_elsewhere_close_it(kept_in):
    page = kept_in()
    found = mark_of(page)
    found.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(found).to_have_attribute("open", "")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(found).not_to_have_attribute("open", "")
    assert page.evaluate("document.activeElement.closest('.posenc-aside') !== null")
    page.keyboard.press("Enter")
    expect(found).to_have_attribute("open", "")
    page.locator(f"section#{SECTION} > h2").click(position={"x": 5, "y": 5})
    expect(found).not_to_have_attribute("open", "")


def test_without_a_script_it_leads_to_a_card(open_chapter):
    page = open_chapter(javascript=False)
    mark_of(page).locator("summary").click()
    link = mark_of(page).locator("li a").first
    link.click()
    page.wait_for_url(f"**/book/claims.html#{TOLD[0].id.lower()}")


def test_the_mark_stands_outside_of_a_fold_that_holds_the_heading():
    document = nodes.document(None, None)
    section = nodes.section(ids=[SECTION])
    section += [nodes.raw("", "<details><summary>", format="html"), nodes.title("", "Who decays?")]
    document += section
    put_marks(None, document, CHAPTER)
    assert section[0]["html"] == mark(TOLD, "Who decays?", CHAPTER)
    assert isinstance(section[1], nodes.raw)

"""The claims page in a browser: its filter, what the address keeps of it, and that no card is out of reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from book._site.reference.directives import KINDS, NOTES, VERDICTS
from book.claims import evidence
from tests.book.site.browser import settle

CLAIMS = evidence.load_manifest()
CHAPTER = "book/claims"
PAGE = f"{CHAPTER}.html"


@pytest.fixture
def open_claims(new_page: Callable[..., Page], site_url: str) -> Callable[..., Page]:
    """Opens the page at a query and a fragment; further options are `new_page`'s."""

    def make(where: str = "", **options: object) -> Page:
        page = new_page(**options)
        page.goto(f"{site_url}/{PAGE}{where}")
        settle(page)
        return page

    return make


@pytest.fixture
def claims(kept: Page) -> Page:
    """The page with every card shown, kept for the tests that begin so."""
    kept.get_by_role("button", name="Show all").click()
    says(kept, f"{len(CLAIMS)} of {len(CLAIMS)} claims")
    return kept


def shown(page: Page) -> list[str]:
    """The ids of the cards that a reader sees."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".posenc-claim")]
          .filter((card) => card.checkVisibility()).map((card) => card.id.toUpperCase())"""
    )


def wanted(**kept: object) -> list[str]:
    return [claim.id for claim in CLAIMS if all(getattr(claim, name) == value for name, value in kept.items())]


def says(page: Page, text: str) -> None:
    expect(page.get_by_role("status")).to_have_text(text)


def test_counts_are_those_of_the_manifest(claims):
    said_by = Counter(note for claim in CLAIMS for note in claim.said_by)
    for group, names, counts in (
        ("verdict", VERDICTS, Counter(claim.verdict for claim in CLAIMS)),
        ("kind", KINDS, Counter(claim.kind for claim in CLAIMS)),
        ("note", NOTES, said_by),
    ):
        found = claims.locator(f"#claim-filter .posenc-verdicts:has(input[name={group}]) label").all_inner_texts()
        assert [" ".join(text.split()) for text in found] == [f"{counts[name]} {names[name]}" for name in names]
    says(claims, f"{len(CLAIMS)} of {len(CLAIMS)} claims")
    assert shown(claims) == wanted()


def test_each_control_filters_and_together_they_narrow(claims):
    claims.get_by_role("checkbox", name="false").check()
    assert shown(claims) == wanted(verdict="FALSE")
    says(claims, f"{len(wanted(verdict='FALSE'))} of {len(CLAIMS)} claims")
    claims.get_by_role("checkbox", name="misleading").check()
    assert set(shown(claims)) == {*wanted(verdict="FALSE"), *wanted(verdict="MISL")}
    claims.get_by_role("checkbox", name="misleading").uncheck()
    claims.get_by_label("Chapter").select_option("08")
    assert shown(claims) == wanted(verdict="FALSE", chapter="08")
    claims.get_by_role("checkbox", name="ours").check()
    assert shown(claims) == wanted(verdict="FALSE", chapter="08", said_by=("ours",))
    claims.get_by_role("button", name="Show all").click()
    says(claims, f"{len(CLAIMS)} of {len(CLAIMS)} claims")
    assert shown(claims) == wanted()
    assert urlsplit(claims.url).query == ""


def test_words_are_looked_for_in_prose_and_formulas(claims):
    field = claims.get_by_label("Words")
    field.fill("ALIBI slopes")
    found = shown(claims)
    assert found == [claim.id for claim in CLAIMS if claim.id in found]
    assert 0 < len(found) < len(CLAIMS)
    field.fill("C151")
    assert shown(claims) == ["C151"]
    field.fill(r"QK^\top")  # it stands in that claim's formula alone
    assert "C232" in shown(claims)
    field.fill("no claim has these words")
    says(claims, f"0 of {len(CLAIMS)} claims: take away a word, a tick or the chapter")


def test_a_link_restores_the_filter(claims: Page, new_page: Callable[..., Page]) -> None:
    claims.get_by_role("checkbox", name="misleading").check()
    claims.get_by_label("Chapter").select_option("08")
    claims.get_by_label("Words").fill("distance")
    before = shown(claims)
    assert 0 < len(before) < len(CLAIMS)
    assert parse_qs(urlsplit(claims.url).query) == {"verdict": ["misl"], "chapter": ["08"], "words": ["distance"]}
    other = new_page()
    other.goto(claims.url)
    assert shown(other) == before
    expect(other.get_by_label("Words")).to_have_value("distance")


def test_a_card_that_the_address_names_is_always_shown(open_claims):
    claim = next(claim for claim in CLAIMS if claim.verdict == "FALSE")
    others = wanted(verdict="TRUE")
    page = open_claims(f"?verdict=true#{claim.id.lower()}")
    assert set(shown(page)) == {*others, claim.id}
    says(page, f"{len(others)} of {len(CLAIMS)} claims")
    expect(page.locator(f"#{claim.id.lower()}")).to_be_in_viewport()
    second = wanted(verdict="FALSE")[-1]
    page.evaluate("(id) => { location.hash = id; }", second.lower())
    expect(page.locator(f"#{second.lower()}")).to_be_in_viewport()
    assert set(shown(page)) == {*others, second}
    both = next(claim for claim in CLAIMS if claim.also)
    page.evaluate("(id) => { location.hash = id; }", both.also[0].lower())
    assert both.id in shown(page)


def test_without_javascript_everything_is_shown(open_claims):
    page = open_claims(javascript=False)
    expect(page.locator(".posenc-claim:visible")).to_have_count(len(CLAIMS))
    expect(page.locator("#claim-filter strong:visible").first).to_be_visible()
    expect(page.locator("#claim-filter :is(input, select, button):visible")).to_have_count(0)
    says(page, f"{len(CLAIMS)} claims")

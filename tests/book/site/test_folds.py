"""Folds of a page: deeper sections under their heading and a line, open for whoever is led into them; and code."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.book.site.accessibility import violations
from tests.book.site.visit import switch_theme

pytestmark = pytest.mark.xdist_group("folds")

CHAPTER = "notebooks/08_long_range_decay"  # the one with the most
CLOSED = """() => {
  for (const fold of document.querySelectorAll('details.posenc-deeper')) fold.open = false;
  history.replaceState(null, '', location.pathname);
  document.activeElement.blur();
  scrollTo(0, 0);
}"""


@pytest.fixture
def chapter(kept: Page) -> Page:
    """The chapter's page with its folds closed."""
    kept.evaluate(CLOSED)
    return kept


def folds(page: Page) -> list[Locator]:
    """The page's deeper sections."""
    found = page.locator("details.posenc-deeper").all()
    assert found
    return found


def is_open(fold: Locator) -> bool:
    """Whether it is open, and what is in it drawn; both asked in one turn of the page."""
    state: dict[str, bool] = fold.evaluate(
        """(fold) => ({
          opened: fold.open,
          drawn: [...fold.querySelectorAll(':scope > :not(summary)')].some((part) => part.checkVisibility()),
        })"""
    )
    assert state["drawn"] == state["opened"]
    return state["opened"]


def expect_open(fold: Locator) -> None:
    """Wait until it is open: a change of the address reaches the page later than the click that made it."""
    expect(fold).to_have_attribute("open", "")
    assert is_open(fold)


def test_heading_and_line_stand_there_and_nothing_else(chapter: Page) -> None:
    read = chapter.inner_text("article")
    for fold in folds(chapter):
        assert not is_open(fold)
        heading, line = fold.locator("summary :is(h2, h3)"), fold.locator("summary .posenc-deeper-line")
        expect(heading).to_contain_text("Deeper: ")
        assert heading.is_visible()
        assert line.is_visible()
        assert len(line.inner_text().split()) > 4
        paragraph = fold.locator("> p").first.inner_text()
        assert paragraph == "" or paragraph not in read


def test_the_side_bar_leads_into_it(chapter: Page) -> None:
    fold = folds(chapter)[1]
    name = fold.evaluate("(fold) => fold.parentElement.id")
    link = chapter.locator(f".bd-sidebar-secondary a[href='#{name}']")
    for _ in range(2):  # the second time the address is there already
        link.click()
        expect_open(fold)
        expect(fold.locator("summary").first).to_be_in_viewport()
        fold.evaluate("(fold) => { fold.open = false; scrollTo(0, 0); }")


def test_a_link_to_something_inside_opens_it(chapter: Page) -> None:
    target = chapter.locator("details.posenc-deeper [id^='eq-']").first
    fold = chapter.locator("details.posenc-deeper:has([id^='eq-'])").first
    assert not is_open(fold)
    chapter.evaluate("(name) => { location.hash = name; }", target.get_attribute("id"))
    expect(target).to_be_in_viewport()
    expect_open(fold)


def test_an_address_opens_it(chapter: Page, site_url: str, new_page: Callable[..., Page]) -> None:
    """And the words of a search: test_search.py."""
    name = folds(chapter)[0].evaluate("(fold) => fold.parentElement.id")
    page = new_page()
    page.goto(f"{site_url}/{CHAPTER}.html#{name}")
    expect_open(folds(page)[0])
    assert not is_open(folds(page)[1])
    expect(folds(page)[0]).to_be_in_viewport()


def test_printing_opens_and_closes_again(chapter: Page) -> None:
    """And a picture that is not drawn yet is told in words."""
    first, *others = folds(chapter)
    first.evaluate("(fold) => { fold.open = true; }")
    chapter.evaluate("""async () => {
      const picture = document.querySelector('.posenc-explorable');
      await window.posencHost.adopt(picture);
      delete picture.dataset.ready; // as if it were not drawn
      window.onPaper = window.inWords = null;
      addEventListener('beforeprint', () => {
        const folds = [...document.querySelectorAll('article details')], apart = '.posenc-explorable, .posenc-code';
        window.onPaper = folds.filter((fold) => !fold.closest(apart)).every(({ open }) => open);
        window.inWords = picture.querySelector('.posenc-in-words').innerText;
        picture.dataset.ready = 'true';
      }, { once: true });
    }""")
    chapter.pdf()
    assert chapter.evaluate("window.onPaper") is True
    assert "With JavaScript, sliders move this figure." in chapter.evaluate("window.inWords")
    assert chapter.locator(".posenc-in-words").count() == 0
    assert is_open(first)
    assert not any(is_open(fold) for fold in others)
    assert chapter.locator("article details[open]").count() == 1


# ---- code that is not there to be read

ESSENTIAL_IN = "notebooks/05_rope_matrices"
CODE = ".posenc-code > .cell_input"


def test_the_switch_shows_all_code_and_is_remembered(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page(width=360, height=740)
    page.goto(f"{site_url}/{ESSENTIAL_IN}.html")
    expect(page.locator("#cell-rotate-pair > .cell_input")).to_be_visible()
    expect(page.locator("#cell-imports, #cell-explore .cell_input")).to_have_count(0)
    assert page.locator(CODE).count() > 10
    switch = page.get_by_role("group", name="Code", exact=True)
    for name, shown in (("all", True), ("essential", False)):
        switch.get_by_label(name).press("Space")
        page.reload()
        opened = page.locator(".posenc-code").evaluate_all("(folds) => folds.map(({ open }) => open)")
        assert set(opened) == {shown}
        assert page.locator(CODE).first.is_visible() == shown
    page.emulate_media(media="print")
    expect(page.locator(".posenc-code summary").first).to_be_hidden()
    for table in page.locator(".posenc-table:visible").all():
        assert table.evaluate("(table) => table.scrollWidth <= table.clientWidth")


@pytest.mark.release
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_closed_is_accessible(chapter: Page, theme: str) -> None:
    """Open, the one visit to the page looks at it."""
    switch_theme(chapter, theme)
    assert violations(chapter, "pre", "mjx-container") == []

"""The glossary's cards in the chapters: which words have one, and how it comes and goes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docutils import nodes
from playwright.sync_api import Page, expect

from book._site.reference.glossary import terms_of
from book._site.reference.snippets import Snippet
from book._site.reference.terms import GLOSSARY, pattern, put_terms
from tests.book.site.browser import chapters, scroll_through

TERMS = {term.anchor: term for term in terms_of(GLOSSARY)}
CHAPTERS = [name for name in chapters() if re.match(r"notebooks/\d\d_", name)]
CHAPTER = "notebooks/10_longer_contexts"
WORD = re.compile(
    r'<a class="posenc-gloss" href="\.\./book/glossary\.html#([^"]+)" aria-describedby="gloss-\1">(.*?)</a>'
)


def words_of(text: str) -> list[tuple[str, str]]:
    return WORD.findall(text)


def card_of(page: Page, word):
    return page.locator(f"#{word.get_attribute('aria-describedby')}")


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_shows_a_term_once_and_not_where_it_explains_it(name: str, built_site: Path):
    text = (built_site / name).read_text(encoding="utf-8")
    words = words_of(text)
    anchors = [anchor for anchor, _ in words]
    assert anchors
    assert len(anchors) == len(set(anchors))
    assert text.count('class="posenc-gloss"') == len(words)
    assert sorted(re.findall(r'class="posenc-card posenc-gloss-card" id="gloss-([^"]+)"', text)) == sorted(anchors)
    for anchor, word in words:
        assert pattern(TERMS[anchor]).fullmatch(word)
        before = text.partition(f"glossary.html#{anchor}")[0]
        section = re.findall(r'<section\b[^>]*\bid="([^"]+)"', before)[-1]
        assert TERMS[anchor].see != f"{Path(name).stem}#{section}"
    for heading in re.finditer(r"<(h[1-6]|summary|pre|code)\b.*?</\1>", text, re.DOTALL):
        assert "posenc-gloss" not in heading[0]


def section(title: str, *content: nodes.Node) -> nodes.section:
    return nodes.section("", nodes.title("", title), *content, ids=[nodes.make_id(title)])


def shown(*sections: nodes.section) -> list[str]:
    """What is shown of the terms in a chapter of these sections, anchor by anchor."""
    document = nodes.document(None, None)
    document += section("A chapter", *sections)
    put_terms(None, document, "notebooks/01_a_chapter")
    return [word for node in document.findall(Snippet) for word, _ in words_of(node["html"])]


def paragraph(*content: nodes.Node | str) -> nodes.paragraph:
    return nodes.paragraph("", "", *(nodes.Text(one) if isinstance(one, str) else one for one in content))


def test_only_running_prose_is_looked_at():
    assert shown(section("One", paragraph("Of YaRN and RoPE, and YaRN again."))) == ["yarn", "rope"]
    assert shown(section("YaRN", paragraph("A heading has none."))) == []
    assert shown(section("Exercise 1: by hand", paragraph("What does YaRN do?"))) == []
    link = nodes.reference("", "YaRN", refuri="#yarn")
    assert shown(section("Two", paragraph("A link, ", link, ", and code, ", nodes.literal("", "YaRN")))) == []
    assert shown(section("Three", nodes.literal_block("", "YaRN"))) == []
    fold = [nodes.raw("", text, format="html") for text in ("<details><summary>Then look</summary>", "</details>")]
    assert shown(section("Four", fold[0], paragraph("YaRN"), fold[1], paragraph("RoPE"))) == ["rope"]


def test_a_word_is_a_term_whole_and_in_its_own_letters():
    assert shown(section("One", paragraph("rope, fire and a subspace"))) == []
    assert shown(section("Two", paragraph("Logits or causal masks"))) == ["logit", "causal-mask"]
    assert shown(section("Three", paragraph("a pre-logit and logit_scale"))) == []


@pytest.mark.release
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_card_is_on_the_screen_wherever_the_word_is(width: int, theme: str, kept_in):
    page = kept_in(width, 740, theme)
    scroll_through(page)  # figures that are drawn as one comes by make the page longer
    for word in page.locator(".posenc-gloss:visible").all():
        word.scroll_into_view_if_needed()
        height = page.evaluate("document.documentElement.scrollHeight")
        word.focus()
        card = card_of(page, word)
        expect(card).to_be_visible()
        box = card.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 740
        assert page.evaluate("document.documentElement.scrollHeight") == height
        expect(page.locator(".posenc-gloss-card:visible")).to_have_count(1)


def test_the_pointer_brings_it_and_may_go_into_it(kept_in):
    page = kept_in()
    word = page.locator(".posenc-gloss:visible").first
    word.hover()
    card = card_of(page, word)
    term = TERMS[word.get_attribute("aria-describedby").removeprefix("gloss-")]
    expect(card).to_contain_text(term.zh)
    card.hover()
    page.wait_for_timeout(400)  # longer than it stays without the pointer
    expect(card).to_be_visible()
    page.mouse.move(5, 5)
    expect(card).to_be_hidden()


def test_escape_closes_it_and_enter_leads_to_the_entry(open_chapter):
    page = open_chapter()
    word = page.locator(".posenc-gloss:visible").first
    card = card_of(page, word)
    word.focus()
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    entry = word.get_attribute("href").removeprefix("..")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{entry}")


@pytest.mark.release
def test_a_finger_sees_the_card_first(open_chapter):
    page = open_chapter(width=360, height=740, has_touch=True, is_mobile=True)
    word = page.locator(".posenc-gloss:visible").first
    word.tap()
    card = card_of(page, word)
    expect(card).to_be_visible()
    assert page.url.endswith(f"{CHAPTER}.html")
    card.get_by_role("link", name="In the glossary").tap()
    page.wait_for_url("**/book/glossary.html#*")


def test_without_a_script_it_is_a_link(open_chapter):
    page = open_chapter(javascript=False)
    expect(page.locator(".posenc-gloss-card:visible")).to_have_count(0)
    page.locator(".posenc-gloss:visible").first.click()
    page.wait_for_url("**/book/glossary.html#*")

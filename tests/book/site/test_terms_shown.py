"""The glossary's cards in the chapters: which words have one, and how it comes and goes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docutils import nodes
from playwright.sync_api import Page, expect

from book._site.reference.glossary import terms_of
from book._site.reference.terms import GLOSSARY, link_terms, pattern
from tests.book.site.browser import chapters, scroll_through

TERMS = {term.anchor: term for term in terms_of(GLOSSARY)}
CHAPTERS = [name for name in chapters() if re.match(r"notebooks/\d\d_", name)]
CHAPTER = "notebooks/10_context_extension"
WORD = re.compile(r'<a class="posenc-gloss[^"]*" href="\.\./book/glossary\.html#([^"]+)">(.*?)</a>')


def card_of(page: Page, word):
    return page.locator(f"#{word.get_attribute('aria-describedby')}")


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_shows_a_term_once_and_not_where_it_explains_it(name: str, built_site: Path):
    text = (built_site / name).read_text(encoding="utf-8")
    words = WORD.findall(text)
    anchors = [anchor for anchor, _ in words]
    assert anchors
    assert len(anchors) == len(set(anchors))
    assert text.count('class="posenc-gloss ') == len(words)
    assert re.findall(r'class="posenc-gloss-card[^>]* id="gloss-([^"]+)"', text) == anchors
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
    return [term.anchor for term in link_terms(document, "notebooks/01_a_chapter")]


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
        word.click()
        card = card_of(page, word)
        expect(card).to_be_visible()
        box = card.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 740
        expect(page.locator(".posenc-gloss-card:visible")).to_have_count(1)


def test_a_press_shows_it_and_escape_closes_it(kept_in):
    page = kept_in()
    word = page.locator(".posenc-gloss:visible").first
    word.click()
    card = card_of(page, word)
    expect(card).to_contain_text(TERMS[word.get_attribute("aria-describedby").removeprefix("gloss-")].zh)
    beside, line = card.bounding_box(), word.bounding_box()
    assert 0 <= beside["y"] - (line["y"] + line["height"]) < 20
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def test_keys_lead_through_it_to_the_entry(open_chapter):
    page = open_chapter()
    word = page.locator(".posenc-gloss:visible").first
    entry = word.get_attribute("href").removeprefix("..")
    word.focus()
    page.keyboard.press("Enter")
    expect(card_of(page, word)).to_be_visible()
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.localName") == "mjx-container":  # a formula within the card
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{entry}")


def test_without_a_script_it_is_a_link(open_chapter):
    page = open_chapter(javascript=False)
    expect(page.locator(".posenc-gloss-card:visible")).to_have_count(0)
    page.locator(".posenc-gloss:visible").first.click()
    page.wait_for_url("**/book/glossary.html#*")

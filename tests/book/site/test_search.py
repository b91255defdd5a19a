"""What a search finds first or among the first three, its excerpts, and that results lead to what was asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Page, expect

from book._site.reference.glossary import terms_of
from book._site.reference.terms import GLOSSARY
from tests.book.site.conftest import nothing_wrong, open_page

SEE = {term.name: "notebooks/{}.html#{}".format(*term.see.split("#")) for term in terms_of(GLOSSARY)}
ENTRY = {term.name: f"book/glossary.html#{term.anchor}" for term in terms_of(GLOSSARY)}
# What must come first: a page, a section of one, or what the glossary names for a term.
FIRST = {
    "rope": "notebooks/05_rope_matrices.html",
    "why base 10000": "notebooks/04_sinusoidal_encoding.html#deeper-why-geometric-frequencies-and-why-base-10000",
    "rotate half": SEE["rotate_half"],
    "alibi": SEE["ALiBi"],
    "外推": ENTRY["length extrapolation"],
    "旋转": "book/glossary.html#",
    "位置编码": ENTRY["positional encoding"],
    "因果掩码": ENTRY["causal mask"],
    "context window": "notebooks/11_rope_in_real_models.html",
    "rope_theta": "notebooks/11_rope_in_real_models.html",
    "inv_freq": "notebooks/07_rope_in_code.html",
    "dog bites man": "notebooks/02_permutation_equivariance.html",
    "causal mask": SEE["causal mask"],
    "attention sink": SEE["attention sink"],
    "word order": "notebooks/02_permutation_equivariance.html",
    # since then: what a question or a new term answers
    "quantise keys": "book/questions.html#should-cached-keys-be-quantised",
    "several devices": "book/questions.html#a-text-is-split-over-several-devices",
    "no_rope_layers": "notebooks/17_partial_and_hybrid.html",
    "mrope_interleaved": "book/questions.html#my-model-says-mrope-interleaved",
    "context shift": SEE["context shift"],
    "qk norm": SEE["QK norm"],
}
# What must be among the first three: pages, or places of them.
RIGHT = {
    "what is RoPE": ("notebooks/05", ENTRY["RoPE"]),
    "why does RoPE fail beyond training length": ("notebooks/09",),
    "YaRN attention temperature": ("notebooks/10_context_extension.html#attention-temperature",),
    "lost in the middle": ("book/questions.html#lost-in-the-middle",),
    "torch.compile": ("notebooks/14_relative_biases.html#deeper-any-bias-in-flexattention", "notebooks/07"),
    "旋转位置编码": (ENTRY["RoPE"],),
    "长度外推": (ENTRY["length extrapolation"], "notebooks/09"),
}


@pytest.fixture(scope="module", params=["http", pytest.param("file", marks=pytest.mark.release)])
def kept_search(request: pytest.FixtureRequest, site_url: str, built_site: Path, browser: Browser) -> Iterator[Page]:
    """A search page that is asked again and again, and reads no excerpts, each of which is a page of the book."""
    page, watch = open_page(browser)
    page.add_init_script("window.fetch = async () => new Response('')")
    page.goto(f"{site_url if request.param == 'http' else built_site.as_uri()}/search.html")
    yield page
    nothing_wrong([watch])
    page.context.close()


def unmarked(address: str) -> str:
    """Where a result leads, without the words that are to be marked there."""
    return re.sub(r"\?highlight=[^#]+", "", address)


# Asks as the page does for what its address brings; the first result is there at once, the others come by and by.
ASK = """(words) => {
  document.getElementById('search-results').replaceChildren();
  Search.performSearch(words);
  return document.querySelector('#search-results li > a').getAttribute('href');
}"""


@pytest.mark.parametrize("words", FIRST)
def test_what_comes_first(words: str, kept_search: Page):
    assert unmarked(kept_search.evaluate(ASK, words)).startswith(FIRST[words])


@pytest.fixture(scope="module")
def with_excerpts(site_url: str, browser: Browser) -> Iterator[Callable[[str], list[tuple[str, str]]]]:
    """Asks the search page by its address: where the first three results lead, and their excerpts."""
    page, watch = open_page(browser)

    def ask(words: str) -> list[tuple[str, str]]:
        page.goto(f"{site_url}/search.html?q={words}")
        results = [page.locator("#search-results li").nth(k) for k in range(3)]
        return [
            (unmarked(one.locator("a").get_attribute("href")), one.locator("p.context").inner_text()) for one in results
        ]

    yield ask
    nothing_wrong([watch])
    page.context.close()


@pytest.mark.parametrize("words", RIGHT)
def test_the_right_page_is_among_the_first_three_with_clean_excerpts(
    words: str, with_excerpts: Callable[[str], list[tuple[str, str]]]
):
    found = with_excerpts(words)
    assert any(place.startswith(RIGHT[words]) for place, _ in found), found
    for _, excerpt in found:
        assert 15 < len(excerpt) < 260
        assert not re.search(r"\\|\$|Without JavaScript|^\d+ minutes", excerpt), excerpt


@pytest.fixture
def follow(kept_search: Page, new_page: Callable[..., Page]) -> Callable[[str], Page]:
    """Goes where the first result leads."""

    def lead(words: str) -> Page:
        page = new_page()
        page.goto(urljoin(kept_search.url, kept_search.evaluate(ASK, words)))
        return page

    return lead


@pytest.mark.parametrize(("words", "marked"), [("attention sink", ("attention", "sink")), ("因果掩码", ("因果掩码",))])
def test_a_result_leads_to_the_words_and_marks_them(words: str, marked: tuple[str, ...], follow: Callable[[str], Page]):
    page = follow(words)
    marks = page.locator("mark.posenc-found")
    expect(marks.first).to_be_in_viewport()
    texts = [text.lower() for text in marks.all_inner_texts()]
    assert all(text.startswith(marked) for text in texts)
    assert all(any(text.startswith(beginning) for text in texts) for beginning in marked)
    place = page.evaluate("decodeURIComponent(location.hash.slice(1))")
    assert not place or page.locator(f"[id='{place}'] mark.posenc-found").count() == len(texts)


def test_a_result_opens_the_fold_that_it_leads_into(follow: Callable[[str], Page]):
    """The section of this query is a deeper one, so that the page has it folded."""
    words = "why base 10000"
    page = follow(words)
    section = page.locator(f"section#{FIRST[words].partition('#')[2]}")
    expect(section.locator("p").nth(1)).to_be_visible()
    assert section.locator(":scope > details").evaluate("(fold) => fold.open")

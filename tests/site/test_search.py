"""What a search finds first: twenty-four queries, each with its page, chosen before the ranking was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from site_reference import terms_of
from site_terms import GLOSSARY

SEE = {term.name: "notebooks/{}.html#{}".format(*term.see.split("#")) for term in terms_of(GLOSSARY)}
ENTRY = {term.name: f"book/glossary.html#{term.anchor}" for term in terms_of(GLOSSARY)}
# What must come first: a page, a section of one, or what the glossary names for a term.
FIRST = {
    "rope": "notebooks/05_rope_by_matrices.html",
    "why base 10000": "notebooks/04_sinusoids.html#deeper-why-one-factor-and-which-base",
    "rotate half": SEE["rotate_half"],
    "alibi": SEE["ALiBi"],
    "yarn": SEE["YaRN"],
    "外推": ENTRY["extrapolation"],
    "旋转": "book/glossary.html#",
    "位置编码": ENTRY["position code"],
    "因果掩码": ENTRY["causal mask"],
    "context window": "notebooks/11_rope_in_real_models.html",
    "base 500000": "notebooks/11_rope_in_real_models.html",
    "rope_theta": "notebooks/11_rope_in_real_models.html",
    "inv_freq": "notebooks/07_many_dimensions.html",
    "nope": SEE["NoPE"],
    "t5 bias": SEE["T5's bias"],
    "dog bites man": "notebooks/02_the_blind_spot.html",
    "extrapolation": "notebooks/09_why_extrapolation_fails.html",
    "qwen": "notebooks/11_rope_in_real_models.html",
    "ntk": SEE["NTK-aware scaling"],
    "causal mask": SEE["causal mask"],
    "sinusoidal": "notebooks/04_sinusoids.html",
    "attention sink": SEE["attention sink"],
    "blind spot": "notebooks/02_the_blind_spot.html",
    "learned positions": "notebooks/13_learned_positions_and_none.html",
}


@pytest.fixture(params=["http", "file"])
def search(
    request: pytest.FixtureRequest, site_url: str, built_site: Path, new_page: Callable[..., Page]
) -> Callable[[str], Page]:
    """Asks the search page, over HTTP or from disk."""

    def ask(words: str) -> Page:
        page = new_page()
        start = site_url if request.param == "http" else built_site.as_uri()
        page.goto(f"{start}/search.html?q={words}")
        expect(page.locator("#search-results .search-summary")).to_contain_text("Search finished")
        return page

    return ask


def found(page: Page) -> list[str]:
    return [link.get_attribute("href") for link in page.locator("#search-results li > a").all()]


@pytest.mark.parametrize("words", FIRST)
def test_what_comes_first(words: str, search: Callable[[str], Page]):
    first, *_ = found(search(words))
    assert first.startswith(FIRST[words])

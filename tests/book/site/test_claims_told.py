"""Where a claim is told: the section that its card names is there."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from book._site.reference.glossary import sections_of
from book.claims import evidence

CLAIMS = evidence.load_manifest()
TOLD = [claim for claim in CLAIMS if claim.section]
LINK = re.compile(r"claims\.(?:md|html)(#c\d{3})?\b")
CHAPTERS = sorted(evidence.NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


@pytest.mark.parametrize("claim", TOLD, ids=lambda claim: claim.id)
def test_the_section_that_a_card_names_is_there(claim):
    page, _, anchor = claim.link.removeprefix("notebooks/").partition(".html#")
    assert anchor in sections_of(page)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem[:2])
def test_a_chapter_links_to_the_claims_page_once_in_its_last_section(path):
    found = {title: LINK.findall(text) for title, text in sections_of(path.stem).values()}
    whole, *sections = found
    assert Counter({title: len(found[title]) for title in found if found[title]}) == {sections[-1]: 1}, whole
    assert found[sections[-1]] == [""]

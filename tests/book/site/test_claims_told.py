"""How chapters lead to the claims; test_site_pages.py follows the links of cards to the sections that tell of them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from book._site.reference.glossary import sections_of
from book.claims import evidence

LINK = re.compile(r"claims\.(?:md|html)(#c\d{3})?\b")
CHAPTERS = sorted(evidence.NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem[:2])
def test_a_chapter_links_to_the_claims_page_once_in_its_last_section(path):
    found = {title: LINK.findall(text) for title, text in sections_of(path.stem).values()}
    whole, *sections = found
    assert Counter({title: len(found[title]) for title in found if found[title]}) == {sections[-1]: 1}, whole
    assert found[sections[-1]] == [""]

"""Where a claim is told: the section that its card names treats it and leads back to the card."""

from __future__ import annotations

import re

import pytest
from site_directives import evidence_module
from site_reference import sections_of

CLAIMS = evidence_module().load_manifest()
TOLD = [claim for claim in CLAIMS if claim.section]
LINK = re.compile(r"\]\(\.\./book/claims\.md#(c\d{3})\)")


def links_of(notebook: str) -> dict[str, set[str]]:
    """The cards that each section of a notebook links to."""
    return {anchor: set(LINK.findall(text)) for anchor, (_, text) in sections_of(notebook).items()}


@pytest.mark.parametrize("claim", TOLD, ids=lambda claim: claim.id)
def test_the_section_that_a_card_names_leads_back_to_it(claim):
    page, _, anchor = claim.link.removeprefix("notebooks/").partition(".html#")
    assert anchor in sections_of(page)
    assert claim.id.lower() in links_of(page)[anchor]


def test_what_is_told_here_only_is_told_in_no_chapter():
    here_only = {claim.id.lower() for claim in CLAIMS if not claim.section}
    folder = evidence_module().NOTEBOOKS
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        for anchor, linked in links_of(path.stem).items():
            assert not linked & here_only, f"{path.stem}#{anchor}"

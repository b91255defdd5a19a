"""The gallery of explorables and their pages of one file, without a browser."""

import re

from posenc.widgets import DecayExplorer, Playground
from tools import embed


def test_a_page_of_one_file_holds_all_that_it_needs():
    for cls in (DecayExplorer, Playground):
        page = embed.page(cls)
        assert not re.findall(r'<(?:script|link|img)[^>]*\b(?:src|href)="[^"]*"', page)
        assert page.count("<script") == page.count("</script>")
        assert "CC BY 4.0" in page
        assert all(f"['{name}']" in page for name in getattr(cls, "checkpoints", list)())
    assert 'src="playground.html"' in embed.iframe(Playground)

"""What a first visit costs."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser

from tests.benchmarks.site import weigh

BUDGET = 1_000_000  # bytes, compressed, without plotly.js


def test_first_view_is_within_its_budget(chapter_name: str, site_url: str, browser: Browser) -> None:
    weight = weigh(browser, f"{site_url}/{chapter_name}")
    assert weight["bytes"] <= BUDGET, weight
    assert weight["foreign"] == []


IDLE = {"fontawesome.js", "searchindex.js", "searchtools.js", "language_data.js", "sphinx_highlight.js"}


def test_no_script_holds_up_a_page(page_name: str, built_site: Path) -> None:
    """Sliders come first: what the book does not run is not loaded, and the rest waits for the page or itself."""
    text = (built_site / page_name).read_text(encoding="utf-8")
    scripts = {address.rpartition("/")[2]: how for how, address in re.findall(r'<script\b([^>]*) src="([^"?]*)', text)}
    at_once = {name for name, how in scripts.items() if not re.search("defer|async", how)}
    if page_name == "search.html":  # the search's own scripts begin at once, with those that they need
        assert set(scripts) & IDLE == IDLE - {"fontawesome.js"} <= at_once
    else:
        assert not set(scripts) & IDLE
        assert at_once == {"documentation_options.js"}

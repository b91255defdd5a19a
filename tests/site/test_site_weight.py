"""What a first visit costs."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.benchmarks.site import weigh

BUDGET = 1_000_000  # bytes, compressed, without plotly.js


def test_first_view_is_within_its_budget(chapter_name: str, site_url: str, browser: Browser) -> None:
    weight = weigh(browser, f"{site_url}/{chapter_name}")
    assert weight["bytes"] <= BUDGET, weight
    assert weight["foreign"] == []

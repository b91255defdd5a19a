"""Pictures of the explorables for readers without JavaScript, which a release puts into the pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tools import pictures


@pytest.mark.release
@pytest.mark.parametrize("name", ["book/intro", "book/explorables"])
def test_a_page_without_javascript_shows_its_figures(
    built_site: Path, tmp_path: Path, browser: Browser, new_page: Callable[..., Page], name: str
) -> None:
    site = tmp_path / "site"
    shutil.copytree(built_site, site, ignore=shutil.ignore_patterns("notebooks", "_sources", ".doctrees"))
    (site / pictures.PICTURES).mkdir()
    page = site / f"{name}.html"
    for _ in range(2):  # the second time the same again
        count = pictures.put_into(page, site, browser)
        text = page.read_text(encoding="utf-8")
        assert count == text.count(pictures.FIGURE) == text.count("<noscript><img ") > 0
    still = new_page(javascript=False)
    still.goto(page.as_uri())
    images = still.locator("noscript img")
    assert images.count() == count
    for image in images.all():
        image.scroll_into_view_if_needed()
        assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 300

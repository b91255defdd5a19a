"""Fixtures for tests of the built site in a real browser."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.site import browser as chromium

sys.path.insert(0, str(chromium.ROOT / "book" / "_site"))  # the Sphinx extension, which is no installed package


@pytest.fixture(scope="session")
def built_site() -> Path:
    """The folder of the built site."""
    try:
        return chromium.require_site()
    except FileNotFoundError as missing:
        pytest.fail(str(missing))


@pytest.fixture(scope="session")
def site_url(built_site: Path) -> Iterator[str]:
    """The address of the built site on this machine, without a slash at its end."""
    with chromium.serve(built_site) as url:
        yield url


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes pages; fails at the end if one asked another host for anything or logged an error."""
    opened: list[tuple[Page, chromium.Watch]] = []

    def make(width: int = 1280, height: int = 900, theme: str = "light", javascript: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, java_script_enabled=javascript
        )
        context.set_default_timeout(20_000)
        page = context.new_page()
        opened.append((page, chromium.Watch(page, javascript)))
        return page

    yield make
    foreign = [url for _, watch in opened for url in watch.foreign]
    errors = [error for _, watch in opened for error in watch.errors]
    for page, _ in opened:
        page.context.close()
    assert not foreign, f"requests to other hosts: {foreign}"
    assert not errors, f"the pages logged errors: {errors}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `page_name` once for every page, one with `chapter_name` for every page of the book."""
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", chromium.pages())
    if "chapter_name" in metafunc.fixturenames:
        metafunc.parametrize("chapter_name", chromium.chapters())

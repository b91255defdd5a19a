"""Fixtures for tests of the built site in a real browser."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from posenc.widgets import Explorable, bundle
from tests.explorables import CASES
from tests.site import browser as chromium
from tests.site.live import Live

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

    def make(
        width: int = 1280, height: int = 900, theme: str = "light", javascript: bool = True, **options: object
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, java_script_enabled=javascript, **options
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


PAGES = {case.cls: case.page for case in CASES}


@pytest.fixture
def open_live(new_page: Callable[..., Page], site_url: str) -> Callable[..., Live]:
    """Opens an explorable on its page, or on another; further options are `new_page`'s."""

    def make(cls: type[Explorable], where: str = "", **options: object) -> Live:
        page = new_page(**options)
        page.goto(f"{site_url}/{where or PAGES[cls]}")
        return Live(page, cls.module)

    return make


@pytest.fixture
def arithmetic(new_page: Callable[..., Page]) -> Callable[..., object]:
    """Evaluates an expression with all of js/arithmetic*.js as `A` and a value as `x`."""
    page = new_page()
    page.goto("about:blank")
    for path in sorted((chromium.ROOT / "src" / "posenc" / "js").glob("arithmetic*.js")):
        page.evaluate(
            """async (source) => {
              const module = await import(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
              const twice = Object.keys(module).filter((name) => name in (window.A ?? {}));
              if (twice.length > 0) throw new Error(`two files export ${twice}`);
              window.A = { ...window.A, ...module };
            }""",
            bundle(path.name),
        )
    return lambda expression, x=None: page.evaluate(f"(x) => {expression}", x)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `page_name` once for every page, one with `chapter_name` for every page of the book."""
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", chromium.pages())
    if "chapter_name" in metafunc.fixturenames:
        metafunc.parametrize("chapter_name", chromium.chapters())

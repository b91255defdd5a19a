"""Fixtures for tests of the built site in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from posenc.widgets import Explorable
from tests.book.site import browser as chromium
from tests.book.site.live import Kept, Live
from tests.book.site.visit import Visit, Visitor, in_full
from tests.explorables import CASES

PATIENCE = 20_000  # milliseconds: the machine may be busy
expect.set_options(timeout=PATIENCE)


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


def open_page(
    browser: Browser,
    width: int = 1280,
    height: int = 900,
    theme: str = "light",
    javascript: bool = True,
    **options: object,
) -> tuple[Page, chromium.Watch]:
    """A page in a context of its own, and what it does that it should not."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, java_script_enabled=javascript, **options
    )
    context.set_default_timeout(PATIENCE)
    context.set_default_navigation_timeout(3 * PATIENCE)  # as a page that is kept is asked for once
    page = context.new_page()
    return page, chromium.Watch(page, javascript)


def nothing_wrong(watches: list[chromium.Watch]) -> None:
    """Fail if a page asked another host for anything or logged an error since this was last asked."""
    foreign = [url for watch in watches for url in watch.foreign]
    errors = [error for watch in watches for error in watch.errors]
    for watch in watches:
        watch.foreign.clear()
        watch.errors.clear()
    assert not foreign, f"requests to other hosts: {foreign}"
    assert not errors, f"the pages logged errors: {errors}"


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes pages; fails at the end if one asked another host for anything or logged an error.

    A page has a context of its own, or that of the page beside which it is opened, as in another tab.
    """
    opened: list[tuple[Page | BrowserContext, chromium.Watch]] = []  # what is to be closed

    def make(beside: Page | None = None, **options: object) -> Page:
        if beside:
            page = beside.context.new_page()
            opened.append((page, chromium.Watch(page)))
        else:
            page, watch = open_page(browser, **options)
            opened.append((page.context, watch))
        return page

    yield make
    try:
        nothing_wrong([watch for _, watch in opened])
    finally:
        for closed, _ in opened:
            closed.close()


@pytest.fixture
def open_chapter(request: pytest.FixtureRequest, new_page: Callable[..., Page], site_url: str) -> Callable[..., Page]:
    """Opens the chapter that the module of tests names in `CHAPTER`; options are `new_page`'s."""

    def make(**options: object) -> Page:
        page = new_page(**options)
        page.goto(f"{site_url}/{request.module.CHAPTER}.html")
        chromium.settle(page)
        return page

    return make


@pytest.fixture(scope="module")
def kept(request: pytest.FixtureRequest, browser: Browser, site_url: str) -> Iterator[Page]:
    """The chapter that the module of tests names in `CHAPTER`, one page for all of them."""
    page, watch = open_page(browser)
    page.goto(f"{site_url}/{request.module.CHAPTER}.html")
    chromium.settle(page)
    yield page
    nothing_wrong([watch])
    page.context.close()


LEFT_ALONE = """() => {
  document.activeElement.blur();
  scrollTo(0, 0);
}"""


@pytest.fixture
def kept_in(kept: Page) -> Iterator[Callable[..., Page]]:
    """The kept chapter in a window of some size, in a theme; afterwards it is as it was, for those that only look."""

    def turned(width: int = 1280, height: int = 900, theme: Literal["light", "dark"] = "light") -> Page:
        kept.set_viewport_size({"width": width, "height": height})
        kept.emulate_media(color_scheme=theme)
        expect(kept.locator("html")).to_have_attribute("data-theme", theme)
        return kept

    yield turned
    kept.mouse.move(0, 0)
    kept.emulate_media(media="screen")
    kept.evaluate(LEFT_ALONE)
    turned()


@pytest.fixture(scope="session")
def visit_once(request: pytest.FixtureRequest, browser: Browser, site_url: str) -> Callable[[str], Visit]:
    """Visits a page the first time that it is asked for, and tells again what it noted then.

    Pages that have one of everything are visited in full, and all are where tests of a release run.
    """
    all_in_full = "not release" not in request.config.getoption("markexpr")
    visitor = Visitor(browser, site_url)

    @cache
    def visited(name: str) -> Visit:
        return visitor.visit(name, full=all_in_full or name in in_full())

    return visited


@pytest.fixture
def visited(visit_once: Callable[[str], Visit], page_name: str) -> Visit:
    """What the one visit to a page noted."""
    return visit_once(page_name)


@pytest.fixture
def full_visit(visited: Visit) -> Visit:
    """The same of a page that was visited in full."""
    return visited


PAGES = {case.cls: case.page for case in CASES}
KEPT = 10  # pages; each is a process
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    """Note that a test failed: nobody knows how it left the pages that it had."""
    item.stash[FAILED] = call.excinfo is not None or (call.when != "setup" and item.stash[FAILED])
    return (yield)


@pytest.fixture(scope="session")
def kept_pages() -> Iterator[list[tuple[object, Kept]]]:
    """Pages that no test has at present, with what they were opened for."""
    kept: list[tuple[object, Kept]] = []
    yield kept
    nothing_wrong([page.watch for _, page in kept])


@pytest.fixture
def open_live(
    request: pytest.FixtureRequest, browser: Browser, site_url: str, kept_pages: list[tuple[object, Kept]]
) -> Iterator[Callable[..., Live]]:
    """Opens an explorable on its page, or on another; further options are `new_page`'s.

    To open a page takes longer than most tests, so that it stays open for the next test that asks for the same. An
    address that brings a setting is always opened afresh.
    """
    taken: list[tuple[object, Kept]] = []

    def make(
        cls: type[Explorable],
        where: str = "",
        width: int = 1280,
        height: int = 900,
        reduced_motion: str = "no-preference",
        theme: str = "light",
        **options: object,
    ) -> Live:
        wanted = (where or PAGES[cls], theme, sorted(options.items()))
        same = [each for each in kept_pages if each[0] == wanted]
        if same:
            kept_pages.remove(same[0])
            taken.append(same[0])
        else:
            page, watch = open_page(browser, width, height, theme, **options)
            taken.append((wanted, Kept(page, watch, f"{site_url}/{wanted[0]}")))
        kept = taken[-1][1]
        kept.view(width, height, reduced_motion)
        return kept.live(cls.module)

    yield make
    for wanted, kept in taken:
        if request.node.stash[FAILED] or "#" in wanted[0]:
            kept.page.context.close()
        else:
            kept.tidy()
            kept_pages.append((wanted, kept))
    while len(kept_pages) > KEPT:
        kept_pages.pop(0)[1].page.context.close()
    nothing_wrong([kept.watch for _, kept in taken])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `page_name` once for every page; those of one page in one process, which visits it once.

    What only a full visit notes is asked before a release of the pages that have nothing new.
    """
    if "page_name" in metafunc.fixturenames:
        full, built = "full_visit" in metafunc.fixturenames, chromium.SITE.is_dir()
        one_by_one = []
        for name in chromium.pages():
            waits = full and built and name not in in_full()
            marks = [pytest.mark.xdist_group(name), *([pytest.mark.release] if waits else [])]
            one_by_one.append(pytest.param(name, marks=marks))
        metafunc.parametrize("page_name", one_by_one)

"""Every page of the built site: self-contained, quiet, described, readable on a phone, and linked without a gap."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.site.accessibility import violations
from tests.site.browser import FIGURES, ROOT, chapters, pages, scroll_through, settle


class Html(HTMLParser):
    """What the tests need of an HTML file: its head, its anchors and its addresses."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[str] = []
        self.meta: dict[str, str] = {}
        self.icons: list[str] = []
        self.language: str | None = None
        self.refresh: str | None = None
        self.title = ""
        self._in_title = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "name" in values:
            self.ids.add(values["name"])
        if tag == "html":
            self.language = values.get("lang")
        if tag == "meta" and "name" in values:
            self.meta[values["name"]] = values.get("content", "")
        if tag == "meta" and values.get("http-equiv") == "refresh":
            self.refresh = values["content"].partition("url=")[2]
        if tag == "link" and values.get("rel") in {"icon", "shortcut icon"}:
            self.icons.append(values["href"])
        self._in_title = tag == "title" and not self.title
        self.addresses += [values[name] for name in ("href", "src", "poster", "data") if values.get(name)]
        self.addresses += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data

    def handle_endtag(self, tag: str) -> None:
        self._in_title = self._in_title and tag != "title"


def html_files(site: Path) -> list[Path]:
    """Every page, without the theme's templates that lie among its static files."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def test_the_site_has_exactly_the_pages_of_the_book(built_site: Path) -> None:
    found = {path.relative_to(built_site).as_posix() for path in html_files(built_site)}
    assert found == {"index.html", *pages()}


def test_every_page_has_a_head(built_site: Path) -> None:
    for path in html_files(built_site):
        page = Html(path)
        assert 40 <= len(page.meta.get("description", "")) <= 320 or path.stem in {"search", "genindex"}, path
        assert page.meta.get("description"), path
        assert page.language == "en", path
        assert [icon for icon in page.icons if (path.parent / urlsplit(icon).path).is_file()], path
        assert "Turn by Turn" in page.title, path


def test_the_front_door_leads_to_the_first_page(built_site: Path) -> None:
    assert Html(built_site / "index.html").refresh == chapters()[0]


def test_internal_links_and_fragments(built_site: Path) -> None:
    parsed = {path: Html(path) for path in html_files(built_site)}
    broken = []
    for path, page in parsed.items():
        for address in page.addresses:
            url = urlsplit(address)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                broken.append(f"{path.name}: no file for {address}")
            elif target in parsed and url.fragment and unquote(url.fragment) not in parsed[target].ids:
                broken.append(f"{path.name}: no anchor for {address}")
    assert not broken, "\n".join(broken)


def test_no_page_names_another_host_for_a_resource(built_site: Path) -> None:
    """Beside the requests that a browser makes: nothing waits to be asked for later either."""
    for path in html_files(built_site):
        text = path.read_text(encoding="utf-8")
        for host in ("jsdelivr", "unpkg", "cdnjs", "googleapis", "plot.ly", "require.js"):
            assert host not in text, f"{path.name} names {host}"


@pytest.mark.parametrize(("theme", "width", "height"), [("light", 1280, 900), ("dark", 360, 780)])
def test_page_is_complete_without_another_host(
    page_name: str, theme: str, width: int, height: int, site_url: str, new_page: Callable[..., Page]
) -> None:
    page = new_page(width=width, height=height, theme=theme)
    page.goto(f"{site_url}/{page_name}")
    scroll_through(page)
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.locator("mjx-merror, .MathJax_Error, .posenc-failure").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for part in page.locator(f"{FIGURES}, .prev-next-title").all():
        box = part.bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    expect(page.locator("#pst-skip-link a")).to_have_attribute("href", "#main-content")
    # the many parts of code and formulas take most of the time, and are alike everywhere: one page has them below
    assert violations(page, "pre", "mjx-container") == []
    if width == 1280:  # zoomed to 200 %, a window holds half as many pixels
        page.set_viewport_size({"width": width // 2, "height": height // 2})
        assert page.evaluate("document.documentElement.scrollWidth") <= width // 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_code_and_formulas_are_accessible_too(theme: str, site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page(theme=theme)
    page.goto(f"{site_url}/notebooks/07_many_dimensions.html")
    scroll_through(page)
    assert violations(page) == []


def test_page_works_from_disk(page_name: str, built_site: Path, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto((built_site / page_name).as_uri())
    scroll_through(page)
    assert page.locator("mjx-merror, .posenc-failure").count() == 0


def test_formulas_are_set_by_the_local_mathjax(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    formulas = 0
    for name in chapters():
        page.goto(f"{site_url}/{name}")
        settle(page)
        marked = page.locator(".math").count()
        formulas += marked
        assert page.locator(".math mjx-container").count() >= marked
        if marked:
            assert page.evaluate("MathJax.version") == "3.2.2"
    assert formulas > 0


@pytest.mark.parametrize("address", ["http", "file"])
@pytest.mark.parametrize(
    ("words", "page_found", "title"),
    [
        ("frequency", "08_multi_frequency_decay", "decay"),
        ("YaRN", "10_longer_contexts", "Longer contexts"),
        ("旋转", "glossary", "Glossary"),
        ("rotate_half", "common_mistakes", "Common mistakes"),
        ("blind spot", "02_the_blind_spot", "The blind spot"),
    ],
)
def test_search_finds(
    words: str,
    page_found: str,
    title: str,
    address: str,
    site_url: str,
    built_site: Path,
    new_page: Callable[..., Page],
) -> None:
    page = new_page()
    start = site_url if address == "http" else built_site.as_uri()
    page.goto(f"{start}/search.html?q={words}")
    link = page.locator(f"#search-results li a[href*='{page_found}']")
    expect(link.first).to_be_visible()
    link.first.click()
    expect(page.locator("article h1")).to_contain_text(title)
    expect(page.locator("article")).to_contain_text(words, ignore_case=True)


def test_without_javascript_words_stand_in_for_figures(
    chapter_name: str, site_url: str, new_page: Callable[..., Page]
) -> None:
    page = new_page(javascript=False)
    page.goto(f"{site_url}/{chapter_name}")
    for figure in page.locator(FIGURES).all():
        text = figure.locator("noscript").inner_text()
        assert len(text.split()) > 8
        box = figure.bounding_box()
        assert box is not None
        assert box["height"] < max(400, 0.4 * len(text)), "more room than the words take"


def test_launch_buttons_follow_the_address(built_site: Path) -> None:
    """While the book has no address there is no launch button; with one, every notebook page has a Colab link."""
    repository = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    for name in chapters():
        addresses = Html(built_site / name).addresses
        colab = [address for address in addresses if "colab.research.google.com" in address]
        if repository and name.startswith("notebooks/"):
            owner_and_name = urlsplit(repository).path.strip("/").removesuffix(".git")
            source = name.removesuffix(".html") + ".ipynb"
            assert f"https://colab.research.google.com/github/{owner_and_name}/blob/main/{source}" in colab
        else:
            assert not colab


def test_every_reference_is_used(built_site: Path) -> None:
    """The bibliography shows what the text cites, so an entry that it does not show is cited nowhere."""
    keys = re.findall(r"^@\w+\{([^,]+),", (ROOT / "book" / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    page = Html(built_site / "book" / "references.html")
    assert keys
    assert set(keys) <= page.ids


def test_every_claim_of_the_manifest_has_a_card(built_site: Path) -> None:
    from site_directives import evidence_module

    claims = {claim.id.lower() for claim in evidence_module().load_manifest()}
    page = Html(built_site / "book" / "claims.html")
    assert claims
    assert claims == {name for name in page.ids if re.fullmatch(r"c\d+", name)}

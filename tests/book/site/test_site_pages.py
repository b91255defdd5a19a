"""Every page of the built site: self-contained, quiet, described, readable on a phone, and linked without a gap."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import plotly.offline
import pytest
import yaml
from playwright.sync_api import Page, expect

from book._site.pages import cite
from posenc.widgets import EXPLORABLES
from tests.book.site.browser import ROOT, chapters, pages
from tests.book.site.visit import PHONE, WIDE, Visit
from tools.notebooks import joined, load

LANGUAGE = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]["language"]
BUDGET = 800_000  # bytes that a first view transfers, compressed, without plotly.js: up to 170 000 are data of figures


class Html(HTMLParser):
    """The anchors and the addresses of an HTML file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in (("id", "name") if tag == "a" else ("id",)) if name in values}
        self.addresses += [values[name] for name in ("href", "src", "poster", "data") if values.get(name)]
        self.addresses += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]


@cache
def parsed(path: Path) -> Html:
    """A file, read once."""
    return Html(path)


def html_files(site: Path) -> list[Path]:
    """Every page, without the theme's templates that lie among its static files."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def test_the_site_has_exactly_the_pages_of_the_book(built_site: Path) -> None:
    found = {path.relative_to(built_site).as_posix() for path in html_files(built_site)}
    assert found == {"index.html", *pages()}
    assert f"0; url={chapters()[0]}" in (built_site / "index.html").read_text(encoding="utf-8")


def test_every_page_has_a_head(built_site: Path) -> None:
    for path in html_files(built_site):
        head = path.read_text(encoding="utf-8").partition("</head>")[0]
        description = re.search('<meta name="description" content="([^"]+)', head)
        assert description, path
        assert 40 <= len(html.unescape(description[1])) <= 320 or path.stem in {"search", "genindex"}, path
        assert f'<html lang="{LANGUAGE}"' in head, path
        icons = re.findall('<link rel="(?:shortcut )?icon" href="([^"?]+)', head)
        assert [icon for icon in icons if (path.parent / icon).is_file()], path
        assert re.search("<title>[^<]*Turn by Turn", head), path


STEPS = {cls.module: cls.story() for cls in EXPLORABLES}


def test_internal_links_and_fragments(built_site: Path) -> None:
    pages_of_site = {path: parsed(path) for path in html_files(built_site)}
    broken = []
    for path, page in pages_of_site.items():
        for address in page.addresses:
            url = urlsplit(address)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                broken.append(f"{path.name}: no file for {address}")
            elif step := re.fullmatch(r"([a-z0-9-]+):story=([a-z0-9-]+)", unquote(url.fragment)):
                module = step[1].replace("-", "_")
                if step[2] not in STEPS.get(module, {}) or f'data-module="{module}"' not in target.read_text("utf-8"):
                    broken.append(f"{path.name}: no step for {address}")
            elif target in pages_of_site and url.fragment and unquote(url.fragment) not in pages_of_site[target].ids:
                broken.append(f"{path.name}: no anchor for {address}")
    assert not broken, "\n".join(broken)


def test_no_page_names_another_host_for_a_resource(built_site: Path) -> None:
    """Beside the requests that a browser makes: nothing waits to be asked for later either."""
    for path in html_files(built_site):
        text = path.read_text(encoding="utf-8")
        for host in ("jsdelivr", "unpkg", "cdnjs", "googleapis", "plot.ly", "require.js"):
            assert host not in text, f"{path.name} names {host}"


@pytest.mark.parametrize("name", [name for name in chapters() if name.startswith("notebooks/")])
def test_what_cells_print_is_on_the_page_as_it_is_stored(built_site: Path, name: str) -> None:
    cells = load(ROOT / name.replace(".html", ".ipynb"))["cells"]
    printed = ["".join(joined(one["text"]) for one in cell.get("outputs", []) if "text" in one) for cell in cells]
    page = (built_site / name).read_text(encoding="utf-8")
    shown = re.findall(
        r'<div class="output (?:stream|posenc-table).*?<(?:pre|table)>(.*?)</(?:pre|table)>', page, re.DOTALL
    )
    assert all(re.sub("<.*?>", "", one).strip() for one in shown)  # no empty box
    text = html.unescape(re.sub("<.*?>", "", re.sub("<t[hd]", " <", "\n".join(shown))))
    assert text.split() == "\n".join(printed).split()


# ---- what one visit to each page notes --------------------------------------------------------------------------


def test_page_asks_no_other_host_and_logs_no_error(visited: Visit) -> None:
    assert visited.foreign == []
    assert visited.errors == []


def test_page_is_complete(visited: Visit) -> None:
    for look in (visited.light, visited.phone):
        assert look["failures"] == 0
        assert look["skipLink"] == "#main-content"


def test_page_has_both_themes(full_visit: Visit) -> None:
    assert (full_visit.light["theme"], full_visit.phone["theme"]) == ("light", "dark")
    assert full_visit.light["ground"] != full_visit.phone["ground"]


def test_nothing_is_wider_than_the_window(visited: Visit) -> None:
    for look, width in ((visited.light, WIDE[0]), (visited.phone, PHONE[0])):
        assert look["width"] <= width
        assert look["outside"] == []


def test_no_formula_and_no_table_is_cut(visited: Visit) -> None:
    """In a window of 1000 pixels too, where the visit is a full one."""
    assert {WIDE[0], PHONE[0]} <= set(visited.cut)
    assert not any(visited.cut.values()), visited.cut


def test_code_is_seen_whole(visited: Visit) -> None:
    """In a window of 1280 pixels, in folds too."""
    assert visited.scrolled["code"] == []


def test_what_cells_print_is_seen_whole(full_visit: Visit) -> None:
    """In a window of 1000 pixels, tables above all; a phone scrolls them."""
    assert full_visit.scrolled["printed"] == []


def test_no_displayed_formula_scrolls_on_a_phone(visited: Visit) -> None:
    assert visited.scrolled["formulas"] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_is_accessible(full_visit: Visit, theme: str) -> None:
    assert full_visit.inaccessible[theme] == []


def test_page_is_drawn_from_disk(full_visit: Visit) -> None:
    assert full_visit.from_disk["failures"] == 0
    assert full_visit.from_disk["set"] >= full_visit.from_disk["formulas"]
    assert len(full_visit.from_disk["plots"]) == len(full_visit.from_disk["heights"])


def test_formulas_are_set_by_the_local_mathjax(visited: Visit) -> None:
    assert visited.light["set"] >= visited.light["formulas"]
    if visited.light["formulas"]:
        assert visited.light["mathjax"] == "3.2.2"


def test_plotly_is_not_loaded_before_it_is_needed(visited: Visit) -> None:
    if not visited.light["plots"]:
        assert visited.light["plotly"] is None
    elif visited.first["heights"] and not visited.first["plots"]:
        assert visited.first["plotly"] is None


def test_plotly_figures_are_named_images_by_the_python_packages_own_script(visited: Visit) -> None:
    for plot in visited.light["plots"]:
        assert visited.light["plotly"] == plotly.offline.get_plotlyjs_version()
        assert plot["role"] == "img"
        assert len(plot["label"].split()) > 3
        assert plot["reached"] == 0, "nothing to reach inside an image"
    assert len(visited.light["plots"]) == len(visited.light["heights"])


def test_plotly_keeps_its_room(visited: Visit) -> None:
    """A figure is as tall before it is drawn as after, so that the text below it does not jump."""
    assert visited.light["heights"] == pytest.approx(visited.first["heights"], abs=2)


def test_explorables_keep_their_room(visited: Visit) -> None:
    """Drawn, wide and on a phone, none needs more than was kept free for it, so that the text below does not jump."""
    assert visited.light["outgrown"] == visited.phone["outgrown"] == []


def test_plotly_takes_the_colours_of_the_theme(full_visit: Visit) -> None:
    for light, dark in zip(full_visit.light["plots"], full_visit.phone["plots"], strict=True):
        assert light["tick"] != dark["tick"] or light["tick"] is None
        for look, plot in ((full_visit.light, light), (full_visit.phone, dark)):
            if plot["tick"]:
                assert contrast(plot["tick"], look["ground"]) >= 4.5, look["theme"]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two CSS colours `rgb(…)`, as WCAG defines it."""

    def luminance(colour: str) -> float:
        channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_plotly_is_laid_out_for_a_phone(visited: Visit) -> None:
    for plot in visited.phone["plots"]:
        assert plot["legend"] == "h"
        assert plot["width"] <= PHONE[0]


def test_interact_cell_shows_its_opening_figure(visited: Visit) -> None:
    for cell in visited.light["interact"]:
        assert cell["ready"] == "true"
        assert cell["run"] == "Load Python to move the sliders."
        assert len(cell["settings"]) >= 2
        for setting in cell["settings"]:
            assert re.fullmatch(r"\S.* \S.*", setting)
        assert cell["drawn"] > 0


def test_without_javascript_words_stand_in_for_figures(full_visit: Visit) -> None:
    for figure in full_visit.without_javascript:
        assert len(figure["text"].split()) > 8
        assert figure["height"] < max(400, 0.4 * len(figure["text"])), "more room than the words take"


def test_first_view_is_within_its_budget(visited: Visit) -> None:
    assert 0 < visited.weight["bytes"] <= BUDGET, visited.weight


# ---- searching, and the rest of the files -----------------------------------------------------------------------


@pytest.mark.parametrize("address", ["http", pytest.param("file", marks=pytest.mark.release)])
def test_search_leads_from_its_address_to_a_page(
    address: str, site_url: str, built_site: Path, new_page: Callable[..., Page]
) -> None:
    """What it finds is tried in test_search.py."""
    page = new_page()
    page.goto(f"{site_url if address == 'http' else built_site.as_uri()}/search.html?q=rotate_half")
    link = page.locator("#search-results li a[href*='common_mistakes']")
    expect(link.first).to_be_visible()
    link.first.click()
    expect(page.locator("article h1")).to_contain_text("Common mistakes")


def test_launch_buttons_edit_links_and_bibtex_follow_the_address(built_site: Path) -> None:
    """While the book has no address there are none; with one, every notebook page has a Colab link."""
    repository = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    for name in chapters():
        addresses, stem = " ".join(parsed(built_site / name).addresses), name.removesuffix(".html")
        source = f"main/{stem}.ipynb" if name.startswith("notebooks/") else f"main/{stem}.md"
        assert (f"/edit/{source}" in addresses) == bool(repository)
        assert ("colab.research.google.com" in addresses) == bool(repository and name.startswith("notebooks/"))
        is_chapter = bool(cite.CHAPTER.fullmatch(stem))
        assert ("@incollection" in (built_site / name).read_text(encoding="utf-8")) == bool(repository and is_chapter)


def test_every_reference_is_used(built_site: Path) -> None:
    """The bibliography shows what the text cites, so an entry that it does not show is cited nowhere."""
    keys = re.findall(r"^@\w+\{([^,]+),", (ROOT / "book" / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    page = parsed(built_site / "book" / "references.html")
    assert keys
    assert set(keys) <= page.ids


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

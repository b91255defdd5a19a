"""The page host in a real browser: Plotly figures, explorables' models and links, interact cells, themes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.book.site.browser import SITE, chapters, settle


def page_with(css_class: str) -> str:
    """The first page of the book that has such a figure."""
    return next(name for name in chapters() if f'class="{css_class}"' in (SITE / name).read_text(encoding="utf-8"))


@pytest.mark.release
def test_printing_waits_until_every_figure_is_drawn_and_is_light(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page(theme="dark")
    page.add_init_script(
        """window.print = () => {
          const drawn = [...document.querySelectorAll('.posenc-plotly, .posenc-explorable')]
            .map((figure) => figure.dataset.ready === 'true');
          window.printed = { drawn, theme: document.documentElement.dataset.theme };
          window.dispatchEvent(new Event('afterprint'));
        }"""
    )
    page.goto(f"{site_url}/{page_with('posenc-plotly')}")
    settle(page)
    page.locator("[onclick='window.print()']").first.evaluate("(button) => button.click()")  # by keys: release/browsers
    page.wait_for_function("window.printed")
    printed = page.evaluate("window.printed")
    assert len(printed["drawn"]) > 1
    assert all(printed["drawn"])
    assert printed["theme"] == "light"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


# What is not drawn, and what reaches beyond the paper's right edge or is cut there. MathJax hides a copy for screen
# readers in each formula.
ON_PAPER = """() => {
  const edge = document.querySelector("article").getBoundingClientRect().right + 1;
  const cut = (part) => part.getBoundingClientRect().right > edge
    || (getComputedStyle(part).overflowX !== "visible" && part.scrollWidth > part.clientWidth + 2);
  return {
    waiting: [...document.querySelectorAll(":is(.posenc-plotly, .posenc-explorable):not([data-ready])")]
      .filter((figure) => !figure.querySelector(".main-svg")).length, // Plotly says a little later that it has drawn
    cut: [...document.querySelectorAll("article :is(pre, table, canvas, svg, div.math, .output)")].filter(cut)
      .map(({ outerHTML }) => outerHTML.slice(0, 80)),
  };
}"""


@pytest.mark.parametrize(
    "name", ["04_sinusoidal_encoding", pytest.param("09_length_extrapolation", marks=pytest.mark.release)]
)
def test_printed_right_after_opening_all_is_drawn_and_nothing_is_cut(
    name: str, site_url: str, new_page: Callable[..., Page]
) -> None:
    page = new_page()
    page.add_init_script(f"addEventListener('afterprint', () => {{ window.onPaper = ({ON_PAPER})(); }})")
    page.goto(f"{site_url}/notebooks/{name}.html")
    settle(page)
    page.pdf(format="A4")
    assert page.evaluate("window.onPaper.waiting") == 0
    page.set_viewport_size({"width": 688, "height": 1000})  # the room that site.css leaves on A4
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ON_PAPER) == {"waiting": 0, "cut": []}


# ---- explorables: the host's own part ---------------------------------------------------------------------------


def test_a_module_that_fails_is_reported_in_the_figure(site_url: str, browser: Browser) -> None:
    """With a page of its own: this one is meant to log an error."""
    page = browser.new_page()
    logged: list[str] = []
    page.on("console", lambda message: logged.append(message.text) if message.type == "error" else None)
    page.route("**/posenc/modules/*.js*", lambda route: route.abort())
    page.goto(f"{site_url}/{page_with('posenc-explorable')}")
    expect(page.locator(".posenc-failure").first).to_contain_text("could not be drawn")
    assert any("does not bring the module" in text for text in logged)
    page.close()


def test_a_module_may_come_after_the_page_host(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    hold: list[Route] = []
    page.route("**/posenc/modules/*.js*", lambda route: hold.append(route))
    page.goto(f"{site_url}/{page_with('posenc-explorable')}", wait_until="domcontentloaded")
    figure = page.locator(".posenc-explorable").first
    expect(figure).to_have_attribute("data-name", re.compile("^[a-z0-9-]+$"))  # the host has been here
    for route in hold:
        route.continue_()
    expect(figure).to_have_attribute("data-ready", "true")


WITHOUT_EXPLORABLES = """<!DOCTYPE html><meta charset="utf-8"><title>none</title>
<link rel="icon" href="../_static/favicon.svg">
<link rel="stylesheet" href="../_static/posenc/explorable.css">
<script defer src="../_static/posenc/host.js"></script>"""


def test_figures_that_a_page_was_built_without_are_fetched_once(site_url: str, new_page: Callable[..., Page]) -> None:
    """A reader's own code makes them, several at the same time."""
    given = (SITE / "book" / "intro.html").read_text(encoding="utf-8")
    figures = re.findall(r'<figure class="posenc-explorable" data-module="(\w+)".*?</figure>', given, re.DOTALL)
    assert len(figures) == len(set(figures)) == 2
    wholes = [whole[0] for whole in re.finditer(r'<figure class="posenc-explorable".*?</figure>', given, re.DOTALL)]
    page = new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.route("**/none.html", lambda route: route.fulfill(content_type="text/html", body=WITHOUT_EXPLORABLES))
    page.goto(f"{site_url}/book/none.html")
    page.evaluate(
        """(wholes) => {
          document.body.innerHTML = wholes.join('');
          for (const figure of document.body.children) window.posencHost.adopt(figure);
        }""",
        [*wholes, wholes[0]],
    )
    expect(page.locator(".posenc-explorable[data-ready=true]")).to_have_count(3)
    scripts = sorted(name for name in asked if name.endswith(".js") and name != "host.js")
    assert scripts == sorted(["shared.js", *(f"{name}.js" for name in figures)])

"""The page host in a real browser: Plotly figures, explorables' models and links, interact cells, themes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.book.site.browser import SITE, chapters, scroll_through, settle


def page_with(css_class: str) -> str:
    """The first page of the book that has such a figure."""
    return next(name for name in chapters() if f'class="{css_class}"' in (SITE / name).read_text(encoding="utf-8"))


@pytest.mark.release
@pytest.mark.parametrize("how", ["keys", "button"])
def test_printing_waits_until_every_figure_is_drawn_and_is_light(
    how: str, site_url: str, new_page: Callable[..., Page]
) -> None:
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
    if how == "keys":
        page.keyboard.press("Control+p")
    else:
        page.locator("[onclick='window.print()']").first.evaluate("(button) => button.click()")
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


@pytest.mark.parametrize("name", ["04_sinusoidal_encoding", "09_length_extrapolation"])
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


@pytest.fixture
def explorable_page(site_url: str, new_page: Callable[..., Page]) -> Page:
    """The first page with an explorable, drawn; nothing on it moves by itself."""
    page = new_page(reduced_motion="reduce")
    page.goto(f"{site_url}/{page_with('posenc-explorable')}")
    scroll_through(page)
    return page


def numeric_setting(page: Page) -> tuple[str, float, float]:
    """Name, present value and another allowed value of the first explorable's first slider."""
    controls, state = page.evaluate(
        """() => {
          const { posencModel } = document.querySelector('.posenc-explorable');
          const controls = posencModel.get('_controls');
          return [controls, Object.fromEntries(controls.map(({ name }) => [name, posencModel.get(name)]))];
        }"""
    )
    control = next(control for control in controls if "least" in control)
    middle = round((control["least"] + control["greatest"]) / 4 / 2) * 2
    return control["name"], state[control["name"]], middle


def test_model_tells_listeners_what_changed(explorable_page: Page) -> None:
    name, before, after = numeric_setting(explorable_page)
    heard = explorable_page.evaluate(
        """([name, after]) => {
          const { posencModel: model } = document.querySelector('.posenc-explorable');
          const heard = [];
          const listener = ({ target }) => heard.push([target === model, target.get(name)]);
          model.on(`change:${name}`, listener);
          model.set(name, after);
          model.set(name, after);
          model.save_changes();
          model.off(`change:${name}`, listener);
          model.set({ [name]: after + 2 });
          return heard;
        }""",
        [name, after],
    )
    assert heard == [[True, after]]


def test_setting_link_restores_a_setting(explorable_page: Page, new_page: Callable[..., Page]) -> None:
    name, before, after = numeric_setting(explorable_page)
    link = explorable_page.evaluate(
        """([name, after]) => {
          const { posencModel } = document.querySelector('.posenc-explorable');
          posencModel.set(name, after);
          return posencModel.settingLink({ [name]: after });
        }""",
        [name, after],
    )
    identity = explorable_page.evaluate("document.querySelector('.posenc-explorable').dataset.name")
    assert link.endswith(f"#{identity}:{name}={after}")
    page = new_page()
    page.goto(link)
    page.wait_for_function("document.querySelector('.posenc-explorable').dataset.ready === 'true'")
    present = f"document.querySelector('.posenc-explorable').posencModel.get('{name}')"
    assert page.evaluate(present) == pytest.approx(after)
    settle(page)
    top = page.evaluate("document.querySelector('.posenc-explorable').getBoundingClientRect().top")
    assert -10 <= top < page.viewport_size["height"]

    page.evaluate("(hash) => { location.hash = hash }", f"#{identity}:{name}={before}")  # and on a page already open
    page.wait_for_function(f"(value) => Math.abs({present} - value) < 1e-9", arg=before)


def test_setting_link_works_from_disk(built_site: Path, new_page: Callable[..., Page]) -> None:
    page = new_page()
    address = (built_site / page_with("posenc-explorable")).as_uri()
    page.goto(address)
    scroll_through(page)
    name, _, after = numeric_setting(page)
    identity = page.evaluate("document.querySelector('.posenc-explorable').dataset.name")
    page.goto("about:blank")
    page.goto(f"{address}#{identity}:{name}={after}")
    page.wait_for_function("document.querySelector('.posenc-explorable').dataset.ready === 'true'")
    assert page.evaluate(f"document.querySelector('.posenc-explorable').posencModel.get('{name}')") == after


def abort(route: Route) -> None:
    route.abort()


def bring_nothing(route: Route) -> None:
    route.fulfill(body="", content_type="text/javascript")


@pytest.mark.parametrize("answer", [abort, bring_nothing])
def test_a_module_that_fails_is_reported_in_the_figure(
    answer: Callable[[Route], None], site_url: str, browser: Browser
) -> None:
    """With a page of its own: this one is meant to log an error."""
    page = browser.new_page()
    logged: list[str] = []
    page.on("console", lambda message: logged.append(message.text) if message.type == "error" else None)
    page.route("**/posenc/modules/*.js*", answer)
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


FORMULAS = "notebooks/05_rope_matrices.html"


def test_formulas_do_not_need_the_page_host(site_url: str, browser: Browser) -> None:
    """With a page of its own: a script that is missing is an error in the console."""
    page = browser.new_page()
    page.route("**/posenc/host.js*", abort)
    page.goto(f"{site_url}/{FORMULAS}")
    settle(page)
    assert page.locator("mjx-container").count() > 100
    page.close()

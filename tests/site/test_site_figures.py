"""The page host in a real browser: Plotly figures, explorables' models and links, interact cells, themes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import plotly.offline
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.site.browser import SITE, chapters, scroll_through, settle


def page_with(css_class: str) -> str:
    """The first page of the book that has such a figure."""
    return next(name for name in chapters() if f'class="{css_class}"' in (SITE / name).read_text(encoding="utf-8"))


@pytest.fixture
def plotly_page_name() -> str:
    """The first page with a Plotly figure."""
    return page_with("posenc-plotly")


@pytest.fixture
def plotly_page(plotly_page_name: str, site_url: str, new_page: Callable[..., Page]) -> Callable[..., Page]:
    """Opens the first page with a Plotly figure, drawn."""

    def open_page(**options: object) -> Page:
        page = new_page(**options)
        page.goto(f"{site_url}/{plotly_page_name}")
        scroll_through(page)
        return page

    return open_page


def test_plotly_is_not_loaded_before_it_is_needed(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"{site_url}/{page_with('posenc-explorable')}")
    settle(page)
    assert page.evaluate("typeof window.Plotly") == "undefined"


def test_plotly_figures_are_named_images_by_the_python_packages_own_script(plotly_page: Callable[..., Page]) -> None:
    page = plotly_page()
    assert page.evaluate("Plotly.version") == plotly.offline.get_plotlyjs_version()
    for canvas in page.locator(".posenc-plotly .posenc-canvas").all():
        assert canvas.get_attribute("role") == "img"
        assert len((canvas.get_attribute("aria-label") or "").split()) > 3
        assert canvas.locator("button, a[href], [tabindex='0']").count() == 0  # nothing to reach inside an image


def test_plotly_keeps_its_room(plotly_page_name: str, site_url: str, new_page: Callable[..., Page]) -> None:
    """A figure is as tall before it is drawn as after, so that the text below it does not jump."""
    page = new_page()
    page.goto(f"{site_url}/{plotly_page_name}")
    settle(page)
    heights = "[...document.querySelectorAll('.posenc-plotly')].map((figure) => figure.offsetHeight)"
    before = page.evaluate(heights)
    scroll_through(page)
    assert page.evaluate(heights) == pytest.approx(before, abs=2)


@pytest.mark.parametrize("how", ["keys", "button"])
def test_printing_waits_until_every_figure_is_drawn_and_is_light(
    how: str, plotly_page_name: str, site_url: str, new_page: Callable[..., Page]
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
    page.goto(f"{site_url}/{plotly_page_name}")
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


def test_theme_switch_recolours_plotly(plotly_page: Callable[..., Page]) -> None:
    page = plotly_page(theme="light")
    page.evaluate("scrollTo(0, 0)")
    button = page.locator("button.theme-switch-button:visible").first
    text = "document.querySelector('.posenc-canvas .xtick text').style.fill"
    seen = set()
    for theme in ("light", "dark"):
        while page.evaluate("document.documentElement.dataset.theme") != theme:
            button.click()  # it goes round: automatic, light, dark
        page.wait_for_function(f"(seen) => !seen.includes({text})", arg=list(seen))
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        seen.add(page.evaluate(text))
        assert contrast(page.evaluate(text), ground) >= 4.5, theme
    assert len(seen) == 2


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two CSS colours `rgb(…)`, as WCAG defines it."""

    def luminance(colour: str) -> float:
        channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_plotly_is_laid_out_for_a_phone(plotly_page: Callable[..., Page]) -> None:
    page = plotly_page(width=360, height=780)
    for canvas in page.locator(".posenc-canvas").all():
        assert canvas.evaluate("(canvas) => canvas._fullLayout.legend?.orientation ?? 'h'") == "h"
        assert canvas.evaluate("(canvas) => canvas._fullLayout.width") <= 360


def test_interact_cell_shows_its_opening_figure(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    found = 0
    for name in chapters():
        if not name.startswith("notebooks/"):
            continue
        page.goto(f"{site_url}/{name}")
        for cell in page.locator(".posenc-interact").all():
            found += 1
            figure = cell.locator(".posenc-plotly")
            figure.scroll_into_view_if_needed()
            expect(figure).to_have_attribute("data-ready", "true", timeout=60_000)
            expect(cell.locator(".posenc-run")).to_have_text("Run this chapter to move the sliders.")
            assert cell.locator(".posenc-settings li").count() >= 2
            for setting in cell.locator(".posenc-settings li").all():
                assert re.fullmatch(r"\S.* \S.*", setting.inner_text())
            assert cell.locator(".posenc-plotly .main-svg .trace, .posenc-plotly .main-svg .hm").count() > 0
    assert found


# ---- explorables: the host's own part ---------------------------------------------------------------------------


@pytest.fixture
def explorable_page(site_url: str, new_page: Callable[..., Page]) -> Page:
    """The first page with an explorable, drawn."""
    page = new_page()
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


def test_explorables_are_numbered_in_order(explorable_page: Page) -> None:
    ids = explorable_page.evaluate("[...document.querySelectorAll('.posenc-explorable')].map((figure) => figure.id)")
    assert ids == [f"explorable-{number}" for number in range(1, len(ids) + 1)]


def test_model_tells_listeners_what_changed(explorable_page: Page) -> None:
    name, before, after = numeric_setting(explorable_page)
    heard = explorable_page.evaluate(
        """([name, after]) => {
          const { posencModel: model } = document.querySelector('.posenc-explorable');
          const heard = [];
          const listener = (source, value) => heard.push([source === model, value]);
          const anything = () => heard.push('change');
          model.on(`change:${name}`, listener);
          model.on('change', anything);
          model.set(name, after);
          model.set(name, after);
          model.save_changes();
          model.off(`change:${name}`, listener);
          model.off('change', anything);
          model.set({ [name]: after + 2 });
          return heard;
        }""",
        [name, after],
    )
    assert heard == [[True, after], "change"]


def test_setting_link_restores_a_setting(explorable_page: Page, new_page: Callable[..., Page]) -> None:
    name, before, after = numeric_setting(explorable_page)
    link = explorable_page.evaluate(
        """([name, after]) => {
          const { posencModel } = document.querySelector('.posenc-explorable');
          posencModel.set(name, after);
          return posencModel.settingLink();
        }""",
        [name, after],
    )
    assert re.search(rf"#explorable-1:.*\b{name}={after}\b", link)
    assert "_controls" not in link
    page = new_page()
    page.goto(link)
    page.wait_for_function("document.querySelector('.posenc-explorable').dataset.ready === 'true'")
    present = f"document.querySelector('.posenc-explorable').posencModel.get('{name}')"
    assert page.evaluate(present) == pytest.approx(after)
    settle(page)
    top = page.evaluate("document.querySelector('.posenc-explorable').getBoundingClientRect().top")
    assert -10 <= top < page.viewport_size["height"]

    page.evaluate("(hash) => { location.hash = hash }", f"#explorable-1:{name}={before}")  # and on a page already open
    page.wait_for_function(f"(value) => Math.abs({present} - value) < 1e-9", arg=before)


def test_setting_link_works_from_disk(built_site: Path, new_page: Callable[..., Page]) -> None:
    page = new_page()
    address = (built_site / page_with("posenc-explorable")).as_uri()
    page.goto(address)
    scroll_through(page)
    name, _, after = numeric_setting(page)
    page.goto("about:blank")
    page.goto(f"{address}#explorable-1:{name}={after}")
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
    expect(figure).to_have_id("explorable-1")  # the host has been here
    for route in hold:
        route.continue_()
    expect(figure).to_have_attribute("data-ready", "true")


FORMULAS = "notebooks/05_rope_by_matrices.html"


def test_formulas_wait_for_the_first_explorable(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    hold: list[Route] = []
    page.route("**/posenc/modules/*.js*", lambda route: hold.append(route))
    page.goto(f"{site_url}/{FORMULAS}", wait_until="domcontentloaded")
    page.wait_for_function("Boolean(window.MathJax?.startup?.promise)")
    assert page.locator("mjx-container").count() == 0
    for route in hold:
        route.continue_()
    settle(page)
    assert page.locator("mjx-container").count() > 100


def test_formulas_do_not_need_the_page_host(site_url: str, browser: Browser) -> None:
    """With a page of its own: a script that is missing is an error in the console."""
    page = browser.new_page()
    page.route("**/posenc/host.js*", abort)
    page.goto(f"{site_url}/{FORMULAS}")
    settle(page)
    assert page.locator("mjx-container").count() > 100
    page.close()


def test_states_in_the_pages_are_plain_json(built_site: Path) -> None:
    """What the host reads parses, and cannot end its script element early."""
    for name in chapters():
        text = (built_site / name).read_text(encoding="utf-8")
        for body in re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL):
            json.loads(body)

"""What every browser is asked: `python -m release.browsers` runs it, and no other test run takes it along.

Each test runs in each browser, on the site from disk and over HTTP. Explorables join by their line in
tests/explorables.py. What is drawn, said and accepted is compared as Chromium's tests compare it (tests/book/site).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from release.browsers.drive import BROWSERS, Browser
from release.browsers.watch import elsewhere, with_notes
from tests.book.python.cells import BAR, seen
from tests.book.python.cells import LOOK as CELLS
from tests.book.python.chapters import faults_of
from tests.book.site.browser import (
    ALL_READY,
    FIGURES,
    FORMULAS_SET,
    FRAME_PATIENCE,
    OPEN_ALL,
    SCROLL,
    pages,
    require_site,
    serve,
)
from tests.book.site.live import Shown
from tests.book.site.visit import LOOK
from tests.explorables import CASES, EVERY_ONE, Case, shown
from tests.js.node import assert_same

FOR_PAPER = "notebooks/08_long_range_decay.html"  # explorables and Plotly figures, many beyond the first screen
CODE = "03_absolute_encodings"  # a chapter all of whose cells run in its page
EACH = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
PATIENCE = 180_000  # milliseconds until a condition that should hold does
WAIT = f"""async (condition, x) => {{
  const holds = new Function('x', `return (${{condition}})(x)`), end = performance.now() + {PATIENCE};
  while (!holds(x)) {{
    if (performance.now() > end) throw new Error(`not within {PATIENCE // 1000} s: ${{condition}}`);
    await new Promise((again) => setTimeout(again, 20));
  }}
}}"""
# A figure's control, in sight and focused.
FOCUS = """(figure, [name, selector]) => {
  const field = figure.querySelector(`[data-control=${name}]`).querySelector(selector);
  field.scrollIntoView({ block: 'center', behavior: 'instant' });
  field.focus();
  if (field.type === 'text') field.select();
  if (document.activeElement !== field) throw new Error(`${name} takes no focus`);
}"""
# The share of a picture that is drawn on, and how many colours are there.
INK = """(figure) => {
  const canvas = figure.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Uint32Array(data.buffer), inked = pixels.filter((pixel) => pixel >>> 24 > 0);
  return [inked.length / pixels.length, new Set(inked).size];
}"""
# A handle's name, and a path in the window from it: to another with which it changes places, or else 60 pixels towards
# the middle of the picture across, and 40 up or down.
PATH = """(figure, explorable, k) => {
  const canvas = figure.querySelector('canvas'), { handles } = explorable, { name, x, y, along, swaps } = handles[k];
  scrollBy({ top: canvas.getBoundingClientRect().top + y - innerHeight / 2, behavior: 'instant' });
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const like = swaps && handles.find((other, at) => other.swaps && other.along === along && at !== k);
  const across = like ? like.x - x : x < width / 2 ? 60 : -60, down = like ? like.y - y : y < height / 2 ? 40 : -40;
  return [name, [0, 0.5, 1].map((share) => [left + x + share * across, top + y + share * down])];
}"""
# Presses a button of the page's bar for Python, or of a cell.
PRESS = """([place, words]) => [...document.querySelectorAll(`${place} button`)]
  .find((button) => button.offsetParent && (!words || button.textContent.trim() === words)).click()"""
STATE = f"(document.querySelector('{BAR}').dataset.state)"
READY = f"() => ['ready', 'stopped'].includes{STATE}"
RUNNING = f"() => {STATE} === 'running'"
TOLD = f"() => document.querySelector('{BAR} [role=status]').textContent"
# The middle of the theme's button that is to be seen.
THEME_BUTTON = """() => {
  scrollTo(0, 0);
  const button = [...document.querySelectorAll('button.theme-switch-button')].find((one) => one.offsetParent);
  const { left, right, top, bottom } = button.getBoundingClientRect();
  return [(left + right) / 2, (top + bottom) / 2];
}"""


class Reader:
    """Somebody who reads the site with a browser, and what its pages logged as errors meanwhile."""

    def __init__(self, browser: Browser, site: str) -> None:
        self.browser, self.site, self.errors = browser, site, []

    def open(self, page: str) -> None:
        """Open a page, or a link to a place on one, afresh."""
        self.leave()
        self.browser.open(f"{self.site}/{page}")
        self.browser.call(FORMULAS_SET)

    def leave(self) -> None:
        """Leave the page, and remember what went wrong on it."""
        self.errors += self.browser.call("() => window.posencNoted ?? []")
        self.browser.open("about:blank")

    def wait(self, condition: str, x: object = None) -> None:
        """Wait until a JavaScript function of `x` is true."""
        self.browser.call(WAIT, condition, x)

    def scroll_through(self) -> None:
        """Open what is closed, scroll to every figure, and wait until all are drawn."""
        self.browser.call(OPEN_ALL)
        assert self.browser.call(SCROLL, [FIGURES, FRAME_PATIENCE]), "the browser drew no frame"
        self.wait(ALL_READY, FIGURES)

    def turn(self, theme: str) -> None:
        """Press the theme's button until the page has this theme: it goes round automatic, light and dark."""
        for _ in range(3):
            if self.browser.call("() => document.documentElement.dataset.theme") != theme:
                self.browser.drag(self.browser.call(THEME_BUTTON))
        self.wait("(theme) => document.documentElement.dataset.theme === theme", theme)


class Driven(Shown):
    """The first explorable of a module on the page that is open."""

    def __init__(self, reader: Reader, case: Case) -> None:
        self.browser = reader.browser
        self.selector = f"figure.posenc-explorable[data-module={case.cls.module}]"
        self.call("(figure) => figure.scrollIntoView({ block: 'center', behavior: 'instant' })")
        reader.wait("(figure) => document.querySelector(figure).dataset.ready === 'true'", self.selector)
        self.settle()

    def call(self, function: str, x: object = None) -> Any:
        return self.browser.call(
            f"(selector, x) => ({function})(document.querySelector(selector), x)", self.selector, x
        )

    def press(self, name: str, selector: str, *keys: str) -> Any:
        """Press keys where a control has its focus: its value then."""
        self.call(FOCUS, [name, selector])
        self.browser.press(*keys)
        return self.get(name)

    def type(self, name: str, value: object) -> Any:
        """Write a value into a control's field in place of what is there: its value then."""
        return self.press(name, "input[type=text]", *str(value), "Enter")

    def equals_node(self, case: Case, where: object) -> None:
        """Assert that what is drawn and said is what Node.js computes for the present setting."""
        setting, finding, _ = self.state()
        expected = shown(case.cls, **setting)
        assert_same(self.values(), expected.values, str(where))
        assert finding == expected.finding, where


# ---- fixtures -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def noting_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the built site that notes what goes wrong on a page."""
    folder = tmp_path_factory.mktemp("site") / "html"
    with_notes(require_site(), folder)
    return folder


@pytest.fixture(scope="session", params=BROWSERS)
def browser(request: pytest.FixtureRequest) -> Iterator[tuple[Browser, list[str]]]:
    """One browser after the other, and what each asks of other hosts."""
    with elsewhere() as (proxy, asked):
        running = BROWSERS[request.param](proxy)
        request.config.get_terminal_writer().line(f"{running.name} {running.version}")
        try:
            yield running, asked
        finally:
            running.close()


@pytest.fixture(scope="session", params=["disk", "http"])
def site(request: pytest.FixtureRequest, noting_site: Path) -> Iterator[str]:
    """The address of the site, without a slash at its end: from disk, then by a server."""
    if request.param == "disk":
        yield noting_site.as_uri()
    else:
        with serve(noting_site) as address:
            yield address


@pytest.fixture
def reader(browser: tuple[Browser, list[str]], site: str) -> Iterator[Reader]:
    """Somebody who reads; fails at the end if a page logged an error or asked another host for anything."""
    running, asked = browser
    asked.clear()
    somebody = Reader(running, site)
    yield somebody
    somebody.leave()
    assert somebody.errors == asked == []


# ---- the battery ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", pages())
def test_a_page_is_drawn_without_an_error(reader, page):
    reader.open(page)
    reader.scroll_through()
    look = reader.browser.call(LOOK, FIGURES)
    assert look["failures"] == 0
    assert look["set"] == look["formulas"]
    drawn = reader.browser.call(
        "() => [...document.querySelectorAll('.posenc-plotly')].map((figure) =>"
        " figure.querySelectorAll('.main-svg .trace, .main-svg .hm').length)"
    )
    assert len(look["plots"]) == len(drawn)
    assert 0 not in drawn, "a Plotly figure is empty"
    assert look["outside"] == [], "wider than the page"


@EACH
def test_drawn_data_and_finding_equal_python(reader, case):
    reader.open(EVERY_ONE)
    live = Driven(reader, case)
    share, colours = live.call(INK)
    assert share > 0.005
    assert colours > 2
    for setting in [{}, *case.settings, case.largest]:
        live.set(**case.cls(**setting).setting())
        live.equals_node(case, setting)


@EACH
def test_every_control_answers_to_keys_and_typing(reader, case):
    reader.open(EVERY_ONE)
    live = Driven(reader, case)
    live.open()
    for control in case.cls.controls():
        name, scale = control["name"], control["scale"]
        needed = {other: values[0] for other, values in control["needs"].items()}
        live.set(**case.cls(**({} if name in case.free else case.free)).setting() | needed)
        before = live.get(name)
        if scale == "switch":
            assert live.press(name, "input[type=checkbox]", " ") is not before
        elif scale == "choice":
            values = [option["value"] for option in control["options"]]
            present = values.index(live.get(name))
            key, to = ("ArrowDown", present + 1) if present + 1 < len(values) else ("ArrowUp", present - 1)
            assert live.press(name, "select, input:checked", key) == values[to]
        elif scale == "action":
            assert live.press(name, "button", "Enter") == before + 1
        elif scale == "text":
            if control["own_control"]:
                continue  # no field: its settings are drawn above
            other = next(setting[name] for setting in case.settings if setting.get(name, before) != before)
            assert live.type(name, other) == other
        else:
            assert live.press(name, "input[type=range]", "Home") == control["least"]
            assert control["least"] < live.press(name, "input[type=range]", "ArrowRight") < control["greatest"]
            assert live.type(name, control["greatest"] * 10 + 10) == control["greatest"]
            assert live.type(name, before) == before
            assert live.notice == ""
            live.press(name, "input[type=range]", "Home")
        live.equals_node(case, name)


@EACH
def test_handles_are_dragged_by_the_mouse(reader, case):
    reader.open(EVERY_ONE)
    live = Driven(reader, case)
    assert tuple(handle["name"] for handle in live.evaluate("explorable.handles")) == case.handles
    live.set(**case.cls(**case.free).setting())
    for k in range(len(case.handles)):
        name, path = live.evaluate(f"({PATH})(figure, explorable, x)", k)
        before = live.setting()
        live.browser.drag(*path)
        assert live.setting() != before, name
        live.equals_node(case, name)


def test_everything_is_drawn_for_paper_in_the_colours_for_paper(reader):
    reader.open(FOR_PAPER)
    reader.turn("dark")
    reader.browser.call("() => { document.activeElement.blur(); }")
    reader.browser.press("p", held="Control")
    reader.wait("() => window.posencPrinted === 1")
    assert reader.browser.call("() => document.documentElement.dataset.theme") == "light"
    assert reader.browser.call(ALL_READY, FIGURES), "a figure was not drawn"
    reader.browser.call("() => { dispatchEvent(new Event('afterprint')); }")
    assert reader.browser.call("() => document.documentElement.dataset.theme") == "dark"


def test_a_chapters_code_runs_in_its_page(reader):
    """Every cell, with what it prints; then another text in the editor."""
    reader.open(f"notebooks/{CODE}.html")
    reader.wait("(bar) => document.querySelector(`${bar} button`)", BAR)
    reader.browser.call("() => document.querySelector('[name=posenc-code][value=all]').click()")
    reader.browser.call(PRESS, [BAR, ""])
    reader.wait(READY)
    assert reader.browser.call(f"() => {STATE}") == "ready", reader.browser.call(TOLD)
    reader.browser.call(PRESS, [BAR, "Run all"])
    reader.wait(RUNNING)
    reader.wait(READY)
    assert reader.browser.call(f"() => {STATE}") == "ready", reader.browser.call(TOLD)
    cells = seen(CODE, reader.browser.call(CELLS))
    assert faults_of(CODE, cells) == []
    assert sum(cell.is_equal for cell in cells if cell.stored) > 10
    assert all(cell.ended == "done" for cell in cells)
    reader.browser.call("() => document.querySelector('#cell-opening-maps .cm-content').focus()")
    reader.browser.press("a", held="Control")
    reader.browser.press(*"1 + 41")
    reader.browser.call("() => { delete document.querySelector('#cell-opening-maps').dataset.ended; }")
    reader.browser.call(PRESS, ["#cell-opening-maps .posenc-tools", ""])
    reader.wait("() => document.querySelector('#cell-opening-maps').dataset.ended")
    changed = seen(CODE, reader.browser.call(CELLS))
    assert next(cell.printed for cell in changed if cell.id == "opening-maps") == "42"

"""One visit to one page of the built site, which notes all that the tests ask of every page.

It goes as a reader may go: the page comes, nobody has guessed yet, it is scrolled to its end, and the window becomes a
phone's. A full visit, to pages that have one of everything and before a release to all, also asks axe-core, switches
the theme, and opens the page from disk and without JavaScript. Nothing moves: figures are drawn to the end at once.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from tests.book.site.accessibility import violations
from tests.book.site.browser import FIGURES, OPEN_ALL, SITE, Watch, chapters, pages, scroll_through, settle, weigh

WIDE, MIDDLE, PHONE = (1280, 900), (1000, 900), (360, 780)
# Code, formulas and what Plotly draws take axe long and are alike everywhere: one page has them looked at too.
ALL_OF_IT = "notebooks/07_rope_in_code.html"
ALIKE = ("pre", "mjx-container", ".posenc-canvas > *")
KINDS = ("posenc-explorable", "posenc-plotly", "posenc-interact", "posenc-term", "posenc-claim", "map-card", "math")

LOOK = """(figures) => {
  const plots = [...document.querySelectorAll('.posenc-plotly .posenc-canvas')];
  const outside = [...document.querySelectorAll(`${figures}, .prev-next-title`)].filter((part) => {
    // WebKit measures what is shown smaller as if it were not
    const { left, right, width } = (part.closest('.posenc-living') ?? part).getBoundingClientRect();
    return width === 0 || left < 0 || right > innerWidth;
  });
  return {
    theme: document.documentElement.dataset.theme,
    ground: getComputedStyle(document.body).backgroundColor,
    width: document.documentElement.scrollWidth,
    outside: outside.map((part) => part.id || part.className),
    failures: document.querySelectorAll('mjx-merror, .MathJax_Error, .posenc-failure').length,
    skipLink: document.querySelector('#pst-skip-link a')?.getAttribute('href'),
    formulas: document.querySelectorAll('.math').length,
    set: document.querySelectorAll('.math mjx-container').length,
    mathjax: window.MathJax?.version,
    plotly: window.Plotly?.version,
    outgrown: [...document.querySelectorAll('.posenc-explorable')]
      .filter((figure) => figure.offsetHeight > parseFloat(getComputedStyle(figure).minHeight) + 1)
      .map((figure) => `${figure.dataset.name}: ${figure.offsetHeight}`),
    heights: plots.map((canvas) => canvas.closest('.posenc-plotly').offsetHeight),
    plots: plots.filter((canvas) => canvas._fullLayout).map((canvas) => ({
      role: canvas.getAttribute('role'),
      label: canvas.getAttribute('aria-label') ?? '',
      reached: canvas.querySelectorAll("button, a[href], [tabindex='0']").length,
      tick: canvas.querySelector('.xtick text')?.style.fill,
      legend: canvas._fullLayout.legend?.orientation ?? 'h',
      width: canvas._fullLayout.width,
    })),
    interact: [...document.querySelectorAll('.posenc-interact')].map((cell) => ({
      ready: cell.querySelector('.posenc-plotly')?.dataset.ready,
      run: cell.querySelector('.posenc-run')?.innerText,
      settings: [...cell.querySelectorAll('.posenc-settings li')].map((setting) => setting.innerText),
      drawn: cell.querySelectorAll('.posenc-plotly .main-svg .trace, .posenc-plotly .main-svg .hm').length,
    })),
    faces: [...document.fonts].filter(({ family, status }) => /^.?Turn by Turn.?$/.test(family) && status === 'loaded')
      .map(({ style, weight }) => `${style} ${weight}`),
  };
}"""
# The characters of the page's text, in figures too; code and formulas have faces of their own.
CHARACTERS = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = new Set();
  while (texts.nextNode()) {
    if (texts.currentNode.parentElement.closest('script, style, pre, code, kbd, .math')) continue;
    for (const character of texts.currentNode.data) found.add(character);
  }
  return [...found].sort().join('');
}"""
# Every Plotly figure has the colour of the page's text and fits, every explorable has drawn, and what can be scrolled
# can be by keys, which the theme sees to some time after the window has changed.
REDRAWN = """() => {
  const text = getComputedStyle(document.documentElement).getPropertyValue('--pst-color-text-base').trim();
  const plots = [...document.querySelectorAll('.posenc-canvas')].filter((canvas) => canvas._fullLayout);
  const views = [...document.querySelectorAll('.posenc-explorable-view')].filter((view) => view.explorable);
  return plots.every(({ _fullLayout: { font, width } }) => font.color === text && width <= innerWidth)
    && views.every((view) => view.explorable.done)
    && [...document.querySelectorAll('pre, .pst-scrollable-table-container')].every(
      (scrolled) => !(scrolled.scrollWidth > scrolled.clientWidth && scrolled.tabIndex));
}"""
# Formulas, those within a line too, and tables that are cut, outside of the text's column or of a box that they cannot
# be scrolled in; and numbers that lie over their formula.
CUT = """() => {
  const article = document.querySelector('article');
  if (!article) return [];
  const folds = [...article.querySelectorAll('details:not([open])')];
  for (const fold of folds) fold.open = true;
  const column = article.getBoundingClientRect();
  const beside = document.querySelector('.bd-sidebar-secondary');
  const stands = beside && getComputedStyle(beside).position === 'sticky'; // elsewhere it waits outside of the window
  const end = stands ? Math.min(column.right, beside.getBoundingClientRect().left) : column.right;
  const cut = (part) => {
    let { left, right } = part.getBoundingClientRect();
    for (let box = part.parentElement; box !== article; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box), room = box.getBoundingClientRect();
      if (overflowX === 'visible') continue;
      const scrolls = ['auto', 'scroll'].includes(overflowX);
      if (left + (scrolls ? box.scrollLeft : 0) < room.left - 1 || (!scrolls && right > room.right + 1)) return true;
      ({ left, right } = room);
    }
    return left < Math.max(column.left, 0) - 1 || right > Math.min(end, innerWidth) + 1;
  };
  const covered = (labels) => {
    const formula = labels.parentElement.querySelector(':scope > mjx-table > mjx-itable').getBoundingClientRect();
    return formula.right > labels.querySelector('mjx-mtd').getBoundingClientRect().left + 1;
  };
  const all = [...article.querySelectorAll('div.math, .math mjx-container, table')];
  const parts = all.filter((part) => part.getClientRects().length).filter(cut); // a closed card has no place
  const found = [...parts, ...[...article.querySelectorAll('div.math mjx-labels')].filter(covered)];
  for (const fold of folds) fold.open = false;
  return found.map((part) => `${part.localName}: ${part.closest('.math, table').textContent.trim().slice(0, 60)}`);
}"""
OPEN_FOLDS = "() => { for (const fold of document.querySelectorAll('details.posenc-deeper')) fold.open = true; }"
# What a guess opens: how many boxes, how many of them and of all that is in them are drawn, and what is read in them.
BEHIND = """(name) => [...document.getElementsByClassName(name)].map((box) => ({
  open: box.checkVisibility(),
  drawn: [box, ...box.querySelectorAll('*')].filter((part) => part.getClientRects().length > 0).length,
  lines: [...box.querySelectorAll('p:not(:has(.math)), pre, tr')].flatMap((part) =>
    part.cells ? [...part.cells].map((cell) => cell.textContent).join(' ') : part.textContent.split('\\n')),
}))"""
# Where parts of a page have more in them than there is room for, in pixels.
SCROLLED = """(parts) => {
  const folds = [...document.querySelectorAll('article details:not([open])')];
  for (const fold of folds) fold.open = true;
  const found = [...document.querySelectorAll(parts)]
    .filter((part) => part.scrollWidth > part.clientWidth + 1)
    .map((part) => `${part.closest('.cell, section').id}: ${part.scrollWidth - part.clientWidth}`);
  for (const fold of folds) fold.open = false;
  return found;
}"""
WITHOUT_JAVASCRIPT = """(figures) => [...document.querySelectorAll(figures)].map((figure) => ({
  text: figure.querySelector('noscript')?.innerText ?? '', height: figure.offsetHeight,
}))"""


@dataclass
class Unanswered:
    """A page that asks, as it comes, its deeper sections open."""

    seen: str
    heard: str  # by a screen reader
    asked: list[dict[str, Any]]
    behind: dict[str, list[dict[str, Any]]]  # by the question's cell, what BEHIND gives


@dataclass
class Visit:
    """What one visit noted; a `look` is what LOOK gives."""

    first: dict[str, Any] = field(default_factory=dict)  # a look before anything is scrolled to
    weight: dict[str, Any] = field(default_factory=dict)
    light: dict[str, Any] = field(default_factory=dict)  # a look, wide, with everything drawn
    characters: str = ""
    cut: dict[int, list[str]] = field(default_factory=dict)  # by the window's width, what CUT gives
    scrolled: dict[str, list[str]] = field(default_factory=dict)  # what SCROLLED gives, by what was looked at
    phone: dict[str, Any] = field(default_factory=dict)  # a look at a phone's width, dark in a full visit
    inaccessible: dict[str, list[str]] = field(default_factory=dict)  # by theme
    without_javascript: list[dict[str, Any]] = field(default_factory=list)
    from_disk: dict[str, Any] = field(default_factory=dict)  # a look
    unanswered: Unanswered | None = None  # where the page asks
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@cache
def in_full() -> frozenset[str]:
    """The pages that bring something for a browser to do that no page before them has; the first one too."""
    chosen, seen = set(), set()
    for name in pages():
        text = (SITE / name).read_text(encoding="utf-8")
        here = {"html", *(word for word in KINDS if re.search(rf'class="[^"]*\b{word}\b', text))}
        if here - seen:
            chosen.add(name)
            seen |= here
    return frozenset(chosen)


def switch_theme(page: Page, theme: str) -> None:
    """Press the theme's button, which goes round: automatic, light, dark; and wait until its hint has faded out."""
    page.evaluate("scrollTo(0, 0)")
    button = page.locator("button.theme-switch-button:visible").first
    for _ in range(3):
        if page.evaluate("document.documentElement.dataset.theme") != theme:
            button.click()
    page.mouse.move(0, 0)
    page.wait_for_function("document.querySelector('.tooltip') === null")


def questions(page: Page) -> list[dict[str, Any]]:
    """What the page asks, in its order."""
    return [json.loads(text) for text in page.locator(".posenc-predict script.posenc-question").all_text_contents()]


def unanswered(page: Page) -> Unanswered | None:
    """What a page that asks shows before a guess."""
    asked = questions(page)
    if not asked:
        return None
    settle(page)
    page.evaluate(OPEN_FOLDS)
    behind = {one["cell"]: page.evaluate(BEHIND, f"posenc-awaits-{one['cell']}") for one in asked}
    return Unanswered(page.inner_text("body"), page.locator("body").aria_snapshot(), asked, behind)


class Visitor:
    """Goes from page to page, each in a context of its own: a tab that is used for long stops drawing now and then."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.url, self._browser = url, browser

    def visit(self, name: str, full: bool) -> Visit:
        """Visit a page of the site that is served at `url`."""
        found, (width, height) = Visit(), WIDE
        window = {"width": width, "height": height}
        with self._browser.new_context(viewport=window, color_scheme="light", reduced_motion="reduce") as context:
            context.set_default_timeout(60_000)
            page = self._noted(context, found)
            look_at(page, f"{self.url}/{name}", found, full, () if name == ALL_OF_IT else ALIKE)
            if full:
                page.close()
                page = self._noted(context, found)
                page.goto((SITE / name).as_uri())
                settle(page)
                scroll_through(page)
                found.from_disk = page.evaluate(LOOK, FIGURES)
        if full and name in chapters():
            page = self._browser.new_page(java_script_enabled=False)
            watch = Watch(page, javascript=False)
            watch.foreign, watch.errors = found.foreign, found.errors
            page.goto(f"{self.url}/{name}")
            page.evaluate(OPEN_ALL)
            found.without_javascript = page.evaluate(WITHOUT_JAVASCRIPT, FIGURES)
            page.close()
        return found

    @staticmethod
    def _noted(context: BrowserContext, found: Visit) -> Page:
        """A new page, of whose requests and errors the visit takes note."""
        page = context.new_page()
        watch = Watch(page)
        watch.foreign, watch.errors = found.foreign, found.errors
        return page


def look_at(page: Page, address: str, found: Visit, full: bool, left_out: tuple[str, ...]) -> None:
    """Read a page as it comes, to its end, then in a phone's window; note what is found."""
    page.goto(address)
    settle(page)
    found.weight = weigh(page)
    found.unanswered = unanswered(page)
    page.evaluate(OPEN_ALL)
    found.first = page.evaluate(LOOK, FIGURES)
    scroll_through(page)
    found.light = page.evaluate(LOOK, FIGURES)
    found.characters = page.evaluate(CHARACTERS)
    found.cut[WIDE[0]] = page.evaluate(CUT)
    found.scrolled["code"] = page.evaluate(SCROLLED, "article .cell_input pre")
    if full:
        found.inaccessible["light"] = violations(page, *left_out)
        resize(page, MIDDLE)
        found.cut[MIDDLE[0]] = page.evaluate(CUT)
        found.scrolled["printed"] = page.evaluate(SCROLLED, "article .cell_output pre")
        switch_theme(page, "dark")
    resize(page, PHONE)
    page.wait_for_function(REDRAWN, polling=100)  # to ask it is work for the page
    found.phone = page.evaluate(LOOK, FIGURES)
    found.cut[PHONE[0]] = page.evaluate(CUT)
    found.scrolled["formulas"] = page.evaluate(SCROLLED, "article div.math, article div.math mjx-container")
    if full:
        found.inaccessible["dark"] = violations(page, *left_out)


def resize(page: Page, size: tuple[int, int]) -> None:
    """Give the window a width and a height."""
    page.set_viewport_size({"width": size[0], "height": size[1]})

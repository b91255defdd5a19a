"""Ten pages in the language for tests, en-XA: every word that the site and the explorables add has accents.

What they add are buttons, labels, notices, findings, legends, titles of axes, names for screen readers. A word without
accents that is shown is allowed where it is the page's own: prose of its Markdown, headings of other pages in links,
texts of predictions, entries of the glossary; data of explorables, such as their example sentences; names of models and
of cells. In a control neither prose nor the glossary counts. Left out are code, formulas, what cells print and
draw, which is Python's and stays English, and what the deciders of claims say, which is part of the claims.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from posenc import configs
from posenc.widgets import EXPLORABLES, OrderBlindness
from tests.book.site.browser import ROOT, scroll_through, serve
from tools.notebooks import joined, load
from tools.pseudo import ACCENTED, LANGUAGE

pytestmark = [pytest.mark.release, pytest.mark.xdist_group("language")]

ASSIGNMENT = "notebooks/assignments/assignment_1"
PAGES = (
    *(
        "book/intro",
        "book/the_map",
        "book/doctor",
        "book/explorables",
        "book/claims",
        "book/glossary",
        "book/questions",
    ),
    *("notebooks/05_rope_matrices", "notebooks/06_rope_complex", ASSIGNMENT),
)
LEFT_OUT = (
    "pre, code, script, style, noscript, .math, mjx-container, .posenc-plotly, .posenc-table, .posenc-claim-tried, "
    ".posenc-claim-figure, .posenc-editor, kbd, .copybtn"  # a foreign button, which speaks some other languages
)
CONTROLS = "button, label, legend, select, form, [role=status], [role=group], .posenc-explorable, .posenc-python"
# Canvases tell what is written on them, but for what the Playground's model reads and writes, letter below letter.
LISTEN = """
window.posencWritten = new Set();
for (const name of ["fillText", "strokeText"]) {
  const draw = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (text, ...place) {
    if (!this.font.includes("monospace")) window.posencWritten.add(text);
    return draw.call(this, text, ...place);
  };
}
"""
SHOWN = """([leftOut, controls]) => {
  const found = Array.from(window.posencWritten, (text) => [text, "canvas", true]);
  const note = (text, element, what) => {
    if (!text || element.closest(leftOut)) return;
    found.push([text, `${what} ${element.outerHTML.slice(0, 80)}`, Boolean(element.closest(controls))]);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) note(walker.currentNode.data, walker.currentNode.parentElement, "text of");
  const names = ["aria-label", "aria-valuetext", "title", "data-bs-original-title", "placeholder", "alt"];
  for (const element of document.querySelectorAll("body *")) {
    for (const name of names) note(element.getAttribute(name), element, name);
  }
  return found;
}"""
PATIENCE = 120_000  # milliseconds: one page draws all explorables
ACCENTS = "".join(map(chr, ACCENTED.values()))
WORD = re.compile(r"[A-Za-z]{2,}")


def words(text: str) -> str:
    """The words without accents, small and with a space around each."""
    return f" {' '.join(WORD.findall(text)).lower()} "


def plain(text: str) -> list[str]:
    """The runs of words without accents."""
    return [run for run in map(words, re.split(rf"\w*[{ACCENTS}]\w*|[,;·()]", text)) if run.strip()]


def texts(value: Any) -> Iterator[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


@cache
def source(page: str) -> str:
    """The Markdown of a page."""
    path = ROOT / f"{page}.md"
    if path.exists():
        return path.read_text(encoding="utf-8")
    cells = load(path.with_suffix(".ipynb"))["cells"]
    return "\n\n".join(joined(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def bare(markdown: str) -> str:
    """A text without addresses, tags and formulas."""
    return re.sub(r"\]\([^()\n]*\)|</?[a-z][^<>]*>|\$[^$\n]*\$", " ", markdown)


@cache
def everywhere() -> set[str]:
    """What may stand on every page, in controls too: headings, data of explorables, names of models, a real part."""
    pages = [path.relative_to(ROOT) for kind in ("md", "ipynb") for path in ROOT.glob(f"[bn]*/**/*.{kind}")]
    markdown = [source(page.with_suffix("").as_posix()) for page in pages]
    headings = [heading for text in markdown for heading in re.findall(r"(?m)^#+ (.+)$", text)]
    data = [text for cls in EXPLORABLES for text in texts(json.loads(json.dumps(cls.data())))]
    return {run for text in (*headings, *data, *configs.MODELS, "Re") for run in plain(bare(text))}


@cache
def sentences() -> set[str]:
    """The words of example sentences, which come in other orders too."""
    [control] = [control for control in OrderBlindness()._controls if control["name"] == "sentence"]
    return {word for option in control["options"] for word in words(option["value"]).split()}


@cache
def in_controls(page: str) -> set[str]:
    """What may stand in a control of a page: what may everywhere, texts of its predictions, names of its cells."""
    path = ROOT / f"{page}.ipynb"
    cells = load(path)["cells"] if path.exists() else []
    of_cells = texts([[cell["id"], cell["metadata"].get("predict")] for cell in cells])
    return everywhere() | {run for text in of_cells for run in plain(text)}


@cache
def prose(page: str) -> str:
    """The words of a page, of the glossary, of the contents; for the claims, those of the claims."""
    files = [ROOT / "_toc.yml", ROOT / "_config.yml"]
    if page == "book/claims":
        files += (ROOT / "book" / "claims").rglob("*.toml")
    markdown = [source(page), source("book/glossary"), *(file.read_text(encoding="utf-8") for file in files)]
    return "".join(words(bare(text)) for text in markdown)


@pytest.fixture(scope="module")
def accented_site() -> Iterator[str]:
    """The address of the pages in en-XA."""
    command = [sys.executable, "-m", "tools.book", "--language", LANGUAGE, "--pages", *PAGES]
    subprocess.run(command, cwd=ROOT, check=True)
    with serve(ROOT / "_build" / LANGUAGE / "_build" / "html") as address:
        yield address


def open_page(browser: Browser, address: str) -> Page:
    """A page whose canvases tell, with all that it draws."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.add_init_script(LISTEN)
    page.goto(address)
    scroll_through(page)
    return page


def unmarked(page: Page, name: str) -> list[str]:
    """What is shown without accents and is not the page's own."""
    found = []
    for text, place, is_control in page.evaluate(SHOWN, [LEFT_OUT, CONTROLS]):
        for run in plain(text):
            allowed = run in in_controls(name) or set(run.split()) <= sentences()
            if not allowed and (is_control or run not in prose(name)):
                found.append(f"{run.strip()!r} in {place}")
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("name", PAGES)
def test_what_the_site_adds_is_in_catalogues(name: str, accented_site: str, browser: Browser) -> None:
    page = open_page(browser, f"{accented_site}/{name}.html")
    assert page.get_attribute("html", "lang") == LANGUAGE
    assert not unmarked(page, name)
    page.close()


def test_what_python_in_a_page_adds_is_in_catalogues(accented_site: str, browser: Browser) -> None:
    page = open_page(browser, f"{accented_site}/{ASSIGNMENT}.html")
    page.locator(".posenc-python button").first.click()
    page.locator(".posenc-tools").first.wait_for()
    assert not unmarked(page, ASSIGNMENT)
    page.close()

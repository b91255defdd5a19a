"""Python in a page, in a browser: a whole chapter, and what a reader may do. tests/book/python has all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.book.python.cells import BAR, Chapter
from tests.book.python.chapters import try_opened
from tests.book.site.browser import SITE, Watch, require_site, weigh

WHERE = "03_absolute_encodings"  # the chapter on which everything else is tried
FIRST = "opening-maps"  # its first cell that has a button, whose figure needs the imports before
LOOP = "while True:\n    pass"
FOCUSED = "document.activeElement.closest('.cell, .posenc-python')?.id || document.activeElement.getAttribute('role')"


def names(page: Page) -> list[str]:
    """The names of all buttons of cells, as they are read out."""
    return page.locator(".posenc-tools button").evaluate_all(
        "(all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent)"
    )


@pytest.fixture(scope="module")
def kept_chapter(browser: Browser, site_url: str) -> Iterator[tuple[Chapter, dict[str, object]]]:
    """A chapter of which all was tried, kept with what was found for the tests that leave its Python alive."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watch = Watch(page)
    chapter = Chapter(page, WHERE).open(site_url)
    loaded = {name.rpartition("/")[2].partition("?")[0] for name in weigh(page)["files"] if "/posenc/python/" in name}
    yield chapter, {"loaded": loaded, "buttons": names(page)} | try_opened(chapter, watch)
    page.close()
    assert not watch.foreign
    assert not watch.errors


def test_a_chapter_runs_as_it_is_stored(kept_chapter: tuple[Chapter, dict[str, object]]) -> None:
    """The others: `python -m tests.book.python`."""
    row = kept_chapter[1]
    assert row["faults"] == []
    assert row["equal"] == row["texts"] > 5
    assert row["spine_run"] >= 0.75 * row["spine"]
    assert row["checks"]


@pytest.fixture
def chapter(kept_chapter: tuple[Chapter, dict[str, object]]) -> Chapter:
    """The chapter, alive, with its first cell as the book has it."""
    kept = kept_chapter[0]
    kept.reset(FIRST)
    assert kept.run(FIRST).ended == "done"
    return kept


def test_nothing_is_loaded_before_the_click(kept_chapter: tuple[Chapter, dict[str, object]]) -> None:
    assert kept_chapter[1]["loaded"] == {"start.js", "page.css"}
    assert kept_chapter[1]["buttons"] == []


def test_each_cell_has_a_button_of_its_own_once_python_is_there(chapter: Chapter) -> None:
    found = names(chapter.page)
    assert len(set(found)) == len(found) > 20
    assert f"Run the cell {FIRST}, and what it depends on" in found
    assert "imports" not in {cell.id for cell in chapter.look()}, "no page shows them"


@pytest.mark.release
def test_from_disk_a_changed_number_changes_the_figure(new_page: Callable[..., Page]) -> None:
    require_site()
    page = new_page()
    chapter = Chapter(page, WHERE).open(SITE.as_uri())
    page.locator("#cell-slider .posenc-run button").click()  # brings Python, and runs what stands before
    page.wait_for_selector("#cell-slider .posenc-live .posenc-plotly[data-ready]", timeout=180_000)
    chapter.wait("ready")
    expect(page.locator("#cell-slider .posenc-tools button").first).to_be_focused()
    source = page.locator("#cell-slider .cm-content").inner_text()
    drawn = "() => document.querySelector('#cell-slider .posenc-moved script').textContent"
    before = page.evaluate(drawn)
    changed = source.replace("IntSlider(16,", "IntSlider(8,")
    assert changed != source
    assert chapter.run("slider", changed).ended == "done"
    assert page.evaluate(drawn) != before


def test_an_empty_cell_shows_nothing_and_reset_brings_it_back(chapter: Chapter) -> None:
    stored = chapter.cell(FIRST).stored
    assert chapter.run(FIRST, "print(7)").printed == "7\n"
    empty = chapter.run(FIRST, "")
    assert (empty.ended, empty.printed, empty.error) == ("done", "", "")
    chapter.reset(FIRST)
    assert chapter.page.locator(f"#cell-{FIRST} .cm-content").inner_text().startswith("from posenc import figures")
    assert chapter.cell(FIRST).printed == stored


def test_an_explorable_from_python_stands_as_it_is_set(chapter: Chapter) -> None:
    made = chapter.run(FIRST, "from posenc.widgets import DecayExplorer\nDecayExplorer(base=500)")
    assert made.ended == "done"
    figure = chapter.page.locator(f"#cell-{FIRST} .posenc-explorable[data-ready]")
    figure.wait_for()
    assert figure.evaluate("(figure) => figure.posencModel.get('base')") == 500


def test_python_has_no_network(chapter: Chapter) -> None:
    tried = (
        "import js\nasked = js.fetch('https://example.org/')\nprint(asked)\nfrom js import XMLHttpRequest as X\nX.new()"
    )
    assert chapter.run(FIRST, tried).ended == "failed"  # and the kept chapter's watch saw no request
    assert chapter.cell(FIRST).error.endswith("'NoneType' object has no attribute 'new'")


@pytest.mark.release
def test_the_page_stays_alive_while_an_endless_loop_runs_and_stop_ends_it(chapter: Chapter) -> None:
    page = chapter.page
    chapter.type(FIRST, LOOP)
    chapter.press(FIRST)
    page.wait_for_selector(f"{BAR}[data-state='running']")
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(drawn))")
    page.locator(f"#cell-{FIRST}").get_by_role("button", name="End Python").click()
    page.wait_for_selector(f"{BAR}[data-state='stopped']")
    assert "its variables are gone" in chapter.told
    expect(page.locator(f"#cell-{FIRST} .posenc-tools button").first).to_be_focused()
    chapter.reset(FIRST)
    assert chapter.run(FIRST).ended == "done"  # starts Python again
    page.locator(f"#cell-{FIRST} .cm-content").press("Control+a")
    page.keyboard.insert_text(LOOP)
    page.keyboard.press("Control+Enter")
    page.locator(BAR).get_by_role("button", name="Stop").press("Enter")
    expect(page.locator(BAR).get_by_role("button", name="Run all")).to_be_focused()


@pytest.mark.release
def test_shift_enter_goes_on_to_the_next_cell_and_control_enter_stays(chapter: Chapter) -> None:
    page = chapter.page
    shown = page.locator(".cell:has(.cm-content:visible)").evaluate_all("(all) => all.map(({ id }) => id)")
    page.locator(f"#cell-{FIRST} .cm-content").click()
    for key, after in (("Control+Enter", f"cell-{FIRST}"), ("Shift+Enter", shown[shown.index(f"cell-{FIRST}") + 1])):
        page.evaluate("() => { delete document.getElementById('cell-opening-maps').dataset.ended; }")
        page.keyboard.press(key)
        page.wait_for_selector(f"#cell-{FIRST}[data-ended='done']")
        chapter.wait("ready")
        assert page.evaluate(FOCUSED) == after
    expect(page.locator(f"#{after} .cm-content")).to_be_in_viewport()
    page.locator(f"#{shown[-1]} .cm-content").focus()
    page.keyboard.press("Shift+Enter")
    assert page.evaluate(FOCUSED) == shown[-1], "there is no next one"
    chapter.wait("ready")


def test_tab_leaves_an_editor_and_nobody_is_trapped(chapter: Chapter) -> None:
    page, editor = chapter.page, chapter.page.locator(f"#cell-{FIRST} .cm-content")
    before = editor.inner_text()
    for keys in (["Tab"], ["Shift+Tab"], ["Control+a", "Escape", "Tab"], ["Control+a", "Escape", "Shift+Tab"]):
        editor.focus()
        for key in keys:
            page.keyboard.press(key)
        expect(editor).not_to_be_focused()
    editor.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Tab")
    assert editor.inner_text().startswith("    from posenc")
    page.keyboard.press("Shift+Tab")
    assert editor.inner_text() == before
    expect(page.locator(".posenc-keys")).to_have_count(1)
    expect(page.locator(".posenc-keys")).to_be_visible()


def test_the_notebook_that_is_taken_away_has_the_changes(chapter: Chapter) -> None:
    chapter.type(FIRST, "x = 1\ny = 2")
    with chapter.page.expect_download() as waiting:
        chapter.page.get_by_role("button", name="Download as notebook").click()
    assert waiting.value.suggested_filename == f"{WHERE}.ipynb"
    taken = json.loads(waiting.value.path().read_text(encoding="utf-8"))
    sources = {cell["id"]: cell["source"] for cell in taken["cells"]}
    assert sources[FIRST] == ["x = 1\n", "y = 2"]
    assert len(sources) > 30

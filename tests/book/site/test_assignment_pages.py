"""An assignment in its page: a student's work is kept on the student's machine, taken away and loaded again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.book.python.assignments import page_of
from tests.book.python.cells import BAR, Chapter, notebook
from tests.book.site.browser import SITE, Watch, require_site

KEY = "posenc-work-notebooks-assignments-assignment_4"
RIGHT = """def ntk_aware(dim, base, factor):
    return (base * factor ** (dim / (dim - 2))) ** (-np.arange(0, dim, 2) / dim)"""
NEEDS_TORCH = "Needs torch, which this page does not have: download the notebook, and go on in Colab or with make lab."
WORDS = "The length reaches them: „n“ stands in every angle."
FILE = "/_static/posenc/face-licence.txt"  # a page of the site without scripts
WORK = {"q2": RIGHT, "q7": WORDS}


@pytest.fixture(scope="module")
def kept_assignment(browser: Browser, site_url: str) -> Iterator[Chapter]:
    """Assignment 4, which has an answer in words, with Python and the work that is kept from an earlier visit."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    watch = Watch(page)
    chapter = Chapter(page, page_of(4)).open(site_url)
    page.evaluate("([key, work]) => localStorage.setItem(key, work)", [KEY, json.dumps(WORK)])
    page.reload()
    expect(page.locator(f"{BAR} [role=status]")).to_contain_text("Your work on this page is kept in this browser")
    page.locator("#cell-q6").scroll_into_view_if_needed()
    expect(page.locator(BAR).get_by_role("button", name="Load Python")).to_be_in_viewport(ratio=1)
    chapter.start()
    assert shown(page) == WORK
    yield chapter
    page.context.close()
    assert not watch.foreign
    assert not watch.errors


@pytest.fixture
def assignment(kept_assignment: Chapter) -> Chapter:
    """Assignment 4 as it is handed out."""
    press(kept_assignment, "Clear my work")
    return kept_assignment


def unfold(chapter: Chapter) -> None:
    """Show all buttons of the bar."""
    if not chapter.page.locator(f"{BAR} details").evaluate("(more) => more.open"):
        chapter.page.locator(BAR).get_by_text("More").click()


def press(chapter: Chapter, name: str, accept: bool = True) -> None:
    """Press a button of the bar, and answer what it asks."""
    unfold(chapter)
    chapter.page.once("dialog", lambda dialog: dialog.accept() if accept else dialog.dismiss())
    chapter.page.locator(BAR).get_by_role("button", name=name).click()
    chapter.page.wait_for_timeout(50)


# Work is kept a moment after the last key, and a page's timers come in their order.
LATER = "() => new Promise((later) => setTimeout(later, 400))"


def write_words(page: Page, words: str = WORDS) -> None:
    page.get_by_label("Your answer in words to q7").fill(words)


def shown(page: Page) -> dict[str, str]:
    """The answers that the page shows to q2 and q7."""
    words = page.get_by_label("Your answer in words to q7").input_value()
    return {"q2": page.locator("#cell-q2 .cm-content").inner_text(), "q7": words}


def kept(page: Page) -> dict[str, str] | None:
    """What the browser keeps of the work."""
    page.evaluate(LATER)
    return json.loads(page.evaluate("(key) => localStorage.getItem(key)", KEY) or "null")


def load(chapter: Chapter, path: Path, accept: bool = True) -> str:
    """Load a file; what the page says of it."""
    page = chapter.page
    page.evaluate("(bar) => { document.querySelector(`${bar} [role=status]`).textContent = ''; }", BAR)
    unfold(chapter)
    page.on("dialog", answer := (lambda dialog: dialog.accept() if accept else dialog.dismiss()))
    with page.expect_file_chooser() as chosen:
        page.locator(BAR).get_by_role("button", name="Load a notebook").click()
    chosen.value.set_files(path)
    page.wait_for_timeout(300)
    page.remove_listener("dialog", answer)
    return chapter.told


def taken(chapter: Chapter, folder: Path) -> Path:
    """The page's notebook, downloaded."""
    with chapter.page.expect_download() as waiting:
        chapter.page.get_by_role("button", name="Download as notebook").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_a_question_is_checked_and_one_that_wants_torch_says_so(assignment: Chapter) -> None:
    assert assignment.run("imports").ended == "done"
    assert assignment.run("imports-torch").note == NEEDS_TORCH
    assert assignment.run("q2-check").printed == "q2: not answered yet (2 points)\n"
    assignment.run("q2", RIGHT)
    assert assignment.run("q2-check").printed.startswith("q2: 2 of 2 points on the public checks\n  ✓")
    assignment.type("q2", RIGHT.replace("(dim - 2)", "dim"))
    assert "✗" in assignment.run("q2-check").printed, "the check is of what stands in the cell"
    assert assignment.run("q5-check").note == NEEDS_TORCH
    press(assignment, "Clear my work")
    assert assignment.cell("q2-check").printed == ""
    assert assignment.run("q2-check").printed == "q2: not answered yet (2 points)\n"


def test_work_is_kept_until_it_is_cleared(assignment: Chapter) -> None:
    """That it comes back with the page, `kept_assignment` has seen."""
    page = assignment.page
    assert kept(page) is None
    assignment.type("q2", RIGHT)
    write_words(page)
    assert kept(page) == WORK
    assert page.locator(f"{BAR} + .posenc-note").inner_text().count("sent nowhere") == 1
    press(assignment, "Clear my work", accept=False)
    assert kept(page) == shown(page) == WORK
    press(assignment, "Clear my work")
    assert kept(page) is None
    assert "raise NotImplementedError()" in shown(page)["q2"]
    with page.context.expect_page() as opened:
        page.evaluate("(address) => void open(address)", FILE)
    opened.value.evaluate("(key) => localStorage.setItem(key, '{}')", KEY)
    expect(page.locator(f"{BAR} [role=status]")).to_contain_text("Your work on this page was changed in another tab.")
    opened.value.close()


@pytest.mark.release
def test_what_is_taken_away_can_be_loaded_again(assignment: Chapter, tmp_path: Path) -> None:
    assignment.type("q2", RIGHT)
    write_words(assignment.page)
    path = taken(assignment, tmp_path)
    given, ours = json.loads(path.read_text(encoding="utf-8")), notebook(page_of(4))
    assert [cell["id"] for cell in given["cells"]] == [cell["id"] for cell in ours["cells"]]
    assert given["metadata"] == ours["metadata"]
    press(assignment, "Clear my work")
    assert load(assignment, path).startswith("Loaded ")
    assert kept(assignment.page) == WORK
    changed = {cell["id"]: cell for cell in given["cells"]}
    changed["q2"]["source"] = ["pass"]
    changed["q2-check"]["source"] = ["print('mine')"]  # is locked
    given["cells"].append(changed["q2"] | {"id": "scratch", "metadata": {}})
    path.write_text(json.dumps(given), encoding="utf-8")
    assert load(assignment, path, accept=False) == ""
    assert kept(assignment.page) == WORK
    assert load(assignment, path).endswith("Left out, as this page has no such cell: scratch.")
    assert kept(assignment.page) == {"q2": "pass", "q7": WORDS}


@pytest.mark.release
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "mine.ipynb is no notebook: a file is expected"),
        ("[1, 2]", "mine.ipynb is no notebook: a file is expected"),
        ('{"cells": [{"id": "scratch"}], "metadata": {}}', "mine.ipynb is a notebook of another page."),
        ('{"cells": [], "metadata": {"posenc": {"assignment": 2}}}', "mine.ipynb is a notebook of another page."),
    ],
)
def test_a_file_that_is_not_this_assignment_is_refused(
    assignment: Chapter, tmp_path: Path, content: str, said: str
) -> None:
    assignment.type("q2", RIGHT)
    path = tmp_path / "mine.ipynb"
    path.write_text(content, encoding="utf-8")
    assert load(assignment, path).startswith(said)
    assert kept(assignment.page) == {"q2": RIGHT}


def test_an_answer_that_fails_holds_up_no_other_question(assignment: Chapter) -> None:
    assignment.type("q1", "def interpolated(:")
    assignment.type("q2", RIGHT)
    assert "2 of 2 points" in assignment.run("q2-check").printed
    assert assignment.told == "Done."
    assert assignment.cell("q1").ended == "", "nothing of q2 depends on it"
    assert assignment.run("q1").ended == "failed"
    assert assignment.told == "Done, but these cells failed: q1."
    assert assignment.cell("q1").error.endswith("SyntaxError: invalid syntax")
    assignment.page.evaluate("() => { delete document.getElementById('cell-q1').dataset.ended; }")
    assignment.run("q1-check")
    assert assignment.cell("q1").ended == "", "it is not tried again as it stands"


def test_a_hint_is_asked_for_below_its_check_and_stays(assignment: Chapter, tmp_path: Path) -> None:
    hint = assignment.page.locator("#cell-q2-check").get_by_role("button", name="A hint to q2")
    for step in (1, 2, 3, 3):
        assignment.page.evaluate("() => { delete document.getElementById('cell-q2-check').dataset.ended; }")
        hint.click()
        assignment.page.wait_for_selector("#cell-q2-check[data-ended]")
        assignment.wait("ready")
        assert assignment.cell("q2-check").printed.count("q2, hint ") == step
        assert assignment.page.locator("#cell-q2-check .cm-content").inner_text().endswith(f"check.q2.hint({step})")
    assert assignment.run("q7-check").printed.startswith("q7: a person reads this answer (3 points), and no program.")
    assignment.page.get_by_role("button", name="A hint to q7").click()
    expect(assignment.page.locator("#cell-q7-check .cell_output")).to_contain_text("q7, hint 1 of 3: ")
    assignment.wait("ready")
    path = taken(assignment, tmp_path)
    assert "check.q2.hint(3)" in path.read_text(encoding="utf-8")
    press(assignment, "Clear my work")
    assert "hint" not in assignment.page.locator("#cell-q2-check .cm-content").inner_text()
    load(assignment, path)
    assert assignment.page.locator("#cell-q2-check .cm-content").inner_text().endswith("check.q2.hint(3)")


@pytest.mark.release
def test_from_disk_too_work_is_kept_and_a_browser_that_keeps_none_says_so(new_page: Callable[..., Page]) -> None:
    require_site()
    page = new_page()
    assignment = Chapter(page, page_of(4)).open(SITE.as_uri()).start()
    write_words(page)
    assert kept(page) == {"q7": WORDS}
    page.reload()
    page.wait_for_selector(f"{BAR} button")
    assignment.start()
    assert page.get_by_label("Your answer in words to q7").input_value() == WORDS
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new DOMException('full'); }; }")
    write_words(page, "more")
    page.evaluate(LATER)
    assert "This browser keeps nothing for this page" in page.locator(BAR).inner_text()

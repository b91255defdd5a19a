"""Predictions on a page: nothing gives the answer away before a guess, and then guess and truth stand together.

One chapter asks three of the kinds, another the fourth, a curve. Their pages stay open from test to test, and each test
finds them as if nobody had guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from book._site.pages.predictions import POINTS, output_text
from tests.book.site.accessibility import violations
from tests.book.site.browser import ROOT, settle
from tests.book.site.conftest import nothing_wrong, open_page
from tests.book.site.visit import BEHIND, Visit, questions, switch_theme
from tools.notebooks import joined, load

CHAPTER = "notebooks/11_rope_in_real_models"
CURVES = "notebooks/06_rope_complex"
CHAPTERS = [f"notebooks/{path.stem}" for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))]
KINDS = ("number", "choice", "bars")
WORDS: dict[str, Any] = json.loads((ROOT / "book" / "_site" / "pages" / "words.json").read_text(encoding="utf-8"))
AS_NEW = """() => {
  if (document.documentElement.classList.contains('posenc-all')) document.querySelector('.posenc-show-all').click();
  for (const again of document.querySelectorAll('.posenc-again')) again.click();
  history.replaceState(null, '', location.pathname);
  for (const fold of document.querySelectorAll('details.posenc-deeper')) fold.open = true;
  getSelection().removeAllRanges();
  document.activeElement.blur();
}"""


def plain(text: str) -> str:
    """A text without what only its layout makes."""
    return " ".join(text.split())


class Asked:
    """A question on the page: that of a cell, or the first of a kind."""

    def __init__(self, page: Page, kind_or_cell: str) -> None:
        self.page = page
        self.facts = next(facts for facts in questions(page) if kind_or_cell in (facts["kind"], facts["cell"]))
        self.box = page.locator(f"#predict-{self.facts['cell']}")

    @property
    def behind(self) -> list[dict[str, Any]]:
        """What its guess opens."""
        found: list[dict[str, Any]] = self.page.evaluate(BEHIND, f"posenc-awaits-{self.facts['cell']}")
        return found

    @property
    def is_open(self) -> bool:
        """Whether the answer is in sight: all of it is, or nothing."""
        [opened] = {part["open"] for part in self.behind}
        return bool(opened)

    @property
    def kept(self) -> Any:
        """What this machine remembers of it."""
        key = f"posenc-predict/{self.facts['page']}/{self.facts['cell']}"
        return json.loads(self.page.evaluate("(key) => localStorage.getItem(key)", key) or "null")

    def inputs(self) -> Locator:
        """What a guess is made with."""
        return self.box.locator("[name=guess]")

    def commit(self) -> None:
        """Press the button."""
        self.box.get_by_role("button", name=WORDS["commit"]).click()

    def show(self) -> None:
        """Press the other."""
        self.box.get_by_role("button", name=WORDS["show"]).click()

    @property
    def told(self) -> Locator:
        """The answer in words."""
        return self.box.locator(".posenc-told")

    @property
    def guess(self) -> list[str]:
        """What the inputs hold."""
        held: list[str] = self.inputs().evaluate_all(
            "(inputs) => inputs.filter(({ type, checked }) => type !== 'radio' || checked).map(({ value }) => value)"
        )
        return held


@pytest.fixture
def chapter(kept: Page) -> Page:
    """The chapter's page as if nobody had guessed, its folds open."""
    kept.evaluate(AS_NEW)
    return kept


@pytest.fixture(scope="module")
def kept_curves(browser: Browser, site_url: str) -> Iterator[Page]:
    """The chapter that asks for a curve."""
    page, watch = open_page(browser)
    page.goto(f"{site_url}/{CURVES}.html")
    settle(page)
    yield page
    nothing_wrong([watch])
    page.context.close()


@pytest.fixture
def curves(kept_curves: Page) -> Page:
    """Its page as if nobody had guessed, its folds open."""
    kept_curves.evaluate(AS_NEW)
    return kept_curves


def page_of(kind: str, request: pytest.FixtureRequest) -> Page:
    """The page that asks for this kind of guess."""
    found: Page = request.getfixturevalue("curves" if kind == "curve" else "chapter")
    return found


# ---- before -----------------------------------------------------------------------------------------------------


def printed(cell: dict[str, Any]) -> list[str]:
    """The lines that a cell prints."""
    return [plain(line) for line in output_text(cell).split("\n")] if cell["cell_type"] == "code" else []


def printed_answers(cell: dict[str, Any], answering: dict[str, Any]) -> list[str]:
    """The lines in which the metadata of a question find its answer; none for a sketch."""
    asked, text = cell["metadata"]["predict"], output_text(answering) + "\n"
    finds = [find for _, find in asked.get("choices", ())] or filter(None, [asked["answer"].get("find")])
    ends = [found.start() + len(found[0].rstrip()) for find in finds for found in re.finditer(find, text)]
    return [printed(answering)[text.count("\n", 0, end)] for end in ends]


@pytest.mark.parametrize(
    "asking", [pytest.param(name, marks=pytest.mark.xdist_group(f"{name}.html")) for name in CHAPTERS]
)
def test_no_chapter_gives_an_answer_away(visit_once: Callable[[str], Visit], asking: str) -> None:
    """One look at the page as it comes, its deeper sections open, for all that it asks."""
    page = visit_once(f"{asking}.html").unanswered
    assert page is not None
    seen, heard = plain(page.seen), plain(page.heard)
    cells = {cell["id"]: cell for cell in load(ROOT / f"{asking}.ipynb")["cells"]}
    assert [one["cell"] for one in page.asked] == [name for name in cells if "predict" in cells[name]["metadata"]]
    closed = {name for one in page.asked for name in one["hides"]}
    code = [cell for cell in cells.values() if cell["cell_type"] == "code"]
    texts = [
        text for cell in code for text in (joined(cell["source"]), "" if cell["id"] in closed else output_text(cell))
    ]
    shown = plain("\n".join(texts))  # what is open may have a head or a row of what is closed, but not the answer
    for one in page.asked:
        name = one["cell"]
        answers = printed_answers(cells[name], cells[cells[name]["metadata"]["predict"]["answer"]["cell"]])
        behind = {plain(line) for part in page.behind[name] for line in part["lines"]}
        assert all(part["drawn"] == 0 for part in page.behind[name]), name
        assert bool(answers) == (one["kind"] != "curve"), name
        assert set(answers) <= behind, name
        telling = {*answers, *(line for line in behind if len(line) > 20 and line not in shown)}
        assert [line for line in telling if line in seen or line in heard] == [], name


def test_a_guess_comes_first(chapter: Page) -> None:
    for kind in ("number", "choice"):
        asked = Asked(chapter, kind)
        asked.commit()
        assert not asked.is_open
    asked = Asked(chapter, "number")
    asked.inputs().fill(str(asked.facts["most"] + 1))
    asked.commit()
    assert not asked.is_open


# ---- a guess, by mouse and by keyboard --------------------------------------------------------------------------


def drag(page: Page, box: Locator, places: list[tuple[float, float]]) -> None:
    """Drag by mouse over an element, from one share of its width and height to the next."""
    box.scroll_into_view_if_needed()
    room = box.bounding_box()
    assert room is not None
    points = [(room["x"] + x * room["width"], room["y"] + y * room["height"]) for x, y in places]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
    page.mouse.up()


def by_mouse(asked: Asked) -> None:
    """Guess by mouse; a number is typed."""
    match asked.facts["kind"]:
        case "number":
            asked.inputs().click()
            asked.page.keyboard.type("10")
        case "choice":
            asked.box.get_by_text(asked.facts["choices"][1]).first.click()
        case "bars":
            for bar in asked.inputs().all():
                drag(asked.page, bar, [(0.01, 0.5), (0.5, 0.5)])
        case "curve":
            places = [(0.01 + 0.98 * k / POINTS, 0.3) for k in range(POINTS + 1)]
            drag(asked.page, asked.box.locator("svg"), places)
    asked.commit()


def by_keyboard(asked: Asked) -> None:
    """Guess by keys alone, from the first control to the button."""
    press = asked.page.keyboard.press
    if asked.inputs().first.is_hidden():  # sliders of a curve are folded
        asked.box.locator("fieldset summary").press("Enter")
    asked.inputs().first.focus()
    match asked.facts["kind"]:
        case "number":
            asked.page.keyboard.type("10")
            press("Enter")
        case "choice":
            press("ArrowDown")
            press("Enter")
        case _:
            for k in range(asked.inputs().count()):
                expect(asked.inputs().nth(k)).to_be_focused()
                press("End")
                press("ArrowLeft")
                press("Tab")
            press("Space")


@pytest.mark.parametrize("hand", [by_mouse, pytest.param(by_keyboard, marks=pytest.mark.release)])
@pytest.mark.parametrize("kind", [*KINDS, "curve"])
def test_guess_and_truth_stand_together(
    request: pytest.FixtureRequest, kind: str, hand: Callable[[Asked], None]
) -> None:
    asked = Asked(page_of(kind, request), kind)
    hand(asked)
    expect(asked.told).to_be_focused()
    assert asked.is_open
    guess, truth = asked.guess, asked.facts["truth"]
    assert asked.kept["guess"] == guess
    if kind == "number":
        assert guess == ["10"]
        assert truth["text"] in asked.told.inner_text()
    elif kind == "choice":
        assert guess == ["1"]
        assert asked.facts["choices"][truth] in asked.told.inner_text()
        assert asked.box.locator(f"label:has([value='{truth}'])").inner_text().endswith(WORDS["right"])
    elif kind == "bars":
        assert list(map(float, guess)) == pytest.approx([0.5, 0.5] if hand is by_mouse else [0.99, 0.99], abs=0.02)
        for label, one in zip(asked.facts["labels"], truth, strict=True):
            assert f"{label}: {one['text']}" in plain(asked.told.inner_text())
            assert asked.box.locator(f"meter[aria-label='{label}']").evaluate("(meter) => meter.value") == one["value"]
    else:
        assert list(map(float, guess)) == pytest.approx([70 if hand is by_mouse else 99] * POINTS, abs=2)
        drawn = asked.page.locator(f".posenc-awaits-{asked.facts['cell']} .posenc-plotly[data-ready=true]")
        drawn.scroll_into_view_if_needed()
        traces = drawn.locator(".posenc-canvas").evaluate("(canvas) => canvas.data")
        [laid] = [trace for trace in traces if trace.get("uid") == "posenc-guess"]
        assert laid["x"] == asked.facts["points"]
        low, high = asked.facts["y"]["least"], asked.facts["y"]["most"]
        assert laid["y"] == pytest.approx([low + (high - low) * float(share) / 100 for share in guess])


def test_just_show_me(chapter: Page) -> None:
    for kind in KINDS:
        asked = Asked(chapter, kind)
        asked.show()
        expect(asked.told).to_be_focused()
        assert asked.is_open
        assert asked.kept["guess"] is None
        assert asked.inputs().first.is_hidden(), "nothing looks like a guess"


def test_a_guess_is_remembered_and_made_again(chapter: Page) -> None:
    for kind in KINDS:
        by_keyboard(Asked(chapter, kind))
    guesses = [Asked(chapter, kind).guess for kind in KINDS]
    chapter.reload()
    settle(chapter)
    chapter.evaluate("() => document.querySelector('details.posenc-deeper').open = true")
    assert [Asked(chapter, kind).guess for kind in KINDS] == guesses
    for kind in KINDS:
        asked = Asked(chapter, kind)
        assert asked.is_open
        asked.box.get_by_role("button", name=WORDS["again"]).click()
        assert not asked.is_open
        assert asked.kept is None


def test_everything_is_shown_on_every_page_to_who_wants_it(chapter: Page) -> None:
    asked = Asked(chapter, "number")
    asked.box.get_by_label(WORDS["all"]).click()
    assert all(Asked(chapter, kind).is_open for kind in KINDS)
    chapter.reload()
    assert asked.is_open
    assert asked.inputs().is_hidden()
    asked.box.get_by_label(WORDS["all"]).click()
    assert not asked.is_open


# ---- links that lead behind a question --------------------------------------------------------------------------


def test_a_link_behind_a_question_shows_the_question(chapter: Page) -> None:
    asked = Asked(chapter, "number")
    for _ in range(2):  # the second time the address is there already
        chapter.evaluate("() => scrollTo(0, 0)")
        link = chapter.evaluate_handle(
            "(hash) => { const link = document.createElement('a'); link.href = hash; return link; }",
            "#angle-coverage:story=within",
        )
        chapter.evaluate("(link) => { document.body.append(link); link.click(); link.remove(); }", link)
        expect(asked.box).to_be_in_viewport()
        assert not asked.is_open
    asked.show()
    figure = chapter.locator("#angle-coverage")
    figure.scroll_into_view_if_needed()
    expect(figure).to_have_attribute("data-ready", "true")
    chapter.wait_for_function("document.querySelector('#angle-coverage').posencModel.get('used') === 4096")


# ---- other circumstances ----------------------------------------------------------------------------------------

REFUSE = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('refused', 'SecurityError'); },
});"""


@pytest.mark.release
def test_where_storage_is_refused_it_is_asked_each_time(browser: Browser, site_url: str) -> None:
    page, watch = open_page(browser)
    page.add_init_script(REFUSE)
    for _ in range(2):
        page.goto(f"{site_url}/{CHAPTER}.html")
        asked = Asked(page, "number")
        assert not asked.is_open
        asked.inputs().fill("10")
        asked.commit()
        assert asked.is_open
    assert not [error for error in watch.errors if "predict" in error]
    page.context.close()


def test_without_javascript_a_fold_stands_after_the_question(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page(javascript=False)
    page.goto(f"{site_url}/{CHAPTER}.html")
    for box in page.locator("section:not(:has(> details.posenc-deeper)) > .posenc-predict").all():
        fold = box.locator(".posenc-awaits > details")
        hint = fold.locator("p").last
        expect(hint).to_be_hidden()
        fold.locator("summary").click()
        expect(hint).to_be_visible()
        expect(box.locator("form")).to_be_hidden()
    expect(page.get_by_text(WORDS["await"]).first).to_be_hidden()
    assert Asked(page, "number").is_open


def test_on_paper_all_is_open(chapter: Page) -> None:
    chapter.emulate_media(media="print")
    try:
        for kind in KINDS:
            asked = Asked(chapter, kind)
            assert asked.is_open
            expect(asked.box.locator("form")).to_be_hidden()
        assert WORDS["await"] not in chapter.inner_text("article")
    finally:
        chapter.emulate_media(media="screen")
    assert not Asked(chapter, "number").is_open


def touch(page: Page, places: list[tuple[float, float]]) -> None:
    """Draw with a finger from the first of these places of the window to the last."""
    session = page.context.new_cdp_session(page)
    first, *others = places
    steps = [("touchStart", [first]), *(("touchMove", [place]) for place in others), ("touchEnd", [])]
    for kind, fingers in steps:
        points = [{"x": x, "y": y} for x, y in fingers]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@pytest.mark.release
def test_by_touch_on_a_phone(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page(width=360, height=780, has_touch=True, is_mobile=True)
    page.goto(f"{site_url}/{CHAPTER}.html")
    settle(page)
    page.locator("details.posenc-deeper > summary").first.tap()
    for kind in KINDS:
        targets = "button:visible, input:not([type=radio], [type=checkbox]):visible, label.posenc-guess-choice"
        for target in Asked(page, kind).box.locator(targets).all():
            room = target.bounding_box()
            assert room is not None
            assert room["height"] >= 44
            assert 0 <= room["x"] <= room["x"] + room["width"] <= 360
    page.goto(f"{site_url}/{CURVES}.html")
    settle(page)
    asked = Asked(page, "curve")
    picture = asked.box.locator("svg")
    picture.scroll_into_view_if_needed()
    before, room = page.evaluate("scrollY"), picture.bounding_box()
    assert room is not None
    y = room["y"] + room["height"] / 2
    touch(page, [(room["x"] + k * room["width"] / POINTS, y - 40 * k / POINTS) for k in range(POINTS)])
    assert page.evaluate("scrollY") == before, "the page does not move below the pen"
    assert len(set(asked.guess)) > 5
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.release
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_closed_and_answered_are_accessible(chapter: Page, theme: str) -> None:
    switch_theme(chapter, theme)
    assert violations(chapter, "pre", "mjx-container") == []
    for kind in KINDS:
        by_keyboard(Asked(chapter, kind))
    assert violations(chapter, "pre", "mjx-container") == []

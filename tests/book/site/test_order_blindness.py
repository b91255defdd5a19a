"""OrderBlindness beyond the battery: words moved by mouse, keys and finger."""

from __future__ import annotations

import pytest

from posenc.widgets import OrderBlindness
from tests.book.site.hands import INTO_THE_MIDDLE, drag, handle_of
from tests.explorables import shown

pytestmark = pytest.mark.xdist_group("OrderBlindness")  # with the battery of tests of it: they share its page

MAT = "the cat sat on the mat"


def chips(live):
    """The words as they stand in the control, and the one that has the focus."""
    words = live.evaluate("[...figure.querySelectorAll('.posenc-chip')].map((chip) => chip.firstChild.textContent)")
    focused = live.evaluate("document.activeElement.getAttribute('aria-label')")
    return " ".join(words), focused


def test_words_move_by_keys_and_take_the_focus_along(open_live):
    live = open_live(OrderBlindness)
    live.open()
    assert live.figure.get_by_role("group", name="word order").count() == 1
    assert chips(live)[0] == "man bites dog"
    live.figure.get_by_role("button", name="man, position 0").press("ArrowRight")
    assert chips(live) == ("bites man dog", "man, position 1")
    live.page.keyboard.press("ArrowRight")
    assert chips(live) == ("bites dog man", "man, position 2")
    live.page.keyboard.press("ArrowRight")
    assert chips(live) == ("bites dog man", "man, position 2")
    live.page.keyboard.press("Home")
    assert chips(live) == ("man bites dog", "man, position 0")
    live.page.keyboard.press("End")
    live.page.keyboard.press("ArrowLeft")
    assert chips(live) == ("bites man dog", "man, position 1")
    assert live.get("order") == "120"
    assert live.finding == shown(OrderBlindness, order="120").finding


@pytest.mark.release
@pytest.mark.parametrize("finger", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_words_are_dragged_by_mouse_and_finger(open_live, finger, width):
    live = open_live(OrderBlindness, width=width, height=740, has_touch=finger)
    live.open()
    live.set(sentence=MAT, order="")
    control = live.control("order")
    control.scroll_into_view_if_needed()
    boxes = [control.locator(".posenc-chip").nth(k).bounding_box() for k in (0, 3, 5)]
    start, middle, end = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
    end = (end[0] + boxes[2]["width"], end[1])
    if finger:
        session = live.page.context.new_cdp_session(live.page)
        for kind, (x, y) in (("touchStart", start), ("touchMove", middle), ("touchMove", end)):
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    else:
        live.page.mouse.move(*start)
        live.page.mouse.down()
        live.page.mouse.move(*middle, steps=4)
        live.page.mouse.move(*end, steps=4)
        live.page.mouse.up()
    assert live.get("order") == "123450"
    assert chips(live) == ("cat sat on the mat the", "the, position 5")
    assert live.evaluate("figure.querySelectorAll('.posenc-held').length") == 0
    assert live.finding == shown(OrderBlindness, sentence=MAT, order="123450").finding


@pytest.mark.parametrize("finger", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_word_is_dragged_in_the_matrix_by_its_row_and_its_column(open_live, finger, width):
    live = open_live(OrderBlindness, width=width, height=740, has_touch=finger)
    live.set(sentence=MAT, order="")
    handles = {handle["name"]: handle for handle in live.evaluate("explorable.handles")}
    assert list(handles) == [f"{kind}_{word}" for kind in ("row", "column") for word in range(6)]
    for dragged, beyond, order in (("row_1", "row_4", "023415"), ("column_5", "column_0", "502341")):
        start, end = (handles[name] for name in (dragged, beyond))
        drag(live, [(start["x"], start["y"]), (end["x"] - 3, end["y"] + 3)], finger)
        assert live.get("order") == order, dragged
        assert live.finding == shown(OrderBlindness, sentence=MAT, order=order).finding
        moved = {handle["name"]: handle for handle in live.evaluate("explorable.handles")}
        assert (moved[dragged]["x"], moved[dragged]["y"]) == (end["x"], end["y"]), "the word stands where it was put"
    assert "".join(live.values()["moved_words"]) == "matthesatonthecat"


def test_a_vertical_swipe_on_a_word_scrolls_the_page(open_live):
    live = open_live(OrderBlindness, width=360, height=640, has_touch=True)
    session = live.page.context.new_cdp_session(live.page)
    canvas = live.figure.locator("canvas")
    for name, beside in (("row_0", 45), ("column_1", 0)):
        canvas.evaluate(INTO_THE_MIDDLE)
        handle, box, before = handle_of(live, name), canvas.bounding_box(), live.evaluate("scrollY")
        x, y = box["x"] + handle["x"] + beside, box["y"] + handle["y"]
        for kind, up in (("touchStart", 0), *(("touchMove", 15 * k) for k in range(1, 9))):
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - up}]})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        live.page.wait_for_function("before => scrollY > before + 40", arg=before)
        assert live.get("order") == "210"

"""BlindSpot: its arithmetic against posenc over all its settings, and words moved by mouse, keys and finger."""

from __future__ import annotations

import pytest

from posenc._numbers import fixed
from posenc.widgets import BlindSpot
from tests.book.site.hands import drag
from tests.unit.test_widgets_blind_spot import MAT, SENTENCES

pytestmark = pytest.mark.xdist_group("BlindSpot")  # with the battery of tests of it: they share its page


def chips(live):
    """The words as they stand in the control, and the one that has the focus."""
    words = live.evaluate("[...figure.querySelectorAll('.posenc-chip')].map((chip) => chip.firstChild.textContent)")
    focused = live.evaluate("document.activeElement.getAttribute('aria-label')")
    return " ".join(words), focused


def test_words_move_by_keys_and_take_the_focus_along(open_live):
    live = open_live(BlindSpot)
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
    assert live.finding == BlindSpot(order="120").finding()


@pytest.mark.release
@pytest.mark.parametrize("finger", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_words_are_dragged_by_mouse_and_finger(open_live, finger, width):
    live = open_live(BlindSpot, width=width, height=740, has_touch=finger)
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
    assert live.finding == BlindSpot(sentence=MAT, order="123450").finding()


def test_a_sentence_brings_another_order_that_makes_sense(open_live):
    live = open_live(BlindSpot)
    twins = {
        "dog bites man": "man bites dog", "我 爱 你": "你 爱 我", MAT: "the mat sat on the cat",
        "from Beijing to Shanghai": "from Shanghai to Beijing", "屡 败 屡 战": "屡 战 屡 败",
        "the the the the the": "the the the the the", "BOS the the the the": "BOS the the the the",
    }  # fmt: skip
    assert set(twins) == set(SENTENCES)
    live.open()
    for sentence in reversed(SENTENCES):
        live.control("sentence").locator("select").select_option(sentence)
        live.settle()
        assert chips(live)[0] == twins[sentence] == " ".join(live.values()["moved_words"])


@pytest.mark.parametrize("finger", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_word_is_dragged_in_the_matrix_by_its_row_and_its_column(open_live, finger, width):
    live = open_live(BlindSpot, width=width, height=740, has_touch=finger)
    live.set(sentence=MAT, order="")
    handles = {handle["name"]: handle for handle in live.evaluate("explorable.handles")}
    assert list(handles) == [f"{kind}_{word}" for kind in ("row", "column") for word in range(6)]
    for dragged, beyond, order in (("row_1", "row_4", "023415"), ("column_5", "column_0", "502341")):
        start, end = (handles[name] for name in (dragged, beyond))
        drag(live, [(start["x"], start["y"]), (end["x"] - 3, end["y"] + 3)], finger)
        assert live.get("order") == order, dragged
        assert live.finding == BlindSpot(sentence=MAT, order=order).finding()
        moved = {handle["name"]: handle for handle in live.evaluate("explorable.handles")}
        assert (moved[dragged]["x"], moved[dragged]["y"]) == (end["x"], end["y"]), "the word stands where it was put"
    assert "".join(live.values()["moved_words"]) == "matthesatonthecat"


@pytest.mark.release
@pytest.mark.parametrize("finger", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_word_is_dragged_by_the_letters_beside_its_row(open_live, finger, width):
    live = open_live(BlindSpot, width=width, height=740, has_touch=finger)
    live.set(order="012")
    (x, first), (_, last), (right, _) = (
        live.evaluate("explorable.pixel('after', ...x)", cell) for cell in ([0, 0], [2, 0], [0, 1])
    )
    letters = x - (right - x) / 2 - 20  # man, as far from its cell as its middle
    drag(live, [(letters, last), (letters, first - 3)], finger)
    assert live.get("order") == "201"


@pytest.mark.parametrize("width", [1280, 360])
def test_every_panel_reads_off_the_same_pair_of_words(open_live, width):
    live = open_live(BlindSpot, width=width)
    live.set(causal=True)
    canvas, words = live.figure.locator("canvas"), []
    for panel, query, key in (("before", 2, 0), ("after", 0, 2)):  # man looks at dog
        if width < 600 and panel == "before":
            continue  # a phone has one panel
        px, py = live.evaluate("explorable.pixel(...x)", [panel, query, key])
        canvas.hover(position={"x": px, "y": py})
        words.append(live.readout)
    values = BlindSpot(causal=True).values()
    assert len(set(words)) == 1
    assert words[0].startswith(f"“man” looks at “dog”: {100 * values['weights'][2, 0]:.1f} %, then masked · output (")


def test_outputs_stand_in_numbers_below(open_live):
    live = open_live(BlindSpot)
    live.set(scheme="rope")
    live.open()
    values, order = BlindSpot(scheme="rope").values(), [2, 1, 0]
    rows = live.figure.locator(".posenc-table tbody tr").all_inner_texts()
    written = lambda output: ", ".join(fixed(value, 2) for value in output)  # noqa: E731
    assert rows == [
        f"{word}\t{written(values['outputs'][k])}\t{written(values['moved_outputs'][order[k]])}"
        for k, word in enumerate(values["words"])
    ]


def test_a_refused_order_says_what_is_accepted(open_live):
    live = open_live(BlindSpot)
    live.evaluate("model.set('_restore', x)", {"order": "99", "scheme": "rope"})
    assert (live.get("order"), live.get("scheme")) == ("210", "rope")
    assert live.notice.startswith("word order takes digits from 0 to 5, each at most once")
    live.evaluate("model.set('_restore', x)", {"order": "20"})
    assert (live.get("order"), live.notice) == ("20", "")


@pytest.mark.release
@pytest.mark.parametrize("chapter", ["01_attention_from_scratch", "02_the_blind_spot"])
def test_chapters_show_codes_and_masks_once_they_have_asked_for_them(open_live, chapter):
    first, everything = (open_live(BlindSpot, where) for where in (f"notebooks/{chapter}.html", ""))
    for live in (first, everything):
        live.open()
    for name in ("scheme", "causal", "layers"):
        assert everything.control(name).is_visible()
        assert not first.control(name).is_visible()
    told = [live.evaluate("explorable.story.map(({ name }) => name)") for live in (first, everything)]
    assert told == [["blind"], list(BlindSpot.story())]
    first.evaluate("model.set('_restore', x)", {"order": "20", "scheme": "rope"})
    assert (first.get("order"), first.get("scheme")) == ("20", "none")


def test_play_takes_the_words_of_a_written_sentence_to_its_other_order(open_live):
    live = open_live(BlindSpot, reduced_motion="reduce")
    live.set(**BlindSpot(order="").setting())
    play = live.figure.locator(".posenc-bar button[aria-label^=Play]")
    seen = []
    for _ in range(9):
        play.click()
        live.settle()
        values = live.values()
        seen.append((live.get("way"), live.get("order"), list(values["rows"]), list(values["columns"])))
    assert [way for way, *_ in seen] == [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]
    assert {order for _, order, *_ in seen} == {"210"}
    assert seen[0][2:] == ([0, 1, 2], [0, 1, 2])
    assert seen[4][2:] == ([2, 1, 0], [0, 1, 2])
    assert seen[-1][2:] == ([2, 1, 0], [2, 1, 0])


def test_a_word_taken_hold_of_on_the_way_arrives(open_live):
    live = open_live(BlindSpot)
    live.set(**BlindSpot(sentence=MAT, order="052341", way=0.3).setting())
    there = {handle["name"]: handle for handle in live.evaluate("explorable.handles")}
    start, end = there["row_0"], there["row_2"]
    drag(live, [(start["x"], start["y"]), (start["x"], end["y"] + 3)], False)
    assert live.get("way") == 2
    assert live.get("order") == "520341"
    assert live.finding == BlindSpot(sentence=MAT, order="520341").finding()

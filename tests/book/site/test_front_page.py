"""The front page: a picture and one thing to drag before one scrolls, and three ways on."""

from __future__ import annotations

import pytest

from posenc.widgets import InjectionPoints
from tests.book.site.hands import drag_handle

PAGE = "book/intro.html"
pytestmark = pytest.mark.xdist_group("InjectionPoints")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740)])
def test_the_picture_and_a_token_to_drag_are_in_view_at_once(new_page, site_url, width, height):
    page = new_page(width=width, height=height)
    page.goto(f"{site_url}/{PAGE}")
    page.wait_for_selector("figure[data-module=injection_points][data-ready]")
    canvas = page.locator("figure[data-module=injection_points] canvas").bounding_box()
    assert canvas["y"] > 0
    assert canvas["y"] + canvas["height"] <= height
    handles = page.evaluate(
        "document.querySelector('.posenc-explorable-view').explorable.handles.map(({ name }) => name)"
    )
    assert handles == ["query", "key"]


@pytest.mark.parametrize("point", ["input", "query_key", "logits"])
def test_an_injection_point_is_switched_by_a_press(open_live, point):
    live = open_live(InjectionPoints, where=PAGE)
    live.set(injection_point="none")
    canvas = live.figure.locator("canvas")
    at = ["input", "query_key", "logits"].index(point)
    spot = {"x": canvas.bounding_box()["width"] * (2 * at + 1) / 6, "y": 155}
    canvas.click(position=spot)
    assert live.get("injection_point") == point
    canvas.click(position=spot)
    assert live.get("injection_point") == "none"


@pytest.mark.parametrize(
    ("point", "moves"), [("input", True), ("query_key", False), ("logits", False), ("none", False)]
)
def test_tokens_dragged_together_change_the_score_at_the_input_only(open_live, point, moves):
    live = open_live(InjectionPoints, where=PAGE)
    live.set(injection_point=point, together=True)
    before = live.values()["score"]
    drag_handle(live, "query", 120)
    setting = live.setting()
    assert setting["m"] > 14
    assert setting["m"] - setting["n"] == 8
    assert (abs(live.values()["score"] - before) > 0.01) is moves


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("hold", [-30, 0, 30])
def test_a_token_is_taken_hold_of_anywhere(open_live, width, hold):
    live = open_live(InjectionPoints, where=PAGE, width=width)
    live.set(m=20, n=4)
    drag_handle(live, "query", 1, hold=hold)
    assert live.get("m") == 20, "it does not jump to the pointer"
    drag_handle(live, "query", -40, hold=hold)
    assert 4 < live.get("m") < 20


def test_three_cards_lead_on_with_and_without_javascript(new_page, site_url):
    for javascript in (True, False):
        page = new_page(javascript=javascript)
        page.goto(f"{site_url}/{PAGE}")
        cards = page.locator("article .sd-card:not(.map-points .sd-card)")
        titles = [text.strip() for text in cards.locator(".sd-card-title").all_inner_texts()]
        assert titles == ["One hour", "The course", "Reference"]
        targets = [link.get_attribute("href") for link in cards.locator("a").all()]
        assert [target.split("/")[-1] for target in targets] == ["tour.html", "the_course.html", "the_map.html"]
        assert page.locator(".map-points a[href^='the_map.html#']").count() > 10

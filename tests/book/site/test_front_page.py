"""The front page: a picture that moves by itself, three ways on, six small pictures, and three injection points."""

from __future__ import annotations

import re

import pytest

from posenc.widgets import InjectionPoints
from tests.book.site.hands import drag_handle

PAGE = "book/intro.html"
HERO = "figure[data-module=rotation_2d]"
POSITION = f"document.querySelector('{HERO}').posencModel.get('m')"
SMALL = """[...document.querySelectorAll('.posenc-small')].map((figure) => (
  figure.dataset.ready ? figure.posencModel.get(figure.dataset.moves) : null
))"""
pytestmark = pytest.mark.xdist_group("InjectionPoints")


def opened(new_page, site_url, **options):
    page = new_page(**options)
    page.goto(f"{site_url}/{PAGE}")
    page.wait_for_selector(f"{HERO}[data-ready]")
    return page


def moves(page) -> bool:
    page.wait_for_function(f"(before) => {POSITION} !== before", arg=page.evaluate(POSITION))
    return True


def rests(page, expression=POSITION) -> bool:
    before = page.evaluate(expression)
    page.wait_for_timeout(200)
    return page.evaluate(expression) == before


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740)])
def test_the_first_view_moves_and_says_what_the_book_is_about(new_page, site_url, width, height):
    page = opened(new_page, site_url, width=width, height=height)
    for part in (f"{HERO} canvas", ".posenc-hero-button", ".posenc-ways"):
        box = page.locator(part).bounding_box()
        assert 0 < box["y"] < box["y"] + box["height"] <= height, part
    first = page.locator("article h1 + p").inner_text()
    assert all(word in first for word in ("RoPE", "positional encoding", "Transformers"))
    assert moves(page)


def test_it_pauses_by_its_button_under_the_pointer_out_of_view_and_for_good_once_it_is_used(new_page, site_url):
    page = opened(new_page, site_url, width=1280, height=800)
    button = page.locator(".posenc-hero-button")
    button.press("Enter")
    assert rests(page)
    assert page.evaluate(f"Number.isInteger({POSITION})")
    button.press("Enter")
    assert moves(page)
    canvas = page.locator(f"{HERO} canvas")
    canvas.hover()
    assert rests(page)
    page.mouse.move(5, 5)
    assert moves(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(100)
    assert rests(page)
    page.evaluate("scrollTo(0, 0)")
    assert moves(page)
    canvas.click(position={"x": 600, "y": 150})
    page.mouse.move(5, 5)
    assert rests(page)
    assert button.inner_text() == "▶ Move"


def test_nothing_moves_where_no_motion_is_wanted_until_it_is_asked_for(new_page, site_url):
    page = opened(new_page, site_url, width=1280, height=800, reduced_motion="reduce")
    assert rests(page)
    page.locator(".posenc-gallery").scroll_into_view_if_needed()
    page.wait_for_function(f"{SMALL}.every((value) => value !== null)")
    assert rests(page, f"JSON.stringify({SMALL})")
    page.evaluate("scrollTo(0, 0)")
    page.locator(".posenc-hero-button").click()
    assert moves(page)


def test_one_small_picture_moves_at_a_time_and_each_leads_to_its_chapter(new_page, site_url):
    page = opened(new_page, site_url, width=1280, height=800)
    page.locator(".posenc-gallery").scroll_into_view_if_needed()
    page.wait_for_function(f"{SMALL}.every((value) => value !== null)")
    box = page.locator(".posenc-living").nth(3)
    box.hover()
    page.wait_for_timeout(200)
    before = page.evaluate(SMALL)
    page.wait_for_timeout(600)
    after = page.evaluate(SMALL)
    assert [number for number in range(6) if before[number] != after[number]] == [3]
    title = box.locator("a").inner_text()
    box.click(position={"x": 60, "y": 60})
    page.wait_for_url("**/notebooks/08_*.html")
    assert page.locator("article h1").inner_text().startswith(title)


def test_three_ways_lead_on_with_and_without_javascript(new_page, site_url):
    for javascript in (True, False):
        page = new_page(javascript=javascript)
        page.goto(f"{site_url}/{PAGE}")
        links = page.locator(".posenc-ways a")
        assert links.all_inner_texts() == ["Start: one hour", "Playground", "Chapters"]
        targets = [link.get_attribute("href") for link in links.all()]
        assert targets == ["tour.html", "playground.html", "#chapters"]
        chapters = page.locator("article .toctree-wrapper a[href*='notebooks/']")
        assert chapters.count() >= 17
        assert page.locator(".posenc-living a").count() == 6


def test_a_link_to_the_book_shows_its_picture_elsewhere(built_site):
    for name, image in (("book/intro.html", "../"), ("index.html", "")):
        text = (built_site / name).read_text(encoding="utf-8").partition("</head>")[0]
        said = dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[\w:]+)" content="([^"]*)"', text))
        assert said["og:title"].startswith("Turn by Turn: RoPE")
        assert said["og:description"] == re.search('name="description" content="(.*?)"', text)[1]
        assert said["twitter:card"] == "summary_large_image"
        assert said["og:image"] == f"{image}_static/posenc/card.png"  # whole once the book has an address
        assert "og:url" not in said
    width_and_height = (built_site / "_static" / "posenc" / "card.png").read_bytes()[16:24]
    assert width_and_height == (1200).to_bytes(4, "big") + (630).to_bytes(4, "big")


# ---- the injection points


def test_an_injection_point_is_switched_by_a_press(open_live):
    live = open_live(InjectionPoints, where=PAGE)
    assert live.get("injection_point") == "none", "it opens order-blind"
    canvas = live.figure.locator("canvas")
    for at, point in enumerate(("input", "query_key", "logits")):
        spot = {"x": canvas.bounding_box()["width"] * (2 * at + 1) / 6, "y": 390}
        for found in (point, "none"):
            canvas.click(position=spot)
            assert live.get("injection_point") == found


@pytest.mark.parametrize(("point", "moves"), [("input", True), ("query_key", False)])
def test_tokens_dragged_together_change_the_score_at_the_input_only(open_live, point, moves):
    live = open_live(InjectionPoints, where=PAGE)
    live.set(injection_point=point, together=True)
    before = live.values()["score"]
    drag_handle(live, "query", 120)
    setting = live.setting()
    assert setting["m"] > 16
    assert setting["m"] - setting["n"] == 8
    assert (abs(live.values()["score"] - before) > 0.01) is moves


@pytest.mark.parametrize("hold", [-30, 30])
def test_a_token_is_taken_hold_of_anywhere(open_live, hold):
    live = open_live(InjectionPoints, where=PAGE)
    live.set(m=22, n=6)
    drag_handle(live, "query", 1, hold=hold)
    assert live.get("m") == 22, "it does not jump to the pointer"
    drag_handle(live, "query", -40, hold=hold)
    assert 6 < live.get("m") < 22

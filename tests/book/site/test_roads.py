"""The roads: their times, their marks on this machine only, and the next stop at the end of each page."""

from __future__ import annotations

import json
import re

import pytest
from myst_parser.mdit_to_docutils.base import default_slugify
from playwright.sync_api import expect
from sphinx.errors import ExtensionError

from book._site.pages import paths
from tools import reading
from tools.notebooks import joined, load

TWO_HOURS, COURSE = "book/two_hours.html", "book/the_course.html"
KEY = "turn-by-turn:roads"
REFUSED = """(key) => {
  for (const name of ['getItem', 'setItem']) {
    const kept = Storage.prototype[name];
    Storage.prototype[name] = function (wanted, ...rest) {
      if (wanted === key) throw new DOMException('no', 'SecurityError');
      return kept.call(this, wanted, ...rest);
    };
  }
}"""  # for our own key: the theme's scripts do not bear it for theirs


# ---- times -------------------------------------------------------------------------------------------------------


def test_a_stop_is_a_beginning_and_the_summary():
    for stop in paths.roads()["two_hours"].stops:
        spine, cells = list(reading.spine(load(paths.notebook_of(stop.page))["cells"])), paths.cells_of(stop)
        leap = next(place for place, cell in enumerate(cells) if cell != spine[place])
        left_out, leapt_to = (joined(cell["source"]).splitlines()[0] for cell in (spine[leap], cells[leap]))
        assert default_slugify(left_out.lstrip("# ")) == stop.until
        assert leapt_to == "## What we now know"
        assert len(cells) == leap + 1  # no other section
        asked = reading.reading(cells, folded=False)
        assert paths.minutes(stop) == pytest.approx(asked.minutes - reading.LINE * asked.lines / 60)
    whole = paths.Stop("notebooks/05_rope_by_matrices")
    assert len(paths.cells_of(whole)) == len(list(reading.spine(load(paths.notebook_of(whole.page))["cells"])))


def test_two_hours_are_about_two():
    stops = paths.roads()["two_hours"].stops
    assert sum(map(paths.minutes, stops)) >= 90
    assert 1.25 * sum(map(paths.minutes, stops)) <= 120  # as the page says of those who weigh every guess
    assert len(stops) == 9
    assert sum(len(stop.looks) for stop in stops) >= 10


def test_minutes_are_said_with_hours():
    assert [paths.in_words(total) for total in (7.4, 59.6, 125)] == ["7 min", "1 h 0 min", "2 h 5 min"]


def test_a_section_or_picture_that_is_not_there_stops_the_build():
    page = "notebooks/05_rope_by_matrices"
    with pytest.raises(ExtensionError, match="has no section nowhere"):
        paths.minutes(paths.Stop(page, "nowhere"))
    with pytest.raises(ExtensionError, match="does not show AngleCoverage"):
        paths.look_at(paths.Stop(page), "AngleCoverage", "")
    with pytest.raises(ExtensionError, match="has the steps together, apart.*, not nowhere"):
        paths.look_at(paths.Stop(page), "Rotation2D", "nowhere")


def test_the_course_has_every_chapter_and_assignment():
    pages = paths.roads()["the_course"].pages
    chapters = sorted(path.stem for path in (paths.ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert sorted(page for page in pages if "assignment" not in page) == [f"notebooks/{stem}" for stem in chapters]
    assert [page[-1] for page in pages if "assignment" in page] == ["1", "2", "3", "4", "5"]


def test_the_course_comes_to_nothing_before_what_it_needs():
    needs = {}
    for page in paths.roads()["the_course"].pages:
        opening = joined(load(paths.notebook_of(page))["cells"][0]["source"])
        told = opening.partition("**You need**")[2].partition("\n\n")[0] or opening
        needs[page] = {one or other for one, other in re.findall(r"\((?:\.\./)?(\d\d)_|chapter (\d\d)", told)}
        assert needs[page] <= {before.rpartition("/")[2][:2] for before in [*needs][:-1]}, page
    assert needs["notebooks/assignments/assignment_3"] == {"07", "08", "09", "11"}


# ---- on the page -------------------------------------------------------------------------------------------------


def test_a_road_is_walked_marked_left_and_cleared(new_page, site_url):
    page = new_page()
    page.goto(f"{site_url}/{TWO_HOURS}")
    assert "0 of 9 read" in page.locator(".posenc-road").inner_text()
    page.locator(".posenc-stops a").first.click()
    page.wait_for_url("**/01_attention_from_scratch.html")
    end = page.locator(".posenc-road-end")
    leap = page.locator(".posenc-road-leap")
    assert leap.evaluate("(box) => box.nextElementSibling.id") == "several-heads"
    leap.locator("a").click()
    expect(page.locator("#what-we-now-know")).to_be_in_viewport()
    assert end.evaluate("(box) => box.previousElementSibling.id") == "what-we-now-know"
    mark = end.locator("[data-action=mark]")
    mark.focus()
    page.keyboard.press("Enter")
    assert "1 of 9 read" in end.inner_text()
    assert page.evaluate("document.activeElement.dataset.action") == "mark"
    assert mark.get_attribute("aria-pressed") == "true"
    end.locator("a").click()
    page.wait_for_url("**/02_the_blind_spot.html")
    page.locator(".posenc-road-end [data-action=leave]").click()
    assert page.locator(".posenc-road-end").evaluate("(box) => box === box.closest('article').lastElementChild")
    assert "of 9" not in page.locator(".posenc-road-end").inner_text()
    page.goto(f"{site_url}/{TWO_HOURS}")
    assert page.locator(".posenc-read-mark").count() == 1
    assert "1 of 9 read" in page.locator(".posenc-road").inner_text()
    page.locator(".posenc-road [data-action=clear]").click()
    assert "0 of 9 read" in page.locator(".posenc-road").inner_text()
    assert page.locator(".posenc-read-mark").count() == 0
    assert json.loads(page.evaluate(f"localStorage.getItem('{KEY}')")) == {"road": None, "read": []}


def test_the_last_stop_leads_back_to_the_road(new_page, site_url):
    *walked, last = paths.roads()["two_hours"].pages
    page = new_page()
    page.goto(f"{site_url}/{TWO_HOURS}")
    memory = json.dumps({"road": "two_hours", "read": walked})
    page.evaluate("([key, memory]) => localStorage.setItem(key, memory)", [KEY, memory])
    page.goto(f"{site_url}/{last}.html")
    end = page.locator(".posenc-road-end")
    assert "8 of 9 read" in end.inner_text()
    assert "You have walked the whole road." not in end.inner_text()
    end.locator("a").click()
    page.wait_for_url(f"**/{TWO_HOURS}")
    box = page.locator(".posenc-road")
    assert "9 of 9 read" in box.inner_text()
    assert "You have walked the whole road." in box.inner_text()
    assert box.locator("a").count() == 0


@pytest.mark.release
@pytest.mark.parametrize("where", [TWO_HOURS, "notebooks/05_rope_by_matrices.html"])
def test_where_storage_is_refused_a_sentence_says_so(new_page, site_url, where):
    page = new_page()
    page.add_init_script(f"({REFUSED})({json.dumps(KEY)})")
    page.goto(f"{site_url}/{where}")
    box = page.locator(".posenc-road, .posenc-road-end")
    assert "This browser keeps no marks" in box.inner_text()
    if where != TWO_HOURS:
        box.locator("[data-action=mark]").click()
        assert box.locator("[data-action=mark]").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize(("where", "stops"), [(TWO_HOURS, 9), (COURSE, 9)])
def test_without_javascript_a_road_is_a_list_of_links(new_page, site_url, where, stops):
    page = new_page(javascript=False)
    page.goto(f"{site_url}/{where}")
    assert page.locator("ol.posenc-stops > li").count() == stops
    assert page.locator("ol.posenc-stops > li a").count() >= 16
    assert page.locator(".posenc-road").is_hidden()

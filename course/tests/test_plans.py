"""The pages for those who teach: plans that hold together, on a site of their own, and not on the students'."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from course import instructors, plans, sources
from course.grade import NUMBERS
from tests.book.site import browser

ROOT = sources.ROOT
# the chapters that the guide says an assignment rests on
RESTS = {
    1: ("01", "02", "03", "04"),
    2: ("05", "06", "07"),
    3: ("07", "08", "09", "11"),
    4: ("09", "10", "13", "15"),
    5: ("05", "07", "10", "15"),
}


def test_every_plan_has_every_chapter_and_assignment_once() -> None:
    chapters = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert sorted(plans.TOLD["chapters"]) == chapters
    lengths = {}
    for name, weeks in plans.plans().items():
        assert sorted(chapter for week in weeks for chapter in week.chapters) == chapters
        assert [name for week in weeks for name in week.assignments] == [f"assignment_{n}" for n in NUMBERS]
        lengths[name] = len(weeks)
    assert lengths == {"six_weeks": 6, "twelve_weeks": 12}


def test_an_assignment_comes_after_what_it_rests_on() -> None:
    for weeks in plans.plans().values():
        read: list[str] = []
        for week in weeks:
            read += [chapter[:2] for chapter in week.chapters]
            for name in week.assignments:
                assert set(RESTS[int(name[-1])]) <= set(read), week


def test_a_chapter_comes_after_those_that_it_needs() -> None:
    needs = {}
    for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"):
        opening = sources.source_of(sources.load(path)["cells"][0])
        [told] = re.findall(r"^\*\*You need\*\*(.*)$", opening, re.MULTILINE)
        needs[path.stem] = set(re.findall(r"\((\d\d)_|chapter (\d\d)", told))
    needs = {chapter: {one or other for one, other in found} for chapter, found in needs.items()}
    assert needs["11_rope_in_real_models"] == {"07", "08", "09"}
    for weeks in plans.plans().values():
        read: set[str] = set()
        for chapter in (chapter for week in weeks for chapter in week.chapters):
            assert needs[chapter] <= read, chapter
            read.add(chapter[:2])


def test_a_step_names_sections_explorables_and_exercises_that_are_there() -> None:
    titles = {
        path.stem: re.findall(r'"title": "([^"]+)"', path.read_text()) for path in ROOT.glob("src/posenc/js/*.json")
    }
    explorables = {title for found in titles.values() for title in found}
    for chapter, about in plans.TOLD["chapters"].items():
        text = (ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8")
        for named in (name for _, step in about["steps"] for name in re.findall(r"\*([A-Z“][^*]+)\*", step)):
            assert f"# {named}" in text or named in explorables, f"{chapter}: {named}"
        for number in (n for _, step in about["steps"] for n in re.findall(r"Exercise (\d)", step)):
            assert f"### Exercise {number}" in text, f"{chapter}: exercise {number}"


def test_the_students_site_has_no_page_for_those_who_teach() -> None:
    site = browser.require_site()
    assert not (site / "course").exists()
    assert "course/" not in (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert [path for path in site.rglob("*.html") if "course/guide" in path.read_text(encoding="utf-8")] == []


def test_it_is_there_where_it_is_asked_for() -> None:
    with_them = yaml.safe_load(instructors.contents())
    students = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert with_them["parts"][:-1] == students["parts"]
    pages = [chapter["file"] for chapter in with_them["parts"][-1]["chapters"]]
    assert pages == list(instructors.PAGES)
    assert all((ROOT / f"{page}.md").is_file() for page in pages)
    assert not instructors.SITE.is_relative_to(Path(browser.require_site()))

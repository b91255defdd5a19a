"""The page of the course: every chapter and assignment, after what it needs, in weeks of honest length."""

from __future__ import annotations

import re

import pytest

from tools import reading
from tools.execute import chapters
from tools.notebooks import joined, load

NOTEBOOKS = reading.ROOT / "notebooks"
PAGE = (reading.ROOT / "book" / "the_course.md").read_text(encoding="utf-8")
WEEKS = re.findall(r"^\d\. .*?(?=^\d\. |\Z)", PAGE, re.MULTILINE | re.DOTALL)


def notebooks(text: str) -> list[str]:
    return re.findall(r"\.\./notebooks/(?:assignments/)?(\w+)\.ipynb", text)


def test_the_course_has_every_chapter_and_assignment_after_what_it_needs():
    course = notebooks(PAGE)
    numbered = [path.stem for path in chapters() if path.stem[:2].isdigit()]
    assert sorted(course) == sorted([*numbered, *(f"assignment_{n}" for n in range(1, 7))])
    for place, name in enumerate(course):
        folder = NOTEBOOKS / "assignments" if name.startswith("assignment") else NOTEBOOKS
        opening = joined(load(folder / f"{name}.ipynb")["cells"][0]["source"])
        told = opening.partition("**Prerequisites:**")[2].partition("\n\n")[0] or opening
        needs = {one or other for one, other in re.findall(r"\((?:\.\./)?(\d\d)_|chapter (\d\d)", told)}
        assert needs <= {before[:2] for before in course[:place]}, name


@pytest.mark.parametrize("week", WEEKS, ids=range(1, len(WEEKS) + 1))
def test_a_week_takes_as_long_as_it_says(week):
    [said] = re.findall(r"(\d+) minutes", week)
    read = [reading.of_spine(NOTEBOOKS / f"{name}.ipynb").minutes for name in notebooks(week) if name[:2].isdigit()]
    assert sum(read) == pytest.approx(int(said), abs=5)

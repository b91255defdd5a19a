"""A chapter's spine is short enough, and what is deeper says so in every place that shows it."""

from __future__ import annotations

import re

import pytest

from book._site.pages.details import time_of
from tools import reading
from tools.execute import chapters
from tools.notebooks import ESSENTIAL, SHOWS, code_cells, joined, load, tags

MINUTES, WORDS = 30.0, 1_800

NUMBERED = [path for path in chapters() if path.name[:2].isdigit()]
SET_OUT = [path for path in NUMBERED if any(ESSENTIAL in tags(cell) for cell in load(path)["cells"])]
MOSTLY_CODE = [path for path in NUMBERED if path.name[:2] in ("07", "11")]
set_out = pytest.mark.parametrize("path", SET_OUT, ids=lambda path: path.stem)
every_chapter = pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)


def markdown(source: str, *names: str) -> dict:
    return {"cell_type": "markdown", "source": source, "metadata": {"tags": list(names)}}


def code(source: str, *names: str) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {"tags": list(names)}, "outputs": []}


def short(cells: list[dict]) -> reading.Reading:
    return reading.reading(list(reading.spine(cells)), folded=False)


def test_the_spine_of_each_chapter_is_short():
    spines = {path.stem: reading.of_spine(path) for path in NUMBERED}
    assert {name: spine for name, spine in spines.items() if spine.minutes > MINUTES or spine.words > WORDS} == {}


@every_chapter
def test_a_chapter_says_how_long_it_takes(path):
    words = time_of(path, load(path)["cells"])
    said = re.fullmatch(r"(\d+) minutes · (\d+) with the Deeper sections and exercises", words)
    assert said, words
    assert [int(minutes) for minutes in said.groups()] == [
        round(each(path).minutes) for each in (reading.of_spine, reading.of_whole)
    ]


@every_chapter
def test_what_is_deeper_says_so_and_what_is_inside(path):
    for cell in load(path)["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] != "markdown":
            assert reading.DEEPER not in tags(cell)
            continue
        named = re.match(r"#{2,3} Deeper: \S", source) is not None
        assert named == (reading.DEEPER in tags(cell)), f"cell {cell['id']}: the tag and “Deeper:” go together"
        if named:
            paragraphs = source.split("\n\n")
            assert len(paragraphs) > 1, f"cell {cell['id']}: a line says what is inside"
            assert re.fullmatch(r"[A-Z“$*`][^\n]{20,159}[.?]", paragraphs[1]), f"cell {cell['id']}: {paragraphs[1]}"


def test_headings_of_recut_chapters_begin_their_cells():
    """Sections are told apart by cells: what is deeper or an exercise begins with one."""
    within = []
    for path in NUMBERED:
        for cell in load(path)["cells"]:
            rest = re.sub(r"```.*?```", "", joined(cell["source"]), flags=re.DOTALL).split("\n")[1:]
            if cell["cell_type"] == "markdown":
                within += [f"{path.stem}: {line}" for line in rest if re.match("#{1,3} ", line)]
    assert within == []


def test_words_of_prose_are_counted():
    assert reading.words("One two, the [base’s](a.ipynb#b-c) $a + b$ `d e`.\n\n$$x\n= y$$\n\n```\nf g\n```") == 4


def test_the_spine_ends_where_it_is_deeper_and_goes_on_at_a_heading_as_high():
    cells = [
        markdown("## One\n\na b"),
        markdown("### Deeper: two\n\nc d e", "deeper"),
        code("x = 1"),
        markdown("#### Below\n\nf"),
        markdown("### Three\n\ng"),
        markdown("### Exercise 1: four\n\nh"),
        code("y = 2"),
        markdown("## Five\n\ni"),
    ]
    assert short(cells) == reading.Reading(
        words=7, formulas=0, tables=0, lines=0, figures=0, predictions=0, explorables=0
    )
    whole = reading.reading(cells, folded=True)
    assert (whole.words, whole.lines) == (17, 2)


def test_a_chapter_shows_little_code_before_its_first_exercise():
    shown = {}
    for path in set(SET_OUT) - set(MOSTLY_CODE):
        cells = load(path)["cells"]
        exercise = next(k for k, cell in enumerate(cells) if joined(cell["source"]).startswith("### Exercise"))
        read = [joined(cell["source"]) for cell, is_shown in code_cells(cells[:exercise]) if is_shown]
        read = [source for source in read if "interact(" not in source]  # a slider of one's own closes the chapter
        shown[path.stem] = sum(bool(line.strip()) for source in read for line in source.splitlines())
    assert {name: count for name, count in shown.items() if count > 40} == {}


@set_out
def test_it_opens_with_its_question_and_something_to_see(path):
    first, *cells = load(path)["cells"]
    assert "?" in joined(first["source"])
    assert SHOWS in tags(next(cell for cell in cells if cell.get("outputs") or SHOWS in tags(cell)))


@set_out
def test_predictions_are_few_and_hold_back_results_alone(path):
    cells = {cell["id"]: cell for cell in load(path)["cells"]}
    hidden = [cell["metadata"]["predict"]["hides"] for cell in cells.values() if "predict" in tags(cell)]
    assert 1 <= len(hidden) <= 3
    for cell in (cells[name] for names in hidden for name in names):
        assert "$$" not in joined(cell["source"]), cell["id"]
        assert ESSENTIAL not in tags(cell), cell["id"]

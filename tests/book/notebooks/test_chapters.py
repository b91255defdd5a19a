"""Every chapter's notebook keeps to what the book promises."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from posenc.lab.measured import shipped_folder
from tests.book.notebooks.markdown import faults
from tests.book.notebooks.prose import missing_numbers
from tools.address import SETTING
from tools.execute import cached, chapters, tried
from tools.notebooks import (
    SHOWS,
    clean,
    compared_cells,
    dump,
    heading,
    is_shown,
    joined,
    load,
    tags,
    text_of,
)

CHAPTERS = chapters()
ROOT = Path(__file__).resolve().parents[3]
COMPARED_AT_LEAST = 5

every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
# These run a chapter or ask the cache what running it gave.
runs_it = pytest.mark.torch


def is_numbered(path: Path) -> bool:
    """Whether a notebook is a chapter; a reference page that runs has no number, and needs no exercises."""
    return path.name[:2].isdigit()


def cells(path: Path, kind: str) -> list[dict]:
    return [cell for cell in load(path)["cells"] if cell["cell_type"] == kind]


@every_chapter
def test_it_is_clean(path):
    assert dump(clean(load(path))) == path.read_text(encoding="utf-8")


@every_chapter
def test_it_has_a_title_and_a_description(path):
    notebook = load(path)
    assert heading(notebook)
    assert notebook["metadata"].get("description", "").strip()


@every_chapter
def test_it_uses_no_check_of_an_assignment(path):
    assert "posenc.check" not in path.read_text(encoding="utf-8"), "the execution cache does not follow posenc.check"


@every_chapter
def test_every_code_cell_was_run_in_order(path):
    counts = [cell["execution_count"] for cell in cells(path, "code")]
    assert counts == list(range(1, len(counts) + 1))


@every_chapter
def test_enough_cells_have_their_text_compared(path):
    count = compared_cells(path)
    print(f"{path.name}: {count} cells compared")
    assert count >= COMPARED_AT_LEAST


@runs_it
@every_chapter
def test_cells_that_show_are_those_not_compared_and_none_prints_too_or_warns(path):
    """A figure or a widget is not stored: its cell is tagged so that nbval leaves it alone, and has no text to lose."""
    for cell in cached(path).cells:
        if cell.cell_type == "code":
            kinds = {is_shown(output) for output in cell.outputs}
            assert len(kinds) < 2, f"cell {cell.id} prints and shows"
            assert (kinds == {True}) == (SHOWS in tags(cell)), f"cell {cell.id}: run `python -m tools.execute`"
            streams = [output.get("name") for output in cell.outputs]
            assert "stderr" not in streams, f"cell {cell.id} writes to stderr"


@every_chapter
def test_numbers_in_prose_come_from_earlier_cells(path):
    notebook = load(path)["cells"]
    told = [
        ("prose", joined(cell["source"])) if cell["cell_type"] == "markdown" else ("output", text_of(cell))
        for cell in notebook
    ]
    missing = [f"{number} in cell {notebook[place]['id']}" for place, number in missing_numbers(told)]
    assert missing == []


@every_chapter
def test_code_fits_the_column_of_a_page(path):
    shown = [cell for cell in cells(path, "code") if "remove-cell" not in cell["metadata"].get("tags", [])]
    lines = [line for cell in shown for line in joined(cell["source"]).splitlines()]
    assert [line for line in lines if len(line) > 90] == []


@every_chapter
def test_its_page_brings_the_checkpoints_that_it_loads(path):
    notebook = load(path)
    code = "\n".join(joined(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    named = {file.stem for file in shipped_folder().glob("*.safetensors") if f'"{file.stem}"' in code}
    assert "load_weights" not in code or named <= set(notebook["metadata"].get("models", ()))


@every_chapter
def test_its_markdown_is_what_colab_renders(path):
    found = {cell["id"]: faults(joined(cell["source"])) for cell in cells(path, "markdown")}
    assert {name: what for name, what in found.items() if what} == {}


@every_chapter
def test_it_is_set_up_as_every_other(path):
    here, model = (cells(each, "code")[:2] for each in (path, CHAPTERS[0]))
    assert [joined(cell["source"]) for cell in here] == [joined(cell["source"]) for cell in model]
    assert "remove-cell" in tags(here[0])


@every_chapter
def test_its_first_cell_knows_the_repository(path):
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    url = config["repository"]["url"] or ""
    source = joined(cells(path, "code")[0]["source"])
    assert [match["url"] for match in SETTING.finditer(source)] == [url]


@runs_it
@every_chapter
def test_exercises_are_not_solved_and_their_solutions_are_right(path):
    checks = tried(path)["checks"]
    assert checks or not is_numbered(path), "a chapter has at least one exercise with a checking cell"
    tagged = [cell for cell in cells(path, "code") if {"exercise", "check"} & set(tags(cell))]
    assert [cell["id"] for cell in tagged[::2]] == list(checks)
    executed = {cell.id: text_of(cell) for cell in cached(path).cells if cell.cell_type == "code"}
    for stub, check in zip(tagged[::2], tagged[1::2], strict=True):
        said = checks[stub["id"]]
        assert executed[check["id"]].startswith("not yet"), check["id"]
        assert said, f"{stub['id']} has no folded solution"
        assert said.startswith("right"), f"{stub['id']}: {said}"


@runs_it
@every_chapter
def test_its_own_sliders_work_at_every_end(path):
    sliders = tried(path)["sliders"]
    assert sliders, "a notebook closes with a slider of its own"
    for slider in sliders:
        assert slider["settings"] > 1, slider
        assert slider["faults"] == []

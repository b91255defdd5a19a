"""The command: from a folder of submissions to a table, pages, and marks by hand."""

import copy
import csv
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import course.__main__ as command
from course import sandbox, sources
from course.grade import NUMBERS, assignment, student
from course.report import rubrics
from tools.notebooks import load

pytestmark = pytest.mark.torch
Run = Callable[..., str]
GIVEN = assignment(4)
*OTHERS, WORDS = GIVEN.hand_graded
MOODLE = "Ada Lovelace_10034_assignsubmission_file_"
CANVAS = "hopper_10035_900034_assignment_4"


def notebook(words: str = "", **cells: str) -> dict[str, Any]:
    """Our own solved notebook of assignment 4 with other answers."""
    made = copy.deepcopy(sources.source(4))
    for cell in made["cells"]:
        cell["source"] = cells.get(cell["id"], words if words and cell["id"] == WORDS.name else cell["source"])
    return made


def put(path: Path, made: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Submissions as Moodle and Canvas pack them, and what else may lie there."""
    there = tmp_path / "submissions"
    put(there / MOODLE / "assignment_4.ipynb", notebook("Because <b>later</b> tokens $x^2$ \x1b[2J count."))
    put(there / f"{CANVAS}.ipynb", notebook("I do not know.", q1="def"))
    put(there / "=cmd.ipynb", load(student(4)))
    put(there / "twice" / "a.ipynb", notebook("one"))
    put(there / "twice" / "b.ipynb", notebook("one", q1="x = 1"))
    (there / "empty").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "exam_solutions.pdf").touch()
    (there / "mallory").symlink_to(tmp_path / "outside")
    return there


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def runs(folder: Path, *words: str) -> str:
        monkeypatch.setattr(command, "KEY", tmp_path / "key")
        monkeypatch.setattr(sys, "argv", ["course", str(folder), "--output", str(tmp_path / "grades"), *words])
        command.main()
        return capsys.readouterr().out

    return runs


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_folder_becomes_tables_pages_and_marks(folder: Path, tmp_path: Path, run: Run) -> None:
    printed = run(folder)
    grades = tmp_path / "grades"
    rows = {row["student"]: row for row in table(grades / "grades.csv")}
    coded = sum(question.points for question in GIVEN.questions)
    assert {name: float(row["points"]) for name, row in rows.items()} == {
        **{MOODLE: coded, CANVAS: coded - GIVEN.questions[0].points, "'=cmd": 0},
        **dict.fromkeys(("twice", "empty", "mallory"), 0),
    }
    assert rows["twice"]["note"] == "There are 2 different notebooks: leave the one that counts."
    assert rows["mallory"]["note"] == "This is a link to another place: links are not followed."
    pages = {path.relative_to(grades / "feedback").as_posix(): path for path in (grades / "feedback").rglob("*.html")}
    assert set(pages) == {
        *(f"{MOODLE}/assignment_4.html", f"{CANVAS}.html", "=cmd.html", "twice/a.html"),
        *("empty/feedback.html", "mallory/feedback.html"),
    }, "each page is where the platform looks for it"
    for text in (printed, *(path.read_text(encoding="utf-8") for path in grades.rglob("*.*") if path.is_file())):
        assert "exam_solutions" not in text, "a page lists no file"
        assert "\x1b" not in text
    page = pages[f"{MOODLE}/assignment_4.html"].read_text(encoding="utf-8")
    assert "Because &lt;b&gt;later&lt;/b&gt; tokens $x^2$ \\x1b[2J count." in page
    mistakes = table(grades / "mistakes.csv")
    assert {row["question"] for row in mistakes} == {question.name for question in GIVEN.questions}
    assert any(row["told"].startswith("its cell is not Python") and row["students"] == "1" for row in mistakes)
    assert "3 of" not in printed
    assert "Waiting for a reader: 3." in printed


def test_marks_are_given_blind_and_read_back(folder: Path, tmp_path: Path, run: Run) -> None:
    run(folder)
    grades = tmp_path / "grades"
    seed = json.loads((grades / "run.json").read_text(encoding="utf-8"))["seed"]
    marking, reading = grades / "marking.csv", (grades / "reading.html").read_text(encoding="utf-8")
    rows = table(marking)
    assert rows == sorted(rows, key=lambda row: (row["question"], row["code"]))
    for name in ("Ada", "Lovelace", "hopper", "10034", "cmd"):
        assert name not in reading + marking.read_text(encoding="utf-8")
    filled = tmp_path / "filled.csv"
    with filled.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=";")
        writer.writeheader()
        for row in rows:
            assert f"<h3>{row['code']}" in reading
            given = {"points": "2,5", "comment": "Clear."} if row["answer"].startswith("Because") else {}
            writer.writerow(row | given)
    printed = run(folder, "--marks", str(filled))
    assert f"The grades that were there are now in {grades}-1" in printed
    assert (tmp_path / "grades-1" / "grades.csv").is_file(), "nothing is overwritten"
    assert json.loads((grades / "run.json").read_text(encoding="utf-8"))["seed"] == seed, "the same inputs"
    row = next(row for row in table(grades / "grades.csv") if row["student"] == MOODLE)
    assert (row[WORDS.name], row["waiting for a reader"]) == ("2.5", ", ".join(one.name for one in OTHERS))
    page = (grades / "feedback" / MOODLE / "assignment_4.html").read_text(encoding="utf-8")
    assert "Clear." in page
    filled.write_text(f"code,question,points\n00000000,{WORDS.name},1\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="has the code 00000000"):
        run(folder, "--marks", str(filled))
    filled.write_text(f"code,question,points\n{rows[-1]['code']},{WORDS.name},99\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=f"points of {WORDS.name} go from 0 to {WORDS.points}"):
        run(folder, "--marks", str(filled))


def test_what_cannot_be_graded_is_said(folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, words in ((tmp_path / "none", "is not a folder"), (tmp_path / "outside", "there is no notebook")):
        with pytest.raises(SystemExit, match=words):
            run(place)
    (tmp_path / "grades").mkdir()
    (tmp_path / "grades" / "thesis.txt").touch()
    with pytest.raises(SystemExit, match="holds something else than grades"):
        run(folder)
    (tmp_path / "grades" / "thesis.txt").unlink()
    two = tmp_path / "two"
    put(two / "a.ipynb", load(student(1)))
    put(two / "b.ipynb", load(student(2)))
    with pytest.raises(SystemExit, match="named by 1 students each: add --assignment N"):
        run(two)
    (tmp_path / "key").write_text("short")
    with pytest.raises(SystemExit, match="holds no secret"):
        run(folder)
    (tmp_path / "key").unlink()
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="apt-get install bubblewrap"):
        run(folder)


@pytest.mark.parametrize(("failures", "note"), [(1, ""), (2, "It could not be graded (NoSandbox): grade it again.")])
def test_grading_that_breaks_off_is_tried_once_more(
    failures: int, note: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    grade, left = command.grade, [failures]

    def breaks_off(*given: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise sandbox.NoSandbox("a process could not be ended")
        return grade(*given)

    put(tmp_path / "one" / "ada.ipynb", notebook("Because."))
    monkeypatch.setattr(command, "grade", breaks_off)
    run(tmp_path / "one")
    row = table(tmp_path / "grades" / "grades.csv")[0]
    coded = sum(question.points for question in GIVEN.questions)
    assert (float(row["points"]), row["note"]) == (0 if note else coded, note)


def test_the_key_is_kept_out_of_the_repository() -> None:
    ignored = (sources.ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert {"/course/key", "/grades/"} <= set(ignored)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_question_for_a_reader_has_a_rubric_and_three_marked_samples(number: int) -> None:
    told = rubrics(assignment(number))
    assert list(told) == [question.name for question in assignment(number).hand_graded]
    for question in assignment(number).hand_graded:
        rubric = told[question.name]
        assert len(rubric["points"]) == question.points
        assert len({sum(sample["given"]) for sample in rubric["samples"]}) == 3
        assert not re.search("<[a-z]", json.dumps(rubric))

"""The instructor's command: a table, pages and a record; clear words where it cannot grade; the same points again."""

from __future__ import annotations

import csv
import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import grading.__main__ as command
from grading import report, sandbox, sources
from grading.grade import assignment, grade_question
from grading.questions.question import Case, Part, Question
from grading.sandbox import NoSandbox
from grading.submission import Submission

pytestmark = pytest.mark.torch


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", ["grading", *map(str, words)])
    command.main()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two submissions of assignment 4: the untouched one, and our own with a text of its own."""
    monkeypatch.setattr(command, "KEY", tmp_path / "key")
    folder = tmp_path / "submissions"
    folder.mkdir()
    (folder / "=ada.ipynb").write_bytes(sources.path_of(4).read_bytes())
    (folder / "alan").mkdir()
    (folder / "alan" / "x.ipynb").write_bytes((sources.STUDENT / "assignment_4.ipynb").read_bytes())
    return folder


def table(output: Path) -> dict[str, dict[str, str]]:
    with (output / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_a_folder_becomes_a_table_pages_and_a_record(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "grades"
    given = assignment(4)
    by_hand = given.hand_graded[0]
    (folder / "notes.txt").write_text("Not a notebook", encoding="utf-8")
    run(monkeypatch, folder, "--output", output)
    printed = capsys.readouterr().out
    assert "Left out, as they are no notebooks: notes.txt" in printed
    first = table(output)
    automatic = given.points - by_hand.points
    assert set(first) == {"'=ada", "alan"}, "a spreadsheet must not take a name for a formula"
    assert first["'=ada"]["points"] == str(automatic)
    assert first["alan"]["points"] == "0"
    assert first["alan"]["waiting for a reader"] == by_hand.name
    assert {row["sandbox"] for row in first.values()} == {"yes"}

    key = tmp_path / "key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    record = json.loads((output / "run.json").read_text(encoding="utf-8"))
    pages = {page.name: page.read_text(encoding="utf-8") for page in (output / "feedback").iterdir()}
    assert len(pages) == 2
    for page in pages.values():
        assert record["seed"] in page
        assert key.read_text().strip() not in page
    assert "not answered yet" in pages["alan.html"]
    assert record["assignment"] == 4
    assert record["unsafe"] is False
    assert record["seed"] in printed

    # the same run again, with a reader's points
    points = tmp_path / "points.csv"
    points.write_text(f"student,question,points,comment\n=ada,{by_hand.name},1.5,<b>Clear</b>\n", encoding="utf-8")
    run(monkeypatch, folder, "--output", output, "--seed", record["seed"], "--hand-grades", points)
    second = table(output)["'=ada"]
    assert second["points"] == str(automatic + 1.5)
    assert second["waiting for a reader"] == ""
    page = next(path for path in (output / "feedback").iterdir() if path.name.startswith("ada"))
    assert "&lt;b&gt;Clear" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,points\n", "needs the columns student, question and points"),
        ("student,question,points\nalan,q1,1\n", "line 2: 'q1' is no question graded by hand"),
        ("student,question,points\nalan,{name},99\n", "points of {name} go from 0 to"),
        ("student,question,points\nalan,{name},much\n", "'much'"),
        ("student,question,points\nalan,{name},nan\n", "'nan'"),
        ("student,question,points\nnobody,{name},1\n", "names students who handed in nothing: nobody"),
    ],
)
def test_a_table_of_points_that_cannot_be_used_stops_the_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    name = assignment(4).hand_graded[0].name
    points = tmp_path / "points.csv"
    points.write_text(text.replace("{name}", name), encoding="utf-8")
    with pytest.raises(SystemExit, match="Not graded") as stopped:
        run(monkeypatch, folder, "--output", tmp_path / "grades", "--hand-grades", points)
    assert words.replace("{name}", name) in str(stopped.value)
    assert not (tmp_path / "grades").exists()


def test_without_submissions_or_a_sandbox_it_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    for place, words in ((tmp_path / "empty", "there is no notebook"), (tmp_path / "absent", "is not a folder")):
        with pytest.raises(SystemExit, match=words):
            run(monkeypatch, place)
    (tmp_path / "empty" / "x.ipynb").write_text("{}", encoding="utf-8")
    with pytest.raises(SystemExit, match="add --assignment N"):
        run(monkeypatch, tmp_path / "empty")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "empty"))
    with pytest.raises(SystemExit, match="apt-get install bubblewrap"):
        run(monkeypatch, folder, "--output", tmp_path / "grades")
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["x.ipynb"]
    assert not (tmp_path / "grades").exists()


def test_a_sandbox_that_does_not_start_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(SystemExit, match="No permissions to create new namespace"):
        run(monkeypatch, folder, "--output", tmp_path / "grades")


def test_unsafe_marks_everything(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "grades"
    run(monkeypatch, folder, "--output", output, "--unsafe")
    assert {row["sandbox"] for row in table(output).values()} == {"no (--unsafe)"}
    assert table(output)["'=ada"]["points"] == str(assignment(4).points - assignment(4).hand_graded[0].points)
    for page in (output / "feedback").iterdir():
        assert "ran without a sandbox" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words", [["--timeout", "0"], ["--memory", "1"], ["--workers", "0"], ["--timeout", "nan"], ["--assignment", "9"]]
)
def test_settings_that_make_no_sense_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(monkeypatch, folder, *words)
    assert stopped.value.code == 2


def test_a_key_without_a_secret_is_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("short\n")
    with pytest.raises(SystemExit, match="holds no secret"):
        run(monkeypatch, folder, "--output", tmp_path / "grades")


def test_the_key_is_kept_out_of_the_repository() -> None:
    done = subprocess.run(["git", "check-ignore", "grading/key", "grades/x"], cwd=sources.ROOT, capture_output=True)
    assert done.stdout.decode().split() == ["grading/key", "grades/x"]


def test_files_have_names_that_any_system_takes() -> None:
    names = ["ada", "a/b", "a b", "../../etc/passwd", "", "李", "x" * 500, "a\nb", "<script>"]
    made = [report.safe_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert all("/" not in name and "\n" not in name and name and len(name) < 100 for name in made)
    assert made[0] == "ada"


def test_nobody_can_take_another_ones_page() -> None:
    taken = report.safe_name("Ada Lovelace")
    assert report.safe_name(taken) != taken
    for name in ("\U0001d49c" * 60 + "/" + "\U0001d49c" * 60, "half \udcff"):
        assert len(f"{report.safe_name(name)}.html".encode()) < 256


def test_half_a_character_is_written(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = sources.load(sources.STUDENT / "assignment_4.ipynb")
    next(cell for cell in notebook["cells"] if cell["id"] == "q7")["source"] = "half: \ud800"
    (folder / "half \udcff.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    run(monkeypatch, folder, "--output", tmp_path / "grades")
    assert set(table(tmp_path / "grades")) == {"'=ada", "alan", "half \\udcff"}


def test_what_cannot_be_graded_costs_nobody_else_anything(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = command.grade

    def broken(submission: Submission, *given: Any) -> Any:
        if submission.student == "alan" and not submission.problem:
            raise NoSandbox("it did not start again")
        return right(submission, *given)

    monkeypatch.setattr(command, "grade", broken)
    run(monkeypatch, folder, "--output", tmp_path / "grades")
    rows = table(tmp_path / "grades")
    assert "could not be graded (NoSandbox)" in rows["alan"]["note"]
    assert float(rows["'=ada"]["points"]) > 0


def test_a_check_that_breaks_gives_no_points_and_says_so() -> None:
    def breaks(random: object) -> list[Case]:
        raise OverflowError

    parts = (Part("one", 1, cases=breaks), Part("two", 1, cases=lambda random: []))
    question = Question(assignment=1, name="q1", title="Odd", names=("f",), parts=parts)

    class Stub:
        @contextmanager
        def answers(self, question: Question, cells: list[str]) -> Iterator[dict[str, Any]]:
            yield {"f": lambda: None}

    results = grade_question(Stub(), question, ["x = 1"], "seed")  # type: ignore[arg-type]
    assert [result.earned for result in results] == [0, 1]
    assert "could not deal with" in results[0].sentence


def test_the_repository_is_hidden_where_it_lies_among_the_systems_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "ROOT", Path("/usr/share"))
    assert Path("/usr/share") in sandbox._hidden()
    monkeypatch.setattr(sandbox, "ROOT", Path("/srv/posenc"))
    assert Path("/srv/posenc") not in sandbox._hidden()


def test_the_grader_is_not_in_the_package() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import grading"], cwd=Path("/"), capture_output=True, env={"PATH": os.defpath}
    )
    assert b"No module named 'grading'" in done.stderr


def test_no_sandbox_is_an_error_of_its_own() -> None:
    assert not issubclass(NoSandbox, ValueError)
    assert Submission("ada", Path("x")).problem == ""

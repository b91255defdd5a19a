"""The instructor's command: a table, pages and a record; clear words where it cannot grade; the same points again."""

from __future__ import annotations

import csv
import html
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import course.__main__ as command
from course import report, sandbox, sources
from course.grade import NUMBERS, assignment, grade_question
from course.question import Case, Part, Question
from course.sandbox import NoSandbox
from course.submission import Submission

pytestmark = pytest.mark.torch
Run = Callable[..., None]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, with these words."""

    def command_line(*words: object) -> None:
        monkeypatch.setattr(sys, "argv", ["course", *map(str, words)])
        command.main()

    return command_line


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


def take_hints(path: Path, source: str) -> None:
    """Add a cell to a notebook."""
    notebook = sources.load(path)
    notebook["cells"].append({"cell_type": "code", "id": "mine", "source": source, "metadata": {}, "outputs": []})
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_a_folder_becomes_a_table_pages_and_a_record(
    folder: Path, tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "grades"
    given = assignment(4)
    by_hand = given.hand_graded[0]
    (folder / "notes.txt").write_text("Not a notebook", encoding="utf-8")
    run(folder, "--output", output)
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
    take_hints(folder / "=ada.ipynb", "check.q1.hint(2)\ncheck.q7.hint()")
    run(*(folder, "--output", output, "--seed", record["seed"]), *("--hand-grades", points, "--hint-price", "0.25"))
    second = table(output)["'=ada"]
    assert second["points"] == str(automatic + 1.5 - 0.75)
    assert second["q1"] == str(given.questions[0].points - 0.5)
    assert second["hints"] == "q1 2, q7 1"
    assert second["waiting for a reader"] == ""
    assert json.loads((output / "run.json").read_text(encoding="utf-8"))["hint_price"] == 0.25
    page = next(path for path in (output / "feedback").iterdir() if path.name.startswith("ada"))
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;Clear" in text
    reading, *of_students = (
        html.unescape(page) for page in ((output / "reading.html").read_text(encoding="utf-8"), text, *pages.values())
    )
    rubric = report.RUBRICS["assignment_4"][by_hand.name]
    for words in (*rubric["points"], *(sample["why"] for sample in rubric["samples"])):
        assert words in reading
        assert all(words not in page for page in of_students), "for the reader alone"
    assert "<h3>=ada: 1.5 of 3</h3>" in reading
    assert reading.index("<h3>alan</h3>") > reading.index("Sample: 3 of 3 (1 + 1 + 1)")
    assert "<p>Hints taken: 2 of 3, for 0.5 points less.</p>" in text
    assert "<p>Hint taken: 1 of 3, for 0.25 points less.</p>" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,points\n", "needs the columns student, question and points"),
        ("student,question,points\nalan,q1,1\n", "line 2: 'q1' is no question graded by hand"),
        ("student,question,points\nalan,{name},99\n", "points of {name} go from 0 to"),
        ("student,question,points\nalan,{name},much\n", "'much'"),
        ("student,question,points\nalan,{name},nan\n", "'nan'"),
        ("student,question,points\nnobody,{name},1\n", "names students who handed in nothing: nobody"),
        ("student;question;points\nalan;{name};99\n", "points of {name} go from 0 to"),
        ("student,question,points\nalan,{name}\n", "points of {name} go from 0 to"),
        ("student,question,points\n\udcffalan,{name},1\n", "is not text in UTF-8 or UTF-16: save it as CSV in UTF-8"),
    ],
)
def test_a_table_of_points_that_cannot_be_used_stops_the_run(
    folder: Path, tmp_path: Path, run: Run, text: str, words: str
) -> None:
    name = assignment(4).hand_graded[0].name
    points = tmp_path / "points.csv"
    points.write_text(text.replace("{name}", name), encoding="utf-8", errors="surrogateescape")
    with pytest.raises(SystemExit, match="Not graded") as stopped:
        run(folder, "--output", tmp_path / "grades", "--hand-grades", points)
    assert words.replace("{name}", name) in str(stopped.value)
    assert not (tmp_path / "grades").exists()


def test_without_submissions_or_a_sandbox_it_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    (tmp_path / "empty").mkdir()
    for place, words in ((tmp_path / "empty", "there is no notebook"), (tmp_path / "absent", "is not a folder")):
        with pytest.raises(SystemExit, match=words):
            run(place)
    (tmp_path / "empty" / "x.ipynb").write_text("{}", encoding="utf-8")
    with pytest.raises(SystemExit, match="add --assignment N"):
        run(tmp_path / "empty")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "empty"))
    with pytest.raises(SystemExit, match="apt-get install bubblewrap"):
        run(folder, "--output", tmp_path / "grades")
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["x.ipynb"]
    assert not (tmp_path / "grades").exists()


def test_a_sandbox_that_does_not_start_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(SystemExit, match="No permissions to create new namespace"):
        run(folder, "--output", tmp_path / "grades")


def test_unsafe_marks_everything(folder: Path, tmp_path: Path, run: Run) -> None:
    output = tmp_path / "grades"
    run(folder, "--output", output, "--unsafe")
    assert {row["sandbox"] for row in table(output).values()} == {"no (--unsafe)"}
    assert table(output)["'=ada"]["points"] == str(assignment(4).points - assignment(4).hand_graded[0].points)
    for page in (output / "feedback").iterdir():
        assert "ran without a sandbox" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ["--hint-price", "-1"],
        ["--hint-price", "nan"],
        ["--hint-price", "inf"],
        ["--timeout", "0"],
        ["--memory", "1"],
        ["--workers", "0"],
        ["--timeout", "nan"],
        ["--assignment", "9"],
    ],
)
def test_settings_that_make_no_sense_are_refused(folder: Path, run: Run, words: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(folder, *words)
    assert stopped.value.code == 2


def test_a_key_without_a_secret_is_refused(folder: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "key").write_text("short\n")
    with pytest.raises(SystemExit, match="holds no secret"):
        run(folder, "--output", tmp_path / "grades")


def test_grades_of_one_assignment_never_replace_those_of_another(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "ada.ipynb").write_bytes((sources.STUDENT / "assignment_1.ipynb").read_bytes())
    run(folder)
    run(other)
    assert sorted(path.name for path in Path("grades").iterdir()) == ["assignment_1", "assignment_4"]
    assert "Replaced" not in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        run(other, "--output", Path("grades", "assignment_4"))
    assert str(stopped.value) == (
        "Not graded. grades/assignment_4 holds the grades of assignment 4, and these are of assignment 1: "
        "name another folder with --output"
    )
    assert set(table(Path("grades", "assignment_4"))) == {"'=ada", "alan"}
    with pytest.raises(SystemExit, match="is a file: name a folder"):
        run(other, "--output", folder / "=ada.ipynb")


def test_a_regrade_keeps_what_it_replaces_and_says_so(
    folder: Path, tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "grades"
    run(folder, "--output", output)
    first = (output / "grades.csv").read_bytes()
    pages = {page.name: page.read_bytes() for page in (output / "feedback").iterdir()}
    record = json.loads((output / "run.json").read_text(encoding="utf-8"))
    (output / "mine.txt").write_text("kept", encoding="utf-8")
    capsys.readouterr()
    (folder / "alan" / "x.ipynb").unlink()
    (folder / "alan").rmdir()
    (folder / "=ada.ipynb").write_bytes((sources.STUDENT / "assignment_4.ipynb").read_bytes())
    for _ in range(2):
        run(folder, "--output", output)
    printed = capsys.readouterr().out
    earlier = sorted((output / "earlier").iterdir())
    assert len(earlier) == 2
    assert f"Replaced the grades of 2 submissions (run {record['seed']}). They are kept in {earlier[0]}\n" in printed
    assert "  No longer in the table: alan\n" in printed
    given = assignment(4)
    points = given.points - given.hand_graded[0].points
    assert f"  Other points than before: '=ada {points} → 0\n" in printed
    assert printed.count("No longer in the table") == printed.count("Other points") == 1, "the second changed nothing"
    assert (earlier[0] / "grades.csv").read_bytes() == first
    assert {page.name: page.read_bytes() for page in (earlier[0] / "feedback").iterdir()} == pages
    assert json.loads((earlier[0] / "run.json").read_text(encoding="utf-8")) == record
    assert set(table(output)) == {"'=ada"}
    assert len(list((output / "feedback").iterdir())) == 1
    names = {"analysis.html", "earlier", "feedback", "grades.csv", "mine.txt", "reading.html", "run.json"}
    assert {path.name for path in output.iterdir()} == names
    assert (earlier[0] / "reading.html").exists()


def test_grades_without_a_record_are_kept_too(tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text("my own\n", encoding="utf-8")
    (tmp_path / "run.json").write_text("[", encoding="utf-8")
    report.may_hold(tmp_path, 1)
    for _ in range(2):
        (tmp_path / "grades.csv").write_text("my own\n", encoding="utf-8")
        report.put_by(tmp_path)
    assert [path.read_text(encoding="utf-8") for path in (tmp_path / "earlier").glob("undated*/grades.csv")] == [
        "my own\n"
    ] * 2
    assert report.put_by(tmp_path) is None


def test_a_failure_leaves_the_old_grades(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    output = tmp_path / "grades"
    run(folder, "--output", output)
    before = (output / "grades.csv").read_bytes()

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "rows", full)
    with pytest.raises(SystemExit, match="No space left"):
        run(folder, "--output", output)
    assert (output / "grades.csv").read_bytes() == before
    assert {path.name for path in output.iterdir()} == {
        "analysis.html",
        "feedback",
        "grades.csv",
        "reading.html",
        "run.json",
    }


def of_two(folder: Path, student: str, **notebooks: Any) -> None:
    (folder / student).mkdir()
    for name, notebook in notebooks.items():
        (folder / student / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def test_a_student_with_several_notebooks_has_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "KEY", tmp_path / "key")
    folder = tmp_path / "submissions"
    folder.mkdir()
    empty, solved = sources.load(sources.STUDENT / "assignment_1.ipynb"), sources.source(1)
    other = sources.load(sources.STUDENT / "assignment_2.ipynb")
    draft = json.loads(json.dumps(empty))
    draft["cells"].append({"cell_type": "code", "id": "mine", "source": "check.q2.hint(3)", "metadata": {}})
    of_two(folder, "two", draft=draft, final=solved)
    of_two(folder, "copies", a=solved, b=empty, c=empty, d=solved)
    unnamed = {**empty, "metadata": {}}
    of_two(folder, "others", right=solved, other=other, broken=[], unnamed=unnamed)
    of_two(folder, "nothing")
    (folder / "nothing" / "answer\x1b.docx").write_text("", encoding="utf-8")
    (folder / "empty").mkdir()
    of_two(folder, "wrong", a=other, b=other)
    many = [json.loads(json.dumps(solved)) for _ in range(4)]
    for number, notebook in enumerate(many):
        next(cell for cell in notebook["cells"] if cell["id"] == "q1")["source"] = f"x = {number}"
    of_two(folder, "many", **dict(zip("abcd", many, strict=True)))
    run(folder, "--assignment", "1", "--output", tmp_path / "grades")
    rows = table(tmp_path / "grades")
    all_points = str(assignment(1).points)
    assert {name: (row["points"], row["note"]) for name, row in rows.items()} == {
        "two": (
            all_points,
            f"2 notebooks of this student (two/draft.ipynb 0, two/final.ipynb {all_points} points): "
            "two/final.ipynb counts.",
        ),
        "copies": (
            all_points,
            f"2 notebooks of this student (copies/a.ipynb {all_points}, copies/b.ipynb 0 points): "
            "copies/a.ipynb counts.",
        ),
        "nothing": ("0", "There is no notebook (.ipynb) in the folder. It holds answer\\x1b.docx."),
        "empty": ("0", "There is no notebook (.ipynb) in the folder. It is empty."),
        "others": (
            all_points,
            "Not graded: others/broken.ipynb (it cannot be read), others/other.ipynb (assignment 2), "
            "others/unnamed.ipynb (it names no assignment).",
        ),
        "wrong": ("0", "This is a notebook of assignment 2."),
        "many": (
            "0",
            "There are 4 notebooks of this student, and none was graded: leave the one that counts. "
            "Up to 3 are graded, and the best counts. "
            "They are many/a.ipynb, many/b.ipynb, many/c.ipynb, many/d.ipynb.",
        ),
    }
    assert rows["two"]["hints"] == "q2 3", "taken in the draft"
    assert rows["copies"]["hints"] == ""
    assert "Graded 7 submissions of assignment 1" in (printed := capsys.readouterr().out)
    assert "Look at the column note: 7 of them have one." in printed


def test_missing_cells_are_named(folder: Path, tmp_path: Path, run: Run) -> None:
    notebook = sources.source(4)
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] not in ("q1", "q3")]
    cells["q4"] |= {"cell_type": "markdown"}
    cells["q7"] |= {"cell_type": "code", "source": "# <b>My reasons</b>"}
    (folder / "=ada.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (folder / "none.ipynb").write_text(
        json.dumps({"cells": [], "metadata": {"posenc": {"assignment": 4}}}), encoding="utf-8"
    )
    run(folder, "--output", tmp_path / "grades")
    rows = table(tmp_path / "grades")
    assert rows["none"]["note"] == "There is no answer cell (q1 to q7): nothing could be graded."
    assert rows["alan"]["note"] == ""
    notes = [
        "There is no cell named q1, q3: nothing could be graded there.",
        "The cell q4 is text, where code was asked for: nothing could be graded there.",
        "The cell q7 is code, where words were asked for: a reader sees it as it is.",
    ]
    assert rows["'=ada"]["note"] == " ".join(notes)
    page = next(path for path in (tmp_path / "grades" / "feedback").iterdir() if path.name.startswith("ada"))
    text = page.read_text(encoding="utf-8")
    assert all(f"<p>{note}</p>" in text for note in notes)
    assert "# &lt;b&gt;My reasons" in text


def test_no_control_character_reaches_terminal_table_or_page(
    folder: Path, tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    given = assignment(4).hand_graded[0].name
    notebook = sources.source(4)
    next(cell for cell in notebook["cells"] if cell["id"] == given)["source"] = "a\x1b[31m\u202e $\x1b x$"
    for name in ("\x1b[31mred", "a;=1+2", "＝2"):
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (folder / "eve").mkdir()
    for name in ("\x1b[2Ja", "\x1b[2Jb"):
        notebook["cells"].pop()
        notebook["cells"][-1]["id"] = "q1"
        notebook["cells"][-1]["source"] = [name]
        (folder / "eve" / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (folder / "\x1b[2J.txt").write_text("", encoding="utf-8")
    output = tmp_path / "grades"
    points = tmp_path / "points.csv"
    points.write_text(f"student;question;points;comment\n'＝2;{given};2;half \x1b[1m $x_i$\n", encoding="utf-16")
    run(folder, "--output", output, "--hand-grades", points)
    run(folder, "--output", output)
    printed = capsys.readouterr()
    written = [path for path in output.rglob("*") if path.is_file()]
    texts = [printed.out, printed.err, *(path.read_text(encoding="utf-8") for path in written)]
    steering = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e]")
    assert not any(steering.search(text.replace("\r", "\n")) for text in texts)
    assert "\\x1b[2J.txt" in printed.out
    assert set(table(output)) == {"'=ada", "alan", "\\x1b[31mred", "a;'=1+2", "'＝2", "eve"}
    assert "eve/\\x1b[2Ja.ipynb" in table(output)["eve"]["note"]
    graded = table(next((output / "earlier").iterdir()))
    assert graded["'＝2"]["waiting for a reader"] == ""
    run(folder, "--output", output, "--hand-grades", points)
    page = next(path for path in (output / "feedback").iterdir() if "half" in path.read_text(encoding="utf-8"))
    assert "half \\x1b[1m <math" in page.read_text(encoding="utf-8")


def test_a_page_holds_a_students_words_and_formulas_and_may_load_nothing(
    folder: Path, tmp_path: Path, run: Run
) -> None:
    notebook = sources.source(4)
    words = next(cell for cell in notebook["cells"] if cell["id"] == "q7")
    words["source"] = "<script>alert(1)</script> The angle $m\\theta_i$, ![](http://x/y.png)\n" + "long " * 10**6
    (folder / "=ada.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    run(folder, "--output", tmp_path / "grades")
    page = next(path for path in (tmp_path / "grades" / "feedback").iterdir() if path.name.startswith("ada"))
    text = page.read_text(encoding="utf-8")
    assert len(text) < 50_000
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert re.findall(r'class="warning">([^<]*)', text) == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt; The angle <math" in text
    assert "<script" not in text
    assert "<img" not in text
    assert "longer than 20000 characters" in table(tmp_path / "grades")["'=ada"]["note"]


def test_two_assignments_named_as_often_are_not_chosen_between(folder: Path, run: Run) -> None:
    (folder / "x.ipynb").write_bytes((sources.STUDENT / "assignment_1.ipynb").read_bytes())
    (folder / "y.ipynb").write_bytes((sources.STUDENT / "assignment_1.ipynb").read_bytes())
    with pytest.raises(SystemExit, match="are named by 2 students each: add --assignment N"):
        run(folder)


def test_a_student_with_many_notebooks_does_not_choose_the_assignment(tmp_path: Path) -> None:
    votes = {"eve": [3] * 5, "ada": [2], "alan": [2, 1]}
    found = [[Submission(name, tmp_path, number) for number in numbers] for name, numbers in votes.items()]
    assert command.number_of(found) == 2


def test_the_key_is_kept_out_of_the_repository() -> None:
    done = subprocess.run(["git", "check-ignore", "course/key", "grades/x"], cwd=sources.ROOT, capture_output=True)
    assert done.stdout.decode().split() == ["course/key", "grades/x"]


def test_files_have_names_that_any_system_takes() -> None:
    names = ["ada", "a/b", "a b", "../../etc/passwd", "", "李", "x" * 500, "a\nb", "<script>"]
    made = [report.safe_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert all("/" not in name and "\n" not in name and name and len(name) < 100 for name in made)
    assert made[0] == "ada"
    for device in ("CON", "nul", "com1.x"):
        assert report.safe_name(device).startswith(f"{device}-")
    assert report.safe_name("Ada", {"ada"}) != "Ada"
    assert report.safe_name("console") == "console"


def test_nobody_can_take_another_ones_page() -> None:
    taken = report.safe_name("Ada Lovelace")
    assert report.safe_name(taken) != taken
    for name in ("\U0001d49c" * 60 + "/" + "\U0001d49c" * 60, "half \udcff"):
        assert len(f"{report.safe_name(name)}.html".encode()) < 256


def test_half_a_character_is_written(folder: Path, tmp_path: Path, run: Run) -> None:
    notebook = sources.load(sources.STUDENT / "assignment_4.ipynb")
    next(cell for cell in notebook["cells"] if cell["id"] == "q7")["source"] = "half: \ud800"
    (folder / "half \udcff.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    run(folder, "--output", tmp_path / "grades")
    assert set(table(tmp_path / "grades")) == {"'=ada", "alan", "half \\udcff"}


def test_what_cannot_be_graded_costs_nobody_else_anything(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    right = command.grade

    def broken(submission: Submission, *given: Any) -> Any:
        if submission.student == "alan" and not submission.problem:
            raise NoSandbox("it did not start again")
        return right(submission, *given)

    monkeypatch.setattr(command, "grade", broken)
    run(folder, "--output", tmp_path / "grades")
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
        [sys.executable, "-c", "import course"], cwd=Path("/"), capture_output=True, env={"PATH": os.defpath}
    )
    assert b"No module named 'course'" in done.stderr


def test_every_question_for_a_reader_has_a_rubric_and_three_marked_samples() -> None:
    asked = {
        f"assignment_{number}": {question.name: question.points for question in assignment(number).hand_graded}
        for number in NUMBERS
        if assignment(number).hand_graded
    }
    assert {group: list(rubrics) for group, rubrics in report.RUBRICS.items()} == {
        group: list(points) for group, points in asked.items()
    }
    for group, points in asked.items():
        for name, most in points.items():
            rubric = report.RUBRICS[group][name]
            totals = [sum(sample["given"]) for sample in rubric["samples"]]
            assert len(rubric["points"]) == most
            assert totals[0] == most > totals[1] > totals[2], "a good one, a middling one, a poor one"
            for sample in rubric["samples"]:
                assert len(sample["given"]) == most
                assert set(sample["given"]) <= {0, 1}
                assert len(sample["text"].split()) > 30
                assert len(sample["why"].split()) > 20

"""Rosters as platforms give them, whose a file is, when it was handed in, and the grades in the platforms' forms."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

import course.__main__ as command
from course import platforms, report, roster, sources
from course.grade import Graded, Report, assignment
from course.submission import Submission
from posenc.check._question import Result

pytestmark = pytest.mark.torch

# The headings, and the rows that are no students, as the platforms give them.
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Assignment 1 (101),Current Score
    Points Possible,,,,,20.00,(read only)
"Lovelace, Ada",11,S1,ada,B 3,,90
"Turing, Alan",12,S2,alan,B 3,,80
"=Hopper, Grace",13,S3,grace,B 5,,
"Student, Test",99,,f00,B 3,,
"""
WORKSHEET = """Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 501,Ada Lovelace,S1,ada@example.edu,Submitted for grading,,20.00,Yes,"Monday, 2 March 2026, 10:00 AM",-,
Participant 502,Alan Turing,S2,alan@example.edu,No submission,,20.00,Yes,-,-,
"""
GRADESCOPE = """First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,\
Lateness (H:M:S)
Ada,Lovelace,S1,ada@example.edu,B,,20.0,Ungraded,7,2026-03-02 10:00:00 +0000,00:00:00
Alan,Turing,S2,alan@example.edu,B,,20.0,Missing,,,
"""
SAMPLES = {"canvas": CANVAS, "worksheet": WORKSHEET, "gradescope": GRADESCOPE}


def put(folder: Path, text: str, name: str = "table.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text(text, encoding=encoding)
    return path


def owners(place: roster.Roster, *students: str) -> list[str | None]:
    found = [place.owner(student) for student in students]
    return [person and person.known["number"] for person in found]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_roster_is_read_as_a_platform_gives_it(tmp_path: Path, sample: str) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        read = roster.load(put(tmp_path, SAMPLES[sample], encoding=encoding))
        assert [person.known["number"] for person in read.people][:2] == ["S1", "S2"]
        assert owners(read, "S2", "ADA LOVELACE", "monday/ada", "alan", "nobody") == ["S2", "S1", "S1", "S2", None]


def test_files_go_by_the_names_that_platforms_give_them(tmp_path: Path) -> None:
    canvas, moodle = (roster.load(put(tmp_path, text)) for text in (CANVAS, WORKSHEET))
    assert owners(canvas, "lovelaceada_11_900_assignment_2-1", "turingalan_LATE_12_901_x") == ["S1", "S2"]
    assert owners(canvas, "lovelaceada_77_900_assignment_2") == [None]
    assert owners(moodle, "Ada Lovelace_501_assignsubmission_file", "A B_502_assignsubmission_file_") == ["S1", "S2"]


def test_a_name_that_two_have_is_nobodys(tmp_path: Path) -> None:
    read = roster.load(put(tmp_path, "name;sid\nLi Wei;1\nLi Wei;2\n"))
    assert owners(read, "Li Wei", "2") == [None, "2"]


def test_nobody_takes_another_ones_place(tmp_path: Path) -> None:
    read = roster.load(put(tmp_path, "name,login,email,sid\nAda,ada,a@x,7\nada,eve,ada@y,8\nPoints Possible,p,,9\n"))
    assert owners(read, "ada", "eve/ada", "eve/deep/7", "group/ada", "p") == ["7", "8", "8", "7", "9"]
    canvas, moodle = (roster.load(put(tmp_path, text)) for text in (CANVAS, WORKSHEET))
    assert owners(canvas, "hoppergrace_13_900_a/ada", "somebody_77_900_a/ada", "x_S1_9_a") == ["S3", None, None]
    packed = ("Eve S1_503_assignsubmission_file/alan@example.edu", "S2_503_assignsubmission_file")
    assert owners(moodle, *packed) == [None, None]


PACKED = """submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: S1
    :email: ada@example.edu
  :created_at: 2026-03-01 10:00:00.000000000 Z
  :score:
  :status: unprocessed
  :history:
  - :id: 10
    :created_at: 2026-02-28 10:00:00.000000000 Z
submission_12:
  :submitters:
  - :name: ada@example.edu
    :sid: S3
    :email:
  - :name: Alan Turing
    :sid: S2
    :email: alan@example.edu
submission_13:
  :submitters:
  - :name: Nobody
    :sid: S9
"""


def test_what_gradescope_packs_is_whose_its_file_says(tmp_path: Path) -> None:
    read = roster.load(put(tmp_path, CANVAS, "roster.csv"))
    put(tmp_path, PACKED, roster.METADATA)
    found = [
        [Submission(f"submission_{place}", tmp_path / f"submission_{place}" / "x.ipynb", 2)] for place in (11, 12, 13)
    ]
    found.append([Submission("submission_12/ada", tmp_path / "submission_12" / "ada" / "x.ipynb", 2)])
    arranged = {
        theirs[0].student: (person and person.known["number"], [one.path for one in theirs])
        for person, theirs in roster.arrange(found, read, tmp_path)
    }
    both = [found[1][0].path, found[3][0].path]
    assert arranged == {
        "ada": ("S1", [found[0][0].path]), "grace": ("S3", both), "alan": ("S2", both),
        "submission_13": (None, [found[2][0].path]),
    }  # fmt: skip
    for text in ("[1]", "submission_11: {}", "a: b", "{", "submission_11: {':submitters': 3}"):
        put(tmp_path, text, roster.METADATA)
        with pytest.raises(ValueError, match="is not as Gradescope writes it"):
            roster.gradescope(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "has the columns a, b: none of them says who somebody is"),
        ("email\n", "names nobody"),
        ("email\nada@x\nADA@x\n", "line 3: 'ADA@x' stands in line 2"),
        ("email,free days\nada@x,some\n", "line 2: free days are a whole number: 'some'"),
    ],
)
def test_a_roster_that_cannot_be_used_says_why(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        roster.load(put(tmp_path, text))


def test_days_late_are_begun_days() -> None:
    at = roster.moment("2026-03-01T23:59+01:00")
    line = roster.Deadline(at, free=1, price=10)
    for time, days in (("2026-03-01 22:59+00:00", 0), ("2026-03-02 00:00 +0100", 1), ("2026-03-03T23:59:01+01:00", 3)):
        assert line.days_late(roster.moment(time)) == days
    late = roster.moment("2026-03-04T23:00+01:00")
    assert line.taken(late, 20)[0] == 4
    assert "3 days late, 1 of them free, 4 points taken off." in line.taken(late, 20)[1]
    assert line.taken(late, 20, free=3)[0] == 0
    assert line.taken(at, 20) == (0.0, "", 0)
    _, told, used = line.taken(late, 20, free=5, term=True)
    assert told.endswith("3 days late, 3 of them free, 0 points taken off. Free days left for the term: 2.")
    assert used == 3
    assert roster.Deadline(at, price=50).taken(late, 20)[0] == 20
    with pytest.raises(ValueError, match="'tomorrow' is no time: write it as"):
        roster.moment("tomorrow")


def test_free_days_of_a_term_are_those_of_assignments_that_were_due_before(tmp_path: Path) -> None:
    read = roster.load(put(tmp_path, CANVAS))

    def record(assignment: int, day: int, time: str, **days: int) -> dict[str, object]:
        return {"assignment": assignment, "deadline": f"2026-03-{day:02}T12:00Z", "time": time, "free_days": days}

    records = [
        record(1, 1, "2026-03-30", ada=1),  # a regrade, and here first
        record(1, 1, "2026-03-02", ada=3, alan=1),
        record(2, 8, "2026-03-09", alan=2, gone=1),
        record(3, 15, "2026-03-16", ada=2, alan=2),
        record(4, 22, "2026-03-23", ada=2),
        {"assignment": 1, "deadline": None, "free_days": {"ada": 9}},
        {},
    ]
    used, strangers = roster.used_before(records, 3, roster.moment("2026-03-15T12:00Z"), read)
    assert {person.called: days for person, days in used.items()} == {"ada": 1, "alan": 3}
    assert strangers == {"gone"}


def reports() -> list[Report]:
    """Two reports of assignment 4: all points but those of the reader, and nothing handed in."""
    given = assignment(4)
    full = [Graded(one, [Result(part, part.points) for part in one.parts]) for one in given.questions]
    none = [Graded(one, [Result(part, 0) for part in one.parts]) for one in given.questions]
    absent = Submission("alan", Path(), problem=roster.ABSENT)
    return [Report(Submission("ada", Path()), given, full), Report(absent, given, none)]


def test_two_of_one_name_have_two_pages(tmp_path: Path) -> None:
    both = reports()
    for one in both:
        one.submission.student = "Li Wei"
    run = {"seed": "", "assignment": 4, "unsafe": False, "hint_price": 0}
    report.write(tmp_path, both, assignment(4), run, {})
    assert len(list((tmp_path / report.PAGES).iterdir())) == 2


@pytest.mark.parametrize("sample", SAMPLES)
def test_grades_go_back_in_the_forms_of_the_platforms(tmp_path: Path, sample: str) -> None:
    given, read = assignment(4), roster.load(put(tmp_path, SAMPLES[sample]))
    ada, alan = reports()
    grades = list(zip(read.people, (ada, alan), strict=False))
    by_hand = given.hand_graded[0].name
    waiting = platforms.forms(grades, given, read)
    assert [row[-1] for row in waiting["canvas.csv"][2:]] == ["", "0"], "an empty cell changes nothing there"
    ada.hand[by_hand] = 1.5
    made = platforms.forms(grades, given, read, "Assignment 4 (104)")
    points = f"{given.points - given.hand_graded[0].points + 1.5:g}"
    canvas = made["canvas.csv"]
    assert canvas[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Assignment 4 (104)"]
    assert canvas[1] == ["    Points Possible", "", "", "", "", str(given.points)]
    assert [(row[2], row[5]) for row in canvas[2:]] == [("S1", points), ("S2", "0")]
    moodle = made["moodle.csv"]
    assert moodle[0] == ["Full name", "ID number", "Email address", "Assignment 4 (104)"]
    assert [(row[1], row[3]) for row in moodle[1:]] == [("S1", points), ("S2", "0")]
    heading, *rows = made["gradescope.csv"]
    assert [dict(zip(heading, row, strict=True))["Total Score"] for row in rows] == [points, ""]
    assert [dict(zip(heading, row, strict=True))["Status"] for row in rows] == ["Graded", "Missing"]
    assert ("moodle_worksheet.csv" in made) == (sample == "worksheet")
    if sample == "canvas":
        assert canvas[2][:5] == ["Lovelace, Ada", "11", "S1", "ada", "B 3"]
    if sample == "worksheet":
        heading, *rows = made["moodle_worksheet.csv"]
        assert heading == WORKSHEET.splitlines()[0].split(",")
        first = dict(zip(heading, rows[0], strict=True))
        assert first["Identifier"] == "Participant 501"
        assert first["Grade"] == points
        assert f"{by_hand}: 1.5 of" in first["Feedback comments"]
        assert dict(zip(heading, rows[1], strict=True))["Feedback comments"] == roster.ABSENT


def test_a_class_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "KEY", tmp_path / "key")
    folder, output = tmp_path / "in", tmp_path / "out"
    solved, empty = sources.source(1), sources.load(sources.STUDENT / "assignment_1.ipynb")
    for name, notebook in (("lovelaceada_11_1_x", solved), ("eve", empty), ("alan/a", solved), ("S2/b", empty)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    earlier = {"assignment": 3, "deadline": "2026-02-01T00:00Z", "time": "2026-02-02", "free_days": {"ada": 4, "x": 1}}
    (tmp_path / "assignment_3").mkdir()
    (tmp_path / "assignment_3" / report.RECORD).write_text(json.dumps(earlier), encoding="utf-8")
    times = "file,login,time\n,ada,2026-03-02T10:00+00:00\nalan/a.ipynb,,2026-03-01T10:00+00:00\n"
    times += "S2/b.ipynb,,2026-03-01T11:00+00:00\n,ghost,2026-03-01T11:00+00:00\n"
    words = ["--roster", put(tmp_path, CANVAS), "--handed-in", put(tmp_path, times, "times.csv"), "--output", output]
    words += ["--deadline", "2026-03-01T23:59+00:00", "--price", "25", "--term-days", "4"]
    words += ["--attempts", "latest", "--unsafe"]
    monkeypatch.setattr(sys, "argv", ["course", *map(str, [folder, *words])])
    command.main()
    printed = capsys.readouterr().out
    total = assignment(1).points
    assert "On the roster: 3. Handed in nothing, 0 points: 1. grace" in printed
    assert "Not on the roster, and in no form for a platform: eve" in printed
    assert "times.csv has times for what is not here: ghost" in printed
    with (output / report.TABLE).open(newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {name: row["points"] for name, row in rows.items()} == {
        **{"lovelaceada_11_1_x": f"{0.75 * total:g}", "eve": "0"},
        **{"S2": "0", "grace": "0"},
    }
    told = f"1 day late, 0 of them free, {0.25 * total:g} points taken off. Free days left for the term: 0."
    assert told in rows["lovelaceada_11_1_x"]["note"]
    assert "Free days were used before by who is not on this roster: x" in printed
    assert report.recorded(output)["free_days"] == {"ada": 0, "alan": 0}
    assert rows["S2"]["note"] == "2 notebooks of this student: S2/b.ipynb is the latest, and counts."
    assert "It is not known when it was handed in" in rows["eve"]["note"]
    assert "Not on the roster." in rows["eve"]["note"]
    assert rows["grace"]["note"] == roster.ABSENT
    with (output / report.FORMS / "canvas.csv").open(newline="", encoding="utf-8") as file:
        column = [row[-1] for row in csv.reader(file)]
    assert column == [f"Assignment 1: {assignment(1).title}", str(total), f"{0.75 * total:g}", "0", "0"]
    assert not (output / report.EARLIER).exists()
    page = (output / report.ANALYSIS).read_text(encoding="utf-8")
    assert "3 submissions were read" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--deadline", "2026-03-01T23:59"], "name a table of times with --handed-in"),
        (["--attempts", "latest"], "name a table of times with --handed-in"),
        (["--deadline", "soon", "--handed-in", "x"], "'soon' is no time"),
        (["--price", "10"], "--price needs --deadline"),
        (["--price", "-1"], "--price -1.0: from 0 to 100"),
        (["--free-days", "-1"], "--free-days -1: at least 0"),
        (["--term-days", "-1"], "--term-days -1: at least 0"),
        (["--term-days", "5"], "--term-days needs --deadline"),
        (["--term-days", "5", "--deadline", "2026-03-01", "--handed-in", "x"], "--term-days needs --roster"),
        (["--term-days", "5", "--free-days", "1"], "name one of them"),
        (["--column", "A"], "--column needs --roster"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["course", "in", *words])
    with pytest.raises(SystemExit) as stopped:
        command.arguments()
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_the_latest_is_not_guessed(tmp_path: Path) -> None:
    two = [Submission("ada", tmp_path / f"{name}.ipynb", 1, {"q1": [name]}) for name in "ab"]
    times = roster.Times(students={"ada": roster.moment("2026-03-01")})
    with pytest.raises(ValueError, match=r"no time is given for the file a.ipynb"):
        command.tries(two, 1, tmp_path, times, latest=True)
    assert command.tries(two, 1, tmp_path, times) == two


def test_a_table_of_times_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    for text, words in (("student\nada\n", "it needs the column time"), ("student,time\nada,late\n", "line 2: 'late'")):
        with pytest.raises(ValueError, match=words):
            roster.handed_in(put(tmp_path, text), [], tmp_path, None)

"""Hostile and broken submissions get the points that they earn, in bounded time, and leave nothing behind.

The whole bank is graded once, by the command that an instructor uses.
"""

import csv
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from course import sources
from course.grade import assignment
from course.question import path_of
from course.tests import hostile

pytestmark = pytest.mark.torch
ROOT = Path(__file__).resolve().parents[2]
NUMBER = 2
QUESTION = next(one for one in assignment(NUMBER).questions if one.name == hostile.NAME)
TIMEOUT = 6  # seconds for one check, of which a right answer needs a tenth: the machine may be busy
EXPECTED = {
    "right": "all",
    **dict.fromkeys(hostile.WHOLE, "all"),
    **dict.fromkeys(hostile.WITHOUT_FIRST, "without first"),
    **{name: points for name, (_, points) in hostile.FILES.items()},
    **dict.fromkeys(("a link", "a link to nowhere", "a link to a folder"), "none"),
    "a pipe": "none",
    "a socket": "none",
    "a folder without a notebook": "none",
    "a folder.ipynb": "all",
    "a crowd": "none",
}


@dataclass
class Run:
    """What grading the bank left."""

    rows: dict[str, dict[str, str]]
    pages: dict[str, str]
    folder: Path
    seconds: dict[str, float]
    left: set[str]
    said: str


def processes(folder: Path) -> set[str]:
    """The processes that a run with its temporary files in a folder has left."""
    words = {process.pid: " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])}
    return {line for line in words.values() if hostile.MARK in line or str(folder) in line}


def submitted(folder: Path) -> None:
    """Write the bank, a file each."""
    solved = sources.source(NUMBER)
    function = QUESTION.names[0]
    files = {"right": json.dumps(solved).encode()}
    for bank, keep in ((hostile.WHOLE, True), (hostile.WITHOUT_FIRST, False)):
        files |= {name: hostile.spoiled(solved, code, function, str(ROOT), keep) for name, code in bank.items()}
    files |= {name: make(solved) for name, (make, _) in hostile.FILES.items()}
    for name, content in files.items():
        (folder / f"{name}.ipynb").write_bytes(content)
    (folder / "a link.ipynb").symlink_to(path_of(NUMBER))
    os.mkfifo(folder / "a pipe.ipynb")
    os.mknod(folder / "a socket.ipynb", stat.S_IFSOCK | 0o600)
    (folder / "a folder without a notebook").mkdir()
    (folder / "a folder without a notebook" / "private.pdf").touch()
    (folder / "a folder.ipynb").mkdir()
    (folder / "a folder.ipynb" / "x.ipynb").write_bytes(files["right"])
    (folder / "a crowd").mkdir()
    for number in range(2):
        (folder / "a crowd" / f"{number}.ipynb").write_bytes(hostile.spoiled(solved, str(number), function, "", False))
    (folder / "a link to nowhere").symlink_to("x" * 250)
    (folder / "a link to a folder").symlink_to(ROOT)
    (folder / "notes.txt").touch()


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("submissions")
    output = tmp_path_factory.mktemp("grades")
    submitted(folder)
    temporary = tmp_path_factory.mktemp("temporary")
    command = [sys.executable, "-m", "course", str(folder), "--output", str(output)]
    command += ["--assignment", str(NUMBER), "--timeout", str(TIMEOUT), "--memory", "1024", "--workers", "2"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONWARNINGS": "default"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with (output / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    told = output / "feedback"
    pages = {path.relative_to(told).as_posix(): path.read_text(encoding="utf-8") for path in told.rglob("*.html")}
    left = processes(temporary) | {str(path) for path in temporary.iterdir()}
    seconds = json.loads((output / "run.json").read_text(encoding="utf-8"))["seconds"]
    return Run(rows, pages, output, seconds, left, done.stdout + done.stderr)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_points_are_those_it_earns(bank: Run, name: str) -> None:
    given = assignment(NUMBER)
    first = QUESTION.points
    coded = sum(question.points for question in given.questions)
    points = {"all": coded, "without first": coded - first, "none": 0}
    row = bank.rows[name]
    assert float(row["points"]) == points[EXPECTED[name]], f"{row['note']}\n{row}"


def test_every_submission_has_a_row_and_a_page(bank: Run) -> None:
    assert set(bank.rows) == set(EXPECTED)
    assert len(bank.pages) == len(EXPECTED)


def test_no_file_is_listed_that_is_not_the_students(bank: Run) -> None:
    for text in (bank.said, *bank.pages.values(), *(row["note"] for row in bank.rows.values())):
        assert "private.pdf" not in text
        assert "pyproject" not in text
    assert "<unknown>" not in bank.said, "where Python warns of a student's text"
    assert "SyntaxWarning" not in bank.said


@pytest.mark.release  # on a busy machine it says little
def test_time_is_bounded(bank: Run) -> None:
    parts = sum(len(question.parts) for question in assignment(NUMBER).questions)
    start = 60  # of a worker, on a busy machine, each time that one was stopped
    assert max(bank.seconds.values()) < parts * TIMEOUT + start * len(QUESTION.parts) + start


def test_nothing_is_left_behind(bank: Run) -> None:
    assert bank.left == set()
    places = (Path("/"), Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), ROOT, Path(tempfile.gettempdir()))
    marked = [place / name for place in places for name in os.listdir(place) if name.startswith(hostile.MARK)]
    assert marked == []


def test_pages_tell_no_input_and_run_no_script(bank: Run) -> None:
    for name, page in bank.pages.items():
        assert "INPUT" not in page, name
        assert "tensor(" not in page, name
        assert not re.search(r"<script|onerror|javascript:", page), name


PAGES = [
    ("loop that ignores signals", f"no answer within {TIMEOUT} s"),
    ("memory", "asked for more than 1024 MiB"),
    ("answer imported", "it uses posenc"),
    ("a long cell", "its cell is too long"),
    ("segfault", "its process broke off"),
    ("huge value", "what it returned is too large"),
    ("missing cell", "answer cell is missing"),
    ("equal object", "cannot be compared"),
    ("another assignment", "This is a notebook of assignment 3"),
    ("corrupted notebook", "it is not JSON"),
    ("a link", "links are not followed"),
    ("a pipe", "not a file of its own"),
    ("crumbs", f"1501 cells are named {hostile.NAME}"),
    ("a name without end", f"{'x' * 60}…"),
    ("changes its input", "it changes an input in place"),
    ("sys.exit on loading", "it raised SystemExit"),
]


@pytest.mark.parametrize(("name", "words"), PAGES)
def test_the_page_says_why(bank: Run, name: str, words: str) -> None:
    [page] = [page for path, page in bank.pages.items() if path.partition("/")[0].removesuffix(".html") == name]
    assert words in page


def test_the_reader_of_hidden_checks_found_nothing(bank: Run) -> None:
    assert "found" not in bank.pages["reads the hidden checks.html"]

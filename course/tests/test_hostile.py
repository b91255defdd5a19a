"""Hostile and broken submissions get the points that they earn, in bounded time, and leave nothing behind.

The whole bank is graded once, by the command that an instructor uses.
"""

from __future__ import annotations

import csv
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest

from course import sources
from course.__main__ import MOST_READ
from course.grade import assignment
from course.tests import hostile
from posenc.check import Wrong, _views
from posenc.check._question import compare

pytestmark = pytest.mark.torch
ROOT = Path(__file__).resolve().parents[2]
NUMBER = 2
TIMEOUT = 6  # seconds for one check, of which a right answer needs a tenth: the machine may be busy
EXPECTED = {
    "right": "all",
    **dict.fromkeys(hostile.WHOLE, "all"),
    **dict.fromkeys(hostile.WITHOUT_FIRST, "without first"),
    **{name: points for name, (_, points) in hostile.FILES.items()},
    "a link": "none",
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
    function = assignment(NUMBER).questions[0].names[0]
    files = {"right": json.dumps(solved).encode()}
    for bank, keep in ((hostile.WHOLE, True), (hostile.WITHOUT_FIRST, False)):
        files |= {name: hostile.spoiled(solved, code, function, str(ROOT), keep) for name, code in bank.items()}
    files |= {name: make(solved) for name, (make, _) in hostile.FILES.items()}
    for name, content in files.items():
        (folder / f"{name}.ipynb").write_bytes(content)
    (folder / "a link.ipynb").symlink_to(sources.path_of(NUMBER))
    os.mkfifo(folder / "a pipe.ipynb")
    os.mknod(folder / "a socket.ipynb", stat.S_IFSOCK | 0o600)
    (folder / "a folder without a notebook").mkdir()
    (folder / "a folder without a notebook" / "private.pdf").touch()
    (folder / "a folder.ipynb").mkdir()
    (folder / "a folder.ipynb" / "x.ipynb").write_bytes(files["right"])
    (folder / "a crowd").mkdir()
    for number in range(MOST_READ + 1):
        (folder / "a crowd" / f"{number}.ipynb").touch()
    for number in range(20):
        (folder / f"a link to nowhere {number}").symlink_to("x" * 300)  # a name that no file can have
        (folder / f"notes {number}.txt").touch()


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
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (output / "feedback").iterdir()}
    left = processes(temporary) | {str(path) for path in temporary.iterdir()}
    seconds = json.loads((output / "run.json").read_text(encoding="utf-8"))["seconds"]
    return Run(rows, pages, output, seconds, left, done.stdout + done.stderr)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_points_are_those_it_earns(bank: Run, name: str) -> None:
    given = assignment(NUMBER)
    first = given.questions[0].points
    points = {"all": given.points, "without first": given.points - first, "none": 0}
    assert float(bank.rows[name]["points"]) == points[EXPECTED[name]], bank.rows[name]


def test_every_submission_has_a_row_and_a_page(bank: Run) -> None:
    assert set(bank.rows) == set(EXPECTED)
    assert len(bank.pages) == len(EXPECTED)
    assert len({name.casefold() for name in bank.pages} - {"con"}) == len(EXPECTED), "on every system"


def test_little_is_printed_of_what_is_there(bank: Run) -> None:
    assert "notes 0.txt, notes 1.txt, notes 10.txt, notes 11.txt, notes 12.txt and 15 more" in bank.said
    assert "<unknown>" not in bank.said, "where Python warns of a student's text"
    assert "SyntaxWarning" not in bank.said


def test_the_analysis_has_no_names(bank: Run) -> None:
    page = (bank.folder / "analysis.html").read_text(encoding="utf-8")
    assert "There is no notebook (.ipynb) in the folder." in page
    assert "There are 101 notebooks of this student" in page
    for name in ("private", "crowd", "a link"):
        assert name not in page


@pytest.mark.release  # on a busy machine it says little
def test_time_is_bounded(bank: Run) -> None:
    parts = sum(len(question.parts) for question in assignment(NUMBER).questions)
    start = 60  # of a worker, on a busy machine, each time that one was stopped
    assert max(bank.seconds.values()) < parts * TIMEOUT + start * len(assignment(NUMBER).questions[0].parts) + start


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


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("loop that ignores signals", f"no answer within {TIMEOUT} s"),
        ("memory", "asked for more than 1024 MiB"),
        ("answer imported", "it uses posenc"),
        ("answer imported in a try", "it uses posenc"),
        ("answer from another package", "it uses transformers"),
        ("ready-made in torch", "it uses torch.onnx"),
        ("a long cell", "its cell is too long"),
        ("a trickle", f"no answer within {TIMEOUT} s"),
        ("segfault", "its process broke off"),
        ("not Python", "SyntaxError in line 1"),
        ("missing cell", "answer cell is missing"),
        ("equal object", "cannot be compared"),
        ("another assignment", "This is a notebook of assignment 3"),
        ("corrupted notebook", "it is not JSON"),
        ("a link", "not a file of its own"),
        ("a pipe", "not a file of its own"),
        ("a socket", "not a file of its own"),
        ("a crowd", "There are 101 notebooks of this student, and none was graded"),
        ("all cells twice", "There is no answer cell (q1 to q6)"),
        ("crumbs", "1501 cells are named q1"),
        ("an exception whose text raises", "its process broke off"),
        ("poses as what was refused", "it uses posenc"),
        ("a list that lies", "the result should be an array"),
        ("keys without end", "it raised an exception"),
        ("a name without end", f"{'x' * 60}…"),
        ("lines for a notebook", "SyntaxError in line 1"),
        ("changes its input", "it changes an input in place"),
        ("kinds of exceptions", "it raised an exception"),
        ("sys.exit on loading", "it raised SystemExit"),
    ],
)
def test_the_page_says_why(bank: Run, name: str, words: str) -> None:
    page = next(page for page in bank.pages.values() if f"<p>{name}, assignment" in page)
    assert words in page


def test_the_reader_of_hidden_checks_found_nothing(bank: Run) -> None:
    page = next(page for page in bank.pages.values() if "<p>reads the hidden checks," in page)
    assert "found" not in page


def test_texts_among_numbers_take_no_room() -> None:
    told = ["x" * 10**5] + [""] * 1000  # some 100 kB here, and 400 MB as an array of texts
    tracemalloc.start()
    with pytest.raises(Wrong):
        compare(told, np.zeros(3), 1e-6)
    assert _views._numbers(told) is None
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10**6

"""Submissions are read as data: by the names of their cells, and whatever a file holds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from grading.submission import find, name_of, read, without_magics


def write(path: Path, *cells: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {"posenc": {"assignment": 2}}}), encoding="utf-8")
    return path


def code(name: str, source: Any, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "id": name, "source": source, "metadata": metadata}


def test_answers_are_found_by_name(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.ipynb",
        code("q1", ["def f():\n", "    return 1"]),
        code("x9", "def g(): pass", nbgrader={"grade_id": "q2"}),
        {"cell_type": "code", "source": "def h(): pass", "metadata": {"id": "q3"}},
        code("q1-check", "check.q1(f)"),
        code("other", "1 / 0"),
        {"cell_type": "markdown", "id": "q4", "source": "Because.", "metadata": {}},
    )
    submission = read(path, "ada")
    assert submission.assignment == 2
    assert submission.cells == {"q1": ["def f():\n    return 1"], "q2": ["def g(): pass"], "q3": ["def h(): pass"]}
    assert submission.prose == {"q4": "Because."}
    assert submission.problem == ""


def test_doubled_cells_are_noted_and_kept_in_order(tmp_path: Path) -> None:
    submission = read(write(tmp_path / "a.ipynb", code("q1", "one"), code("q1", "two")), "ada")
    assert submission.cells["q1"] == ["one", "two"]
    assert submission.notes == ["2 cells are named q1: all were used, in their order."]


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("%matplotlib inline\nx = 1", "\nx = 1"),
        ("  !pip install y\nx = 1", "\nx = 1"),
        ("x = 7 \\\n% 3", "x = 7 \\\n% 3"),
        ("x = '''\n%s\n''' % 3", "x = '''\n%s\n''' % 3"),
        ("def f(:", "def f(:"),
    ],
)
def test_magics_are_left_out_and_python_is_not(source: str, kept: str) -> None:
    assert without_magics(source) == kept


@pytest.mark.parametrize("cell", [{}, {"metadata": None}, {"metadata": {"nbgrader": 3}}, {"id": "q1-check"}, {"id": 7}])
def test_other_cells_have_no_name(cell: dict[str, Any]) -> None:
    assert name_of(cell) == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b"[" * 200_000, "nested too deep"),
        (b"\xff\xfe\x00", "cannot be read|can't decode|not a notebook"),
    ],
)
def test_an_unreadable_file_has_a_problem(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(content)
    submission = read(path, "ada")
    assert submission.problem.startswith("The file is not a notebook that can be read")
    assert any(word in submission.problem for word in words.split("|"))
    assert submission.cells == {}


def test_a_huge_file_and_no_file_have_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(b" " * (21 * 2**20))
    assert "21 MiB" in read(path, "ada").problem
    assert "not a file" in read(tmp_path / "b.ipynb", "ada").problem
    assert "not a file" in read(tmp_path, "ada").problem


def test_names_are_short_and_prose_is_joined_at_once(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "id": "q7", "source": "x" * 100} for _ in range(50_000)]
    submission = read(write(tmp_path / "a.ipynb", *cells, code("q" + "1" * 9999, "x")), "ada")
    assert submission.prose["q7"].count("x" * 100) == 50_000
    assert submission.cells == {}


def test_a_file_that_cannot_be_read_does_not_tell_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **how: Any) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    path = write(tmp_path / "a.ipynb")
    monkeypatch.setattr(Path, "read_text", refuse)
    problem = read(path, "ada").problem
    assert "Permission denied" in problem
    assert str(tmp_path) not in problem


def test_deep_folders_and_loops_of_links_are_walked(tmp_path: Path) -> None:
    write(tmp_path / "ada.ipynb")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "eve").mkdir()
    place = tmp_path / "eve"
    try:
        for _ in range(1_500):
            place /= "d"
            place.mkdir()
        write(place / "x.ipynb")
        found = [student for path, student in find(tmp_path) if path]
        assert found[0] == "ada"
        assert found[1].startswith("eve/d/d/")
        assert len(found) == 2
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "eve"], check=True)  # too deep for pytest's own way


def test_no_two_submissions_have_one_name(tmp_path: Path) -> None:
    for name in ("eve/one.ipynb", "eve/two.ipynb", "eve/one/x.ipynb", "ada.ipynb"):
        write(tmp_path / name)
    (tmp_path / "ada").mkdir()
    students = [student for _, student in find(tmp_path)]
    assert sorted(students) == ["ada", "eve/one.ipynb", "eve/one/x.ipynb", "eve/two"]


def test_students_are_named_by_file_or_folder(tmp_path: Path) -> None:
    for name in ("ada.ipynb", "alan/assignment.ipynb", "two/one.ipynb", "two/two.ipynb", ".ipynb_checkpoints/x.ipynb"):
        write(tmp_path / name)
    (tmp_path / "grace").mkdir()
    found = {student: path and path.name for path, student in find(tmp_path)}
    assert found == {
        "ada": "ada.ipynb",
        "alan": "assignment.ipynb",
        "two/one": "one.ipynb",
        "two/two": "two.ipynb",
        "grace": None,
    }

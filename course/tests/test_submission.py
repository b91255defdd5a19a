"""Submissions are read as data: by the names of their cells, and whatever a file holds."""

import json
from pathlib import Path
from typing import Any

import pytest

from course.submission import LARGEST, LONGEST_WORDS, find, one_of, read, without_magics
from course.words import no_formula, some, visible


def write(path: Path, *cells: dict[str, Any], number: int = 2, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {"posenc": {"assignment": number}}}), encoding=encoding)
    return path


def code(name: str, source: Any, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "id": name, "source": source, "metadata": metadata}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_answers_are_found_by_name(tmp_path: Path, encoding: str) -> None:
    cells = [
        code("q1", ["def f():\n", "    return '位置'"]),
        code("x9", "def g(): pass", nbgrader={"grade_id": "q2"}),
        {"cell_type": "code", "source": "def h(): pass", "metadata": {"id": "q3"}},
        *(code("q1-check", "check.q1(f)"), code("other", "1 / 0"), code("q5", "one"), code("q5", "two")),
        {"cell_type": "markdown", "id": "q4", "source": "Because." + "x" * LONGEST_WORDS, "metadata": {}},
    ]
    submission = read(write(tmp_path / "a.ipynb", *cells, encoding=encoding), "ada")
    assert submission.assignment == 2
    assert submission.cells == {
        **{"q1": ["def f():\n    return '位置'"], "q2": ["def g(): pass"], "q3": ["def h(): pass"]},
        "q5": ["one", "two"],
    }
    assert submission.prose["q4"].startswith("Because.")
    assert len(submission.notes) == 2
    assert submission.problem == ""


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("%matplotlib inline\nx = 1", "get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1\n"),
        ("x = !ls", "x = get_ipython().getoutput('ls')\n"),
        ("    x = 1\n    y = 2", "x = 1\ny = 2\n"),
        (">>> x = 1\n>>> y = 2", "x = 1\ny = 2\n"),
        ("%%time\nx = 1", "x = 1\n"),
        ("x = 7 \\\n% 3", "x = 7 \\\n% 3"),
        ("def f(:", "def f(:\n"),
        (";" * 20_000, ";" * 20_000),  # each of them costs a pass over the text
    ],
)
def test_a_cell_is_read_as_a_notebook_runs_it(source: str, kept: str) -> None:
    assert without_magics(source) == kept


def test_a_file_that_is_too_large_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(b" " * (LARGEST + 1))
    assert "clear its outputs" in (problem := read(path, "ada").problem)
    assert str(tmp_path) not in problem


def test_students_are_those_whose_folder_or_file_it_is(tmp_path: Path) -> None:
    for place in ("alan.ipynb", "ada/a.ipynb", "ada/old/b.ipynb", "monday/grace/x.ipynb", "__MACOSX/ada/._a.ipynb"):
        write(tmp_path / place, code("q1", place))
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "again").symlink_to(tmp_path)
    (tmp_path / "mallory").symlink_to(tmp_path / "ada")
    found = {student: [path.relative_to(tmp_path).as_posix() for path in paths] for student, paths in find(tmp_path)}
    assert found == {
        **{"alan": ["alan.ipynb"], "ada": ["ada/a.ipynb", "ada/old/b.ipynb"], "monday/grace": ["monday/grace/x.ipynb"]},
        **{"empty": [], "loop": [], "mallory": ["mallory"]},
    }
    assert "links are not followed" in one_of(tmp_path, "mallory", [tmp_path / "mallory"]).problem
    assert "no notebook" in one_of(tmp_path, "empty", []).problem


def test_one_notebook_counts(tmp_path: Path) -> None:
    one, same = (write(tmp_path / name, code("q1", "x")) for name in ("a.ipynb", "b.ipynb"))
    other, another = (write(tmp_path / f"{n}.ipynb", code("q1", "y"), number=n) for n in (2, 3))
    assert one_of(tmp_path, "ada", [one, same, another], 2).problem == ""
    assert one_of(tmp_path, "ada", [another], 2).assignment == 3
    assert "2 different notebooks" not in one_of(tmp_path, "ada", [one, another], 2).problem
    assert "different notebooks" in one_of(tmp_path, "ada", [one, other], 2).problem


def test_names_and_texts_do_nothing() -> None:
    assert visible("a\x1b[2J\u202eb\ud83d\n", keep="\n") == "a\\x1b[2J\\u202eb\\ud83d\n"
    assert visible("سی\u200cوشش") == "سی\u200cوشش"
    for text in ("=1+1", "+1", "＝1", " -1", "\u22121", "a;=1", 'a,"=1'):
        assert "'" in no_formula(text)
    assert no_formula("a=1, b") == "a=1, b"
    assert some(list("abcdefg")) == "a, b, c, d, e and 2 more"

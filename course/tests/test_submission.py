"""Submissions are read as data: by the names of their cells, and whatever a file holds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from course.grade import LONGEST
from course.submission import (
    LARGEST,
    LONGEST_CELL,
    LONGEST_WORDS,
    MOST_EVENTS,
    WHOLE,
    find,
    name_of,
    read,
    without_magics,
)

ROOT = Path(__file__).resolve().parents[2]


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
        ("%matplotlib inline\nx = 1", "get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1\n"),
        ("  !pip install y\nx = 1", "  get_ipython().system('pip install y')\nx = 1\n"),
        ("x = !ls", "x = get_ipython().getoutput('ls')\n"),
        ("max?\nx = 1", "get_ipython().run_line_magic('pinfo', 'max')\nx = 1\n"),
        ("    x = 1\n    y = 2", "x = 1\ny = 2\n"),
        (">>> x = 1\n>>> y = 2", "x = 1\ny = 2\n"),
        ("%%time\nx = 1", "x = 1\n"),
        ("x = 7 \\\n% 3", "x = 7 \\\n% 3"),
        ("x = '''\n%s\n''' % 3", "x = '''\n%s\n''' % 3"),
        ("def f(:", "def f(:\n"),
        ("!ls\n" * 2, "get_ipython().system('ls')\n" * 2),
        (";" * 20_000, ";" * 20_000),  # nobody's answer, and each of them costs a pass over the text
    ],
)
def test_a_cell_is_read_as_a_notebook_runs_it(source: str, kept: str) -> None:
    assert without_magics(source) == kept


@pytest.mark.parametrize("cell", [{}, {"metadata": None}, {"metadata": {"nbgrader": 3}}, {"id": "q1-check"}, {"id": 7}])
def test_other_cells_have_no_name(cell: dict[str, Any]) -> None:
    assert name_of(cell) == ""


def test_a_huge_file_and_no_file_have_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    with path.open("wb") as file:
        file.truncate(LARGEST + 2**20)  # a hole: it takes no room
    assert read(path, "ada").problem.endswith("it has 65 MiB; a notebook may have 64, outputs and all.")
    assert "not a file" in read(tmp_path / "b.ipynb", "ada").problem
    assert "not a file" in read(tmp_path, "ada").problem


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("size", [0, 3 * 2**20], ids=["small", "large by its outputs"])
def test_every_encoding_of_json_is_read_whatever_the_outputs(tmp_path: Path, encoding: str, size: int) -> None:
    outputs = [{"data": {"image/png": "x" * size, "text/plain": ["位置 ", "é"], "n": [1.5, None, True, {}, []]}}]
    cells = [
        {**code("q1", ["def f():\n", "    return '位置'"]), "outputs": outputs},
        {**code("x9", "y = 1", nbgrader={"grade_id": "q2", "points": 3}), "outputs": outputs},
        {"cell_type": "code", "source": "h = 2", "metadata": {"id": "q3", "tags": ["id"]}, "outputs": []},
        {"cell_type": "markdown", "id": "q4", "source": "Because é.", "metadata": {}},
        code("other", "1 / 0\ncheck.q2.hint(2)"),
        code("q3-check", ["check.q3(h)\n", "check.q3.hint()"]),
        {"cell_type": "markdown", "id": "told", "source": "check.q4.hint()", "metadata": {}},
    ]
    path = tmp_path / "a.ipynb"
    notebook = {"cells": cells, "metadata": {"posenc": {"assignment": 2}, "id": "q9"}}
    path.write_text(json.dumps(notebook, ensure_ascii=False), encoding=encoding)
    submission = read(path, "ada")
    assert submission.problem == ""
    assert submission.assignment == 2
    assert submission.cells == {"q1": ["def f():\n    return '位置'"], "q2": ["y = 1"], "q3": ["h = 2"]}
    assert submission.prose == {"q4": "Because é."}
    assert submission.hints == {"q2": 2, "q3": 1}
    assert submission.notes == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"{", "it is not JSON"),
        (b"[]", "it has no list of cells"),
        (b'{"cells": 3}', "it has no list of cells"),
        (b"[" * 200_000, "it is nested too deep"),
        (b"\xff\xfe\x00", "it is not text in UTF-8, UTF-16 or UTF-32"),
        (b'{"cells": ' * WHOLE, "it is nested too deep"),
        (b'{"cells": [' + b"[]," * WHOLE + b"[]]}", "it has more than 100000 cells"),
        (b'{"cells": [{"outputs": [' + b"1," * MOST_EVENTS + b"1]}]}", "it has more than 5 million values"),
        (b'{"cells": [{"id": "q1", "source": "' + b"x" * WHOLE + b'"}]', "it is not JSON"),
        (b'{"cells": "' + b"x" * WHOLE + b'"}', "it has no list of cells"),
        (b'["' + b"x" * WHOLE + b'"]', "it has no list of cells"),
        (b'{"cells": [], "x": "' + b"\xff" * WHOLE + b'"}', "it is not JSON"),
        (b"\xff\xfe" + b"\x00\xd8" * WHOLE, "it is not text in UTF-8, UTF-16 or UTF-32"),
        (b'{"cells": ["\xff"]}', "it is not text in UTF-8, UTF-16 or UTF-32"),
    ],
)
def test_a_file_that_cannot_be_used_has_a_problem(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(content)
    submission = read(path, "ada")
    assert submission.problem == f"The file is not a notebook that can be read: {words}."
    assert submission.cells == {}


def test_a_large_file_costs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    answer = code("q1", "def f(): pass")
    with path.open("w") as file:
        file.write('{"cells": [' + json.dumps(answer) + ', {"cell_type": "code", "outputs": [')
        file.write('[[], {}, 1.5, "a"], ' * 400_000 + '"' + "x" * 20_000_000 + '"]}]}')
    script = (
        "import resource, sys; from pathlib import Path; from course.submission import read\n"
        "def most(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = most(); got = read(Path(sys.argv[1]), 'ada')\n"
        "print(got.cells, got.problem, (most() - before) // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", script, path], cwd=ROOT, capture_output=True, text=True, check=True)
    cells, _, used = done.stdout.rpartition(" ")
    assert cells == "{'q1': ['def f(): pass']} "
    assert int(used) < 150, "MiB; read whole it costs some 300"


def test_long_answers_are_kept_to_a_limit(tmp_path: Path) -> None:
    long = "x" * 2**21
    words = {"cell_type": "markdown", "id": "q7", "source": [long, long], "metadata": {}}
    submission = read(write(tmp_path / "a.ipynb", code("q1", long), words), "ada")
    assert len(submission.cells["q1"][0]) == LONGEST_CELL > LONGEST
    assert submission.prose["q7"] == "x" * LONGEST_WORDS
    assert submission.notes == [
        "The text of q7 is longer than 20000 characters: the page shows its beginning, the notebook holds it all."
    ]
    submission = read(write(tmp_path / "a.ipynb", *[code(f"q{number}", long[: 2**19]) for number in range(60)]), "ada")
    assert "its answers have more than 5242880 characters" in submission.problem


def test_names_are_short_and_prose_is_joined_at_once(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "id": "q7", "source": "x" * 100} for _ in range(50_000)]
    submission = read(write(tmp_path / "a.ipynb", *cells, code("q" + "1" * 9999, "x")), "ada")
    assert submission.prose["q7"].count("x" * 100) == LONGEST_WORDS // 102
    assert "50000 cells are named q7: all were used, in their order." in submission.notes
    assert submission.cells == {}


def test_a_file_that_cannot_be_read_does_not_tell_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *how: Any) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    path = write(tmp_path / "a.ipynb")
    monkeypatch.setattr(Path, "open", refuse)
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
        found = [student for student, paths in find(tmp_path) if paths]
        assert found[0] == "ada"
        assert found[1].startswith("eve/d/d/")
        assert len(found) == 2
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "eve"], check=True)  # too deep for pytest's own way


def found_in(folder: Path) -> dict[str, list[str]]:
    found = list(find(folder))
    assert len(dict(found)) == len(found), "no two students have one name"
    return {student: [path.relative_to(folder).as_posix() for path in paths] for student, paths in found}


OWNERS = {  # the files of a folder, and whose each is
    "all notebooks of a student's folder are one student's": (
        ["two/one.ipynb", "two/two.IPYNB", "two/deeper/x.ipynb", "ada.ipynb", "ada/late/x.ipynb", "group/a/x.ipynb",
         "group/b/x.ipynb", "two/.ipynb_checkpoints/one-checkpoint.ipynb", "__MACOSX/two/._one.ipynb",
         "two/._one.ipynb"],
        {"two": ["two/deeper/x.ipynb", "two/one.ipynb", "two/two.IPYNB"], "ada": ["ada.ipynb"],
         "ada/late": ["ada/late/x.ipynb"], "group/a": ["group/a/x.ipynb"], "group/b": ["group/b/x.ipynb"]},
    ),
    "a student may have a file and a folder": (
        ["ada.ipynb", "ada/x.ipynb"], {"ada": ["ada/x.ipynb", "ada.ipynb"]}
    ),
    "a second download is the same student's": (
        ["ada.ipynb", "ada (1).ipynb", "ada-Copy1.ipynb", "grace (2).ipynb", "alan-1.ipynb", "alan.ipynb"],
        {"ada": ["ada (1).ipynb", "ada-Copy1.ipynb", "ada.ipynb"], "grace (2)": ["grace (2).ipynb"],
         "alan-1": ["alan-1.ipynb"], "alan": ["alan.ipynb"]},
    ),
    "students are named by file or folder": (
        ["ada.ipynb", "alan/assignment.ipynb", ".ipynb_checkpoints/x.ipynb", "grace/"],
        {"ada": ["ada.ipynb"], "alan": ["alan/assignment.ipynb"], "grace": []},
    ),
    "names steer no terminal and stay apart": (
        ["\x1b[2J.ipynb", "\\x1b[2J.ipynb", "a\u202eb.ipynb", "half \udcff.ipynb", "李　明.ipynb", "n\u200cm.ipynb",
         "a\nb.ipynb"],
        {"\\x1b[2J": ["\x1b[2J.ipynb"], "\\\\x1b[2J": ["\\x1b[2J.ipynb"], "a\\u202eb": ["a\u202eb.ipynb"],
         "half \\udcff": ["half \udcff.ipynb"], "李　明": ["李　明.ipynb"], "n\u200cm": ["n\u200cm.ipynb"],
         "a\\x0ab": ["a\nb.ipynb"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OWNERS)
def test_whose_a_notebook_is(tmp_path: Path, name: str) -> None:
    files, owners = OWNERS[name]
    for file in files:
        if file.endswith("/"):
            (tmp_path / file).mkdir()
        else:
            write(tmp_path / file)
    assert found_in(tmp_path) == owners

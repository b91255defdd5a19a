"""The copy for students: a repository that holds together, with no solution, no hidden check and no grader in it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from course import sources, student_copy
from course.grade import NUMBERS
from course.submission import source_of
from tools.notebooks import load

pytestmark = pytest.mark.torch
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("students") / "new" / "book"
    student_copy.write(folder)
    return folder


def texts(folder: Path) -> dict[str, str]:
    """Every text below a folder by its place; of a notebook, its cells."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            if path.suffix == ".ipynb":
                text = "\n".join(source_of(cell) for cell in load(path)["cells"])
            found[path.relative_to(folder).as_posix()] = text
    return found


def test_no_solution_is_in_it(copy: Path) -> None:
    assert student_copy.given_away(copy) == []
    held = texts(copy)
    assert len(held) > 200
    secret = [sources.secrets(sources.source(number)) for number in NUMBERS]
    hidden = {line for each in secret for name, lines in each.items() if name.endswith("-check") for line in lines}
    words = secret[3]["q7"]
    assert hidden
    assert words
    for name, text in held.items():
        assert not {line.strip() for line in text.splitlines()} & (hidden | words), name
        assert not re.search(r"^\s*### (BEGIN|END) (SOLUTION|HIDDEN TESTS)", text, re.MULTILINE), name


def test_neither_grader_nor_guide_nor_key_is_in_it(copy: Path) -> None:
    names = set(texts(copy))
    assert not [name for name in names if name.startswith("course")]
    assert {"Makefile", "notebooks/assignments/assignment_1.ipynb", "src/posenc/check/__init__.py", ".ci/run"} <= names
    for name, text in texts(copy).items():
        assert not student_copy.NEEDS_COURSE.search(text) or not name.endswith(".py"), name
        if name.endswith((".md", ".ipynb")):
            assert not re.search(r"course/sources|make grade|make assignments|course/guide", text), name


def test_its_links_and_its_contents_hold(copy: Path) -> None:
    contents = (copy / "_toc.yml").read_text(encoding="utf-8")
    listed = re.findall(r"(?:file|root): (\S+)", contents)
    assert yaml.safe_load(contents)["parts"]
    for name in listed:
        assert any((copy / f"{name}{ending}").is_file() for ending in (".md", ".ipynb")), name
    whole = re.findall(r"(?:file|root): (\S+)", (sources.ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert whole == listed, "the pages for those who teach are on no site that is not asked for them"
    for name, text in texts(copy).items():
        if name.endswith((".md", ".ipynb")) and not name.startswith("tests/"):
            for target in LINK.findall(text):
                if "://" not in target and not target.startswith(("mailto:", "/")) and "." in target:
                    assert ((copy / name).parent / target).exists(), f"{name}: {target}"


def test_its_commands_and_settings_name_what_is_there(copy: Path) -> None:
    shown = subprocess.run(["make", "help"], cwd=copy, capture_output=True, text=True, check=True).stdout
    assert "make test" in shown
    assert not re.search("grade|assignments|student-copy", shown)
    for goal in ("book", "test", "check"):
        subprocess.run(["make", "--dry-run", goal], cwd=copy, capture_output=True, check=True)
    for name in tomllib.loads((copy / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["files"]:
        assert list(copy.glob(name)), name


def test_it_is_a_repository_without_history(copy: Path) -> None:
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=copy, capture_output=True, text=True).stdout

    assert set(git("ls-files").splitlines()) >= {"README.md", "notebooks/assignments/assignment_4.ipynb"}
    assert git("log", "--all", "--oneline") == ""
    assert git("status", "--porcelain", "--untracked-files").count("?? ") == 0
    assert (copy / ".ci" / "run").stat().st_mode & 0o111 == (sources.ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_what_gives_a_solution_away_is_found(tmp_path: Path) -> None:
    solved = sources.path_of(2)
    (tmp_path / "notes.py").write_text(
        "\n".join(source_of(cell) for cell in load(solved)["cells"] if cell["id"] in ("q6", "q1-check")),
        encoding="utf-8",
    )
    (tmp_path / "x.ipynb").write_bytes(solved.read_bytes())
    (tmp_path / "x.bin").write_bytes(b"\xff")
    found = student_copy.given_away(tmp_path)
    assert "notes.py gives away q6 of assignment 2" in found
    assert "notes.py gives away q1-check of assignment 2" in found
    assert sum(fault.startswith("x.ipynb") for fault in found) >= 10


@pytest.mark.parametrize(
    ("name", "text", "left_out"),
    [
        ("tests/test_x.py", "from course import sources\n", True),
        ("release/x.py", "import course.tests.hostile\n", True),
        ("tests/x.py", "word = 'import course'\n", False),
        ("course/x.py", "x = 1\n", True),
    ],
)
def test_what_students_do_not_have(name: str, text: str, left_out: bool) -> None:
    assert student_copy.is_left_out(name, text.encode()) is left_out


def test_it_writes_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("kept", encoding="utf-8")
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    for place, words in (
        (tmp_path / "mine", "is there already: name a folder that is empty or not there yet"),
        (tmp_path / "file", "is there already"),
        (sources.ROOT, "lies in the clone: name a folder outside it"),
        (sources.ROOT / "copy", "lies in the clone"),
    ):
        monkeypatch.setattr(sys, "argv", ["student_copy", str(place)])
        with pytest.raises(SystemExit, match=f"^Nothing was written. .*{words}"):
            student_copy.main()
    with pytest.raises(ValueError, match="is no git clone"):
        student_copy.write(tmp_path / "new", root=tmp_path / "mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "mine"]
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_solution_in_the_rest_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = tmp_path / "clone"
    (clone / "book").mkdir(parents=True)
    (clone / "book" / "answers.ipynb").write_bytes(sources.path_of(3).read_bytes())
    subprocess.run(["git", "init", "--quiet"], cwd=clone, check=True)
    subprocess.run(["git", "add", "--all"], cwd=clone, check=True)
    with pytest.raises(ValueError, match=r"book/answers.ipynb gives away q1 of assignment 3"):
        student_copy.write(tmp_path / "copy", root=clone)
    assert [path.name for path in tmp_path.iterdir()] == ["clone"]


def test_the_command_says_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(sys, "argv", ["student_copy", str(tmp_path / "empty")])
    student_copy.main()
    printed = capsys.readouterr().out
    assert re.search(
        r"^Wrote \d+ files to .*/empty: the book, the package, the handouts and their tests\.$", printed, re.M
    )
    left = re.search(r"^Left out: (.*)\. No solution and no hidden check is in the rest\.$", printed, re.M)
    assert left
    named = left[1].split(", ")
    assert named[0] == "course/"
    assert "tests/book/jupyterlab/test_live.py" in named

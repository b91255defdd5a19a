"""The public copy: everything but course/private, without which the book and its tests hold together."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course import sources, student_copy
from course.grade import NUMBERS
from course.question import PRIVATE, path_of
from course.submission import source_of
from tools.notebooks import load

pytestmark = pytest.mark.torch
SITE = sources.ROOT / "_build" / "html"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("students") / "new" / "book"
    student_copy.write(folder)
    return folder


def lines_of(path: Path) -> set[str]:
    """The lines of a file, or of a notebook's cells; none of what is no text."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return set()
    if path.suffix == ".ipynb":
        text = "\n".join(source_of(cell) for cell in load(path)["cells"])
    return {line.strip() for line in text.splitlines()}


def given_away(folder: Path, pattern: str = "*") -> list[str]:
    """The files below a folder that hold more than half of an answer's lines, or a line of a hidden check.

    One line alone tells nothing: the chapters teach what the assignments ask for, and some lines are anybody's.
    """
    answers = {(n, name): lines for n in NUMBERS for name, lines in sources.secrets(sources.source(n)).items()}
    faults = []
    for path in sorted(path for path in folder.rglob(pattern) if path.is_file() and ".git" not in path.parts):
        lines = lines_of(path)
        for (number, name), secret in answers.items():
            if 2 * len(secret & lines) > len(secret) or (name.endswith("-check") and secret & lines):
                faults.append(f"{path.relative_to(folder)} gives away {name} of assignment {number}")
    return faults


def private_words() -> set[str]:
    """Long lines that only course/private has: of questions, banks and rubrics."""
    rest = set()
    for name in student_copy.tracked(sources.ROOT):
        if not name.startswith(student_copy.PRIVATE):
            rest |= lines_of(sources.ROOT / name)
    files = [path for path in PRIVATE.rglob("*") if path.suffix in (".py", ".json")]
    lines = {line for path in files for line in lines_of(path) if len(line) > 60}
    assert len(lines - rest) > 700
    return {line for line in lines - rest if not line.startswith(("from ", '"', "f'", 'f"'))}


def test_no_private_file_and_no_solution_is_in_the_copy(copy: Path) -> None:
    names = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    tracked = set(student_copy.tracked(sources.ROOT))
    left_out = {name for name in tracked if name.startswith("course/private/")}
    assert left_out
    assert {name for name in names if not name.startswith(".git/")} == tracked - left_out, "exactly that folder"
    assert given_away(copy) == []
    assert len(given_away(path_of(2).parent)) > 30, "what the sources themselves give away is found"
    assert not os.path.exists(copy / "course" / "key")


def test_nothing_private_is_in_the_wheels_or_the_site() -> None:
    secret = private_words()
    for folder, pattern in ((sources.ROOT / "src", "*"), (SITE, "*.html"), (SITE, "*.js"), (SITE, "*.txt")):
        assert given_away(folder, pattern) == []
        for path in folder.rglob(pattern):
            if path.is_file() and (found := secret & lines_of(path)):
                pytest.fail(f"{path} holds {sorted(found)[:3]}")


def test_it_is_a_repository_whose_commands_are_those_of_the_book(copy: Path) -> None:
    def said(*words: str) -> str:
        return subprocess.run(words, cwd=copy, capture_output=True, text=True, check=True).stdout

    assert "README.md" in said("git", "ls-files").splitlines()
    assert said("git", "log", "--all", "--oneline") == ""
    shown = said("make", "help")
    assert "make test" in shown
    assert not re.search("grade|student-copy", shown)


def test_its_tests_are_collected_and_those_of_the_checks_pass(copy: Path) -> None:
    """Without course/private nothing fails to import, and nothing of the course is asked for."""
    environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy}", "CI": ""}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not release"]
    collect = [*words, "--collect-only", "tests", "course/tests"]
    listed = subprocess.run(collect, cwd=copy, env=environment, capture_output=True, text=True)
    assert listed.returncode == 0, listed.stdout[-2000:] + listed.stderr[-2000:]
    assert "course/tests" not in listed.stdout
    assert "test_course_smoke" not in listed.stdout
    ran = subprocess.run([*words, "tests/unit/check"], cwd=copy, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-2000:]


def test_it_writes_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("kept", encoding="utf-8")
    for place, words in ((tmp_path / "mine", "is there already"), (sources.ROOT / "copy", "lies in the clone")):
        monkeypatch.setattr(sys, "argv", ["student_copy", str(place)])
        with pytest.raises(SystemExit, match=f"^Not copied. .*{words}"):
            student_copy.main()
    with pytest.raises(ValueError, match="is no git clone"):
        student_copy.write(tmp_path / "new", root=tmp_path / "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_plans_have_every_chapter_and_name_its_sections_or_explorables() -> None:
    words = [json.loads(path.read_text(encoding="utf-8")) for path in (sources.ROOT / "src/posenc/js").glob("*.json")]
    explorables = {one["title"] for one in words if isinstance(one.get("title"), str)}
    plans = (sources.ROOT / "course" / "plans.md").read_text(encoding="utf-8")
    chapters = sorted(path.name for path in (sources.ROOT / "notebooks").glob("[0-9]*.ipynb"))
    for plan in re.split("^## ", plans, flags=re.MULTILINE)[1:3]:
        assert sorted(re.findall(r"notebooks/(\d\d\w+\.ipynb)", plan)) == chapters
        assert sorted(re.findall(r"assignment_(\d)\.ipynb", plan)) == list("123456")
    assert [f"{number:02}" for number in range(1, 18)] == re.findall(r"^### (\d\d) ", plans, re.MULTILINE)
    for number, text in re.findall(r"^### (\d\d) (.*?)(?=^### |\Z)", plans, re.MULTILINE | re.DOTALL):
        [chapter] = (sources.ROOT / "notebooks").glob(f"{number}_*.ipynb")
        cells = "\n".join(source_of(cell) for cell in load(chapter)["cells"] if cell["cell_type"] == "markdown")
        headings = " ".join(re.findall(r"^#+ (.*)$", cells, re.MULTILINE))
        for name in re.findall(r"\*([A-Z][^*]+)\*", text):
            assert name in headings or name in explorables, f"chapter {number} has no section {name!r}"

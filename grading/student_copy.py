"""Write a copy of the repository for students: the book, the package and the handouts, without solutions and grader.

    python -m grading.student_copy FOLDER

What git tracks is copied as it lies here, except the grader with the assignments' sources, its tests, the pages for
those who teach, any other test that needs the grader, and whatever stands between the marks `instructors: begin` and
`instructors: end`. The copy is a repository of its own, without this one's history, in which the solutions are.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from grading.grade import NUMBERS
from grading.sources import ROOT, path_of, secrets
from grading.submission import source_of
from tools.notebooks import load

LEFT_OUT = (
    *("grading/", "tests/grading/", "book/instructors_guide.md", "book/instructors_plans"),
    *("book/_site/site_plans.py", "tools/instructors.py"),
)
NEEDS_GRADER = re.compile(r"^\s*(?:from|import)\s+(?:tests\.)?grading\b", re.MULTILINE)
BEGIN, END = (rf"^[ \t]*(?:#|<!--) instructors: {word}(?: -->)?\n" for word in ("begin", "end"))
MARKED = re.compile(rf"{BEGIN}.*?{END}", re.MULTILINE | re.DOTALL)
MARK = re.compile(f"{BEGIN}|{END}", re.MULTILINE)


def tracked(root: Path) -> list[str]:
    """The files of a clone that git tracks. Raises ValueError where that cannot be said."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]
    if listed.returncode or not names:
        raise ValueError(f"{root} is no git clone, and without git it is not known which files are the book's")
    return names


def for_students(name: str, text: str) -> str | None:
    """A file's text as students have it; None for a file that they have not. Raises ValueError for half a mark."""
    if name.startswith(LEFT_OUT) or (name.endswith(".py") and name.startswith("tests/") and NEEDS_GRADER.search(text)):
        return None
    text = MARKED.sub("", text)
    if half := MARK.search(text):
        raise ValueError(f"{name}: the mark {half[0].strip()!r} stands alone")
    if name.endswith(".py") and NEEDS_GRADER.search(text):
        raise ValueError(f"{name} imports the grader, which students do not have")
    return text


def lines_of(path: Path) -> set[str]:
    """The lines of a file, or of a notebook's cells; none of what is no text."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return set()
    if path.suffix == ".ipynb":
        text = "\n".join(source_of(cell) for cell in load(path)["cells"])
    return {line.strip() for line in text.splitlines()}


def given_away(folder: Path) -> list[str]:
    """The files below a folder that hold more than half of an answer's lines, or a line of a hidden check.

    One line alone tells nothing: the chapters teach what the assignments ask for, and some lines are anybody's.
    """
    faults = []
    answers = {(number, name): lines for number in NUMBERS for name, lines in secrets(load(path_of(number))).items()}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        lines = lines_of(path)
        faults += [
            f"{path.relative_to(folder)} gives away {name} of assignment {number}"
            for (number, name), secret in answers.items()
            if 2 * len(secret & lines) > len(secret)
        ]
    return faults


def write(folder: Path, root: Path = ROOT) -> tuple[int, list[str]]:
    """Write the copy: how many files it has, and which were left out. Raises ValueError, and leaves nothing then."""
    folder = folder.resolve()
    if folder.is_relative_to(root):
        raise ValueError(f"{folder} lies in the clone: name a folder outside it")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already: name a folder that is empty or not there yet")
    names, left = tracked(root), []
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".student-copy-", dir=folder.parent) as beside:
        copy = Path(beside) / "copy"
        for name in names:
            content = (root / name).read_bytes()
            try:
                text = for_students(name, content.decode("utf-8"))
                new = None if text is None else text.encode()
            except UnicodeDecodeError:
                new = None if name.startswith(LEFT_OUT) else content
            if new is None:
                left.append(name)
                continue
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(new)
            shutil.copymode(root / name, copy / name)
        if faults := given_away(copy):
            raise ValueError("\n".join(faults))
        for words in (["init", "--quiet", "--initial-branch", "main"], ["add", "--all"]):
            subprocess.run(["git", *words], cwd=copy, check=True)
        if folder.exists():
            folder.rmdir()
        copy.rename(folder)
    return len(names) - len(left), left


def main() -> None:
    """Write the copy, or say in one line why not."""
    parser = argparse.ArgumentParser(prog="python -m grading.student_copy", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where: a folder that is empty or not there yet, outside the clone")
    folder = parser.parse_args().folder
    try:
        count, left = write(folder)
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"Nothing was written. {error}")
    others = [name for name in left if not name.startswith(LEFT_OUT[:2])]
    print(f"Wrote {count} files to {folder}: the book, the package, the handouts and their tests.")
    print(f"Left out: {', '.join([*LEFT_OUT[:2], *others])}. No solution and no hidden check is in the rest.")
    print("It is a repository of its own, without this one's history: look at it, commit and publish it.")


if __name__ == "__main__":
    main()

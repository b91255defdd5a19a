"""Write a copy of the repository for students: the book, the package and the handouts, without solutions and grader.

    python -m course.student_copy FOLDER

What git tracks is copied as it lies here, except the folder `course` and any test elsewhere that imports it. The copy
is a repository of its own, without this one's history, in which the solutions are.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from course.grade import NUMBERS
from course.sources import ROOT, secrets, source
from course.submission import source_of
from tools.notebooks import load

COURSE = "course/"  # left out, with any test elsewhere that imports it
NEEDS_COURSE = re.compile(r"^\s*(?:from|import)\s+course\b", re.MULTILINE)


def tracked(root: Path) -> list[str]:
    """The files of a clone that git tracks. Raises ValueError where that cannot be said."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]
    if listed.returncode or not names:
        raise ValueError(f"{root} is no git clone, and without git it is not known which files are the book's")
    return names


def is_left_out(name: str, content: bytes) -> bool:
    """Whether students do not have a file. Raises ValueError for a file that they need and that needs the course."""
    if name.startswith(COURSE):
        return True
    if not name.endswith(".py") or not NEEDS_COURSE.search(content.decode("utf-8")):
        return False
    if name.startswith(("tests/", "release/")):
        return True
    raise ValueError(f"{name} imports the grader, which students do not have")


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
    answers = {(number, name): lines for number in NUMBERS for name, lines in secrets(source(number)).items()}
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
            if is_left_out(name, (root / name).read_bytes()):
                left.append(name)
                continue
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy / name)
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
    parser = argparse.ArgumentParser(prog="python -m course.student_copy", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where: a folder that is empty or not there yet, outside the clone")
    folder = parser.parse_args().folder
    try:
        count, left = write(folder)
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"Nothing was written. {error}")
    others = [name for name in left if not name.startswith(COURSE)]
    print(f"Wrote {count} files to {folder}: the book, the package, the handouts and their tests.")
    print(f"Left out: {', '.join([COURSE, *others])}. No solution and no hidden check is in the rest.")
    print("It is a repository of its own, without this one's history: look at it, commit and publish it.")


if __name__ == "__main__":
    main()

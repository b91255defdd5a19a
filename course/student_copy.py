"""Write a copy of the repository for students and for the public: all that git tracks, without course/private.

    python -m course.student_copy FOLDER

The copy is a repository of its own, without this one's history, in which the solutions are.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRIVATE = "course/private/"


def tracked(root: Path) -> list[str]:
    """The files of a clone that git tracks. Raises ValueError where that cannot be said."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]
    if listed.returncode or not names:
        raise ValueError(f"{root} is no git clone, and without git it is not known which files are the book's")
    return names


def write(folder: Path, root: Path = ROOT) -> int:
    """Write the copy, and say how many files it has. Raises ValueError where it cannot."""
    folder = folder.resolve()
    if folder.is_relative_to(root):
        raise ValueError(f"{folder} lies in the clone: name a folder outside it")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already: name a folder that is empty or not there yet")
    names = [name for name in tracked(root) if not name.startswith(PRIVATE)]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, folder / name)
    for words in (["init", "--quiet", "--initial-branch", "main"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return len(names)


def main() -> None:
    """Write the copy, or say in one line why not."""
    parser = argparse.ArgumentParser(prog="python -m course.student_copy", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where: a folder that is empty or not there yet, outside the clone")
    folder = parser.parse_args().folder
    try:
        count = write(folder)
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"Not copied. {error}")
    print(f"{count} files in {folder}. The solutions, {PRIVATE}, are not among them; commit there before you publish.")


if __name__ == "__main__":
    main()

"""Submitted notebooks, read as data: the answers' cells by question, and nothing executed."""

from __future__ import annotations

import ast
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

LARGEST = 20 * 2**20  # bytes of a notebook, outputs and all: as data in memory it takes up to thirty times as much
LONGEST_WORDS = 20_000  # characters of an answer in words
MOST_PASSED = 100_000  # characters that IPython goes over: all of an answer's, once for each line of its own
SKIPPED = (".ipynb_checkpoints", "__MACOSX")  # folders that programs make
A_LINK = "This is a link to another place: links are not followed."


@dataclass
class Submission:
    """What a student handed in. `cells` holds the code of each question, `prose` the text of answers in words."""

    student: str
    path: Path
    assignment: int | None = None
    cells: dict[str, list[str]] = field(default_factory=dict)
    prose: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problem: str = ""


class _Bounded(TransformerManager):
    """IPython's, which goes over the whole text again for each line of its own, at most some times."""

    def __init__(self, passes: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # IPython has no types
        self.passes = passes

    def do_token_transforms(self, lines: list[str]) -> list[str]:
        """The lines without IPython's own. Raises ValueError where that takes more passes."""
        for _ in range(self.passes):
            changed, lines = self.do_one_token_transform(lines)  # type: ignore[no-untyped-call]  # as above
            if not changed:
                return lines
        raise ValueError(f"more than {self.passes} lines of IPython's own")


def without_magics(source: str, length: int = 0) -> str:
    """A cell's source as a notebook runs it: IPython's own lines, prompts and indentation become Python.

    IPython makes calls of `get_ipython()` of them, which do nothing for an answer. `length` is that of all cells of
    the answer, if there are others.
    """
    try:
        ast.parse(source)
        return source
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        source = re.sub(r"\A\s*%%.*$", "", source, flags=re.MULTILINE)
    try:
        passes = 1 + min(99, MOST_PASSED // (1 + max(length, len(source))))
        return _Bounded(passes).transform_cell(source)
    except (SyntaxError, ValueError, RuntimeError, RecursionError, MemoryError):
        return source


def source_of(cell: dict[str, Any]) -> str:
    """A cell's text, which may be stored as a list of lines; empty where it is neither."""
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def name_of(cell: dict[str, Any]) -> str:
    """The name by which a cell answers a question: nbgrader's, else its id (Colab keeps that in the metadata)."""
    metadata = cell.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    nbgrader = metadata.get("nbgrader")
    names = (nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None, cell.get("id"), metadata.get("id"))
    return next((name for name in names if isinstance(name, str) and re.fullmatch(r"q[0-9]{1,2}", name)), "")


def read(path: Path, student: str) -> Submission:
    """The submission in a file. What cannot be read becomes its `problem`, never an exception."""
    submission = Submission(student, path)
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            submission.problem = A_LINK
            return submission
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a file of its own")
        if found.st_size > LARGEST:
            raise ValueError(f"it is larger than {LARGEST // 2**20} MiB: clear its outputs")
        _take(json.loads(path.read_bytes()), submission)
    except (RecursionError, MemoryError):
        submission.problem = "The file is not a notebook that can be read: it is nested too deep."
    except OSError as error:  # said without its path, which is not a student's
        submission.problem = f"The file is not a notebook that can be read: {error.strerror}."
    except ValueError as error:
        told = "it is not JSON" if isinstance(error, (json.JSONDecodeError, UnicodeError)) else str(error)[:100]
        submission.problem = f"The file is not a notebook that can be read: {told}."
    return submission


def _take(notebook: Any, submission: Submission) -> None:
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("it has no list of cells")
    metadata = notebook.get("metadata")
    posenc = metadata.get("posenc") if isinstance(metadata, dict) else None
    number = posenc.get("assignment") if isinstance(posenc, dict) else None
    submission.assignment = number if type(number) is int else None
    seen: Counter[str] = Counter()
    texts: dict[str, list[str]] = {}
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and (name := name_of(cell)):
            seen[name] += 1
            kind = submission.cells if cell.get("cell_type") == "code" else texts
            kind.setdefault(name, []).append(source_of(cell))
    for name, parts in texts.items():
        words = "\n\n".join(parts).strip()
        submission.prose[name] = words[:LONGEST_WORDS]
        if len(words) > LONGEST_WORDS:
            submission.notes.append(f"The text of {name} is cut to {LONGEST_WORDS} characters.")
    for name, count in seen.items():
        if count > 1:
            submission.notes.append(f"{count} cells are named {name}: all were used, in their order.")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:  # it cannot be read, or its name is too long
        return []
    return [entry for entry in found if entry.name not in SKIPPED and not entry.name.startswith(".")]


def notebooks(folder: Path) -> list[Path]:
    """The notebooks in a folder and all below it, however deep; links are not followed."""
    found, waiting = [], [folder]
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif entry.name.lower().endswith(".ipynb"):
                found.append(Path(entry.path))
    return sorted(found)


def find(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """The students of a folder of submissions, each with the notebooks that are theirs; none for an empty folder.

    A notebook in the folder itself is a student's, and so is a link there. Any other belongs to the student whose
    name is that of the outermost folder that holds a notebook.
    """
    theirs: dict[str, list[Path]] = {}
    for entry in _entries(folder):
        place = Path(entry.path)
        if entry.is_symlink():
            theirs.setdefault(place.stem, []).append(place)
        elif entry.is_dir(follow_symlinks=False):
            paths = notebooks(place)
            holding = {path.parent for path in paths}
            for path in paths:
                outermost = [around for around in path.parents if around in holding][-1]
                theirs.setdefault(outermost.relative_to(folder).as_posix(), []).append(path)
            if not paths:
                theirs.setdefault(entry.name, [])
        elif entry.name.lower().endswith(".ipynb"):
            theirs.setdefault(place.stem, []).append(place)
    yield from sorted(theirs.items())


def one_of(folder: Path, student: str, paths: list[Path], number: int | None = None) -> Submission:
    """What a student handed in for an assignment, of all their notebooks; one with a `problem` where none counts."""
    if not paths:
        return Submission(student, folder / student, problem="There is no notebook (.ipynb) in the folder.")
    found = [read(path, student) for path in paths[:100]]

    def answers(one: Submission) -> object:
        return one.cells, one.prose

    right = [one for one in found if number is None or one.assignment in (number, None)]
    different = [one for at, one in enumerate(right) if all(answers(one) != answers(other) for other in right[:at])]
    if len(different) > 1:
        different[0].problem = f"There are {len(right)} different notebooks: leave the one that counts."
    return (different or found)[0]

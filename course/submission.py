"""A submitted notebook, read as data: the answers' cells by question, and nothing executed."""

from __future__ import annotations

import ast
import codecs
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import ijson
from IPython.core.inputtransformer2 import TransformerManager

from course.words import name_shown

MIB = 2**20
LARGEST = 64 * MIB  # bytes of a notebook
WHOLE = MIB  # bytes up to which it is read whole: plain data in memory takes up to some thirty times its text
DEEPEST = 500  # lists and objects in one another
MOST_CELLS = 100_000  # cells
MOST_EVENTS = 5_000_000  # keys, values, beginnings and ends: some seconds
MOST_TEXT = 5 * MIB  # characters of all answers
LONGEST_CELL = 100_000  # characters of one cell that are kept; the grader refuses shorter ones already
LONGEST_WORDS = 20_000  # characters of an answer in words
AGAIN = re.compile(r" ?\(\d{1,2}\)$|-Copy\d{1,2}$")  # what browsers and Jupyter add to a second file's name
SKIPPED = (".ipynb_checkpoints", "__MACOSX")  # folders that programs make, of copies and of nothing
TOO_DEEP = "it is nested too deep"


MOST_PASSED = 100_000  # characters that IPython goes over: all of an answer's, once for each line of its own
HINT = re.compile(r"\b(q[0-9]{1,2})\.hint\(([^)\n]{0,20})")  # a call, as posenc.check has it
HINTS = 3  # to a question


@dataclass
class Submission:
    """What a student handed in. `cells` holds the sources of code by question, `prose` the text of answers in words.

    `hints` has how many hints the notebook asks for, by question.
    """

    student: str
    path: Path
    assignment: int | None = None
    cells: dict[str, list[str]] = field(default_factory=dict)
    prose: dict[str, str] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
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
    """A cell's source as a notebook runs it: IPython's own lines, prompts and indentation, where it is no Python so.

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


def hints_in(source: str) -> dict[str, int]:
    """How many hints a cell's text asks for, by question: `check.q1.hint(2)` for two, and what is no number for all."""
    found: dict[str, int] = {}
    for name, step in HINT.findall(source):
        step = step.strip() or "1"
        count = min(int(step), HINTS) if re.fullmatch("[0-9]+", step) else HINTS
        found[name] = max(found.get(name, 0), count)
    return found


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
        if path.is_symlink() or not path.is_file():
            raise ValueError("it is not a file of its own")
        if (size := path.stat().st_size) > LARGEST:
            raise ValueError(f"it has {size / MIB:.0f} MiB; a notebook may have {LARGEST // MIB}, outputs and all")
        if not size:
            raise ValueError("it is empty")
        notebook = _load(path, size)
        if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
            raise ValueError("it has no list of cells")
        _take(notebook, submission)
    except (RecursionError, MemoryError):
        submission.problem = f"The file is not a notebook that can be read: {TOO_DEEP}."
    except OSError as error:  # said without its path, which is not a student's
        submission.problem = f"The file is not a notebook that can be read: {error.strerror}."
    except (ValueError, ijson.JSONError) as error:
        submission.problem = f"The file is not a notebook that can be read: {_kind(error)}."
    return submission


def _kind(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "it is not text in UTF-8, UTF-16 or UTF-32"
    return "it is not JSON" if isinstance(error, (json.JSONDecodeError, ijson.JSONError)) else str(error)


def _whole(digits: str) -> float:
    """A whole number; of one with many digits, which Python refuses to read, that there is one."""
    return int(digits) if len(digits) < 20 else math.inf


def _load(path: Path, size: int) -> Any:
    """The notebook as plain data, in any of the encodings that JSON may have; of a large one, what is graded."""
    with path.open("rb") as file:
        encoding = json.detect_encoding(file.read(4))
        file.seek(0)
        if size <= WHOLE:
            return json.loads(file.read().decode(encoding), parse_int=_whole)
        return _answers(file if encoding == "utf-8" else _Recoded(file, encoding))


class _Recoded:
    """A file in another encoding, read in UTF-8. (What codecs make of a file lets ijson past it, to the file.)"""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self.text = codecs.getreader(encoding)(file)

    def read(self, size: int) -> bytes:
        """Some bytes, about as many as asked for."""
        return self.text.read(size).encode()


class _Answers:
    """What is graded of a large notebook, picked from the events of its JSON; the rest, outputs above all, goes by.

    A `where` has the key of each object, and "" for each list, on the way to the present value.
    """

    def __init__(self) -> None:
        self.cells: list[dict[str, Any]] | None = None
        self.number: Any = None
        self.kept = self.seen = self.room = 0
        self.cell: dict[str, Any] = {}

    def open(self, where: list[str], event: str) -> None:
        """A list or an object begins."""
        if where == ["cells"] and event == "start_array":
            self.cells = []
        elif where == ["cells", ""]:
            self.cell, self.room = {"metadata": {"nbgrader": {}}, "source": []}, LONGEST_CELL
            self.seen += 1
            if self.seen > MOST_CELLS:
                raise ValueError(f"it has more than {MOST_CELLS} cells")

    def close(self, where: list[str]) -> None:
        """An object has ended."""
        if (
            where == ["cells", ""]
            and self.cells is not None
            and (name_of(self.cell) or HINT.search(source_of(self.cell)))
        ):
            self.kept += LONGEST_CELL - self.room
            if self.kept > MOST_TEXT:
                raise ValueError(f"its answers have more than {MOST_TEXT} characters")
            self.cells.append(self.cell)

    def value(self, where: list[str], value: Any) -> None:
        """A text, a number, true, false or null."""
        if where == ["metadata", "posenc", "assignment"]:
            self.number = value
        elif where[:2] != ["cells", ""] or not isinstance(value, str):
            return
        elif where[2:] in (["source"], ["source", ""]):
            if value and self.room:
                self.cell["source"].append(value[: self.room])
                self.room -= len(self.cell["source"][-1])
        elif where[2:] in (["id"], ["cell_type"]):
            self.cell[where[2]] = value
        elif where[2:] == ["metadata", "id"]:
            self.cell["metadata"]["id"] = value
        elif where[2:] == ["metadata", "nbgrader", "grade_id"]:
            self.cell["metadata"]["nbgrader"]["grade_id"] = value


def _answers(file: IO[bytes] | _Recoded) -> dict[str, Any] | None:
    """A large notebook's answers and the assignment's number; None where it holds no list of cells."""
    answers = _Answers()
    where: list[str] = []
    # with a small buffer a long text would be read again for each of its parts
    events = ijson.basic_parse(file, use_float=True, buf_size=2 * MIB)
    for number, (event, value) in enumerate(events):
        if number == MOST_EVENTS:
            raise ValueError(f"it has more than {MOST_EVENTS // 10**6} million values")
        if event == "map_key":
            where[-1] = value
            if where == ["cells", "", "source"]:  # of a key that is there twice the last counts
                answers.cell["source"], answers.room = [], LONGEST_CELL
        elif event in ("start_map", "start_array"):
            if len(where) < 3:
                answers.open(where, event)
            where.append("")
            if len(where) > DEEPEST:
                raise ValueError(TOO_DEEP)
        elif event in ("end_map", "end_array"):
            where.pop()
            if event == "end_map" and len(where) == 2:
                answers.close(where)
        elif len(where) < 6:
            answers.value(where, value)
    if answers.cells is None:
        return None
    return {"cells": answers.cells, "metadata": {"posenc": {"assignment": answers.number}}}


def _take(notebook: dict[str, Any], submission: Submission) -> None:
    metadata = notebook.get("metadata")
    posenc = metadata.get("posenc") if isinstance(metadata, dict) else None
    number = posenc.get("assignment") if isinstance(posenc, dict) else None
    submission.assignment = number if type(number) is int else None
    seen: Counter[str] = Counter()
    texts: dict[str, list[str]] = {}
    for cell in notebook["cells"]:
        if not isinstance(cell, dict):
            continue
        if cell.get("cell_type") == "code":
            for name, count in hints_in(source_of(cell)).items():
                submission.hints[name] = max(submission.hints.get(name, 0), count)
        if not (name := name_of(cell)):
            continue
        seen[name] += 1
        if cell.get("cell_type") == "code":
            submission.cells.setdefault(name, []).append(source_of(cell))
        else:
            texts.setdefault(name, []).append(source_of(cell))
    for name, parts in texts.items():
        words = "\n\n".join(parts).strip()
        submission.prose[name] = words[:LONGEST_WORDS]
        if len(words) > LONGEST_WORDS:
            submission.notes.append(
                f"The text of {name} is longer than {LONGEST_WORDS} characters: "
                "the page shows its beginning, the notebook holds it all."
            )
    for name, count in seen.items():
        if count > 1:
            submission.notes.append(f"{count} cells are named {name}: all were used, in their order.")


def notebooks(folder: Path) -> list[Path]:
    """The notebooks in a folder and all below it, however deep; links to folders are not followed."""
    found, waiting = [], [str(folder)]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:  # it cannot be read, or its name is too long
            continue
        below = [e for e in entries if e.is_dir(follow_symlinks=False)]  # a folder may be called x.ipynb
        files = [e for e in entries if e not in below and not e.name.startswith("._")]
        found += [Path(e.path) for e in files if e.name.lower().endswith(".ipynb")]
        waiting += [e.path for e in below if e.name not in SKIPPED]
    return sorted(found)


def find(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """The students of a folder of submissions, each with the notebooks that are theirs; none for an empty folder.

    A notebook in the folder itself belongs to the student of its own name; a second download of it, `ada (1)` beside
    `ada`, to the same. Any other belongs to the student whose
    name is that of the outermost folder that holds a notebook.
    """
    paths = notebooks(folder)
    holding = {path.parent for path in paths} - {folder}
    alone = {path.stem for path in paths if path.parent == folder}
    theirs: dict[str, list[Path]] = {}
    for path in paths:
        around = [place for place in path.parents if place in holding]
        name = around[-1].relative_to(folder).as_posix() if around else AGAIN.sub("", path.stem)
        if not around and name not in alone:
            name = path.stem
        theirs.setdefault(name_shown(name), []).append(path)
    filled = {path.relative_to(folder).parts[0] for path in paths}
    for below in folder.iterdir():
        # os.path's, since pathlib's raises where a link leads to what has too long a name or may not be asked
        if os.path.isdir(below) and not below.name.startswith(".") and below.name not in {*filled, *SKIPPED}:
            theirs.setdefault(name_shown(below.name), [])
    yield from sorted(theirs.items())

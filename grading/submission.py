"""A submitted notebook, read as data: the answers' cells by question, and nothing executed."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LARGEST = 20 * 2**20  # bytes of a notebook


@dataclass
class Submission:
    """What a student handed in. `cells` holds the sources of code by question, `prose` the text of answers in words."""

    student: str
    path: Path
    assignment: int | None = None
    cells: dict[str, list[str]] = field(default_factory=dict)
    prose: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problem: str = ""


def without_magics(source: str) -> str:
    """A cell's source without IPython's own lines (`%…`, `!…`), where it is no Python with them."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return re.sub(r"^[ \t]*[%!?].*$", "", source, flags=re.MULTILINE)
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
    return next((name for name in names if isinstance(name, str) and re.fullmatch(r"q\d+", name)), "")


def read(path: Path, student: str) -> Submission:
    """The submission in a file. What cannot be read becomes its `problem`, never an exception."""
    submission = Submission(student, path)
    try:
        if path.is_symlink() or not path.is_file():
            raise ValueError("it is not a file of its own")
        if (size := path.stat().st_size) > LARGEST:
            raise ValueError(f"it has {size / 2**20:.0f} MiB; a notebook may have {LARGEST // 2**20}")
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
            raise ValueError("it has no list of cells")
    except RecursionError:
        submission.problem = "The file is not a notebook that can be read: it is nested too deep."
        return submission
    except (OSError, ValueError) as error:
        kind = "it is not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
        submission.problem = f"The file is not a notebook that can be read: {kind}."
        return submission
    _take(notebook, submission)
    return submission


def _take(notebook: dict[str, Any], submission: Submission) -> None:
    metadata = notebook.get("metadata")
    posenc = metadata.get("posenc") if isinstance(metadata, dict) else None
    number = posenc.get("assignment") if isinstance(posenc, dict) else None
    submission.assignment = number if type(number) is int else None
    seen: Counter[str] = Counter()
    for cell in notebook["cells"]:
        if not isinstance(cell, dict) or not (name := name_of(cell)):
            continue
        seen[name] += 1
        if cell.get("cell_type") == "code":
            submission.cells.setdefault(name, []).append(without_magics(source_of(cell)))
        else:
            submission.prose[name] = (submission.prose.get(name, "") + "\n\n" + source_of(cell)).strip()
    for name, count in seen.items():
        if count > 1:
            submission.notes.append(f"{count} cells are named {name}: all were used, in their order.")


def find(folder: Path) -> Iterator[tuple[Path | None, str]]:
    """The notebooks in a folder of submissions, with the student's name of each; None for a folder without one.

    A notebook that is alone in its folder has the folder's name, another its own.
    """
    paths = sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
    alone = Counter(path.parent for path in paths)
    for path in paths:
        if path.parent != folder and alone[path.parent] == 1:
            yield path, path.parent.relative_to(folder).as_posix()
        else:
            yield path, path.relative_to(folder).with_suffix("").as_posix()
    for below in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
        if not any(path.is_relative_to(below) for path in paths):
            yield None, below.name

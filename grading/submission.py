"""A submitted notebook, read as data: the answers' cells by question, and nothing executed."""

from __future__ import annotations

import ast
import json
import os
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
    return next((name for name in names if isinstance(name, str) and re.fullmatch(r"q[0-9]{1,2}", name)), "")


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
    except (RecursionError, MemoryError):
        submission.problem = "The file is not a notebook that can be read: it is nested too deep."
        return submission
    except (OSError, ValueError) as error:
        kind = "it is not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
        kind = str(error.strerror) if isinstance(error, OSError) else kind  # without its path, which is not a student's
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
    texts: dict[str, list[str]] = {}
    for cell in notebook["cells"]:
        if not isinstance(cell, dict) or not (name := name_of(cell)):
            continue
        seen[name] += 1
        if cell.get("cell_type") == "code":
            submission.cells.setdefault(name, []).append(source_of(cell))
        else:
            texts.setdefault(name, []).append(source_of(cell))
    submission.prose = {name: "\n\n".join(parts).strip() for name, parts in texts.items()}
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
        found += [Path(entry.path) for entry in entries if entry.name.endswith(".ipynb")]
        folders = (entry for entry in entries if entry.is_dir(follow_symlinks=False))
        waiting += [entry.path for entry in folders if entry.name != ".ipynb_checkpoints"]
    return sorted(found)


def find(folder: Path) -> Iterator[tuple[Path | None, str]]:
    """The notebooks in a folder of submissions, with the student's name of each; None for a folder without one.

    A notebook that is alone in its folder has the folder's name, another its own; where that would give two the same
    name, both have their whole path.
    """
    paths = notebooks(folder)
    alone = Counter(path.parent for path in paths)
    names = {}
    for path in paths:
        below = path.relative_to(folder)
        single = path.parent != folder and alone[path.parent] == 1
        names[path] = below.parent.as_posix() if single else below.with_suffix("").as_posix()
    times = Counter(names.values())
    for path, name in names.items():
        yield path, name if times[name] == 1 else path.relative_to(folder).as_posix()
    filled = {path.relative_to(folder).parts[0] for path in paths}
    for below in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
        if below.name not in filled | set(times):
            yield None, below.name

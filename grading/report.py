"""What grading leaves: a table of points, a page of feedback for each student, and a record of the run."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from grading.grade import Report
from posenc.check._question import Assignment

PAGE = Path(__file__).resolve().parent / "feedback.html"
NOT_TEXT = "backslashreplace"  # how halves of characters are written, which a name or an answer may hold


def safe_name(student: str) -> str:
    """A file's name for a student's: its own letters, and digits where others had to go, which nobody else can get."""
    plain = re.sub(r"[^\w.-]+", "_", student).strip("._").encode()[:80].decode(errors="ignore")
    if plain and plain == student and not re.search(r"-[0-9a-f]{16}$", plain):
        return plain
    return f"{plain or 'student'}-{hashlib.sha256(os.fsencode(student)).hexdigest()[:16]}"


def no_formula(text: str) -> str:
    """Text that a spreadsheet takes as text, whatever a student has called a file."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def number(points: float) -> str:
    """Points, without needless decimals."""
    return f"{points:g}"


def rows(reports: Sequence[Report], assignment: Assignment, unsafe: bool) -> list[list[str]]:
    """The table: a heading, then a row for each submission."""
    names = [question.name for question in assignment.asked]
    table = [["student", "assignment", "points", "of", *names, "waiting for a reader", "sandbox", "note"]]
    for report in reports:
        submission = report.submission
        points = {graded.question.name: number(graded.earned) for graded in report.graded}
        points |= {name: number(given) for name, given in report.hand.items()}
        waiting = " ".join(question.name for question in report.waiting)
        note = " ".join([submission.problem, *submission.notes]).strip()
        table.append(
            [no_formula(submission.student), str(assignment.number), number(report.points), str(assignment.points)]
            + [points.get(name, "") for name in names]
            + [waiting, "no (--unsafe)" if unsafe else "yes", no_formula(note)]
        )
    return table


def write_table(path: Path, table: list[list[str]]) -> None:
    """Write the table so that a reader sees the old one or the new one, whole."""
    beside = path.with_suffix(".part")
    with beside.open("w", newline="", encoding="utf-8", errors=NOT_TEXT) as file:
        csv.writer(file).writerows(table)
    beside.replace(path)


def write(folder: Path, reports: Sequence[Report], assignment: Assignment, run: dict[str, Any]) -> None:
    """Write grades.csv, feedback/ and run.json into a folder."""
    pages = folder / "feedback"
    pages.mkdir(parents=True, exist_ok=True)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["points"] = number
    template = environment.from_string(PAGE.read_text(encoding="utf-8"))
    for report in reports:
        page = template.render(report=report, assignment=assignment, run=run)
        place = pages / f"{safe_name(report.submission.student)}.html"
        place.write_text(page, encoding="utf-8", errors=NOT_TEXT)
    (folder / "run.json").write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")
    write_table(folder / "grades.csv", rows(reports, assignment, run["unsafe"]))

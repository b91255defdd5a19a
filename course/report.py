"""What grading leaves: a table of points, a page of feedback for each student, and a record of the run."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from course import analysis
from course.grade import Report
from course.question import Assignment
from course.words import no_formula, some, visible, with_formulas

HERE = Path(__file__).resolve().parent
RUBRICS = json.loads((HERE / "private" / "rubrics.json").read_text(encoding="utf-8"))
NOT_TEXT = "backslashreplace"  # how halves of characters are written, which a name or an answer may hold
TABLE, RECORD, PAGES, READING, EARLIER = "grades.csv", "run.json", "feedback", "reading.html", "earlier"
ANALYSIS, FORMS = "analysis.html", "to_import"
DEVICE = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")
WRITTEN = (PAGES, FORMS, READING, ANALYSIS, RECORD, TABLE)  # the table last: with it the others are there


def safe_name(student: str, taken: Collection[str] = ()) -> str:
    """A file's name for a student's: its own letters, and digits where others had to go, which nobody else can get.

    Of names that differ in capitals alone, which are one file for some systems, the second has digits, too: `taken`
    are those that were given, in small letters. So has a name that Windows keeps for a device.
    """
    plain = re.sub(r"[^\w.-]+", "_", student).strip("._").encode()[:80].decode(errors="ignore")
    free = plain.casefold() not in taken and not re.search(r"-[0-9a-f]{16}$", plain) and not DEVICE.match(plain)
    if plain and plain == student and free:
        return plain
    return f"{plain or 'student'}-{hashlib.sha256(os.fsencode(student)).hexdigest()[:16]}"


def number(points: float) -> str:
    """Points, without needless decimals."""
    return f"{points:g}"


def rows(reports: Sequence[Report], assignment: Assignment, unsafe: bool) -> list[list[str]]:
    """The table: a heading, then a row for each submission."""
    names = [question.name for question in assignment.graded]
    table = [["student", "assignment", "points", "of", *names, "hints", "waiting for a reader", "sandbox", "note"]]
    for report in reports:
        submission = report.submission
        points = {name: number(report.points_of(name)) for name in report.earned}
        hints = ", ".join(f"{name} {count}" for name, count in report.hints.items())
        waiting = " ".join(question.name for question in report.waiting)
        note = " ".join([submission.problem, *submission.notes]).strip()
        table.append(
            [no_formula(submission.student), str(assignment.number), number(report.points), str(assignment.points)]
            + [points.get(name, "") for name in names]
            + [hints, waiting, "no (--unsafe)" if unsafe else "yes", no_formula(visible(note))]
        )
    return table


def recorded(folder: Path) -> dict[str, Any]:
    """The record of the grades that a folder holds; empty where there is none that can be read."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def may_hold(folder: Path, assignment: int) -> None:
    """Raise ValueError where a folder holds the grades of another assignment."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: name a folder with --output")
    other = recorded(folder).get("assignment", assignment)
    if other != assignment:
        raise ValueError(
            f"{folder} holds the grades of assignment {other}, and these are of assignment {assignment}: "
            "name another folder with --output"
        )


def points_of(path: Path) -> dict[str, str]:
    """The points by student in a table; empty where there is none that can be read."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return {row["student"]: row["points"] for row in csv.DictReader(file)}
    except (OSError, ValueError, KeyError, csv.Error):
        return {}


def put_by(folder: Path) -> Path | None:
    """Move the grades that a folder holds to a folder of their own in it, and say which; None where it holds none."""
    held = [folder / name for name in WRITTEN if (folder / name).exists()]
    if not held:
        return None
    record = recorded(folder)
    name = re.sub(r"[^\w-]+", "-", f"{record.get('time', 'undated')}"[:19]).strip("-")
    earlier = folder / EARLIER / name
    for again in range(2, 10_000):
        if not earlier.exists():
            break
        earlier = folder / EARLIER / f"{name}-{again}"
    earlier.mkdir(parents=True)
    for path in held:
        path.rename(earlier / path.name)
    return earlier


def replaced(earlier: Path, folder: Path) -> str:
    """What the grades in a folder have replaced, in words."""
    old, new, record = points_of(earlier / TABLE), points_of(folder / TABLE), recorded(earlier)
    run = f" (run {visible(str(record['seed']))})" if "seed" in record else ""
    lines = [f"Replaced the grades of {len(old)} submissions{run}. They are kept in {earlier}"]
    if gone := sorted(set(old) - set(new)):
        lines.append(f"  No longer in the table: {some(gone)}")
    if others := [f"{name} {old[name]} → {new[name]}" for name in new if name in old and old[name] != new[name]]:
        lines.append(f"  Other points than before: {some(others)}")
    return visible("\n".join(lines), keep="\n")


def write(
    folder: Path,
    reports: Sequence[Report],
    assignment: Assignment,
    run: dict[str, Any],
    forms: Mapping[str, list[list[str]]],
) -> str:
    """Write all that grading leaves into a folder, and say what it replaced, which is kept.

    `forms` are the tables for learning platforms, by the names of their files. All is written beside first: where that
    fails, the old grades stand.
    """
    folder.mkdir(parents=True, exist_ok=True)
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters |= {"points": number, "with_formulas": with_formulas, "visible": visible}
    template = environment.get_template("feedback.html")
    with tempfile.TemporaryDirectory(prefix=".grades-", dir=folder) as beside:
        new = Path(beside)
        (new / PAGES).mkdir()
        taken: set[str] = set()
        for report in reports:
            page = template.render(report=report, assignment=assignment, run=run)
            name = safe_name(report.submission.student, taken)
            while name.casefold() in taken:  # two of one name, whom a roster of names alone does not tell apart
                name += "_"
            taken.add(name.casefold())
            (new / PAGES / f"{name}.html").write_text(page, encoding="utf-8", errors=NOT_TEXT)
        if assignment.hand_graded:
            rubrics = RUBRICS[f"assignment_{assignment.number}"]
            page = environment.get_template(READING).render(reports=reports, assignment=assignment, rubrics=rubrics)
            (new / READING).write_text(page, encoding="utf-8", errors=NOT_TEXT)
        (new / RECORD).write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")
        page = environment.get_template(ANALYSIS).render(analysis.of(reports, assignment))
        (new / ANALYSIS).write_text(page, encoding="utf-8", errors=NOT_TEXT)
        if forms:
            (new / FORMS).mkdir()
        tables = {f"{FORMS}/{name}": table for name, table in forms.items()}
        for name, table in {**tables, TABLE: rows(reports, assignment, run["unsafe"])}.items():
            with (new / name).open("w", newline="", encoding="utf-8", errors=NOT_TEXT) as file:
                csv.writer(file).writerows(table)
        earlier = put_by(folder)
        for name in WRITTEN:
            if (new / name).exists():
                (new / name).rename(folder / name)
    return replaced(earlier, folder) if earlier else ""

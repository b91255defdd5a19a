"""What grading leaves: tables of points and mistakes, a page for each student, and what is marked by hand."""

from __future__ import annotations

import csv
import hmac
import json
import math
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from course.grade import Report
from course.question import PRIVATE, Assignment
from course.words import no_formula, visible

HERE = Path(__file__).resolve().parent
NOT_TEXT = "backslashreplace"  # how halves of characters are written, which a name or an answer may hold
RECORD = "run.json"
MARKING = ["code", "question", "of", "points", "comment", "answer"]


def rubrics(assignment: Assignment) -> dict[str, Any]:
    """What the points of an assignment's questions in words are given for, with marked samples, by question."""
    told = json.loads((PRIVATE / "rubrics.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = told.get(f"assignment_{assignment.number}", {})
    return found


def code(secret: bytes, report: Report, question: str) -> str:
    """What an answer in words is called where its reader is to see no name."""
    text = f"{report.submission.student}/{question}/{report.words(question)}"
    return hmac.new(secret, text.encode(errors=NOT_TEXT), "sha256").hexdigest()[:8]


def in_words(secret: bytes, reports: Sequence[Report]) -> dict[str, list[tuple[str, Report]]]:
    """The answers in words by question, each with its code, in the codes' order, which tells nothing of names."""
    read = [report for report in reports if not report.submission.problem]
    names = [question.name for question in reports[0].assignment.hand_graded] if reports else []
    return {name: sorted(((code(secret, one, name), one) for one in read), key=lambda pair: pair[0]) for name in names}


def read_marks(path: Path, secret: bytes, reports: Sequence[Report]) -> None:
    """Put the points and comments of a filled-in table of marks into the reports. Raises ValueError."""
    known = {(name, told): one for name, told_of in in_words(secret, reports).items() for told, one in told_of}
    most = {question.name: question.points for question in reports[0].assignment.hand_graded}
    text = path.read_text(encoding="utf-8-sig")
    separator = ";" if text.partition("\n")[0].count(";") > 1 else ","  # as some spreadsheets save it
    for line, row in enumerate(csv.DictReader(text.splitlines(keepends=True), delimiter=separator), start=1):
        name, told, points = (str(row.get(key) or "").strip() for key in ("question", "code", "points"))
        if not points:
            continue
        if (name, told) not in known:
            raise ValueError(f"{path}, row {line}: no answer to {name} has the code {told} (was it handed in anew?)")
        try:
            number = float(points.replace(",", "."))
        except ValueError:
            number = math.nan
        if not 0 <= number <= most[name]:
            raise ValueError(f"{path}, row {line}: points of {name} go from 0 to {most[name]}: {points!r}")
        known[name, told].hand[name] = number
        known[name, told].comments[name] = row.get("comment") or ""


def points_table(reports: Sequence[Report], assignment: Assignment) -> list[list[str]]:
    """A row for each submission, under a heading."""
    names = [question.name for question in assignment.graded]
    table = [["student", "points", "of", *names, "waiting for a reader", "note"]]
    for report in reports:
        waiting = " ".join(question.name for question in report.waiting)
        note = " ".join([report.submission.problem, *report.submission.notes]).strip()
        points = [f"{report.earned[name]:g}" if name in report.earned else "" for name in names]
        student = no_formula(visible(report.submission.student))
        table.append([student, f"{report.points:g}", str(assignment.points), *points, waiting, no_formula(note)])
    return table


def mistakes_table(reports: Sequence[Report]) -> list[list[str]]:
    """How the class did on every part, and what it was told most often. It has no names."""
    table = [["question", "part", "points", "right", "of", "told", "students"]]
    read = [report for report in reports if not report.submission.problem]
    for at, question in enumerate(read[0].assignment.questions if read else ()):
        for place, part in enumerate(question.parts):
            results = [report.graded[at].results[place] for report in read]
            start = [question.name, part.title, str(part.points), str(sum(r.earned > 0 for r in results))]
            told = Counter(result.sentence for result in results if not result.earned).most_common()
            table += [
                [*start, str(len(read)), no_formula(visible(sentence)), str(count)] for sentence, count in told
            ] or [[*start, str(len(read)), "", ""]]
    return table


def page_of(report: Report, folder: Path) -> Path:
    """Where a student's page goes: to the place and name of the notebook, so that a platform knows whose it is."""
    place = report.submission.path.relative_to(folder)
    return place.with_suffix(".html") if place.suffix.lower() == ".ipynb" else place / "feedback.html"


def write(output: Path, reports: Sequence[Report], folder: Path, run: dict[str, Any], secret: bytes) -> Path | None:
    """Write all that grading leaves of a folder of submissions; where earlier grades were moved to, if there were any.

    All is written beside first: where that fails, the old grades stand.
    """
    assignment = reports[0].assignment
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["visible"] = lambda text: visible(text, keep="\n\t")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".grades-", dir=output.parent) as beside:
        new = Path(beside) / "new"
        for report in reports:
            path = new / "feedback" / page_of(report, folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            page = environment.get_template("feedback.html").render(report=report, assignment=assignment, run=run)
            path.write_text(page, encoding="utf-8", errors=NOT_TEXT)
        tables = {"grades.csv": points_table(reports, assignment), "mistakes.csv": mistakes_table(reports)}
        if assignment.hand_graded:
            told = in_words(secret, reports)
            page = environment.get_template("reading.html").render(
                assignment=assignment, rubrics=rubrics(assignment), answers=told
            )
            (new / "reading.html").write_text(page, encoding="utf-8", errors=NOT_TEXT)
            most = {question.name: str(question.points) for question in assignment.hand_graded}
            tables["marking.csv"] = [MARKING] + [
                [
                    *(name_of, name, most[name], f"{one.hand[name]:g}" if name in one.hand else ""),
                    *(no_formula(one.comments.get(name, "")), no_formula(visible(one.words(name), keep="\n"))),
                ]
                for name, answers in told.items()
                for name_of, one in answers
            ]
        for name, table in tables.items():
            with (new / name).open("w", newline="", encoding="utf-8", errors=NOT_TEXT) as file:
                csv.writer(file).writerows(table)
        (new / RECORD).write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")
        earlier = None
        if output.exists():
            number = next(n for n in range(1, 10**6) if not Path(f"{output}-{n}").exists())
            earlier = output.rename(f"{output}-{number}")
        shutil.move(new, output)
    return earlier

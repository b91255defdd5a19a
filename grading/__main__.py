"""Grade a folder of submissions: a table, and a page of feedback for each student.

python -m grading SUBMISSIONS [--assignment N] [--output FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import hmac
import math
import os
import platform
import secrets
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tqdm import tqdm

from grading import report as reports
from grading.grade import NUMBERS, Report, assignment, grade, packages
from grading.sandbox import Limits, NoSandbox, Worker
from grading.sources import imports_of
from grading.submission import Submission, find, read
from posenc.check._question import Assignment

KEY = Path(__file__).resolve().parent / "key"


def key() -> bytes:
    """The secret of this grader's inputs: made once, readable by its owner alone, and never committed."""
    if not KEY.exists():
        with os.fdopen(os.open(KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32) + "\n")
        print(f"Made {KEY}: inputs are drawn from it. Keep it to yourself, and keep it for appeals.")
    secret = KEY.read_bytes().strip()
    if len(secret) < 32:
        raise ValueError(f"{KEY} holds no secret of 32 characters or more: remove it, and a new one is made")
    return secret


def submissions(folder: Path) -> list[Submission]:
    """Every submission in a folder. Raises ValueError where there is none."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: name the folder of submissions")
    found = []
    for path, student in find(folder):
        empty = Submission(student, folder / student, problem="There is no notebook in the folder.")
        found.append(read(path, student) if path else empty)
    if not any(submission.path.is_file() for submission in found):
        raise ValueError(f"there is no notebook (.ipynb) in {folder}")
    others = sorted(path.name for path in folder.iterdir() if path.is_file() and path.suffix != ".ipynb")
    if others:
        print(f"Left out, as they are no notebooks: {', '.join(others)}")
    return found


def number_of(found: list[Submission]) -> int:
    """The assignment that most submissions name. Raises ValueError where none names one."""
    named = Counter(submission.assignment for submission in found if submission.assignment in NUMBERS)
    if not named:
        raise ValueError("no submission says which assignment it is: add --assignment N")
    return int(named.most_common(1)[0][0] or 0)


def hand_grades(path: Path, given: Assignment) -> dict[tuple[str, str], tuple[float, str]]:
    """Points and comments by student and question, from a table with the columns student, question, points, comment."""
    most = {question.name: question.points for question in given.hand_graded}
    grades = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        table = csv.DictReader(file)
        if not {"student", "question", "points"} <= set(table.fieldnames or ()):
            raise ValueError(f"{path} needs the columns student, question and points (and may have comment)")
        for line, row in enumerate(table, start=2):
            name = row["question"]
            if name not in most:
                raise ValueError(f"{path}, line {line}: {name!r} is no question graded by hand: {', '.join(most)}")
            try:
                points = float(row["points"])
            except ValueError:
                points = math.nan
            if not 0 <= points <= most[name]:
                raise ValueError(f"{path}, line {line}: points of {name} go from 0 to {most[name]}: {row['points']!r}")
            grades[row["student"], name] = points, row.get("comment") or ""
    return grades


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m grading", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("submissions", type=Path, help="a folder of notebooks, or of a folder for each student")
    add("--assignment", type=int, choices=NUMBERS, help="which one; else the one that most notebooks name")
    add("--output", type=Path, default=Path("grades"), help="where grades.csv and feedback/ go (default: grades)")
    add("--timeout", type=float, default=10.0, metavar="SECONDS", help="for one check (default: 10)")
    add("--memory", type=int, default=2048, metavar="MIB", help="for one check (default: 2048)")
    add("--seed", default="", help="the name of an earlier run, to draw its inputs again")
    add("--hand-grades", type=Path, metavar="FILE", help="a table of student, question, points, comment")
    add("--workers", type=int, default=os.cpu_count() or 1, help="submissions at a time")
    add("--unsafe", action="store_true", help="run submissions WITHOUT a sandbox, and mark the output so")
    chosen = parser.parse_args()
    for name, value, least in (("timeout", chosen.timeout, 0.1), ("memory", chosen.memory, 64)):
        if not value >= least:
            parser.error(f"--{name} {value}: at least {least}")
    if chosen.workers < 1:
        parser.error(f"--workers {chosen.workers}: at least 1")
    return chosen


def run(chosen: argparse.Namespace) -> Path:
    """Grade, and write what came of it. Raises ValueError or NoSandbox before anything is graded."""
    found = submissions(chosen.submissions)
    given = assignment(chosen.assignment or number_of(found))
    by_hand = hand_grades(chosen.hand_grades, given) if chosen.hand_grades else {}
    if strangers := {student for student, _ in by_hand} - {submission.student for submission in found}:
        raise ValueError(f"{chosen.hand_grades} names students who handed in nothing: {', '.join(sorted(strangers))}")
    seed = chosen.seed or secrets.token_hex(8)
    secret = hmac.new(key(), seed.encode(), "sha256").hexdigest()
    limits = Limits(chosen.timeout, chosen.memory * 2**20)
    imports = imports_of(given.number)
    with Worker(packages(given), imports, limits, chosen.unsafe) as worker:
        worker.start()  # says at once, and before any submission, where there is no sandbox
    if chosen.unsafe:
        print("WARNING: --unsafe runs submissions without a sandbox, with your rights.", file=sys.stderr)
    bar = tqdm(total=len(found), unit=" submissions", file=sys.stderr)
    lock = threading.Lock()

    def one(submission: Submission) -> Report:
        try:
            report = grade(submission, given, imports, secret, limits, chosen.unsafe)
        except Exception as error:  # of this submission alone: all others are graded
            submission.problem = f"It could not be graded ({type(error).__name__}): grade it again."
            report = grade(submission, given, imports, secret, limits, chosen.unsafe)
        for question in given.hand_graded:
            if (submission.student, question.name) in by_hand:
                points, comment = by_hand[submission.student, question.name]
                report.hand[question.name], report.comments[question.name] = points, comment
        with lock:
            bar.update()
        return report

    with bar, ThreadPoolExecutor(chosen.workers) as pool:
        graded = list(pool.map(one, found))
    reports.write(
        chosen.output,
        graded,
        given,
        {
            **{"seed": seed, "assignment": given.number, "title": given.title, "unsafe": chosen.unsafe},
            **{"submissions": len(found), "timeout": chosen.timeout, "memory_mib": chosen.memory},
            **{"time": datetime.now(UTC).isoformat(timespec="seconds"), "python": platform.python_version()},
            **{"versions": {name: version(name) for name in ("posenc", "numpy", "torch")}},
            "seconds": {report.submission.student: round(report.seconds, 2) for report in graded},
        },
    )
    print(f"Graded {len(found)} submissions of assignment {given.number}: {chosen.output / 'grades.csv'}")
    print(f"Feedback pages: {chosen.output / 'feedback'}. The run's name, for appeals: {seed}")
    return Path(chosen.output)


def main() -> None:
    """Grade, or say in one line why not."""
    chosen = arguments()
    try:
        run(chosen)
    except (NoSandbox, ValueError, OSError) as error:
        sys.exit(f"Not graded. {error}")


if __name__ == "__main__":
    main()

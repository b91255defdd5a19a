"""Grade a folder of submissions: a table of points, and a page of feedback for each student.

python -m course SUBMISSIONS [--assignment N] [--output FOLDER] [--marks FILE]
"""

from __future__ import annotations

import argparse
import hmac
import json
import os
import secrets
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tqdm import tqdm

from course import report as reports
from course.grade import NUMBERS, Report, assignment, grade, imports_of, packages
from course.sandbox import Limits, NoSandbox, Worker
from course.submission import Submission, find, one_of
from course.words import some, visible

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


def keyed(seed: str) -> str:
    """What inputs are drawn from: a run's name, with this grader's secret."""
    return hmac.new(key(), seed.encode(), "sha256").hexdigest()


def number_of(found: list[Submission]) -> int:
    """The assignment that most students name. Raises ValueError where none does, or two are named as often."""
    named = Counter(one.assignment for one in found if one.assignment in NUMBERS)
    if not named:
        raise ValueError("no submission says which assignment it is: add --assignment N")
    (number, most), *others = named.most_common()
    if others and others[0][1] == most:
        raise ValueError(
            f"assignments {number} and {others[0][0]} are named by {most} students each: add --assignment N"
        )
    return int(number or 0)


def submissions(folder: Path, number: int | None) -> list[Submission]:
    """What each student in a folder handed in for an assignment, or for the one that most of them name."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: name the folder of submissions")
    theirs = list(find(folder))
    if not any(paths for _, paths in theirs):
        raise ValueError(f"there is no notebook (.ipynb) in {folder}")
    number = number or number_of([one_of(folder, student, paths) for student, paths in theirs])
    return [one_of(folder, student, paths, number) for student, paths in theirs]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m course", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("submissions", type=Path, help="a folder of notebooks, or of a folder for each student")
    add("--assignment", type=int, choices=NUMBERS, help="which one; else the one that most notebooks name")
    add("--output", type=Path, metavar="FOLDER", help="where the results go (grades/assignment_N)")
    add("--marks", type=Path, metavar="FILE", help="marking.csv, filled in")
    add("--seed", default="", help="the name of an earlier run, to draw its inputs again; with --marks the last one's")
    add("--timeout", type=float, default=10.0, metavar="SECONDS", help="for one check (default: 10)")
    add("--memory", type=int, default=2048, metavar="MIB", help="for one check (default: 2048)")
    add("--workers", type=int, default=os.cpu_count() or 1, help="submissions at a time")
    chosen = parser.parse_args()
    for name, value, least in (("timeout", chosen.timeout, 0.1), ("memory", chosen.memory, 64)):
        if not value >= least:
            parser.error(f"--{name} {value}: at least {least}")
    return chosen


def seed_of(output: Path) -> str:
    """The name of the run whose grades a folder holds; empty where it holds none."""
    try:
        return str(json.loads((output / reports.RECORD).read_text(encoding="utf-8"))["seed"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def run(chosen: argparse.Namespace) -> None:
    """Grade, and write what came of it. Raises ValueError or NoSandbox where nothing can be graded."""
    folder = chosen.submissions
    found = submissions(folder, chosen.assignment)
    number = chosen.assignment or number_of(found)
    given, imports = assignment(number), imports_of(number)
    output = chosen.output or Path("grades") / f"assignment_{number}"
    if output.exists() and not (output / reports.RECORD).is_file() and (not output.is_dir() or any(output.iterdir())):
        raise ValueError(f"{output} holds something else than grades: name another folder with --output")
    seed = chosen.seed or (chosen.marks and seed_of(output)) or secrets.token_hex(8)
    secret = keyed(seed)
    limits = Limits(chosen.timeout, chosen.memory * 2**20)
    with Worker(packages(given), imports, limits) as worker:
        worker.start()  # says at once, and before any submission, where there is no sandbox
    bar = tqdm(total=len(found), unit=" submissions", file=sys.stderr)

    def one(submission: Submission) -> Report:
        try:
            report = grade(submission, given, imports, secret, limits)
        except Exception:  # the machine's, perhaps, and not the submission's: once more, in a new sandbox
            try:
                report = grade(submission, given, imports, secret, limits)
            except Exception as error:  # of this submission alone: all others are graded
                submission.problem = f"It could not be graded ({type(error).__name__}): grade it again."
                report = grade(submission, given, imports, secret, limits)
        bar.update()
        return report

    with bar, ThreadPoolExecutor(max(1, chosen.workers)) as pool:
        graded = list(pool.map(one, found))
    if chosen.marks:
        reports.read_marks(chosen.marks, key(), graded)
    record = {
        **{"seed": seed, "assignment": number, "title": given.title, "submissions": len(found)},
        **{"timeout": chosen.timeout, "memory_mib": chosen.memory},
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {name: version(name) for name in ("posenc", "numpy", "torch")},
        "seconds": {one.submission.student: round(one.seconds, 2) for one in graded},
    }
    earlier = reports.write(output, graded, folder, record, key())
    print(f"Graded {len(found)} submissions of assignment {number}: {output / 'grades.csv'}")
    if earlier:
        print(f"The grades that were there are now in {earlier}")
    if problems := [one.submission.student for one in graded if one.submission.problem]:
        print(f"Not graded, for the reason in the column note: {some([visible(name) for name in problems])}")
    if waiting := sum(bool(report.waiting) for report in graded):
        print(f"Waiting for a reader: {waiting}. Read reading.html, fill in marking.csv, and add --marks marking.csv")
    print(f"Pages for students: {output / 'feedback'}. The run's name, for appeals: {seed}")


def main() -> None:
    """Grade, or say in one line why not."""
    chosen = arguments()
    try:
        run(chosen)
    except (NoSandbox, ValueError, OSError) as error:
        sys.exit(visible(f"Not graded. {error}", keep="\n"))


if __name__ == "__main__":
    main()

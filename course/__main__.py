"""Grade a folder of submissions: a table, and a page of feedback for each student.

python -m course SUBMISSIONS [--assignment N] [--output FOLDER]
"""

from __future__ import annotations

import argparse
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

from course import platforms
from course import report as reports
from course.grade import NUMBERS, Report, assignment, grade, packages
from course.question import Assignment
from course.roster import (
    ABSENT,
    METADATA,
    Deadline,
    Person,
    Times,
    arrange,
    handed_in,
    load,
    moment,
    rows_of,
    used_before,
)
from course.sandbox import Limits, NoSandbox, Worker
from course.sources import imports_of
from course.submission import Submission, find, read
from course.words import name_shown, no_formula, some, visible

MOST_TRIES = 3  # notebooks of one student that are graded
MOST_READ = 100  # that are read, and compared with one another
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


def handle(student: str) -> str:
    """What a student is called where no names are to stand: the same in every run of this grader."""
    return f"model-{keyed(f'handle {student}')[:6]}"


def submissions(folder: Path) -> list[list[Submission]]:
    """The notebooks of every student in a folder of submissions. Raises ValueError where there is none."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: name the folder of submissions")
    found = list(find(folder))
    if not any(paths for _, paths in found):
        raise ValueError(f"there is no notebook (.ipynb) in {folder}")
    others = {name for name in os.listdir(folder) if os.path.isfile(folder / name)} - {METADATA}
    if others := {name for name in others if not name.lower().endswith(".ipynb")}:
        print(f"Left out, as they are no notebooks: {some([visible(name) for name in sorted(others)])}")
    return [held(folder, student, paths) for student, paths in found]


def held(folder: Path, student: str, paths: list[Path]) -> list[Submission]:
    """A student's notebooks, read; one that says why, where there is none or where there are too many to read."""
    if not paths:
        return [nothing(folder, student)]
    if len(paths) > MOST_READ:
        return [too_many(Submission(student, paths[0]), len(paths))]
    return [read(path, student) for path in paths]


def too_many(one: Submission, count: int) -> Submission:
    """One of several notebooks, with the problem that there are so many."""
    one.problem = (
        f"There are {count} notebooks of this student, and none was graded: leave the one that counts. "
        f"Up to {MOST_TRIES} are graded, and the best counts."
    )
    return one


def nothing(folder: Path, student: str) -> Submission:
    """What stands for a student's folder without a notebook, with a note on what is there instead."""
    place = next((path for path in folder.iterdir() if name_shown(path.name) == student), folder / student)
    try:
        held = some([visible(name) for name in sorted(os.listdir(place))])
        what = f"holds {held}" if held else "is empty"
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
    return Submission(student, place, problem="There is no notebook (.ipynb) in the folder.", notes=[f"It {what}."])


def number_of(found: list[list[Submission]]) -> int:
    """The assignment that most students name. Raises ValueError where none does, or two are named as often."""
    each = ({one.assignment for one in theirs} for theirs in found)  # whoever hands in many notebooks has one vote
    named = Counter(number for numbers in each for number in numbers if number in NUMBERS)
    if not named:
        raise ValueError("no submission says which assignment it is: add --assignment N")
    (number, most), *others = named.most_common()
    if others and others[0][1] == most:
        raise ValueError(
            f"assignments {number} and {others[0][0]} are named by {most} students each: add --assignment N"
        )
    return int(number or 0)


def place_of(one: Submission, folder: Path) -> str:
    """How a note calls one of several notebooks."""
    return visible(one.path.relative_to(folder).as_posix())


def why_not(one: Submission) -> str:
    """Why a notebook beside others is not graded."""
    if one.problem:
        return "it cannot be read"
    return "it names no assignment" if one.assignment is None else f"assignment {one.assignment}"


def tries(theirs: list[Submission], number: int, folder: Path, times: Times, latest: bool = False) -> list[Submission]:
    """Of a student's notebooks those that are graded, with a note on any other. Mostly there is one, and it is.

    Raises ValueError where the latest counts and it is not known which one that is.
    """
    right = [one for one in theirs if one.assignment == number]
    right = right or [one for one in theirs if one.assignment is None and not one.problem] or theirs[:1]
    if times.files:  # of two that are alike the earlier counts
        right.sort(key=lambda one: when.timestamp() if (when := times.of(one, folder)) else math.inf)
    chosen: list[Submission] = []
    for one in right:
        if (one.cells, one.prose) not in [(other.cells, other.prose) for other in chosen]:
            chosen.append(one)
    for name in {name for one in right for name in one.hints}:  # a hint that is seen is seen, whichever notebook counts
        for one in chosen:
            one.hints[name] = max(other.hints.get(name, 0) for other in right)
    first = chosen[0]
    left = [f"{place_of(one, folder)} ({why_not(one)})" for one in theirs if all(one is not other for other in right)]
    if left and not first.problem and first.assignment in (number, None):
        for one in chosen:
            one.notes.append(f"Not graded: {some(left)}.")
    if latest and len(chosen) > 1:
        of_files = {one.path.relative_to(folder).as_posix(): one for one in chosen}
        if unknown := [name for name in of_files if name not in times.files]:
            raise ValueError(f"the latest notebook counts, and no time is given for the file {visible(unknown[0])}")
        last = of_files[max(of_files, key=lambda name: times.files[name])]
        last.notes.append(
            f"{len(chosen)} notebooks of this student: {place_of(last, folder)} is the latest, and counts."
        )
        return [last]
    if len(chosen) > MOST_TRIES:
        first.notes.append(f"They are {some([place_of(one, folder) for one in chosen])}.")
        return [too_many(first, len(chosen))]
    return chosen


def best(graded: list[Report], folder: Path) -> Report:
    """The one with the most points of a student's notebooks, with a note on all of them."""
    report = max(graded, key=lambda report: report.points)
    if len(graded) > 1:
        points = ", ".join(f"{place_of(one.submission, folder)} {reports.number(one.points)}" for one in graded)
        counts = place_of(report.submission, folder)
        report.submission.notes.insert(
            0, f"{len(graded)} notebooks of this student ({points} points): {counts} counts."
        )
    return report


def hand_grades(path: Path, given: Assignment) -> dict[tuple[str, str], tuple[float, str]]:
    """Points and comments by student and question, from a table with the columns student, question, points, comment."""
    most = {question.name: question.points for question in given.hand_graded}
    grades = {}
    columns, table = rows_of(path)
    if not {"student", "question", "points"} <= set(columns):
        raise ValueError(f"{path} needs the columns student, question and points (and may have comment)")
    for line, row in enumerate(table, start=2):
        name = row["question"]
        if name not in most:
            raise ValueError(
                f"{path}, line {line}: {name!r} is no question graded by hand: {', '.join(most) or 'none is'}"
            )
        try:
            points = float(row["points"])
        except (TypeError, ValueError):
            points = math.nan
        if not 0 <= points <= most[name]:
            raise ValueError(f"{path}, line {line}: points of {name} go from 0 to {most[name]}: {row['points']!r}")
        grades[row["student"], name] = points, row.get("comment") or ""
    return grades


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m course", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("submissions", type=Path, help="a folder of notebooks, or of a folder for each student")
    add("--assignment", type=int, choices=NUMBERS, help="which one; else the one that most notebooks name")
    add("--output", type=Path, metavar="FOLDER", help="where grades.csv and feedback/ go (grades/assignment_N)")
    add("--timeout", type=float, default=10.0, metavar="SECONDS", help="for one check (default: 10)")
    add("--memory", type=int, default=2048, metavar="MIB", help="for one check (default: 2048)")
    add("--seed", default="", help="the name of an earlier run, to draw its inputs again")
    add("--hand-grades", type=Path, metavar="FILE", help="a table of student, question, points, comment")
    add("--hint-price", type=float, default=0.0, metavar="POINTS", help="taken off for each hint (default: 0)")
    add(
        "--roster",
        type=Path,
        metavar="FILE",
        help="who is in the class: a table as Canvas, Moodle or Gradescope has it",
    )
    add("--column", default="", help="the heading of the grades in Canvas and Moodle (default: the assignment's title)")
    add("--handed-in", type=Path, metavar="FILE", help="when it was handed in: a table of file or student, and time")
    add("--deadline", default="", metavar="TIME", help="such as 2026-03-01T23:59+01:00; needs --handed-in")
    add("--free-days", type=int, default=0, metavar="N", help="late days that cost nothing (default: 0)")
    add("--term-days", type=int, metavar="N", help="instead: late days that cost nothing in the whole term")
    add(
        "--price",
        type=float,
        default=0.0,
        metavar="PERCENT",
        help="of all points, for each other late day (default: 0)",
    )
    add("--attempts", choices=("best", "latest"), default="best", help="of several notebooks (default: best)")
    add("--workers", type=int, default=os.cpu_count() or 1, help="submissions at a time")
    add("--unsafe", action="store_true", help="run submissions WITHOUT a sandbox, and mark the output so")
    chosen = parser.parse_args()
    for name, value, least in (("timeout", chosen.timeout, 0.1), ("memory", chosen.memory, 64)):
        if not value >= least:
            parser.error(f"--{name} {value}: at least {least}")
    if not 0 <= chosen.hint_price < math.inf:
        parser.error(f"--hint-price {chosen.hint_price}: a number of points, 0 or more")
    if chosen.workers < 1:
        parser.error(f"--workers {chosen.workers}: at least 1")
    for name, days in (("free-days", chosen.free_days), ("term-days", chosen.term_days or 0)):
        if days < 0:
            parser.error(f"--{name} {days}: at least 0")
    if chosen.free_days and chosen.term_days is not None:
        parser.error("--free-days are for each assignment, and --term-days for the whole term: name one of them")
    if not 0 <= chosen.price <= 100:
        parser.error(f"--price {chosen.price}: from 0 to 100")
    if (chosen.deadline or chosen.attempts == "latest") and not chosen.handed_in:
        parser.error(
            "name a table of times with --handed-in: the times of the files say when they were copied or unpacked, "
            "and anybody can set them"
        )
    term = chosen.term_days is not None
    for name, given, needed in (
        ("free-days", chosen.free_days, "deadline"),
        ("term-days", term, "deadline"),
        ("term-days", term, "roster"),
        ("price", chosen.price, "deadline"),
        ("column", chosen.column, "roster"),
    ):
        if given and not getattr(chosen, needed):
            parser.error(f"--{name} needs --{needed}")
    try:
        chosen.deadline = moment(chosen.deadline) if chosen.deadline else None
    except ValueError as error:
        parser.error(f"--deadline: {error}")
    return chosen


def run(chosen: argparse.Namespace) -> Path:
    """Grade, and write what came of it. Raises ValueError or NoSandbox before anything is graded."""
    folder = chosen.submissions
    found = submissions(folder)
    given = assignment(chosen.assignment or number_of(found))
    output = chosen.output or Path("grades") / f"assignment_{given.number}"
    reports.may_hold(output, given.number)
    roster = load(chosen.roster) if chosen.roster else None
    everybody: list[tuple[Person | None, list[Submission]]] = [(None, theirs) for theirs in found]
    if roster:
        everybody = arrange(found, roster, folder)
    times, unknown = Times(), list[str]()
    if chosen.handed_in:
        times, unknown = handed_in(chosen.handed_in, everybody, folder, roster)
    deadline = Deadline(chosen.deadline, chosen.free_days, chosen.price) if chosen.deadline else None
    used: Counter[Person] = Counter()
    if roster and chosen.deadline and chosen.term_days is not None:
        records = [reports.recorded(beside) for beside in sorted(output.resolve().parent.glob("*/"))]
        used, strangers = used_before(records, given.number, chosen.deadline, roster)
        if strangers:
            print(f"Free days were used before by who is not on this roster: {some(sorted(strangers))}")
    counted = [
        (person, tries(theirs, given.number, folder, times, chosen.attempts == "latest"))
        for person, theirs in everybody
    ]
    students = {theirs[0].student for _, theirs in everybody}
    by_hand = {}
    as_written = {no_formula(student): student for student in students} | {student: student for student in students}
    for (name, question), points in (hand_grades(chosen.hand_grades, given) if chosen.hand_grades else {}).items():
        by_hand[as_written.get(name, name), question] = points
    if strangers := {student for student, _ in by_hand} - students:
        raise ValueError(f"{chosen.hand_grades} names students who handed in nothing: {', '.join(sorted(strangers))}")
    seed = chosen.seed or secrets.token_hex(8)
    secret = keyed(seed)
    limits = Limits(chosen.timeout, chosen.memory * 2**20)
    imports = imports_of(given.number)
    with Worker(packages(given), imports, limits, chosen.unsafe) as worker:
        worker.start()  # says at once, and before any submission, where there is no sandbox
    if chosen.unsafe:
        print("WARNING: --unsafe runs submissions without a sandbox, with your rights.", file=sys.stderr)
    bar = tqdm(total=len(counted), unit=" submissions", file=sys.stderr)
    lock = threading.Lock()

    def one(submission: Submission) -> Report:
        try:
            return grade(submission, given, imports, secret, limits, chosen.unsafe, chosen.hint_price)
        except Exception as error:  # of this submission alone: all others are graded
            submission.problem = f"It could not be graded ({type(error).__name__}): grade it again."
            return grade(submission, given, imports, secret, limits, chosen.unsafe)

    def in_class(report: Report, person: Person | None) -> Report:
        """The report, with what lateness takes off, and a note where somebody is not on the roster."""
        submission = report.submission
        if roster and not person:
            submission.notes.append("Not on the roster.")
        report.handed_in = None if submission.problem == ABSENT else times.of(submission, folder)
        if deadline and report.handed_in:
            report.lateness = report.handed_in - deadline.at
            free = person.free_days if person else None
            if person and chosen.term_days is not None:
                free = max(0, (chosen.term_days if free is None else free) - used[person])
            report.taken, report.late, report.free_days = deadline.taken(
                report.handed_in, given.points, free, term=person is not None and chosen.term_days is not None
            )
        if deadline and not report.handed_in and submission.problem != ABSENT:
            report.late = "It is not known when it was handed in: nothing was taken off."
        submission.notes += [report.late] * bool(report.late)
        return report

    def the_best(theirs: tuple[Person | None, list[Submission]]) -> Report:
        person, held = theirs
        report = best([in_class(one(submission), person) for submission in held], folder)
        report.handle = handle(report.submission.student)
        for question in given.hand_graded:
            if (report.submission.student, question.name) in by_hand:
                points, comment = by_hand[report.submission.student, question.name]
                report.hand[question.name], report.comments[question.name] = points, comment
        with lock:
            bar.update()
        return report

    with bar, ThreadPoolExecutor(chosen.workers) as pool:
        graded = list(pool.map(the_best, counted))
    forms: dict[str, platforms.Table] = {}
    if roster:
        on_it = [(person, report) for (person, _), report in zip(counted, graded, strict=True) if person]
        forms = platforms.forms(on_it, given, roster, chosen.column)
    replaced = reports.write(
        output,
        graded,
        given,
        {
            **{"seed": seed, "assignment": given.number, "title": given.title, "unsafe": chosen.unsafe},
            **{"submissions": len(found), "timeout": chosen.timeout, "memory_mib": chosen.memory},
            "hint_price": chosen.hint_price,
            **{"time": datetime.now(UTC).isoformat(timespec="seconds"), "python": platform.python_version()},
            **{"versions": {name: version(name) for name in ("posenc", "numpy", "torch")}},
            "deadline": deadline and deadline.at.isoformat(),
            "free_days": {
                person.called: report.free_days
                for (person, _), report in zip(counted, graded, strict=True)
                if person and report.handed_in
            },
            "seconds": {report.submission.student: round(report.seconds, 2) for report in graded},
        },
        forms,
    )
    print(f"Graded {len(found)} submissions of assignment {given.number}: {output / 'grades.csv'}")
    if replaced:
        print(replaced)
    if roster:
        absent = [report.submission.student for report in graded if report.submission.problem == ABSENT]
        not_on_it = [theirs[0].student for person, theirs in counted if not person]
        print(
            f"On the roster: {len(roster.people)}. Handed in nothing, 0 points: {len(absent)}. {some(absent)}".strip()
        )
        if not_on_it:
            print(f"Not on the roster, and in no form for a platform: {some(not_on_it)}")
        print(f"To import: {', '.join(str(output / reports.FORMS / name) for name in sorted(forms))}")
    if unknown:
        print(f"{chosen.handed_in} has times for what is not here: {some(unknown)}")
    noted = [report for report in graded if report.submission.problem or report.submission.notes]
    if noted:
        print(f"Look at the column note: {len(noted)} of them have one.")
    if waiting := sum(bool(report.waiting) for report in graded):
        print(f"Waiting for a reader: {waiting} of them. Their points come in with --hand-grades.")
    print(f"Feedback pages: {output / 'feedback'}. The run's name, for appeals: {seed}")
    return output


def main() -> None:
    """Grade, or say in one line why not."""
    chosen = arguments()
    try:
        run(chosen)
    except (NoSandbox, ValueError, OSError) as error:
        sys.exit(visible(f"Not graded. {error}", keep="\n"))


if __name__ == "__main__":
    main()

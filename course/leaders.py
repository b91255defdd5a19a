"""Rank the models of assignment 5 by the exam: a block said once, at two, four and eight times the trained length.

    python -m course.leaders SUBMISSIONS [--texts N] [--seed NAME] [--output FILE] [--handles]

Every model gets the same texts, in the sandbox. Its logits must be the trained weights' own, with the speeds and the
attention factor that it returns. It gives no points.
"""

from __future__ import annotations

import argparse
import csv
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tqdm import tqdm

from course.__main__ import handle, keyed, submissions, tries
from course.grade import UNCHECKED, answer_cells, assignment, packages
from course.private.questions.assignment_5 import MODEL, TRAINED, exam, q4
from course.question import generator
from course.roster import ABSENT, Times, arrange, load
from course.sandbox import Limits, NoSandbox, Worker
from course.sources import imports_of
from course.submission import Submission
from course.words import no_formula, visible
from posenc.check import Unanswered, Wrong
from posenc.check._models import given
from posenc.check._views import shares
from posenc.check._wrong import say
from posenc.lab.intervals import Interval, interval

LENGTHS = tuple(times * TRAINED for times in (2, 4, 8))
MOST_ENTRIES = 2**22  # of the scores of one head and all texts of a call


@dataclass
class Sat:
    """How a student's model did: the share right of every text, shape (lengths, texts), and why a length has none."""

    student: str
    right: np.ndarray
    notes: list[str] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Over all texts; it decides the rank."""
        return float(self.right.mean())


def sit(submission: Submission, texts: int, secret: str, limits: Limits) -> Sat:
    """Put the exam to the model of a submission. What fails at one length counts as nothing right there."""
    sat = Sat(submission.student, np.zeros((len(LENGTHS), texts)), [submission.problem] if submission.problem else [])
    weights = given(MODEL)
    with Worker(packages(assignment(5)), imports_of(5), limits) as worker:
        for row, length in zip(sat.right, LENGTHS, strict=True):
            asked = exam(generator(secret, "leaders", length), length, texts).right
            at_once = max(1, MOST_ENTRIES // length**2)
            try:
                cells = answer_cells(q4, submission.cells.get(q4.name, []))
                for start in range(0, texts, at_once):
                    part = slice(start, start + at_once)
                    some = asked | {name: asked[name][part] for name in ("tokens", "targets")}
                    with worker.answers(q4, cells) as functions:
                        row[part] = shares(functions["model"](*weights, some["tokens"]), some)
            except NoSandbox:
                raise
            except Unanswered:
                sat.notes.append(f"{length}: {say('cell.unanswered')}")
            except Wrong as wrong:
                row[:] = 0
                sat.notes.append(f"{length}: {wrong.sentence}")
            except Exception as error:  # of this submission alone: all others are ranked
                row[:] = 0
                sat.notes.append(f"{length}: {UNCHECKED} ({type(error).__name__})")
    return sat


def rows(ranked: Sequence[Sat], handles: bool = False) -> list[list[str]]:
    """The table: a heading, then a row for each student, best first; who cannot be told from the first is marked.

    With `handles` it may be shown to a class: it has no names, and no notes, which may hold the names of files.
    """
    who = "model" if handles else "student"
    table = [["rank", who, "mean", *(f"{length} tokens" for length in LENGTHS), "level with the first"]]
    table[0] += [] if handles else ["note"]
    for rank, sat in enumerate(ranked, start=1):
        by_length = [str(interval(right[None])) for right in sat.right]
        behind: Interval = interval((ranked[0].right - sat.right).reshape(1, -1))
        level = "yes" if behind.includes_zero else "no"
        note = [] if handles else [no_formula(visible("; ".join(sat.notes)))]
        name = handle(sat.student) if handles else no_formula(sat.student)
        table.append([str(rank), name, str(interval(sat.right.reshape(1, -1))), *by_length, level, *note])
    return table


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m course.leaders", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("submissions", type=Path, help="a folder of notebooks, or of a folder for each student")
    add("--texts", type=int, default=32, metavar="N", help="at each length (default: 32)")
    add("--seed", default="", help="the name of an earlier run, to draw its texts again")
    add("--handles", action="store_true", help="no names, but what the page of feedback calls each student's model")
    add("--roster", type=Path, metavar="FILE", help="the roster, if the grades were made with one")
    add("--output", type=Path, metavar="FILE", default=Path("grades") / "leaders.csv", help="the table")
    chosen = parser.parse_args()
    if chosen.texts < 4:
        parser.error(f"--texts {chosen.texts}: at least 4")
    return chosen


def run(chosen: argparse.Namespace) -> None:
    """Rank, and write the table. Raises ValueError or NoSandbox where it cannot."""
    found = submissions(chosen.submissions)
    if chosen.roster:
        arranged = arrange(found, load(chosen.roster), chosen.submissions)
        found = [theirs for _, theirs in arranged if theirs[0].problem != ABSENT]
    seed = chosen.seed or secrets.token_hex(8)
    ranked = []
    for theirs in tqdm(found, unit=" models", file=sys.stderr):
        sat = [sit(one, chosen.texts, keyed(seed), Limits()) for one in tries(theirs, 5, chosen.submissions, Times())]
        ranked.append(max(sat, key=lambda one: one.mean))
    ranked.sort(key=lambda one: one.mean, reverse=True)
    table = rows(ranked, chosen.handles)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    with chosen.output.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        csv.writer(file).writerows(table)
    for row in table:
        cells = [row[0].rjust(4), row[1][:24].ljust(24), *(cell.ljust(18) for cell in row[2:6]), row[6]]
        print("  ".join(cells))
    print(f"The table: {chosen.output}. The run's name: {seed}")


def main() -> None:
    """Rank, or say in one line why not."""
    chosen = arguments()
    try:
        run(chosen)
    except (NoSandbox, ValueError, OSError) as error:
        sys.exit(visible(f"Not ranked. {error}", keep="\n"))


if __name__ == "__main__":
    main()

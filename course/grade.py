"""Grade one submission: every part of every question, each in a fresh child of its own worker in the sandbox."""

from __future__ import annotations

import ast
import importlib
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from course.question import Assignment, Question
from course.sandbox import Limits, NoSandbox, Worker
from course.submission import Submission, without_magics
from posenc.check._question import HandGraded, Part, Result, Unanswered, Wrong
from posenc.check._wrong import say

NUMBERS = (1, 2, 3, 4, 5)
LONGEST = 50_000  # characters of one question's cells
warnings.filterwarnings("ignore", module="<unknown>")  # of a student's text, which is parsed here, line by line
UNCHECKED = "the check could not deal with what it returned"


@dataclass
class Graded:
    """One question's results, and the sentence that holds for all of it where its cell cannot be used."""

    question: Question
    results: list[Result]

    @property
    def earned(self) -> int:
        """The points of the parts that are right."""
        return sum(result.earned for result in self.results)


@dataclass
class Report:
    """One submission's outcome. `hand` holds the points that a person gave, by question; a hint costs `hint_price`.

    `taken` is what lateness takes off, `late` the sentence that says so, `free_days` how many late days cost nothing.
    """

    submission: Submission
    assignment: Assignment
    graded: list[Graded] = field(default_factory=list)
    hand: dict[str, float] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    hint_price: float = 0.0
    handed_in: datetime | None = None
    lateness: timedelta = timedelta(0)
    taken: float = 0.0
    late: str = ""
    free_days: int = 0
    handle: str = ""  # in a table of leaders without names

    @property
    def hints(self) -> dict[str, int]:
        """How many hints were taken, by question, where there are hints and any was."""
        taken = self.submission.hints
        return {question.name: taken[question.name] for question in self.assignment.graded if taken.get(question.name)}

    @property
    def earned(self) -> dict[str, float]:
        """The points of each question that is graded, before its hints are paid."""
        return {graded.question.name: graded.earned for graded in self.graded} | self.hand

    def cost(self, name: str) -> float:
        """What a question's hints cost: no more than it earned."""
        return min(self.hint_price * self.hints.get(name, 0), self.earned.get(name, 0))

    def points_of(self, name: str) -> float:
        """What a question counts; nothing where nobody has graded it."""
        return self.earned.get(name, 0) - self.cost(name)

    @property
    def points_in_time(self) -> float:
        """All points so far, with hints paid; a question that nobody has graded counts nothing."""
        return sum(self.points_of(name) for name in self.earned)

    @property
    def points(self) -> float:
        """The same without what lateness takes off."""
        return max(0.0, self.points_in_time - self.taken)

    def words(self, name: str) -> str:
        """What was written for a question that a person reads: text, or else code."""
        return self.submission.prose.get(name) or "\n\n".join(self.submission.cells.get(name, []))

    @property
    def waiting(self) -> list[HandGraded]:
        """The hand-graded questions that nobody has graded yet; none where nothing could be read."""
        questions = () if self.submission.problem else self.assignment.hand_graded
        return [question for question in questions if question.name not in self.hand]


def questions(number: int) -> Any:
    """The module with an assignment's questions, which students do not have."""
    return importlib.import_module(f"course.private.questions.assignment_{number}")


def assignment(number: int) -> Assignment:
    """The assignment of a number. Raises ValueError for a number that has none."""
    if number not in NUMBERS:
        raise ValueError(f"there is no assignment {number}: there are {', '.join(map(str, NUMBERS))}")
    found = questions(number).ASSIGNMENT
    assert isinstance(found, Assignment)
    return found


def packages(assignment: Assignment) -> tuple[str, ...]:
    """What the worker imports: NumPy, torch, and what a question adds."""
    more = {package for question in assignment.questions for package in question.packages}
    return ("numpy", "torch", *sorted(more))


def for_all(parts: Sequence[Part], sentence: str, answered: bool = True) -> list[Result]:
    """No points for any of the parts, all for one reason."""
    return [Result(part, 0, sentence, answered=answered) for part in parts]


def answer_cells(question: Question, cells: list[str]) -> list[str]:
    """The cells of a question's answer without magics. Raises Wrong where they are missing, too long, or no Python."""
    if not cells:
        raise Wrong(f"its answer cell is missing: the cell named {question.name} is the one graded")
    length = sum(map(len, cells))
    if length > LONGEST:  # to parse a long text takes much time and memory, and here they are ours
        raise Wrong(f"its cell is too long: it may have {LONGEST} characters")
    cells = [without_magics(cell, length) for cell in cells]
    for cell in cells:
        try:
            ast.parse(cell)
        except SyntaxError as error:
            raise Wrong(f"its cell is not Python: SyntaxError in line {error.lineno}") from None
        except (ValueError, RecursionError, MemoryError):
            raise Wrong("its cell is not Python") from None
    return cells


def grade_question(worker: Worker, question: Question, cells: list[str], seed: str) -> list[Result]:
    """The results of a question's parts, each in a fresh child. What fails on loading fails for all of them."""
    try:
        cells = answer_cells(question, cells)
    except Wrong as wrong:
        return for_all(question.parts, wrong.sentence)
    results: list[Result] = []
    for part in question.parts:
        try:
            with worker.answers(question, cells) as functions:
                results.append(question.grade_part(part, question.suited(functions, cells), seed))
        except Unanswered:
            return results + for_all(question.parts[len(results) :], say("cell.unanswered"), answered=False)
        except Wrong as wrong:
            return results + for_all(question.parts[len(results) :], wrong.sentence)
        except NoSandbox:
            raise
        except Exception as error:  # our own check broke on a value: no points for it, and all others are graded
            results.append(Result(part, 0, f"{UNCHECKED} ({type(error).__name__})"))
    return results


def missing(submission: Submission, assignment: Assignment) -> list[str]:
    """Notes that name the questions without a cell, and those whose cell is of the wrong kind."""
    in_words = {question.name for question in assignment.hand_graded}
    names = [question.name for question in assignment.graded]
    absent = [name for name in names if name not in submission.cells and name not in submission.prose]
    if len(absent) == len(names):
        return [f"There is no answer cell ({names[0]} to {names[-1]}): nothing could be graded."]
    notes = [f"There is no cell named {', '.join(absent)}: nothing could be graded there."] if absent else []
    for name in names:
        if name in in_words and name in submission.cells and name not in submission.prose:
            notes.append(f"The cell {name} is code, where words were asked for: a reader sees it as it is.")
        if name not in in_words and name in submission.prose and name not in submission.cells:
            notes.append(f"The cell {name} is text, where code was asked for: nothing could be graded there.")
    return notes


def grade(
    submission: Submission,
    assignment: Assignment,
    imports: str,
    seed: str,
    limits: Limits,
    unsafe: bool = False,
    hint_price: float = 0.0,
) -> Report:
    """Grade a submission. `imports` are the notebook's own import lines; `seed` draws the inputs.

    Raises NoSandbox where the sandbox cannot be had; nothing that a submission does raises.
    """
    report = Report(submission, assignment, hint_price=hint_price)
    start = time.perf_counter()
    if submission.problem or submission.assignment not in (None, assignment.number):
        other = submission.problem or f"This is a notebook of assignment {submission.assignment}."
        submission.problem = other
        report.graded = [Graded(question, for_all(question.parts, other)) for question in assignment.questions]
        return report
    submission.notes += missing(submission, assignment)
    with Worker(packages(assignment), imports, limits, unsafe) as worker:
        for question in assignment.questions:
            results = grade_question(worker, question, submission.cells.get(question.name, []), seed)
            report.graded.append(Graded(question, results))
            broken = [result for result in results if result.sentence.startswith(UNCHECKED)]
            submission.notes += [f"{question.name}, {result.part.title}: {result.sentence}." for result in broken]
    report.seconds = time.perf_counter() - start
    return report

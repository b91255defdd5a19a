"""Grade one submission: every answer runs in the sandbox, and what it gives is compared here."""

from __future__ import annotations

import ast
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course.question import Assignment, Question, questions
from course.sandbox import Limits, NoSandbox, Worker
from course.submission import Submission, source_of, without_magics
from posenc.check._question import HandGraded, Part, Result, TooSlow, Unanswered, Wrong, at_most
from posenc.check._wrong import say

ROOT = Path(__file__).resolve().parents[1]
STUDENT = ROOT / "notebooks" / "assignments"
NUMBERS = (1, 2, 3, 4, 5, 6)
LONGEST = 50_000  # characters of one question's cells
warnings.filterwarnings("ignore", module="<unknown>")  # of a student's text, which is parsed here, line by line
UNCHECKED = "the check could not deal with what it returned"


@dataclass
class Graded:
    """One question's results."""

    question: Question
    results: list[Result]

    @property
    def earned(self) -> int:
        """The points of the parts that are right."""
        return sum(result.earned for result in self.results)


@dataclass
class Report:
    """One submission's outcome. `hand` and `comments` hold what a person gave and said, by question."""

    submission: Submission
    assignment: Assignment
    graded: list[Graded] = field(default_factory=list)
    hand: dict[str, float] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def earned(self) -> dict[str, float]:
        """The points of each question that is graded."""
        return {graded.question.name: graded.earned for graded in self.graded} | self.hand

    @property
    def points(self) -> float:
        """All points so far; a question that nobody has graded counts nothing."""
        return sum(self.earned.values())

    def words(self, name: str) -> str:
        """What was written for a question that a person reads: text, or else code."""
        return self.submission.prose.get(name) or "\n\n".join(self.submission.cells.get(name, []))

    @property
    def waiting(self) -> list[HandGraded]:
        """The hand-graded questions that nobody has graded yet; none where nothing could be read."""
        questions = () if self.submission.problem else self.assignment.hand_graded
        return [question for question in questions if question.name not in self.hand]


def student(number: int) -> Path:
    """The notebook that students get."""
    return STUDENT / f"assignment_{number}.ipynb"


def imports_of(number: int) -> str:
    """The import lines of an assignment's notebook, of its cells `imports` and `imports-torch`."""
    cells = json.loads(student(number).read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(source_of(cell) for cell in cells if cell["id"].startswith("imports"))


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
    """The results of a question's parts, each in a fresh child. After a timeout no other part is tried."""
    try:
        cells = answer_cells(question, cells)
    except Wrong as wrong:
        return for_all(question.parts, wrong.sentence)
    results: list[Result] = []
    for part in question.parts:
        question.drawn(part, seed)  # ours, and kept: its time is not the answer's
        try:
            with worker.answers(question, cells) as functions, at_most(worker.limits.seconds * question.patience):
                results.append(question.grade_part(part, question.suited(functions, cells), seed))
        except Unanswered:
            return results + for_all(question.parts[len(results) :], say("cell.unanswered"), answered=False)
        except Wrong as wrong:
            return results + for_all(question.parts[len(results) :], wrong.sentence)
        except TooSlow:
            return results + for_all(question.parts[len(results) :], say("cell.slow"))
        except NoSandbox:
            raise
        except Exception as error:  # our own check broke on a value: no points for it, and all others are graded
            results.append(Result(part, 0, f"{UNCHECKED} ({type(error).__name__})"))
        if results[-1].kind == "timeout":
            return results + for_all(question.parts[len(results) :], results[-1].sentence)
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
        if name not in in_words and name in submission.prose and name not in submission.cells:
            notes.append(f"The cell {name} is text, where code was asked for: nothing could be graded there.")
    return notes


def grade(
    submission: Submission, assignment: Assignment, imports: str, seed: str, limits: Limits, contained: bool = False
) -> Report:
    """Grade a submission. `imports` are the notebook's own import lines; `seed` draws the inputs.

    Raises NoSandbox where the sandbox cannot be had; nothing that a submission does raises.
    """
    report = Report(submission, assignment)
    start = time.perf_counter()
    if submission.assignment not in (None, assignment.number):
        submission.problem = submission.problem or f"This is a notebook of assignment {submission.assignment}."
    if submission.problem:
        report.graded = [Graded(one, for_all(one.parts, submission.problem)) for one in assignment.questions]
        return report
    notes = missing(submission, assignment)
    with Worker(packages(assignment), imports, limits, contained) as worker:
        for question in assignment.questions:
            results = grade_question(worker, question, submission.cells.get(question.name, []), seed)
            report.graded.append(Graded(question, results))
            broken = [result for result in results if result.sentence.startswith(UNCHECKED)]
            notes += [f"{question.name}, {result.part.title}: {result.sentence}." for result in broken]
    submission.notes += notes  # at the end: grading that breaks off may be tried again
    report.seconds = time.perf_counter() - start
    return report

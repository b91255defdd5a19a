"""Seconds that grading our own solution takes, by question, in the sandbox, with one submission at a time.

    python -m course.tests.seconds [ROUNDS]

The inputs are drawn beforehand, as they are from a class's second submission on. The least of some rounds counts; a
whole submission also starts its worker.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections import defaultdict

from course import sources
from course.grade import NUMBERS, answer_cells, assignment, grade_question, packages
from course.sandbox import Limits, Worker
from course.submission import read


def seconds(number: int, rounds: int) -> dict[str, float]:
    """The least seconds of each question of an assignment, and of all. Raises ValueError where one is not right."""
    given, imports, seed = assignment(number), sources.imports_of(number), secrets.token_hex(8)
    cells = read(sources.path_of(number), "").cells
    taken: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds + 1):  # in the first one inputs are drawn, and what workers are copies of is started
        begun = time.perf_counter()
        with Worker(packages(given), imports, Limits()) as worker:
            worker.start()
            for question in given.questions:
                start = time.perf_counter()
                results = grade_question(worker, question, answer_cells(question, cells[question.name]), seed)
                taken[question.name].append(time.perf_counter() - start)
                if not all(result.earned for result in results):
                    raise ValueError(f"assignment {number}, {question.name}: our own answer is not right: {results}")
        taken["all"].append(time.perf_counter() - begun)
    return {name: min(each[1:]) for name, each in taken.items()}


def main() -> None:
    """Print a row for each assignment."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else 5
    for number in NUMBERS:
        row = "  ".join(f"{name} {value:.2f}" for name, value in seconds(number, rounds).items())
        print(f"assignment {number}, seconds: {row}", flush=True)


if __name__ == "__main__":
    main()

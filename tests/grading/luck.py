"""Whether points depend on the seed: grade every answer of the banks, and every likely mistake, at many seeds.

python -m tests.grading.luck [SEEDS [ASSIGNMENT …]]
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Iterable
from functools import cache

from grading.grade import NUMBERS, assignment
from grading.questions.question import Question
from posenc.check import Result
from tests.grading.test_wrong_answers import bank, functions_of, question


def answers(number: int, asked: Question) -> dict[str, str]:
    """Every answer of a question's bank, by its title."""
    sources = {title: source for title, (_, source) in bank(number).WRONG[asked.name].items()}
    for kind in ("PROPERTY_ONLY", "RIGHT"):
        sources |= {
            f"{title} ({kind})": text for title, text in getattr(bank(number), kind).get(asked.name, {}).items()
        }
    return sources


@cache
def graded(number: int, name: str, source: str, seed: str) -> list[Result]:
    """The results of an answer's cell, graded once at each seed however many tests ask for them."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):  # the answer's own
        return question(number, name).grade(*functions_of(number, name, source), seed=seed)


def lucky(number: int, seeds: Iterable[str]) -> list[str]:
    """The answers to an assignment whose points are not the same at every seed, with what they got."""
    found = []
    seeds = list(seeds)
    for asked in assignment(number).questions:
        for title, source in answers(number, asked).items():
            points = [[result.earned for result in graded(number, asked.name, source, seed)] for seed in seeds]
            for place, part in enumerate(asked.parts):
                if len({each[place] for each in points}) > 1:
                    times = sum(each[place] > 0 for each in points)
                    found.append(
                        f"{number} {asked.name}, {part.title}: {title}: right at {times} of {len(seeds)} seeds"
                    )
    return found


def main() -> None:
    """Print what depends on luck; exit 1 if anything does."""
    count, *chosen = map(int, sys.argv[1:] or ["40"])
    found = [line for number in chosen or NUMBERS for line in lucky(number, map(str, range(count)))]
    print("\n".join(found) or f"Every answer got the same points at {count} seeds.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()

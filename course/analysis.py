"""The class and the questions: points and their spread, how hard a question was, what went wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course.grade import Report
from course.question import Assignment

MOST_BARS = 25
FEWEST = 3  # students, below which nothing can be said of who was told apart


@dataclass(frozen=True)
class Item:
    """A question or a part of one.

    `difficulty` is the share of its points that was earned. `discrimination` is the correlation of its points with all
    others (where it is only right or wrong, Pearson's is the point-biserial one); None where nothing can be said.
    """

    name: str
    title: str
    points: int
    difficulty: float
    discrimination: float | None


@dataclass(frozen=True)
class Asked:
    """A question with its parts, and its mistakes: the sentence, how many made it, and in which parts."""

    item: Item
    parts: tuple[Item, ...] = ()
    mistakes: tuple[tuple[str, int, str], ...] = ()
    unanswered: int = 0


def discrimination(points: np.ndarray, rest: np.ndarray) -> float | None:
    """Pearson's correlation of a question's points, one for each student, with their other points.

    None for fewer than three students, and where all have the same points in one of the two.

    >>> round(discrimination(np.array([0, 0, 1, 1]), np.array([1, 2, 3, 4])), 3)
    0.894
    """
    if len(points) < FEWEST or np.ptp(points) == 0 or np.ptp(rest) == 0:
        return None
    return float(np.corrcoef(points, rest)[0, 1])


def alpha(points: np.ndarray) -> float | None:
    """Cronbach's alpha of points `(students, questions)`: how far the questions rank students alike.

    None for fewer than three students or two questions, and where all have as many points in all.

    >>> round(alpha(np.array([[1, 1], [2, 2], [3, 3]])), 6)
    1.0
    """
    students, questions = points.shape
    if students < FEWEST or questions < 2 or np.ptp(points.sum(axis=1)) == 0:
        return None
    whole = points.sum(axis=1).var(ddof=1)
    return float(questions / (questions - 1) * (1 - points.var(axis=0, ddof=1).sum() / whole))


def _item(name: str, title: str, most: int, points: np.ndarray, all_points: np.ndarray) -> Item:
    return Item(name, title, most, float(points.mean() / most), discrimination(points, all_points - points))


def _bars(points: np.ndarray, most: int) -> list[dict[str, Any]]:
    """A histogram: for each bar the points from which and to which it counts, and how many students."""
    width = math.ceil(most / MOST_BARS)
    places = np.minimum(points // width, most // width).astype(int)
    counts = np.bincount(places, minlength=most // width + 1)
    return [
        {"least": k * width, "most": min(k * width + width - 1, most), "count": int(count)}
        for k, count in enumerate(counts)
    ]


def of(reports: Sequence[Report], assignment: Assignment) -> dict[str, Any]:
    """What the page shows. Questions are judged by the submissions that could be read, and before lateness.

    A question that waits for a reader somewhere is left out, also of the points with which others are compared.
    """
    read = [report for report in reports if not report.submission.problem]
    waiting = {question.name for report in read for question in report.waiting}
    by_hand = [question for question in assignment.hand_graded if question.name not in waiting]
    names = [question.name for question in assignment.questions] + [question.name for question in by_hand]
    earned = np.array(
        [
            [*(graded.earned for graded in report.graded), *(report.hand[question.name] for question in by_hand)]
            for report in read
        ],
        dtype=float,
    ).reshape(len(read), len(names))  # (students, questions)
    whole = earned.sum(axis=1)
    asked = []
    for place, question in enumerate(assignment.questions if read else ()):
        results = [report.graded[place].results for report in read]
        parts = [
            _item(question.name, part.title, part.points, np.array([theirs[k].earned for theirs in results]), whole)
            for k, part in enumerate(question.parts)
        ]
        made: Counter[str] = Counter()
        where: dict[str, Counter[str]] = {}
        for theirs in results:
            wrong = [result for result in theirs if result.answered and not result.earned and result.sentence]
            made.update({result.sentence for result in wrong})
            for result in wrong:
                where.setdefault(result.sentence, Counter())[result.part.title] += 1
        mistakes = [(sentence, count, "; ".join(where[sentence])) for sentence, count in made.most_common()]
        unanswered = sum(not any(result.answered for result in theirs) for theirs in results)
        item = _item(question.name, question.title, question.points, earned[:, place], whole)
        asked.append(Asked(item, tuple(parts), tuple(mistakes), unanswered))
    for place, one in enumerate(by_hand if read else (), start=len(assignment.questions)):
        asked.append(Asked(_item(one.name, one.title, one.points, earned[:, place], whole)))
    points = np.array([report.points for report in read])
    return {
        "assignment": assignment,
        "read": len(read),
        "problems": Counter(report.submission.problem for report in reports if report.submission.problem).most_common(),
        "late": sum(report.taken > 0 for report in read),
        "waiting": sorted(waiting),
        "asked": asked,
        "alpha": alpha(earned),
        "quartiles": np.quantile(points, [0, 0.25, 0.5, 0.75, 1]).tolist() if read else [],
        "mean": points.mean() if read else 0.0,
        "deviation": points.std(ddof=1) if len(read) > 1 else None,
        "bars": _bars(points, assignment.points) if read else [],
    }

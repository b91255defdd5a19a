"""Public checks for the four assignments: ``from posenc.check import assignment_2 as check``, then ``check.q1(f)``.

A check calls your function with a few inputs, compares what comes back with the right values, and says which
likely mistake fits where they differ. Grading runs the same checks on other inputs, outside the notebook.
The classes here are what a question is made of, for those who add one.
"""

from posenc.check._question import (
    Assignment,
    Case,
    HandGraded,
    Mistake,
    Part,
    Question,
    Result,
    Unanswered,
    Wrong,
    compare,
)

__all__ = [
    "Assignment", "Case", "HandGraded", "Mistake", "Part", "Question", "Result", "Unanswered", "Wrong", "compare",
]  # fmt: skip

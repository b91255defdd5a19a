"""Public checks for the assignments: `from posenc.check import assignment_2 as check`, then `check.q1(f)`.

A check calls your function with a few inputs, compares what comes back with the right values, and says which
likely mistake fits where they differ. Inputs and values are recorded: there is no solution in this package. Grading
compares in the same way, with other inputs and outside the notebook.
"""

from posenc.check._question import Assignment, HandGraded, Likely, Part, Question, Result, Trial, compare
from posenc.check._wrong import Unanswered, Wrong

__all__ = [
    "Assignment", "HandGraded", "Likely", "Part", "Question", "Result", "Trial", "Unanswered", "Wrong", "compare",
]  # fmt: skip

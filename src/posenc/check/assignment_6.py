"""Assignment 6, "Train, predict, report": a person reads its answers; `check.q1.hint()` has hints.

Rests on chapters 10, 13, 14 and 15.
"""

from posenc.check._recorded import assignment

ASSIGNMENT = assignment(6)
globals().update({question.name: question for question in ASSIGNMENT.graded})  # q1, q2, …

"""Public checks of assignment 4, "Going long".

`from posenc.check import assignment_4 as check`, then `check.q1(interpolated)`.
Rests on chapters 09, 10, 13 and 15.
"""

from posenc.check._recorded import assignment

ASSIGNMENT = assignment(4)
globals().update({question.name: question for question in ASSIGNMENT.graded})  # q1, q2, …

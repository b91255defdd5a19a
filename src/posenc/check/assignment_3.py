"""Public checks of assignment 3, "Frequencies".

`from posenc.check import assignment_3 as check`, then `check.q1(count_rotations)`. Rests on chapters 07 to 09 and 11.
"""

from posenc.check._recorded import assignment

ASSIGNMENT = assignment(3)
globals().update({question.name: question for question in ASSIGNMENT.graded})  # q1, q2, …

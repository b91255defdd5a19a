"""Public checks of assignment 2, "RoPE".

`from posenc.check import assignment_2 as check`, then `check.q1(rotation)`. Rests on chapters 05 to 07.
"""

from posenc.check._recorded import assignment

ASSIGNMENT = assignment(2)
globals().update({question.name: question for question in ASSIGNMENT.graded})  # q1, q2, …

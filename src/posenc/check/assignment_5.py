"""Public checks of assignment 5, "One model, past its length".

`from posenc.check import assignment_5 as check`, then `check.q1(attend)`. Rests on chapters 05, 07, 10 and 15.
"""

from posenc.check._recorded import assignment

ASSIGNMENT = assignment(5)
globals().update({question.name: question for question in ASSIGNMENT.graded})  # q1, q2, …

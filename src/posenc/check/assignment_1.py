"""Public checks of assignment 1, "Self-attention without order, and sinusoidal encodings".

`from posenc.check import assignment_1 as check`, then `check.q1(attention)`. Rests on chapters 01 to 04.
"""

from posenc.check._recorded import assignment

ASSIGNMENT = assignment(1)
globals().update({question.name: question for question in ASSIGNMENT.graded})  # q1, q2, …

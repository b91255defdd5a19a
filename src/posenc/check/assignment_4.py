"""Public checks of assignment 4, "Going long".

`from posenc.check import assignment_4 as check`, then `check.q1(interpolated)`.
Rests on chapters 09, 10, 13 and 15.
"""

from posenc.check._recorded import assignment

ASSIGNMENT = assignment(4)
q1, q2, q3, q4, q5, q6 = ASSIGNMENT.questions
(q7,) = ASSIGNMENT.hand_graded  # it has hints, and no check

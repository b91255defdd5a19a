"""Assignment 6, "Train, predict, report": a sealed prediction and two reports, which a person reads.

What the points are given for is in rubrics.json, with marked samples.
"""

from __future__ import annotations

from course.question import Assignment, sentences_of
from posenc.check import HandGraded

say = sentences_of(6)

ASSIGNMENT = Assignment(
    6,
    say("assignment.title"),
    (),
    hand_graded=(
        HandGraded(6, "q1", say("assignment.q1"), 3),
        HandGraded(6, "q2", say("assignment.q2"), 9),
        HandGraded(6, "q3", say("assignment.q3"), 8),
    ),
)

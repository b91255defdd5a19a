"""Assignment 6, "Train, predict, report": a sealed prediction and two reports, which a person reads.

What the points are given for is in rubrics.json, with marked samples.
"""

from __future__ import annotations

from course import question
from course.question import Assignment, generator
from posenc.check import HandGraded

VARIANT = {"argparse": question.pick("a6.text", "argparse", "decimal", "tarfile")}
if question.SEED:  # the same prediction has another seal
    VARIANT["sha256("] = f"sha256(b'{generator(question.SEED, 'a6.seal').integers(10**6)}' + "

ASSIGNMENT = Assignment(
    6,
    "Train, predict, report",
    (),
    hand_graded=(
        HandGraded(6, "q1", "Your idea and your prediction", 3),
        HandGraded(6, "q2", "The report", 9),
        HandGraded(6, "q3", "What perplexity hides", 8),
    ),
)

"""Answers to every question, wrong and right: what the tests ask the checks about.

The questions' edits of their solutions are such answers. Beside them, `bank/assignment_N.py` has by question and name
WRONG           (a part of the sentence that names it, or "" where none can; the answer)
PROPERTY_ONLY   an answer that has a property of the right one and nothing else: no point at all
RIGHT           another way to the right answer: every point

An answer is the text of its cell, or changes to the solution's: a text that stands in it once, and what takes its
place, in turn.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import SimpleNamespace
from typing import Any

from course.grade import assignment
from course.question import edited, varied


@cache
def bank(number: int) -> Any:
    """An assignment's answers, by kind, question and name: (sentence, source) of wrong ones, source of others."""

    def source(name: str, *answer: str) -> str:
        return varied(number, answer[0]) if len(answer) == 1 else edited(number, name, *answer)

    own = importlib.import_module(f"course.private.bank.assignment_{number}")
    wrong = {
        name: {title: (sentence, source(name, *answer)) for title, (sentence, *answer) in answers.items()}
        for name, answers in own.WRONG.items()
    }
    for question in assignment(number).questions:
        told = wrong.setdefault(question.name, {})
        for place, edit in enumerate(question.edits):
            title = edit.sentence if edit.sentence not in told else f"{edit.sentence} ({place})"
            told[title] = (edit.sentence, source(question.name, *edit.changes))
    others = {
        kind: {
            name: {
                title: source(name, *([answer] if isinstance(answer, str) else answer))
                for title, answer in answers.items()
            }
            for name, answers in getattr(own, kind).items()
        }
        for kind in ("PROPERTY_ONLY", "RIGHT")
    }
    return SimpleNamespace(WRONG=wrong, **others)

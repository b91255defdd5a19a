"""The recorded assignments, as `course.sources` writes them: inputs, right values and sentences, and no formula."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import Any

from posenc._extras import lab_folder
from posenc.check._plain import decode
from posenc.check._question import Assignment, HandGraded, Likely, Part, Question, Trial


def _part(recorded: Mapping[str, Any]) -> Part:
    trials = tuple(Trial(**trial) for trial in recorded["trials"])
    return Part(**{**recorded, "trials": trials, "likely": tuple(Likely(**likely) for likely in recorded["likely"])})


def assignment(number: int) -> Assignment:
    """The recorded assignment of a number.

    Raises:
        ModuleNotFoundError: posenc-lab, which has the recordings, is not installed.
    """
    content = (lab_folder("recorded") / f"assignment_{number}.gz").read_bytes()
    recorded = decode(gzip.decompress(content))
    questions = tuple(Question(**{**each, "parts": tuple(map(_part, each["parts"]))}) for each in recorded["questions"])
    return Assignment(
        **{**recorded, "questions": questions, "hand_graded": tuple(HandGraded(**h) for h in recorded["hand_graded"])}
    )

"""What the installed package knows of the questions: the public inputs, the right values, and the mistakes' values.

It is plain data, as `posenc.check._recorded` reads it, and holds no formula.
"""

from __future__ import annotations

import gzip
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course.grade import assignment
from posenc import check
from posenc.check._plain import decode, encode
from posenc.check._question import Trial, Wrong, compare

FOLDER = Path(check.__file__).resolve().parent / "recorded"
SHORTER = {"float64": "float32", "complex128": "complex64"}
SAME = 1e-6  # another processor's last digits are no reason to write anew


def path_of(number: int) -> Path:
    """The recording of an assignment."""
    return FOLDER / f"assignment_{number}.gz"


def _short(value: Any) -> Any:
    """A mistake's value in half the digits, which is enough to recognise it, unless they cannot hold it."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_short, value))
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    name = str(getattr(value, "dtype", "")).removeprefix("torch.")
    if name not in SHORTER:
        return value
    if isinstance(value, torch.Tensor):
        short = value.to(getattr(torch, SHORTER[name]))
        return short if torch.equal(short.isfinite(), value.isfinite()) else value
    with np.errstate(over="ignore"):
        short = value.astype(SHORTER[name])
    return short if np.array_equal(np.isfinite(short), np.isfinite(value)) else value


def _told(value: Any) -> Any:
    """Dataclasses as dictionaries of their fields."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_told, value))
    if isinstance(value, dict):
        return {key: _told(item) for key, item in value.items()}
    if not is_dataclass(value):
        return value
    told = {one.name: _told(getattr(value, one.name)) for one in fields(value)}
    return told | {"mistakes": _short(value.mistakes)} if isinstance(value, Trial) else told


def drawn(number: int, imports: str) -> bytes:
    """The recording of an assignment, drawn anew; `imports` are the lines that its notebook begins with."""
    told = _told(assignment(number).public())
    return encode(told | {"questions": [question | {"imports": imports} for question in told["questions"]]})


def is_up_to_date(number: int, imports: str) -> bool:
    """Whether the recording says what is drawn now."""
    if not path_of(number).is_file():
        return False
    try:
        compare(
            decode(gzip.decompress(path_of(number).read_bytes())),
            decode(drawn(number, imports)),
            SAME,
            exact_dtype=True,
        )
    except Wrong:
        return False
    return True


def write(number: int, imports: str) -> None:
    """Record an assignment, unless its recording says the same already."""
    FOLDER.mkdir(exist_ok=True)
    if not is_up_to_date(number, imports):
        path_of(number).write_bytes(gzip.compress(drawn(number, imports), mtime=0))

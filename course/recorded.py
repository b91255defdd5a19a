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
from posenc._extras import lab_folder
from posenc.check._plain import Opaque, decode, encode
from posenc.check._question import Trial, _as_array

FOLDER = lab_folder("recorded")
SHORTER = {"float64": "float32", "complex128": "complex64"}
# How far recorded and recomputed numbers may differ, beside the largest in their array: processors round otherwise.
ROUNDING = {
    **dict.fromkeys(("float16", "bfloat16"), 2e-2),
    **dict.fromkeys(("float32", "complex64"), 1e-4),
    **dict.fromkeys(("float64", "complex128"), 1e-10),
}
NOTHING = 1e-3  # below this, numbers may be what rounding leaves of 0


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


def _as_dictionaries(value: Any) -> Any:
    """Dataclasses as dictionaries of their fields."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_as_dictionaries, value))
    if isinstance(value, dict):
        return {key: _as_dictionaries(item) for key, item in value.items()}
    if not is_dataclass(value):
        return value
    content = {one.name: _as_dictionaries(getattr(value, one.name)) for one in fields(value)}
    return content | {"mistakes": _short(value.mistakes)} if isinstance(value, Trial) else content


def recompute(number: int, imports: str) -> bytes:
    """The recording of an assignment, computed anew; `imports` are the lines that its notebook begins with."""
    content = _as_dictionaries(assignment(number).public())
    return encode(content | {"questions": [question | {"imports": imports} for question in content["questions"]]})


def agree(one: Any, other: Any) -> bool:
    """Whether two pieces of plain data are equal, floats up to the rounding of their dtype."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(agree(one[key], other[key]) for key in one)
    if isinstance(one, Opaque):
        return str(one) == str(other)
    if not isinstance(one, (float, np.ndarray, torch.Tensor)):
        return bool(one == other)
    name = str(getattr(one, "dtype", "float64")).removeprefix("torch.")
    if name != str(getattr(other, "dtype", "float64")).removeprefix("torch."):
        return False
    a, b = _as_array(one), _as_array(other)
    if name not in ROUNDING or a.shape != b.shape:
        return np.array_equal(a, b)
    finite = np.isfinite(a)
    near = np.abs(a[finite] - b[finite]) <= ROUNDING[name] * np.abs(a[finite]).max(initial=NOTHING)
    return np.array_equal(a[~finite], b[~finite], equal_nan=True) and bool(near.all())


def is_up_to_date(number: int, imports: str) -> bool:
    """Whether the recording holds what is computed now."""
    path = path_of(number)
    recording = gzip.decompress(path.read_bytes()) if path.is_file() else encode(None)
    return agree(decode(recording), decode(recompute(number, imports)))


def write(number: int, imports: str) -> None:
    """Record an assignment, unless its recording holds the same already."""
    FOLDER.mkdir(exist_ok=True)
    if not is_up_to_date(number, imports):
        path_of(number).write_bytes(gzip.compress(recompute(number, imports), mtime=0))

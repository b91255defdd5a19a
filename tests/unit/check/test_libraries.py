"""An answer in NumPy where tensors are asked for, and a machine without torch, such as a page."""

import contextlib
import gzip
import io
import linecache
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from posenc._extras import lab_folder
from posenc.check import Part, Question, Trial, _notebook
from posenc.check._alone import NotHere, libraries, namespace
from posenc.check._plain import decode, encode
from posenc.check._wrong import say

pytestmark = pytest.mark.torch
X = torch.tensor([1.0, 4.0], dtype=torch.float64)
QUESTION = Question(
    assignment=1,
    name="q1",
    title="a toy",
    names=("root",),
    parts=(Part("roots", 2, "root", (Trial((X,), X.sqrt()),), tolerance=1e-9),),
    imports="import numpy as np\nimport torch",
    tensors="either",
)
IN_NUMPY = "def root(x):\n    assert isinstance(x, np.ndarray)\n    return np.sqrt(x)"
IN_TORCH = "def root(x):\n    return torch.sqrt(x)"


def defined(cell: str) -> Callable[..., Any]:
    """The function that a notebook's cell defines."""
    file = f"<root {hash(cell)}>"
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np, "torch": torch}
    exec(compile(cell, file, "exec"), names)
    found = names["root"]
    assert callable(found)
    return found


def printed(question: Question, cell: str) -> str:
    """What a question's check prints of a cell."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        question(defined(cell))
    return said.getvalue()


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """No torch, as in a page."""
    monkeypatch.setattr(_notebook, "has_torch", lambda: False)
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.parametrize(
    ("cell", "used"),
    [
        ("import numpy as xp", {"numpy"}),
        ("np.linalg.norm(x), np.fft.fft(x), {}.values(), 'a.b'.split('.')", {"numpy"}),
        ("from torch.nn import functional as F", {"torch"}),
        ("np.sqrt(2) * x.unsqueeze(0)", {"numpy", "torch"}),
        ("x[..., order] + 1", set()),
    ],
)
def test_what_a_cell_uses(cell: str, used: set[str]) -> None:
    assert libraries([cell]) == used


@pytest.mark.parametrize("cell", [IN_NUMPY, IN_TORCH, "def root(x):\n    return x**0.5"])
def test_arrays_and_tensors_are_both_taken(cell: str) -> None:
    assert printed(QUESTION, cell).startswith("q1: 2 of 2 points")
    assert QUESTION.holds(defined(cell))
    np.testing.assert_allclose(QUESTION.on_arrays(defined(cell))(np.array([9.0])), [3.0])


def test_without_torch_numpy_answers_and_torch_is_named(without_torch: None) -> None:
    recorded = decode(encode([np.array([1.0, 4.0]), np.array([1.0, 2.0])]))
    part = replace(QUESTION.parts[0], trials=(Trial((recorded[0],), recorded[1]),))
    question = replace(QUESTION, parts=(part,))
    assert printed(question, IN_NUMPY).startswith("q1: 2 of 2 points")
    assert say("cell.torch") in printed(question, IN_TORCH)
    with pytest.raises(ModuleNotFoundError, match="q1 asks for tensors") as told:
        replace(question, tensors="only").holds(defined(IN_NUMPY))
    assert told.value.name == "torch"
    assert isinstance(namespace(question.allowed, question.imports)["torch"], NotHere)


def test_without_torch_a_recorded_tensor_is_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    message = encode([X, X.to(torch.bfloat16), torch.tensor([3])])
    monkeypatch.setitem(sys.modules, "torch", None)
    for array, right in zip(decode(message), ([1.0, 4.0], [1.0, 4.0], [3]), strict=True):
        assert isinstance(array, np.ndarray)
        np.testing.assert_array_equal(array, right)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_question_says_whether_it_gives_tensors(number: int) -> None:
    content = (lab_folder("recorded") / f"assignment_{number}.gz").read_bytes()

    def has_tensors(value: Any) -> bool:
        if isinstance(value, dict):
            return any(map(has_tensors, value.values()))
        return isinstance(value, torch.Tensor) or (isinstance(value, (list, tuple)) and any(map(has_tensors, value)))

    for question in decode(gzip.decompress(content))["questions"]:
        trials = [trial["args"] for part in question["parts"] for trial in part["trials"]]
        assert has_tensors(trials) == bool(question["tensors"]), question["name"]

"""Faults that the grader once had: what stalled it, what told too much or too little, and what was unfair."""

import linecache
import re
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import psutil
import pytest
import torch

from course.grade import UNCHECKED, grade_question
from course.private.bank import bank
from course.question import edited
from course.sandbox import Limits, Worker
from course.tests import hostile, toys
from course.tests.test_wrong_answers import graded
from posenc.check import Wrong
from posenc.check._alone import kind_of
from posenc.check._plain import described
from posenc.check._question import compare
from posenc.check._wrong import say

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(toys.PACKAGES, toys.IMPORTS, Limits(4.0, 2**30)) as made:
        made.start()
        yield made


@pytest.mark.parametrize(
    "value", ["[torch.zeros(1)] * 4000", "[torch.arange(999).double().sin()] * 40", "[[0.0] * 99 for _ in range(600)]"]
)
def test_what_an_answer_returns_costs_the_grader_little(worker: Worker, value: str) -> None:
    start = time.thread_time()
    results = grade_question(worker, toys.SCALED, [f"def scaled(x, by):\n    return {value}"], "seed")
    assert not any(result.earned for result in results)
    assert results[0].sentence != UNCHECKED
    assert time.thread_time() - start < 4, "it took 19 s"


def test_values_are_told_by_type_and_shape() -> None:
    class Loud(list):  # type: ignore[type-arg]
        def __repr__(self) -> str:
            raise AssertionError("the whole of it was written out")

    assert described(Loud(range(4000))) == "Loud of length 4000"
    assert described(torch.zeros(2, 3)) == "tensor of shape (2, 3), float32"
    assert described(np.zeros(10**6)) == "array of shape (1000000,), float64"
    assert described("x" * 10**6) == "text of 1000000 characters"
    assert described(10**5000) == "integer of 16610 bits"
    assert described(0.5) == "0.5"


SLOW = toys.toy(parts=4)


def test_a_comparison_without_end_costs_its_own_question_alone(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*args: Any) -> None:
        while True:
            compare(0.0, 0.0, 0.0)

    monkeypatch.setattr("posenc.check._question.likely_mistake", endless)
    monkeypatch.setattr(worker, "limits", Limits(0.3, 2**30))
    results = grade_question(worker, SLOW, ["def scaled(x, by):\n    return x"], "seed")
    assert [(result.earned, result.sentence) for result in results] == [(0, say("cell.slow"))] * 4


def test_a_question_stops_after_its_first_timeout(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "limits", Limits(1.0, 2**30))
    start = time.monotonic()
    cell = "import time\ndef scaled(*args):\n    time.sleep(600)"
    results = grade_question(worker, SLOW, [cell], "seed")
    assert {result.sentence for result in results} == {"no answer within 1 s: is there a loop without an end?"}
    assert time.monotonic() - start < 3, "each of four parts waited"


FORGED = f"""{hostile.FORGE}
def scaled(*args):
    n = 2**20
    forge(forged('value', {{'list': [{{'array': 'uint8', 'shape': [n], 'bytes': n}}] * COUNT}}), bytes(n * COUNT))
    os._exit(0)
"""


@pytest.mark.parametrize("count", [1, 7, 15])
def test_a_forged_reply_takes_little_memory_outside(worker: Worker, count: int) -> None:
    before = psutil.Process().memory_info().rss
    tracemalloc.start()
    results = grade_question(worker, toys.SCALED, [FORGED.replace("COUNT", str(count))], "seed")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not any(result.earned for result in results)
    assert most < 200 * 2**20
    assert psutil.Process().memory_info().rss - before < 2**28


def test_a_question_has_a_short_name_for_itself() -> None:
    from posenc.check import assignment_2 as check

    assert "check.q1(" in repr(check.q1)
    assert len(repr(check.q1)) < 200, "it had 9 189 lines"
    assert len(repr(check.ASSIGNMENT)) < 2000


def defined(source: str) -> Any:
    """The function of a notebook's cell."""
    linecache.cache["<cell>"] = (len(source), None, source.splitlines(keepends=True), "<cell>")
    names = {"torch": torch, "np": np}
    exec(compile(source, "<cell>", "exec"), names)
    return names["scaled"]


def test_a_message_names_the_line_and_the_failing_inputs_can_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    asked = toys.SCALED.public()
    with pytest.raises(ValueError, match=r"run check.q1\(scaled\) first"):
        asked.failing()
    asked(defined("def scaled(x, by):\n    turned = x * by\n    return turned.reshape(7, 7, 7)\n"))
    printed = capsys.readouterr().out
    assert "at line 3: `return turned.reshape(7, 7, 7)`" in printed
    assert "check.q1.failing()" in printed
    x, _ = asked.failing()
    assert x.any()
    x.zero_()
    assert asked.failing()[0].any(), "it is a copy"
    asked(defined("def scaled(x, by):\n    return x\n"))
    assert isinstance(asked.failing()[1], float)
    capsys.readouterr()
    asked(defined(toys.RIGHT))
    assert "failing" not in capsys.readouterr().out
    with pytest.raises(ValueError, match="no call of q1 went wrong"):
        asked.failing()


@pytest.mark.parametrize(
    ("fails", "kind"),
    [
        (lambda: torch.zeros(2) @ torch.zeros(2, dtype=torch.float64), "RuntimeError of dtypes"),
        (lambda: torch.einsum("ij,jk->ik", torch.zeros(2, 2), torch.zeros(2, 2).double()), "RuntimeError of dtypes"),
        (lambda: torch.zeros(6).reshape(4, 2), "RuntimeError of shapes"),
        (lambda: torch.zeros(2) + torch.zeros(3), "RuntimeError of shapes"),
        (lambda: [][0], "IndexError"),
    ],
)
def test_errors_of_dtypes_and_of_shapes_are_told_apart(fails: Any, kind: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011  # its kind is what is asked
        fails()
    assert kind_of(raised.value) == kind


def test_llamas_epsilon_is_right() -> None:
    changed = edited(5, "q4", "keepdims=True)) * weights", "keepdims=True) + 1e-5) * weights")
    results = graded(5, "q4", changed)
    assert all(result.earned for result in results), [result.sentence for result in results]


def test_a_mask_of_minus_a_billion_is_right_in_both_assignments() -> None:
    for number, name in ((1, "q1"), (5, "q4")):
        masked = [source for source in bank(number).RIGHT[name].values() if "inf" in source]
        changed = [re.sub(r"-(torch|np|math)\.inf", "-1e9", source) for source in masked]
        assert any("-1e9" in source for source in changed)
        for source in changed:
            results = graded(number, name, source)
            assert all(result.earned for result in results), (number, source, [one.sentence for one in results])


def test_texts_among_numbers_take_no_room() -> None:
    told = ["x" * 10**5] + [""] * 1000  # some 100 kB here, and 400 MB as an array of texts
    tracemalloc.start()
    with pytest.raises(Wrong):
        compare(told, np.zeros(3), 1e-6)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10**6

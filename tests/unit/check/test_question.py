"""How an answer is compared, what its checks say, and what they never say."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from course.question import Case, Mistake, Part, Question
from posenc.check._plain import Opaque
from posenc.check._question import Wrong, compare
from posenc.check._wrong import say

NAN, INF = float("nan"), float("inf")


def turned(x: np.ndarray, position: int) -> np.ndarray:
    return x * position


def drawn(random: np.random.Generator) -> Iterator[Case]:
    yield Case(random.standard_normal(4), int(random.integers(2, 9)))
    yield Case(random.standard_normal((2, 3)), int(random.integers(2, 9)))


QUESTION = Question(
    assignment=1,
    name="q1",
    title="a toy",
    names=("turned",),
    parts=(Part("first", 2, cases=drawn), Part("second", 1, cases=drawn)),
    reference=turned,
    mistakes=(
        Mistake("never, as it cannot be made here", lambda x, position: x @ np.ones(99)),
        Mistake("positions seem to start at 1", lambda x, position: x * (position + 1)),
    ),
)


def test_a_right_answer_gets_all_points(capsys: pytest.CaptureFixture[str]) -> None:
    QUESTION(turned)
    assert capsys.readouterr().out.splitlines() == [
        "q1: 3 of 3 points on the public checks",
        "  ✓ first",
        "  ✓ second",
        "  Grading draws other inputs.",
    ]
    assert QUESTION.holds(turned)
    assert QUESTION.score(turned, seed="other") == 3


def test_a_known_mistake_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    QUESTION(lambda x, position: x * (position + 1))
    said = capsys.readouterr().out
    assert "0 of 3" in said
    assert "✗ first: positions seem to start at 1 (largest error" in said
    assert not QUESTION.holds(lambda x, position: x)


def test_an_empty_answer_is_not_answered(capsys: pytest.CaptureFixture[str]) -> None:
    def empty(x: Any, position: int) -> None:
        raise NotImplementedError

    QUESTION(empty)
    assert capsys.readouterr().out == "q1: not answered yet (3 points)\n"
    assert QUESTION.score(empty, seed="other") == 0


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda x, position: None, "is a `return` missing"),
        (lambda x, position: 1 / 0, "it raised ZeroDivisionError"),
        (lambda x: x, "it raised TypeError"),
        (lambda x, position: x[..., :2], "the shape of"),
        (lambda x, position: x * NAN, "is a finite number"),
        (lambda x, position: "text", "should be an array"),
        (lambda x, position: object(), "cannot be compared"),
        (lambda x, position: x * position * 1j, "the values of the result are not right"),
    ],
)
def test_what_went_wrong_is_said(function: Callable[..., Any], sentence: str) -> None:
    assert all(sentence in result.sentence for result in QUESTION.grade(function))


def test_inputs_follow_from_the_seed_alone() -> None:
    seen: list[list[np.ndarray]] = []

    def spy(x: np.ndarray, position: int) -> np.ndarray:
        seen[-1].append(x.copy())
        return x * 0

    for seed in ("a", "a", "b"):
        seen.append([])
        QUESTION.grade(spy, seed=seed)
    assert all(np.array_equal(one, two) for one, two in zip(seen[0], seen[1], strict=True))
    assert not np.array_equal(seen[0][0], seen[2][0])


def test_an_answer_that_changes_its_input_is_told_so_and_changes_nothing_of_ours() -> None:
    def careless(x: np.ndarray, position: int) -> np.ndarray:
        x *= position
        return x

    assert {result.sentence for result in QUESTION.grade(careless)} == {say("cell.changed")}
    assert QUESTION.holds(turned)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (1.0, 1),
        (np.array([1.0, INF]), np.array([1.0, INF])),
        ([1, (2.0, "x")], (1, [2.0, "x"])),
        ({"a": 1, "b": None}, {"b": None, "a": 1}),
        (1e6 + 0.1, 1e6),
        ([[1.0, 2], (3, np.array(4.0))], np.array([[1.0, 2], [3, 4]])),
    ],
)
def test_equal_enough(got: Any, want: Any) -> None:
    compare(got, want, 1e-6)


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        (1.1, 1, "are not right"),
        ("y", "x", "is not right"),
        (1, True, "is not right"),
        ([1], [1, 2], "should be 2 values"),
        ({"a": 1}, {"b": 1}, "with the keys b"),
        ([1, [2, 5]], [1, [2, 3]], "the second value of the second value of the result"),
        (np.ones(3), np.ones((3, 1)), "the shape of"),
        ([[1.0], [1.0, 2.0]], np.ones((2, 2)), "should be an array"),
        (NAN, 1.0, "is a finite number"),
        (-INF, INF, "is a finite number"),
        (1.0, INF, "are not right"),
        (Opaque("thing"), 1.0, "cannot be compared"),
        (10**400, 1.0, "is a finite number"),
    ],
)
def test_not_equal(got: Any, want: Any, words: str) -> None:
    with pytest.raises(Wrong, match=words):
        compare(got, want, 1e-6)


def test_dtypes_are_compared_where_asked() -> None:
    compare(np.ones(2, "float32"), np.ones(2), 1e-6)
    with pytest.raises(Wrong, match="the dtype of"):
        compare(np.ones(2, "float32"), np.ones(2), 1e-6, exact_dtype=True)


@pytest.mark.parametrize("functions", [(), (np.ones(2),)])
def test_a_check_asks_for_functions(functions: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="call it with your function: turned"):
        QUESTION(*functions)


def test_what_is_wrong_first_is_told_though_a_later_call_raises() -> None:
    part = Part("two", 1, cases=lambda random: [Case(1.0), Case(0.0)])
    known = Mistake("upside down", lambda x: 2 / x)
    question = Question(1, "q1", "a toy", ("f",), (part,), reference=lambda x: x, mistakes=(known,))
    for function, told in ((known.function, "upside down"), (lambda x: x or 1 / x, "it raised ZeroDivisionError")):
        assert [result.sentence for result in question.grade(function)] == [told]

"""A question of an assignment: what it asks, the right values, likely mistakes, and how an answer is compared.

The same comparison serves the notebook (public inputs, the student's own function) and the grader (secret inputs,
a stand-in that asks the student's function in a sandbox). An answer is only ever called; nothing of it is trusted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc.check._alone import CHANGED
from posenc.check._plain import Opaque, encode, plain

PUBLIC_SEED = "public"
ORDINALS = ("first", "second", "third", "fourth")
Answer = Callable[..., Any]


class Wrong(Exception):
    """An answer is not right. `sentence` holds nothing of the inputs; `detail` may, and is for public checks only."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(f"{sentence} {detail}".strip())
        self.sentence = sentence
        self.detail = detail


class Unanswered(Exception):
    """The answer is still the empty one of the handout."""


@dataclass(frozen=True)
class Case:
    """One call: what the student's function and the right one are given."""

    args: tuple[Any, ...]

    def __init__(self, *args: Any) -> None:
        object.__setattr__(self, "args", args)


@dataclass(frozen=True)
class Part:
    """A part of a question with points of its own: calls to compare, or a test that raises `Wrong`.

    `cases` draws the calls from a random generator. `test` gets the answers by name and the generator.
    With `exact_dtype` what comes back must also have the right dtype.
    """

    title: str
    points: int
    cases: Callable[[np.random.Generator], Iterable[Case]] | None = None
    test: Callable[[Mapping[str, Answer], np.random.Generator], None] | None = None
    exact_dtype: bool = False

    def __post_init__(self) -> None:
        if (self.cases is None) == (self.test is None):
            raise ValueError(f"the part {self.title!r} needs either cases or a test")


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer, as a function, and the sentence that names it to who made it.

    It is recognised where the student's values agree with the function's, to `tolerance` or the question's own,
    whichever is larger.
    """

    sentence: str
    function: Answer
    tolerance: float = 0.0


@dataclass(frozen=True)
class Result:
    """How one part went."""

    part: Part
    earned: int
    sentence: str = ""
    detail: str = ""
    answered: bool = True


def _copy(value: Any) -> Any:
    """A copy of an input, so that a function that changes it changes nothing of ours."""
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(item) for item in value)
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.copy()
    return value.clone() if hasattr(value, "clone") else value


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "detach")


def _as_array(value: Any) -> np.ndarray:
    """An array, a tensor or a number as a NumPy array; bfloat16 becomes float32."""
    if hasattr(value, "detach"):
        value = value.detach()
        return np.asarray(value.float() if str(value.dtype) == "torch.bfloat16" else value)
    return np.asarray(value)


def _place(place: int, the: str) -> str:
    """What one of several values is called."""
    return f"the {ORDINALS[place]} value of {the}" if place < len(ORDINALS) else f"value {place + 1} of {the}"


def compare(
    got: Any,
    want: Any,
    tolerance: float,
    what: str = "",
    exact_dtype: bool = False,
    returns: tuple[str, ...] = (),
) -> None:
    """Raise `Wrong` unless `got` is `want`: the same structure, shapes and, within tolerance · (1 + |want|), values.

    `what` is what the message calls it, and `returns` what it calls its values where there are several.
    """
    the = what or "the result"
    if isinstance(got, Opaque):
        raise Wrong(f"{the} is an object that cannot be compared: return arrays or numbers", f"(it is {got})")
    if isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(want):
            raise Wrong(f"{the} should be {len(want)} values, in the order that the question names")
        for place, (one, right) in enumerate(zip(got, want, strict=True)):
            name = returns[place] if place < len(returns) else _place(place, the)
            compare(one, right, tolerance, name, exact_dtype)
    elif isinstance(want, dict):
        if not isinstance(got, dict) or set(got) != set(want):
            raise Wrong(f"{the} should be a dictionary with the keys {', '.join(map(str, want))}")
        for key, right in want.items():
            compare(got[key], right, tolerance, f"{key!r} of {the}", exact_dtype)
    elif want is None or isinstance(want, (str, bool)):
        if type(got) is not type(want) or got != want:
            raise Wrong(f"{the} is not right", f"(it is {got!r})"[:80])
    else:
        _compare_arrays(got, want, tolerance, the, exact_dtype)


def _compare_arrays(got: Any, want: Any, tolerance: float, the: str, exact_dtype: bool) -> None:
    if not _is_array(got) and type(got) not in (bool, int, float):
        raise Wrong(f"{the} should be {'an array' if _is_array(want) else 'a number'}", f"(it is {got!r})"[:80])
    one, right = _as_array(got), _as_array(want)
    if one.shape != right.shape:
        raise Wrong(f"{the} has another shape than the question asks for", f"({one.shape} instead of {right.shape})")
    if exact_dtype and str(getattr(got, "dtype", "")) != str(getattr(want, "dtype", "")):
        raise Wrong(f"{the} has another dtype than its input", f"({getattr(got, 'dtype', type(got).__name__)})")
    kind = complex if np.iscomplexobj(one) or np.iscomplexobj(right) else float
    try:
        one, right = one.astype(kind), right.astype(kind)
    except OverflowError:  # a whole number past all that a float can hold
        raise Wrong(f"{the} holds values that are not finite numbers") from None
    same_infinite = np.isinf(right) & (one == right)
    if not np.isfinite(one[~same_infinite]).all():
        raise Wrong(f"{the} holds values that are not finite numbers")
    with np.errstate(invalid="ignore"):  # infinity − infinity, where both are the same infinity
        error = np.where(same_infinite, 0.0, np.abs(one - right))
        size = np.where(np.isinf(right), 0.0, np.abs(right))
        bad = error > tolerance * (1 + size)
    if bad.any():
        place = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
        at = f" at {list(place)}" if place else ""
        raise Wrong(f"the values of {the} are not right", f"(largest error {error.max():.2g}{at})")


def generator(*names: object) -> np.random.Generator:
    """A random generator that follows from names alone: seed, assignment, question and part."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def stand_in(function: Answer) -> Answer:
    """A student's function as the checks see it: called with copies, its errors named, its result plain data."""

    def call(*args: Any) -> Any:
        given, before = list(_copy(args)), encode(list(args))
        try:
            value = plain(function(*given))
        except Wrong:
            raise
        except NotImplementedError:
            raise Unanswered from None
        except Exception as error:  # whatever a student's function may raise: it is told to them, whole
            raise Wrong(f"it raised {type(error).__name__}", f"({error})" if str(error) else "") from error
        if encode(plain(given)) != before:
            raise Wrong(CHANGED)
        return value

    return call


@dataclass(frozen=True)
class Question:
    """One question of an assignment; called with a student's functions, it prints how the public checks went.

    `names` are the functions that the answer cell defines; the first is the one that `cases` call. `reference` gives
    the right values. An answer may import NumPy, torch, the standard library and the `packages`. Where
    `attention_written_out`, no call of torch's may be attention. `returns` says what messages call the values that an
    answer returns, if several.
    """

    assignment: int
    name: str
    title: str
    names: tuple[str, ...]
    parts: tuple[Part, ...]
    reference: Answer | None = None
    mistakes: tuple[Mistake, ...] = ()
    tolerance: float = 1e-5
    packages: tuple[str, ...] = ()
    attention_written_out: bool = False
    returns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.reference is None and any(part.cases for part in self.parts):
            raise ValueError(f"{self.name} has parts with cases, and no reference to compare with")

    @property
    def allowed(self) -> tuple[str, ...]:
        """The packages that an answer may import."""
        return ("numpy", "torch", *self.packages)

    @property
    def points(self) -> int:
        """The points of all its parts."""
        return sum(part.points for part in self.parts)

    def grade_part(self, part: Part, answers: Mapping[str, Answer], seed: str) -> Result:
        """How the answers do on one part, with the inputs that follow from `seed`."""
        random = generator(seed, self.assignment, self.name, part.title)
        try:
            if part.test is not None:
                part.test(answers, random)
            else:
                self._compare_cases(part, answers[self.names[0]], random)
        except Wrong as wrong:
            return Result(part, 0, wrong.sentence, wrong.detail)
        except Unanswered:
            return Result(part, 0, "not answered yet", answered=False)
        return Result(part, part.points)

    def _compare_cases(self, part: Part, answer: Answer, random: np.random.Generator) -> None:
        assert part.cases is not None
        assert self.reference is not None
        seen: list[tuple[Case, Any]] = []
        wrong: Wrong | None = None
        for case in part.cases(random):
            got = answer(*case.args)
            seen.append((case, got))
            try:
                if got is None:
                    raise Wrong("it returned nothing: is a `return` missing?")
                want = plain(self.reference(*_copy(case.args)))
                compare(got, want, self.tolerance, exact_dtype=part.exact_dtype, returns=self.returns)
            except Wrong as error:
                wrong = wrong or error
        if wrong is not None:
            raise Wrong(self.likely_mistake(seen) or wrong.sentence, wrong.detail)

    def likely_mistake(self, seen: list[tuple[Case, Any]]) -> str:
        """The sentence of the first known mistake that gives every value the answer gave; empty if none does."""
        for mistake in self.mistakes:
            tolerance = max(self.tolerance, mistake.tolerance)
            try:
                for case, got in seen:
                    compare(got, plain(mistake.function(*_copy(case.args))), tolerance)
            except (Wrong, ValueError, TypeError, IndexError, RuntimeError):
                continue  # another value, or a mistake that cannot be made on these inputs
            return mistake.sentence
        return ""

    def _answers(self, functions: tuple[Answer, ...]) -> dict[str, Answer]:
        if len(functions) != len(self.names) or not all(map(callable, functions)):
            raise TypeError(f"call it with your function{'s' * (len(self.names) > 1)}: {', '.join(self.names)}")
        return {name: stand_in(function) for name, function in zip(self.names, functions, strict=True)}

    def grade(self, *functions: Answer, seed: str = PUBLIC_SEED) -> list[Result]:
        """How the functions do on every part."""
        answers = self._answers(functions)
        return [self.grade_part(part, answers, seed) for part in self.parts]

    def score(self, *functions: Answer, seed: str) -> int:
        """The points that the functions get with the inputs of `seed`; nbgrader reads them as partial credit."""
        return sum(result.earned for result in self.grade(*functions, seed=seed))

    def holds(self, *functions: Answer) -> bool:
        """Whether the functions pass every public check."""
        return all(result.earned == result.part.points for result in self.grade(*functions))

    def __call__(self, *functions: Answer) -> None:
        """Print how the functions do on the public checks."""
        results = self.grade(*functions)
        if not any(result.answered for result in results):
            print(f"{self.name}: not answered yet ({self.points} points)")
            return
        earned = sum(result.earned for result in results)
        print(f"{self.name}: {earned} of {self.points} points on the public checks")
        for result in results:
            mark = "✓" if result.earned else "✗"
            why = f": {' '.join(filter(None, (result.sentence, result.detail)))}" if not result.earned else ""
            print(f"  {mark} {result.part.title}{why}")
        print("  Grading draws other inputs.")


@dataclass(frozen=True)
class HandGraded:
    """A question that a person reads: the points it can give, and what they are given for."""

    name: str
    title: str
    points: int


@dataclass(frozen=True)
class Assignment:
    """One of the four assignments."""

    number: int
    title: str
    questions: tuple[Question, ...]
    hand_graded: tuple[HandGraded, ...] = ()

    @property
    def asked(self) -> tuple[Question | HandGraded, ...]:
        """All questions, those that a person reads last."""
        return (*self.questions, *self.hand_graded)

    @property
    def points(self) -> int:
        """The points of all questions."""
        return sum(question.points for question in self.asked)

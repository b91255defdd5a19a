"""A question of an assignment: what was drawn for it, and how an answer is compared with that.

A question here holds values and no formula: inputs, what is right for them, what likely mistakes give for them. The
same comparison serves the notebook (recorded inputs, the student's own function) and the grader (secret inputs, a
stand-in that asks the student's function in a sandbox). An answer is only ever called; nothing of it is trusted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from posenc.check import _models, _notebook, _views
from posenc.check._alone import kind_of, libraries
from posenc.check._hints import Hinted, hints_of
from posenc.check._plain import Opaque, described, encode, plain, runnable
from posenc.check._wrong import Unanswered as Unanswered
from posenc.check._wrong import Wrong as Wrong
from posenc.check._wrong import say

Answer = Callable[..., Any]


class TooSlow(Exception):
    """What came back took too long to compare."""


_UNTIL = ContextVar("until", default=math.inf)  # of this thread's processor time, in seconds
_FAILING: dict[tuple[int, str], tuple[Any, ...]] = {}  # arguments of the first call that went wrong, by question


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` where comparing takes more of the processor's time than that."""
    before = _UNTIL.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _UNTIL.reset(before)


@dataclass(frozen=True)
class Trial:
    """One call: what the student's function is given, the right value, and what each likely mistake gives.

    A mistake's value stands in a tuple of its own, which is empty where the mistake cannot be made. Where no mistake
    fits, `values` is said of wrong values and `infinite` of such as are no finite numbers; if empty, what differs.
    """

    args: tuple[Any, ...]
    right: Any
    mistakes: tuple[tuple[Any, ...], ...] = ()
    values: str = ""
    infinite: str = ""


@dataclass(frozen=True)
class Likely:
    """A likely mistake, as a check knows it: the sentence that names it to who made it.

    It is recognised where the student's values agree with the mistake's, to `tolerance` or the part's own, whichever
    is larger; where a function returns several values, `of` says which one, if one is enough.
    """

    sentence: str
    tolerance: float = 0.0
    of: int | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a question with points of its own: calls of the named function, one after another.

    With `exact_dtype` what comes back must also have the right dtype; `of` says which of several values counts, if
    one alone does. `view` names the function of `posenc.check._views` that makes what is compared of what came back.
    `raised` has sentences for exceptions, by kind. `returns` says what messages call the values that are returned, if
    several. `model` names a trained model of the laboratory, of which a call is given what `posenc.check._models` says,
    before its own arguments.
    """

    title: str
    points: int
    function: str = ""
    trials: tuple[Trial, ...] = field(default=(), repr=False)
    likely: tuple[Likely, ...] = ()
    tolerance: float = 0.0
    exact_dtype: bool = False
    of: int | None = None
    view: str = ""
    raised: Mapping[str, str] = field(default_factory=dict)
    returns: tuple[str, ...] = ()
    model: str = ""


@dataclass(frozen=True)
class Result:
    """How one part went."""

    part: Part
    earned: int
    sentence: str = ""
    detail: str = ""
    kind: str = ""
    args_given: tuple[Any, ...] | None = None
    answered: bool = True


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value in which each part that is no list, tuple or dictionary is changed."""
    if isinstance(value, (list, tuple)):
        return type(value)(_each(item, change) for item in value)
    if isinstance(value, dict):
        return {key: _each(item, change) for key, item in value.items()}
    return change(value)


def _copy(value: Any) -> Any:
    """A copy of an input, so that a function that changes it changes nothing of ours."""

    def copied(item: Any) -> Any:
        if isinstance(item, np.ndarray):
            return item.copy()
        return item.clone() if hasattr(item, "clone") else item

    return _each(value, copied)


def _with_arrays(value: Any) -> Any:
    """A value with arrays in place of its tensors."""
    return _each(value, lambda item: _as_array(item) if hasattr(item, "detach") else item)


def _with_tensors(value: Any) -> Any:
    """A value with tensors in place of its arrays."""
    import torch

    return _each(value, lambda item: torch.from_numpy(item) if isinstance(item, np.ndarray) else item)


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "detach")


def _as_array(value: Any) -> np.ndarray:
    """An array, a tensor or a number as a NumPy array; bfloat16 becomes float32."""
    if hasattr(value, "detach"):
        value = value.detach()
        return np.asarray(value.float() if str(value.dtype) == "torch.bfloat16" else value)
    return np.asarray(value)


def _listed(got: list[Any] | tuple[Any, ...]) -> Any:
    """A list of numbers as the array that it stands for; as it is, where it stands for none."""
    if not _views.numeric(got):
        return got
    try:
        array = np.asarray(got)
    except (ValueError, TypeError, RuntimeError):  # rows of different lengths, or tensors in it
        return got
    return array if array.dtype.kind in "biufc" else got


def _place(place: int, the: str) -> str:
    """What one of several values is called."""
    return say("result.place", number=place + 1, ordinal=str(place + 1), the=the)


def compare(
    got: Any,
    want: Any,
    tolerance: float,
    what: str = "",
    exact_dtype: bool = False,
    returns: tuple[str, ...] = (),
    of: int | None = None,
) -> None:
    """Raise `Wrong` unless `got` is `want`: the same structure, shapes and, within tolerance · (1 + |want|), values.

    `what` is what the message calls it, and `returns` what it calls its values where there are several, of which
    `of` alone counts if it is given.
    """
    if _UNTIL.get() < math.inf and time.thread_time() > _UNTIL.get():
        raise TooSlow
    the = what or say("result.itself")
    if isinstance(want, np.ndarray) and isinstance(got, (list, tuple)):
        got = _listed(got)
    if isinstance(got, Opaque):
        raise Wrong(say("result.opaque", the=the), say("result.it_is", value=got))
    if isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(want):
            names = [{"name": name} for name in returns]
            raise Wrong(say("result.several", the=the, count=len(want), names=names))
        for place, (one, right) in enumerate(zip(got, want, strict=True)):
            if of not in (None, place):
                continue
            name = returns[place] if place < len(returns) else _place(place, the)
            compare(one, right, tolerance, name, exact_dtype)
    elif isinstance(want, dict):
        if not isinstance(got, dict) or set(got) != set(want):
            raise Wrong(say("result.keys", the=the, keys=[{"key": key} for key in want]))
        for key, right in want.items():
            compare(got[key], right, tolerance, say("result.of", key=repr(key), the=the), exact_dtype)
    elif want is None or isinstance(want, (str, bool)):
        if type(got) is not type(want) or got != want:
            raise Wrong(say("result.wrong", the=the), say("result.it_is", value=described(got)))
    else:
        _compare_arrays(got, want, tolerance, the, exact_dtype)


def _compare_arrays(got: Any, want: Any, tolerance: float, the: str, exact_dtype: bool) -> None:
    if not _is_array(got) and type(got) not in (bool, int, float):
        sentence = say("result.array", the=the) if _is_array(want) else say("result.number", the=the)
        raise Wrong(sentence, say("result.it_is", value=described(got)))
    one, right = _as_array(got), _as_array(want)
    if one.shape != right.shape:
        shapes = say("result.shapes", shape=one.shape, right=right.shape)
        raise Wrong(say("result.shape", the=the), shapes, "shape")
    kind = complex if np.iscomplexobj(one) or np.iscomplexobj(right) else float
    try:
        one, right = one.astype(kind), right.astype(kind)
    except OverflowError:  # a whole number past all that a float can hold
        raise Wrong(say("result.infinite", the=the), kind="infinite") from None
    same_infinite = np.isinf(right) & (one == right)
    if not np.isfinite(one[~same_infinite]).all():
        raise Wrong(say("result.infinite", the=the), kind="infinite")
    with np.errstate(invalid="ignore"):  # infinity − infinity, where both are the same infinity
        error = np.where(same_infinite, 0.0, np.abs(one - right))
        size = np.where(np.isinf(right), 0.0, np.abs(right))
        bad = ~(error <= tolerance * (1 + size))  # a mistake's value may be no number, and then agrees with nothing
    if bad.any():
        place = [int(i) for i in np.unravel_index(int(error.argmax()), error.shape)]
        largest = say("result.error", error=float(error.max()), place=place)
        raise Wrong(say("result.values", the=the), largest, "values")
    if exact_dtype and str(getattr(got, "dtype", "")) != str(getattr(want, "dtype", "")):
        found = getattr(got, "dtype", type(got).__name__)
        raise Wrong(say("result.dtype", the=the), f"({found})", "dtype")


def _agrees(got: Any, want: Any, tolerance: float, of: int | None = None) -> bool:
    try:
        compare(got, want, tolerance, of=of)
    except Wrong:
        return False
    return True


def stand_in(function: Answer) -> Answer:
    """A student's function as the checks see it: called with copies, its errors named, its result plain data."""

    def call(*args: Any) -> Any:
        given, before = list(_copy(args)), encode(list(args))
        try:
            value = plain(function(*map(runnable, given)))
        except (Wrong, Unanswered):
            raise
        except NotImplementedError:
            raise Unanswered from None
        except Exception as error:  # whatever a student's function may raise: it is told to them, whole
            if _notebook.needs_torch(error):
                raise
            sentence = say("cell.raised", kind=type(error).__name__)
            raise Wrong(sentence, _notebook.told(error), raised=kind_of(error)) from error
        if encode(plain(given)) != before:
            raise Wrong(say("cell.changed"))
        return value

    return call


Seen = list[tuple[Trial, Any]]  # the calls so far, with what came back


def likely_mistake(part: Part, seen: Seen) -> str:
    """The sentence of the first likely mistake that gives every value the answer gave; empty if none does."""
    for place, likely in enumerate(part.likely):
        if part.of is not None and likely.of not in (None, part.of):
            continue
        tolerance = max(part.tolerance, likely.tolerance)
        made = [(got, trial.mistakes[place]) for trial, got in seen]
        if all(value and _agrees(got, value[0], tolerance, likely.of) for got, value in made):
            return likely.sentence
    return ""


def _unchanging(part: Part, seen: Seen) -> str:
    """A sentence for a value that is always the same, where the right one is not; empty if there is none."""
    first, one = seen[0]
    several = isinstance(first.right, (list, tuple))
    if len(seen) < 2 or (several and not (isinstance(one, (list, tuple)) and len(one) == len(first.right))):
        return ""
    for of in [part.of] if part.of is not None or not several else range(len(first.right)):
        changes = not all(_agrees(trial.right, first.right, 0.0, of) for trial, _ in seen)
        if changes and all(_agrees(got, one, 0.0, of) for _, got in seen):
            named = part.returns[of] if of is not None and part.returns else say("result.itself")
            return say("result.unchanging", the=named)
    return ""


def judge(part: Part, answer: Answer) -> None:
    """Raise `Wrong` unless the answer is right in every trial of the part."""
    seen: Seen = []
    wrong: Wrong | None = None
    for trial in part.trials:
        args = [*_models.given(part.model), *trial.args]
        try:
            got = answer(*args)
            if got is None:
                raise Wrong(say("result.nothing", function=part.function))
            if part.view:
                got = getattr(_views, part.view)(got, trial.right)
        except Wrong as error:
            if wrong is None:
                error.args_given = tuple(args)
                error.sentence = part.raised.get(error.raised, error.sentence)
                raise
            break  # what came back before was wrong already, and may say more
        seen.append((trial, got))
        try:
            compare(got, trial.right, part.tolerance, "", part.exact_dtype, part.returns, part.of)
        except Wrong as error:
            sentence = {"values": trial.values, "infinite": trial.infinite}.get(error.kind)
            wrong = wrong or Wrong(sentence or error.sentence, error.detail, error.kind)
            wrong.args_given = wrong.args_given or tuple(args)
    if wrong is not None and wrong.kind == "dtype":
        raise wrong
    if wrong is not None:
        general = _unchanging(part, seen) if wrong.kind in ("shape", "values") else ""
        wrong.sentence = likely_mistake(part, seen) or general or wrong.sentence
        raise wrong


@dataclass(frozen=True, eq=False)
class Question(Hinted):
    """One question of an assignment; called with a student's functions, it prints how the public checks went.

    `names` are the functions that the answer cell defines. An answer may import NumPy, torch, the standard library and
    the `packages`; `imports` are the lines that its notebook begins with. Where `attention_written_out`, its text may
    name no ready-made attention. `tensors` says whether answers are given any: "only" them, or "either", arrays to an
    answer that uses NumPy and not torch. A check of it may take `patience` times as long as others in the grader.
    """

    assignment: int
    name: str
    title: str
    names: tuple[str, ...]
    parts: tuple[Part, ...]
    packages: tuple[str, ...] = ()
    imports: str = ""
    attention_written_out: bool = False
    tensors: Literal["", "either", "only"] = ""
    patience: int = 1

    @property
    def allowed(self) -> tuple[str, ...]:
        """The packages that an answer may import."""
        return ("numpy", "torch", *self.packages)

    @property
    def points(self) -> int:
        """The points of all its parts."""
        return sum(part.points for part in self.parts)

    def grade_part(self, part: Part, answers: Mapping[str, Answer]) -> Result:
        """How the answers do on one part."""
        try:
            judge(part, answers[part.function])
        except Wrong as wrong:
            return Result(part, 0, wrong.sentence, wrong.detail, wrong.kind, wrong.args_given)
        except Unanswered:
            return Result(part, 0, say("cell.unanswered"), answered=False)
        return Result(part, part.points)

    def suited(self, answers: Mapping[str, Answer], cells: Sequence[str]) -> Mapping[str, Answer]:
        """The answers of those cells, as they are asked: with arrays for tensors where they use NumPy and not torch."""
        used = libraries(cells) if self.tensors == "either" else set()

        def refused(*args: Any) -> Any:
            raise Wrong(say("cell.torch"))

        def with_numpy(answer: Answer) -> Answer:
            return lambda *args: answer(*_with_arrays(args))

        if "torch" in used and not _notebook.has_torch():
            return dict.fromkeys(answers, refused)
        return {name: with_numpy(answer) for name, answer in answers.items()} if used == {"numpy"} else answers

    def _answers(self, functions: tuple[Answer, ...], cell: str | None = None) -> Mapping[str, Answer]:
        if len(functions) != len(self.names) or not all(map(callable, functions)):
            raise TypeError(f"call it with your function{'s' * (len(self.names) > 1)}: {', '.join(self.names)}")
        if self.tensors == "only" and not _notebook.has_torch():
            raise ModuleNotFoundError(say("question.torch", name=self.name), name="torch")
        answers = {name: stand_in(function) for name, function in zip(self.names, functions, strict=True)}
        return self.suited(answers, [_notebook.cell_of(functions[0]) if cell is None else cell])

    def on_arrays(self, function: Answer) -> Answer:
        """A student's function as one from NumPy arrays to NumPy arrays, whichever library it uses."""
        as_it_is = not _notebook.has_torch() or libraries([_notebook.cell_of(function)]) == {"numpy"}
        return lambda *args: _with_arrays(plain(function(*(args if as_it_is else _with_tensors(args)))))

    def grade(self, *functions: Answer) -> list[Result]:
        """How the functions do on every part."""
        answers = self._answers(functions)
        return [self.grade_part(part, answers) for part in self.parts]

    def holds(self, *functions: Answer) -> bool:
        """Whether the functions pass every public check."""
        return all(result.earned == result.part.points for result in self.grade(*functions))

    def failing(self) -> tuple[Any, ...]:
        """The arguments of the first call that went wrong, when the check was last run: `f(*check.q1.failing())`.

        Raises:
            ValueError: none went wrong, or the check was not run yet.
        """
        if (self.assignment, self.name) not in _FAILING:
            raise ValueError(say("question.none_failing", name=self.name, functions=", ".join(self.names)))
        return tuple(map(runnable, _copy(_FAILING[self.assignment, self.name])))

    def __repr__(self) -> str:
        return say("question.call", name=self.name, title=self.title, functions=", ".join(self.names))

    def __call__(self, *functions: Answer) -> None:
        """Print how the functions do on the public checks, as the cell that defines them does when it is run alone."""
        self._answers(functions)  # refuses what are no functions
        cell = _notebook.cell_of(functions[0])
        try:
            alone = _notebook.alone(
                functions, self.names, self.allowed, self.imports, written_out=self.attention_written_out
            )
            answers = self._answers(alone, cell)
            results = [self.grade_part(part, answers) for part in self.parts]
        except Wrong as wrong:
            results = [Result(part, 0, wrong.sentence, wrong.detail) for part in self.parts]
        except Unanswered:
            results = [Result(part, 0, say("cell.unanswered"), answered=False) for part in self.parts]
        if not any(result.answered for result in results):
            print(say("question.unanswered", name=self.name, points=self.points))
            return
        failing = [result.args_given for result in results if result.args_given is not None]
        _FAILING.pop((self.assignment, self.name), None)
        if failing:
            given = failing[0]
            as_arrays = self.tensors == "either" and libraries([cell]) == {"numpy"}
            _FAILING[self.assignment, self.name] = _with_arrays(given) if as_arrays else given
        earned = sum(result.earned for result in results)
        print(say("question.points", name=self.name, earned=earned, points=self.points))
        for result in results:
            why = "" if result.earned else " ".join(filter(None, (result.sentence, result.detail)))
            print(say("question.part", earned=result.earned, title=result.part.title, why=why))
        if failing:
            print(say("question.failing", name=self.name))
        print(say("question.grading"))
        if earned < self.points and hints_of(self.assignment, self.name):
            print(say("hint.stuck", name=self.name))


@dataclass(frozen=True)
class HandGraded(Hinted):
    """A question that a person reads, and the points it can give; called, it says that."""

    assignment: int
    name: str
    title: str
    points: int

    def __call__(self) -> None:
        """Print who reads the answer, and how to get a hint.

        >>> HandGraded(5, "q5", "two halves", 3)()
        q5: a person reads this answer (3 points), and no program.
          Stuck? Write check.q5.hint() on a line below this check, and run it again.
        """
        print(say("read.by_a_person", name=self.name, points=self.points))
        if hints_of(self.assignment, self.name):
            print(say("hint.stuck", name=self.name))


@dataclass(frozen=True)
class Assignment:
    """One assignment."""

    number: int
    title: str
    questions: tuple[Question, ...]
    hand_graded: tuple[HandGraded, ...] = ()

    @property
    def graded(self) -> tuple[Question | HandGraded, ...]:
        """All questions, in their order."""
        return tuple(sorted((*self.questions, *self.hand_graded), key=lambda question: question.name))

    @property
    def points(self) -> int:
        """The points of all questions."""
        return sum(question.points for question in self.graded)

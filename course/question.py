"""How a question is written: a reference, likely mistakes as edits of the solution, a drawing of inputs.

From a seed it draws what `posenc.check` compares with: inputs, right values, and what each mistake gives.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from course.submission import source_of
from posenc import check
from posenc.check import _views
from posenc.check._plain import plain
from posenc.check._question import Answer as Answer
from posenc.check._question import Likely, Result, Trial, Wrong, _copy, compare

PRIVATE = Path(__file__).resolve().parent / "private"
# The name of the variant that `make assignments SEED=…` wrote; empty for the assignments as they are published.
SEED = (PRIVATE / "seed").read_text(encoding="utf-8").strip() if (PRIVATE / "seed").is_file() else ""


def public_seed() -> str:
    """What the public checks' inputs are drawn from: other inputs in every variant."""
    return f"public {SEED}".strip()


def pick(name: str, *choices: Any) -> Any:
    """The first choice as it is published; in a variant one of the others, by the seed and a name."""
    return choices[generator(SEED, "variant", name).integers(1, len(choices))] if SEED else choices[0]


def sample(name: str, choices: Sequence[Any], count: int) -> list[Any]:
    """So many of the choices, in their order, by the variant's seed; the first ones where no variant was asked for."""
    if not SEED:
        return list(choices[:count])
    chosen = generator(SEED, "variant", name).choice(len(choices), count, replace=False)
    return [choices[place] for place in sorted(chosen)]


@dataclass(frozen=True)
class Case:
    """One call: what the student's function and the right one are given.

    `right` is the right value where the reference does not make it; `values` and `infinite` are those of a `Trial`.
    """

    args: tuple[Any, ...]
    right: Any = None
    values: str = ""
    infinite: str = ""

    def __init__(self, *args: Any, right: Any = None, values: str = "", infinite: str = "") -> None:
        for name, value in (("args", args), ("right", right), ("values", values), ("infinite", infinite)):
            object.__setattr__(self, name, value)


def path_of(number: int) -> Path:
    """The source of an assignment."""
    return PRIVATE / "sources" / f"assignment_{number}.ipynb"


def questions(number: int) -> Any:
    """The module with an assignment's questions. Raises ValueError where it is not here, as in a student's copy."""
    if not PRIVATE.is_dir():
        raise ValueError("the questions with their right values are in course/private, which is not here")
    return importlib.import_module(f"course.private.questions.assignment_{number}")


def varied(number: int, text: str) -> str:
    """A text of an assignment's source as the variant has it: what the questions' `VARIANT` names is replaced."""
    for find, replacement in questions(number).VARIANT.items():
        text = text.replace(find, replacement)
    return text


def source(number: int) -> dict[str, Any]:
    """The source of an assignment as the variant has it."""
    notebook: dict[str, Any] = json.loads(path_of(number).read_bytes())
    for cell in notebook["cells"]:
        cell["source"] = varied(number, source_of(cell)).splitlines(keepends=True)
    return notebook


@cache
def _cells(number: int) -> dict[str, str]:
    """The cells of an assignment's source, by name."""
    return {cell["id"]: source_of(cell) for cell in source(number)["cells"]}


def edited(number: int, name: str, *changes: str) -> str:
    """The solution of a question with changes: a text that stands in it once, and what takes its place, in turn."""
    text, changes = _cells(number)[name], tuple(varied(number, change) for change in changes)
    for find, replacement in zip(changes[::2], changes[1::2], strict=True):
        if text.count(find) != 1:
            raise ValueError(f"{find!r} stands {text.count(find)} times in the solution of {number} {name}")
        text = text.replace(find, replacement)
    return text


@lru_cache(maxsize=1024)
def defined(number: int, name: str, *changes: str) -> dict[str, Any]:
    """What an edited solution defines, below the imports of its notebook."""
    lines = "\n".join(_cells(number).get(cell, "") for cell in ("imports", "imports-torch")).splitlines()
    imports = [line for line in lines if line.startswith(("import ", "from ")) and "posenc" not in line]
    namespace: dict[str, Any] = {}
    exec("\n".join([*imports, edited(number, name, *changes)]), namespace)
    return namespace


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer, as a function; the rest is as in `Likely`."""

    sentence: str
    function: Answer
    tolerance: float = 0.0
    of: int | None = None

    def value(self, case: Case, view: Callable[[Any], Any] = lambda made: made) -> tuple[Any, ...]:
        """What it gives, in a tuple; an empty one where the mistake cannot be made, or gives no number."""
        try:
            with np.errstate(all="ignore"):
                made = view(plain(self.function(*_copy(case.args))))
            compare(made, made, 0.0)
        except (Wrong, ArithmeticError, ValueError, TypeError, IndexError, RuntimeError):
            return ()
        return (made,)


@dataclass(frozen=True)
class Edit:
    """A likely wrong answer, as `edited` makes it of the solution; the rest is as in `Likely`."""

    sentence: str
    changes: tuple[str, ...]
    tolerance: float
    of: int | None

    def __init__(self, sentence: str, *changes: str, tolerance: float = 0.0, of: int | None = None) -> None:
        for name, value in (("sentence", sentence), ("changes", changes), ("tolerance", tolerance), ("of", of)):
            object.__setattr__(self, name, value)

    def value(self, case: Case, right: Any, number: int, name: str, part: check.Part) -> tuple[Any, ...]:
        """What it gives, as a part sees it."""
        function = defined(number, name, *self.changes)[part.function]
        view = getattr(_views, part.view) if part.view else lambda made, right: made
        return Mistake(self.sentence, function).value(case, lambda made: view(made, right))


@dataclass(frozen=True, eq=False, repr=False)
class Part(check.Part):
    """A part whose trials are drawn by `cases`.

    What else is left out is the question's: the function (its first), the reference, the mistakes, the tolerance.
    `held_back` draws in place of `cases` where the seed is not the public one.
    """

    cases: Callable[[np.random.Generator], Iterable[Case]] = field(kw_only=True)
    held_back: Callable[[np.random.Generator], Iterable[Case]] | None = field(kw_only=True, default=None)
    reference: Answer | None = field(kw_only=True, default=None)
    mistakes: tuple[Mistake | Edit, ...] = field(kw_only=True, default=())


@dataclass(frozen=True, eq=False, repr=False)
class Question(check.Question):
    """A question that draws its inputs. `reference` gives the right values, to a relative `tolerance`."""

    parts: tuple[Part, ...]
    reference: Answer | None = None
    mistakes: tuple[Mistake | Edit, ...] = ()
    tolerance: float = 1e-5
    returns: tuple[str, ...] = ()

    @property
    def edits(self) -> list[Edit]:
        """The likely mistakes that are edits of the solution."""
        of_parts = (part.mistakes for part in self.parts)
        return list(dict.fromkeys(one for of in (self.mistakes, *of_parts) for one in of if isinstance(one, Edit)))

    def drawn(self, part: Part, seed: str) -> check.Part:
        """The part with the trials that follow from a seed."""
        return _drawn(self, part, seed)

    def public(self) -> check.Question:
        """The question as the installed package has it: values in place of functions."""
        parts = tuple(self.drawn(part, public_seed()) for part in self.parts)
        kept = {one.name: getattr(self, one.name) for one in fields(check.Question)}
        return check.Question(**{**kept, "parts": parts})

    def grade_part(self, part: check.Part, answers: Mapping[str, Answer], seed: str = "") -> Result:
        """How the answers do on one part, with the inputs that follow from `seed`."""
        assert isinstance(part, Part)
        return super().grade_part(self.drawn(part, seed or public_seed()), answers)

    def grade(self, *functions: Answer, seed: str = "") -> list[Result]:
        """How the functions do on every part."""
        answers = self._answers(functions)
        return [self.grade_part(part, answers, seed) for part in self.parts]

    def score(self, *functions: Answer, seed: str) -> int:
        """The points that the functions get with the inputs of `seed`; nbgrader reads them as partial credit."""
        return sum(result.earned for result in self.grade(*functions, seed=seed))


def generator(*names: object) -> np.random.Generator:
    """A random generator that follows from names alone: seed, assignment, question and part."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def until(wanted: Callable[..., bool], draw: Callable[[], Case]) -> Case:
    """A case whose arguments are wanted: such as decide an answer alike at any seed."""
    while not wanted(*(case := draw()).args):
        pass
    return case


@lru_cache(maxsize=512)  # a class is asked the same, so right values and mistakes are made once
def _drawn(question: Question, part: Part, seed: str) -> check.Part:
    reference, mistakes = part.reference or question.reference, part.mistakes or question.mistakes
    part = replace(part, function=part.function or question.names[0])
    cases = part.held_back if part.held_back and seed != public_seed() else part.cases
    trials = []
    for case in cases(generator(seed, question.assignment, question.name, part.title)):
        right = case.right
        if right is None:
            if reference is None:
                raise ValueError(f"{question.name}, {part.title}: a case without a right value needs a reference")
            right = plain(reference(*_copy(case.args)))
        made = tuple(
            one.value(case, right, question.assignment, question.name, part)
            if isinstance(one, Edit)
            else one.value(case)
            for one in mistakes
        )
        trials.append(Trial(case.args, right, made, case.values, case.infinite))
    kept = {one.name: getattr(part, one.name) for one in fields(check.Part)}
    return check.Part(
        **{
            **kept,
            "trials": tuple(trials),
            "likely": tuple(Likely(mistake.sentence, mistake.tolerance, mistake.of) for mistake in mistakes),
            "tolerance": part.tolerance or question.tolerance,
            "returns": part.returns or question.returns,
        }
    )


@dataclass(frozen=True)
class Assignment(check.Assignment):
    """An assignment of questions that draw their inputs."""

    questions: tuple[Question, ...]

    def public(self) -> check.Assignment:
        """The assignment as the installed package has it."""
        return check.Assignment(self.number, self.title, tuple(q.public() for q in self.questions), self.hand_graded)

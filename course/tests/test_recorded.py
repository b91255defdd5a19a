"""The installed package holds no solution: recorded values judge as the questions themselves, and answer nothing."""

from __future__ import annotations

import gzip
import math
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from course import recorded, sources
from course.grade import NUMBERS, assignment, imports_of
from course.private.bank import bank
from course.question import public_seed
from course.submission import source_of
from course.tests.test_wrong_answers import SEED, first_or_all, functions_of, graded
from posenc import check
from posenc.check import Question

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("bank")]
every_assignment = pytest.mark.parametrize("number", NUMBERS)
PACKAGE = Path(check.__file__).resolve().parent
MOST = 2 * 2**20  # bytes of all recordings


def public(number: int) -> dict[str, Question]:
    """The questions of the installed package, by name."""
    return {question.name: question for question in modules()[f"assignment_{number}"].ASSIGNMENT.questions}


def modules() -> dict[str, types.ModuleType]:
    """The modules of posenc.check, by name."""
    names = [path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"]
    return {name: __import__(f"posenc.check.{name}", fromlist=[name]) for name in names} | {"": check}


@every_assignment
def test_the_recording_is_up_to_date(number: int) -> None:
    assert recorded.is_up_to_date(number, imports_of(number)), "run `make assignments`"


def test_another_recording_is_replaced_and_the_same_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "FOLDER", tmp_path / "recorded")
    imports = imports_of(4)
    assert not recorded.is_up_to_date(4, imports)
    recorded.write(4, imports)
    path = recorded.path_of(4)
    content = gzip.decompress(path.read_bytes())
    last_digits = content[:-1] + bytes([content[-1] ^ 1])  # in the exponent of the last array's last number
    sentence = content.replace(b"the factor has no effect", b"the factor has no effort")
    for other in (last_digits, sentence):
        path.write_bytes(gzip.compress(other))
        assert not recorded.is_up_to_date(4, imports)
        recorded.write(4, imports)
        assert gzip.decompress(path.read_bytes()) == content
    kept = path.stat().st_mtime_ns
    recorded.write(4, imports)
    assert path.stat().st_mtime_ns == kept


@pytest.mark.parametrize(
    ("dtype", "small", "large"),
    [
        (torch.bfloat16, 0.01, 0.1),
        (torch.float16, 0.01, 0.1),
        (torch.float32, 1e-5, 1e-3),
        (torch.complex64, 1e-5, 1e-3),
        (torch.float64, 1e-12, 1e-8),
        (torch.complex128, 1e-12, 1e-8),
    ],
)
@pytest.mark.parametrize("scale", [1e-2, 1, 1e3])
def test_numbers_are_equal_up_to_the_rounding_of_their_dtype(
    dtype: torch.dtype, small: float, large: float, scale: float
) -> None:
    values = torch.tensor([1.0, -0.001, 0.0, math.inf, -math.inf, math.nan], dtype=torch.float64)
    recording, near, far = ((scale * (values + by)).to(dtype) for by in (0, small, large))
    assert recorded.agree({"values": [recording, 1, "a"]}, {"values": [near, 1, "a"]})
    for other in (far, recording[:3], recording[:, None], recording.nan_to_num()):
        assert not recorded.agree(recording, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1], (1,)),
        ([1], [1, 1]),
        ({"a": 1}, {"b": 1}),
        (1, 1.0),
        (1, True),
        ("a", "b"),
        (np.arange(3), np.arange(1, 4)),
        (0.5, 0.5 + 1e-9),
        (np.ones(2), np.ones(2, dtype=np.float32)),
        (np.ones(2), torch.ones(2, dtype=torch.float64)),
    ],
)
def test_other_data_is_not_equal(one: Any, other: Any) -> None:
    assert recorded.agree(one, one)
    assert not recorded.agree(one, other)


def test_the_recordings_are_small() -> None:
    assert sum(recorded.path_of(number).stat().st_size for number in NUMBERS) < MOST


@pytest.mark.filterwarnings("ignore")  # torch warns once, and so of the first of two calls
@every_assignment
@first_or_all
def test_the_installed_check_says_what_the_question_says(number: int, count: int | None) -> None:
    for name, installed in public(number).items():
        wrong = [source for _, source in bank(number).WRONG[name].values()]
        others = [list(getattr(bank(number), kind).get(name, {}).values()) for kind in ("PROPERTY_ONLY", "RIGHT")]
        for source in (source for kind in (wrong, *others) for source in kind[:count]):
            expected = [(r.part.title, r.earned, r.sentence) for r in graded(number, name, source, public_seed())]
            results = installed.grade(*functions_of(number, name, source))
            assert [(r.part.title, r.earned, r.sentence) for r in results] == expected, source


def reachable() -> Iterator[Callable[..., Any]]:
    """Every callable that can be reached from posenc.check without leaving it, but for Python's own methods."""
    waiting: list[Any] = [*modules().values()]
    seen: dict[int, Any] = {}  # with the objects, so that no other gets the number of one
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        home = item.__name__ if isinstance(item, types.ModuleType) else getattr(item, "__module__", None)
        if isinstance(item, (list, tuple, set, frozenset)):
            waiting += item
        elif isinstance(item, dict):
            waiting += item.values()
        if not str(home).startswith("posenc.check"):
            continue
        if callable(item):
            yield item
        waiting += [getattr(item, name, None) for name in dir(item) if not name.startswith("__")]
        waiting += [cell.cell_contents for cell in getattr(item, "__closure__", None) or ()]
        waiting += [getattr(item, name, None) for name in ("__defaults__", "__kwdefaults__", "__globals__")]


def test_nothing_in_the_package_answers_a_question(capsys: pytest.CaptureFixture[str]) -> None:
    functions_of_package = list(reachable())
    names = {getattr(one, "__name__", "") for one in functions_of_package}
    assert {"compare", "curve", "_slider", "plain", "likely_mistake", "assignment", "holds"} <= names
    for number in NUMBERS:
        for question in assignment(number).questions:
            for one in functions_of_package:
                functions = (one,) * len(question.names)
                earned = sum(result.earned for result in question.grade(*functions, seed=SEED))
                assert earned == 0, (number, question.name, one)


def secret(number: int) -> set[str]:
    """The longer lines of an assignment's questions and solutions, without imports and sentences that a check says."""
    cells = sources.source(number)["cells"]
    text = "\n".join(match[2] for cell in cells for match in sources.SOLUTION.finditer(source_of(cell)))
    text += (sources.ROOT / "course" / "private" / "questions" / f"assignment_{number}.py").read_text(encoding="utf-8")
    lines = {line.strip() for line in text.splitlines()}
    return {line for line in lines if len(line) > 24 and not line.startswith(("from ", "import ", '"', 'f"'))}


def test_no_line_of_a_solution_stands_in_the_package() -> None:
    written = [path.read_text(encoding="utf-8") for kind in ("*.py", "*.json") for path in PACKAGE.rglob(kind)]
    written += [gzip.decompress(recorded.path_of(number).read_bytes()).decode("latin-1") for number in NUMBERS]
    for number in NUMBERS:
        assert len(secret(number)) > (200 if assignment(number).questions else 10)
        assert [line for line in secret(number) for text in written if line in text] == []


@every_assignment
def test_the_installed_questions_hold_no_function(number: int) -> None:
    waiting: list[Any] = list(public(number).values())
    while waiting:
        item = waiting.pop()
        if isinstance(item, (list, tuple)):
            waiting += item
        elif isinstance(item, dict):
            waiting += item.values()
        elif type(item).__module__.startswith("posenc"):
            waiting += vars(item).values()
        else:
            assert not callable(item), item

"""Every public function, argument by argument: bad input is named, with its value."""

import inspect
import re
from importlib import import_module

import numpy as np
import pytest

from posenc.absolute import integer
from posenc.bias import alibi
from posenc.frequencies import angles, inv_freq
from posenc.rotary import cos_sin, rotate
from tests.unit.invalid_arguments import BAD, CASES


def public(module: str) -> set:
    """The functions of a module, or of a package, which has them from its parts."""
    found = vars(import_module(f"posenc.{module}")).values()
    here = [one for one in found if inspect.isfunction(one) and f"{one.__module__}.".startswith(f"posenc.{module}.")]
    return {function for function in here if not function.__name__.startswith("_")}


def refused(tables: dict, bad: dict) -> list[tuple]:
    """Each argument of each function with values to refuse; a list that arguments share is tried whole only once."""
    tried, rows = set(), []
    for function, (good, own) in ((function, case) for table in tables.values() for function, case in table.items()):
        for argument in inspect.signature(function).parameters:
            values = own.get(argument) or bad[argument]
            rows += [(function, good, argument, value) for value in values[: 1 if id(values) in tried else None]]
            tried.add(id(values))
    return rows


GOOD = [(function, good) for table in CASES.values() for function, (good, _) in table.items()]
REFUSED = refused(CASES, BAD)
NAMES = [f"{function.__name__}-{argument}" for function, _, argument, _ in REFUSED]


@pytest.mark.parametrize("module", CASES)
def test_every_public_function_is_tried(module):
    assert set(CASES[module]) == public(module), "a row for each is in tests/unit/invalid_arguments.py"


@pytest.mark.parametrize(("function", "good"), GOOD, ids=[function.__name__ for function, _ in GOOD])
def test_the_good_call_works(function, good):
    function(**good)


@pytest.mark.parametrize(("function", "good", "argument", "value"), REFUSED, ids=NAMES)
def test_the_message_names_the_argument_and_its_value(function, good, argument, value):
    check_message(function, good, argument, value)


LONG = np.arange(5000.0)
ONE_NAN = np.where(LONG == 3000, np.nan, LONG)
MESSAGES = [
    (lambda: angles(ONE_NAN, [1.0]), "positions must be finite, got nan in an array of shape (5000,)"),
    (lambda: angles(0, LONG - 4), "inv_freq must not be negative, got -4 in an array of shape (5000,)"),
    (lambda: angles(0, LONG[None]), "inv_freq must have shape (dim/2,), got an array of shape (1, 5000)"),
    (lambda: angles([np.nan] * 100, [1.0]), f"positions must be finite, got [{'nan, ' * 8}...]"),
    (lambda: integer(LONG - 0.5, 2), "positions must be integers, got -0.5 in an array of shape (5000,)"),
    (lambda: integer(LONG - 7, 2), "positions must be at least 0, got -7 in an array of shape (5000,)"),
    (lambda: inv_freq(LONG), "dim must be an integer, got an array of shape (5000,)"),
    (lambda: inv_freq(2, LONG), "base must be a number, got an array of shape (5000,)"),
    (lambda: rotate(LONG > 1, LONG), "x must be an array of floats, got dtype bool"),
    (lambda: alibi([[0.0, -1.0]], [-0.5]), "slopes must not be negative, got [-0.5]"),
    (lambda: cos_sin(LONG, LONG), "attention_factor must be a number, got an array of shape (5000,)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), MESSAGES)
def test_messages_say_the_shape_of_an_array_and_the_number_that_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
        call()


@pytest.mark.torch
def test_messages_say_no_more_of_a_tensor():
    import torch

    with pytest.raises(ValueError, match=r"^positions must be finite, got inf in an array of shape \(2, 300\)$"):
        angles(torch.full((2, 300), torch.inf), [1.0])
    with pytest.raises(TypeError, match=r"^inv_freq must be real numbers, got dtype torch.bool$"):
        angles(1, torch.ones(9) > 0)


@pytest.mark.torch
def test_classes_and_functions_that_need_torch():
    """All of the above for what is listed: torch is not to be imported before it is asked for."""
    listed = import_module("tests.unit.invalid_arguments_torch")
    for table in listed.CASES.values():
        for function, (good, _) in table.items():
            function(**good)
    for row in refused(listed.CASES, listed.BAD):
        check_message(*row)


def check_message(function, good, argument, value):
    with pytest.raises((TypeError, ValueError)) as caught:
        function(**(good | {argument: value}))
    message = str(caught.value)
    assert argument in message
    found = any(re.search(rf"(?<!\w){re.escape(said)}(?!\w)", message) for said in sayings(value))
    assert found, f"{message!r} does not say {value!r}"
    assert not re.search(r"(array|tensor)\(\[", message), "the numbers of an array are too many to print"


def sayings(value: object) -> set[str]:
    """The ways in which a message may say a value: itself, or of an array its shape, its dtype or one of its parts."""
    said = {repr(value), str(value), f"{value:g}" if isinstance(value, float) else repr(value)}
    for part in value if isinstance(value, (tuple, list)) else ():  # a rotary table has two arrays
        said |= {repr(part), str(part)} | (sayings(part) if isinstance(part, np.ndarray) else set())
    array = np.asarray(value) if isinstance(value, (list, np.ndarray)) else None
    if type(value).__name__ == "Tensor":
        said |= {str(tuple(value.shape)), str(value.dtype)}
    if array is not None:
        said |= {str(array.shape), str(array.dtype), *map(str, array.shape)}
    return said - {""}

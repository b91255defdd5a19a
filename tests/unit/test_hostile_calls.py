"""Every row of hostile_calls.py: a wrong call is refused by an error that names the argument, others are right."""

from __future__ import annotations

import pytest

from tests.unit.hostile_calls import REFUSED, RIGHT, rows, verdict

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(("call", "message"), rows(REFUSED))
def test_a_wrong_call_is_refused_by_an_error_that_names_the_argument(call, message):
    assert verdict(call, message, refused=True)[0] == "refused by name", verdict(call, message, refused=True)


@pytest.mark.parametrize(("call", "expected"), rows(RIGHT))
def test_an_unusual_call_is_right(call, expected):
    assert verdict(call, expected, refused=False)[0] == "right", verdict(call, expected, refused=False)

"""posenc.schemes.no_position: the temperature, refusals."""

import pytest

from posenc.schemes import make_scheme

pytestmark = pytest.mark.torch


def test_temperature_of_nope():
    assert make_scheme("none_with_temperature", factor=2.0).logit_scale(16, 10**6) == 2 / 4
    follows = make_scheme("none_with_temperature", trained_length=128)
    assert [follows.logit_scale(16, n) for n in (0, 1, 128)] == [0.25] * 3
    assert follows.logit_scale(16, 128**2) == pytest.approx(0.5)

"""BuildAnEncoding in Python: what chapter 03 proves of hands holds of every one that can be built."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import sinusoidal
from posenc.widgets import BuildAnEncoding
from posenc.widgets.build_an_encoding import LENGTH, SPEEDS
from tests.explorables import shown

speeds = st.lists(st.floats(0.001, 3.14), min_size=1, max_size=6)


@given(speeds)
def test_with_cosines_equal_distances_are_equal_for_any_speeds(chosen):
    setting = {f"speed_{k + 1}": speed for k, speed in enumerate(chosen)}
    facts = shown(BuildAnEncoding, cosines=True, hands=len(chosen), **setting).facts
    assert facts["spread"] < 1e-4  # of so small distances as these speeds make, rounding is a larger part


@pytest.mark.parametrize("name", SPEEDS)
def test_sines_alone_keep_no_distance(name):
    assert shown(BuildAnEncoding, speeds=name).facts["spread"] > 1


def test_the_code_of_a_geometric_list_is_the_sinusoidal_one():
    setting = {f"speed_{k + 1}": 10.0 ** (-k / 2) for k in range(4)}
    code = shown(BuildAnEncoding, cosines=True, hands=4, **setting).values["codes"]
    np.testing.assert_allclose(code, sinusoidal(np.arange(LENGTH), 8, base=100.0, layout="half-split"), atol=1e-12)


def test_the_story_holds():
    told = {}
    for name, setting in BuildAnEncoding.story().items():
        told[name] = shown(BuildAnEncoding, **setting).facts
    assert not told["shadows"]["even"]
    assert all(told[name]["even"] for name in ("cosines", "dice", "slow", "fast-and-slow"))
    assert told["slow"]["falls"] == 0
    assert told["slow"]["least"] < 0.1 < 1 < told["fast-and-slow"]["least"]

"""BuildAnEncoding: what chapter 03 proves about encodings of sines and cosines holds for any frequencies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import sinusoidal
from posenc.widgets import BuildAnEncoding
from posenc.widgets.build_an_encoding import FREQUENCIES, LENGTH
from tests.explorables import shown

frequencies = st.lists(st.floats(0.001, 3.14), min_size=1, max_size=6)


@given(frequencies)
def test_with_cosines_equal_distances_are_equal_for_any_frequencies(chosen):
    setting = {f"theta_{k}": theta for k, theta in enumerate(chosen)}
    facts = shown(BuildAnEncoding, cosines=True, pairs=len(chosen), **setting).facts
    assert facts["variation"] < 1e-4  # of distances as small as these frequencies make, rounding is a larger part


@pytest.mark.parametrize("name", FREQUENCIES)
def test_sines_alone_are_not_translation_invariant(name):
    assert shown(BuildAnEncoding, frequencies=name).facts["variation"] > 1


def test_the_encoding_of_a_geometric_list_is_the_sinusoidal_one():
    setting = {f"theta_{k}": 10.0 ** (-k / 2) for k in range(4)}
    encoding = shown(BuildAnEncoding, cosines=True, pairs=4, **setting).values["codes"]
    np.testing.assert_allclose(encoding, sinusoidal(np.arange(LENGTH), 8, base=100.0, layout="half-split"), atol=1e-12)


def test_the_story_holds():
    told = {}
    for name, setting in BuildAnEncoding.story().items():
        told[name] = shown(BuildAnEncoding, **setting).facts
    assert not told["sines"]["invariant"]
    assert all(told[name]["invariant"] for name in ("cosines", "random", "slow", "fast-and-slow"))
    assert told["slow"]["violations"] == 0
    assert told["slow"]["min_distance"] < 0.1 < 1 < told["fast-and-slow"]["min_distance"]

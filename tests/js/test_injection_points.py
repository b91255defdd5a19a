"""InjectionPoints: which injection point makes the score change, and which leaves it a function of the distance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.attention import attention
from posenc.widgets import InjectionPoints
from posenc.widgets.injection_points import KEY, LAST, QUERY, VECTORS
from tests.explorables import shown
from tests.js.oracles.injection_points import DIM

positions = st.integers(0, LAST)


@given(m=positions, n=positions, injection_point=st.sampled_from(["none", "query_key", "logits"]))
def test_moved_together_only_an_added_encoding_changes_the_score(m, n, injection_point):
    facts = shown(InjectionPoints, injection_point=injection_point, m=m, n=n).facts
    assert facts["relative"]
    assert facts["equivariant"] is (injection_point == "none")
    added = shown(InjectionPoints, injection_point="input", m=m, n=n).facts
    assert not added["equivariant"]
    assert added["relative"] is (abs(m - n) == LAST)  # there is no room to move in


@given(m=positions, n=positions)
def test_without_positions_it_is_the_logit_of_the_tokens(m, n):
    q, k = np.array([VECTORS[QUERY]]), np.array([VECTORS[KEY]])
    assert shown(InjectionPoints, injection_point="none", m=m, n=n).values["score"] == pytest.approx(
        attention(q, k, k).logits[0, 0]
    )


@given(m=positions, n=positions)
def test_a_bias_takes_a_sixteenth_off_for_each_step(m, n):
    without, biased = (
        shown(InjectionPoints, injection_point=point, m=m, n=n).values["score"] for point in ("none", "logits")
    )
    assert biased == pytest.approx(without - abs(m - n) / 16)


@given(m=positions, n=positions)
def test_rotating_both_is_rotating_by_their_distance(m, n):
    q, k = np.reshape(VECTORS[QUERY], (-1, 2)), np.reshape(VECTORS[KEY], (-1, 2))
    products = (q[:, 0] + 1j * q[:, 1]) * (k[:, 0] - 1j * k[:, 1])
    score = np.sum(np.real(products * np.exp(1j * (m - n) * np.array([1.0, 0.1])))) / np.sqrt(DIM)
    assert shown(InjectionPoints, injection_point="query_key", m=m, n=n).values["score"] == pytest.approx(score)


@given(m=positions, n=positions, injection_point=st.sampled_from(["none", "input", "query_key", "logits"]))
def test_the_curves_go_through_the_score(m, n, injection_point):
    values = shown(InjectionPoints, injection_point=injection_point, m=m, n=n).values
    assert values["apart"][m] == pytest.approx(values["score"])
    assert values["together"][min(m, n)] == pytest.approx(values["score"])
    assert len(values["together"]) == LAST + 1 - abs(m - n)


def test_the_story_holds():
    told = {name: shown(InjectionPoints, **setting).facts for name, setting in InjectionPoints.story().items()}
    assert {name: (facts["equivariant"], facts["relative"]) for name, facts in told.items()} == {
        "input": (False, False),
        "query-and-key": (False, True),
        "logits": (False, True),
        "none": (True, True),
    }

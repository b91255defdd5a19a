"""InjectionPoints in Python: which door makes the score move, and which lets it know only the distance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.attention import attention
from posenc.widgets import InjectionPoints
from posenc.widgets.injection_points import KEY, LAST, QUERY, VECTORS
from tests.explorables import shown
from tests.js.oracles.injection_points import DIM

places = st.integers(0, LAST)


@given(m=places, n=places, door=st.sampled_from(["none", "query_key", "logits"]))
def test_moved_together_only_an_added_code_moves_the_score(m, n, door):
    facts = shown(InjectionPoints, door=door, m=m, n=n).facts
    assert facts["stays"]
    assert facts["blind"] is (door == "none")
    added = shown(InjectionPoints, door="input", m=m, n=n).facts
    assert not added["blind"]
    assert added["stays"] is (abs(m - n) == LAST)  # there is no room to move in


@given(m=places, n=places)
def test_with_all_doors_shut_it_is_the_logit_of_the_words(m, n):
    q, k = np.array([VECTORS[QUERY]]), np.array([VECTORS[KEY]])
    assert shown(InjectionPoints, door="none", m=m, n=n).values["score"] == pytest.approx(
        attention(q, k, k).logits[0, 0]
    )


@given(m=places, n=places)
def test_a_bias_takes_a_sixteenth_off_for_each_step(m, n):
    shut, open_ = (shown(InjectionPoints, door=door, m=m, n=n).values["score"] for door in ("none", "logits"))
    assert open_ == pytest.approx(shut - abs(m - n) / 16)


@given(m=places, n=places)
def test_a_turn_of_both_is_a_turn_by_their_distance(m, n):
    q, k = np.reshape(VECTORS[QUERY], (-1, 2)), np.reshape(VECTORS[KEY], (-1, 2))
    products = (q[:, 0] + 1j * q[:, 1]) * (k[:, 0] - 1j * k[:, 1])
    score = np.sum(np.real(products * np.exp(1j * (m - n) * np.array([1.0, 0.1])))) / np.sqrt(DIM)
    assert shown(InjectionPoints, door="query_key", m=m, n=n).values["score"] == pytest.approx(score)


@given(m=places, n=places, door=st.sampled_from(["none", "input", "query_key", "logits"]))
def test_the_curves_go_through_the_score(m, n, door):
    values = shown(InjectionPoints, door=door, m=m, n=n).values
    assert values["apart"][m] == pytest.approx(values["score"])
    assert values["together"][min(m, n)] == pytest.approx(values["score"])
    assert len(values["together"]) == LAST + 1 - abs(m - n)


def test_the_story_holds():
    told = {name: shown(InjectionPoints, **setting).facts for name, setting in InjectionPoints.story().items()}
    assert {name: (facts["blind"], facts["stays"]) for name, facts in told.items()} == {
        "input": (False, False),
        "query-and-key": (False, True),
        "logits": (False, True),
        "shut": (True, True),
    }

"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import traitlets

from posenc.widgets import OrderBlindness
from tests.explorables import shown

EQUAL = 1e-12
MAT = "the cat sat on the mat"


def changes(**setting):
    """The largest changes of outputs, weights and mean, and those of the last token and of repeated words."""
    values = shown(OrderBlindness, **setting).values
    largest = (float(np.max(values[name])) for name in ("output_change", "weight_change", "mean_change"))
    return (*largest, values["last_change"], values["repeat_change"])


def test_alibi_without_a_mask_misses_only_the_reversal():
    for order in permutations("012"):
        seen = changes(scheme="alibi", order="".join(order))[0] > 1e-3
        assert seen == (order not in (("0", "1", "2"), ("2", "1", "0")))
    assert "Reversing the sentence keeps all distances" in shown(OrderBlindness, scheme="alibi").finding
    assert changes(scheme="alibi", causal=True)[0] > 1e-3


def test_the_last_token_of_one_causal_layer_is_blind_and_of_two_is_not():
    words = MAT.split()
    for order in list(permutations(range(5)))[::7]:
        text = "".join(map(str, order))
        setting = {"sentence": MAT, "order": text, "causal": True}
        assert changes(**setting)[3] < EQUAL, text
        if [words[i] for i in order] != words[:5]:
            assert changes(**setting, layers="2")[3] > 1e-3, text
            assert changes(**setting, scheme="sinusoidal")[3] > 1e-3, text


def test_equal_words_need_a_mask_and_something_to_count_from():
    assert changes(sentence="the the the the the", causal=True, layers="2")[4] < EQUAL
    assert changes(sentence="BOS the the the the")[4] < EQUAL
    assert changes(sentence="BOS the the the the", causal=True)[4] > 0.1
    assert changes(sentence=MAT)[4] < EQUAL
    assert changes(sentence=MAT, causal=True)[4] > 0.1


@pytest.mark.parametrize(
    ("order", "moved"),
    [("", "dog bites man"), ("2", "man dog bites"), ("5241", "man bites dog"), ("543", "dog bites man")],
)
def test_an_order_names_some_places_and_the_others_follow(order, moved):
    assert " ".join(shown(OrderBlindness, order=order).values["moved_words"]) == moved


@pytest.mark.parametrize("order", ["00", "6", "0 1", "0123450", "man", None])
def test_an_order_that_is_none_is_refused(order):
    with pytest.raises(traitlets.TraitError, match="order takes digits from 0 to 5, each at most once"):
        OrderBlindness(order=order)


@pytest.mark.parametrize(
    ("step", "changed", "last_same"),
    [
        ("equivariant", 0, False),
        ("encoding", 3, False),
        ("reversed", 0, False),
        ("masked", 2, True),
        ("two-masked", 3, False),
    ],
)
def test_each_step_of_the_story_is_true(step, changed, last_same):
    widget = shown(OrderBlindness, **OrderBlindness.story()[step])
    facts = widget.facts
    assert (facts["count"], facts["changed"], facts["last_same"]) == (3, changed, last_same)
    assert facts["last_kept"] == (step in ("masked", "two-masked"))


@pytest.mark.parametrize("order", ["210", "120", "102"])
def test_what_is_drawn_on_the_way_is_the_moved_matrix_where_order_has_no_effect(order):
    values = shown(OrderBlindness, order=order).values
    rows, columns = values["rows"].astype(int), values["columns"].astype(int)
    moved = np.empty_like(values["weights"])
    moved[np.ix_(rows, columns)] = values["weights"]
    np.testing.assert_allclose(moved, values["moved_weights"], atol=EQUAL)

"""Sentences, made of a catalogue's texts and of facts."""

import pytest

from posenc._numbers import number
from posenc._sentences import holds, say, say_key
from tests.unit.sentences import FACTS, NAMES, SAID


@pytest.mark.parametrize(("text", "said"), SAID)
def test_it_is_said(text, said):
    assert say(text, FACTS, NAMES) == said


def test_python_writes_more_numbers():
    facts = {"fraction": 2 / 3, "none": 0.0, "few": 999.5, "small": -1e-5}
    text = "{fraction:percent} {none:percent} {fraction:3g} {few:3g} {small:2g}"
    assert say(text, facts) == "67\u00a0% 0\u00a0% 0.667 1e+03 −1e-05"


def test_numbers_of_figures():
    assert [number(x, 2) for x in (-1_234_567.891, 999.5, -0.001)] == ["−1\u202f234\u202f567.89", "999.50", "0.00"]
    assert [number(x, 0) for x in (-1_234_567.891, 2.5)] == ["−1\u202f234\u202f568", "3"]


def test_a_key_names_a_text_of_a_group():
    words = {"names": NAMES, "greeting": {"one": "{method:names} once", "none": "none"}}
    assert say_key(words, "greeting.one", FACTS) == "position interpolation once"
    for key in ("greeting.two", "farewell.one", "greeting"):
        with pytest.raises(KeyError):
            say_key(words, key, FACTS)


def test_a_fact_and_a_name_that_are_not_there_are_named():
    with pytest.raises(KeyError, match="no fact 'nothing' among count, "):
        say("{nothing}", FACTS)
    with pytest.raises(KeyError, match="no fact 'nothing' among"):
        say({"if": "count > nothing", "then": ""}, FACTS)
    with pytest.raises(KeyError, match="linear"):
        say("{method:schemes}", FACTS, {"schemes": {}})


def test_nothing_is_less_or_more_than_none():
    facts = {"a": None, "b": 2}
    assert not any(holds(f"a {sign} b", facts) for sign in "<≤>≥=")
    assert holds("a ≠ b and a = none and b ≠ none", facts)

"""Sentences, made of a catalogue's texts and of facts."""

from __future__ import annotations

import pytest

from posenc._sentences import say, say_all
from tests.sentences import FACTS, NAMES, SAID


@pytest.mark.parametrize(("text", "said"), SAID)
def test_it_is_said(text, said):
    assert say(text, FACTS, NAMES) == said


def test_several_have_a_space_between_and_empty_ones_none():
    assert say_all(["One.", "", {"if": "yes", "then": "Two."}, {"if": "no", "then": "Three."}], FACTS) == "One. Two."


def test_a_fact_and_a_name_that_are_not_there_are_named():
    with pytest.raises(KeyError, match="no fact 'nothing' among count, "):
        say("{nothing}", FACTS)
    with pytest.raises(KeyError, match="no fact 'nothing' among"):
        say({"if": "count > nothing", "then": ""}, FACTS)
    with pytest.raises(KeyError, match="linear"):
        say("{method:schemes}", FACTS, {"schemes": {}})

"""InjectionPoints: which injection point makes the score change, and which leaves it a function of the distance."""

from posenc.widgets import InjectionPoints
from tests.explorables import shown
from tests.js.node import figure_of


def test_the_story_holds():
    told = {name: shown(InjectionPoints, **setting).facts for name, setting in InjectionPoints.story().items()}
    assert {name: (facts["equivariant"], facts["relative"]) for name, facts in told.items()} == {
        "none": (True, True),
        "input": (False, False),
        "query-and-key": (False, True),
        "logits": (False, True),
    }


def test_weights_of_six_tokens_change_with_their_positions_only_through_an_injection_point():
    def weights(**setting):
        return shown(InjectionPoints, **setting).values["weights"]

    for point, moves in {"none": False, "input": True, "query_key": True, "logits": True}.items():
        here, there, shifted = (
            weights(injection_point=point, **places) for places in ({}, {"m": 22}, {"m": 19, "n": 11, "start": 7})
        )
        assert bool(abs(there - here).max() > 0.01) is moves
        assert bool(abs(shifted - here).max() > 0.01) is (point == "input")


def test_a_token_that_is_moved_skips_the_positions_of_others():
    def moved(name, to, **setting):
        state = InjectionPoints(**setting).setting()
        return figure_of(InjectionPoints)._exports(
            "A.definition.linked(x.changes, x.state)", {"changes": {name: to}, "state": state}
        )

    assert moved("m", 20, m=19) == {"m": 21}
    assert moved("m", 20, m=21) == {"m": 19}
    assert moved("n", 16) == {"n": 17}
    assert moved("start", 6, n=6) == {"start": 7}
    assert moved("n", 6, m=6, n=6) == {"n": 6}, "where a link has put both, each can stay"

"""InjectionPoints: which injection point makes the score change, and which leaves it a function of the distance."""

from posenc.widgets import InjectionPoints
from tests.explorables import shown


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
            weights(injection_point=point, **places) for places in ({}, {"m": 20}, {"m": 17, "n": 9, "start": 5})
        )
        assert bool(abs(there - here).max() > 0.01) is moves
        assert bool(abs(shifted - here).max() > 0.01) is (point == "input")

"""InjectionPoints: which injection point makes the score change, and which leaves it a function of the distance."""

from posenc.widgets import InjectionPoints
from tests.explorables import shown


def test_the_story_holds():
    told = {name: shown(InjectionPoints, **setting).facts for name, setting in InjectionPoints.story().items()}
    assert {name: (facts["equivariant"], facts["relative"]) for name, facts in told.items()} == {
        "input": (False, False),
        "query-and-key": (False, True),
        "logits": (False, True),
        "none": (True, True),
    }

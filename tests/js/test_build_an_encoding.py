"""BuildAnEncoding: what chapter 03 proves about encodings of sines and cosines holds for any frequencies."""

from posenc.widgets import BuildAnEncoding
from tests.explorables import shown


def test_the_story_holds():
    story = {name: shown(BuildAnEncoding, **setting) for name, setting in BuildAnEncoding.story().items()}
    told = {name: each.facts for name, each in story.items()}
    assert not told["sines"]["invariant"]
    assert all(told[name]["invariant"] for name in ("cosines", "random", "slow", "fast-and-slow"))
    assert story["slow"].values["monotonicity_violations"] == 0
    assert told["slow"]["min_distance"] < 0.1 < 1 < told["fast-and-slow"]["min_distance"]

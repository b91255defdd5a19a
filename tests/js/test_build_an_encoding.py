"""BuildAnEncoding: what chapter 03 proves about encodings of sines and cosines holds for any frequencies."""

from posenc.widgets import BuildAnEncoding
from tests.explorables import shown


def test_the_story_holds():
    told = {}
    for name, setting in BuildAnEncoding.story().items():
        told[name] = shown(BuildAnEncoding, **setting).facts
    assert not told["sines"]["invariant"]
    assert all(told[name]["invariant"] for name in ("cosines", "random", "slow", "fast-and-slow"))
    assert told["slow"]["violations"] == 0
    assert told["slow"]["min_distance"] < 0.1 < 1 < told["fast-and-slow"]["min_distance"]

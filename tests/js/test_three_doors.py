"""ThreeDoors' arithmetic in JavaScript, compared with the package."""

from __future__ import annotations

import pytest

from posenc.widgets import ThreeDoors


def test_the_arithmetic_equals_python(arithmetic):
    for door in ("none", "input", "query_key", "logits"):
        for m, n in ((0, 0), (0, 32), (32, 0), (7, 3), (4, 9)):
            setting = {"door": door, "m": m, "n": n, "words": ThreeDoors.data()}
            found = arithmetic("A.scoreOf(x.door, x.words, x.m, x.n)", setting)
            assert found == pytest.approx(ThreeDoors(door=door, m=m, n=n).values()["score"], abs=1e-10)

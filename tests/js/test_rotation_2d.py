"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import itertools
import math

import pytest

from posenc.widgets import Rotation2D
from tests.explorables import shown

PLACE = "A.place(x.wide, x.point, x.towards, x.away, { left: 0, right: 200, top: 0, bottom: 100 }, x.taken)"


@pytest.mark.parametrize("towards", [0, math.pi / 2, math.pi, 5])
def test_labels_of_one_point_cover_neither_each_other_nor_the_edge(module_of, towards):
    for point in ([100, 50], [0, 0], [200, 100], [199, 1]):
        taken = []
        for wide in (60, 20, 40, 50):
            given = {"wide": wide, "point": point, "towards": towards, "away": 8, "taken": taken}
            taken.append(module_of("labels.js")(PLACE, given))
        for box in taken:
            assert 0 <= box["left"] < box["right"] <= 200
            assert 0 <= box["top"] < box["bottom"] <= 100
        for one, other in itertools.combinations(taken, 2):
            apart = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (point, taken)


@pytest.mark.parametrize("n", [11, 7])
def test_two_layouts_are_said_to_differ_only_if_they_do(n):
    finding = shown(Rotation2D, view="half-split", locked=False, m=11, n=n).finding
    assert ("give the same score" in finding) == (n == 11)

"""Arithmetic of rotation_2d in JavaScript, compared with the package."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from posenc.frequencies import angles, inv_freq
from posenc.rotary import pair_scores, rotate, rotation_matrix

RNG = np.random.default_rng(5)


PLACE = "A.place(x.wide, x.point, x.towards, x.away, { left: 0, right: 200, top: 0, bottom: 100 }, x.taken)"


@pytest.mark.parametrize("layout", ["interleaved", "half-split"])
@pytest.mark.parametrize("theta", [0.0, 0.01, 0.4, 3.14])
def test_rotations_equal_python(arithmetic, layout, theta):
    for dim in (2, 4):
        frequencies = theta * inv_freq(dim, 100.0)
        for position in (-32, -1, 0, 5, 42):
            q, k = RNG.uniform(-1.5, 1.5, (2, dim))
            turned = angles(position, frequencies)
            x = {"q": list(q), "k": list(k), "angles": list(turned), "layout": layout}
            found = arithmetic(
                """({
                  matrix: A.rotationMatrix(x.angles, x.layout),
                  turned: A.applied(A.rotationMatrix(x.angles, x.layout), x.q),
                  products: A.conjugateProducts(x.q, x.k, x.layout),
                  score: A.scoreByComplex(x.q, x.k, x.angles, x.layout),
                })""",
                x,
            )
            np.testing.assert_allclose(found["matrix"], rotation_matrix(turned, layout), atol=1e-10, rtol=0)
            np.testing.assert_allclose(found["turned"], rotate(q, turned, layout), atol=1e-10, rtol=0)
            by_pair = pair_scores(q, k, turned, layout)
            np.testing.assert_allclose(found["score"], by_pair.sum(), atol=1e-10, rtol=0)
            real, imaginary = np.transpose(found["products"])
            np.testing.assert_allclose(real * np.cos(turned) - imaginary * np.sin(turned), by_pair, atol=1e-10, rtol=0)


@pytest.mark.parametrize("towards", [0, math.pi / 2, math.pi, 5])
def test_labels_of_one_point_cover_neither_each_other_nor_the_edge(labels, towards):
    for point in ([100, 50], [0, 0], [200, 100], [199, 1]):
        taken = []
        for wide in (60, 20, 40, 50):
            given = {"wide": wide, "point": point, "towards": towards, "away": 8, "taken": taken}
            taken.append(labels(PLACE, given))
        for box in taken:
            assert 0 <= box["left"] < box["right"] <= 200
            assert 0 <= box["top"] < box["bottom"] <= 100
        for one, other in itertools.combinations(taken, 2):
            apart = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (point, taken)

"""RotationPlanes: a rotation along other axes is the same rotation."""

import numpy as np

from posenc.widgets import RotationPlanes
from tests.explorables import shown
from tests.js.oracles.rotation_planes import APART, RADII


def test_products_depend_on_the_offset_alone_and_not_on_the_axes():
    for align in (0.0, 0.6, 1.0):
        values = shown(RotationPlanes, align=align, draw=11).values
        expected = RADII[0] ** 2 * np.cos(APART * 1.0) + RADII[1] ** 2 * np.cos(APART * 0.23)
        np.testing.assert_allclose([values["product"], values["elsewhere"]], expected)


def test_a_product_rotates_by_the_angle_of_w_and_scales_by_its_length():
    rotated = shown(RotationPlanes, view="plane", w_length=1.3, w_angle=-2.0).values["rotated"]
    np.testing.assert_allclose(complex(*rotated), complex(0.5, 1.1) * 1.3 * np.exp(-2j))

"""RotationPlanes: a rotation along other axes is the same rotation."""

import numpy as np
import pytest

from posenc.widgets import RotationPlanes
from tests.explorables import shown
from tests.js.oracles.rotation_planes import APART, RADII, rotated_axes


@pytest.mark.parametrize("draw", [0, 3, 999])
@pytest.mark.parametrize("share", [0.0, 0.37, 1.0])
def test_the_axes_stay_at_right_angles(draw, share):
    axes = rotated_axes(draw, share)
    np.testing.assert_allclose(axes @ axes.T, np.eye(4), atol=1e-12)
    if share == 0:
        np.testing.assert_array_equal(axes, np.eye(4))


@pytest.mark.parametrize("align", [0.0, 0.5, 1.0])
def test_one_matrix_makes_every_step_of_the_path(align):
    seen = shown(RotationPlanes, align=align).values["seen"]
    step = np.linalg.lstsq(seen[:-1], seen[1:], rcond=None)[0]
    np.testing.assert_allclose(seen[:-1] @ step, seen[1:], atol=1e-10)
    np.testing.assert_allclose(step @ step.T, np.eye(4), atol=1e-8)
    frequencies = np.sort(np.abs(np.angle(np.linalg.eigvals(step))))[::2]
    np.testing.assert_allclose(frequencies, [0.23, 1.0], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(seen, axis=1), np.hypot(*RADII))


def test_products_depend_on_the_offset_alone_and_not_on_the_axes():
    for align in (0.0, 0.6, 1.0):
        values = shown(RotationPlanes, align=align, draw=11).values
        expected = RADII[0] ** 2 * np.cos(APART * 1.0) + RADII[1] ** 2 * np.cos(APART * 0.23)
        np.testing.assert_allclose([values["product"], values["elsewhere"]], expected)


def test_along_aligned_axes_the_path_is_two_circles():
    values = shown(RotationPlanes, align=1.0).values
    np.testing.assert_allclose(values["seen"], values["own"], atol=1e-12)
    radius = np.hypot(values["seen"][:, 2], values["seen"][:, 3])
    np.testing.assert_allclose(radius, RADII[1])
    unaligned = shown(RotationPlanes).values["seen"]
    assert np.ptp(np.hypot(unaligned[:, 0], unaligned[:, 1])) > 0.5


def test_a_product_rotates_by_the_angle_of_w_and_scales_by_its_length():
    facts = shown(RotationPlanes, view="plane", w_length=1.3, w_angle=-2.0).facts
    np.testing.assert_allclose(facts["after"], 1.3 * facts["before"])
    before, after = np.angle(complex(1.6, 0.8)), np.angle(complex(facts["across"], facts["up"]))
    np.testing.assert_allclose(np.exp(1j * (after - before)), np.exp(-2j))

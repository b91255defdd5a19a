"""RotationPlanes beyond the battery: z and w are dragged in their plane, and the path is orbited."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import RotationPlanes
from tests.book.site.hands import drag_handle, handle_of

pytestmark = pytest.mark.xdist_group("RotationPlanes")


@pytest.mark.parametrize("width", [1280, 360])
def test_z_and_w_are_dragged_where_they_stand(open_live, width):
    live = open_live(RotationPlanes, width=width)
    live.set(view="plane")
    for name, controls in (("z", ("z_real", "z_imaginary")), ("w", ("w_length", "w_angle"))):
        handle, before = handle_of(live, name), [live.get(control) for control in controls]
        drag_handle(live, name, -30, 12)
        moved = handle_of(live, name)
        assert np.hypot(moved["x"] - handle["x"] + 30, moved["y"] - handle["y"] - 12) < 2
        assert all(live.get(control) != value for control, value in zip(controls, before, strict=True))


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize(("panel", "sign"), [("axes 1 and 2", 1), ("axes 3 and 4", -1)])
def test_what_is_in_front_follows_the_pointer(open_live, width, panel, sign):
    live = open_live(RotationPlanes, width=width)
    drag_handle(live, panel, 30, -20)
    assert sign * live.get("orbit_13") > 0.1
    assert sign * live.get("orbit_24") > 0.1


def test_the_slider_tells_how_far_the_axes_are_aligned(open_live):
    live = open_live(RotationPlanes)
    live.set(align=1.0)
    drag_handle(live, "axes 1 and 2", 30, -20)
    assert 0 < live.get("align") < 0.9
    drag_handle(live, "axes 1 and 2", 60, 200)
    assert live.get("align") == 0
    live.input("align").press("End")
    assert (live.get("align"), live.get("orbit_13"), live.get("orbit_24")) == (1, 0, 0)

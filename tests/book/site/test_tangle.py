"""Tangle beyond the battery: z and w are dragged in their plane, and each view has its own controls."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import Tangle

pytestmark = pytest.mark.xdist_group("Tangle")


@pytest.mark.parametrize("width", [1280, 360])
def test_z_and_w_are_dragged_where_they_stand(open_live, width):
    live = open_live(Tangle, width=width)
    live.set(view="grid")
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    for name, controls in (("z", ("z_real", "z_imaginary")), ("w", ("w_length", "w_angle"))):
        [handle] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == name]
        box, before = canvas.bounding_box(), [live.get(control) for control in controls]
        live.page.mouse.move(box["x"] + handle["x"], box["y"] + handle["y"])
        live.page.mouse.down()
        live.page.mouse.move(box["x"] + handle["x"] - 30, box["y"] + handle["y"] + 12)
        live.page.mouse.up()
        live.settle()
        [moved] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == name]
        assert np.hypot(moved["x"] - handle["x"] + 30, moved["y"] - handle["y"] - 12) < 2
        assert all(live.get(control) != value for control, value in zip(controls, before, strict=True))


def test_each_view_has_its_own_controls(open_live):
    live = open_live(Tangle)
    live.open()
    play = live.figure.locator(".posenc-bar button[aria-label^=Play]")
    for view, there, absent in (("four", "untangle", "w_angle"), ("grid", "w_angle", "untangle")):
        live.control("view").get_by_text(
            {"four": "four dimensions", "grid": "one plane, z·w"}[view], exact=True
        ).click()
        live.settle()
        assert live.control(there).is_visible()
        assert live.control(absent).is_hidden()
        assert play.is_visible() == (view == "four")

"""ContextExtension beyond the battery: its panels, handles and presets."""

from __future__ import annotations

import pytest

from posenc.widgets import ContextExtension
from tests.book.site.hands import drag_handle
from tests.explorables import shown

pytestmark = pytest.mark.xdist_group("ContextExtension")  # with the battery of tests of it: they share its page


PANELS = ContextExtension.catalogue["controls"]["shown"]["options"]


def test_small_panels_are_pressed_to_be_large(open_live):
    live = open_live(ContextExtension)
    canvas = live.figure.locator("canvas")
    box = canvas.bounding_box()
    for k in (0, 1, 1, 0, 0):
        small = [panel for panel in PANELS if panel != live.get("shown")]
        canvas.click(position={"x": box["width"] - 40, "y": (k + 0.6) * box["height"] / 2})
        assert live.get("shown") == small[k]


def test_thresholds_and_the_trained_length_are_dragged(open_live):
    live = open_live(ContextExtension)
    drag_handle(live, "beta_fast", 40, 0)
    drag_handle(live, "beta_slow", -30, 0)
    assert live.get("beta_fast") < 32
    assert live.get("beta_slow") > 1
    live.set(**{**ContextExtension().setting(), "shown": "scores"})
    drag_handle(live, "trained", -40, 0)
    assert live.get("trained") < 4096
    assert live.get("model") == "own"
    assert live.finding == shown(ContextExtension, **live.setting()).finding


def test_a_model_brings_its_numbers_and_is_left_when_one_moves(open_live):
    live = open_live(ContextExtension)
    live.open()
    live.control("model").locator("select").select_option("Phi-3-mini-128k-instruct")
    assert [live.get(name) for name in ("dim", "factor", "used")] == [96, 32, 131_072]
    live.control("method").locator("select").select_option("longrope")
    assert live.get("model") == "Phi-3-mini-128k-instruct"  # the method is no part of the preset
    assert "with LongRoPE" in live.finding
    live.input("dim").press("ArrowRight")
    assert live.get("model") == "own"
    assert "lists of LongRoPE have 48 pairs" in live.finding

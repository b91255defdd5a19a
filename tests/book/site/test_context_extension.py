"""ContextExtension beyond the battery: its handles and presets."""

from __future__ import annotations

import pytest

from posenc.widgets import ContextExtension
from tests.book.site.hands import drag_handle
from tests.explorables import shown

pytestmark = pytest.mark.xdist_group("ContextExtension")  # with the battery of tests of it: they share its page


def test_factor_and_thresholds_are_dragged(open_live):
    live = open_live(ContextExtension)
    drag_handle(live, "factor", 0, -30)
    assert live.get("method") == "linear", "what divides all frequencies is PI"
    assert 1 < live.get("factor") < 4
    live.set(**{**ContextExtension().setting(), "method": "yarn_code"})
    drag_handle(live, "beta_fast", 40, 0)
    drag_handle(live, "beta_slow", -30, 0)
    assert live.get("beta_fast") < 32
    assert live.get("beta_slow") > 1
    assert live.finding == shown(ContextExtension, **live.setting()).finding


def test_a_model_brings_its_numbers_and_is_left_when_one_moves(open_live):
    live = open_live(ContextExtension)
    live.open()
    live.control("model").locator("select").select_option("Phi-3-mini-128k-instruct")
    assert [live.get(name) for name in ("dim", "factor", "used")] == [96, 32, 131_072]
    live.control("method").locator("select").select_option("longrope")
    assert live.get("model") == "Phi-3-mini-128k-instruct"  # the method is no part of the preset
    assert "LongRoPE slows even the fastest pair" in live.finding
    live.input("dim").press("ArrowRight")
    assert live.get("model") == "own"
    assert "lists of LongRoPE have 48 pairs" in live.finding

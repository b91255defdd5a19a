"""ContextExtension: its arithmetic against posenc over the range of every slider, and what only it draws."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import ContextExtension

pytestmark = pytest.mark.xdist_group("ContextExtension")  # with the battery of tests of it: they share its page


PANELS = ContextExtension.catalogue["controls"]["shown"]["options"]


@pytest.mark.parametrize("panel", PANELS)
def test_the_large_panel_is_read_off(open_live, panel):
    live = open_live(ContextExtension)
    live.set(shown=panel)
    box = live.figure.locator("canvas").bounding_box()
    live.figure.locator("canvas").hover(position={"x": 0.4 * box["width"], "y": 0.7 * box["height"]})
    assert live.readout.startswith("Δ = " if panel == "scores" else "pair ")


def test_small_panels_are_pressed_to_be_large(open_live):
    live = open_live(ContextExtension)
    canvas = live.figure.locator("canvas")
    box = canvas.bounding_box()
    for k in (0, 2, 1, 0, 1, 2):
        small = [panel for panel in PANELS if panel != live.get("shown")]
        canvas.click(position={"x": box["width"] - 40, "y": (k + 0.6) * box["height"] / 3})
        assert live.get("shown") == small[k]


def drag(live, name: str, across: float, up: float) -> None:
    """Drag a handle by so many pixels."""
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    [handle] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == name]
    x, y = box["x"] + handle["x"], box["y"] + handle["y"]
    live.page.mouse.move(x, y)
    live.page.mouse.down()
    live.page.mouse.move(x + across, y + up, steps=4)
    live.page.mouse.up()
    [moved] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == name]
    wanted = (across, 0) if moved["along"] == "x" else (0, up)
    assert np.hypot(moved["x"] - handle["x"] - wanted[0], moved["y"] - handle["y"] - wanted[1]) < 4


def test_thresholds_and_lengths_are_dragged(open_live):
    live = open_live(ContextExtension)
    drag(live, "beta_fast", 40, 0)
    drag(live, "beta_slow", -30, 0)
    assert live.get("beta_fast") < 32
    assert live.get("beta_slow") > 1
    live.set(**{**ContextExtension().setting(), "shown": "wavelengths"})
    drag(live, "trained", 0, -12)
    drag(live, "used", 0, -20)
    assert live.get("trained") > 4096
    assert live.get("used") > 16_384
    assert live.get("model") == "own"
    live.set(**{**ContextExtension().setting(), "shown": "scores"})
    drag(live, "trained", -40, 0)
    assert live.get("trained") < 4096
    assert live.finding == ContextExtension(**live.setting()).finding()


def test_only_methods_with_thresholds_have_handles_for_them(open_live):
    live = open_live(ContextExtension)
    live.set(other="llama3")
    assert live.evaluate("explorable.handles") == []
    live.set(method="ntk_by_parts")
    assert [handle["name"] for handle in live.evaluate("explorable.handles")] == ["beta_fast", "beta_slow"]


def test_a_model_brings_its_numbers_and_is_left_when_one_moves(open_live):
    live = open_live(ContextExtension)
    live.open()
    live.control("model").locator("select").select_option("Phi-3-mini-128k-instruct")
    assert [live.get(name) for name in ("dim", "factor", "used")] == [96, 32, 131_072]
    live.control("method").get_by_text("LongRoPE", exact=True).click()
    assert live.get("model") == "Phi-3-mini-128k-instruct"  # the method is no part of the preset
    assert "LongRoPE slows every pair" in live.finding
    live.input("dim").press("ArrowRight")
    assert live.get("model") == "own"
    assert "lists have 48 pairs, not 49" in live.finding


def test_chapter_10_does_not_tell_what_it_asks_of_ntk_aware_scaling(open_live):
    live = open_live(ContextExtension, "notebooks/10_longer_contexts.html")
    assert live.evaluate("explorable.story.map(({ name }) => name)") == ["slow-all", "angles", "llama", "past"]
    live.evaluate("model.set('_restore', x)", {"story": "ntk"})
    assert live.get("method") == "linear"
    assert "slow-all, angles, llama, past" in live.notice

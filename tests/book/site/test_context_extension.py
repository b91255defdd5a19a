"""ContextExtension: its arithmetic against posenc over the range of every slider, and what only it draws."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import configs, scaling
from posenc.frequencies import inv_freq, turns
from posenc.widgets import ContextExtension
from tests.book.site.live import assert_same
from tests.book.site.texts import crossed

pytestmark = pytest.mark.xdist_group("ContextExtension")  # with the battery of tests of it: they share its page

METHODS = ContextExtension.catalogue["controls"]["method"]["options"]
LIMITS = {control["name"]: control for control in ContextExtension.controls()}
OPENING = {name: getattr(ContextExtension(), name) for name in LIMITS if "least" in LIMITS[name]}
NUMBERS = {
    "base": (100.0, 500.0, 1e4, 500_000.0, 1e6, 1e7),
    "dim": (4, 6, 24, 64, 96, 128, 256),
    "factor": (1.0, 1.01, 2.0, 4.0, 8.5, 32.0, 64.0),
    "trained": (256, 257, 4096, 32_768, 131_072),
    "used": (256, 4096, 4097, 16_384, 131_072, 262_144),
    "beta_fast": (4, 5, 32, 64),
    "beta_slow": (0.1, 1.0, 2.5, 4.0),
}


def settings() -> list[dict[str, float]]:
    """Every value of each slider with the others as they open, and sixty mixtures."""
    chance = np.random.default_rng(0)
    single = [{**OPENING, name: value} for name, values in NUMBERS.items() for value in values]
    mixed = [{name: chance.choice(values).item() for name, values in NUMBERS.items()} for _ in range(60)]
    return single + mixed


def test_the_numbers_reach_both_ends_of_every_slider():
    for name, values in NUMBERS.items():
        assert (min(values), max(values)) == (LIMITS[name]["least"], LIMITS[name]["greatest"])


@pytest.mark.parametrize("method", METHODS)
def test_frequencies_equal_python(arithmetic, method):
    tried = settings()
    drawn = arithmetic(
        """x.settings.map((s) => {
          const scaled = A.scaledFrequencies(x.method, { ...s, betaFast: s.beta_fast, betaSlow: s.beta_slow }, x.lists);
          return scaled && [Array.from(scaled.frequencies), scaled.attentionFactor];
        })""",
        {"settings": tried, "method": method, "lists": ContextExtension.data()},
    )
    for setting, got in zip(tried, drawn, strict=True):
        expected = ContextExtension(**setting)._scaled(method)
        if expected is None:
            assert got is None
            assert setting["dim"] != 96
            continue
        np.testing.assert_allclose(got[0], expected.inv_freq, rtol=1e-14, err_msg=str(setting))
        assert got[1] == pytest.approx(expected.attention_factor, rel=1e-14)


@pytest.mark.parametrize("rounded", [False, True])
def test_ramps_equal_python(arithmetic, rounded):
    tried = settings()
    drawn = arithmetic(
        """x.settings.map((s) => {
          const setting = { ...s, betaFast: s.beta_fast, betaSlow: s.beta_slow };
          const drawn = [A.correctionRange(setting, x.rounded), A.rampByTurns(setting), A.rampByPair(setting)];
          return drawn.map((values) => Array.from(values));
        })""",
        {"settings": tried, "rounded": rounded},
    )
    for setting, (pairs, by_turns, by_pair) in zip(tried, drawn, strict=True):
        bounds = {name: setting[name] for name in ("dim", "base", "beta_fast", "beta_slow")}
        bounds["original_max_position_embeddings"] = setting["trained"]
        np.testing.assert_allclose(pairs, scaling.correction_range(**bounds, truncate=rounded), atol=1e-12)
        np.testing.assert_allclose(by_turns, scaling.ramp_by_turns(**bounds), atol=1e-12)
        np.testing.assert_allclose(by_pair, scaling.ramp_by_pair(**bounds), atol=1e-12)


def test_the_lists_are_those_of_the_published_configuration():
    published = configs.model("Phi-3-mini-128k-instruct").rope["rope_scaling"]
    data = ContextExtension.data()
    assert (tuple(data["short"]), tuple(data["long"])) == (published["short_factor"], published["long_factor"])


@pytest.mark.parametrize("method", ["linear", "ntk_aware", "yarn_code"])
def test_the_fewest_pairs_at_the_longest_text_equal_python(open_live, method):
    """Where rounding weighs most: angles of 262 144 radians, and few pairs to average over."""
    live = open_live(ContextExtension)
    for base in (100.0, 1e7):
        widget = ContextExtension(dim=4, used=262_144, base=base, factor=1.37, method=method)
        live.set(**widget.setting())
        assert_same(live.values(), widget.values())


def test_turns_at_a_pair_equal_python(arithmetic):
    tried = [setting for setting in settings() if setting["dim"] <= 128]
    drawn = arithmetic(
        "x.map((s) => Array.from({ length: s.dim / 2 }, (_, pair) => A.turnsAtPair(pair, s)))",
        tried,
    )
    for setting, got in zip(tried, drawn, strict=True):
        expected = turns(setting["trained"], inv_freq(setting["dim"], setting["base"]))
        np.testing.assert_allclose(got, expected, rtol=1e-12)


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


@pytest.mark.parametrize("width", [1280, 360])
def test_no_line_crosses_a_label(open_live, width):
    assert crossed(open_live(ContextExtension, width=width), ContextExtension) == []

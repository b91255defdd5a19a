"""Coverage beyond the battery: its arithmetic, the lengths in the picture, and what presets do on the page."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc.analysis import pairs_reaching, uncovered
from posenc.configs import MODELS, model, unscaled
from posenc.frequencies import inv_freq
from posenc.widgets import Coverage
from tests.book.site.texts import collisions, written

pytestmark = pytest.mark.xdist_group("Coverage")  # with the battery of tests of it: they share its page

NEW = """Array.from(A.newShares(
  A.inverseFrequencies(x.dim, x.base), x.trained, x.length, x.tolerance
))"""


@pytest.mark.parametrize("tolerance", [0.001, 0.0101, 0.5])
def test_new_angles_equal_python(arithmetic, tolerance):
    cases = [
        (dim, base, trained, length)
        for trained, length in ((16, 17), (16, 4000), (100, 9000), (4096, 16_384))
        for dim, base in ((2, 1.0), (64, 1.023), (32, 500.0), (128, 1e4), (64, 1e8))
    ]
    for dim, base, trained, length in [*cases, (16, 1e4, 65_536, 131_072)]:
        # not at the tolerance itself, where rounding decides
        given = {"dim": dim, "base": base, "trained": trained, "length": length, "tolerance": tolerance * (1 + 1e-7)}
        expected = uncovered(inv_freq(dim, base), trained, length, given["tolerance"])
        np.testing.assert_allclose(arithmetic(NEW, given), expected, atol=1e-10, rtol=0, err_msg=str(given))


def test_nothing_is_new_within_the_trained_length(arithmetic):
    for length in (16, 100):
        given = {"dim": 8, "base": 1e4, "trained": 100, "length": length, "tolerance": 0.01}
        assert arithmetic(NEW, given) == [0, 0, 0, 0]


@pytest.mark.parametrize("base", [1.0, 1.023, 1e4, 1e8])
def test_pairs_that_reach_an_angle_equal_python(arithmetic, base):
    for dim in (2, 128, 256):
        for length in (16, 4096, 65_536):
            for angle in (math.pi / 2, 2 * math.pi):
                x = {"dim": dim, "base": base, "length": length, "angle": angle}
                reached = arithmetic("A.pairsReaching(A.inverseFrequencies(x.dim, x.base), x.length, x.angle)", x)
                assert reached == pairs_reaching(inv_freq(dim, base), length, angle), x


def test_presets_are_the_models_own_frequencies():
    for name in MODELS:
        widget, config = Coverage(model=name), model(name)
        layer_type = config.layer_types[0] if config.layer_types else None
        np.testing.assert_allclose(inv_freq(widget.dim, widget.base), unscaled(config, layer_type).inv_freq, rtol=1e-12)
        assert widget.trained == config.original_max_position_embeddings


def test_a_slider_leaves_the_model(open_live):
    live = open_live(Coverage)
    live.open()
    assert live.get("model") == "Llama-2-7b-hf"
    live.input("used").press("End")
    assert live.get("model") == "Llama-2-7b-hf"  # no part of the preset
    live.input("base").press("ArrowRight")
    assert live.get("model") == "own"
    live.control("model").locator("select").select_option("Qwen3-8B")
    assert (live.get("base"), live.get("trained")) == (1e6, 32_768)


def test_a_link_names_a_model_alone(open_live):
    live = open_live(Coverage)
    live.evaluate("model.set('_restore', x)", {"model": "gpt-neox-20b"})
    assert live.setting() == Coverage(model="gpt-neox-20b").setting()
    live.evaluate("model.set('_restore', x)", {"model": "Llama-2-7b-hf", "base": "77"})
    assert live.setting() == Coverage(model="Llama-2-7b-hf", base=77.0).setting()
    assert live.get("model") == "own"


@pytest.mark.parametrize("chart", ["new", "turns"])
def test_a_ring_and_a_chart_read_off_the_same_pair_and_are_pressed(open_live, chart):
    live = open_live(Coverage)
    live.set(chart=chart)
    canvas = live.figure.locator("canvas")
    canvas.hover(position={"x": 5, "y": 97})
    by_ring = live.readout
    assert by_ring.startswith("pair 0: one turn in 6.283 tokens · 651.9 turns in training · 1\u202f304 in use · no new")
    x, y = live.evaluate("explorable.pixel(0, 10)")
    canvas.hover(position={"x": x, "y": y})
    assert live.readout == by_ring
    canvas.click(position={"x": 5, "y": 97})
    assert live.get("pair") == 0
    x, y = live.evaluate("explorable.pixel(55, 10)")
    canvas.click(position={"x": x, "y": y})
    assert live.get("pair") == 55


@pytest.mark.parametrize("width", [1280, 360])
def test_both_lengths_are_dragged_along_their_bars_to_either_end(open_live, width):
    live = open_live(Coverage, width=width)
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    for name, least, greatest in (("used", 16, 131_072), ("trained", 16, 65_536)):
        for share, end in ((-0.1, least), (1.1, greatest)):
            box = canvas.bounding_box()
            [handle] = [each for each in live.evaluate("explorable.handles") if each["name"] == name]
            y = box["y"] + handle["y"]
            live.page.mouse.move(box["x"] + handle["x"], y)
            live.page.mouse.down()
            live.page.mouse.move(box["x"] + box["width"] * share, y, steps=3)
            live.page.mouse.up()
            assert live.get(name) == end
    assert live.get("model") == "own"  # the trained length is part of the preset


def test_lengths_that_are_alike_are_still_dragged_apart(open_live):
    live = open_live(Coverage)
    live.set(used=4096)
    trained, used = live.evaluate("explorable.handles")
    assert trained["x"] == used["x"]
    assert used["y"] - trained["y"] > 20


def test_the_large_ring_says_its_turns(open_live):
    live = open_live(Coverage)
    live.set(**Coverage().setting())
    said = {"pair 50", "met in training: 0.49 turns", "longer text: to 0.98 turns", "trained on 4\u202f096 tokens"}
    assert said <= {text["text"] for text in written(live)}
    alike = {text["text"] for text in written(live, used=4096)}
    assert not [text for text in alike if text.startswith(("longer", "new at"))]


@pytest.mark.parametrize("width", [1280, 360])
def test_no_label_covers_another(open_live, width):
    live = open_live(Coverage, width=width)
    ends = [
        {control["name"]: control[end]}
        for control in Coverage.controls()
        for end in ("least", "greatest")
        if "least" in control and control["name"] != "tolerance"
    ]
    for setting in [{}, *Coverage.story().values(), *ends, *(end | {"chart": "turns"} for end in ends)]:
        assert collisions(live, **{**Coverage().setting(), "model": "own", **setting}) == [], setting

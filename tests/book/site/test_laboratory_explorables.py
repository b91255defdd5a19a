"""MeanWave and LookBack beyond the battery: arithmetic, and what a press chooses."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.lab.mean_wave import deepest, held, mean_wave
from posenc.widgets import LookBack, MeanWave


@pytest.mark.xdist_group("MeanWave")
def test_waves_equal_python(arithmetic):
    frequencies = np.array([1.0, 0.04, 0.02, 0.001])
    products = np.array([[1 - 2j, 0.5 + 1j, -1 + 3j, 2j], [0.1j, -1j, 2 + 0.5j, 1 + 4j]])
    x = {"frequencies": frequencies, "products": np.stack([products.real, products.imag], axis=-1), "trained": 50}
    waves = arithmetic("x.products[0].map((c, pair) => Array.from(A.meanWave(c, x.frequencies[pair], 200)))", x)
    expected = mean_wave(products[0], frequencies, np.arange(201))
    np.testing.assert_allclose(waves, expected, atol=1e-12)
    kept = arithmetic(
        "x.waves.map((wave) => Array.from(A.heldWave(wave, x.trained)))", {"waves": expected, "trained": 50}
    )
    np.testing.assert_allclose(kept, held(expected, 50), atol=1e-12)
    for count in (1, 2):
        found = arithmetic(f"A.deepest(x.products, x.frequencies, x.trained, {count})", x)
        assert list(found) == deepest(products, frequencies, 50, count)


@pytest.mark.xdist_group("MeanWave")
def test_a_press_on_a_bar_shows_its_wave(open_live):
    live = open_live(MeanWave)
    bars = next(reader for reader in live.evaluate("explorable.readers") if reader["name"] == "bar")
    for pair in (0, 6):
        x, _ = live.evaluate("explorable.pixel(32 * (x + 0.5), 0)", pair)
        live.figure.locator("canvas").click(position={"x": x, "y": bars["y"]})
        live.settle()
        assert live.get("pair") == pair


@pytest.mark.xdist_group("LookBack")
def test_a_press_on_a_cell_is_told(open_live):
    live = open_live(LookBack)
    x, y = live.evaluate("explorable.pixel(3, 6)")
    live.figure.locator("canvas").click(position={"x": x, "y": y})
    live.settle()
    assert (live.get("length"), live.get("distance")) == (1024, "768")
    assert live.readout.startswith("1\u202f024 tokens, said 768 back: ")
    x, y = live.evaluate("explorable.pixel(0, 6)")
    live.figure.locator("canvas").hover(position={"x": x, "y": y})
    assert live.readout == "128 tokens: too short for a block 768 back"


@pytest.mark.xdist_group("LookBack")
def test_a_model_that_was_trained_on_is_told_beside_itself_before(open_live):
    live = open_live(LookBack)
    live.open()
    live.set(**LookBack(scaling="linear", tuning="200", distance="32").setting())
    assert live.control("tuning").is_visible()
    x, y = live.evaluate("explorable.pixel(2, 1)")
    live.figure.locator("canvas").hover(position={"x": x, "y": y})
    after, before = (100 * live.values()[name][2][1] for name in ("accuracy", "before"))
    assert live.readout == f"512 tokens, said 32 back: {after:.1f} % right, before the steps {before:.1f} %"
    x, y = live.evaluate("explorable.pixel(1, 1)")
    live.figure.locator("canvas").hover(position={"x": x, "y": y})
    assert live.readout == "256 tokens: not asked after the steps"
    for setting in ({"scaling": "ntk_by_parts"}, {"scaling": "linear", "training": "copy"}):
        live.set(**setting)
        assert live.control("tuning").is_hidden()

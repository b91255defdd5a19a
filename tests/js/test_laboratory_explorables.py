"""Arithmetic of laboratory_explorables in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.lab.mean_wave import deepest, held, mean_wave


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

"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc.analysis import pairs_reaching
from posenc.configs import MODELS, model, unscaled
from posenc.frequencies import inv_freq
from posenc.widgets import AngleCoverage


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
        widget, config = AngleCoverage(model=name), model(name)
        layer_type = config.layer_types[0] if config.layer_types else None
        np.testing.assert_allclose(inv_freq(widget.dim, widget.base), unscaled(config, layer_type).inv_freq, rtol=1e-12)
        assert widget.trained == config.original_max_position_embeddings

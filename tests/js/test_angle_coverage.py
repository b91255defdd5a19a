"""Arithmetic of angle_coverage in JavaScript, compared with the package."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc.analysis import pairs_reaching, unseen_angles
from posenc.configs import MODELS, model, unscaled
from posenc.frequencies import inv_freq
from posenc.widgets import AngleCoverage

NEW = """Array.from(A.newShares(
  A.inverseFrequencies(x.dim, x.base), x.trained, x.length, x.tolerance
))"""


@pytest.mark.parametrize("tolerance", [0.001, 0.0101, 0.5])
def test_unseen_angles_equal_python(arithmetic, tolerance):
    cases = [
        (dim, base, trained, length)
        for trained, length in ((16, 17), (16, 4000), (100, 9000), (4096, 16_384))
        for dim, base in ((2, 1.0), (64, 1.023), (32, 500.0), (128, 1e4), (64, 1e8))
    ]
    for dim, base, trained, length in [*cases, (16, 1e4, 65_536, 131_072)]:
        # not at the tolerance itself, where rounding decides
        given = {"dim": dim, "base": base, "trained": trained, "length": length, "tolerance": tolerance * (1 + 1e-7)}
        expected = unseen_angles(inv_freq(dim, base), trained, length, given["tolerance"])
        np.testing.assert_allclose(arithmetic(NEW, given), expected, atol=1e-10, rtol=0, err_msg=str(given))


def test_nothing_is_unseen_within_the_trained_length(arithmetic):
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
        widget, config = AngleCoverage(model=name), model(name)
        layer_type = config.layer_types[0] if config.layer_types else None
        np.testing.assert_allclose(inv_freq(widget.dim, widget.base), unscaled(config, layer_type).inv_freq, rtol=1e-12)
        assert widget.trained == config.original_max_position_embeddings
